//! What a restart leaves, and what the status says of it. A real board restarts; host-sim stands in for one, goes on, and
//! says that it has not.

use serde_json::{Value, json};

use crate::{
    board::{Board, result},
    calibrate::calibrate,
    read::Reading,
    talk::{Method, State, V1_0, say, text_of},
};

#[test]
fn a_board_comes_back_calibrated_and_says_why_it_started() {
    let board = Board::take();
    let before = Reading::take(&board, V1_0).value;
    calibrate(&board, V1_0, before.round() + 20.0);
    let first = status(&board).expect("a status");

    let goodbye = board.ask(V1_0, &say("reboot"));
    assert_eq!((goodbye.state, text_of(&goodbye.says)), (State::Completed, "The device restarts.".to_owned()));
    if first["board"] == "host-sim" {
        assert_eq!(status(&board).expect("a status")["reset"]["reason"], "power on");
    } else {
        // Tasks do not outlive a restart. The time since the start would tell, too, but not to a client that was kept
        // waiting by a connection from before.
        let request = board.call_request(V1_0, Method::Get, &json!({"id": goodbye.id}));
        board.until("it is back", || match board.try_exchange(&request) {
            Ok(answer) if answer.status == 200 => result(&answer).is_err_and(|refusal| refusal.code == -32001),
            _ => false,
        });
        assert_eq!(status(&board).expect("a status")["reset"]["reason"], "asked to");
    }
    let after = Reading::take(&board, V1_0);
    assert!(after.is_near(before + 20.0), "{before} {after:?}");
    calibrate(&board, V1_0, before);
}

/// How the board is; nothing while it restarts.
fn status(board: &Board) -> Option<Value> {
    let answer = board.try_exchange(&board.get_request("/status", "")).ok()?;
    (answer.status == 200).then(|| serde_json::from_str(&answer.body).expect("it is JSON"))
}
