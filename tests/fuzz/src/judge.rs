//! What an answer must be, whatever was asked.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, value::RawValue};

use crate::world::{Answer, End};

/// Longest id that is sent back, as it stands in the request.
const ID_MAX: usize = protocol_core::config::RPC_ID_MAX;

/// The members of an object as they came, the ones that stand there twice included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// The id that an answer to this body must have.
pub fn id_of(body: &[u8]) -> Value {
    find_id(body).unwrap_or(Value::Null)
}

fn find_id(body: &[u8]) -> Option<Value> {
    // What nests deeper than we read is no request, though it may be JSON.
    protocol_core::json::Json::parse(body).ok()?;
    let Members(members) = serde_json::from_slice(body).ok()?;
    for name in ["jsonrpc", "id", "method", "params"] {
        if members.iter().filter(|(key, _)| key == name).count() > 1 {
            return None;
        }
    }
    let raw = members.iter().find(|(key, _)| key == "id")?.1.get();
    // Three characters grow on their way back, because some clients take them for the end of a line.
    let grows = |c: char| if matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}') { 6 } else { c.len_utf8() };
    if raw.chars().map(grows).sum::<usize>() > ID_MAX {
        return None;
    }
    serde_json::from_str(raw).ok().filter(|id| matches!(id, Value::String(_) | Value::Number(_)))
}

/// Judges what was read of an answer.
pub fn answer(answer: &Answer<'_, '_>, id: &Value) {
    match (answer.is_stream, answer.end) {
        (false, End::Ended) => drop(document(&answer.bytes, id)),
        (false, _) => drop(plain(beginning(&answer.bytes))),
        (true, End::Ended) => stream(&answer.bytes, id, true),
        (true, _) => stream(beginning(&answer.bytes), id, false),
    }
}

/// What was cut off may end in the middle of a character.
fn beginning(bytes: &[u8]) -> &[u8] {
    match str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// Judges a whole answer that is one document.
pub fn document(bytes: &[u8], id: &Value) -> Value {
    let text = plain(bytes);
    assert!(!text.contains('\n'), "a line break in a document: {text:?}");
    envelope(text.trim_start_matches(' '), id)
}

/// Judges a stream as far as it came. `is_whole`: it came to its end.
pub fn stream(bytes: &[u8], id: &Value, is_whole: bool) {
    let text = plain(bytes);
    let (whole, rest) = text.rfind("\n\n").map_or(("", text), |end| text.split_at(end + 2));
    assert!(!is_whole || rest.is_empty(), "a stream ends in the middle of an event: {text:?}");
    for event in whole.split_terminator("\n\n") {
        let mut data = None;
        for line in event.split('\n') {
            let number = line.strip_prefix("id: ").map(|id| id.parse::<u64>());
            match line {
                ": " | "event: error" => {}
                _ if number.is_some() => assert!(matches!(number, Some(Ok(_))), "{line:?} in {text:?}"),
                _ => {
                    let found = line.strip_prefix("data: ").unwrap_or_else(|| panic!("{line:?} in {text:?}"));
                    assert!(data.replace(found).is_none(), "two data lines in one event: {text:?}");
                }
            }
        }
        let data = data.unwrap_or_else(|| panic!("an event without data: {text:?}"));
        envelope(data, id);
    }
}

/// No character that anybody takes for the end of a line, and none that a terminal obeys.
fn plain(bytes: &[u8]) -> &str {
    let text = str::from_utf8(bytes).unwrap_or_else(|_| panic!("no UTF-8: {:?}", String::from_utf8_lossy(bytes)));
    let forbidden = |c: char| (c < ' ' && c != '\n') || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    assert!(!text.contains(forbidden), "a control character or a line separator: {text:?}");
    text
}

fn envelope(text: &str, id: &Value) -> Value {
    let answer: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let Members(members) = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    assert!(
        names == ["jsonrpc", "id", "result"] || names == ["jsonrpc", "id", "error"],
        "an envelope of {names:?}: {text}"
    );
    assert_eq!(answer["jsonrpc"], "2.0", "{text}");
    assert_eq!(answer["id"], *id, "another id: {text}");
    if let Some(error) = answer.get("error") {
        assert!(error["code"].is_i64() && error["message"].is_string(), "{text}");
    }
    answer
}
