//! What boards with a chip of Espressif's share: how they start, what the chip measures, its watchdog, and what becomes of
//! a fault. Nothing of this has run on a chip yet: it is written after esp-hal's documentation and source.
//!
//! The radio's driver is a program of its own, with threads that esp-rtos runs and a heap. Everything of ours is one of
//! these threads, the first one, with the lowest priority: the radio is served first, and the core sleeps when nobody has
//! anything to do.

use core::{arch::naked_asm, cell::RefCell};

use embassy_executor::Spawner;
use esp_hal::{
    clock::CpuClock,
    gpio::AnyPin,
    peripherals::{FLASH, FROM_CPU_INTR0, Peripherals, RTC_TIMER, TIMG0, TSENS, UART0, USB_DEVICE, WIFI},
    ram,
    rng::Trng,
    rtc_cntl::{Rtc, Rwdt, RwdtStage, SocResetReason},
    system,
    timer::timg::TimerGroup,
    tsens::{self, TemperatureSensor},
};
use esp_println as _;
use esp_radio::wifi::Interface;
use protocol_core::time::Entropy;
use static_cell::StaticCell;

use super::{Position, Sensor, Trouble};
use crate::{
    device::{self, Kit, memo, stack},
    milli::Milli,
    reset::Reason,
    status::Stack,
    watchdog,
};

pub(crate) use self::{
    flash::{Flash, STORE},
    radio::Radio,
    serial::Serial,
};

mod flash;
mod light;
mod radio;
mod serial;

pub(super) use self::light::Light;

// What the boot loader and espflash want to know of an image.
esp_bootloader_esp_idf::esp_app_desc!();

/// The network, as the radio shows it.
pub(crate) type Nic = Interface;

/// Its stack is painted. It is what is left of the RAM behind the data; the radio's threads have stacks of their own.
pub(crate) const STACK: Option<fn() -> Stack> = Some(stack::measure);

/// Starts anew. The memo stays: `.rtc_fast.persistent` is cleared when power comes on, and only then.
pub(crate) fn restart() -> ! {
    system::software_reset()
}

/// The parts of the chip that a board uses.
pub(super) struct Parts {
    pub(super) led: Light,
    pub(super) thermometer: TSENS<'static>,
    pub(super) wifi: WIFI<'static>,
    pub(super) flash: FLASH<'static>,
    pub(super) usb: USB_DEVICE<'static>,
    pub(super) uart: UART0<'static>,
    pub(super) uart_receive: AnyPin<'static>,
    pub(super) timers: TIMG0<'static>,
    pub(super) scheduler: FROM_CPU_INTR0<'static>,
    pub(super) rtc: RTC_TIMER<'static>,
}

/// Makes the chip ready, at full speed.
pub(super) fn wake() -> Peripherals {
    // Before esp-hal guards the end of the stack: it would take the paint for an overflow.
    stack::paint();
    esp_hal::init(esp_hal::Config::default().with_cpu_clock(CpuClock::max()))
}

/// Runs the board.
pub(super) fn run(parts: Parts) -> ! {
    static EXECUTOR: StaticCell<esp_rtos::embassy::Executor> = StaticCell::new();
    // The radio's, and nobody else's: nothing of ours allocates. A station takes 47 to 57 KB, its threads' stacks among
    // them, and more for as long as frames wait.
    esp_alloc::heap_allocator!(#[ram(reclaimed)] size: 64 * 1024);
    esp_alloc::heap_allocator!(size: 32 * 1024);
    esp_rtos::start(TimerGroup::new(parts.timers).timer0, parts.scheduler);
    // Before anything that could hang.
    let watchdog = Watchdog::start(parts.rtc);
    let kit = Kit {
        instruments: Instruments::new(parts.thermometer, parts.led),
        nic: Interface::station(),
        radio: Some(Radio::start(parts.wifi)),
        flash: Flash::start(parts.flash),
        entropy: chance(),
        watchdog,
        serial: Serial::start(parts.usb, parts.uart, parts.uart_receive),
        reason: reason(),
    };
    // cannot fail: nothing else has spawned it.
    let begin = |spawner: Spawner| spawner.spawn(start(spawner, kit).expect("the first task"));
    EXECUTOR.init_with(esp_rtos::embassy::Executor::new).run(begin)
}

#[embassy_executor::task]
async fn start(spawner: Spawner, kit: Kit) {
    device::start(spawner, kit);
}

/// Chance from the chip's generator, which takes it from the noise that the radio hears.
fn chance() -> &'static mut dyn Entropy {
    struct Noise(Trng);

    impl Entropy for Noise {
        fn fill(&mut self, bytes: &mut [u8]) {
            self.0.read(bytes);
        }
    }

    static CHANCE: StaticCell<Noise> = StaticCell::new();
    // cannot fail: the radio runs by now, for good, and without one of its sources the generator is not given out.
    CHANCE.init(Noise(Trng::try_new().expect("the radio is on")))
}

/// Why the chip started. Its reset button looks to it as if power had come on.
fn reason() -> Reason {
    match system::reset_reason() {
        Some(SocResetReason::ChipPowerOn) => Reason::PowerOn,
        // espflash and debuggers restart the chip this way.
        Some(SocResetReason::CoreUsbUart | SocResetReason::CoreUsbJtag) => Reason::Pin,
        Some(SocResetReason::SysBrownOut) => Reason::BrownOut,
        Some(SocResetReason::CoreSw | SocResetReason::Cpu0Sw) => Reason::Asked,
        Some(
            SocResetReason::CoreRtcWdt
            | SocResetReason::Cpu0RtcWdt
            | SocResetReason::SysRtcWdt
            | SocResetReason::SysSuperWdt
            | SocResetReason::CoreMwdt0
            | SocResetReason::CoreMwdt1
            | SocResetReason::Cpu0Mwdt0
            | SocResetReason::Cpu0Mwdt1,
        ) => Reason::Watchdog,
        _ => Reason::Unknown,
    }
}

/// The watchdog of the block that never sleeps: it resets all of the chip.
pub(crate) struct Watchdog(Rwdt);

impl Watchdog {
    fn start(rtc: RTC_TIMER<'static>) -> Self {
        let mut rwdt = Rtc::new(rtc).rwdt;
        rwdt.set_timeout(RwdtStage::Stage0, esp_hal::time::Duration::from_millis(watchdog::BITE.0));
        rwdt.enable();
        Self(rwdt)
    }
}

impl watchdog::Watchdog for Watchdog {
    fn feed(&mut self) {
        self.0.feed();
    }
}

/// What the chip measures, and what the board switches.
pub(crate) struct Instruments {
    thermometer: TemperatureSensor<'static>,
    led: RefCell<Light>,
}

impl Instruments {
    fn new(thermometer: TSENS<'static>, led: Light) -> Self {
        // cannot fail: there is no error of that kind.
        let thermometer = TemperatureSensor::new(thermometer, tsens::Config::default()).expect("a thermometer");
        Self { thermometer, led: RefCell::new(led) }
    }
}

impl super::Instruments for Instruments {
    fn sensors(&self) -> &[Sensor] {
        // The chip's own, which is warmer than the air around it: `calibrate temperature` is for that.
        &[Sensor { name: "temperature", unit: "°C" }]
    }

    async fn read(&self, sensor: usize) -> Result<Milli, Trouble> {
        if sensor != 0 {
            return Err(Trouble::NOT_HERE);
        }
        let reading = self.thermometer.get_temperature();
        // The data sheet's formula, in thousandths: 0.4386 * value - 27.88 * offset - 20.52.
        Ok(Milli(i32::from(reading.raw_value) * 4386 / 10 - i32::from(reading.offset) * 27_880 - 20_520))
    }

    fn actuators(&self) -> &[&'static str] {
        &["led"]
    }

    fn set(&self, actuator: usize, position: Position) -> Result<(), Trouble> {
        if actuator != 0 {
            return Err(Trouble::NOT_HERE);
        }
        self.led.borrow_mut().set(position)
    }
}

/// Called by esp-hal for everything that should not happen. It may be that the stack has run out: the first thing is a new
/// one, the old one is lost anyway.
///
/// # Safety
/// Only for the processor to call.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn ExceptionHandler() -> ! {
    naked_asm!("la sp, _stack_start", "andi sp, sp, -16", "j {}", sym on_exception)
}

extern "C" fn on_exception() -> ! {
    use esp_hal::riscv::register::{mcause, mepc, mtval};

    let (cause, at, address) = (mcause::read().bits() & CAUSES, mepc::read(), mtval::read());
    // The one thing that is watched is the end of the stack in use; an instruction to break has no address of data.
    let is_guard = cause == BREAKPOINT && address != 0 && address != at;
    if is_guard || cause == OUT_OF_STACK {
        memo::restart(Reason::StackOverflow, format_args!("at {at:#010x}"));
    }
    memo::restart(Reason::Fault, format_args!("exception {cause} at {at:#010x}, address {address:#010x}"))
}

/// The bits of the cause that these chips have.
const CAUSES: usize = 0x1f;
const BREAKPOINT: usize = 3;
/// Not the processor's: the start of a trap writes it when the stack pointer is in no RAM that a stack could be in.
const OUT_OF_STACK: usize = 14;
