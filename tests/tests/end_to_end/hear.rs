//! What clients of each dialect understand. Readers are strict: an answer has what its specification names, and nothing of
//! the others.

use serde_json::{Value, json};

use crate::talk::{Artifact, Dialect, Outcome, Part, State, Task, V0_1, V0_3, V1_0, What};

impl Dialect {
    /// Reads the result of a method that sends.
    pub(crate) fn outcome(self, result: &Value) -> Outcome {
        match self {
            V1_0 => match (result.get("task"), result.get("message")) {
                (Some(task), None) => Outcome::Task(self.task(task)),
                (None, Some(message)) => Outcome::Message(self.message(message)),
                _ => panic!("neither task nor message: {result}"),
            },
            V0_3 if result["kind"] == "message" => Outcome::Message(self.message(result)),
            V0_3 | V0_1 => Outcome::Task(self.task(result)),
        }
    }

    /// Reads a task.
    pub(crate) fn task(self, json: &Value) -> Task {
        let context = match self {
            V0_1 => "sessionId",
            V1_0 | V0_3 => "contextId",
        };
        has_only(json, &["id", context, "status", "artifacts", "history"], self.kind("task"));
        let (state, says) = self.status(&json["status"]);
        for message in list(&json["history"]) {
            self.message(message);
        }
        Task {
            id: string(&json["id"]),
            context: string(&json[context]),
            state,
            says,
            artifacts: list(&json["artifacts"]).iter().map(|artifact| self.artifact(artifact, &[])).collect(),
        }
    }

    /// Reads the result of an event.
    pub(crate) fn event(self, json: &Value) -> What {
        const NAMES: [(&str, &str); 4] = [
            ("task", "task"),
            ("message", "message"),
            ("statusUpdate", "status-update"),
            ("artifactUpdate", "artifact-update"),
        ];
        let (kind, json) = match self {
            V1_0 => {
                let found = NAMES.into_iter().find_map(|(name, kind)| Some((kind, json.get(name)?)));
                found.unwrap_or_else(|| panic!("no event of 1.0: {json}"))
            }
            V0_3 => (json["kind"].as_str().unwrap_or_else(|| panic!("no event of 0.3: {json}")), json),
            V0_1 if json.get("status").is_some() => ("status-update", json),
            V0_1 => ("artifact-update", json),
        };
        let ids: &[&str] = if self == V0_1 { &["id"] } else { &["taskId", "contextId"] };
        match kind {
            "task" => What::Task(self.task(json)),
            "message" => What::Message(self.message(json)),
            "status-update" => {
                let (state, says) = self.status(&json["status"]);
                let names: &[&str] = if self == V1_0 { &["status"] } else { &["status", "final"] };
                has_only(json, &[ids, names].concat(), self.kind("status-update"));
                let is_final = if self == V1_0 { Value::Null } else { json!(state.is_settled()) };
                assert_eq!(json["final"], is_final, "{json}");
                What::Status { task: string(&json[ids[0]]), state, says }
            }
            "artifact-update" => {
                // 0.1 has the flags in the artifact, all others in the event.
                const FLAGS: &[&str] = &["append", "lastChunk"];
                let (outside, inside) = if self == V0_1 { (&[][..], FLAGS) } else { (FLAGS, &[][..]) };
                has_only(json, &[ids, &["artifact"], outside].concat(), self.kind("artifact-update"));
                let place = if self == V0_1 { &json["artifact"] } else { json };
                What::Chunk {
                    artifact: self.artifact(&json["artifact"], inside),
                    append: place.get("append").is_some_and(|flag| flag == true),
                    last: place.get("lastChunk").is_some_and(|flag| flag == true),
                }
            }
            other => panic!("an event of the kind {other}: {json}"),
        }
    }

    /// Reads a message of the agent's, or one of ours that it tells.
    pub(crate) fn message(self, json: &Value) -> Vec<Part> {
        match self {
            V0_1 => has_only(json, &["role", "parts"], None),
            V1_0 | V0_3 => {
                let names = ["messageId", "contextId", "taskId", "role", "parts", "referenceTaskIds"];
                has_only(json, &names, self.kind("message"));
                assert!(!string(&json["messageId"]).is_empty());
            }
        }
        let roles = if self == V1_0 { ["ROLE_USER", "ROLE_AGENT"] } else { ["user", "agent"] };
        assert!(roles.iter().any(|role| json["role"] == *role), "{json}");
        self.parts(json)
    }

    fn status(self, json: &Value) -> (State, Vec<Part>) {
        has_only(json, &["state", "message", "timestamp"], None);
        assert_is_no_1970(json.get("timestamp"));
        let says = json.get("message").map(|message| self.message(message)).unwrap_or_default();
        (State::parse(self, &string(&json["state"])), says)
    }

    fn artifact(self, json: &Value, flags: &[&str]) -> Artifact {
        let identity = if self == V0_1 { "index" } else { "artifactId" };
        has_only(json, &[&["name", "description", "parts", identity], flags].concat(), None);
        assert_eq!(json[identity].is_u64(), self == V0_1, "{json}");
        Artifact { name: string(&json["name"]), parts: self.parts(json) }
    }

    fn parts(self, json: &Value) -> Vec<Part> {
        list(&json["parts"]).iter().map(|part| self.part(part)).collect()
    }

    fn part(self, json: &Value) -> Part {
        let content = ["text", "data", "raw", "file"].into_iter().find(|name| json.get(name).is_some());
        let content = content.unwrap_or_else(|| panic!("an empty part: {json}"));
        let tag = match self {
            V1_0 => None,
            V0_3 => Some(("kind", content)),
            V0_1 => Some(("type", content)),
        };
        match (self, content) {
            (_, "text") => {
                has_only(json, &["text"], tag);
                Part::Text(string(&json["text"]))
            }
            (_, "data") => {
                has_only(json, &["data"], tag);
                assert_is_no_1970(json["data"].get("time"));
                Part::Data(json["data"].clone())
            }
            (V1_0, "raw") => {
                has_only(json, &["raw", "mediaType", "filename"], tag);
                file(&json["filename"], &json["mediaType"], &json["raw"])
            }
            (V0_3 | V0_1, "file") => {
                has_only(json, &["file"], tag);
                has_only(&json["file"], &["name", "mimeType", "bytes"], None);
                file(&json["file"]["name"], &json["file"]["mimeType"], &json["file"]["bytes"])
            }
            _ => panic!("{self:?} has no such part: {json}"),
        }
    }

    fn kind(self, kind: &'static str) -> Option<(&'static str, &'static str)> {
        (self == V0_3).then_some(("kind", kind))
    }
}

/// Asserts that an object has no members but these, and its tag if it has to have one.
fn has_only(json: &Value, names: &[&str], tag: Option<(&str, &str)>) {
    let members = json.as_object().unwrap_or_else(|| panic!("no object: {json}"));
    let is_tag = |name: &str| tag.is_some_and(|(tag, _)| tag == name);
    let stranger = members.keys().find(|name| !names.contains(&name.as_str()) && !is_tag(name));
    assert_eq!(stranger, None, "{json}");
    if let Some((tag, value)) = tag {
        assert_eq!(json[tag], value, "{json}");
    }
}

fn string(json: &Value) -> String {
    json.as_str().unwrap_or_else(|| panic!("no string: {json}")).to_owned()
}

/// A list that may be left out.
fn list(json: &Value) -> &[Value] {
    if json.is_null() { &[] } else { json.as_array().unwrap_or_else(|| panic!("no list: {json}")) }
}

fn file(name: &Value, media_type: &Value, base64: &Value) -> Part {
    let content = String::from_utf8(decode_base64(&string(base64))).expect("a file of text");
    Part::File { name: string(name), media_type: string(media_type), content }
}

/// A board that does not know the time says none.
fn assert_is_no_1970(time: Option<&Value>) {
    if let Some(time) = time {
        let time = string(time);
        assert!(time.starts_with("20") && time.ends_with('Z') && time.contains('T'), "no time of ours: {time}");
    }
}

fn decode_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    assert_eq!(text.len() % 4, 0, "not padded: {text}");
    let mut bytes = Vec::new();
    for quad in text.as_bytes().chunks(4) {
        let digits: Vec<usize> = quad.iter().filter_map(|c| ALPHABET.iter().position(|known| known == c)).collect();
        let bits = digits.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - digits.len()));
        bytes.extend((0..digits.len() - 1).map(|n| (bits >> (16 - 8 * n)) as u8));
    }
    bytes
}
