//! The card: who is there, what it can do, in words that clients of every version understand.

use serde_json::{Value, json};

use crate::board::Board;

const PATHS: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

#[test]
fn it_is_at_both_paths_and_tells_clients_of_every_version_where_to_go() {
    let board = Board::take();
    let [answer, old] = PATHS.map(|path| board.exchange(&board.get_request(path, "")));
    assert_eq!((answer.status, answer.field("content-type")), (200, Some("application/json")));
    assert_eq!((old.status, &old.body), (200, &answer.body));
    let card: Value = serde_json::from_str(&answer.body).expect("JSON");
    let url = board.url();
    // 1.0
    for (interface, version) in card["supportedInterfaces"].as_array().expect("interfaces").iter().zip(["1.0", "0.3"]) {
        let expected = json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": version});
        assert_eq!(interface, &expected);
    }
    // Before.
    assert_eq!((&card["url"], &card["preferredTransport"]), (&json!(url), &json!("JSONRPC")));
    assert_eq!(card["protocolVersion"], "0.3.0");
    for name in ["name", "description", "version"] {
        assert!(card[name].as_str().is_some_and(|text| !text.is_empty()), "{name}: {card}");
    }
    assert_eq!(
        (&card["capabilities"]["streaming"], &card["defaultInputModes"][0]),
        (&json!(true), &json!("text/plain"))
    );
    assert!(card["defaultOutputModes"].as_array().is_some_and(|modes| modes.contains(&json!("text/csv"))));
}

#[test]
fn it_names_the_skills_and_none_that_are_for_operators() {
    let board = Board::take();
    let answer = board.exchange(&board.get_request(PATHS[0], ""));
    let card: Value = serde_json::from_str(&answer.body).expect("JSON");
    let skills = card["skills"].as_array().expect("skills");
    let ids: Vec<_> = skills.iter().filter_map(|skill| skill["id"].as_str()).collect();
    assert_eq!(ids, ["read", "watch", "alert", "calibrate", "report", "set"]);
    for skill in skills {
        for name in ["name", "description"] {
            assert!(skill[name].as_str().is_some_and(|text| !text.is_empty()), "{skill}");
        }
        for name in ["tags", "examples"] {
            assert!(skill[name].as_array().is_some_and(|list| !list.is_empty()), "{skill}");
        }
    }
    assert!(!answer.body.contains("reboot") && !answer.body.contains("wifi"), "{}", answer.body);
}

#[test]
fn it_is_not_sent_again_to_a_client_that_has_it() {
    let board = Board::take();
    for path in PATHS {
        let full = board.exchange(&board.get_request(path, ""));
        let tag = full.field("etag").expect("an ETag");
        assert!(full.field("cache-control").is_some_and(|value| value.contains("max-age=")), "{}", full.head);
        let mut client = board.connect();
        for (condition, status) in [(tag, 304), ("\"another\"", 200), (&format!("\"another\", W/{tag}"), 304)] {
            let answer = client.send(board.get_request(path, &format!("If-None-Match: {condition}\r\n"))).answer();
            assert_eq!((answer.status, answer.field("etag")), (status, Some(tag)), "{condition}");
            assert_eq!(answer.body.is_empty(), status == 304);
        }
        let head = client.send(board.get_request(path, "").replacen("GET", "HEAD", 1)).head_only();
        assert_eq!((head.status, head.field("etag")), (200, Some(tag)));
        // Nothing was left behind.
        assert_eq!(client.send(board.get_request(path, "")).answer().body, full.body);
    }
}

#[test]
fn the_keys_that_notifications_are_signed_with_are_there_for_everybody() {
    let board = Board::take();
    let request = board.get_request("/.well-known/jwks.json", "");
    let of_a_stranger = request.lines().filter(|line| !line.starts_with("Authorization"));
    let answer = board.exchange(&of_a_stranger.map(|line| format!("{line}\r\n")).collect::<String>());
    assert_eq!((answer.status, answer.field("content-type")), (200, Some("application/json")));
    assert!(
        answer.field("cache-control").is_some_and(|value| value.starts_with("public, max-age=")),
        "{}",
        answer.head
    );
    let set: Value = serde_json::from_str(&answer.body).expect("JSON");
    let keys = set["keys"].as_array().expect("keys");
    assert!((1..=2).contains(&keys.len()), "{set}");
    for key in keys {
        let fixed = [&key["kty"], &key["crv"], &key["use"], &key["alg"]];
        assert_eq!(fixed, [&json!("EC"), &json!("P-256"), &json!("sig"), &json!("ES256")]);
        // 32 bytes each, and nothing that is for the device alone.
        for name in ["kid", "x", "y"] {
            assert_eq!(key[name].as_str().map(str::len), Some(43), "{name}: {key}");
        }
        assert_eq!(key.as_object().map(serde_json::Map::len), Some(7), "{key}");
    }
}
