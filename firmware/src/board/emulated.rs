//! What the emulated boards share: a thermometer that is simulated, a light that nobody sees, memory that lasts until
//! the restart, and the way to the machine that emulates them.

use core::{
    cell::{Cell, RefCell},
    panic::PanicInfo,
};

use defmt_semihosting as _;
use embassy_sync::{blocking_mutex::raw::CriticalSectionRawMutex, signal::Signal as Event};
use embassy_time::{Instant, Timer};

use super::{Board, Key, Position, Sensor, Trouble};
use crate::{
    milli::Milli,
    simulated::{Model, Signal, SplitMix},
};

/// The sensors and actuators of an emulated board.
pub(crate) struct Emulated {
    thermometer: Cell<Signal>,
    kept: RefCell<heapless::Vec<Kept, KEPT_MAX>>,
}

struct Kept {
    key: Key,
    value: heapless::Vec<u8, VALUE_MAX>,
}

const KEPT_MAX: usize = 8;
const VALUE_MAX: usize = 32;

/// The same readings after every start: a test knows what comes.
const THERMOMETER_SEED: u64 = 1;

static RESTART: Event<CriticalSectionRawMutex, ()> = Event::new();

impl Emulated {
    pub(super) const fn new() -> Self {
        Self { thermometer: Cell::new(Signal::new(THERMOMETER_SEED)), kept: RefCell::new(heapless::Vec::new()) }
    }
}

impl Board for Emulated {
    fn sensors(&self) -> &[Sensor] {
        &[Sensor { name: "temperature", unit: "°C" }]
    }

    async fn read(&self, sensor: usize) -> Result<Milli, Trouble> {
        if sensor != 0 {
            return Err(NOT_HERE);
        }
        let mut thermometer = self.thermometer.get();
        let value = thermometer.next(Model::TEMPERATURE);
        self.thermometer.set(thermometer);
        Ok(value)
    }

    fn actuators(&self) -> &[&'static str] {
        &["led"]
    }

    fn set(&self, actuator: usize, position: Position) -> Result<(), Trouble> {
        let name = self.actuators().get(actuator).ok_or(NOT_HERE)?;
        defmt::info!("{=str}: {=str}", name, if position == Position::On { "on" } else { "off" });
        Ok(())
    }

    fn reboot(&self) {
        RESTART.signal(());
    }

    fn forget_wifi(&self) -> Result<(), Trouble> {
        Err(Trouble("there is no radio on this board"))
    }

    async fn load(&self, key: Key, value: &mut [u8]) -> Option<usize> {
        let kept = self.kept.borrow();
        let known = kept.iter().find(|kept| kept.key == key)?;
        value.get_mut(..known.value.len())?.copy_from_slice(&known.value);
        Some(known.value.len())
    }

    async fn save(&self, key: Key, value: &[u8]) -> Result<(), Trouble> {
        const FULL: Trouble = Trouble("there is no room to keep it");
        let value = heapless::Vec::from_slice(value).map_err(|_| FULL)?;
        let mut kept = self.kept.borrow_mut();
        match kept.iter_mut().find(|kept| kept.key == key) {
            Some(known) => known.value = value,
            None => kept.push(Kept { key, value }).map_err(|_| FULL)?,
        }
        Ok(())
    }
}

const NOT_HERE: Trouble = Trouble("is not on this board");

/// Is done when the board is to restart, late enough for whoever asked to hear that it will.
pub(super) async fn wait_for_restart() {
    RESTART.wait().await;
    Timer::after_millis(500).await;
    defmt::info!("restart");
}

/// Chance for ids, from the machine that emulates the board; from the time since the start where it has none to give.
///
/// 64 bits of it and a generator that can be calculated backwards will do for an emulated board and for no other one.
pub(super) fn chance() -> SplitMix {
    let mut seed = [0; 8];
    if semihosting::experimental::random::fill_bytes(&mut seed).is_err() {
        defmt::warn!("the machine that emulates us gives no randomness: ids can be guessed");
        seed = Instant::now().as_ticks().to_le_bytes();
    }
    SplitMix::new(u64::from_le_bytes(seed))
}

/// There is nobody to restart for, and somebody who wants to know: it ends the emulator with a status.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    defmt::error!("{}", defmt::Display2Format(info));
    semihosting::process::exit(1)
}
