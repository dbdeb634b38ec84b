//! How clients use their connections, and lose them.

use serde_json::json;

use crate::{
    board::{Board, result},
    client::Answer,
    read::Reading,
    stream::Stream,
    talk::{ALL, Method, State, V1_0, say},
    watch::LONG,
};

/// A request for a reading.
fn read_request(board: &Board) -> String {
    board.call_request(V1_0, Method::Send, &V1_0.params(&say("read temperature")))
}

fn assert_reading(answer: &Answer) {
    Reading::of_task(&V1_0.outcome(&result(answer).expect("a task")).task());
}

#[test]
fn one_connection_serves_many_requests() {
    let board = Board::take();
    let mut client = board.connect();
    for _ in 0..10 {
        let answer = client.send(read_request(&board)).answer();
        assert_eq!(answer.field("connection"), Some("keep-alive"));
        assert_reading(&answer);
    }
    let last = board.get_request("/", "Connection: close\r\n");
    client.send(last).answer().assert_last();
    client.assert_closed();
}

#[test]
fn requests_that_come_at_once_are_answered_in_their_order() {
    let board = Board::take();
    let mut client = board.connect();
    let missing = board.call_request(V1_0, Method::Get, &json!({"id": "none"}));
    let requests = [read_request(&board), board.get_request("/nowhere", ""), missing, read_request(&board)];
    client.send(requests.concat());
    assert_reading(&client.answer());
    assert_eq!(client.answer().status, 404);
    assert_eq!(result(&client.answer()).expect_err("there is none").code, -32001);
    assert_reading(&client.answer());
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let board = Board::take();
    let mut client = board.connect();
    client.send_one_by_one(read_request(&board));
    assert_reading(&client.answer());
    client.send_one_by_one(board.get_request("/", ""));
    assert_eq!(client.answer().status, 200);
}

#[test]
fn a_client_that_has_said_everything_hears_everything() {
    let board = Board::take();
    let mut client = board.connect();
    client.send(read_request(&board)).half_close();
    assert_reading(&client.answer());
    client.assert_closed();
    for dialect in ALL {
        let said = say("watch temperature 4 times every 200 ms");
        let request = board.call_request(dialect, Method::Stream, &dialect.params(&said));
        let mut client = board.connect();
        let (status, head) = client.send(&request).half_close().head();
        let events = Stream::begin(client, dialect, status, head).expect("a stream").rest();
        assert!(events.len() >= 7, "{events:?}");
    }
}

#[test]
fn a_client_that_leaves_in_its_request_harms_nobody() {
    let board = Board::take();
    let request = read_request(&board);
    for length in [0, 1, 20, request.len() / 2, request.len() - 1] {
        let mut client = board.connect();
        client.send(&request[..length]);
    }
    board.assert_free();
    for length in [1, 20, request.len() - 1] {
        let mut client = board.connect();
        client.send(&request[..length]).half_close();
        // What was begun is refused in words.
        let answer = client.answer();
        assert_eq!(answer.status, 400, "{answer:?}");
        client.assert_closed();
    }
    assert_reading(&board.exchange(&request));
}

#[test]
fn clients_that_vanish_in_mid_stream_harm_nobody() {
    let board = Board::take();
    board.expect_crowd();
    let mut witness = board.stream(V1_0, &say(LONG)).expect("a stream");
    let watched = witness.task_id();
    for _ in 0..10 {
        let mut stream = None;
        board.until("there is room for a stream", || {
            let said = say("watch temperature 1000 times every 20 ms");
            stream = board.stream(V1_0, &said).ok();
            stream.is_some()
        });
        let mut stream = stream.expect("it was opened");
        let id = stream.task_id();
        stream.until_chunk();
        // What it does not read makes its end a reset.
        drop(stream);
        assert_eq!(board.cancel(V1_0, &id).expect("it runs on").state, State::Canceled);
    }
    witness.until_chunk();
    board.cancel(V1_0, &watched).expect("it runs");
    witness.assert_canceled();
    board.assert_free();
}
