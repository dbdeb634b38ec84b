//! Our reader of JSON against another one: the same texts are JSON, and they mean the same.

use mote_tests::{
    corpus,
    random::{Random, with_seeds},
};
use protocol_core::json::{Json, Kind, MAX_DEPTH};
use serde_json::{Map, Value};

use crate::{make, mutations::mutate};

/// What our reader takes a text for.
fn understood(json: Json<'_>) -> Value {
    let text = |text: protocol_core::json::Text<'_>| text.chars().collect::<String>();
    match json.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(json.bool() == Some(true)),
        Kind::Number => Value::Number(make::number(json.raw())),
        Kind::String => Value::String(json.text().map(text).unwrap_or_default()),
        Kind::Array => Value::Array(json.items().map(understood).collect()),
        Kind::Object => {
            Value::Object(json.members().map(|(name, member)| (text(name), understood(member))).collect::<Map<_, _>>())
        }
    }
}

fn agree(bytes: &[u8]) {
    let theirs = serde_json::from_slice::<Value>(bytes);
    let shown = String::from_utf8_lossy(bytes);
    match (Json::parse(bytes), theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(understood(ours), theirs, "{shown}"),
        (Err(_), Err(_)) => {}
        (Err(error), Ok(theirs)) => {
            assert!(depth(&theirs) > MAX_DEPTH as usize, "we refuse {shown}: {error}");
        }
        (Ok(_), Err(error)) => panic!("we take {shown}: {error}"),
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[test]
fn what_is_json_to_us_is_json_to_others_and_means_the_same() {
    let corpus = corpus::requests();
    for text in &corpus {
        agree(text.as_bytes());
    }
    with_seeds(4000, |random| {
        let value = make::json(random, 6);
        let text = make::write(random, &value);
        assert_eq!(serde_json::from_str::<Value>(&text).ok().as_ref(), Some(&value), "{text}");
        agree(text.as_bytes());
        let mut bytes = if random.once_in(2) { text } else { random.pick(&corpus).clone() }.into_bytes();
        for _ in 0..1 + random.below(3) {
            mutate(random, &mut bytes, &corpus);
            agree(&bytes);
        }
    });
}

#[test]
fn texts_made_of_json_tokens_only_are_judged_alike() {
    const TOKENS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"\\u00e9\"",
        "\\",
        "\\u",
        "d83d",
        "\\ude00",
        "\\ud83d\\ude00",
        "null",
        "true",
        "false",
        "nul",
        "0",
        "-",
        "1",
        ".",
        "e",
        "E+",
        "00",
        "1.5",
        " ",
        "\n",
        "\u{b}",
        "\u{a0}",
        "\u{7f}",
        "\u{0}",
        "'",
        "/",
        "é",
        "\u{feff}",
        "NaN",
        "Infinity",
        "//",
    ];
    with_seeds(20_000, |random: &mut Random| {
        let text: String = (0..1 + random.below(8)).map(|_| *random.pick(TOKENS)).collect();
        agree(text.as_bytes());
    });
}

#[test]
fn depth_is_judged_alike_up_to_our_limit() {
    for depth in 1..80 {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        agree(format!("{open}{close}").as_bytes());
        agree(format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)).as_bytes());
        assert_eq!(Json::parse(format!("{open}{close}").as_bytes()).is_ok(), depth <= MAX_DEPTH as usize);
    }
}
