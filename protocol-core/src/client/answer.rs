//! What an agent answers: a whole body, or the data of one event of a stream.

use core::fmt;

use super::{ArtifactUpdate, Message, StatusUpdate, Task, Version};
use crate::{
    dialect::{
        asking::{self, Sort},
        read::{members, required},
    },
    json::{Items, Json, JsonError, Kind, Text},
    model::{Fault, FaultKind},
};

/// An answer, or an event.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    /// A task as it is.
    Task(Task<'a>),
    /// A message, and there is no task.
    Message(Message<'a>),
    /// A task's status changed.
    Status(StatusUpdate<'a>),
    /// A task has an artifact more, or more of one.
    Artifact(ArtifactUpdate<'a>),
    /// It was not to be.
    Error(Failure<'a>),
}

/// What the agent says is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Failure<'a> {
    /// The number of the error.
    pub code: i64,
    /// What kind of fault that is, where the version knows the number or the reason.
    pub kind: Option<FaultKind>,
    /// What it says about it.
    pub message: Option<Text<'a>>,
    /// The machine-readable reason.
    pub reason: Option<Text<'a>>,
    /// The error as it came.
    pub raw: Json<'a>,
}

/// Some of an agent's tasks.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    version: Version,
    tasks: Items<'a>,
    /// What to ask for to see the next ones; nothing if these were the last.
    pub next: Option<Text<'a>>,
    /// The page as it came.
    pub raw: Json<'a>,
}

impl<'a> Page<'a> {
    /// The tasks, each one that can be read.
    pub fn tasks(&self) -> impl Iterator<Item = Result<Task<'a>, Unreadable>> + use<'a> {
        let version = self.version;
        self.tasks.map(move |task| Task::read(version, task))
    }
}

/// Why an answer cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreadable {
    /// It is no JSON.
    Json(JsonError),
    /// A member is not what it should be: which one, and why.
    Member(&'static str, &'static str),
    /// It answers another request.
    Id,
}

impl From<Fault> for Unreadable {
    fn from(fault: Fault) -> Self {
        Self::Member(fault.field, fault.why)
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "it is no JSON: {error}"),
            Self::Member(member, why) => write!(f, "`{member}` {why}"),
            Self::Id => f.write_str("it answers a request that was not asked: its `id` is another one"),
        }
    }
}

impl core::error::Error for Unreadable {}

impl Version {
    /// Reads the answer to the request of that number.
    ///
    /// # Errors
    /// If it is none, or cannot be understood.
    pub fn read(self, body: &[u8], id: u32) -> Result<Answer<'_>, Unreadable> {
        self.read_as(body, id, false)
    }

    /// Reads the data of an event of the stream that answers the request of that number.
    ///
    /// # Errors
    /// If it is none, or cannot be understood.
    pub fn read_event(self, data: &[u8], id: u32) -> Result<Answer<'_>, Unreadable> {
        self.read_as(data, id, true)
    }

    fn read_as(self, body: &[u8], id: u32, is_event: bool) -> Result<Answer<'_>, Unreadable> {
        let result = match self.open(body, id)? {
            Ok(result) => result,
            Err(failure) => return Ok(Answer::Error(failure)),
        };
        let Some((sort, inner)) = asking::sort(self.0, result, is_event) else {
            return Err(Unreadable::Member("result", "is neither a task nor a message, nor news of a task"));
        };
        Ok(match sort {
            Sort::Task => Answer::Task(Task::read(self, inner)?),
            Sort::Message => Answer::Message(Message::read(self, inner)?),
            Sort::Status => Answer::Status(StatusUpdate::read(self, inner)?),
            Sort::Artifact => Answer::Artifact(ArtifactUpdate::read(self, inner)?),
        })
    }

    /// Reads the answer to the question for a list of tasks.
    ///
    /// # Errors
    /// If it is none, or cannot be understood. The inner one is what the agent says is wrong.
    pub fn read_page(self, body: &[u8], id: u32) -> Result<Result<Page<'_>, Failure<'_>>, Unreadable> {
        let raw = match self.open(body, id)? {
            Ok(result) => result,
            Err(failure) => return Ok(Err(failure)),
        };
        let [tasks, next] = members(raw, ["tasks", "nextPageToken"], "result")?;
        let next = crate::dialect::read::name(next, "nextPageToken")?;
        if tasks.is_some_and(|tasks| tasks.kind() != Kind::Array) {
            return Err(Unreadable::Member("tasks", "must be an array"));
        }
        // An empty list may be left out.
        let tasks = tasks.unwrap_or(Json::EMPTY_OBJECT).items();
        Ok(Ok(Page { version: self, tasks, next, raw }))
    }

    /// Takes the envelope off: what is inside is the result, or what is wrong.
    fn open(self, body: &[u8], id: u32) -> Result<Result<Json<'_>, Failure<'_>>, Unreadable> {
        let answer = Json::parse(body).map_err(Unreadable::Json)?;
        let [version, answered, result, error] = members(answer, ["jsonrpc", "id", "result", "error"], "the answer")?;
        let insists = self.0.dialect.manners.insists_on_jsonrpc;
        match version.map(|version| version.text().is_some_and(|text| text.is("2.0"))) {
            Some(true) => {}
            None if !insists => {}
            _ => return Err(Unreadable::Member("jsonrpc", "must be \"2.0\"")),
        }
        match answered {
            Some(answered) if answered.integer() == Some(id.into()) => {}
            // Who could not read the request cannot say which one it was.
            None if error.is_some() || !insists => {}
            _ => return Err(Unreadable::Id),
        }
        match (result, error) {
            (None, Some(error)) => Ok(Err(self.failure(error)?)),
            (Some(_), Some(_)) => Err(Unreadable::Member("error", "must not stand beside a result")),
            (result, None) => Ok(Ok(required(result, "result")?)),
        }
    }

    fn failure(self, raw: Json<'_>) -> Result<Failure<'_>, Unreadable> {
        let [code, message, data] = members(raw, ["code", "message", "data"], "error")?;
        let code = required(code.and_then(Json::integer), "error.code")?;
        let mut details = data.into_iter().flat_map(Json::items);
        let reason = details.find_map(|detail| detail.member("reason").and_then(Json::text));
        let kind = asking::fault_of(self.0.dialect, code, reason);
        Ok(Failure { code, kind, message: message.and_then(Json::text), reason, raw })
    }
}
