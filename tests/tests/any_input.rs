//! Seeded random tests: what must hold for every input, tried on many.

use std::collections::VecDeque;

use mote_tests::{
    random::{Random, with_seeds},
    script::{Script, about, member, send, send_01, send_03},
    world::{PROFILE, World},
};
use protocol_core::{Inbound, Profile, Served, json::Json};
use serde_json::{Value, json};

const EVERYTHING: Profile<'static> = Profile { input_modes: &["*/*"], ..PROFILE };

fn world() -> World {
    World::with::<_, 8, 512, 2, 8>(Script, Served::ALL, EVERYTHING)
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Text with everything that is hard about text.
fn text(random: &mut Random) -> String {
    const HARD: [&str; 16] = [
        "a",
        " ",
        "\"",
        "\\",
        "/",
        "\n",
        "\r\t",
        "\u{0}",
        "\u{1f}",
        "\u{7f}",
        "é",
        "\u{85}",
        "\u{2028}",
        "😀",
        "\u{10ffff}",
        "\\u0041",
    ];
    (0..random.below(40)).map(|_| *random.pick(&HARD)).collect()
}

/// Any JSON, not too deep.
fn any_json(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => json!(random.once_in(2)),
        2 => json!(random.number() as i64),
        3 => {
            let number: &&str = random.pick(&["0.5", "-1e-7", "12345678901234567890123", "1.0"]);
            parse(number)
        }
        4 => json!(text(random)),
        5 => (0..random.below(4)).map(|_| any_json(random, depth - 1)).collect(),
        _ => Value::Object((0..random.below(4)).map(|_| (text(random), any_json(random, depth - 1))).collect()),
    }
}

fn any_object(random: &mut Random) -> Value {
    json!({ text(random): any_json(random, 2) })
}

/// A part in the words of the newest dialect.
fn part(random: &mut Random) -> Value {
    let mut part = match random.below(4) {
        0 => json!({"text": text(random)}),
        1 => {
            json!({"raw": random.pick(&["", "AA==", "AAA=", "AAAA", "+/+/"]), "mediaType": "x/y", "filename": text(random)})
        }
        2 => json!({"url": text(random), "mediaType": "x/y"}),
        // Before 1.0 data is an object; what happens to other data is in the golden files.
        _ => json!({"data": any_object(random)}),
    };
    if random.once_in(3) {
        part["metadata"] = any_object(random);
    }
    if part["filename"] == "" {
        part.as_object_mut().unwrap().remove("filename");
    }
    part
}

/// The same part in the words of the older dialects, tagged by `tag`.
fn tagged(part: &Value, tag: &str) -> Value {
    let mut file = json!({});
    for (old, new) in [("bytes", "raw"), ("uri", "url"), ("mimeType", "mediaType"), ("name", "filename")] {
        if let Some(value) = part.get(new) {
            file[old] = value.clone();
        }
    }
    let mut out = match part {
        part if part.get("text").is_some() => json!({tag: "text", "text": part["text"]}),
        part if part.get("data").is_some() => json!({tag: "data", "data": part["data"]}),
        _ => json!({tag: "file", "file": file}),
    };
    if let Some(metadata) = part.get("metadata") {
        out["metadata"] = metadata.clone();
    }
    out
}

#[test]
fn what_is_sent_in_one_dialect_reads_the_same_in_every_other() {
    with_seeds(200, |random| {
        let mut world = world();
        let parts: Vec<Value> = (0..1 + random.below(4)).map(|_| part(random)).collect();
        let metadata = any_object(random);
        let of = |tag: &str| -> Vec<Value> { parts.iter().map(|part| tagged(part, tag)).collect() };
        // A first part that makes the agent complete the task, whatever follows.
        let with = |first: Value, mut rest: Vec<Value>| {
            rest.insert(0, first);
            rest
        };
        let newest = with(json!({"text": "done;"}), parts.clone());
        let middle = with(json!({"kind": "text", "text": "done;"}), of("kind"));
        let oldest = with(json!({"type": "text", "text": "done;"}), of("type"));
        let request = match random.below(3) {
            0 => json!({"method": "SendMessage", "params": {"message":
                {"messageId": "m", "role": "ROLE_USER", "parts": newest, "metadata": metadata}}}),
            1 => json!({"method": "message/send", "params": {"message":
                {"messageId": "m", "role": "user", "parts": middle, "metadata": metadata}}}),
            _ => json!({"method": "tasks/send", "params": {"id": "t", "message":
                {"role": "user", "parts": oldest, "metadata": metadata}}}),
        };
        let mut request = request;
        request["jsonrpc"] = json!("2.0");
        request["id"] = json!(1);
        let sent = parse(&world.ask(&request.to_string()));
        let task = sent["result"].get("task").unwrap_or(&sent["result"]);
        let id = task["id"].as_str().unwrap_or_else(|| panic!("{sent}"));

        for (version, method, parts) in
            [("1.0", "GetTask", newest), ("0.3", "tasks/get", middle), ("0.1", "tasks/get", oldest)]
        {
            let get = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": id, "historyLength": 9}});
            let got = parse(&world.ask_as(version, &get.to_string()));
            let message = &got["result"]["history"][0];
            assert_eq!(message["parts"], Value::Array(parts), "{version}");
            assert_eq!(message["metadata"], metadata, "{version}");
        }
    });
}

#[test]
fn any_size_of_buffer_gives_the_same_bytes() {
    with_seeds(40, |random| {
        let mut world = world();
        let script = "say a\\\"b; chunks 5; add é x; data [1,{}]; file hello; link http://x; end";
        let id = member(&world.ask(&send("SendMessage", script, "")), "id");
        world.ask(&send_01("tasks/send", "old", "chunk x; chunk y; ask z"));
        let requests = [
            about("GetTask", &id),
            about("tasks/get", &id),
            about("tasks/get", "old"),
            about("tasks/resubscribe", "old"),
            about("tasks/resubscribe", "nobody"),
            r#"{"jsonrpc":"2.0","id":"\u2028","method":"ListTasks","params":{"includeArtifacts":true}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}}"#.to_owned(),
            "nonsense".to_owned(),
        ];
        let window = 1 + random.below(300);
        for request in &requests {
            let inbound = Inbound { body: request.as_bytes(), ..Inbound::default() };
            let whole = world.request(&inbound, 100_000);
            let pieces = world.request(&inbound, window);
            assert!(whole.has_ended() && pieces.has_ended(), "{request}");
            assert_eq!(pieces.text(), whole.text(), "{request} through {window} bytes");
        }
    });
}

#[test]
fn no_request_however_mangled_goes_without_a_well_formed_answer() {
    with_seeds(1500, |random| {
        let mut world = World::with::<_, 4, 128, 1, 4>(Script, Served::ALL, PROFILE);
        let requests = [
            send("SendMessage", "say a; end b", r#","contextId":"c","metadata":{"a":[1,2]}"#),
            send("SendStreamingMessage", "work; chunk x; done", ""),
            send_03("message/send", "reply hello", r#","referenceTaskIds":["a"]"#),
            send_01("tasks/sendSubscribe", "t", "ask x"),
            about("SubscribeToTask", "t"),
            r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":2,"status":"TASK_STATE_WORKING"}}"#
                .to_owned(),
        ];
        for _ in 0..3 {
            let body = mangled(random, random.clone().pick(&requests).as_bytes());
            let client = world.request(&Inbound { body: &body, ..Inbound::default() }, 512);
            // Only a stream of a task that waits for its client stays open, and it has begun.
            assert!(client.has_ended() || client.is_stream, "{}", String::from_utf8_lossy(&body));
            let answers = if client.is_stream { client.events() } else { vec![client.text()] };
            assert!(!answers.is_empty());
            for answer in answers {
                let answer = parse(&answer);
                assert_eq!(answer["jsonrpc"], "2.0");
                assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
            }
        }
    });
}

/// Bytes that were a request once.
fn mangled(random: &mut Random, request: &[u8]) -> Vec<u8> {
    const BITS: [&[u8]; 14] = [
        b"\"",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b",",
        b"null",
        b"\\ud800",
        b"-1",
        b"1e999",
        b"\xff",
        b"\x00",
        b"{\"id\":{}}",
    ];
    let mut bytes = request.to_vec();
    for _ in 0..random.below(5) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 => drop(bytes.splice(at..at, random.pick(&BITS).iter().copied())),
            1 => drop(bytes.drain(at..(at + random.below(6)).min(bytes.len()))),
            2 => bytes.truncate(at.max(1)),
            3 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ => {
                let from = random.below(at + 1);
                let copy = bytes[from..at].to_vec();
                drop(bytes.splice(at..at, copy));
            }
        }
    }
    bytes
}

#[test]
fn the_reader_takes_exactly_what_another_reader_takes() {
    with_seeds(10_000, |random| {
        let text = any_json(random, 3).to_string();
        let bytes = if random.once_in(4) { text.into_bytes() } else { mangled(random, text.as_bytes()) };
        let ours = Json::parse(&bytes);
        let theirs = serde_json::from_slice::<Value>(&bytes);
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?}: {ours:?} {theirs:?}", String::from_utf8_lossy(&bytes));
    });
}

/// What the engine should know, kept as simply as can be.
#[derive(Default)]
struct Model {
    /// Live tasks: id, and the texts of its client.
    live: Vec<(String, Vec<String>)>,
    /// Finished ones, the oldest first.
    finished: VecDeque<(String, &'static str, Vec<String>)>,
}

#[test]
fn the_engine_does_what_a_simple_model_does() {
    const TASKS: usize = 6;
    with_seeds(60, |random| {
        let mut world = World::with::<_, TASKS, 400, 2, 8>(Script, Served::ALL, PROFILE);
        let mut model = Model::default();
        for step in 0..60 {
            let (script, end) = *random.pick(&[
                ("ask more", "TASK_STATE_INPUT_REQUIRED"),
                ("chunk a; done", "TASK_STATE_COMPLETED"),
                ("say x; fail y", "TASK_STATE_FAILED"),
                ("reject z", "TASK_STATE_REJECTED"),
            ]);
            let said = format!("{script}; {step}");
            match random.below(4) {
                0 | 1 => {
                    let answer = parse(&world.ask(&send("SendMessage", &said, "")));
                    if model.live.len() == TASKS {
                        assert_eq!(answer["error"]["code"], -32000, "{answer}");
                        continue;
                    }
                    let task = &answer["result"]["task"];
                    assert_eq!(task["status"]["state"], end);
                    if model.live.len() + model.finished.len() == TASKS {
                        let (gone, ..) = model.finished.pop_front().unwrap();
                        let get = parse(&world.ask(&about("GetTask", &gone)));
                        assert_eq!(get["error"]["code"], -32001, "not the oldest one went");
                    }
                    model.settle(task["id"].as_str().unwrap().to_owned(), vec![said], end);
                }
                2 if !model.live.is_empty() => {
                    let (id, mut texts) = model.live.remove(random.below(model.live.len()));
                    let answer = parse(&world.ask(&send("SendMessage", &said, &format!(r#","taskId":"{id}""#))));
                    assert_eq!(answer["result"]["task"]["status"]["state"], end, "{answer}");
                    texts.push(said);
                    model.settle(id, texts, end);
                }
                _ if !model.live.is_empty() => {
                    let (id, texts) = model.live.remove(random.below(model.live.len()));
                    let answer = parse(&world.ask(&about("CancelTask", &id)));
                    assert_eq!(answer["result"]["status"]["state"], "TASK_STATE_CANCELED", "{answer}");
                    model.settle(id, texts, "TASK_STATE_CANCELED");
                }
                _ => world.advance(1000),
            }
            model.check(&mut world);
        }
    });
}

impl Model {
    fn settle(&mut self, id: String, texts: Vec<String>, state: &'static str) {
        if state == "TASK_STATE_INPUT_REQUIRED" {
            self.live.push((id, texts));
        } else {
            self.finished.push_back((id, state, texts));
        }
    }

    fn check(&self, world: &mut World) {
        let list = parse(&world.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":100}}"#));
        assert_eq!(list["result"]["totalSize"], self.live.len() + self.finished.len());
        let live = self.live.iter().map(|(id, texts)| (id, "TASK_STATE_INPUT_REQUIRED", texts));
        for (id, state, texts) in live.chain(self.finished.iter().map(|(id, state, texts)| (id, *state, texts))) {
            let task = parse(&world.ask(&about("GetTask", id)));
            assert_eq!(task["result"]["status"]["state"], state, "{task}");
            let history = task["result"]["history"].as_array().unwrap().iter();
            let said: Vec<&str> = history
                .filter(|message| message["role"] == "ROLE_USER")
                .map(|message| message["parts"][0]["text"].as_str().unwrap())
                .collect();
            assert_eq!(said, *texts);
        }
        let limits = world.node.limits();
        assert_eq!(limits.readers_used, 0);
        // Every live task holds a block in reserve, every record at least one.
        assert!(limits.blocks_used as usize >= 2 * self.live.len() + self.finished.len());
    }
}
