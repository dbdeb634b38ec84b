//! What is stopped from another connection.

use serde_json::json;

use crate::{
    board::{Board, result},
    talk::{ALL, Method, State, V1_0, fresh_id, say},
    watch::LONG,
};

#[test]
fn a_stream_ends_when_its_task_is_canceled() {
    let board = Board::take();
    for dialect in ALL {
        let mut stream = board.stream(dialect, &say(LONG)).expect("a stream");
        let id = stream.task_id();
        stream.until_chunk();
        let canceled = board.cancel(dialect, &id).expect("it runs");
        assert_eq!((&canceled.id, canceled.state), (&id, State::Canceled));
        stream.assert_canceled();
        assert_eq!(board.task(dialect, &id).state, State::Canceled);
        // The same connection goes on.
        let mut client = stream.into_client();
        let request = board.call_request(dialect, Method::Cancel, &json!({"id": id}));
        let again = result(&client.send(request).answer()).expect_err("it is over");
        assert_eq!(again.code, -32002);
    }
}

#[test]
fn a_send_that_waits_is_answered_when_its_task_is_canceled() {
    let board = Board::take();
    for dialect in ALL {
        let mut client = board.connect();
        let said = say("watch temperature 1000 times every 20 ms");
        client.send(board.call_request(dialect, Method::Send, &dialect.params(&said)));
        let mut id = None;
        board.until("the task is there", || {
            let running = json!({"status": "TASK_STATE_WORKING"});
            let list = board.call(V1_0, Method::List, &running).expect("a list");
            id = list["tasks"][0]["id"].as_str().map(str::to_owned);
            id.is_some()
        });
        let id = id.expect("it was found");
        board.cancel(dialect, &id).expect("it runs");
        let task = dialect.outcome(&result(&client.answer()).expect("a task")).task();
        assert_eq!((task.id, task.state), (id, State::Canceled));
    }
}

#[test]
fn what_is_over_cannot_be_canceled() {
    let board = Board::take();
    for dialect in ALL {
        let task = board.ask(dialect, &say("read temperature"));
        assert_eq!(board.cancel(dialect, &task.id).expect_err("it is over").code, -32002);
        assert_eq!(board.task(dialect, &task.id), task);
    }
}

#[test]
fn a_question_can_be_canceled() {
    let board = Board::take();
    for dialect in ALL {
        let task = board.ask(dialect, &say("calibrate temperature"));
        assert_eq!(task.state, State::InputRequired);
        assert_eq!(board.cancel(dialect, &task.id).expect("it waits").state, State::Canceled);
    }
}

#[test]
fn a_task_that_nobody_made_is_not_found() {
    let board = Board::take();
    for dialect in ALL {
        for method in [Method::Get, Method::Cancel] {
            let missing = board.call(dialect, method, &json!({"id": fresh_id()})).expect_err("there is none");
            assert_eq!((missing.code, missing.retry_after_secs), (-32001, None), "{dialect:?} {method:?}");
        }
        let missing = board.follow(dialect, &fresh_id(), None).expect_err("there is none");
        assert_eq!(missing.code, -32001, "{dialect:?}");
    }
}
