//! The JSON reader: what it takes another reader takes, too, and both understand the same.
//!
//! Where they may differ, and nowhere else: we refuse what nests deeper than `MAX_DEPTH`; the other one takes an object with
//! its own word for a number inside to be that number.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use mote_fuzz::mutate::mutate;
use protocol_core::json::{Json, Kind, MAX_DEPTH, Sink, Text, compact, escape, separate, simplify};
use serde_json::{Map, Number, Value};

/// What serde_json calls a number of any precision inside.
const THEIR_NUMBER: &[u8] = b"$serde_json";

fuzz_target!(|bytes: &[u8]| {
    let theirs = serde_json::from_slice::<Value>(bytes);
    let ours = Json::parse(bytes);
    match (ours, &theirs) {
        (Ok(ours), Ok(theirs)) => {
            let differs = bytes.windows(THEIR_NUMBER.len()).any(|window| window == THEIR_NUMBER);
            assert!(differs || understood(ours) == *theirs);
            walk(ours);
        }
        (Ok(ours), Err(error)) => panic!("we take what is no JSON: {error}: {}", ours.raw()),
        (Err(error), Ok(_)) => assert!(depth(bytes) > MAX_DEPTH, "we refuse JSON: {error}"),
        (Err(error), Err(_)) => assert!(error.at <= bytes.len()),
    }
    if let Ok(text) = str::from_utf8(bytes) {
        let written = format!("\"{}\"", collect(|sink| escape(text, sink)));
        let read = Json::parse(written.as_bytes()).expect("what we escape is JSON");
        assert!(read.text().is_some_and(|read| read.is(text)));
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed, |bytes, _| (0, bytes.len()))
});

/// Writes a value in every way we have, and reads it again.
fn walk(value: Json<'_>) {
    let meaning = understood(value);
    let small = collect(|sink| compact(value, sink));
    let again = Json::parse(small.as_bytes()).expect("what we write is JSON");
    assert_eq!(understood(again), meaning);
    assert_eq!(collect(|sink| compact(again, sink)), small, "compact text does not stay as it is");
    assert!(!small.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']), "a line break in {small:?}");

    let separated = collect(|sink| separate(value.raw(), sink));
    assert_eq!(understood(Json::parse(separated.as_bytes()).expect("what we write is JSON")), meaning);

    let simple = collect(|sink| simplify(value, sink));
    let simple = Json::parse(simple.as_bytes()).expect("what we write is JSON");
    assert!(same_but_zeros(&understood(simple), &meaning), "{} became {}", value.raw(), simple.raw());

    if let Some(number) = value.integer() {
        let digits = value.raw().split('.').next().unwrap_or_default();
        assert_eq!(digits.parse(), Ok(number), "{}", value.raw());
    }
    assert_eq!(value.member("a").map(Json::raw), value.members().find(|(name, _)| name.is("a")).map(|(_, a)| a.raw()));
}

/// What our reader takes a text for.
fn understood(json: Json<'_>) -> Value {
    let text = |text: Text<'_>| text.chars().collect::<String>();
    match json.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(json.bool() == Some(true)),
        Kind::Number => Value::Number(json.raw().parse::<Number>().expect("a number")),
        Kind::String => Value::String(json.text().map(text).unwrap_or_default()),
        Kind::Array => Value::Array(json.items().map(understood).collect()),
        Kind::Object => {
            Value::Object(json.members().map(|(name, member)| (text(name), understood(member))).collect::<Map<_, _>>())
        }
    }
}

/// The same value, where `2.0` may have become `2`.
fn same_but_zeros(simple: &Value, given: &Value) -> bool {
    match (simple, given) {
        (Value::Number(simple), Value::Number(given)) => {
            let (simple, given) = (simple.to_string(), given.to_string());
            let zeros = given.strip_prefix(&simple).unwrap_or("?");
            simple == given || zeros.strip_prefix('.').is_some_and(|zeros| zeros.bytes().all(|zero| zero == b'0'))
        }
        (Value::Array(simple), Value::Array(given)) => {
            simple.len() == given.len() && simple.iter().zip(given).all(|(simple, given)| same_but_zeros(simple, given))
        }
        (Value::Object(simple), Value::Object(given)) => {
            simple.len() == given.len()
                && simple
                    .iter()
                    .zip(given)
                    .all(|(simple, given)| simple.0 == given.0 && same_but_zeros(simple.1, given.1))
        }
        _ => simple == given,
    }
}

fn collect(write: impl FnOnce(&mut dyn Sink)) -> String {
    let mut text = String::new();
    write(&mut |piece: &str| text.push_str(piece));
    text
}

/// How deep a text nests that is JSON. (Not their value: of two members of one name it has only the last.)
fn depth(text: &[u8]) -> u32 {
    let (mut deepest, mut depth, mut in_string, mut escaped) = (0, 0u32, false, false);
    for byte in text {
        match byte {
            b'"' if !escaped => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
        escaped = *byte == b'\\' && !escaped;
        deepest = deepest.max(depth);
    }
    deepest
}
