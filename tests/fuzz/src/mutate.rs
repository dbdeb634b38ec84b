//! Changes JSON so that it stays JSON: what is broken at the first byte never gets as far as a decoder.

use libfuzzer_sys::fuzzer_mutate;
use mote_tests::random::Random;
use serde_json::{Map, Value};

/// Mutates the JSON that stands from `begin` on, or else the bytes as they come. As libFuzzer has it: `data` has room for
/// `max_size` bytes of which `size` are used; gives the new size.
pub fn mutate(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    span: impl Fn(&[u8], &mut Random) -> (usize, usize),
) -> usize {
    let mut random = Random::new(u64::from(seed));
    if random.once_in(3) {
        return fuzzer_mutate(data, size, max_size);
    }
    let (begin, end) = span(&data[..size], &mut random);
    let Ok(mut value) = serde_json::from_slice::<Value>(&data[begin..end]) else {
        return fuzzer_mutate(data, size, max_size);
    };
    for _ in 0..1 + random.below(3) {
        let other = value.clone();
        change(&mut value, &other, &mut random, 0);
    }
    let mut written = if random.once_in(8) { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) }
        .unwrap_or_default();
    written.extend_from_slice(&data[end..size]);
    if begin + written.len() > max_size {
        return fuzzer_mutate(data, size, max_size);
    }
    data[begin..begin + written.len()].copy_from_slice(&written);
    begin + written.len()
}

/// Changes something somewhere in a value. `all` is where other pieces come from.
fn change(value: &mut Value, all: &Value, random: &mut Random, depth: usize) {
    let goes_in = depth < 12 && !random.once_in(4);
    match value {
        Value::Object(members) if goes_in && !members.is_empty() => {
            let at = random.below(members.len());
            if let Some(member) = members.values_mut().nth(at) {
                change(member, all, random, depth + 1);
            }
        }
        Value::Array(items) if goes_in && !items.is_empty() => {
            let at = random.below(items.len());
            change(&mut items[at], all, random, depth + 1);
        }
        Value::Object(members) if !random.once_in(5) => change_members(members, all, random),
        Value::Array(items) if !random.once_in(5) => match random.below(3) {
            0 => items.push(piece(all, random)),
            1 if !items.is_empty() => drop(items.remove(random.below(items.len()))),
            _ => items.extend_from_within(..),
        },
        Value::String(text) if !random.once_in(4) => change_text(text, random),
        _ => *value = piece(all, random),
    }
}

fn change_members(members: &mut Map<String, Value>, all: &Value, random: &mut Random) {
    let at = random.below(members.len());
    let name = members.keys().nth(at).cloned();
    match (random.below(4), name) {
        (0, Some(name)) => drop(members.remove(&name)),
        (1, Some(name)) => {
            let value = members.remove(&name).unwrap_or_default();
            members.insert((*random.pick(NAMES)).to_owned(), value);
        }
        _ => drop(members.insert((*random.pick(NAMES)).to_owned(), piece(all, random))),
    }
}

fn change_text(text: &mut String, random: &mut Random) {
    let count = text.chars().count();
    let at = text.char_indices().nth(random.below(count + 1)).map_or(text.len(), |(at, _)| at);
    match random.below(4) {
        0 => text.insert_str(at, random.pick(TEXTS)),
        1 => text.truncate(at),
        2 if text.len() < 4000 => text.push_str(&text.clone()),
        _ => *text = (*random.pick(TEXTS)).to_owned(),
    }
}

/// A value to put somewhere: one of ours, or a piece of the whole.
fn piece(all: &Value, random: &mut Random) -> Value {
    if random.once_in(2) {
        let text = *random.pick(VALUES);
        return serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    }
    let mut here = all;
    loop {
        let next = match here {
            Value::Object(members) => members.values().nth(random.below(members.len())),
            Value::Array(items) => items.get(random.below(items.len())),
            _ => None,
        };
        match next {
            Some(inner) if !random.once_in(4) => here = inner,
            _ => return here.clone(),
        }
    }
}

/// Names that mean something to some dialect.
pub const NAMES: &[&str] = &[
    "id",
    "jsonrpc",
    "method",
    "params",
    "message",
    "messageId",
    "taskId",
    "contextId",
    "sessionId",
    "role",
    "parts",
    "kind",
    "type",
    "text",
    "data",
    "file",
    "raw",
    "url",
    "uri",
    "bytes",
    "name",
    "filename",
    "mimeType",
    "mediaType",
    "metadata",
    "extensions",
    "referenceTaskIds",
    "configuration",
    "blocking",
    "returnImmediately",
    "historyLength",
    "acceptedOutputModes",
    "pushNotificationConfig",
    "pushNotification",
    "taskPushNotificationConfig",
    "pageSize",
    "pageToken",
    "status",
    "statusTimestampAfter",
    "lastUpdatedAfter",
    "includeArtifacts",
    "tenant",
    "content",
    "x",
];

const TEXTS: &[&str] = &[
    "",
    " ",
    "done",
    "work; wait 10; end fine",
    "ask which",
    "auth who",
    "chunks 9; says 3; fail x",
    "reply hi",
    "\n\ndata: {}",
    "\r\n\r\nHTTP/1.1 200 OK\r\n",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\0",
    "\u{7f}",
    "\"",
    "\\",
    "é",
    "\u{1f600}",
    "user",
    "agent",
    "ROLE_USER",
    "ROLE_AGENT",
    "text",
    "TASK_STATE_WORKING",
    "completed",
    "text/plain",
    "image/png",
    "*/*",
    "aGk=",
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.123456789+01:00",
    "-1",
    "1.0",
    "t1",
    "00000000-0000-4000-8000-000000000001",
    "00000000-0000-4000-8000-000000000003",
    "0123456789012345678901234567890123456789012345678901234567890123",
    "01234567890123456789012345678901234567890123456789012345678901234",
];

const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "2.0",
    "1e3",
    "0.5",
    "100",
    "101",
    "65535",
    "65536",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551616",
    "1e999",
    "123456789012345678901234567890",
    "\"\"",
    "[]",
    "{}",
    "[null]",
    "[[]]",
    "{\"a\":1}",
    "\"\\u2028\"",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
];
