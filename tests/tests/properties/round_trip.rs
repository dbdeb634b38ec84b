//! What is sent in one dialect reads back in every dialect as what was sent.

use mote_tests::{
    random::{Random, with_seeds},
    world::{PROFILE, World},
};
use protocol_core::{Agent, Done, Profile, Served, Stopped, TaskCx};
use serde_json::{Map, Value, json};

use crate::make;

/// Ends every task at once.
struct Finisher;

impl Agent for Finisher {
    async fn run(&self, _: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        Ok(Done::Completed)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    V01,
    V03,
    V10,
}

use Dialect::{V01, V03, V10};

/// A message in no dialect.
#[derive(Debug)]
struct Message {
    id: String,
    from_agent: bool,
    parts: Vec<Part>,
    metadata: Option<Map<String, Value>>,
    extensions: Option<Vec<String>>,
    references: Option<Vec<String>>,
}

#[derive(Debug)]
struct Part {
    content: Content,
    media_type: Option<String>,
    filename: Option<String>,
    metadata: Option<Map<String, Value>>,
}

#[derive(Debug)]
enum Content {
    Text(String),
    Raw(String),
    Url(String),
    Data(Value),
}

fn maybe<T>(random: &mut Random, make: impl FnOnce(&mut Random) -> T) -> Option<T> {
    random.once_in(3).then(|| make(random))
}

fn base64(random: &mut Random) -> String {
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain("+/-_".chars()).collect();
    let length = random.below(40);
    let digits = length / 4 * 4 + [0, 0, 2, 3][length % 4];
    let mut text: String = (0..digits).map(|_| *random.pick(&alphabet)).collect();
    if random.once_in(2) {
        text.push_str(["", "", "==", "="][digits % 4]);
    }
    text
}

fn message(random: &mut Random, sent_in: Dialect) -> Message {
    let names = |random: &mut Random| (0..1 + random.below(3)).map(|_| make::text(random, 20)).collect::<Vec<_>>();
    let parts = (0..1 + random.below(4))
        .map(|_| {
            let content = match random.below(4) {
                0 => Content::Text(make::text(random, 300)),
                1 => Content::Raw(base64(random)),
                2 => Content::Url(make::text(random, 60)),
                _ => Content::Data(match make::json(random, 4) {
                    // Before 1.0 a `null` is a member that is missing.
                    Value::Null if sent_in != V10 => json!({}),
                    value => value,
                }),
            };
            let is_file = matches!(content, Content::Raw(_) | Content::Url(_));
            let has_attributes = sent_in == V10 || is_file;
            Part {
                content,
                media_type: maybe(random, |random| make::name(random, 20)).filter(|_| has_attributes),
                filename: maybe(random, |random| make::name(random, 20)).filter(|_| has_attributes),
                metadata: maybe(random, |random| make::object(random, 3)),
            }
        })
        .collect();
    Message {
        id: make::name(random, 60),
        from_agent: random.once_in(4),
        parts,
        metadata: maybe(random, |random| make::object(random, 3)),
        extensions: maybe(random, names),
        references: maybe(random, names),
    }
}

fn put<T: Into<Value> + Clone>(object: &mut Value, name: &str, value: &Option<T>) {
    if let Some(value) = value {
        object[name] = value.clone().into();
    }
}

/// The part as that dialect has it. `wrap`: data that is no object is put into one.
fn part(part: &Part, dialect: Dialect, wrap: bool) -> Value {
    let mut out = json!({});
    if dialect == V10 {
        match &part.content {
            Content::Text(text) => out["text"] = json!(text),
            Content::Raw(base64) => out["raw"] = json!(base64),
            Content::Url(url) => out["url"] = json!(url),
            Content::Data(data) => out["data"] = data.clone(),
        }
        put(&mut out, "mediaType", &part.media_type);
        put(&mut out, "filename", &part.filename);
    } else {
        let mut file = json!({});
        put(&mut file, "mimeType", &part.media_type);
        put(&mut file, "name", &part.filename);
        let kind = match &part.content {
            Content::Text(text) => {
                out["text"] = json!(text);
                "text"
            }
            Content::Data(data) => {
                out["data"] = if data.is_object() || !wrap { data.clone() } else { json!({ "value": data }) };
                "data"
            }
            Content::Raw(base64) => {
                file["bytes"] = json!(base64);
                out["file"] = file;
                "file"
            }
            Content::Url(url) => {
                file["uri"] = json!(url);
                out["file"] = file;
                "file"
            }
        };
        out[if dialect == V03 { "kind" } else { "type" }] = json!(kind);
    }
    put(&mut out, "metadata", &part.metadata);
    out
}

/// The message as that dialect has it.
fn written(message: &Message, dialect: Dialect, wrap: bool) -> Value {
    let role = match (dialect, message.from_agent) {
        (V10, false) => "ROLE_USER",
        (V10, true) => "ROLE_AGENT",
        (_, false) => "user",
        (_, true) => "agent",
    };
    let parts: Vec<Value> = message.parts.iter().map(|each| part(each, dialect, wrap)).collect();
    let mut out = json!({"role": role, "parts": parts});
    put(&mut out, "metadata", &message.metadata);
    if dialect != V01 {
        out["messageId"] = json!(message.id);
        put(&mut out, "extensions", &message.extensions);
        put(&mut out, "referenceTaskIds", &message.references);
    }
    if dialect == V03 {
        out["kind"] = json!("message");
    }
    out
}

/// Sends it; gives the id and the context of its task.
fn send(world: &mut World, random: &mut Random, message: &Message, dialect: Dialect, count: u64) -> (String, String) {
    let mut said = written(message, dialect, false);
    let context = format!("{count}{}", make::text(random, 12));
    let id = format!("{}{count}", make::text(random, 8));
    let (method, params) = match dialect {
        V01 => ("tasks/send", json!({"id": id, "sessionId": context, "message": said})),
        V03 | V10 => {
            said["contextId"] = json!(context);
            (if dialect == V03 { "message/send" } else { "SendMessage" }, json!({"message": said}))
        }
    };
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let body = make::write(random, &request);
    let answer: Value = serde_json::from_str(&world.ask(&body)).expect("JSON");
    let result = if dialect == V10 { &answer["result"]["task"] } else { &answer["result"] };
    let id = result["id"].as_str().unwrap_or_else(|| panic!("{answer} to {body}"));
    (id.to_owned(), context)
}

fn read(world: &mut World, id: &str, dialect: Dialect) -> Value {
    let (method, version) = match dialect {
        V01 => ("tasks/get", "0.1"),
        V03 => ("tasks/get", "0.3"),
        V10 => ("GetTask", "1.0"),
    };
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": id, "historyLength": 5}});
    let answer: Value = serde_json::from_str(&world.ask_as(version, &request.to_string())).expect("JSON");
    answer["result"].clone()
}

#[test]
fn what_is_sent_in_one_dialect_reads_back_in_every_dialect() {
    let profile = Profile { input_modes: &["*/*"], ..PROFILE };
    let world = core::cell::RefCell::new(World::with::<_, 4, 1024, 2, 4>(Finisher, Served::ALL, profile));
    let count = core::cell::Cell::new(0);
    with_seeds(1500, |random| {
        let world = &mut world.borrow_mut();
        count.set(count.get() + 1);
        let sent_in = *random.pick(&[V01, V03, V10]);
        let message = message(random, sent_in);
        let (id, context) = send(world, random, &message, sent_in, count.get());
        for dialect in [V01, V03, V10] {
            let task = read(world, &id, dialect);
            let mut expected = written(&message, dialect, true);
            let mut found = task["history"][0].clone();
            if dialect == V01 {
                assert_eq!(task["sessionId"], context);
            } else {
                assert_eq!((&task["contextId"], &found["contextId"]), (&json!(context), &json!(context)));
                expected["contextId"] = json!(context);
                expected["taskId"] = json!(id);
            }
            if sent_in == V01 && dialect != V01 {
                // The oldest dialect has fewer members to say.
                assert!(found["messageId"].is_string());
                for gone in ["messageId", "extensions", "referenceTaskIds"] {
                    let (expected, found) = (expected.as_object_mut(), found.as_object_mut());
                    drop(expected.map(|expected| expected.remove(gone)));
                    drop(found.map(|found| found.remove(gone)));
                }
            }
            assert_eq!(found, expected, "sent in {sent_in:?}, read in {dialect:?}");
        }
    });
}
