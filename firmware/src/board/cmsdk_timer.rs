//! Embassy's time on the two CMSDK timers of `mps2-an385`: one counts on for ever, the other rings.

use core::{
    cell::{Cell, RefCell},
    task::Waker,
};

use critical_section::{CriticalSection, Mutex};
use embassy_time_driver::{Driver, TICK_HZ};
use embassy_time_queue_utils::Queue;

use super::registers::Registers;

// SAFETY: CMSDK APB timers 0 and 1, as AN385 places them. They touch no memory.
const COUNTER: Registers = unsafe { Registers::new(0x4000_0000, 0x10) };
// SAFETY: as above.
const ALARM: Registers = unsafe { Registers::new(0x4000_1000, 0x10) };

/// Interrupt of the timer that counts, when it starts over.
pub(super) const COUNTER_IRQ: u16 = 8;
/// Interrupt of the timer that rings.
pub(super) const ALARM_IRQ: u16 = 9;

const CONTROL: usize = 0x0;
const VALUE: usize = 0x4;
const RELOAD: usize = 0x8;
/// Reads whether the timer has reached zero; any write of 1 clears that.
const INTERRUPT: usize = 0xc;

const STOP: u32 = 0;
/// Enabled, with its interrupt.
const RUN: u32 = 1 | 1 << 3;

const TIMER_HZ: u64 = 25_000_000;
const PER_TICK: u64 = TIMER_HZ / TICK_HZ;

/// Alarms further away ring early and are set again: the timer has 32 bits.
const FARTHEST_TICKS: u64 = 100 * TICK_HZ;

struct Timers {
    /// How often the counter has started over.
    rounds: Mutex<Cell<u32>>,
    queue: Mutex<RefCell<Queue>>,
}

embassy_time_driver::time_driver_impl!(static TIMERS: Timers = Timers {
    rounds: Mutex::new(Cell::new(0)),
    queue: Mutex::new(RefCell::new(Queue::new())),
});

/// Starts time. Once, before anybody asks for it.
pub(super) fn start() {
    COUNTER.write(CONTROL, STOP);
    COUNTER.write(RELOAD, u32::MAX);
    COUNTER.write(VALUE, u32::MAX);
    COUNTER.write(CONTROL, RUN);
    ALARM.write(CONTROL, STOP);
}

/// The counter has started over. Not to notice that for two rounds would lose 171 seconds.
pub(super) fn on_counter() {
    critical_section::with(|cs| TIMERS.ticks(cs));
}

/// The alarm rings.
pub(super) fn on_alarm() {
    critical_section::with(|cs| TIMERS.ring(cs, &mut TIMERS.queue.borrow_ref_mut(cs)));
}

/// Time since the start, as finely as the counter has it.
pub(super) fn nanos() -> u64 {
    critical_section::with(|cs| TIMERS.counts(cs)) * (1_000_000_000 / TIMER_HZ)
}

impl Timers {
    fn ticks(&self, cs: CriticalSection<'_>) -> u64 {
        self.counts(cs) / PER_TICK
    }

    fn counts(&self, cs: CriticalSection<'_>) -> u64 {
        let rounds = self.rounds.borrow(cs);
        // It counts down.
        let mut passed = !COUNTER.read(VALUE);
        if COUNTER.read(INTERRUPT) & 1 != 0 {
            COUNTER.write(INTERRUPT, 1);
            rounds.set(rounds.get().wrapping_add(1));
            // The first look may have been before the start of the round.
            passed = !COUNTER.read(VALUE);
        }
        u64::from(rounds.get()) << 32 | u64::from(passed)
    }

    /// Wakes everybody whose time has come and sets the alarm for the next one.
    fn ring(&self, cs: CriticalSection<'_>, queue: &mut Queue) {
        loop {
            let next = queue.next_expiration(self.ticks(cs));
            if self.set_alarm(cs, next) {
                return;
            }
        }
    }

    /// Sets the alarm, or says that it is too late.
    fn set_alarm(&self, cs: CriticalSection<'_>, at: u64) -> bool {
        ALARM.write(CONTROL, STOP);
        ALARM.write(INTERRUPT, 1);
        if at == u64::MAX {
            return true;
        }
        let Some(ahead) = at.checked_sub(self.ticks(cs)).filter(|ahead| *ahead > 0) else { return false };
        // cannot overflow: a hundred seconds are fewer than 2^32 counts.
        let counts = (ahead.min(FARTHEST_TICKS) * PER_TICK) as u32;
        ALARM.write(RELOAD, counts);
        ALARM.write(VALUE, counts);
        ALARM.write(CONTROL, RUN);
        true
    }
}

impl Driver for Timers {
    fn now(&self) -> u64 {
        critical_section::with(|cs| self.ticks(cs))
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|cs| {
            let mut queue = self.queue.borrow_ref_mut(cs);
            if queue.schedule_wake(at, waker) {
                self.ring(cs, &mut queue);
            }
        });
    }
}
