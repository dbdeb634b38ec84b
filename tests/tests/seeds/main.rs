//! Every JSON example of the documents this project began with: requests are answered as they say, everything else has
//! the shape of something that we send. The files are in `tests/golden/seeds`, see the README there.

mod exceptions;
mod mirror;
mod shape;
mod vector;

use mote_tests::world::{PROFILE, World};
use protocol_core::{Inbound, Profile, Served, json::Json, push::Challenge};
use serde_json::{Value, json};

use exceptions::EXCEPTIONS;
use mirror::Mirror;
use vector::{Vector, all};

const TAKES_ALL: Profile<'static> = Profile { input_modes: &["*/*"], ..PROFILE };

fn world(agent: Mirror) -> World {
    World::pushing_as::<_, 4, 512, 4, 1>(agent, TAKES_ALL, Challenge::ByDialect, None)
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn every_request_is_answered_as_it_says() {
    let (mut requests, mut served) = (0, 0);
    for vector in all().iter().filter(|vector| vector.kind == "request") {
        requests += 1;
        let mut world = world(Mirror::saying("done"));
        let inbound = Inbound { body: vector.body.as_bytes(), ..Inbound::GUEST };
        let client = world.request(&inbound, 64);
        assert!(client.has_ended(), "{}: {}", vector.name, client.text());
        let answers = if client.is_stream { client.events() } else { vec![client.text()] };
        let id = serde_json::from_str::<Value>(&vector.body).map_or(Value::Null, |request| request["id"].clone());
        for answer in &answers {
            let answer = value(answer);
            assert_eq!(answer["id"], id, "{}", vector.name);
            let code = match vector.expect.as_str() {
                "served" => {
                    assert!(answer.get("result").is_some(), "{}: {answer}", vector.name);
                    continue;
                }
                "error:TaskNotFound" => -32001,
                "error:InvalidParams" => -32602,
                "error:Parse" => -32700,
                other => panic!("{}: what is {other}?", vector.name),
            };
            assert_eq!(answer["error"]["code"], code, "{}: {answer}", vector.name);
        }
        served += usize::from(vector.expect == "served");
        assert_eq!(world.node.limits().tasks.used, u32::from(vector.expect == "served"), "{}", vector.name);
    }
    assert_eq!((requests, served), (41, 17));
}

#[test]
fn every_example_is_json_to_our_reader() {
    let mut read = 0;
    for vector in all().iter().filter(|vector| vector.expect != "error:Parse") {
        for document in vector.documents() {
            let parsed = Json::parse(document.as_bytes());
            assert!(parsed.is_ok(), "{}: {parsed:?}", vector.name);
            read += 1;
        }
    }
    assert!(read > 86, "read {read} only");
}

/// Something that we send in the same place.
fn ours(vector: &Vector, request: Option<&Vector>) -> Vec<Value> {
    match vector.kind.as_str() {
        "card" => vec![card_like(&value(&vector.body))],
        "fragment" => fragment_like(vector),
        "response" | "stream" => answers_like(vector, request.unwrap_or_else(|| panic!("{}: no request", vector.name))),
        _ => Vec::new(),
    }
}

/// Answers to the request before it, by an agent that does what the example shows.
fn answers_like(vector: &Vector, request: &Vector) -> Vec<Value> {
    let examples: Vec<Value> = vector.documents().iter().map(|text| value(text)).collect();
    let request = request.served();
    let mut world = world(Mirror::of(&examples));
    let method = request["method"].as_str().unwrap_or_default();
    let about_push = method.starts_with("tasks/pushNotification/");
    if about_push || matches!(method, "tasks/get" | "tasks/cancel" | "tasks/resubscribe") {
        let id = &request["params"]["id"];
        let parts = json!([{"type": "text", "text": "go"}]);
        let send = json!({"jsonrpc": "2.0", "id": 0, "method": "tasks/send", "params": {"id": id, "message": {"role": "user", "parts": parts}}});
        world.post(&send.to_string());
    }
    if method == "tasks/pushNotification/get" {
        // What is shown is what was set.
        let params = &examples[0]["result"];
        let set = json!({"jsonrpc": "2.0", "id": 0, "method": "tasks/pushNotification/set", "params": params});
        world.ask(&set.to_string());
    }
    let client = world.post(&request.to_string());
    world.advance(100_000);
    assert!(client.has_ended(), "{}: {}", vector.name, client.text());
    let answers = if client.is_stream { client.events() } else { vec![client.text()] };
    answers.iter().map(|text| value(text)).collect()
}

/// The card of an agent that says the same about itself.
fn card_like(example: &Value) -> Value {
    let world = World::with::<_, 1, 8, 1, 1>(Mirror::saying("done"), Served::ALL, mirror::profile_of(example));
    value(&mirror::card_of(&world, "example.com"))
}

/// The place that a fragment was taken from.
fn fragment_like(vector: &Vector) -> Vec<Value> {
    let card = card_like(&Value::Null);
    match vector.name.as_str() {
        "001/001-card-capabilities" => vec![card],
        "002/001-modes-default" | "002/002-input-modes" => vec![card["defaultInputModes"].clone()],
        "002/003-output-modes" => vec![card["defaultOutputModes"].clone()],
        "002/004-tags-two" | "002/005-tags-three" => vec![card["skills"][0]["tags"].clone()],
        "002/006-examples" => vec![card["skills"][0]["examples"].clone()],
        "002/011-get-params" => {
            let get = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": value(&vector.body)});
            let mut world = world(Mirror::saying("done"));
            assert_eq!(value(&world.ask(&get.to_string()))["error"]["code"], -32001);
            vec![value(&vector.body)]
        }
        "002/024-file-bytes" => {
            let parts = json!([{"type": "file", "file": {"bytes": "aGk="}}]);
            let params = json!({"id": "t", "historyLength": 1, "message": {"role": "user", "parts": parts}});
            let send = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": params});
            let answer = value(&world(Mirror::saying("done")).ask(&send.to_string()));
            vec![answer["result"]["history"][0]["parts"][0]["file"].clone()]
        }
        _ => Vec::new(),
    }
}

#[test]
fn everything_else_has_the_shape_of_something_we_send() {
    let vectors = all();
    let mut used = vec![false; EXCEPTIONS.len()];
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (index, vector) in vectors.iter().enumerate().filter(|(_, vector)| vector.expect == "shape") {
        let request = vectors[..index].iter().rev().find(|before| before.kind == "request");
        let found: Vec<String> = ours(vector, request).iter().flat_map(shape::paths).collect();
        for document in vector.documents() {
            for path in shape::paths(&value(&document)) {
                compared += 1;
                if found.contains(&path) {
                    continue;
                }
                let excused = EXCEPTIONS.iter().position(|exception| exception.covers(&vector.name, &path));
                match excused {
                    Some(exception) => used[exception] = true,
                    None => wrong.push(format!("{}: nothing of ours has {path}", vector.name)),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 500, "compared {compared} members only");
    for (exception, used) in EXCEPTIONS.iter().zip(used) {
        assert!(used, "no longer needed: {exception:?}");
    }
}
