//! Embassy's time on the machine timer of a RISC-V `virt`: 64 bits that count on, and 64 bits to compare with.

use core::{
    cell::{Cell, RefCell},
    task::Waker,
};

use critical_section::{CriticalSection, Mutex};
use embassy_time_driver::{Driver, TICK_HZ};
use embassy_time_queue_utils::Queue;

use super::registers::Registers;
use crate::{reset::Reason, watchdog};

// SAFETY: the core-local interruptor, where `virt` has it. It touches no memory.
const CLINT: Registers = unsafe { Registers::new(0x0200_0000, 0x1_0000) };

const COMPARE_LOW: usize = 0x4000;
const COMPARE_HIGH: usize = 0x4004;
const TIME_LOW: usize = 0xbff8;
const TIME_HIGH: usize = 0xbffc;

/// `virt` counts at 10 MHz. The ticks are the same, so that nothing has to be divided.
const _: () = assert!(TICK_HZ == 10_000_000);

struct Timer {
    queue: Mutex<RefCell<Queue>>,
    /// When the watchdog bites.
    bite: Mutex<Cell<u64>>,
}

embassy_time_driver::time_driver_impl!(static TIMER: Timer = Timer {
    queue: Mutex::new(RefCell::new(Queue::new())),
    bite: Mutex::new(Cell::new(u64::MAX)),
});

/// `virt` has no watchdog: the timer's interrupt comes through whatever the executor does, and stands in for one.
pub(crate) struct Watchdog;

impl watchdog::Watchdog for Watchdog {
    fn feed(&mut self) {
        let bite = TIMER.now() + watchdog::BITE.0 * (TICK_HZ / 1000);
        critical_section::with(|cs| TIMER.bite.borrow(cs).set(bite));
    }
}

/// Switches the alarm off. Once, before its interrupt is allowed.
pub(super) fn start() {
    TIMER.set_alarm(u64::MAX);
}

/// The alarm rings.
#[riscv_rt::core_interrupt(riscv::interrupt::Interrupt::MachineTimer)]
fn on_alarm() {
    critical_section::with(|cs| {
        if TIMER.bite.borrow(cs).get() <= TIMER.now() {
            let seconds = watchdog::BITE.0 / 1000;
            crate::device::memo::restart(Reason::Watchdog, format_args!("the executor did not run for {seconds} s"));
        }
        TIMER.ring(cs);
    });
}

impl Timer {
    /// Wakes everybody whose time has come and sets the alarm for the next one.
    fn ring(&self, cs: CriticalSection<'_>) {
        let mut queue = self.queue.borrow_ref_mut(cs);
        loop {
            let next = queue.next_expiration(self.now());
            if self.set_alarm(next.min(self.bite.borrow(cs).get())) {
                return;
            }
        }
    }

    /// Sets the alarm, or says that it is too late.
    fn set_alarm(&self, at: u64) -> bool {
        // In two halves, and in between never earlier than it was or is to be.
        CLINT.write(COMPARE_HIGH, u32::MAX);
        CLINT.write(COMPARE_LOW, at as u32);
        CLINT.write(COMPARE_HIGH, (at >> 32) as u32);
        at > self.now()
    }
}

impl Driver for Timer {
    fn now(&self) -> u64 {
        loop {
            let high = CLINT.read(TIME_HIGH);
            let low = CLINT.read(TIME_LOW);
            if CLINT.read(TIME_HIGH) == high {
                return u64::from(high) << 32 | u64::from(low);
            }
        }
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|cs| {
            let is_next = self.queue.borrow_ref_mut(cs).schedule_wake(at, waker);
            if is_next {
                self.ring(cs);
            }
        });
    }
}
