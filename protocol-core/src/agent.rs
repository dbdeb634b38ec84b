//! Writing an agent: all that a user of this crate implements or calls.
//!
//! ```
//! use protocol_core::{Agent, Done, Profile, Stopped, TaskCx};
//!
//! struct Thermometer;
//!
//! impl Agent for Thermometer {
//!     async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
//!         if task.text() != Some("read") {
//!             return task.reply(format_args!("say: read"));
//!         }
//!         task.artifact("temperature").text(format_args!("{} °C", 21)).await?;
//!         Ok(Done::Completed)
//!     }
//! }
//! ```

use core::{fmt, future::poll_fn, pin::pin, task::Poll};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    config::SKILL_TEXT_MAX,
    dialect,
    engine::{Chunk, Cursor, Piece, Refused, Snapshot, TaskKey},
    json::{self, Json},
    log::{Kind, Tag},
    model::TaskState,
    node::Node,
    time::{Millis, UnixMillis},
};

/// Does the work of tasks.
pub trait Agent {
    /// Works on one task, from a message of the client to an end or a question.
    ///
    /// A question ends the run: the client's answer starts another one, which finds what was said before in the task.
    /// So nothing is held while a person thinks, and a task survives a restart in the middle of a conversation.
    ///
    /// # Cancellation
    /// When the client cancels the task the future is dropped where it waits. What must not stay on belongs into a
    /// guard whose `Drop` turns it off.
    #[expect(async_fn_in_trait, reason = "one executor, one thread: no future of ours is Send")]
    async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped>;
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Done {
    /// The task is completed, and there is nothing more to say.
    Completed,
    /// The task has been told its end, or a question: see [`TaskCx::complete`], [`TaskCx::ask`] and the like.
    Told,
}

/// The task is no longer ours: leave quietly, with `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// A task as its agent sees it.
pub struct TaskCx<'n, 's> {
    node: &'n Node<'s>,
    key: TaskKey,
    worker: usize,
    text: Option<heapless::String<SKILL_TEXT_MAX>>,
}

/// A string that a skill can read in one piece.
pub type SkillText = heapless::String<SKILL_TEXT_MAX>;

impl<'n, 's> TaskCx<'n, 's> {
    fn new(node: &'n Node<'s>, key: TaskKey, worker: usize) -> Self {
        let message = node.engine().run_message(key);
        let text = message.and_then(|message| text_of(node, key, message));
        Self { node, key, worker, text }
    }

    /// What the client said: the text parts of its message, a line each. `None` if that is more than a skill can read.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// What the client said first in this task. `None` if that is more than a skill can read.
    pub fn opening(&self) -> Option<SkillText> {
        let first = {
            let engine = self.node.engine();
            let snapshot = engine.snapshot(self.key);
            engine.next_message(snapshot, Cursor::START)?
        };
        text_of(self.node, self.key, first)
    }

    /// What the client said in this message, text and data.
    pub fn said(&self) -> Said {
        let message = self.node.engine().run_message(self.key);
        Said { text: self.text.clone(), data: message.and_then(|message| json_of(self.node, message)) }
    }

    /// What `look` makes of the newest earlier message of this task's client that it can use.
    pub fn earlier<R>(&self, mut look: impl FnMut(&Said) -> Option<R>) -> Option<R> {
        let mut found = None;
        let mut cursor = Cursor::START;
        loop {
            let next = {
                let engine = self.node.engine();
                let present = engine.run_message(self.key)?.stamp;
                engine.after(engine.snapshot(self.key), cursor).filter(|(next, _)| next.stamp < present)
            };
            let Some((next, header)) = next else { return found };
            if header.kind == Kind::Message {
                found = look(&Said::of(self.node, self.key, next)).or(found);
            }
            cursor = next;
        }
    }

    /// Whether the client has sent another message since this run began.
    pub fn has_new_message(&self) -> bool {
        let engine = self.node.engine();
        let snapshot = engine.snapshot(self.key);
        let mut cursor = engine.run_message(self.key);
        while let Some((next, header)) = cursor.and_then(|cursor| engine.after(snapshot, cursor)) {
            if header.kind == Kind::Message {
                return true;
            }
            cursor = Some(next);
        }
        false
    }

    /// Whether this is not the first message of the task.
    pub fn is_follow_up(&self) -> bool {
        let engine = self.node.engine();
        let first = engine.next_message(engine.snapshot(self.key), Cursor::START);
        first.map(|first| first.stamp) != engine.run_message(self.key).map(|message| message.stamp)
    }

    /// The first data part of the message as a type of the skill's own. `None` if there is none that fits.
    pub fn args<T: DeserializeOwned>(&self) -> Option<T> {
        let message = self.node.engine().run_message(self.key)?;
        data_of(self.node, message)
    }

    /// Whether the client's id for its message begins like this.
    pub fn message_id_begins(&self, prefix: &str) -> bool {
        let engine = self.node.engine();
        let Some(message) = engine.run_message(self.key) else { return false };
        let Some(span) = engine.items(message).find(engine.pool(), Tag::MessageId) else { return false };
        let len = span.len.min(prefix.len() as u32);
        engine.span_is(crate::log::Span { len, ..span }, prefix)
    }

    /// Whether the client can use that media type, as far as it said.
    pub fn accepts(&self, media_type: &str) -> bool {
        let engine = self.node.engine();
        let modes = engine
            .run_message(self.key)
            .and_then(|message| engine.items(message).find(engine.pool(), Tag::OutputModes))
            .and_then(|span| engine.copy::<SKILL_TEXT_MAX>(span));
        let Some(modes) = modes else { return true };
        let Ok(modes) = Json::parse(&modes) else { return true };
        modes
            .items()
            .filter_map(Json::text)
            .any(|mode| mode.is(media_type) || mode.is("*/*") || (mode.is("text") && media_type.starts_with("text/")))
    }

    /// Whether the client asks for structured output: a part's metadata names JSON as media type, or a schema.
    pub fn wants_structure(&self) -> bool {
        let engine = self.node.engine();
        let Some(message) = engine.run_message(self.key) else { return false };
        let pool = engine.pool();
        let mut items = engine.items(message);
        while items.next_part(pool).is_some() {
            let Some(span) = items.attribute(pool, Tag::PartMetadata) else { continue };
            // Metadata that is too long to look into is most likely a schema.
            let Some(metadata) = engine.copy::<SKILL_TEXT_MAX>(span) else { return true };
            let Ok(metadata) = Json::parse(&metadata) else { continue };
            let asks = metadata.members().any(|(name, value)| {
                name.is("schema")
                    || ((name.is("mimeType") || name.is("mediaType"))
                        && value.text().is_some_and(|text| text.is("application/json")))
            });
            if asks {
                return true;
            }
        }
        false
    }

    /// The task that the message is about: the first that it names and that exists, else the newest other task of the
    /// same context.
    pub fn reference(&self) -> Option<Reference<'n, 's>> {
        let engine = self.node.engine();
        let message = engine.run_message(self.key)?;
        let named = engine
            .items(message)
            .find(engine.pool(), Tag::References)
            .and_then(|span| engine.copy::<SKILL_TEXT_MAX>(span));
        let named = named.as_deref().and_then(|named| Json::parse(named).ok());
        let key = match named {
            Some(named) => named.items().filter_map(Json::text).find_map(|id| engine.find(id)),
            None => engine.newest_in_context_of(self.key),
        };
        Some(Reference { node: self.node, key: key? })
    }

    /// Whether clients of this dialect expect the task to stay open for more.
    pub fn is_left_open(&self) -> bool {
        let engine = self.node.engine();
        engine.slot(self.key).is_some_and(|slot| dialect::numbered(slot.birth).manners.leaves_open)
    }

    /// Milliseconds since boot.
    pub fn now(&self) -> Millis {
        self.node.now()
    }

    /// The wall time, if it is known.
    pub fn wall_time(&self) -> Option<UnixMillis> {
        self.node.wall_time()
    }

    /// Says that this takes long: clients that left it to the agent get their answer now and come back for the rest.
    pub fn takes_long(&self) {
        self.node.engine().set_slow(self.key);
    }

    /// Moves the task to working.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub async fn working(&mut self) -> Result<(), Stopped> {
        self.status(TaskState::Working, &[])?;
        self.yield_now().await
    }

    /// Moves the task to working and says what is going on.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub async fn progress(&mut self, text: fmt::Arguments<'_>) -> Result<(), Stopped> {
        self.status(TaskState::Working, &[Piece::Text(text)])?;
        self.yield_now().await
    }

    /// An artifact to add to, by its name.
    pub fn artifact<'t>(&'t mut self, name: &'t str) -> Artifact<'t, 'n, 's> {
        Artifact { task: self, name, description: None, append: false, last: true }
    }

    /// Waits. The task is working from now on, if it was not.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub async fn sleep(&mut self, span: Millis) -> Result<(), Stopped> {
        if self.state() == Some(TaskState::Submitted) {
            self.status(TaskState::Working, &[])?;
        }
        let until = self.now().after(span);
        if span > Millis(0) {
            self.node.engine().wait_until(self.worker, until);
        }
        let mut first = true;
        poll_fn(|cx| {
            // Even a sleep of no time lets others run.
            if !core::mem::take(&mut first) && self.node.now() >= until {
                return Poll::Ready(());
            }
            if self.node.now() >= until {
                cx.waker().wake_by_ref();
            } else {
                self.node.engine().wait_until(self.worker, until);
            }
            Poll::Pending
        })
        .await;
        self.check()
    }

    /// Asks the client for input; its answer starts another run.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn ask(&mut self, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.status(TaskState::InputRequired, &[Piece::Text(text)]).map(|()| Done::Told)
    }

    /// Asks the client for credentials; what it sends next starts another run.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn ask_for_credentials(&mut self, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.status(TaskState::AuthRequired, &[Piece::Text(text)]).map(|()| Done::Told)
    }

    /// Ends the task well, with words.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn complete(&mut self, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.complete_with(&[Piece::Text(text)])
    }

    /// As [`TaskCx::complete`], with parts of any kind.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn complete_with(&mut self, parts: &[Piece<'_>]) -> Result<Done, Stopped> {
        self.status(TaskState::Completed, parts).map(|()| Done::Told)
    }

    /// Ends the task as failed, with the reason.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn fail(&mut self, reason: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.status(TaskState::Failed, &[Piece::Text(reason)]).map(|()| Done::Told)
    }

    /// Declines the task, with the reason.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn reject(&mut self, reason: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.status(TaskState::Rejected, &[Piece::Text(reason)]).map(|()| Done::Told)
    }

    /// Answers with a message instead of a task; if it is too late for that, the task is completed with it.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn reply(&mut self, text: fmt::Arguments<'_>) -> Result<Done, Stopped> {
        self.reply_with(&[Piece::Text(text)])
    }

    /// As [`TaskCx::reply`], with parts of any kind.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub fn reply_with(&mut self, parts: &[Piece<'_>]) -> Result<Done, Stopped> {
        let told = self.node.engine().record_reply(self.now(), self.key, parts);
        match told {
            Ok(_) => Ok(Done::Told),
            Err(_) => self.status(TaskState::Completed, parts).map(|()| Done::Told),
        }
    }

    fn state(&self) -> Option<TaskState> {
        self.node.engine().slot(self.key).map(|slot| slot.state)
    }

    fn status(&mut self, state: TaskState, parts: &[Piece<'_>]) -> Result<(), Stopped> {
        let told = self.node.engine().record_status(self.now(), self.key, state, parts);
        self.told(told.map(|_| ()))
    }

    /// A task whose log is full cannot go on; its end always finds room.
    fn told(&mut self, told: Result<(), Refused>) -> Result<(), Stopped> {
        if told == Err(Refused::Full) {
            let reason = [Piece::Text(format_args!("the task log is full"))];
            let _ = self.node.engine().record_status(self.now(), self.key, TaskState::Failed, &reason);
        }
        told.map_err(|_| Stopped)
    }

    fn check(&self) -> Result<(), Stopped> {
        if self.node.engine().may_go_on(self.worker, self.key) { Ok(()) } else { Err(Stopped) }
    }

    /// Lets others run: readers get to see what was written.
    async fn yield_now(&mut self) -> Result<(), Stopped> {
        let mut yielded = false;
        poll_fn(|cx| {
            if core::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        self.check()
    }
}

/// A piece of an artifact about to be sent. One that is sent as it is replaces what the artifact had, and is its last.
pub struct Artifact<'t, 'n, 's> {
    task: &'t mut TaskCx<'n, 's>,
    name: &'t str,
    description: Option<&'t str>,
    append: bool,
    last: bool,
}

impl<'t> Artifact<'t, '_, '_> {
    /// Says what the artifact is.
    #[must_use]
    pub fn described(mut self, description: &'t str) -> Self {
        self.description = Some(description);
        self
    }

    /// Adds to what the artifact has.
    #[must_use]
    pub fn append(mut self) -> Self {
        self.append = true;
        self
    }

    /// More will follow.
    #[must_use]
    pub fn more_to_come(mut self) -> Self {
        self.last = false;
        self
    }

    /// Sends text.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub async fn text(self, text: fmt::Arguments<'_>) -> Result<(), Stopped> {
        self.parts(&[Piece::Text(text)]).await
    }

    /// Sends parts of any kind.
    ///
    /// # Errors
    /// If the task is no longer ours.
    pub async fn parts(self, parts: &[Piece<'_>]) -> Result<(), Stopped> {
        let Self { task, name, description, append, last } = self;
        let chunk = Chunk { artifact: name, description, append, last, parts };
        let told = task.node.engine().record_chunk(task.now(), task.key, &chunk);
        task.told(told.map(|_| ()))?;
        task.yield_now().await
    }
}

/// What a client said in one message, as far as a skill can read it.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// The text parts, a line each. `None` if that is more than a skill can read.
    pub text: Option<SkillText>,
    /// The first data part, as the JSON that it is. `None` if there is none of a size that a skill can read.
    pub data: Option<SkillText>,
}

impl Said {
    fn of(node: &Node<'_>, key: TaskKey, message: Cursor) -> Self {
        Self { text: text_of(node, key, message), data: json_of(node, message) }
    }
}

/// Another task that a message is about.
pub struct Reference<'n, 's> {
    node: &'n Node<'s>,
    key: TaskKey,
}

impl Reference<'_, '_> {
    /// What the client said first in that task.
    pub fn opening(&self) -> Option<SkillText> {
        let first = {
            let engine = self.node.engine();
            engine.next_message(engine.snapshot(self.key), Cursor::START)?
        };
        text_of(self.node, self.key, first)
    }

    /// As [`Reference::opening`], text and data.
    pub fn said(&self) -> Option<Said> {
        let first = {
            let engine = self.node.engine();
            engine.next_message(engine.snapshot(self.key), Cursor::START)?
        };
        Some(Said::of(self.node, self.key, first))
    }

    /// The newest data part of its artifacts as a type of the skill's own.
    pub fn data<T: DeserializeOwned>(&self) -> Option<T> {
        data_of(self.node, self.newest_chunk()?)
    }

    /// The newest data part of its artifacts, as the JSON that it is.
    pub fn json(&self) -> Option<SkillText> {
        json_of(self.node, self.newest_chunk()?)
    }

    fn newest_chunk(&self) -> Option<Cursor> {
        let engine = self.node.engine();
        let snapshot: Snapshot = engine.snapshot(self.key);
        let mut newest = None;
        let mut cursor = Cursor::START;
        while let Some((next, header)) = engine.after(snapshot, cursor) {
            if matches!(header.kind, Kind::Chunk { .. }) {
                newest = Some(next);
            }
            cursor = next;
        }
        newest
    }
}

/// A value of a skill's own type as JSON, ready to be sent as a data part.
pub struct Data<const N: usize>(heapless::Vec<u8, N>);

impl<const N: usize> Data<N> {
    /// Writes the value. `None` if it is longer than `N` bytes.
    pub fn of<T: Serialize>(value: &T) -> Option<Self> {
        let mut bytes = heapless::Vec::new();
        bytes.resize(N, 0).ok()?;
        let len = serde_json_core::to_slice(value, &mut bytes).ok()?;
        bytes.truncate(len);
        Json::parse(&bytes).ok()?;
        Some(Self(bytes))
    }

    /// The part.
    pub fn piece(&self) -> Piece<'_> {
        Piece::Data(Json::parse(&self.0).unwrap_or(Json::EMPTY_OBJECT))
    }
}

impl Node<'_> {
    /// Works on tasks, one at a time, as worker number `worker`. Start as many as the storage has.
    pub async fn work<A: Agent>(&self, worker: usize, agent: &A) -> ! {
        loop {
            let key = poll_fn(|cx| match self.engine().poll_job(worker, cx.waker()) {
                Some(key) => Poll::Ready(key),
                None => Poll::Pending,
            })
            .await;
            let done = self.run(worker, key, agent).await;
            let mut engine = self.engine();
            let now = self.now();
            // Whatever was told last stands; a run that ends without a word still ends its task.
            let _ = match done {
                Ok(Done::Completed) => engine.record_status(now, key, TaskState::Completed, &[]),
                Ok(Done::Told) | Err(Stopped) if !engine.may_go_on(worker, key) => Err(Refused::Over),
                Ok(Done::Told) | Err(Stopped) => {
                    let reason = [Piece::Text(format_args!("the agent left without an end"))];
                    engine.record_status(now, key, TaskState::Failed, &reason)
                }
            };
            engine.handle_worker_done(now, worker, key);
        }
    }

    async fn run<A: Agent>(&self, worker: usize, key: TaskKey, agent: &A) -> Result<Done, Stopped> {
        let mut task = TaskCx::new(self, key, worker);
        let mut run = pin!(agent.run(&mut task));
        let mut waited = false;
        poll_fn(|cx| {
            if !self.engine().may_go_on(worker, key) {
                return Poll::Ready(Err(Stopped));
            }
            self.engine().wait_as_worker(worker, cx.waker());
            let poll = run.as_mut().poll(cx);
            if poll.is_pending() && !core::mem::replace(&mut waited, true) {
                // A run that waits is a task: whoever asked may be told.
                self.engine().commit(key);
            }
            poll
        })
        .await
    }
}

/// The text parts of a message, a line each.
fn text_of(node: &Node<'_>, key: TaskKey, message: Cursor) -> Option<SkillText> {
    let engine = node.engine();
    if !engine.stands(key, message) {
        return None;
    }
    let pool = engine.pool();
    let mut text = SkillText::new();
    let mut items = engine.items(message);
    while let Some(part) = items.next_part(pool) {
        if part.tag != Tag::Text {
            continue;
        }
        let escaped = engine.copy::<{ SKILL_TEXT_MAX + 2 }>(part.span)?;
        let mut quoted = heapless::Vec::<u8, { SKILL_TEXT_MAX + 4 }>::new();
        quoted.push(b'"').ok()?;
        quoted.extend_from_slice(&escaped).ok()?;
        quoted.push(b'"').ok()?;
        if !text.is_empty() {
            text.push('\n').ok()?;
        }
        for character in Json::parse(&quoted).ok()?.text()?.chars() {
            text.push(character).ok()?;
        }
    }
    Some(text)
}

/// The first data part of a record that is such a value.
fn data_of<T: DeserializeOwned>(node: &Node<'_>, record: Cursor) -> Option<T> {
    let engine = node.engine();
    let pool = engine.pool();
    let mut items = engine.items(record);
    loop {
        let part = items.next_part(pool)?;
        if part.tag != Tag::Data {
            continue;
        }
        let Some(bytes) = engine.copy::<SKILL_TEXT_MAX>(part.span) else { continue };
        let mut plain = heapless::String::<SKILL_TEXT_MAX>::new();
        json::simplify(Json::parse(&bytes).ok()?, &mut |text: &str| _ = plain.push_str(text));
        if let Ok((value, _)) = serde_json_core::from_str(&plain) {
            return Some(value);
        }
    }
}

/// The first data part of a record, as its JSON.
fn json_of(node: &Node<'_>, record: Cursor) -> Option<SkillText> {
    let engine = node.engine();
    let pool = engine.pool();
    let mut items = engine.items(record);
    loop {
        let part = items.next_part(pool)?;
        if part.tag == Tag::Data {
            let bytes = engine.copy::<SKILL_TEXT_MAX>(part.span)?;
            return SkillText::from_utf8(bytes).ok();
        }
    }
}
