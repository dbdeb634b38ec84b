//! What is wrong with a request is said in words, and harms nobody.

use serde_json::{Value, json};

use crate::{
    board::{Board, envelope},
    talk::{ALL, Method, V1_0, say},
};

/// Asks for something that must work, whatever was before.
fn assert_serves(board: &Board) {
    let answer = board.exchange(&board.get_request("/.well-known/agent-card.json", ""));
    assert_eq!(answer.status, 200);
}

/// The error of a JSON-RPC answer.
fn error_of(body: &str) -> (Value, i64, String) {
    let json: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error} in {body}"));
    assert_eq!((&json["jsonrpc"], json.get("result")), (&json!("2.0"), None), "{json}");
    let message = json["error"]["message"].as_str().expect("a message").to_owned();
    (json["id"].clone(), json["error"]["code"].as_i64().expect("a code"), message)
}

#[test]
fn what_is_no_request_is_answered_with_the_code_of_json_rpc() {
    let board = Board::take();
    let deep = |count: usize| format!("{}{}", "[".repeat(count), "]".repeat(count));
    let mut client = board.connect();
    for (body, id, code) in [
        ("".to_owned(), Value::Null, -32700),
        ("{".to_owned(), Value::Null, -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"7\",\"method\":".to_owned(), Value::Null, -32700),
        ("nonsense".to_owned(), Value::Null, -32700),
        ("{\"a\":\"\u{1}\"}".to_owned(), Value::Null, -32700),
        (deep(2000), Value::Null, -32700),
        ("[".repeat(4000), Value::Null, -32700),
        ("{\"a\":".repeat(800), Value::Null, -32700),
        (
            format!(r#"{{"jsonrpc":"2.0","id":"7","method":"GetTask","params":{{"x":{}}}}}"#, deep(500)),
            Value::Null,
            -32700,
        ),
        ("[]".to_owned(), Value::Null, -32600),
        ("7".to_owned(), Value::Null, -32600),
        (r#"{"jsonrpc":"2.0","id":"7"}"#.to_owned(), json!("7"), -32600),
        (r#"{"jsonrpc":"2.0","id":"7","method":7}"#.to_owned(), json!("7"), -32600),
        (r#"{"jsonrpc":"2.0","id":"7","method":"Dance"}"#.to_owned(), json!("7"), -32601),
        (r#"{"jsonrpc":"2.0","id":"7","method":"message/dance","params":{}}"#.to_owned(), json!("7"), -32601),
    ] {
        // Each on the same connection: the next request begins where this one ends.
        let answer = client.send(board.post_request(&body, "")).answer();
        assert_eq!(answer.status, 200, "{body}");
        let (said, got, message) = error_of(&answer.body);
        assert_eq!((&said, got), (&id, code), "{body}: {message}");
    }
    assert_serves(&board);
}

#[test]
fn wrong_parameters_are_named() {
    let board = Board::take();
    for dialect in ALL {
        let mut without_parts = dialect.params(&say("read temperature"));
        without_parts["message"]["parts"] = json!([]);
        let mut wrong_role = dialect.params(&say("read temperature"));
        wrong_role["message"]["role"] = json!("cook");
        let mut wrong_part = dialect.params(&say("read temperature"));
        wrong_part["message"]["parts"][0] = json!({"text": 7, "kind": "text", "type": "text"});
        for (method, params, member) in [
            (Method::Get, json!({}), "id"),
            (Method::Get, json!({"id": 7}), "id"),
            (Method::Cancel, json!([]), "params"),
            (Method::Send, json!({}), ""),
            (Method::Send, without_parts, "parts"),
            (Method::Send, wrong_role, "role"),
            (Method::Send, wrong_part, "parts"),
        ] {
            let refusal = board.call(dialect, method, &params).expect_err("wrong parameters");
            assert_eq!(refusal.code, -32602, "{dialect:?} {params}: {refusal:?}");
            assert!(refusal.message.contains(member), "{dialect:?} {params}: {refusal:?}");
        }
    }
}

#[test]
fn what_is_not_there_is_refused_as_each_dialect_has_it() {
    let board = Board::take();
    // The extended card is for who is known, and at an open door nobody is.
    let of_a_guest =
        [("GetExtendedAgentCard", json!({}), -32004), ("agent/getAuthenticatedExtendedCard", json!({}), -32007)];
    let push = [
        ("CreateTaskPushNotificationConfig", json!({"taskId": "x", "url": "https://example.com/"}), -32001),
        ("tasks/pushNotificationConfig/get", json!({"id": "x"}), -32001),
        ("tasks/pushNotification/get", json!({"id": "x"}), -32001),
    ];
    for (method, params, code) in of_a_guest.into_iter().filter(|_| !board.is_shut()).chain(push) {
        let body = envelope(method, &params);
        let (_, got, message) = error_of(&board.exchange(&board.post_request(&body, "")).body);
        assert_eq!(got, code, "{method}: {message}");
    }
}

#[test]
fn a_request_that_does_not_say_where_it_ends_is_refused_and_the_connection_closed() {
    let board = Board::take();
    let post = |headers: &str, body: &str| {
        format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}\r\n{body}")
    };
    for (request, status) in [
        (post("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), 411),
        (post("Content-Length: 2\r\nContent-Length: 3\r\n", "{} "), 400),
        (post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), 400),
        (post("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400),
        (post("Content-Length: two\r\n", "{}"), 400),
        (post("Content-Length: -2\r\n", "{}"), 400),
        ("\u{1}\u{2}garbage\r\n\r\n".to_owned(), 400),
        ("GET\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nno header\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/7.0\r\nHost: localhost\r\n\r\n".to_owned(), 505),
        (format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(1000)), 414),
        (format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(4000)), 431),
    ] {
        let mut client = board.connect();
        let answer = client.send(&request).answer();
        assert_eq!(answer.status, status, "{request}");
        answer.assert_last();
        client.assert_closed();
        assert_serves(&board);
    }
}

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let board = Board::take();
    let too_large = format!("{{{}}}", " ".repeat(9_000));
    let announced = board.post_request("", "").replace("Content-Length: 0", "Content-Length: 2000000000");
    for request in [board.post_request(&too_large, ""), announced] {
        let mut client = board.connect();
        let answer = client.send(&request).answer();
        assert_eq!(answer.status, 413);
        let (id, code, _) = error_of(&answer.body);
        assert_eq!((id, code), (Value::Null, -32600));
        answer.assert_last();
        client.assert_closed();
        assert_serves(&board);
    }
    // What just fits is read.
    assert!(board.send(V1_0, &say(&"x".repeat(7_500))).is_ok());
}

#[test]
fn paths_methods_and_types_that_are_not_there_are_told_apart() {
    let board = Board::take();
    let mut client = board.connect();
    for (request, status) in [
        (board.get_request("/nowhere", ""), 404),
        (board.get_request("/.well-known/agent-card.json", "").replacen("GET", "DELETE", 1), 405),
        (board.post_request("{}", "").replace("application/json", "text/plain"), 415),
        (board.get_request("/", ""), 200),
    ] {
        assert_eq!(client.send(&request).answer().status, status, "{request}");
    }
}
