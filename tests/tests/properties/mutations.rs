//! Whatever comes in, the answer is well formed, and the node lives on.

use core::task::{Context, Poll, Waker};

use mote_tests::{
    corpus,
    random::{Random, with_seeds},
    script::{Script, send},
    webhook::{FAILED, TAKEN, Webhooks},
    world::{PROFILE, World},
};
use protocol_core::{Inbound, Profile, push::Challenge};
use serde_json::Value;

/// Breaks a body a little.
pub(crate) fn mutate(random: &mut Random, bytes: &mut Vec<u8>, corpus: &[String]) {
    const WORDS: &[&str] = &[
        "null",
        "{}",
        "[]",
        "\"\"",
        "-1",
        "1e999",
        "\\ud800",
        "\\u0000",
        "\u{0}",
        "\u{2028}",
        "\"id\":\"x\",",
        "tasks/get",
        "0.5",
        "true",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "\"",
        "}",
        "]",
        ",",
    ];
    let at = random.below(bytes.len() + 1);
    let until = (at + random.below(20)).min(bytes.len());
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..until)),
        2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        3 if at < bytes.len() => bytes[at] = random.below(256) as u8,
        4 => drop(bytes.splice(at..until, random.pick(WORDS).bytes())),
        5 => {
            let again = bytes[at..until].to_vec();
            drop(bytes.splice(at..at, again));
        }
        6 => {
            let other = random.pick(corpus).as_bytes();
            let from = random.below(other.len() + 1);
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        _ => swap_values(random, bytes),
    }
}

/// Puts a value of the body where another one was: well-formed, and most likely wrong.
fn swap_values(random: &mut Random, bytes: &mut Vec<u8>) {
    let Ok(mut value) = serde_json::from_slice::<Value>(bytes) else { return };
    let count = count(&value);
    let (from, to) = (random.below(count), random.below(count));
    let taken = nth(&mut value, from).map_or(Value::Null, |place| place.clone());
    if let Some(place) = nth(&mut value, to) {
        *place = taken;
    }
    *bytes = value.to_string().into_bytes();
}

fn children(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => Vec::new(),
    }
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

fn nth(value: &mut Value, mut number: usize) -> Option<&mut Value> {
    if number == 0 {
        return Some(value);
    }
    number -= 1;
    for child in children(value) {
        let size = count(child);
        if number < size {
            return nth(child, number);
        }
        number -= size;
    }
    None
}

/// Sends a body and reads what is there at once. Says what it got, and whether that was all.
fn answer(world: &World, inbound: &Inbound<'_>, window: usize) -> (String, bool, bool) {
    let mut reply = world.node.call(inbound);
    let is_stream = reply.is_stream();
    let mut bytes = Vec::new();
    let mut buffer = vec![0; window];
    let ended = loop {
        match reply.poll_fill(&mut Context::from_waker(Waker::noop()), &mut buffer) {
            Poll::Ready(Ok(0)) => break true,
            Poll::Ready(Ok(n)) => bytes.extend_from_slice(&buffer[..n]),
            Poll::Ready(Err(broken)) => panic!("{broken}"),
            Poll::Pending => break false,
        }
    };
    (String::from_utf8(bytes).expect("answers are UTF-8"), is_stream, ended)
}

fn judge(text: &str) {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(value["jsonrpc"], "2.0", "{text}");
    assert!(value.get("id").is_some_and(|id| id.is_null() || id.is_string() || id.is_number()), "{text}");
    assert!(value.get("result").is_some() != value.get("error").is_some(), "{text}");
    assert!(value.get("error").is_none_or(|error| error["code"].is_i64() && error["message"].is_string()), "{text}");
}

#[test]
fn whatever_is_sent_the_answer_is_well_formed() {
    let corpus = corpus::requests();
    let profile = Profile { input_modes: &["*/*"], ..PROFILE };
    let versions = [None, None, Some("1.0"), Some("0.3"), Some("0.1"), Some("9"), Some("")];
    let last_event_ids = [None, None, Some("1"), Some("7"), Some("-1"), Some("99999999999999999999"), Some("é")];
    with_seeds(60, |random| {
        let mut world = World::pushing_as::<_, 6, 128, 3, 2>(Script, profile, Challenge::ByDialect, None);
        let mut chance = random.clone();
        Webhooks::start(&mut world, 2, move |sent| {
            sent.body
                .iter()
                .filter(|_| !sent.is_broken)
                .for_each(|body| drop(serde_json::from_str::<Value>(body).unwrap()));
            *chance.pick(&[TAKEN, TAKEN, FAILED])
        });
        for _ in 0..80 {
            let mut body = random.pick(&corpus).clone().into_bytes();
            for _ in 0..random.below(4) {
                mutate(random, &mut body, &corpus);
            }
            let inbound = Inbound {
                version: *random.pick(&versions),
                last_event_id: *random.pick(&last_event_ids),
                body: &body,
                ..Inbound::GUEST
            };
            let (text, is_stream, ended) = answer(&world, &inbound, 1 + random.below(200));
            if is_stream {
                assert!(text.is_empty() || text.ends_with("\n\n") || text.ends_with(": \n"), "{text}");
                text.lines().filter_map(|line| line.strip_prefix("data: ")).for_each(judge);
            } else if ended {
                judge(&text);
            } else {
                assert_eq!(text.trim(), "", "half an answer: {text}");
            }
            if random.once_in(2) {
                world.advance(random.below(100) as u64);
            }
        }
        // The node lives: it says what it has, every task of it is whole, and nobody waits for anything.
        let (list, _, ended) = answer(&world, &Inbound { body: LIST.as_bytes(), ..Inbound::GUEST }, 100);
        assert!(ended);
        judge(&list);
        assert_eq!(world.node.limits().readers.used, 0);
        let again = world.post(&send("SendMessage", "done", ""));
        if again.has_ended() {
            judge(&again.text());
        }
    });
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"includeArtifacts":true}}"#;

#[test]
fn every_truncation_of_a_request_is_refused_as_one() {
    let mut world = World::new(Script);
    for body in
        corpus::requests().iter().filter(|body| body.starts_with('{') && serde_json::from_str::<Value>(body).is_ok())
    {
        let body = body.trim_end();
        for end in (0..body.len()).step_by(7) {
            let torn = &body.as_bytes()[..end];
            let text = world.request(&Inbound { body: torn, ..Inbound::GUEST }, 256).text();
            judge(&text);
            assert!(text.contains("\"code\":-32700"), "{text}");
        }
    }
    assert_eq!(world.node.limits().tasks.used, 0);
}
