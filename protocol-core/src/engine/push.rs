//! Who is to be notified of a task: configurations come, are shown, and go.

use super::{Cursor, Engine, Follower, Manners, TaskKey, count};
use crate::{
    config::{ID_MAX, SECRET_MAX, URL_MAX},
    door::Owner,
    engine::send::BEHIND,
    journal::{Level, Note},
    json::{self, Sink, Text},
    log::{self, Draft, Header, ITEM_HEAD, Kind, NIL, Span, Stamp, Tag},
    model::{Fault, FaultKind, PushConfig},
    push::{Challenge, Proof, Push, SHARED_KEY, SHARED_KEY_MIN, Table, Url, Webhooks},
    time::Millis,
};

/// A configuration is not there.
const NO_CONFIG: Fault = Fault::because(FaultKind::TaskNotFound, "it has no such push notification configuration");

impl<'s> Engine<'s> {
    /// Lets clients ask to be notified, in the given memory.
    pub fn set_push<const CONFIGS: usize, const SENDERS: usize>(
        &mut self,
        storage: &'s mut crate::push::PushStorage<CONFIGS, SENDERS>,
        webhooks: Webhooks<'s>,
    ) {
        self.push = Table::new(storage, webhooks);
    }

    /// Whether clients can be notified.
    pub(crate) const fn has_push(&self) -> bool {
        !self.push.places.is_empty()
    }

    /// Whether a configuration is one that we would call, and finds a place. Looks only.
    ///
    /// # Errors
    /// If not, and why.
    pub(crate) fn check_push(&self, owner: Owner, task: Option<TaskKey>, config: &PushConfig<'_>) -> Result<(), Fault> {
        let fields = config.fields;
        if !self.has_push() {
            return Err(Fault { field: fields.all, ..Fault::new(FaultKind::PushNotSupported) });
        }
        let url = config.url.decode::<URL_MAX>().ok_or(Fault::params(fields.url, "is too long"))?;
        let url = Url::parse(&url).map_err(|why| Fault::params(fields.url, why))?;
        self.push.webhooks.rules.check_url(&url).map_err(|why| Fault::params(fields.url, why))?;
        if config.id.is_some_and(|id| id.decode::<ID_MAX>().is_none()) {
            return Err(Fault::params(fields.id, "is longer than an id may be"));
        }
        check_secret(config.token, fields.token, is_visible)?;
        check_secret(config.scheme, fields.scheme, is_token)?;
        check_secret(config.credentials, fields.credentials, is_visible)?;
        if config.credentials.is_some() && config.scheme.is_none() {
            return Err(Fault::params(fields.scheme, "is missing: it says what the credentials are"));
        }
        let is_shared = config.scheme.is_some_and(|scheme| is_ignoring_case(scheme, SHARED_KEY));
        let is_short = |key: Text<'_>| key.chars().nth(SHARED_KEY_MIN.saturating_sub(1)).is_none();
        if is_shared && config.credentials.is_none_or(is_short) {
            return Err(Fault::params(fields.credentials, "must be a key of at least 32 characters"));
        }
        if task.is_some_and(|task| self.find_push(task, config.id).is_some()) {
            return Ok(());
        }
        self.check_push_place(owner)
    }

    /// Whether there is a place for another configuration. The last one is for somebody who has none.
    fn check_push_place(&self, owner: Owner) -> Result<(), Fault> {
        let free = count(self.push.places.iter().filter(|push| !push.is_used() || self.is_done(push)));
        if free == 0 {
            return Err(Fault::busy("the table of push notification configurations is full"));
        }
        let is_owners = |push: &&Push| self.slot(push.follower.key).is_some_and(|slot| slot.owner == owner);
        let own = count(self.push.places.iter().filter(|push| push.is_used() && !self.is_done(push)).filter(is_owners));
        if owner != Owner::GUEST && own > 0 && free == 1 && self.push.places.len() > 1 {
            return Err(Fault::busy("you have as many push notification configurations as you may, delete one"));
        }
        Ok(())
    }

    /// Whether all that there will be to tell was told: the task has ended.
    fn is_done(&self, push: &Push) -> bool {
        push.is_used()
            && !push.is_out
            && self.slot(push.follower.key).is_none_or(|slot| slot.state.is_terminal())
            && !self.has_errand(push)
    }

    /// Blocks that the record of a configuration takes.
    pub(super) fn push_blocks(&self, config: &PushConfig<'_>) -> u32 {
        let mut len = 0usize;
        each_item(config, &mut |_, text| {
            len = len.saturating_add(ITEM_HEAD);
            put_plain(text, &mut |piece: &str| len = len.saturating_add(piece.len()));
        });
        if config.id.is_none() {
            // The id of a task that is yet to be made: by us, and without anything to escape.
            len = len.saturating_add(ITEM_HEAD).saturating_add(ID_MAX);
        }
        Draft::blocks_for(len)
    }

    /// Notifies somebody of a task from now on, or, if it is one that is known, in another way.
    ///
    /// # Errors
    /// If we would not call it, or there is no room, and then nothing has changed.
    pub(crate) fn handle_set_push(
        &mut self,
        now: Millis,
        owner: Owner,
        key: TaskKey,
        manners: Manners,
        config: &PushConfig<'_>,
    ) -> Result<Cursor, Fault> {
        self.check_push(owner, Some(key), config)?;
        let blocks = self.push_blocks(config);
        let before = self.find_push(key, config.id);
        let replaced = before.map_or(0, |old| Draft::blocks_for(self.header(old).len() as usize));
        let with = self.blocks_with(key, blocks).saturating_sub(replaced);
        let excess = with.saturating_sub(self.share);
        // A task that runs makes room as it does for a message; one that has ended is kept as it is.
        let is_live = self.slot(key).is_some_and(|slot| !slot.state.is_terminal());
        let dropped = if is_live { self.droppable(key, excess) } else { 0 };
        if dropped < excess {
            return Err(Fault::busy("the log of this task is full"));
        }
        if is_live && blocks > self.blocks_left(owner) {
            return Err(Fault::busy("your tasks have too much of the log, cancel one"));
        }
        let there = self.pool.available().saturating_add(dropped).saturating_add(self.evictable(Some(key)));
        if there < blocks.saturating_add(BEHIND) {
            return Err(Fault::busy("the task log is full"));
        }
        while self.blocks_with(key, blocks).saturating_sub(replaced) > self.share && self.drop_oldest(key) {}
        self.make_room(blocks.saturating_add(BEHIND), Some(key));
        let from = self.snapshot(key).upto;
        self.handle_push(now, key, manners, config, from)
    }

    /// As [`Engine::handle_set_push`], for a configuration that was checked, where room was made for it. `from` is where
    /// its events begin.
    ///
    /// # Errors
    /// If there is no room after all, and then nothing has changed.
    pub(super) fn handle_push(
        &mut self,
        now: Millis,
        key: TaskKey,
        manners: Manners,
        config: &PushConfig<'_>,
        from: Stamp,
    ) -> Result<Cursor, Fault> {
        let blocks = self.push_blocks(config);
        let slot = self.slot(key).ok_or(Fault::new(FaultKind::TaskNotFound))?;
        let task_id = slot.id.clone();
        let mut draft = Draft::new(&mut self.pool, blocks);
        each_item(config, &mut |tag, text| draft.item(&mut self.pool, tag, |sink| put_plain(text, sink)));
        if config.id.is_none() {
            draft.string(&mut self.pool, Tag::PushId, &task_id);
        }
        if draft.is_full() {
            draft.discard(&mut self.pool);
            return Err(Fault::busy("the task log is full"));
        }
        let mut nonce = [0; 8];
        self.entropy.fill(&mut nonce);
        let mut push = Push::new(Follower::new(key, Cursor::behind(from)));
        push.dialect = manners.dialect;
        push.nonce = u64::from_le_bytes(nonce);
        if let Some(old) = self.find_push(key, config.id) {
            // What it was told already it is not told again; what it was perhaps told it knows again by its id.
            if let Some(old) = self.push.places.iter().find(|push| push.stamp == old.stamp) {
                push.follower = old.follower;
                if old.dialect == push.dialect {
                    (push.nonce, push.pinned) = (old.nonce, old.pinned);
                }
            }
            self.delete_push(key, old);
        }
        let stamp = self.next_stamp();
        let slot = self.slots.get_mut(key).ok_or(Fault::new(FaultKind::Internal))?;
        draft.append_to(&mut self.pool, &mut slot.chain, stamp, now, Kind::Push);
        let record = slot.chain.last;
        (push.stamp, push.record) = (stamp, record);
        push.turn = self.push.turns;
        let asks = match self.push.webhooks.challenge {
            Challenge::ByDialect => manners.challenges,
            Challenge::Always => true,
            Challenge::Never => false,
        };
        push.proof = if asks { Proof::Due } else { Proof::NotNeeded };
        self.settle_push(key, push);
        Ok(Cursor::at(record, Header::read(&self.pool, record)))
    }

    /// Puts a configuration into the table. Those that are of no use any more make room.
    fn settle_push(&mut self, key: TaskKey, push: Push) {
        let place = self.push.places.iter().position(|push| !push.is_used());
        let place = place.or_else(|| {
            // Rather one that was told all than one that was given up.
            let is_told = |push: &Push| self.is_done(push) && self.is_told(push);
            let told = self.push.places.iter().position(is_told);
            let done = told.or_else(|| self.push.places.iter().position(|push| self.is_done(push)))?;
            let old = self.push.places.get(done)?;
            self.lose_push(old.follower.key, self.cursor_of(old));
            Some(done)
        });
        let stamp = push.stamp;
        match place.and_then(|place| self.push.places.get_mut(place)) {
            Some(place) => {
                *place = push;
                let used = count(self.push.places.iter().filter(|push| push.is_used()));
                self.tally.configs_most = self.tally.configs_most.max(used);
            }
            // cannot be: `check_push` found a place. The record would be nobody's.
            None => self.remove_push_record(key, stamp),
        }
        self.push.wake();
    }

    /// A configuration that is being served.
    pub(crate) fn push(&self, place: usize, stamp: Stamp) -> Option<&Push> {
        self.push.get(place, stamp)
    }

    /// An item of its record.
    pub(crate) fn push_item(&self, place: usize, stamp: Stamp, tag: Tag) -> Option<Span> {
        let push = self.push(place, stamp)?;
        Header::read(&self.pool, push.record).items(push.record).find(&self.pool, tag)
    }

    fn cursor_of(&self, push: &Push) -> Cursor {
        Cursor::at(push.record, Header::read(&self.pool, push.record))
    }

    /// A configuration by its id, or the first one where none is named and none has the task's.
    pub(crate) fn find_push(&self, task: TaskKey, id: Option<Text<'_>>) -> Option<Cursor> {
        let wanted = match id {
            Some(id) => id.decode::<ID_MAX>()?,
            None => self.slot(task)?.id.clone(),
        };
        let mut cursor = Cursor::START;
        while let Some(next) = self.next_push(task, cursor) {
            let id = self.items(next).find(&self.pool, Tag::PushId);
            if id.is_some_and(|id| self.span_says(id, &wanted)) {
                return Some(next);
            }
            cursor = next;
        }
        None
    }

    /// As [`Engine::find_push`], to show it. Who calls it `default` has given it no name.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn shown_push(&self, task: TaskKey, id: Option<Text<'_>>) -> Result<Cursor, Fault> {
        let is_unnamed = id.is_none_or(|id| id.is("default"));
        let first = || self.next_push(task, Cursor::START).filter(|_| is_unnamed);
        self.find_push(task, id).or_else(first).ok_or(NO_CONFIG)
    }

    /// The configuration of a task behind a cursor, in the order in which they were made.
    pub(crate) fn next_push(&self, task: TaskKey, cursor: Cursor) -> Option<Cursor> {
        let of_task = self.push.places.iter().filter(|push| push.is_of(task) && push.stamp > cursor.stamp);
        of_task.min_by_key(|push| push.stamp).map(|push| self.cursor_of(push))
    }

    /// Lets go of a configuration.
    pub(crate) fn delete_push(&mut self, task: TaskKey, config: Cursor) {
        self.push.free(config.stamp);
        self.remove_push_record(task, config.stamp);
    }

    fn remove_push_record(&mut self, task: TaskKey, stamp: Stamp) {
        let Some(slot) = self.slots.get_mut(task).filter(|slot| !slot.chain.is_empty()) else { return };
        let mut before = None;
        let mut record = slot.chain.first;
        while record != NIL {
            let header = Header::read(&self.pool, record);
            if header.stamp() == stamp {
                log::remove(&mut self.pool, &mut slot.chain, before, record);
                return;
            }
            before = Some(record);
            record = header.next();
        }
    }

    /// There is no task to notify anybody of: it was a message.
    pub(super) fn drop_pushes(&mut self, key: TaskKey) {
        while let Some(config) = self.next_push(key, Cursor::START) {
            self.delete_push(key, config);
        }
    }

    /// The task goes, and all who were to be notified of it with it.
    pub(super) fn forget_pushes(&mut self, key: TaskKey) {
        while let Some(config) = self.next_push(key, Cursor::START) {
            self.lose_push(key, config);
        }
    }

    /// Lets go of a configuration whose client knows nothing of that.
    fn lose_push(&mut self, task: TaskKey, config: Cursor) {
        if self.push.places.iter().any(|push| push.stamp == config.stamp && !self.is_told(push)) {
            self.push.counts.lost = self.push.counts.lost.saturating_add(1);
            self.note(Note::new(Level::Warn, "a webhook made room for others before it was told all"), task);
        }
        self.delete_push(task, config);
    }
}

/// What is stored of a configuration.
fn each_item<'a>(config: &PushConfig<'a>, put: &mut dyn FnMut(Tag, Text<'a>)) {
    for (tag, text) in [
        (Tag::PushId, config.id),
        (Tag::PushUrl, Some(config.url)),
        (Tag::PushToken, config.token),
        (Tag::PushScheme, config.scheme),
        (Tag::PushCredentials, config.credentials),
    ] {
        if let Some(text) = text {
            put(tag, text);
        }
    }
}

/// Writes text as we would escape it, however the client did: nothing is much longer than what it stands for.
fn put_plain(text: Text<'_>, sink: &mut dyn Sink) {
    for character in text.chars() {
        json::escape(character.encode_utf8(&mut [0; 4]), sink);
    }
}

/// What goes into a header field may not end it.
fn check_secret(text: Option<Text<'_>>, field: &'static str, is_fit: fn(char) -> bool) -> Result<(), Fault> {
    let Some(text) = text else { return Ok(()) };
    if !text.chars().all(is_fit) {
        return Err(Fault::params(field, "has a character that may not stand in a header"));
    }
    if text.chars().fold(0usize, |len, _| len.saturating_add(1)) > SECRET_MAX {
        return Err(Fault::params(field, "is too long"));
    }
    Ok(())
}

fn is_ignoring_case(text: Text<'_>, other: &str) -> bool {
    text.chars().map(|character| character.to_ascii_uppercase()).eq(other.chars())
}

fn is_visible(character: char) -> bool {
    matches!(character, ' '..='~')
}

fn is_token(character: char) -> bool {
    let is_mark = |character| matches!(character, '!' | '#'..='\'' | '*' | '+' | '-' | '.' | '^'..='`' | '|' | '~');
    character.is_ascii_alphanumeric() || is_mark(character)
}
