//! Clients of every version on one endpoint.

use serde_json::{Value, json};

use crate::{
    board::{Board, envelope, result},
    read::Reading,
    talk::{ALL, Method, State, V0_1, V0_3, V1_0, say},
    watch::LONG,
};

#[test]
fn a_task_made_in_one_dialect_is_read_in_every_other() {
    let board = Board::take();
    for maker in ALL {
        let task = board.ask(maker, &say("read temperature"));
        let get = |method, headers: &str| {
            let request = board.post_request(&envelope(method, &json!({"id": task.id})), headers);
            result(&board.exchange(&request)).expect("the task is known")
        };
        for (reader, headers) in [(V1_0, ""), (V1_0, "A2A-Version: 1.0\r\n"), (V0_3, "A2A-Version: 0.3\r\n")] {
            let read = reader.task(&get(reader.word(Method::Get), headers));
            assert_eq!((&read.id, &read.context, read.state), (&task.id, &task.context, State::Completed));
            assert_eq!(Reading::of_task(&read), Reading::of_task(&task));
        }
        // Two dialects have this word: without a version, the one that the task was made in is meant.
        let birth = if maker == V0_1 { V0_1 } else { V0_3 };
        assert_eq!(birth.task(&get("tasks/get", "")).artifacts, task.artifacts);
    }
}

#[test]
fn the_id_of_a_request_comes_back_as_it_was() {
    let board = Board::take();
    let mut client = board.connect();
    for id in [json!(1), json!("1"), json!(-7), json!("a \"b\" \\ ü"), Value::Null] {
        for method in ["GetTask", "tasks/get"] {
            let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"id": "none"}}).to_string();
            let answer = client.send(board.post_request(&body, "")).answer();
            let answer: Value = serde_json::from_str(&answer.body).expect("JSON");
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32001)));
        }
    }
}

#[test]
fn members_come_in_any_order_and_strangers_are_passed_over() {
    let board = Board::take();
    let params = json!({"message": {"messageId": "m", "role": "ROLE_USER", "x": [{}], "parts": [{"text": "hello"}]}});
    let body =
        format!(r#"{{"params":{params},"stranger":{{"a":[1,null]}},"method":"SendMessage","id":"7","jsonrpc":"2.0"}}"#);
    assert!(result(&board.exchange(&board.post_request(&body, ""))).is_ok());
}

#[test]
fn a_version_that_nobody_speaks_is_refused() {
    let board = Board::take();
    let body = envelope("SendMessage", &V1_0.params(&say("read temperature")));
    for (version, code) in [("2.0", -32009), ("9.9", -32009), ("x", -32009)] {
        let request = board.post_request(&body, &format!("A2A-Version: {version}\r\n"));
        assert_eq!(result(&board.exchange(&request)).expect_err(version).code, code);
    }
    for version in ["1.0", "1.0.1"] {
        let request = board.post_request(&body, &format!("A2A-Version: {version}\r\n"));
        assert!(result(&board.exchange(&request)).is_ok(), "{version}");
    }
}

#[test]
fn a_send_can_be_answered_before_its_task_is_done() {
    let board = Board::take();
    let mut params = V1_0.params(&say(LONG));
    params["configuration"] = json!({"returnImmediately": true});
    let task = V1_0.outcome(&board.call(V1_0, Method::Send, &params).expect("a task")).task();
    assert!(!task.state.is_settled(), "{task:?}");
    board.cancel(V1_0, &task.id).expect("it runs");
    let mut params = V0_3.params(&say(LONG));
    params["configuration"] = json!({"blocking": false});
    let task = V0_3.task(&board.call(V0_3, Method::Send, &params).expect("a task"));
    assert!(!task.state.is_settled(), "{task:?}");
    board.cancel(V0_3, &task.id).expect("it runs");
}
