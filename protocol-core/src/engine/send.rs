//! A message arrives: find or make its task, store it, queue the task.

use super::{
    Engine, TaskKey,
    credential::{Shown, WITHHELD, is_in, withheld},
    slot::{Id, Place, Slot},
};
use crate::{
    door::{Caller, Door, Owner},
    json::{self, Json, Text},
    log::{Draft, ITEM_HEAD, Kind, Stamp, Tag},
    model::{Content, Fault, FaultKind, Profile, SendCall, TaskName, TaskState},
    time::Millis,
    trace::Trace,
};

/// What became of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) key: TaskKey,
    /// The message's own stamp.
    pub(crate) message: Stamp,
    /// The newest stamp when the call was done: where a stream of it begins.
    pub(crate) upto: Stamp,
}

/// Who sends a message, and to what kind of house.
pub(crate) struct Sender<'a, 'd> {
    pub(crate) caller: Caller,
    pub(crate) profile: &'a Profile<'a>,
    pub(crate) door: &'a Door<'d>,
    pub(crate) shown: &'a Shown,
    /// The trace that the message belongs to.
    pub(crate) trace: Option<Trace>,
}

/// How the dialect of the caller treats tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manners {
    pub(crate) dialect: u8,
    /// A message to a finished task starts it afresh.
    pub(crate) reopens: bool,
    /// The agent may answer with a message instead of a task.
    pub(crate) knows_replies: bool,
    /// Its clients know that a webhook may be asked whether it is meant.
    pub(crate) challenges: bool,
}

impl Engine<'_> {
    /// Takes a message in.
    ///
    /// # Errors
    /// A fault, and then nothing has changed.
    pub(crate) fn handle_send(
        &mut self,
        now: Millis,
        sender: &Sender<'_, '_>,
        call: &SendCall<'_>,
        manners: Manners,
    ) -> Result<Sent, Fault> {
        self.journal.now = now;
        check_media_types(sender.profile, call)?;
        let owner = sender.caller.owner;
        let known = match call.task {
            TaskName::New => None,
            TaskName::Existing(id) => {
                let missing = Fault { field: "message.taskId", ..Fault::new(FaultKind::TaskNotFound) };
                Some(self.find(owner, id).ok_or(missing)?)
            }
            TaskName::Named(id) => self.find(owner, id),
        };
        if let Some(key) = known {
            self.check_follow_up(key, call, manners)?;
        }
        if let Some(config) = &call.push {
            self.check_push(owner, known, config)?;
        }
        let shown = sender.shown;
        let blocks = self.check_room(known, owner, call, shown)?;
        let key = match known {
            Some(key) => key,
            None => self.create(owner, call, manners)?,
        };
        match self.store_message(now, key, call, shown, blocks) {
            Ok(message) => {
                self.lend(key, shown.lender(sender.door));
                if let Some(trace) = sender.trace
                    && let Some(slot) = self.slots.get_mut(key)
                {
                    slot.trace = trace;
                }
                if known.is_none() {
                    self.tally.created = self.tally.created.wrapping_add(1);
                }
                if let Some(config) = &call.push {
                    // cannot fail: it was checked, and there is room for it.
                    let _ = self.handle_push(now, key, manners, config, message);
                }
                self.queue(now, key);
                Ok(Sent { key, message, upto: self.stamp })
            }
            Err(fault) => {
                if known.is_none() {
                    self.forget(key);
                }
                Err(fault)
            }
        }
    }

    fn check_follow_up(&self, key: TaskKey, call: &SendCall<'_>, manners: Manners) -> Result<(), Fault> {
        let slot = self.slot(key).ok_or(Fault::new(FaultKind::TaskNotFound))?;
        if call.context.is_some_and(|context| !context.is(&slot.context)) {
            return Err(Fault::params(call.context_member, "is not that of the task"));
        }
        if slot.state.is_terminal() && !manners.reopens {
            return Err(Fault::new(FaultKind::TaskEnded));
        }
        Ok(())
    }

    /// Whether a message finds room, and how many blocks it takes. Looks only: who is refused has cost nobody a task.
    fn check_room(
        &self,
        known: Option<TaskKey>,
        owner: Owner,
        call: &SendCall<'_>,
        shown: &Shown,
    ) -> Result<u32, Fault> {
        let wanted = Draft::blocks_for(stored_len(call, shown));
        let config = call.push.as_ref().map_or(0, |config| self.push_blocks(config));
        if wanted.saturating_add(config).saturating_add(STATUSES) > self.share {
            return Err(Fault::params("message", "is larger than a task may be"));
        }
        let excess =
            known.map_or(0, |key| self.blocks_with(key, wanted.saturating_add(config)).saturating_sub(self.share));
        let dropped = known.map_or(0, |key| self.droppable(key, excess));
        if dropped < excess {
            return Err(Fault::busy("the log of this task is full"));
        }
        if known.is_none() && self.slots.used() == self.slots.capacity() && self.finished.is_empty() {
            return Err(Fault::busy("the task table is full"));
        }
        if known.is_none() && self.has_its_share(owner) && self.oldest_finished_of(owner).is_none() {
            return Err(Fault::busy("you have too many tasks, cancel one"));
        }
        if wanted.saturating_add(config).saturating_add(STATUSES) > self.blocks_left(owner) {
            return Err(Fault::busy("your tasks have too much of the log, cancel one"));
        }
        let there = self.pool.available().saturating_add(dropped);
        let lacking = wanted.saturating_add(config).saturating_add(BEHIND).saturating_sub(there);
        if lacking > 0 && self.evictable(known) < lacking {
            return Err(Fault::busy("the task log is full"));
        }
        Ok(wanted)
    }

    fn create(&mut self, owner: Owner, call: &SendCall<'_>, manners: Manners) -> Result<TaskKey, Fault> {
        let id = match call.task {
            TaskName::Named(id) => decode_id(id, "id")?,
            _ => self.new_id(),
        };
        let context = match call.context {
            Some(context) => decode_id(context, call.context_member)?,
            None => self.new_id(),
        };
        if self.has_its_share(owner)
            && let Some(oldest) = self.oldest_finished_of(owner)
        {
            self.evict(oldest);
        }
        if self.slots.used() == self.slots.capacity() && !self.evict_one(None) {
            return Err(Fault::busy("the task table is full"));
        }
        self.make_room(1, None);
        let reserve = self.pool.take().ok_or(Fault::busy("the task log is full"))?;
        let Some(key) = self.slots.take() else {
            self.pool.give_back(reserve);
            return Err(Fault::busy("the task table is full"));
        };
        self.tally.tasks_most = self.tally.tasks_most.max(self.slots.used());
        let tentative = manners.knows_replies && self.worker_is_idle();
        self.slots.put(
            key,
            Slot {
                place: Place::Asking,
                id,
                context,
                owner,
                birth: manners.dialect,
                reserve,
                tentative,
                ..Slot::EMPTY
            },
        );
        Ok(key)
    }

    /// Undoes a creation.
    fn forget(&mut self, key: TaskKey) {
        if let Some(slot) = self.slots.get(key) {
            self.pool.give_back(slot.reserve);
            self.slots.give_back(key);
        }
    }

    /// Remembers whose credential was shown, for as long as the task lives.
    fn lend(&mut self, key: TaskKey, lender: Option<Owner>) {
        if let Some(slot) = self.slots.get_mut(key) {
            let before = if slot.place == Place::Finished { Owner::GUEST } else { slot.lender };
            slot.lender = lender.unwrap_or(before);
        }
    }

    /// Whether the task that a message is for has asked for a credential, and not got a good one yet.
    pub(crate) fn asks_for_credential(&self, owner: Owner, task: TaskName<'_>) -> bool {
        let (TaskName::Existing(id) | TaskName::Named(id)) = task else { return false };
        self.find(owner, id).and_then(|key| self.slot(key)).is_some_and(|slot| slot.asks_credential)
    }

    fn store_message(
        &mut self,
        now: Millis,
        key: TaskKey,
        call: &SendCall<'_>,
        shown: &Shown,
        blocks: u32,
    ) -> Result<Stamp, Fault> {
        let config = call.push.as_ref().map_or(0, |config| self.push_blocks(config));
        let all = blocks.saturating_add(config);
        while self.blocks_with(key, all) > self.share && self.drop_oldest(key) {}
        self.make_room(all.saturating_add(BEHIND), Some(key));
        let mut draft = Draft::new(&mut self.pool, blocks);
        each_item(call, shown, &mut |tag, item| match item {
            Stored::Escaped(text) => draft.escaped(&mut self.pool, tag, text),
            Stored::Json(value) => draft.json(&mut self.pool, tag, value),
            Stored::Withheld(value) => draft.item(&mut self.pool, tag, |sink| withheld(value, sink)),
        });
        if draft.is_full() {
            draft.discard(&mut self.pool);
            return Err(Fault::busy("the task log is full"));
        }
        let stamp = self.next_stamp();
        let slot = self.slots.get_mut(key).ok_or(Fault::new(FaultKind::Internal))?;
        draft.append_to(&mut self.pool, &mut slot.chain, stamp, now, Kind::Message);
        slot.newest_message = slot.chain.last;
        self.wake_readers(key);
        Ok(stamp)
    }

    /// Sends the task to a worker, unless one has it.
    pub(super) fn queue(&mut self, now: Millis, key: TaskKey) {
        let Some(slot) = self.slots.get_mut(key) else { return };
        match slot.place {
            Place::Free | Place::Queued | Place::Running => return,
            Place::Asking => {}
            Place::Finished => {
                // Opened again: a fresh run needs a fresh reserve. There is room: the message has just found some.
                self.slots.remove(&mut self.finished, key);
                let reserve = self.pool.take();
                let Some(slot) = self.slots.get_mut(key) else { return };
                slot.reserve = reserve.unwrap_or(crate::log::NIL);
                slot.place = Place::Asking;
            }
        }
        self.submit(now, key);
        if let Some(slot) = self.slots.get_mut(key) {
            slot.place = Place::Queued;
            // How long it takes is for the next run to say.
            slot.slow = false;
            self.slots.push_back(&mut self.queued, key);
        }
        self.wake_idle_worker();
    }

    /// Makes an id of a kind that clients know: a version 4 UUID.
    fn new_id(&mut self) -> Id {
        let mut bytes = [0; 16];
        self.entropy.fill(&mut bytes);
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let mut digits = *b"00000000-0000-0000-0000-000000000000";
        let nibbles = bytes.into_iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        for (place, nibble) in digits.iter_mut().filter(|place| **place != b'-').zip(nibbles) {
            *place = json::hex(nibble);
        }
        // cannot fail: these are characters, and fewer than an id may have.
        core::str::from_utf8(&digits).ok().and_then(|digits| Id::try_from(digits).ok()).unwrap_or_default()
    }
}

fn decode_id(id: Text<'_>, field: &'static str) -> Result<Id, Fault> {
    if id.is_empty() {
        return Err(Fault::params(field, "must not be empty"));
    }
    id.decode().ok_or(Fault::params(field, "is longer than an id may be"))
}

/// Blocks of a task's share behind a message: that it was submitted, and one word of the agent.
const STATUSES: u32 = 2;

/// Blocks of the pool behind a message: its status, the reserve of a task that is new or opened again, and a few for the
/// agent, which could do nothing but fail without them.
pub(super) const BEHIND: u32 = 6;

/// An item of a message as it is stored.
enum Stored<'a> {
    /// Text, escaped as it came.
    Escaped(&'a str),
    /// JSON, without its white space.
    Json(Json<'a>),
    /// An object, without the credential in it.
    Withheld(Json<'a>),
}

/// Everything that is stored of a message, in its order.
fn each_item<'a>(call: &SendCall<'a>, shown: &Shown, put: &mut dyn FnMut(Tag, Stored<'a>)) {
    let message = &call.message;
    if let Some(modes) = call.output_modes {
        put(Tag::OutputModes, Stored::Json(modes));
    }
    if let Some(id) = message.id {
        put(Tag::MessageId, Stored::Escaped(id.escaped()));
    }
    if message.from_agent {
        put(Tag::FromAgent, Stored::Escaped(""));
    }
    for (tag, value) in [
        (Tag::Metadata, message.metadata),
        (Tag::Extensions, message.extensions),
        (Tag::References, message.references),
    ] {
        if let Some(value) = value {
            put(tag, Stored::Json(value));
        }
    }
    for part in message.parts.iter() {
        match part.content {
            Content::Text(text) if shown.is_text(text) => put(Tag::Text, Stored::Escaped(WITHHELD)),
            Content::Text(text) => put(Tag::Text, Stored::Escaped(text.escaped())),
            Content::Raw(base64) => put(Tag::Raw, Stored::Escaped(base64.escaped())),
            Content::Url(url) => put(Tag::Url, Stored::Escaped(url.escaped())),
            Content::Data(data) if is_in(data) => put(Tag::Data, Stored::Withheld(data)),
            Content::Data(data) => put(Tag::Data, Stored::Json(data)),
        }
        for (tag, text) in [(Tag::MediaType, part.media_type), (Tag::Filename, part.filename)] {
            if let Some(text) = text {
                put(tag, Stored::Escaped(text.escaped()));
            }
        }
        if let Some(metadata) = part.metadata {
            put(Tag::PartMetadata, Stored::Json(metadata));
        }
    }
}

/// Bytes that the items of a message take.
fn stored_len(call: &SendCall<'_>, shown: &Shown) -> usize {
    let mut len = 0usize;
    each_item(call, shown, &mut |_, item| {
        len = len.saturating_add(ITEM_HEAD);
        let mut count = |text: &str| len = len.saturating_add(text.len());
        match item {
            Stored::Escaped(text) => json::separate(text, &mut count),
            Stored::Json(value) => json::compact(value, &mut count),
            Stored::Withheld(value) => withheld(value, &mut count),
        }
    });
    len
}

/// The media types of the message must be among those of the card, and the client must be able to use one that the
/// agent gives.
fn check_media_types(profile: &Profile<'_>, call: &SendCall<'_>) -> Result<(), Fault> {
    const NOT_TAKEN: Fault = Fault {
        field: "message.parts",
        why: "has a media type that is not in the card's defaultInputModes",
        ..Fault::new(FaultKind::ContentTypeNotSupported)
    };
    const NOT_GIVEN: Fault = Fault {
        field: "acceptedOutputModes",
        why: "has none of the card's defaultOutputModes",
        ..Fault::new(FaultKind::ContentTypeNotSupported)
    };
    for part in call.message.parts.iter() {
        let taken = match (part.media_type, part.content) {
            (Some(media_type), _) => profile.input_modes.iter().any(|mode| mode_covers(mode, media_type)),
            // Without a type, text is text and data is JSON; a file without one may be anything.
            (None, _) => true,
        };
        if !taken {
            return Err(NOT_TAKEN);
        }
    }
    let mut wanted = call.output_modes.into_iter().flat_map(Json::items).filter_map(Json::text).peekable();
    if wanted.peek().is_none()
        || wanted.any(|want| {
            want.is("*/*") || want.is("text") || profile.output_modes.iter().any(|mode| mode_covers(mode, want))
        })
    {
        Ok(())
    } else {
        Err(NOT_GIVEN)
    }
}

/// Whether a mode of the card (`text/plain`, `image/*`, `*/*`) covers a media type, whose parameters don't count.
fn mode_covers(mode: &str, media_type: Text<'_>) -> bool {
    let mut characters = media_type.chars().take_while(|c| *c != ';' && *c != ' ').map(|c| c.to_ascii_lowercase());
    match mode.strip_suffix('*') {
        Some("*/") => true,
        Some(prefix) => prefix.chars().all(|c| characters.next() == Some(c)),
        None => characters.eq(mode.chars()),
    }
}

impl Engine<'_> {
    /// Blocks that a task has with a message of so many, and what comes behind it.
    pub(super) fn blocks_with(&self, key: TaskKey, message: u32) -> u32 {
        let blocks = self.slot(key).map_or(0, |slot| slot.chain.blocks);
        blocks.saturating_add(message).saturating_add(STATUSES)
    }

    fn submit(&mut self, now: Millis, key: TaskKey) {
        // cannot fail: a status without a message takes one block, and `store_message` left that.
        let _ = self.record_status(now, key, TaskState::Submitted, &[]);
    }
}
