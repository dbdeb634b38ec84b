//! Judges answers with another reader of JSON than our own.

use serde_json::Value;

/// One JSON-RPC answer: well formed, with an id, and a result or an error.
pub(crate) fn answer(place: &str, text: &str) {
    let value = json(place, text);
    assert_eq!(value["jsonrpc"], "2.0", "{place}: {text}");
    let id = value.get("id").unwrap_or_else(|| panic!("{place}: no id: {text}"));
    assert!(id.is_null() || id.is_number() || id.is_string(), "{place}: {text}");
    match (value.get("result"), value.get("error")) {
        (Some(_), None) => {}
        (None, Some(error)) => {
            assert!(error["code"].is_i64() && error["message"].is_string(), "{place}: {text}");
        }
        _ => panic!("{place}: neither or both of result and error: {text}"),
    }
}

/// Anything that is JSON and names no member twice.
pub(crate) fn json(place: &str, text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{place}: {error}: {text}"));
    // Values keep the last of two members of one name: written again, the text would be shorter.
    let members = count_members(&value);
    let colons = count_colons(text);
    assert_eq!(members, colons, "{place}: a member stands there twice: {text}");
    value
}

/// A stream of events: each has one line of data and ends with a blank line; comments stand between them.
pub(crate) fn stream(place: &str, text: &str) {
    assert!(!text.contains('\r'), "{place}: a carriage return");
    let events: String = text.split_inclusive('\n').filter(|line| *line != ": \n").collect();
    assert!(events.is_empty() || events.ends_with("\n\n"), "{place}: the last event is not ended");
    for event in events.split("\n\n").filter(|event| !event.is_empty()) {
        let data: Vec<&str> = event.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        assert_eq!(data.len(), 1, "{place}: {event}");
        answer(place, data[0]);
        for line in event.lines() {
            assert!(["data: ", "id: ", "event: "].iter().any(|field| line.starts_with(field)), "{place}: {line}");
        }
    }
}

fn count_members(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.len() + members.values().map(count_members).sum::<usize>(),
        Value::Array(items) => items.iter().map(count_members).sum(),
        _ => 0,
    }
}

fn count_colons(text: &str) -> usize {
    let (mut count, mut in_string, mut escaped) = (0, false, false);
    for character in text.chars() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = character == '\\' && !escaped;
        } else {
            in_string = character == '"';
            count += usize::from(character == ':');
        }
    }
    count
}
