//! Looking at a task: cursors over its log, and what it looked like at a stamp.

use super::{Engine, Slot, TaskKey};
use crate::{
    door::Owner,
    json::{self, Text},
    log::{BlockIndex, Header, Items, Kind, NIL, Pool, Span, Stamp},
    model::TaskState,
    time::Millis,
};

/// A reader's place in a task's log: a record it has reached. It holds no borrow and may outlive the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    pub(crate) record: BlockIndex,
    pub(crate) stamp: Stamp,
    fate: Fate,
}

/// Whether a record can be dropped while its task lives. Of each kind the oldest goes first, and the newest stays.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Stays,
    GoesAsChunk,
    GoesAsStatus,
    /// When its client wants that.
    GoesAsPush,
}

impl Cursor {
    /// Before the first record.
    pub(crate) const START: Self = Self::behind(0);

    /// All zero, for places that nobody looks at.
    pub(crate) const ZERO: Self = Self { record: 0, ..Self::START };

    /// Behind the record of that stamp, wherever it is.
    pub(crate) const fn behind(stamp: Stamp) -> Self {
        Self { record: NIL, stamp, fate: Fate::Stays }
    }

    /// Whether it is at a record, not just behind a stamp.
    pub(crate) const fn is_at_record(&self) -> bool {
        self.record != NIL
    }

    pub(super) fn at(record: BlockIndex, header: Header<'_>) -> Self {
        let fate = match header.kind() {
            Kind::Chunk { .. } => Fate::GoesAsChunk,
            Kind::Status(_) => Fate::GoesAsStatus,
            Kind::Message | Kind::Reply => Fate::Stays,
            Kind::Push => Fate::GoesAsPush,
        };
        Self { record, stamp: header.stamp(), fate }
    }
}

/// A task as it was: its records up to a stamp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    pub(crate) key: TaskKey,
    pub(crate) upto: Stamp,
}

impl Engine<'_> {
    pub(crate) fn slot(&self, key: TaskKey) -> Option<&Slot> {
        self.slots.get(key)
    }

    pub(crate) fn find(&self, owner: Owner, id: Text<'_>) -> Option<TaskKey> {
        self.slots.find(owner, id)
    }

    pub(crate) const fn pool(&self) -> &Pool<'_> {
        &self.pool
    }

    /// The task as it is now.
    pub(crate) const fn snapshot(&self, key: TaskKey) -> Snapshot {
        Snapshot { key, upto: self.stamp }
    }

    /// Whether the record under a cursor is still there.
    pub(crate) fn stands(&self, key: TaskKey, cursor: Cursor) -> bool {
        self.slot(key).is_some_and(|slot| {
            cursor.record != NIL
                && match cursor.fate {
                    Fate::Stays => true,
                    Fate::GoesAsChunk => cursor.stamp > slot.dropped_chunks_upto,
                    Fate::GoesAsStatus => cursor.stamp > slot.dropped_statuses_upto,
                    Fate::GoesAsPush => self.push.has(cursor.stamp),
                }
        })
    }

    pub(crate) fn header(&self, cursor: Cursor) -> Header<'_> {
        Header::read(&self.pool, cursor.record)
    }

    pub(crate) fn items(&self, cursor: Cursor) -> Items {
        self.header(cursor).items(cursor.record)
    }

    /// The record after a cursor, no newer than `upto`. Whom to notify is not for those who follow.
    pub(crate) fn after(&self, Snapshot { key, upto }: Snapshot, cursor: Cursor) -> Option<(Cursor, Header<'_>)> {
        let slot = self.slot(key).filter(|slot| !slot.chain.is_empty())?;
        let mut record = if self.stands(key, cursor) { self.header(cursor).next() } else { slot.chain.first };
        while record != NIL {
            let header = Header::read(&self.pool, record);
            if header.stamp() > upto {
                return None;
            }
            if header.stamp() > cursor.stamp && header.kind() != Kind::Push {
                return Some((Cursor::at(record, header), header));
            }
            record = header.next();
        }
        None
    }

    /// The status a task had.
    pub(crate) fn status(&self, snapshot: Snapshot) -> Option<(Cursor, TaskState, Millis)> {
        let slot = self.slot(snapshot.key)?;
        if slot.status_stamp <= snapshot.upto {
            let header = Header::read(&self.pool, slot.status);
            return Some((Cursor::at(slot.status, header), slot.state, header.at()));
        }
        let mut found = None;
        let mut cursor = Cursor::START;
        while let Some((next, header)) = self.after(snapshot, cursor) {
            if let Kind::Status(state) = header.kind() {
                found = Some((next, state, header.at()));
            }
            cursor = next;
        }
        found
    }

    /// The task as it was, or, where its status of then is gone from the log, as it was when it had the oldest that is
    /// left: whoever is told of it event by event never goes back.
    pub(crate) fn known(&self, then: Snapshot) -> Snapshot {
        if self.status(then).is_some() {
            return then;
        }
        let now = self.snapshot(then.key);
        let mut cursor = Cursor::behind(then.upto);
        while let Some((next, header)) = self.after(now, cursor) {
            if matches!(header.kind(), Kind::Status(_)) {
                return Snapshot { upto: next.stamp, ..then };
            }
            cursor = next;
        }
        now
    }

    /// The message that the present run answers.
    pub(crate) fn run_message(&self, key: TaskKey) -> Option<Cursor> {
        let slot = self.slot(key).filter(|slot| !slot.chain.is_empty())?;
        Some(Cursor::at(slot.run_message, Header::read(&self.pool, slot.run_message)))
    }

    /// The task of the same context whose status is newest, other than this one.
    pub(crate) fn newest_in_context_of(&self, key: TaskKey) -> Option<TaskKey> {
        let Slot { context, owner, .. } = self.slot(key)?;
        let others = self
            .slots
            .visible()
            .filter(|(other, slot)| *other != key && slot.context == *context && slot.owner == *owner);
        others.max_by_key(|(_, slot)| slot.status_stamp).map(|(key, _)| key)
    }

    /// Whether a record has a message in it.
    pub(crate) fn has_parts(&self, cursor: Cursor) -> bool {
        self.items(cursor).next_part(&self.pool).is_some()
    }

    /// The next message of the history: the client's, and the agent's that came with a status that has passed.
    pub(crate) fn next_message(&self, snapshot: Snapshot, mut cursor: Cursor) -> Option<Cursor> {
        let present = self.status(snapshot).map_or(0, |(status, ..)| status.stamp);
        loop {
            let (next, header) = self.after(snapshot, cursor)?;
            match header.kind() {
                Kind::Message => return Some(next),
                Kind::Status(_) if header.stamp() != present && self.has_parts(next) => return Some(next),
                _ => cursor = next,
            }
        }
    }

    /// The first chunk of the next artifact. An artifact that was replaced begins at its replacement.
    pub(crate) fn next_artifact(&self, snapshot: Snapshot, mut cursor: Cursor) -> Option<Cursor> {
        loop {
            let (next, header) = self.after(snapshot, cursor)?;
            cursor = next;
            let Kind::Chunk { artifact, append, .. } = header.kind() else { continue };
            let begins = !append || !self.seen_before(snapshot, artifact, next.stamp);
            if begins && !self.replaced_after(snapshot, artifact, next) {
                return Some(next);
            }
        }
    }

    /// The next chunk of the same artifact.
    pub(crate) fn next_chunk(&self, snapshot: Snapshot, of: u16, mut cursor: Cursor) -> Option<Cursor> {
        loop {
            let (next, header) = self.after(snapshot, cursor)?;
            match header.kind() {
                Kind::Chunk { artifact, .. } if artifact == of => return Some(next),
                _ => cursor = next,
            }
        }
    }

    /// Whether an earlier chunk of the artifact is left.
    pub(crate) fn seen_before(&self, snapshot: Snapshot, artifact: u16, stamp: Stamp) -> bool {
        self.next_chunk(Snapshot { upto: stamp.saturating_sub(1), ..snapshot }, artifact, Cursor::START).is_some()
    }

    fn replaced_after(&self, snapshot: Snapshot, artifact: u16, mut cursor: Cursor) -> bool {
        while let Some(next) = self.next_chunk(snapshot, artifact, cursor) {
            if matches!(self.header(next).kind(), Kind::Chunk { append: false, .. }) {
                return true;
            }
            cursor = next;
        }
        false
    }

    /// Whether a reader that has reached `stamp` has missed chunks that are gone.
    pub(crate) fn missed_chunks(&self, key: TaskKey, stamp: Stamp) -> bool {
        self.slot(key).is_some_and(|slot| stamp < slot.dropped_chunks_upto)
    }

    /// Copies a span into a string of fixed capacity as it stands (escaped), or `None` if it doesn't fit.
    pub(crate) fn copy<const N: usize>(&self, span: Span) -> Option<heapless::Vec<u8, N>> {
        let mut bytes = heapless::Vec::new();
        self.copy_to(span, &mut bytes)?;
        Some(bytes)
    }

    /// As [`Engine::copy`], behind what is there.
    pub(crate) fn copy_to<const N: usize>(&self, span: Span, bytes: &mut heapless::Vec<u8, N>) -> Option<()> {
        let (mut at, mut left) = (span.at, span.len as usize);
        while left > 0 {
            let tail = self.pool.tail(at);
            let piece = &tail[..left.min(tail.len())];
            bytes.extend_from_slice(piece).ok()?;
            if piece.is_empty() {
                break;
            }
            left -= piece.len();
            at = self.pool.advance(at, piece.len());
        }
        Some(())
    }

    /// Whether a span holds that text, which stands there escaped as we escape.
    pub(crate) fn span_says(&self, span: Span, text: &str) -> bool {
        let mut at = span.at;
        let mut left = span.len as usize;
        let mut same = true;
        json::escape(text, &mut |piece: &str| {
            let mut rest = piece.as_bytes();
            while same && !rest.is_empty() {
                let mut found = [0; 16];
                let n = rest.len().min(found.len());
                at = self.pool.read(at, &mut found[..n]);
                same = n <= left && found[..n] == rest[..n];
                left = left.saturating_sub(n);
                rest = &rest[n..];
            }
        });
        same && left == 0
    }

    /// Whether a span holds exactly these bytes.
    pub(crate) fn span_is(&self, span: Span, text: &str) -> bool {
        if span.len as usize != text.len() {
            return false;
        }
        let mut at = span.at;
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let mut piece = [0; 16];
            let n = rest.len().min(piece.len());
            at = self.pool.read(at, &mut piece[..n]);
            if piece[..n] != rest[..n] {
                return false;
            }
            rest = &rest[n..];
        }
        true
    }
}
