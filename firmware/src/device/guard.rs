//! Feeds the watchdog for as long as all loops come round.

use core::cell::Cell;

use embassy_time::{Duration, Instant, Timer};
use protocol_core::time::Millis;

use super::{CONNECTIONS, DOORS, memo};
use crate::{
    board::here,
    reset::Reason,
    watchdog::{FEED_EVERY, Loops, Watchdog as _},
};

/// The loops: the network, the clock, the connections, the doors.
const COUNT: usize = 2 + CONNECTIONS + DOORS;
const NETWORK: usize = 0;
const CLOCK: usize = 1;
const LINES: usize = 2;

/// A loop may be that late: it is far more than any of them waits for.
const SLACK: Millis = Millis(30_000);

/// All that is watched.
pub(super) struct Guard {
    loops: Loops<COUNT>,
    /// The network's loop is to look as if it stood still, for a test.
    is_stalled: Cell<bool>,
}

impl Guard {
    pub(super) const fn new() -> Self {
        Self { loops: Loops::new(), is_stalled: Cell::new(false) }
    }

    /// The clock comes round at `due`.
    pub(super) fn clock(&'static self, due: Millis) -> Turn {
        Turn::begin(self, CLOCK, due.after(SLACK))
    }

    /// A connection or a door does something now that it can see the end of.
    pub(super) fn line(&'static self, place: usize) -> Turn {
        Turn::begin(self, LINES + place, uptime().after(SLACK))
    }

    /// The network's task is alive for as long as this is polled in it.
    pub(super) async fn network(&self) -> ! {
        loop {
            if !self.is_stalled.get() {
                self.loops.due(NETWORK, uptime().after(Millis(10_000)));
            }
            Timer::after_secs(1).await;
        }
    }

    #[cfg(feature = "emulated")]
    pub(super) fn stall(&self) {
        self.is_stalled.set(true);
        self.loops.due(NETWORK, uptime());
    }
}

/// What a loop does until it comes round again; it rests when this is dropped.
pub(super) struct Turn {
    guard: &'static Guard,
    place: usize,
}

impl Turn {
    fn begin(guard: &'static Guard, place: usize, due: Millis) -> Self {
        guard.loops.due(place, due);
        Self { guard, place }
    }

    /// It has come a step further.
    pub(super) fn step(&self) {
        self.guard.loops.due(self.place, uptime().after(SLACK));
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.guard.loops.rest(self.place);
    }
}

fn uptime() -> Millis {
    Millis(Instant::now().as_millis())
}

#[embassy_executor::task]
pub(super) async fn keep_watch(guard: &'static Guard, mut watchdog: here::Watchdog) -> ! {
    loop {
        if let Some(late) = guard.loops.late(uptime()) {
            let name = match late {
                NETWORK => "network",
                CLOCK => "clock",
                _ => "connection",
            };
            defmt::error!("the {=str} loop does not come round", name);
            memo::restart(Reason::Stuck, format_args!("the {name} loop did not come round ({late})"));
        }
        watchdog.feed();
        Timer::after(Duration::from_millis(FEED_EVERY.0)).await;
    }
}
