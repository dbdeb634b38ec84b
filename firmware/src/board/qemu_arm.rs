//! QEMU's `mps2-an385`: a Cortex-M with a network card, for everybody who has no board at hand.
//!
//! The processor is a Cortex-M3 and the code is for the Cortex-M0+ of an RP2040: the instructions are those of the real
//! device, but a fault that only the smaller processor knows (an unaligned access) does not show here.

use core::{
    cell::Cell,
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

use cortex_m::peripheral::{NVIC, SCB};
use critical_section::Mutex;
use embassy_executor::{Spawner, raw::Executor};
use static_cell::StaticCell;

use super::{
    cmsdk_timer, cmsdk_uart, emulated,
    lan9118::{self, Lan9118},
};
use crate::{
    device::{self, Kit, stack},
    reset::Reason,
    simulated::SplitMix,
    status::Stack,
    wifi::NoRadio,
};

pub(crate) use super::{
    cmsdk_uart::Serial,
    cmsdk_watchdog::Watchdog,
    emulated::{Flash, Instruments, STORE},
};

/// What the board calls itself.
pub(crate) const NAME: &str = "qemu-arm";

/// Its network card.
pub(crate) type Nic = &'static mut Lan9118;

/// There is a cable.
pub(crate) type Radio = NoRadio;

/// Its stack is painted.
pub(crate) const STACK: Option<fn() -> Stack> = Some(stack::measure);

/// Starts anew.
pub(crate) fn restart() -> ! {
    SCB::sys_reset()
}

/// One of those that QEMU gives to its own cards.
const ADDRESS: [u8; 6] = [0x52, 0x54, 0x00, 0x12, 0x34, 0x56];

/// Runs the board.
pub fn run() -> ! {
    static EXECUTOR: StaticCell<Executor> = StaticCell::new();
    stack::paint();
    cmsdk_timer::start();
    let executor: &'static Executor = EXECUTOR.init(Executor::new(ptr::null_mut()));
    let spawner = executor.spawner();
    // cannot fail: nothing else has spawned it.
    spawner.spawn(start(spawner).expect("the first task"));
    loop {
        // SAFETY: this is the executor's only thread, and no task calls `poll`.
        unsafe { executor.poll() };
        sleep();
    }
}

/// Set by whoever wakes a task.
static AWAKE: AtomicBool = AtomicBool::new(false);

/// Called by embassy when there is something to do.
#[unsafe(export_name = "__pender")]
fn pend(_: *mut ()) {
    AWAKE.store(true, Ordering::Release);
}

/// Sleeps until an interrupt, unless there is something to do.
///
/// With interrupts held back, one that comes between the question and the sleep ends the sleep and is served behind it.
/// Embassy's own executor waits for events instead: for QEMU that is no reason to stop, and it takes all of a core.
fn sleep() {
    critical_section::with(|cs| {
        if !AWAKE.load(Ordering::Acquire) {
            let begun = cmsdk_timer::nanos();
            cortex_m::asm::wfi();
            let slept = SLEPT_NANOS.borrow(cs);
            slept.set(slept.get() + cmsdk_timer::nanos() - begun);
        }
        AWAKE.store(false, Ordering::Release);
    });
}

static SLEPT_NANOS: Mutex<Cell<u64>> = Mutex::new(Cell::new(0));

/// Instructions since the start, if QEMU counts time in them (`-icount shift=0`: one a nanosecond).
pub(crate) fn busy_instructions() -> u64 {
    critical_section::with(|cs| cmsdk_timer::nanos() - SLEPT_NANOS.borrow(cs).get())
}

#[embassy_executor::task]
async fn start(spawner: Spawner) {
    static NIC: StaticCell<Lan9118> = StaticCell::new();
    static CHANCE: StaticCell<SplitMix> = StaticCell::new();

    let nic = NIC.init_with(|| Lan9118::new(ADDRESS));
    nic.start().expect("the network card answers");
    let kit = Kit {
        instruments: Instruments::new(),
        nic,
        radio: None,
        // SAFETY: this task is spawned once.
        flash: unsafe { emulated::flash() },
        entropy: CHANCE.init(emulated::chance()),
        watchdog: Watchdog::start(),
        serial: Serial::start(),
        // The machine does not say; what it wrote down does.
        reason: Reason::PowerOn,
    };
    for irq in [cmsdk_timer::COUNTER_IRQ, cmsdk_timer::ALARM_IRQ, lan9118::IRQ, cmsdk_uart::IRQ] {
        // SAFETY: whom they interrupt shares memory with them in critical sections only.
        unsafe { NVIC::unmask(Irq(irq)) };
    }
    device::start(spawner, kit);
}

#[derive(Clone, Copy)]
struct Irq(u16);

// SAFETY: the number is the interrupt's own, and does not change.
unsafe impl cortex_m::interrupt::InterruptNumber for Irq {
    fn number(self) -> u16 {
        self.0
    }
}

// SAFETY: runs as an interrupt; all it calls takes a critical section for what it shares.
#[cortex_m_rt::exception]
unsafe fn DefaultHandler(irq: i16) {
    match u16::try_from(irq) {
        Ok(cmsdk_timer::COUNTER_IRQ) => cmsdk_timer::on_counter(),
        Ok(cmsdk_timer::ALARM_IRQ) => cmsdk_timer::on_alarm(),
        Ok(lan9118::IRQ) => lan9118::on_interrupt(),
        Ok(cmsdk_uart::IRQ) => cmsdk_uart::on_interrupt(),
        _ => panic!("nobody waits for interrupt {irq}"),
    }
}
