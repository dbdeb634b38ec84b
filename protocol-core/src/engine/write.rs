//! What an agent does to its task: statuses, artifacts, the end.

use core::fmt;

use super::{Engine, TaskKey, count, slot::Place};
use crate::{
    journal::Note,
    json::{Json, Sink},
    log::{Draft, Header, Kind, NIL, Pool, Stamp, Tag},
    model::{Fault, FaultKind, TaskState},
    time::Millis,
};

/// A part that an agent sends.
#[derive(Clone, Copy)]
pub enum Piece<'a> {
    /// Text.
    Text(fmt::Arguments<'a>),
    /// Any JSON.
    Data(Json<'a>),
    /// A file, with its content as text.
    File {
        /// Its name.
        name: &'a str,
        /// Its media type.
        media_type: &'a str,
        /// What is in it.
        content: fmt::Arguments<'a>,
    },
    /// A file somewhere else.
    Link {
        /// Its name.
        name: &'a str,
        /// Its media type.
        media_type: &'a str,
        /// Where it is.
        url: &'a str,
    },
}

/// A piece of an artifact.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'a> {
    /// Identifies the artifact within its task.
    pub(crate) artifact: &'a str,
    pub(crate) description: Option<&'a str>,
    /// Adds to what the artifact has, instead of replacing it.
    pub(crate) append: bool,
    pub(crate) last: bool,
    pub(crate) parts: &'a [Piece<'a>],
}

/// Why a record was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Refused {
    /// The task has ended or is gone.
    Over,
    /// The table of legal moves does not have this one.
    IllegalMove,
    /// There is no room in the log, and nothing that could go.
    Full,
}

impl Engine<'_> {
    /// Moves a task to another state, with a message if there are parts.
    ///
    /// # Errors
    /// If it may not move there, or its log has no room. The end of a task always finds room.
    pub(crate) fn record_status(
        &mut self,
        now: Millis,
        key: TaskKey,
        state: TaskState,
        parts: &[Piece<'_>],
    ) -> Result<Stamp, Refused> {
        self.journal.now = now;
        let slot = self.slots.get(key).ok_or(Refused::Over)?;
        let was = slot.state;
        let reopened = slot.place == Place::Asking && state == TaskState::Submitted;
        let is_first = slot.status_stamp == 0;
        if !is_first && !reopened && !slot.state.may_become(state) {
            return Err(if slot.state.is_terminal() { Refused::Over } else { Refused::IllegalMove });
        }
        let reserve = slot.reserve;
        let draft = match self.draft(key, |draft, pool| write_parts(draft, pool, parts)) {
            Ok(draft) => {
                if state.is_terminal() && reserve != NIL {
                    self.pool.give_back(reserve);
                }
                draft
            }
            Err(_) if state.is_terminal() && reserve != NIL => {
                let mut draft = Draft::in_reserve(reserve);
                if !parts.is_empty() {
                    draft.string(&mut self.pool, Tag::Text, "(no room for the reason)");
                }
                draft
            }
            Err(refused) => return Err(refused),
        };
        let stamp = self.append(now, key, Kind::Status(state), draft);
        let slot = self.slots.get_mut(key).ok_or(Refused::Over)?;
        slot.state = state;
        slot.status = slot.chain.last;
        slot.status_stamp = stamp;
        slot.tentative &= state == TaskState::Submitted;
        slot.asks_credential = state == TaskState::AuthRequired || slot.asks_credential && !state.is_settled();
        if is_first || was != state {
            self.tally.count_move(state);
            self.journal.note(&Note::task(state), Some(slot.owner), &slot.id, &slot.trace);
        }
        self.settle(key, state);
        self.wake_readers(key);
        Ok(stamp)
    }

    /// Adds a piece to an artifact, or begins one.
    pub(crate) fn record_chunk(&mut self, now: Millis, key: TaskKey, chunk: &Chunk<'_>) -> Result<Stamp, Refused> {
        let slot = self.slots.get(key).filter(|slot| !slot.state.is_terminal()).ok_or(Refused::Over)?;
        let known = self.artifact_number(key, chunk.artifact);
        let number = known.unwrap_or(slot.artifacts);
        // Numbers are never given twice: a task that has used them all has no room for another artifact.
        let artifacts = slot.artifacts.max(number.checked_add(1).ok_or(Refused::Full)?);
        let draft = self.draft(key, |draft, pool| {
            draft.string(pool, Tag::ArtifactId, chunk.artifact);
            if let Some(description) = chunk.description {
                draft.string(pool, Tag::Description, description);
            }
            write_parts(draft, pool, chunk.parts);
        })?;
        let append = chunk.append && known.is_some();
        let ordinal = if append { self.next_ordinal(key, number) } else { 0 };
        let kind = Kind::Chunk { artifact: number, append, last: chunk.last, ordinal };
        let stamp = self.append(now, key, kind, draft);
        let slot = self.slots.get_mut(key).ok_or(Refused::Over)?;
        slot.last_chunk = Some((slot.chain.last, stamp));
        slot.artifacts = artifacts;
        slot.tentative = false;
        self.wake_readers(key);
        Ok(stamp)
    }

    /// Answers with a message instead of a task, if nobody has been told of a task yet.
    ///
    /// # Errors
    /// [`Refused::IllegalMove`] if it is too late for that.
    pub(crate) fn record_reply(&mut self, now: Millis, key: TaskKey, parts: &[Piece<'_>]) -> Result<Stamp, Refused> {
        if !self.is_tentative(key) {
            return Err(Refused::IllegalMove);
        }
        let draft = self.draft(key, |draft, pool| write_parts(draft, pool, parts))?;
        let stamp = self.append(now, key, Kind::Reply, draft);
        let slot = self.slots.get_mut(key).ok_or(Refused::Over)?;
        slot.state = TaskState::Completed;
        slot.hidden = true;
        slot.place = Place::Finished;
        self.pool.give_back(slot.reserve);
        // Only one answer is interested in it: it goes before anything else does.
        self.slots.push_front(&mut self.finished, key);
        self.tally.replied = self.tally.replied.wrapping_add(1);
        self.journal.now = now;
        self.note(Note::REPLIED, key);
        self.drop_pushes(key);
        self.wake_readers(key);
        Ok(stamp)
    }

    /// Ends a task because its client wants it to.
    ///
    /// # Errors
    /// If it has ended already.
    pub(crate) fn handle_cancel(&mut self, now: Millis, key: TaskKey) -> Result<(), Fault> {
        match self.record_status(now, key, TaskState::Canceled, &[]) {
            Ok(_) => Ok(()),
            Err(Refused::Over) => Err(Fault::new(FaultKind::TaskNotCancelable)),
            Err(Refused::IllegalMove | Refused::Full) => Err(Fault::new(FaultKind::Internal)),
        }
    }

    /// The agent says that this takes long. False if too many others do: a quarter of the workers, at least one, stays
    /// free of such work, so that a quick question never waits for one that may wait for ever.
    pub(crate) fn set_slow(&mut self, key: TaskKey) -> bool {
        let workers = self.jobs.len() as u32;
        let others = self.jobs.iter().filter_map(|job| job.task()).filter(|task| *task != key);
        if count(others.filter(|task| self.is_slow(*task))) >= workers.saturating_sub((workers / 4).max(1)) {
            return false;
        }
        if let Some(slot) = self.slots.get_mut(key) {
            slot.slow = true;
        }
        self.wake_readers(key);
        true
    }

    /// From now on there is a task, whatever the agent says: somebody may be told.
    pub(crate) fn commit(&mut self, key: TaskKey) {
        if let Some(slot) = self.slots.get_mut(key) {
            slot.tentative = false;
        }
        self.wake_readers(key);
    }

    /// Puts a task where its state belongs.
    fn settle(&mut self, key: TaskKey, state: TaskState) {
        let Some(slot) = self.slots.get_mut(key) else { return };
        let was = slot.place;
        if state.is_terminal() {
            slot.place = Place::Finished;
            slot.reserve = NIL;
            if was == Place::Queued {
                self.slots.remove(&mut self.queued, key);
            }
            self.slots.push_back(&mut self.finished, key);
            self.release_workers(key);
        } else if state.is_interrupted() {
            slot.place = Place::Asking;
            self.release_workers(key);
        }
    }

    /// Writes a draft, making room as far as that is possible.
    fn draft(&mut self, key: TaskKey, write: impl Fn(&mut Draft, &mut Pool<'_>)) -> Result<Draft, Refused> {
        loop {
            let slot = self.slots.get(key).ok_or(Refused::Over)?;
            let budget = self.share.saturating_sub(slot.chain.blocks).min(self.blocks_left(slot.owner));
            let mut draft = Draft::new(&mut self.pool, budget);
            write(&mut draft, &mut self.pool);
            if !draft.is_full() {
                return Ok(draft);
            }
            let over_share = draft.blocks() >= budget;
            let wanted = draft.blocks().saturating_mul(2).saturating_add(1);
            draft.discard(&mut self.pool);
            let spare = Some(key);
            let before = self.pool.available();
            if !over_share {
                self.make_room(wanted, spare);
            }
            if self.pool.available() == before && !self.drop_oldest(key) {
                return Err(Refused::Full);
            }
        }
    }

    fn append(&mut self, now: Millis, key: TaskKey, kind: Kind, draft: Draft) -> Stamp {
        let stamp = self.next_stamp();
        if let Some(slot) = self.slots.get_mut(key) {
            draft.append_to(&mut self.pool, &mut slot.chain, stamp, now, kind);
        } else {
            draft.discard(&mut self.pool);
        }
        stamp
    }

    /// The number of an artifact that exists.
    fn artifact_number(&self, key: TaskKey, id: &str) -> Option<u16> {
        let slot = self.slots.get(key)?;
        let (newest, _) = slot.last_chunk?;
        let mut record = newest;
        loop {
            let header = Header::read(&self.pool, record);
            if let Kind::Chunk { artifact, .. } = header.kind() {
                let items = header.items(record);
                if items.find(&self.pool, Tag::ArtifactId).is_some_and(|span| self.span_says(span, id)) {
                    return Some(artifact);
                }
            }
            // The newest first, because it is the likely one; then all from the front.
            record = if record == newest && slot.chain.first != newest { slot.chain.first } else { header.next() };
            if record == NIL || record == newest {
                return None;
            }
        }
    }

    /// How many chunks an artifact has had since it began.
    fn next_ordinal(&self, key: TaskKey, number: u16) -> u32 {
        let Some(slot) = self.slots.get(key) else { return 0 };
        let ordinal_of = |record| match Header::read(&self.pool, record).kind() {
            Kind::Chunk { artifact, ordinal, .. } if artifact == number => Some(ordinal.wrapping_add(1)),
            _ => None,
        };
        if let Some(next) = slot.last_chunk.and_then(|(newest, _)| ordinal_of(newest)) {
            return next;
        }
        let mut next = 0;
        let mut record = slot.chain.first;
        while record != NIL {
            next = ordinal_of(record).unwrap_or(next);
            record = Header::read(&self.pool, record).next();
        }
        next
    }
}

fn write_parts(draft: &mut Draft, pool: &mut Pool<'_>, parts: &[Piece<'_>]) {
    for part in parts {
        match *part {
            Piece::Text(text) => draft.text(pool, Tag::Text, text),
            Piece::Data(data) => draft.json(pool, Tag::Data, data),
            Piece::File { content, .. } => draft.item(pool, Tag::Raw, |sink| {
                let mut base64 = Base64 { sink, held: [0; 3], count: 0 };
                // cannot fail: the sink takes everything.
                let _ = fmt::write(&mut base64, content);
                base64.finish();
            }),
            Piece::Link { url, .. } => draft.string(pool, Tag::Url, url),
        }
        if let Piece::File { name, media_type, .. } | Piece::Link { name, media_type, .. } = *part {
            draft.string(pool, Tag::MediaType, media_type);
            draft.string(pool, Tag::Filename, name);
        }
    }
}

/// Base64 of what is written into it.
struct Base64<'a> {
    sink: &'a mut dyn Sink,
    held: [u8; 3],
    count: usize,
}

impl Base64<'_> {
    fn group(&mut self) {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let [a, b, c] = self.held;
        let bits = u32::from_be_bytes([0, a, b, c]);
        let mut out = *b"====";
        for (place, shift) in out.iter_mut().zip([18, 12, 6, 0]).take(self.count.saturating_add(1)) {
            *place = ALPHABET[bits.wrapping_shr(shift) as usize & 0x3f];
        }
        self.sink.put(core::str::from_utf8(&out).unwrap_or("===="));
        self.held = [0; 3];
        self.count = 0;
    }

    fn finish(mut self) {
        if self.count > 0 {
            self.group();
        }
    }
}

impl fmt::Write for Base64<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if let Some(place) = self.held.get_mut(self.count) {
                *place = byte;
            }
            self.count = self.count.saturating_add(1);
            if self.count >= self.held.len() {
                self.group();
            }
        }
        Ok(())
    }
}
