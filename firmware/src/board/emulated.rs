//! What the emulated boards share: a thermometer that is simulated, a light that nobody sees, flash that is memory, and
//! the way to the machine that emulates them.

use core::{cell::Cell, ops::Range};

use defmt_semihosting as _;
use embassy_time::Instant;

use super::{Position, Sensor, Trouble};
use crate::{
    milli::Milli,
    simulated::{
        Model, Signal, SplitMix,
        flash::{PAGE_BYTES, RamFlash},
    },
};

/// The sensors and actuators of an emulated board.
pub(crate) struct Instruments {
    thermometer: Cell<Signal>,
}

/// The same readings after every start: a test knows what comes.
const THERMOMETER_SEED: u64 = 1;

impl Instruments {
    pub(super) const fn new() -> Self {
        Self { thermometer: Cell::new(Signal::new(THERMOMETER_SEED)) }
    }
}

impl super::Instruments for Instruments {
    fn sensors(&self) -> &[Sensor] {
        &[Sensor { name: "temperature", unit: "°C" }]
    }

    async fn read(&self, sensor: usize) -> Result<Milli, Trouble> {
        if sensor != 0 {
            return Err(Trouble::NOT_HERE);
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
        let name = self.actuators().get(actuator).ok_or(Trouble::NOT_HERE)?;
        defmt::info!("{=str}: {=str}", name, if position == Position::On { "on" } else { "off" });
        Ok(())
    }
}

/// Flash that lasts for as long as the emulator runs.
pub(crate) type Flash = RamFlash<&'static mut [u8; FLASH_BYTES]>;

const FLASH_BYTES: usize = 2 * PAGE_BYTES;

/// All of it is ours.
pub(crate) const STORE: Range<u32> = 0..FLASH_BYTES as u32;

/// The flash, as the last start has left it.
///
/// # Safety
/// Once: it is the only one.
pub(super) unsafe fn flash() -> Flash {
    unsafe extern "C" {
        /// Memory that no section has, from the board's memory map.
        static mut _flash: [u8; FLASH_BYTES];
    }
    // SAFETY: nobody else has it, as the caller promises, and bytes can have any value.
    RamFlash::new(unsafe { &mut *(&raw mut _flash) })
}

/// Chance for ids and tokens, from the machine that emulates the board; from the time since the start where it has none to give.
///
/// 64 bits of it and a generator that can be calculated backwards will do for an emulated board and for no other one.
pub(super) fn chance() -> SplitMix {
    let mut seed = [0; 8];
    if semihosting::experimental::random::fill_bytes(&mut seed).is_err() {
        defmt::warn!("the machine that emulates us gives no randomness: ids and tokens can be guessed");
        seed = Instant::now().as_ticks().to_le_bytes();
    }
    SplitMix::new(u64::from_le_bytes(seed))
}
