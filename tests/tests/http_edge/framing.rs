//! Where a request ends, and what happens to one that does not say so clearly.

use crate::{
    client::{Framing, call, get},
    server::Server,
};

/// A request that must never be answered: it stands where a bad request's body is.
const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: mote.local\r\n\r\n";

/// Says what the refusal said.
fn refused(request: &str, status: u16) -> String {
    let server = Server::start();
    let mut client = server.connect();
    client.send(request).send(SMUGGLED);
    let answer = client.answer();
    assert_eq!(answer.status, status, "{request:?} got {}", answer.head);
    answer.assert_last();
    client.assert_closed();
    answer.body
}

#[test]
fn chunked_requests_are_refused_and_what_follows_is_not_read() {
    let body = refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 411);
    assert_eq!(
        body,
        r#"{"error":{"code":411,"status":"INVALID_ARGUMENT","message":"Send a Content-Length: transfer codings are not decoded"}}"#
    );
}

#[test]
fn two_ways_to_end_a_body_are_refused() {
    refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
    refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", 400);
}

#[test]
fn bad_lengths_are_refused() {
    for length in ["abc", "-1", "+5", "5, 5", "", "0x5"] {
        refused(&format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"), 400);
    }
    refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", 400);
    refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 48\r\n\r\n", 400);
}

#[test]
fn bad_heads_are_refused() {
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        ("GET /\r\n\r\n", 400),
        ("\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}", 400),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ] {
        refused(request, status);
    }
}

#[test]
fn heads_and_targets_have_a_limit() {
    let long = "x".repeat(600);
    let body = refused(&format!("GET /{long} HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
    assert!(body.contains("too long"), "{body}");
    let long = "x".repeat(3000);
    let body = refused(&format!("GET / HTTP/1.1\r\nHost: a\r\nX: {long}\r\n\r\n"), 431);
    assert!(body.contains("head is too large"), "{body}");
    refused(&format!("{long}{long} / HTTP/1.1\r\nHost: a\r\n\r\n"), 431);
}

#[test]
fn large_bodies_are_refused_with_an_error_that_a_json_rpc_client_understands() {
    for length in ["65537", "1000000000", "18446744073709551615", "99999999999999999999999"] {
        let body = refused(
            &format!(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
            ),
            413,
        );
        assert_eq!(
            body,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Request body is larger than 65536 bytes"}}"#
        );
    }
}

#[test]
fn a_client_that_goes_on_sending_still_gets_the_refusal() {
    let server = Server::start();
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n");
    client.send(vec![b'x'; 2_000_000]);
    assert_eq!(client.answer().status, 413);
    client.assert_closed();
}

#[test]
fn an_early_answer_does_not_make_a_request_of_the_body() {
    // Nobody reads these bodies, and each is a request in itself.
    let server = Server::start();
    for head in [
        "POST /nowhere HTTP/1.1\r\nHost: a\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\n",
        "GET /.well-known/agent-card.json HTTP/1.1\r\nHost: a\r\n",
        "DELETE / HTTP/1.1\r\nHost: a\r\n",
    ] {
        let mut client = server.connect();
        let request = format!("{head}Content-Length: {}\r\n\r\n{SMUGGLED}", SMUGGLED.len());
        client.send(&request);
        let first = client.answer();
        client.send(call("{}"));
        assert_eq!(client.answer().status, 200, "after {}", first.head);

        // In two pieces, cut in the body.
        let (before, after) = request.split_at(request.len() - 20);
        client.send(before).send(after).send(call("{}"));
        assert_eq!(client.answer().status, first.status);
        assert_eq!(client.answer().status, 200);
    }
}

#[test]
fn a_large_body_that_nobody_wants_ends_the_connection() {
    let server = Server::start();
    let mut client = server.connect();
    let body = SMUGGLED.repeat(400);
    client.send(format!("POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}{SMUGGLED}", body.len()));
    let answer = client.answer();
    assert_eq!(answer.status, 404);
    answer.assert_last();
    client.assert_closed();
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::start();
    let mut client = server.connect();
    let large = format!("{{{}}}", " ".repeat(9_000));
    let requests = [
        call("{}"),
        get("/.well-known/agent.json"),
        call(&large),
        call(r#"{"do":"stream","n":2}"#),
        get("/nowhere"),
        call(r#"{"do":"document","n":5000}"#),
        call("{ }"),
    ];
    for _ in 0..3 {
        client.send(requests.concat());
        assert!(client.answer().body.starts_with("length=2 "));
        assert!(client.answer().body.contains("toy"));
        assert!(client.answer().body.starts_with("length=9002 "));
        assert_eq!(client.answer().framing, Framing::Chunked);
        assert_eq!(client.answer().status, 404);
        assert_eq!(client.answer().body.len(), 5000);
        assert!(client.answer().body.starts_with("length=3 "));
    }
}

#[test]
fn a_good_request_before_a_bad_one_is_answered() {
    let server = Server::start();
    let mut client = server.connect();
    client.send(format!("{}{}BAD\r\n\r\n{SMUGGLED}", call("{}"), get("/")));
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.answer().status, 200);
    let answer = client.answer();
    assert_eq!(answer.status, 400);
    answer.assert_last();
    client.assert_closed();
}

#[test]
fn nothing_is_answered_behind_the_last_answer() {
    let server = Server::with(|settings| settings.limits.requests = 2);
    let mut client = server.connect();
    client.send([get("/"), get("/"), get("/"), call("{}"), SMUGGLED.into()].concat());
    assert_eq!(client.answer().field("connection"), Some("keep-alive"));
    client.answer().assert_last();
    client.assert_closed();
}

#[test]
fn one_byte_at_a_time_is_enough() {
    let server = Server::start();
    let mut client = server.connect();
    client.send_one_by_one(call(r#"{"do":"stream","n":2}"#));
    assert_eq!(client.answer().status, 200);
    client.send_one_by_one(call(&format!("{{{}}}", " ".repeat(3000))));
    assert!(client.answer().body.starts_with("length=3002 "));
    client.send_one_by_one("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5");
    assert_eq!(client.answer().status, 400);
    client.assert_closed();
}

#[test]
fn a_request_that_ends_early_is_answered() {
    let server = Server::start();
    let request = call("{ }");
    for end in 1..request.len() {
        let mut client = server.connect();
        client.send(&request[..end]).half_close();
        let answer = client.answer();
        assert_eq!(answer.status, 400, "{:?}", &request[..end]);
        client.assert_closed();
    }
    let mut client = server.connect();
    client.send(format!("{}half", call("{}").replace("Length: 2", "Length: 9000"))).half_close();
    let answer = client.answer();
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("ended before its Content-Length"), "{}", answer.body);
    client.assert_closed();
}

#[test]
fn a_client_that_says_nothing_gets_nothing() {
    let server = Server::start();
    let mut client = server.connect();
    client.half_close().assert_closed();
    let mut client = server.connect();
    client.send("\r\n\r\n").half_close().assert_closed();
}

#[test]
fn half_closed_clients_get_all_of_their_answer() {
    let server = Server::start();
    for (body, framing) in [
        ("{}", Framing::Length),
        (r#"{"do":"document","n":200000}"#, Framing::Chunked),
        (r#"{"do":"stream","n":500}"#, Framing::Chunked),
    ] {
        let mut client = server.connect();
        client.send(call(body)).half_close();
        let answer = client.answer();
        assert_eq!((answer.status, answer.framing), (200, framing));
        client.assert_closed();

        let mut client = server.connect();
        client.send(call(body).replace("HTTP/1.1", "HTTP/1.0")).half_close();
        let old = client.answer();
        assert_eq!(old.body, answer.body);
    }
}

#[test]
fn a_body_is_asked_for_when_it_is_wanted() {
    let server = Server::start();
    for length in [2, 9000] {
        let mut client = server.connect();
        let request =
            call(&format!("{{{}}}", " ".repeat(length - 2))).replace("Host:", "Expect: 100-Continue\r\nHost:");
        let (head, body) = request.split_at(request.len() - length);
        client.send(head);
        assert_eq!(client.answer().status, 100);
        client.send(body);
        assert!(client.answer().body.starts_with(&format!("length={length} ")));
        client.send(call("{}"));
        assert_eq!(client.answer().status, 200);
    }
}

#[test]
fn a_body_is_not_asked_for_when_it_is_not_wanted() {
    let server = Server::start();
    for (head, status) in [
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9999999", 413),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 5", 415),
        ("POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 5", 404),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5", 405),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked", 411),
    ] {
        let mut client = server.connect();
        client.send(format!("{head}\r\nExpect: 100-continue\r\n\r\n"));
        let answer = client.answer();
        assert_eq!(answer.status, status, "{head}");
        answer.assert_last();
        client.assert_closed();
    }
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(client.answer().status, 417);
}
