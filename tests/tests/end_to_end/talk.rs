//! What clients of each dialect say, and the words for what they hear.

use core::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

/// A version of A2A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    V1_0,
    V0_3,
    V0_1,
}

pub(crate) use Dialect::{V0_1, V0_3, V1_0};

/// All of them.
pub(crate) const ALL: [Dialect; 3] = [V1_0, V0_3, V0_1];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
}

/// Something to say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said<'a> {
    text: &'a str,
    data: Option<Value>,
    task: Option<&'a Task>,
    context: Option<&'a str>,
    about: Option<&'a str>,
}

/// Says it in plain words.
pub(crate) fn say(text: &str) -> Said<'_> {
    Said { text, ..Said::default() }
}

/// Says it as data.
pub(crate) fn data(data: Value) -> Said<'static> {
    Said { data: Some(data), ..Said::default() }
}

impl<'a> Said<'a> {
    /// Says it to a task.
    pub(crate) fn to(self, task: &'a Task) -> Self {
        Self { task: Some(task), ..self }
    }

    /// Says it in the conversation of a task.
    pub(crate) fn beside(self, task: &'a Task) -> Self {
        Self { context: Some(&task.context), ..self }
    }

    /// Says it about a task.
    pub(crate) fn about(self, task: &'a Task) -> Self {
        Self { about: Some(&task.id), ..self }
    }
}

/// What comes of something that was said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Task(Task),
    Message(Vec<Part>),
}

impl Outcome {
    /// The task, where nothing else will do.
    pub(crate) fn task(self) -> Task {
        match self {
            Self::Task(task) => task,
            Self::Message(parts) => panic!("no task but a message: {parts:?}"),
        }
    }
}

/// A task, in no dialect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) context: String,
    pub(crate) state: State,
    /// What the agent says with the state.
    pub(crate) says: Vec<Part>,
    pub(crate) artifacts: Vec<Artifact>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Artifact {
    pub(crate) name: String,
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Data(Value),
    File { name: String, media_type: String, content: String },
}

/// What an event tells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    Task(Task),
    Message(Vec<Part>),
    Status { task: String, state: State, says: Vec<Part> },
    Chunk { artifact: Artifact, append: bool, last: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Submitted,
    Working,
    InputRequired,
    Completed,
    Canceled,
    Failed,
    Rejected,
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) retry_after_secs: Option<u32>,
}

impl Dialect {
    /// What a method is called.
    pub(crate) fn word(self, method: Method) -> &'static str {
        let words = match method {
            Method::Send => ["SendMessage", "message/send", "tasks/send"],
            Method::Stream => ["SendStreamingMessage", "message/stream", "tasks/sendSubscribe"],
            Method::Get => ["GetTask", "tasks/get", "tasks/get"],
            Method::List => ["ListTasks", "none", "none"],
            Method::Cancel => ["CancelTask", "tasks/cancel", "tasks/cancel"],
            Method::Subscribe => ["SubscribeToTask", "tasks/resubscribe", "tasks/resubscribe"],
        };
        words[self as usize]
    }

    /// What its clients add to the head of a request.
    pub(crate) fn headers(self) -> &'static str {
        if self == V1_0 { "A2A-Version: 1.0\r\n" } else { "" }
    }

    /// The code of an agent that has no room.
    pub(crate) fn busy(self) -> i64 {
        if self == V0_1 { -32011 } else { -32000 }
    }

    /// Whether an error before the first event of a stream may be one: it is in 0.3, whose word for following a task is
    /// that of 0.1.
    pub(crate) fn refuses_in_events(self) -> bool {
        self != V1_0
    }

    /// The parameters of a method that sends.
    pub(crate) fn params(self, said: &Said<'_>) -> Value {
        let tag = match self {
            V1_0 => None,
            V0_3 => Some("kind"),
            V0_1 => Some("type"),
        };
        let (name, content) = match &said.data {
            Some(data) => ("data", data.clone()),
            None => ("text", json!(said.text)),
        };
        let mut part = Map::from_iter([(name.to_owned(), content)]);
        part.extend(tag.map(|tag| (tag.to_owned(), json!(name))));
        let context = said.context.or(said.task.map(|task| task.context.as_str()));
        let task = said.task.map(|task| task.id.as_str());
        let params = match self {
            V0_1 => json!({
                "id": task.map_or_else(fresh_id, str::to_owned),
                "sessionId": context,
                "message": {"role": "user", "parts": [part]},
            }),
            V0_3 => json!({"message": {
                "kind": "message", "messageId": fresh_id(), "role": "user", "parts": [part],
                "taskId": task, "contextId": context, "referenceTaskIds": said.about.map(|id| [id]),
            }}),
            V1_0 => json!({"message": {
                "messageId": fresh_id(), "role": "ROLE_USER", "parts": [part],
                "taskId": task, "contextId": context, "referenceTaskIds": said.about.map(|id| [id]),
            }}),
        };
        without_nulls(params)
    }
}

impl State {
    /// Understands the word of a dialect.
    pub(crate) fn parse(dialect: Dialect, word: &str) -> Self {
        const WORDS: [(State, &str); 7] = [
            (State::Submitted, "submitted"),
            (State::Working, "working"),
            (State::InputRequired, "input-required"),
            (State::Completed, "completed"),
            (State::Canceled, "canceled"),
            (State::Failed, "failed"),
            (State::Rejected, "rejected"),
        ];
        let is_said = |plain: &str| match dialect {
            V1_0 => word == format!("TASK_STATE_{}", plain.to_uppercase().replace('-', "_")),
            V0_3 => word == plain,
            V0_1 => word == plain && word != "rejected",
        };
        let known = WORDS.into_iter().find(|(_, plain)| is_said(plain));
        known.unwrap_or_else(|| panic!("{dialect:?} has no state {word}")).0
    }

    /// Whether nothing follows.
    pub(crate) fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Canceled | Self::Failed | Self::Rejected)
    }

    /// Whether nothing follows, or not before the client has answered.
    pub(crate) fn is_settled(self) -> bool {
        self.is_terminal() || self == Self::InputRequired
    }
}

impl Refusal {
    /// Reads an error.
    pub(crate) fn new(error: &Value, retry_after: Option<&str>) -> Self {
        Self {
            code: error["code"].as_i64().unwrap_or_else(|| panic!("no code in {error}")),
            message: error["message"].as_str().unwrap_or_else(|| panic!("no message in {error}")).to_owned(),
            retry_after_secs: retry_after.map(|seconds| seconds.parse().expect("a number of seconds")),
        }
    }

    /// Asserts that it says that there is no room, in a dialect, and when there may be some.
    pub(crate) fn assert_busy(&self, dialect: Dialect) {
        assert_eq!(self.code, dialect.busy(), "{self:?}");
        assert!(self.retry_after_secs.is_some_and(|seconds| seconds > 0), "{self:?}");
    }
}

/// All text of some parts.
pub(crate) fn text_of(parts: &[Part]) -> String {
    parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None }).collect()
}

/// An id that nobody has used: a board remembers those of the runs before.
pub(crate) fn fresh_id() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
    format!("e2e-{now:x}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Members that were left out.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let given = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(given.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        other => other,
    }
}
