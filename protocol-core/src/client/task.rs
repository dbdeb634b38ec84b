//! A task and its parts, as an agent shows them. All of it is borrowed from the answer, and read when it is looked at.

use super::{Unreadable, Version};
use crate::{
    dialect::{
        asking,
        read::{boolean, members, name, required, text},
    },
    json::{Items, Json, Kind, Text},
    model::{Part, TaskState},
};

/// A task.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// Its name.
    pub id: Text<'a>,
    /// The conversation that it belongs to.
    pub context: Option<Text<'a>>,
    /// How it stands.
    pub status: Status<'a>,
    /// What came of it.
    pub artifacts: Artifacts<'a>,
    /// The task as it came.
    pub raw: Json<'a>,
}

/// How a task stands.
#[derive(Clone, Copy, Debug)]
pub struct Status<'a> {
    /// Its state; nothing if the word for it is not one of the version's.
    pub state: Option<TaskState>,
    /// That word.
    pub word: Text<'a>,
    /// What the agent says about it.
    pub message: Option<Message<'a>>,
    /// Since when, as the agent writes times.
    pub time: Option<Text<'a>>,
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The task that it belongs to.
    pub task: Option<Text<'a>>,
    /// The conversation that it belongs to.
    pub context: Option<Text<'a>>,
    /// What it says.
    pub parts: Parts<'a>,
    /// The message as it came.
    pub raw: Json<'a>,
}

/// An artifact, or a chunk of one.
#[derive(Clone, Copy, Debug)]
pub struct Artifact<'a> {
    /// What tells it from the task's others.
    pub id: Text<'a>,
    /// Its name.
    pub name: Option<Text<'a>>,
    /// What it is.
    pub description: Option<Text<'a>>,
    /// What is in it.
    pub parts: Parts<'a>,
}

/// A task's status changed.
#[derive(Clone, Copy, Debug)]
pub struct StatusUpdate<'a> {
    /// Which task's.
    pub task: Text<'a>,
    /// How it stands now.
    pub status: Status<'a>,
    /// The stream ends with this. Only some versions say so.
    pub is_final: bool,
    /// The event as it came.
    pub raw: Json<'a>,
}

/// A task has an artifact more, or more of one.
#[derive(Clone, Copy, Debug)]
pub struct ArtifactUpdate<'a> {
    /// Which task.
    pub task: Text<'a>,
    /// The chunk.
    pub artifact: Artifact<'a>,
    /// It goes behind what there is of this artifact; else it replaces that.
    pub is_append: bool,
    /// The artifact is whole with this.
    pub is_last: bool,
    /// The event as it came.
    pub raw: Json<'a>,
}

impl<'a> Task<'a> {
    pub(super) fn read(version: Version, raw: Json<'a>) -> Result<Self, Unreadable> {
        let [id, context, status, artifacts] = members(raw, ["id", version.0.context, "status", "artifacts"], "task")?;
        Ok(Self {
            id: required(name(id, "task.id")?, "task.id")?,
            context: name(context, "task.contextId")?,
            status: Status::read(version, required(status, "task.status")?)?,
            artifacts: Artifacts { version, items: array(artifacts, "task.artifacts")? },
            raw,
        })
    }
}

impl<'a> Status<'a> {
    fn read(version: Version, raw: Json<'a>) -> Result<Self, Unreadable> {
        let [state, message, time] = members(raw, ["state", "message", "timestamp"], "status")?;
        let word = required(text(state, "status.state")?, "status.state")?;
        Ok(Self {
            state: asking::state_of(version.0.dialect, word),
            word,
            message: message.map(|message| Message::read(version, message)).transpose()?,
            time: text(time, "status.timestamp")?,
        })
    }
}

impl<'a> Message<'a> {
    pub(super) fn read(version: Version, raw: Json<'a>) -> Result<Self, Unreadable> {
        let [task, context, parts] = members(raw, ["taskId", "contextId", "parts"], "message")?;
        Ok(Self {
            task: name(task, "message.taskId")?,
            context: name(context, "message.contextId")?,
            parts: Parts { version, items: array(parts, "message.parts")? },
            raw,
        })
    }
}

impl<'a> Artifact<'a> {
    fn read(version: Version, raw: Json<'a>) -> Result<(Self, [Option<Json<'a>>; 2]), Unreadable> {
        let names = [version.0.artifact, "name", "description", "parts", "append", "lastChunk"];
        let [id, title, description, parts, append, last] = members(raw, names, "artifact")?;
        let artifact = Self {
            id: id.map_or(Text::new("0"), |id| id.text().unwrap_or_else(|| Text::new(id.raw()))),
            name: name(title, "artifact.name")?,
            description: name(description, "artifact.description")?,
            parts: Parts { version, items: array(parts, "artifact.parts")? },
        };
        Ok((artifact, [append, last]))
    }
}

impl<'a> StatusUpdate<'a> {
    pub(super) fn read(version: Version, raw: Json<'a>) -> Result<Self, Unreadable> {
        let [task, status, last] = members(raw, [version.0.event_task, "status", "final"], "status update")?;
        Ok(Self {
            task: required(name(task, "taskId")?, "taskId")?,
            status: Status::read(version, required(status, "status")?)?,
            is_final: boolean(last, "final")?.unwrap_or(false),
            raw,
        })
    }
}

impl<'a> ArtifactUpdate<'a> {
    pub(super) fn read(version: Version, raw: Json<'a>) -> Result<Self, Unreadable> {
        let names = [version.0.event_task, "artifact", "append", "lastChunk"];
        let [task, artifact, append, last] = members(raw, names, "artifact update")?;
        // In the oldest version an artifact says itself how it goes with the others.
        let (artifact, [own_append, own_last]) = Artifact::read(version, required(artifact, "artifact")?)?;
        Ok(Self {
            task: required(name(task, "taskId")?, "taskId")?,
            artifact,
            is_append: boolean(append.or(own_append), "append")?.unwrap_or(false),
            is_last: boolean(last.or(own_last), "lastChunk")?.unwrap_or(false),
            raw,
        })
    }
}

fn array<'a>(value: Option<Json<'a>>, field: &'static str) -> Result<Items<'a>, Unreadable> {
    match value {
        Some(value) if value.kind() != Kind::Array => Err(Unreadable::Member(field, "must be an array")),
        // An empty list may be left out.
        value => Ok(value.unwrap_or(Json::EMPTY_OBJECT).items()),
    }
}

/// The parts of a message or an artifact.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    version: Version,
    items: Items<'a>,
}

impl<'a> Iterator for Parts<'a> {
    type Item = Result<Part<'a>, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.version.0.part)(self.items.next()?).map_err(Unreadable::from))
    }
}

/// The artifacts of a task.
#[derive(Clone, Copy, Debug)]
pub struct Artifacts<'a> {
    version: Version,
    items: Items<'a>,
}

impl<'a> Iterator for Artifacts<'a> {
    type Item = Result<Artifact<'a>, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(Artifact::read(self.version, self.items.next()?).map(|(artifact, _)| artifact))
    }
}
