//! Following a task: its statuses and chunks in order, each once, for streams and for push notifications.

use super::{Cursor, Engine, Snapshot, TaskKey};
use crate::log::{Kind, Stamp};

/// A place in a task's log, and what is known of how one got there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Follower {
    pub(crate) key: TaskKey,
    pub(crate) cursor: Cursor,
    /// Chunks were dropped before they could be sent.
    missed: bool,
    /// The artifact and the ordinal of the chunk that would go on where the last one that was sent ends.
    next_chunk: Option<(u16, u32)>,
}

/// An event: a record that is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) record: Cursor,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// `ends`: the task has ended or asks for something, and nothing has come of that yet.
    Status { ends: bool },
    /// `replaces`: what came before it is gone, and perhaps was never sent.
    Chunk { artifact: u16, replaces: bool, append: bool, last: bool },
}

impl Follower {
    pub(crate) const fn new(key: TaskKey, cursor: Cursor) -> Self {
        Self { key, cursor, missed: false, next_chunk: None }
    }

    /// The next event, if there is one no newer than `upto`.
    pub(crate) fn next(&mut self, engine: &Engine<'_>, upto: Stamp) -> Option<Event> {
        let slot = engine.slot(self.key)?;
        let now = Snapshot { key: self.key, upto };
        loop {
            self.missed |= engine.missed_chunks(self.key, self.cursor.stamp);
            let (record, header) = engine.after(now, self.cursor)?;
            self.cursor = record;
            let what = match header.kind() {
                Kind::Message | Kind::Reply | Kind::Push => continue,
                Kind::Chunk { artifact, ordinal, append, last } => {
                    let replaces = self.missed
                        && self.next_chunk != Some((artifact, ordinal))
                        && !engine.seen_before(now, artifact, record.stamp);
                    self.next_chunk = Some((artifact, ordinal.wrapping_add(1)));
                    What::Chunk { artifact, replaces, append, last }
                }
                // An end or a question ends a stream; but not one that is past: an earlier turn's that is told again,
                // one that was answered meanwhile, the end of a task that was opened again.
                Kind::Status(state) => What::Status { ends: state.is_settled() && record.stamp == slot.status_stamp },
            };
            return Some(Event { record, what });
        }
    }

    /// As [`Follower::next`], with what goes on right behind it: chunks that were added to the same artifact meanwhile are
    /// one event. Says, too, whether the artifact ends with it.
    pub(crate) fn next_joined(&mut self, engine: &Engine<'_>, upto: Stamp) -> Option<(Event, bool)> {
        let event = self.next(engine, upto)?;
        let What::Chunk { artifact, last: mut ends, .. } = event.what else { return Some((event, false)) };
        while !ends {
            let mut ahead = *self;
            match ahead.next(engine, upto).map(|event| event.what) {
                Some(What::Chunk { artifact: other, replaces: false, append: true, last }) if other == artifact => {
                    *self = ahead;
                    ends = last;
                }
                _ => break,
            }
        }
        Some((event, ends))
    }
}
