//! QEMU's `mps2-an385`: a Cortex-M with a network card, for everybody who has no board at hand.
//!
//! The processor is a Cortex-M3 and the code is for the Cortex-M0+ of an RP2040: the instructions are those of the real
//! device, but a fault that only the smaller processor knows (an unaligned access) does not show here.

use core::{
    arch::naked_asm,
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

use cortex_m::peripheral::{NVIC, SCB};
use embassy_executor::{Spawner, raw::Executor};
use static_cell::StaticCell;

use super::{
    cmsdk_timer,
    emulated::{self, Emulated},
    lan9118::{self, Lan9118},
};
use crate::{
    device::{self, Kit},
    simulated::SplitMix,
};

/// What the board calls itself.
pub(crate) const NAME: &str = "qemu-arm";

/// Its sensors and actuators.
pub(crate) type Here = Emulated;

/// Its network card.
pub(crate) type Nic = &'static mut Lan9118;

/// One of those that QEMU gives to its own cards.
const ADDRESS: [u8; 6] = [0x52, 0x54, 0x00, 0x12, 0x34, 0x56];

/// Runs the board.
pub fn run() -> ! {
    static EXECUTOR: StaticCell<Executor> = StaticCell::new();
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
    critical_section::with(|_| {
        if !AWAKE.load(Ordering::Acquire) {
            cortex_m::asm::wfi();
        }
        AWAKE.store(false, Ordering::Release);
    });
}

#[embassy_executor::task]
async fn start(spawner: Spawner) {
    static NIC: StaticCell<Lan9118> = StaticCell::new();
    static BOARD: StaticCell<Emulated> = StaticCell::new();
    static CHANCE: StaticCell<SplitMix> = StaticCell::new();

    let nic = NIC.init_with(|| Lan9118::new(ADDRESS));
    nic.start().expect("the network card answers");
    for irq in [cmsdk_timer::COUNTER_IRQ, cmsdk_timer::ALARM_IRQ, lan9118::IRQ] {
        // SAFETY: whom they interrupt shares memory with them in critical sections only.
        unsafe { NVIC::unmask(Irq(irq)) };
    }
    device::start(
        spawner,
        Kit { board: BOARD.init_with(Emulated::new), nic, entropy: CHANCE.init(emulated::chance()) },
    );
    emulated::wait_for_restart().await;
    SCB::sys_reset()
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
        _ => panic!("nobody waits for interrupt {irq}"),
    }
}

/// The stack may have run out, so the first thing is a new one: the old one is lost anyway.
///
/// # Safety
/// Only for the processor to call.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn HardFault() -> ! {
    naked_asm!("mov r0, sp", "ldr r1, =_stack_start", "mov sp, r1", "bl {}", sym hard_fault)
}

extern "C" fn hard_fault(stack_pointer: usize) -> ! {
    unsafe extern "C" {
        static _stack_end: u8;
    }
    if stack_pointer < &raw const _stack_end as usize {
        panic!("the stack was too small");
    }
    panic!("hard fault, stack pointer {stack_pointer:#010x}");
}
