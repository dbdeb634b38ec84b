//! What comes back, and how a client knows that it has all of it.

use crate::{
    client::{Framing, call, get},
    server::Server,
    toy,
};

#[test]
fn an_answer_that_fits_has_a_length_and_a_longer_one_has_chunks() {
    let server = Server::start();
    let mut client = server.connect();
    for length in [1, 100, 1023, 1024, 1025, 5000, 200_000] {
        client.send(call(&format!(r#"{{"do":"document","n":{length}}}"#)));
        let answer = client.answer();
        assert_eq!(answer.framing, if length < 1024 { Framing::Length } else { Framing::Chunked }, "{length}");
        assert_eq!(answer.field("content-type"), Some("application/json"));
        assert_eq!(answer.field("connection"), Some("keep-alive"));
        assert_eq!(answer.body, toy::document(length));
    }
}

#[test]
fn a_document_that_pauses_is_not_held_back() {
    let server = Server::start();
    let mut client = server.connect();
    client.send(call(r#"{"do":"pause","n":3}"#));
    let (status, head) = client.head();
    assert_eq!(status, 200);
    assert!(head.contains("Transfer-Encoding: chunked"), "{head}");
    assert_eq!(client.chunk(), toy::document(3).as_bytes());
}

#[test]
fn any_size_of_buffers_gives_the_same_bytes() {
    for (answer_bytes, transmit_bytes) in
        [(64, 128), (100, 130), (1000, 128), (128, 4096), (4096, 2048), (300_000, 1000)]
    {
        let server = Server::with(move |settings| {
            settings.answer_bytes = answer_bytes;
            settings.transmit_bytes = transmit_bytes;
        });
        let mut client = server.connect();
        client.send(call(r#"{"do":"document","n":20000}"#)).send(call(r#"{"do":"stream","n":20}"#));
        assert_eq!(client.answer().body, toy::document(20_000), "{answer_bytes} {transmit_bytes}");
        assert_eq!(client.answer().body, (0..20).map(toy::event).collect::<String>());
    }
}

#[test]
fn an_old_client_reads_until_the_end() {
    let server = Server::start();
    for (body, framing) in [
        ("{}", Framing::Length),
        (r#"{"do":"document","n":200000}"#, Framing::Close),
        (r#"{"do":"stream","n":500}"#, Framing::Close),
    ] {
        let mut client = server.connect();
        client.send(call(body).replace("HTTP/1.1", "HTTP/1.0"));
        let answer = client.answer();
        assert_eq!((answer.status, answer.framing), (200, framing));
        answer.assert_last();
        client.assert_closed();
    }
    let mut client = server.connect();
    client.send("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(client.answer().status, 200);
    client.assert_closed();
}

#[test]
fn a_stream_says_that_it_is_one() {
    let server = Server::start();
    let mut client = server.connect();
    client.send(call(r#"{"do":"stream","n":3}"#));
    let answer = client.answer();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.field("content-type"), Some("text/event-stream"));
    assert_eq!(answer.field("cache-control"), Some("no-cache, no-store"));
    assert_eq!(answer.field("x-accel-buffering"), Some("no"));
    assert_eq!(answer.body, (0..3).map(toy::event).collect::<String>());
    client.send(call("{}"));
    assert_eq!(client.answer().status, 200);
}

#[test]
fn a_stream_that_waits_has_sent_everything() {
    let server = Server::start();
    for count in [0, 1, 3] {
        let mut client = server.connect();
        client.send(call(&format!(r#"{{"do":"quiet","n":{count}}}"#)));
        assert_eq!(client.head().0, 200);
        for number in 0..count {
            assert_eq!(client.chunk(), toy::event(number).as_bytes());
        }
    }
}

#[test]
fn half_a_document_is_not_taken_for_a_whole_one() {
    let server = Server::start();
    let mut client = server.connect();
    client.send(call(r#"{"do":"broken","n":5000}"#));
    assert!(client.until_reset() > 4000);
    let mut client = server.connect();
    client.send(call(r#"{"do":"broken","n":5000}"#).replace("HTTP/1.1", "HTTP/1.0"));
    assert!(client.until_reset() > 4000);
    // Where nothing was sent yet there is a better way to say it.
    let mut client = server.connect();
    client.send(call(r#"{"do":"broken","n":50}"#)).send(call("{}"));
    assert_eq!(client.answer().status, 500);
    assert_eq!(client.answer().status, 200);
}

#[test]
fn streams_end_properly_when_the_server_stops() {
    let mut server = Server::start();
    let mut stream = server.connect();
    stream.send(call(r#"{"do":"quiet","n":1}"#));
    assert_eq!(stream.head().0, 200);
    assert_eq!(stream.chunk(), toy::event(0).as_bytes());
    let mut old = server.connect();
    old.send(call(r#"{"do":"quiet","n":0}"#).replace("HTTP/1.1", "HTTP/1.0"));
    assert_eq!(old.head().0, 200);
    let mut idle = server.connect();
    idle.send(get("/"));
    idle.answer();
    let mut blocked = server.connect();
    // When the first is answered the second is waiting.
    blocked.send([call("{}"), call(r#"{"do":"never"}"#)].concat());
    assert_eq!(blocked.answer().status, 200);

    server.stop();
    assert_eq!(stream.chunk(), b"");
    stream.assert_closed();
    old.assert_closed();
    idle.assert_closed();
    let answer = blocked.answer();
    assert_eq!(answer.status, 503);
    answer.assert_last();
    blocked.assert_closed();
}

#[test]
fn busy_is_said_with_a_time() {
    let server = Server::start();
    let mut client = server.connect();
    client.send(call(r#"{"do":"busy"}"#));
    let answer = client.answer();
    assert_eq!((answer.status, answer.field("retry-after")), (503, Some("7")));
}
