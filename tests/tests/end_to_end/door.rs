//! Who gets in: nobody without a token, where the board is shut.

use serde_json::{Value, json};

use crate::{
    board::{Board, envelope},
    talk::{ALL, Method, V1_0, say},
};

/// A request as a stranger sends it.
fn of_a_stranger(request: &str) -> String {
    let lines = request.split_inclusive("\r\n").filter(|line| !line.starts_with("Authorization: "));
    lines.collect()
}

#[test]
fn a_stranger_sees_the_card_and_nothing_else() {
    let board = Board::take();
    if !board.is_shut() {
        return;
    }
    for (path, status) in [("/.well-known/agent-card.json", 200), ("/", 200), ("/status", 401)] {
        let answer = board.exchange(&of_a_stranger(&board.get_request(path, "")));
        assert_eq!(answer.status, status, "{path}: {answer:?}");
    }
    for dialect in ALL {
        let request = board.call_request(dialect, Method::Send, &dialect.params(&say("read temperature")));
        let answer = board.exchange(&of_a_stranger(&request));
        assert_eq!(answer.status, 401, "{answer:?}");
        assert!(answer.field("www-authenticate").is_some() && answer.body.contains("\"error\""), "{answer:?}");
        let guess = of_a_stranger(&request).replacen("\r\n", "\r\nAuthorization: Bearer a-guess-at-a-token\r\n", 1);
        assert_eq!(board.exchange(&guess).status, 401);
    }
}

#[test]
fn who_is_known_gets_a_card_with_all_that_it_may_use() {
    let board = Board::take();
    if !board.is_shut() {
        return;
    }
    let public = board.exchange(&board.get_request("/.well-known/agent-card.json", ""));
    let public: Value = serde_json::from_str(&public.body).expect("JSON");
    for scheme in ["bearer", "apiKey", "basic"] {
        assert!(public["securitySchemes"][scheme].is_object(), "{public}");
    }
    let request = board.post_request(&envelope("GetExtendedAgentCard", &json!({})), V1_0.headers());
    let answer: Value = serde_json::from_str(&board.exchange(&request).body).expect("JSON");
    let ids: Vec<_> = answer["result"]["skills"].as_array().expect("skills").iter().map(|skill| &skill["id"]).collect();
    assert!(ids.contains(&&json!("reboot")) && ids.len() > public["skills"].as_array().expect("skills").len());
}
