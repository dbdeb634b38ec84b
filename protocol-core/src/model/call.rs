//! A request, decoded: borrowed, checked, in no dialect.

use crate::{
    json::{Items, Json, Text},
    model::{Fault, TaskState},
    time::UnixMillis,
};

/// What a client asks for.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the larger one on")]
pub(crate) enum Call<'a> {
    /// Say something to the agent.
    Send(SendCall<'a>),
    /// Show a task.
    Get {
        /// Which one.
        id: Text<'a>,
        /// How much of its history.
        history: History,
    },
    /// Show tasks.
    List(Filter<'a>),
    /// End a task.
    Cancel {
        /// Which one.
        id: Text<'a>,
    },
    /// Follow a task.
    Subscribe {
        /// Which one.
        id: Text<'a>,
        /// How much of its history.
        history: History,
    },
    /// Notify somebody of what becomes of a task.
    SetPush {
        /// Which task.
        task: Text<'a>,
        /// Whom, and how.
        config: PushConfig<'a>,
    },
    /// Show who is notified.
    GetPush {
        /// Of which task.
        task: Text<'a>,
        /// Which configuration; the first one where that is not said.
        id: Option<Text<'a>>,
    },
    /// Show all who are notified.
    ListPush {
        /// Of which task.
        task: Text<'a>,
    },
    /// Notify somebody no longer.
    DeletePush {
        /// Of which task.
        task: Text<'a>,
        /// Which configuration.
        id: Text<'a>,
    },
    /// Show the extended card.
    ExtendedCard,
}

/// Says something to the agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendCall<'a> {
    /// What is said.
    pub message: Message<'a>,
    /// To which task.
    pub task: TaskName<'a>,
    /// In which context, and the member that says so.
    pub context: Option<Text<'a>>,
    /// See `context`.
    pub context_member: &'static str,
    /// When and how the answer comes.
    pub respond: Respond,
    /// How much history the answer shows.
    pub history: History,
    /// Media types the client can use; an array of strings.
    pub output_modes: Option<Json<'a>>,
    /// Whom to notify of what becomes of it.
    pub push: Option<PushConfig<'a>>,
}

/// Whom to notify, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PushConfig<'a> {
    /// Identifies it within its task; the task's own id where the client gives none.
    pub id: Option<Text<'a>>,
    /// Where to.
    pub url: Text<'a>,
    /// What the client knows its notifications by.
    pub token: Option<Text<'a>>,
    /// How we say there who we are.
    pub scheme: Option<Text<'a>>,
    /// And with what.
    pub credentials: Option<Text<'a>>,
    /// What a fault calls these members.
    pub fields: &'static PushFields,
}

/// What the members of a configuration are called in a dialect's requests, so that a fault can name them.
#[derive(Debug)]
pub(crate) struct PushFields {
    pub all: &'static str,
    pub id: &'static str,
    pub url: &'static str,
    pub token: &'static str,
    pub authentication: &'static str,
    pub scheme: &'static str,
    pub credentials: &'static str,
}

/// Which task a message is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TaskName<'a> {
    /// A new one, named by the server.
    New,
    /// One that exists.
    Existing(Text<'a>),
    /// The one of that name; if there is none, a new one gets it.
    Named(Text<'a>),
}

/// When and how the answer to a message comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Respond {
    /// As soon as the task has ended or asks for something.
    Settled,
    /// As soon as the task has ended, asks for something, or is said by its agent to take long.
    SettledOrSlow,
    /// At once.
    Now,
    /// As a stream.
    Stream,
}

/// How much of a task's history an answer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum History {
    /// Every message.
    All,
    /// The newest so many.
    Newest(u32),
}

/// Which tasks a list shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter<'a> {
    /// Those of this context.
    pub context: Option<Text<'a>>,
    /// Those in this state.
    pub state: Option<TaskState>,
    /// Those whose status is newer than this.
    pub after: Option<UnixMillis>,
    /// Those behind this place in the order: the stamp of the last one shown.
    pub behind: Option<u64>,
    /// So many at the most.
    pub page_size: u16,
    /// How much of each one's history.
    pub history: History,
    /// Whether with artifacts.
    pub artifacts: bool,
}

/// A message of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    /// The client's name for it.
    pub id: Option<Text<'a>>,
    /// The client passes on what an agent said.
    pub from_agent: bool,
    /// What it carries.
    pub parts: Parts<'a>,
    /// Anything else about it; an object.
    pub metadata: Option<Json<'a>>,
    /// URIs of extensions; an array of strings.
    pub extensions: Option<Json<'a>>,
    /// Ids of tasks it is about; an array of strings.
    pub references: Option<Json<'a>>,
}

/// The parts of a message, in the dialect's own shape until one looks at them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    /// Most messages have one part: it is not decoded again for everybody who looks.
    first: Part<'a>,
    others: Items<'a>,
    decode: for<'j> fn(Json<'j>) -> Result<Part<'j>, Fault>,
}

impl<'a> Parts<'a> {
    /// Takes an array of parts after having looked at each.
    ///
    /// # Errors
    /// If one of them is not a part, or there is none.
    pub(crate) fn new(array: Json<'a>, decode: for<'j> fn(Json<'j>) -> Result<Part<'j>, Fault>) -> Result<Self, Fault> {
        let mut others = array.items();
        let Some(first) = others.next() else {
            return Err(Fault::params("message.parts", "must be an array of at least one part"));
        };
        let first = decode(first)?;
        for other in others {
            decode(other)?;
        }
        Ok(Self { first, others, decode })
    }

    /// The parts in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Part<'a>> + use<'a> {
        let decode = self.decode;
        core::iter::once(self.first).chain(self.others.filter_map(move |item| decode(item).ok()))
    }
}

/// A part of a message.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What it holds.
    pub content: Content<'a>,
    /// Its media type.
    pub media_type: Option<Text<'a>>,
    /// The name of the file.
    pub filename: Option<Text<'a>>,
    /// Anything else about it; an object.
    pub metadata: Option<Json<'a>>,
}

/// What a part holds.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// Text.
    Text(Text<'a>),
    /// Bytes in base64.
    Raw(Text<'a>),
    /// A place to get it from.
    Url(Text<'a>),
    /// Any JSON.
    Data(Json<'a>),
}
