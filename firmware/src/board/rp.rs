//! What the boards with a Raspberry Pi RP2040 or RP2350 share: everything that is on the chip itself.

use core::{cell::RefCell, ops::Range};

use embassy_embedded_hal::adapter::BlockingAsync;
use embassy_executor::{Executor, SpawnToken, Spawner};
use embassy_rp::{
    Peri,
    adc::{self, Adc},
    clocks::RoscRng,
    flash::{self, ERASE_SIZE},
    pac,
    peripherals::{ADC, ADC_TEMP_SENSOR, FLASH, WATCHDOG},
    watchdog::ResetReason,
};
use embassy_time::{Duration, block_for};
use static_cell::StaticCell;

use super::{Position, Sensor, Trouble};
use crate::{
    device::stack,
    entropy::{self, Chance, Pot},
    milli::Milli,
    reset::Reason,
    status::Stack,
    watchdog,
};

use defmt_rtt as _;

/// Its stack is painted.
pub(crate) const STACK: Option<fn() -> Stack> = Some(stack::measure);

/// Runs a board: its first task does the rest.
pub(super) fn run<S>(first: impl FnOnce(Spawner) -> SpawnToken<S>) -> ! {
    static EXECUTOR: StaticCell<Executor> = StaticCell::new();
    stack::paint();
    EXECUTOR.init_with(Executor::new).run(|spawner| spawner.spawn(first(spawner)))
}

/// Starts anew.
///
/// The watchdog does it: a reset by the processor leaves the rest of the chip as it is.
pub(crate) fn restart() -> ! {
    // SAFETY: whoever else has it does nothing with it any more.
    embassy_rp::watchdog::Watchdog::new(unsafe { WATCHDOG::steal() }).trigger_reset();
    loop {
        cortex_m::asm::nop();
    }
}

/// The chip's watchdog, which runs.
pub(crate) struct Watchdog(embassy_rp::watchdog::Watchdog);

const BITE: Duration = Duration::from_millis(watchdog::BITE.0);

/// Where the watchdog notes that it is us whom it guards. A restart leaves it alone unless power or the button did it.
const NOTE: usize = 0;
const GUARDING: u32 = 0x6d6f_7465;

impl Watchdog {
    /// Starts it, and says why the chip started as far as it knows. Before anything that could hang.
    pub(super) fn start(watchdog: Peri<'static, WATCHDOG>) -> (Self, Reason) {
        let mut dog = embassy_rp::watchdog::Watchdog::new(watchdog);
        let reason = match dog.reset_reason() {
            Some(ResetReason::TimedOut) if dog.get_scratch(NOTE) == GUARDING => Reason::Watchdog,
            // The boot loader uses the watchdog, too, to start what it was given.
            Some(ResetReason::TimedOut | ResetReason::Forced) => Reason::Asked,
            None => hardware_reason(),
        };
        dog.set_scratch(NOTE, GUARDING);
        dog.start(BITE);
        (Self(dog), reason)
    }
}

impl watchdog::Watchdog for Watchdog {
    fn feed(&mut self) {
        self.0.feed(BITE);
    }
}

/// Why the chip was reset from outside. An RP2040 does not tell power that comes on from power that was low.
#[cfg(feature = "rp2040")]
fn hardware_reason() -> Reason {
    let reset = pac::VREG_AND_CHIP_RESET.chip_reset().read();
    if reset.had_run() || reset.had_psm_restart() {
        Reason::Pin
    } else if reset.had_por() {
        Reason::PowerOn
    } else {
        Reason::Unknown
    }
}

/// Why the chip was reset from outside.
#[cfg(feature = "rp2350")]
fn hardware_reason() -> Reason {
    let reset = pac::POWMAN.chip_reset().read();
    if reset.had_bor() || reset.had_glitch_detect() {
        Reason::BrownOut
    } else if reset.had_run_low() || reset.had_dp_reset_req() {
        Reason::Pin
    } else if reset.had_por() {
        Reason::PowerOn
    } else {
        Reason::Unknown
    }
}

/// The flash that the image is in. While it is written or erased nothing else runs: a page takes half a millisecond, a
/// sector a twentieth of a second.
pub(crate) type Flash = BlockingAsync<flash::Flash<'static, FLASH, flash::Blocking, FLASH_BYTES>>;

/// What the boards have beside the chip.
pub(super) const FLASH_BYTES: usize = if cfg!(feature = "rp2350") { 4 << 20 } else { 2 << 20 };

/// The last four sectors: the memory map keeps the image out of them.
pub(crate) const STORE: Range<u32> = (FLASH_BYTES - 4 * ERASE_SIZE) as u32..FLASH_BYTES as u32;

pub(super) fn flash(flash: Peri<'static, FLASH>) -> Flash {
    BlockingAsync::new(flash::Flash::new_blocking(flash))
}

/// Chance for ids and tokens, from the jitter of the ring oscillator.
///
/// The datasheets promise nothing for it: a bit that is read is a sample of a free-running clock, the next one follows
/// soon, and temperature and supply move all of them. So it counts for little: there is time between the samples for the
/// clock to drift (a bit holds for a sixth of a microsecond), and 16384 of them are stirred into 256 bits. One good bit
/// in 64 will do. It is read once, at the start; whatever is asked for later comes from a ChaCha20 generator.
pub(super) fn pot() -> Pot {
    const PIECES: usize = 64;
    let mut pot = Pot::new();
    for _ in 0..PIECES {
        let mut piece = [0; entropy::BYTES];
        for byte in &mut piece {
            *byte = RoscRng::next_u8();
            block_for(Duration::from_micros(10));
        }
        pot.stir(&piece);
    }
    pot
}

/// The one generator.
pub(super) fn chance(pot: Pot) -> &'static mut Chance {
    static CHANCE: StaticCell<Chance> = StaticCell::new();
    CHANCE.init_with(|| pot.serve())
}

/// The sensor and the light of a board.
pub(crate) struct Instruments<L> {
    thermometer: RefCell<Thermometer>,
    light: L,
}

/// A light, wherever it is wired to.
pub(crate) trait Light {
    /// Switches it.
    fn set(&self, position: Position);
}

impl<L> Instruments<L> {
    pub(super) fn new(adc: Peri<'static, ADC>, sensor: Peri<'static, ADC_TEMP_SENSOR>, light: L) -> Self {
        Self { thermometer: RefCell::new(Thermometer::new(adc, sensor)), light }
    }
}

impl<L: Light> super::Instruments for Instruments<L> {
    fn sensors(&self) -> &[Sensor] {
        &[Sensor { name: "temperature", unit: "°C" }]
    }

    async fn read(&self, sensor: usize) -> Result<Milli, Trouble> {
        if sensor != 0 {
            return Err(Trouble::NOT_HERE);
        }
        self.thermometer.borrow_mut().read()
    }

    fn actuators(&self) -> &[&'static str] {
        &["led"]
    }

    fn set(&self, actuator: usize, position: Position) -> Result<(), Trouble> {
        if actuator != 0 {
            return Err(Trouble::NOT_HERE);
        }
        self.light.set(position);
        Ok(())
    }
}

/// The thermometer on the chip. It tells how warm the chip is, which is some degrees more than the room.
struct Thermometer {
    adc: Adc<'static, adc::Blocking>,
    sensor: adc::Channel<'static>,
}

/// One step of the converter is half a degree, and its noise is more than that: many samples tell more than one.
/// All of them take 64 microseconds, which is too short to wait for.
const SAMPLES: i64 = 32;

impl Thermometer {
    fn new(adc: Peri<'static, ADC>, sensor: Peri<'static, ADC_TEMP_SENSOR>) -> Self {
        Self { adc: Adc::new_blocking(adc, adc::Config::default()), sensor: adc::Channel::new_temp_sensor(sensor) }
    }

    fn read(&mut self) -> Result<Milli, Trouble> {
        let mut sum = 0;
        for _ in 0..SAMPLES {
            let sample = self.adc.blocking_read(&mut self.sensor);
            sum += i64::from(sample.map_err(|_| Trouble("the converter does not answer"))?);
        }
        Ok(temperature(sum))
    }
}

/// Both datasheets: 0.706 V at 27 °C, and 1.721 mV less for each degree more. 4096 steps are 3.3 V.
const fn temperature(sum: i64) -> Milli {
    let microvolts = sum * 3_300_000 / (4096 * SAMPLES);
    Milli((27_000 - (microvolts - 706_000) * 1000 / 1721) as i32)
}

const _: () = {
    assert!(temperature(876 * SAMPLES).0 == 27_138);
    assert!(temperature(877 * SAMPLES).0 == 26_671);
    // The ends of what the converter can say.
    assert!(temperature(0).0 == 437_226 && temperature(4095 * SAMPLES).0 == -1_479_794);
};
