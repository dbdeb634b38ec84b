//! The machine: tasks in slots, their logs in one pool, and who waits for what.
//!
//! - `handle_*` takes something in: a call, a record of an agent, the passing of time.
//! - `poll_*` gives something out, or remembers whom to wake.
//! - everything else looks only.
//!
//! Nothing here knows a socket, a clock or a dialect's words. No method waits, and none calls back: a caller borrows the
//! engine for one step and lets go.

#[cfg(any(test, fuzzing))]
mod check;
mod credential;
mod deliver;
mod follow;
mod list;
mod push;
mod read;
mod retain;
mod send;
mod share;
mod slot;
mod storage;
mod wait;
mod write;

pub(crate) use credential::Shown;
pub(crate) use deliver::Errand;
pub(crate) use follow::{Event, Follower, What};
pub(crate) use list::Page;
pub(crate) use read::{Cursor, Snapshot};
pub(crate) use send::{Manners, Sender, Sent};
use slot::{List, Slots};
pub(crate) use slot::{Slot, TaskKey};
pub use storage::{Limits, Storage};
pub(crate) use wait::ReaderKey;
pub(crate) use wait::{Job, Reader};
pub use write::Piece;
pub(crate) use write::{Chunk, Refused};

use crate::{
    door::{Allowance, Owner},
    journal::{Journal, JournalStorage, Level, Line, Note},
    log::{Pool, Stamp},
    tally::{Tally, Usage},
    time::{Entropy, Millis, UnixMillis},
    trace::Trace,
};

/// The machine. See the module.
pub struct Engine<'s> {
    slots: Slots<'s>,
    /// Submitted tasks in the order in which they wait for a worker.
    queued: List,
    /// Finished tasks in the order in which they may go.
    finished: List,
    pool: Pool<'s>,
    jobs: &'s mut [Job],
    readers: &'s mut [Reader],
    stamp: Stamp,
    entropy: &'s mut dyn Entropy,
    /// Wall time at boot, once it is known.
    booted_at: Option<UnixMillis>,
    /// Whoever waits for the clock, and until when.
    timer: Option<core::task::Waker>,
    armed: Option<Millis>,
    /// Blocks one task may have.
    share: u32,
    /// What one caller may have.
    allowance: Allowance,
    /// Who is to be notified.
    push: crate::push::Table<'s>,
    /// What happened lately.
    pub(crate) journal: Journal<'s>,
    /// What was counted.
    pub(crate) tally: Tally,
}

impl<'s> Engine<'s> {
    /// Makes a machine in the given memory.
    pub fn new<const TASKS: usize, const BLOCKS: usize, const WORKERS: usize, const READERS: usize>(
        storage: &'s mut Storage<TASKS, BLOCKS, WORKERS, READERS>,
        entropy: &'s mut dyn Entropy,
    ) -> Self {
        let (slots, blocks, jobs, readers) = storage.parts();
        let pool = Pool::new(blocks);
        let share = pool.capacity() / 2;
        Self {
            slots: Slots::new(slots),
            queued: List::EMPTY,
            finished: List::EMPTY,
            pool,
            jobs,
            readers,
            stamp: 0,
            entropy,
            booted_at: None,
            timer: None,
            armed: None,
            share,
            allowance: Allowance::UNLIMITED,
            push: crate::push::Table::none(),
            journal: Journal::none(),
            tally: Tally::NEW,
        }
    }

    /// Keeps what happens in the given memory, if it is of that level or worse, and tells a listener of every line: now,
    /// in the middle of whatever it is that happens.
    pub fn set_journal<const LINES: usize>(
        &mut self,
        storage: &'s mut JournalStorage<LINES>,
        least: Level,
        listener: fn(&Line),
    ) {
        self.journal = Journal::new(storage, least, listener);
    }

    /// Notes what happened to a task.
    pub(crate) fn note(&mut self, note: Note, key: TaskKey) {
        if let Some(slot) = self.slots.get(key) {
            self.journal.note(&note, Some(slot.owner), &slot.id, &slot.trace);
        }
    }

    /// Notes what happened to somebody's call, or to nobody's.
    pub(crate) fn note_call(&mut self, now: Millis, note: Note, owner: Option<Owner>, trace: Trace) {
        self.journal.now = now;
        self.journal.note(&note, owner, "", &trace);
    }

    /// Tells what one caller may have.
    pub(crate) const fn set_allowance(&mut self, allowance: Allowance) {
        self.allowance = allowance;
    }

    pub(crate) const fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// Tells what time it is: `now` since boot is `wall`.
    pub fn handle_wall_time(&mut self, now: Millis, wall: UnixMillis) {
        self.booted_at = Some(UnixMillis(wall.0.saturating_sub(now.0)));
    }

    /// The wall time of a moment since boot, if it is known.
    pub fn wall_time(&self, at: Millis) -> Option<UnixMillis> {
        self.booted_at.map(|boot| UnixMillis(boot.0.saturating_add(at.0)))
    }

    /// What there is room for, and how much of it is in use.
    pub fn limits(&self) -> Limits {
        Limits {
            tasks: Usage { used: self.slots.used(), most: self.tally.tasks_most, all: self.slots.capacity() },
            blocks: Usage {
                used: self.pool.capacity().saturating_sub(self.pool.available()),
                most: self.pool.capacity().saturating_sub(self.pool.least_available()),
                all: self.pool.capacity(),
            },
            workers: Usage { used: self.busy(), most: self.tally.workers_most, all: self.jobs.len() as u32 },
            readers: Usage {
                used: self.tally.readers_used,
                most: self.tally.readers_most,
                all: self.readers.len() as u32,
            },
        }
    }

    /// How many records there were: each has a stamp of its own.
    pub(crate) const fn records(&self) -> u64 {
        self.stamp
    }

    /// How many tasks are in the state of that number.
    pub(crate) fn tasks_in(&self, state: usize) -> u32 {
        count(self.slots.visible().filter(|(_, slot)| slot.state as usize == state))
    }

    /// Fills `bytes` with the randomness that ids are made of.
    pub(crate) fn fill_random(&mut self, bytes: &mut [u8]) {
        self.entropy.fill(bytes);
    }

    fn next_stamp(&mut self) -> Stamp {
        // A record each microsecond would take half a million years to come to the end of these.
        self.stamp = self.stamp.wrapping_add(1);
        self.stamp
    }
}

/// How many there are: no number that memory holds is too large.
fn count(things: impl Iterator) -> u32 {
    things.fold(0, |count, _| count.wrapping_add(1))
}
