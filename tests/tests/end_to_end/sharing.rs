//! More clients than there is room for: some wait, none is left without a word.

use serde_json::json;

use crate::{
    board::{Board, result},
    client::Client,
    stream::Stream,
    talk::{ALL, Dialect, Method, Refusal, State, V1_0, say},
};

/// No board has room for more streams, connections or tasks than that.
const MANY: usize = 16;

/// Opens streams of one quiet task until there is no room for another one.
fn take_all_streams(board: &Board, dialect: Dialect) -> (String, Vec<Stream>, Refusal) {
    let mut first = board.stream(dialect, &say("alert when temperature above 99")).expect("a stream");
    let id = first.task_id();
    let mut streams = vec![first];
    while streams.len() < MANY {
        match board.follow(dialect, &id, None) {
            Ok(stream) => streams.push(stream),
            Err(refusal) => return (id, streams, refusal),
        }
    }
    panic!("there is room for {MANY} streams: are these a board's limits?");
}

#[test]
fn streams_leave_room_for_others() {
    let board = Board::take();
    board.expect_crowd();
    for dialect in ALL {
        let (id, mut streams, refusal) = take_all_streams(&board, dialect);
        assert!(streams.len() > 1);
        refusal.assert_busy(dialect);
        // Also of another task.
        board.stream(dialect, &say("watch temperature")).expect_err("there is no room").assert_busy(dialect);
        board.until("it is begun", || board.task(dialect, &id).state == State::Working);
        match board.send(dialect, &say("read temperature")) {
            Ok(outcome) => assert_eq!(outcome.task().state, State::Completed),
            Err(refusal) => refusal.assert_busy(dialect),
        }
        board.cancel(dialect, &id).expect("it runs");
        for stream in &mut streams {
            stream.rest();
        }
        drop(streams);
        assert_eq!(board.ask(dialect, &say("read temperature")).state, State::Completed);
    }
    board.assert_free();
}

#[test]
fn a_client_too_many_is_told_to_come_back() {
    let board = Board::take();
    board.expect_crowd();
    let (id, streams, _) = take_all_streams(&board, V1_0);
    let mut inside: Vec<Client> = Vec::new();
    let mut lost = 0;
    let outside = loop {
        assert!(inside.len() < MANY, "there is room for {MANY} connections: are these a board's limits?");
        let mut client = board.connect();
        client.send(board.get_request("/", ""));
        match client.try_answer() {
            Ok(answer) if answer.status == 200 => inside.push(client),
            Ok(answer) => break answer,
            // Not the board's answer, but an emulator's that took the connection before it.
            Err(error) => {
                lost += 1;
                assert!(lost < 10, "nobody says a word: {error}");
            }
        }
    };
    assert_eq!(outside.status, 503, "{outside:?}");
    assert!(outside.field("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok()), "{}", outside.head);
    outside.assert_last();
    // Streams have not taken the last place, and whoever is inside is served.
    let mut insider = inside.pop().expect("one got in");
    insider.send(board.call_request(V1_0, Method::Cancel, &json!({"id": id})));
    assert_eq!(V1_0.task(&result(&insider.answer()).expect("it runs")).state, State::Canceled);
    for mut stream in streams {
        stream.rest();
    }
    drop((insider, inside));
    board.assert_free();
    assert_eq!(board.ask(V1_0, &say("read temperature")).state, State::Completed);
}

#[test]
fn places_of_clients_that_vanished_come_free() {
    let board = Board::take();
    board.expect_crowd();
    let (id, mut streams, _) = take_all_streams(&board, V1_0);
    let room = streams.len();
    streams.clear();
    board.until("there is room for as many streams as before", || {
        match board.follow(V1_0, &id, None) {
            Ok(stream) => streams.push(stream),
            Err(refusal) => refusal.assert_busy(V1_0),
        }
        streams.len() == room
    });
    board.cancel(V1_0, &id).expect("it runs");
    drop(streams);
    board.assert_free();
}

#[test]
fn more_tasks_than_there_is_room_for_take_the_places_of_those_that_are_over() {
    let board = Board::take();
    let oldest = board.ask(V1_0, &say("read temperature"));
    let mut newest = oldest.clone();
    for _ in 0..2 * MANY {
        newest = board.ask(V1_0, &say("read temperature"));
    }
    assert_eq!(board.task(V1_0, &newest.id), newest);
    let gone = board.call(V1_0, Method::Get, &json!({"id": oldest.id}));
    assert_eq!(gone.expect_err("it made room").code, -32001);
}

#[test]
fn tasks_that_wait_for_ever_leave_a_worker_for_quick_ones() {
    let board = Board::take();
    let mut params = V1_0.params(&say("alert when temperature above 99"));
    params["configuration"] = json!({"returnImmediately": true});
    let mut refused = None;
    for _ in 0..MANY {
        let task = V1_0.outcome(&board.call(V1_0, Method::Send, &params).expect("a task")).task();
        board.until("it is begun", || board.task(V1_0, &task.id).state != State::Submitted);
        let task = board.task(V1_0, &task.id);
        if task.state == State::Rejected {
            refused = Some(task);
            break;
        }
        assert_eq!(task.state, State::Working);
    }
    assert!(refused.is_some(), "{MANY} alerts run at a time: are these a board's limits?");
    assert_eq!(board.ask(V1_0, &say("read temperature")).state, State::Completed);
}
