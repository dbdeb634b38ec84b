//! Who has to come round, and by when: the watchdog is fed by the progress of the loops, not by traffic.
//!
//! A device that nobody talks to is fine, and so is one whose hub is away. One whose loops no longer turn is not. So every
//! loop says, before it does something that has an end, by when that will have ended, and rests while it waits for
//! something that may never come. The hardware's watchdog is fed as long as nobody is late; it bites by itself when the
//! executor no longer runs at all.

use core::cell::Cell;

use protocol_core::time::Millis;

/// What the hardware has, or something that stands in for it.
pub trait Watchdog {
    /// Puts the bite off, by [`BITE`].
    fn feed(&mut self);
}

/// How long the hardware waits for food. Every chip here can wait that long; an erased block of flash takes a twentieth.
pub const BITE: Millis = Millis(8_000);

/// How often it is fed while all is well.
pub const FEED_EVERY: Millis = Millis(1_000);

/// The loops that are watched, by their place.
pub struct Loops<const COUNT: usize> {
    due: [Cell<Option<Millis>>; COUNT],
}

impl<const COUNT: usize> Loops<COUNT> {
    /// All of them rest.
    #[must_use]
    pub const fn new() -> Self {
        Self { due: [const { Cell::new(None) }; COUNT] }
    }

    /// The loop at `place` will be here again by then, or is stuck.
    ///
    /// # Panics
    /// Where there is no such loop.
    pub fn due(&self, place: usize, by: Millis) {
        self.due[place].set(Some(by));
    }

    /// The loop at `place` waits for something that may never come, and that is all right.
    ///
    /// # Panics
    /// Where there is no such loop.
    pub fn rest(&self, place: usize) {
        self.due[place].set(None);
    }

    /// The first loop that should have come round by now.
    #[must_use]
    pub fn late(&self, now: Millis) -> Option<usize> {
        self.due.iter().position(|due| due.get().is_some_and(|by| by < now))
    }
}

impl<const COUNT: usize> Default for Loops<COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_no_trouble_but_a_loop_that_does_not_come_round_is() {
        let loops = Loops::<3>::new();
        assert_eq!(loops.late(Millis(u64::MAX)), None);
        loops.due(1, Millis(5_000));
        loops.due(2, Millis(9_000));
        assert_eq!(loops.late(Millis(5_000)), None);
        assert_eq!(loops.late(Millis(5_001)), Some(1));
        loops.rest(1);
        assert_eq!(loops.late(Millis(5_001)), None);
        assert_eq!(loops.late(Millis(9_001)), Some(2));
        loops.due(2, Millis(20_000));
        assert_eq!(loops.late(Millis(9_001)), None);
    }
}
