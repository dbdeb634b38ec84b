//! Several clients: none of them can spoil it for the others.

use core::time::Duration;
use std::time::Instant;

use picoserve::time::Duration as Millis;

use crate::{
    client::{Client, call},
    server::Server,
    toy,
};

/// A call whose body does not fit behind its head, cut before the body's end.
fn large_call() -> (String, String) {
    let request = call(&format!("{{{}}}", " ".repeat(10_000)));
    let (head, rest) = request.split_at(request.len() - 5_000);
    (head.into(), rest.into())
}

/// Begins to send a large body and is known to have the buffer for it.
fn hold_a_buffer(server: &Server) -> (Client, String) {
    let (begin, end) = large_call();
    let mut client = server.connect();
    client.send(begin.replace("Host:", "Expect: 100-continue\r\nHost:"));
    assert_eq!(client.answer().status, 100);
    (client, end)
}

#[test]
fn a_slow_reader_holds_nobody_up() {
    let server = Server::start();
    let mut slow = server.connect();
    slow.send(call(r#"{"do":"endless"}"#));
    assert_eq!(slow.head().0, 200);
    let mut other = server.connect();
    for _ in 0..100 {
        other.send(call("{}"));
        assert_eq!(other.answer().status, 200);
    }
    for number in 0..1000 {
        assert_eq!(slow.chunk(), toy::event(number).as_bytes());
    }
}

#[test]
fn a_client_that_resets_in_mid_stream_harms_nobody() {
    let server = Server::with(|settings| settings.connections = 8);
    let mut witness = server.connect();
    witness.send(call(r#"{"do":"quiet","n":1}"#));
    assert_eq!(witness.head().0, 200);
    for _ in 0..50 {
        // Its place comes free as soon as the server has noticed.
        until(|| {
            let mut client = server.connect();
            client.send(call(r#"{"do":"endless"}"#));
            // Data that it does not read makes its close a reset.
            client.head().0 == 200
        });
    }
    assert_eq!(witness.chunk(), toy::event(0).as_bytes());
}

#[test]
fn a_reader_that_stalls_is_cut_off() {
    let server = Server::with(|settings| {
        settings.connections = 1;
        settings.limits.write = Millis::from_millis(50);
    });
    let mut stalled = server.connect();
    stalled.send(call(r#"{"do":"endless"}"#));
    assert_eq!(stalled.head().0, 200);
    until(|| {
        let mut client = server.connect();
        client.send(call("{}"));
        client.answer().status == 200
    });
    stalled.until_reset();
}

#[test]
fn large_bodies_wait_for_each_other() {
    let server = Server::with(|settings| settings.bodies = 1);
    let (mut first, rest) = hold_a_buffer(&server);
    let (begin, end) = large_call();
    let mut second = server.connect();
    second.send(begin).send(end);
    first.send(rest);
    assert!(first.answer().body.starts_with("length=10002 "));
    assert!(second.answer().body.starts_with("length=10002 "));
}

#[test]
fn without_a_buffer_in_time_the_client_is_told_to_come_back() {
    let server = Server::with(|settings| {
        settings.bodies = 1;
        settings.limits.lease = Millis::from_millis(50);
    });
    let (mut first, rest) = hold_a_buffer(&server);
    let (begin, end) = large_call();
    let mut second = server.connect();
    second.send(&begin).send(&end);
    let answer = second.answer();
    assert_eq!((answer.status, answer.field("retry-after")), (503, Some("1")));
    assert!(answer.body.contains(r#""jsonrpc":"2.0","id":null"#), "{}", answer.body);
    answer.assert_last();
    second.assert_closed();
    // Small ones need no buffer.
    let mut small = server.connect();
    small.send(call("{}"));
    assert_eq!(small.answer().status, 200);

    first.send(rest);
    assert_eq!(first.answer().status, 200);
    let mut third = server.connect();
    third.send(begin).send(end);
    assert_eq!(third.answer().status, 200);
}

#[test]
fn a_buffer_comes_back_from_a_client_that_leaves() {
    let server = Server::with(|settings| settings.bodies = 1);
    for _ in 0..5 {
        let (client, _) = hold_a_buffer(&server);
        drop(client);
    }
}

#[test]
fn a_stream_holds_no_buffer() {
    let server = Server::with(|settings| {
        settings.bodies = 1;
        settings.limits.lease = Millis::from_millis(50);
    });
    let mut stream = server.connect();
    stream.send(call(&format!(r#"{{"do":"quiet","n":1{}}}"#, " ".repeat(10_000))));
    assert_eq!(stream.head().0, 200);
    let (begin, end) = large_call();
    let mut other = server.connect();
    other.send(begin).send(end);
    assert_eq!(other.answer().status, 200);
}

#[test]
fn clients_that_come_one_after_the_other_need_one_place_each() {
    let server = Server::with(|settings| settings.connections = 2);
    for _ in 0..200 {
        let mut client = server.connect();
        client.send("GET / HTTP/1.1\r\nHost: mote.local\r\nConnection: close\r\n\r\n");
        assert_eq!(client.answer().status, 200);
        client.assert_closed();
    }
}

#[test]
fn connections_beyond_the_limit_are_told_to_come_back() {
    let server = Server::with(|settings| settings.connections = 2);
    let mut inside: Vec<_> = (0..2).map(|_| server.connect()).collect();
    for client in &mut inside {
        client.send(call("{}"));
        assert_eq!(client.answer().status, 200);
    }
    let mut outside = server.connect();
    outside.send(call("{}"));
    let answer = outside.answer();
    assert_eq!((answer.status, answer.field("retry-after")), (503, Some("1")));
    assert_eq!(answer.field("content-type"), Some("application/json"));
    assert!(answer.body.contains(r#""code":503,"status":"UNAVAILABLE""#), "{}", answer.body);
    answer.assert_last();
    outside.assert_closed();
    for client in &mut inside {
        client.send(call("{}"));
        assert_eq!(client.answer().status, 200);
    }
    inside.pop();
    until(|| {
        let mut client = server.connect();
        client.send(call("{}"));
        client.answer().status == 200
    });
}

#[test]
fn one_address_cannot_have_all_connections() {
    let server = Server::with(|settings| settings.limits.connections_per_address = 2);
    let mut inside: Vec<_> = (0..2).map(|_| server.connect()).collect();
    for client in &mut inside {
        client.send(call("{}"));
        assert_eq!(client.answer().status, 200);
    }
    for _ in 0..10 {
        let mut outside = server.connect();
        outside.send(call("{}"));
        let answer = outside.answer();
        assert_eq!((answer.status, answer.field("retry-after")), (503, Some("1")));
        assert!(answer.body.contains(r#""status":"UNAVAILABLE""#), "{}", answer.body);
        answer.assert_last();
        outside.assert_closed();
    }
    for client in &mut inside {
        client.send(call("{}"));
        assert_eq!(client.answer().status, 200);
    }
    // Who hangs up and comes again at once has its place again.
    for _ in 0..50 {
        drop(inside.pop());
        let mut client = server.connect();
        client.send(call("{}"));
        assert_eq!(client.answer().status, 200);
        inside.push(client);
    }
}

/// Tries until it works, for as long as a test may take.
fn until(mut works: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !works() {
        assert!(Instant::now() < deadline, "it never worked");
        std::thread::yield_now();
    }
}
