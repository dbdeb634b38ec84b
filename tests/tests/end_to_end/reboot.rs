//! What lasts beyond a restart. Only with `MOTE_REBOOT=1`: host-sim's restart is simulated, and nothing is lost.

use crate::{
    board::{Board, result},
    calibrate::calibrate,
    read::{Reading, rows_of_report},
    talk::{Method, State, V1_0, say, text_of},
};

#[test]
fn a_board_comes_back_calibrated() {
    if std::env::var_os("MOTE_REBOOT").is_none() {
        eprintln!("MOTE_REBOOT is not set: the board is not restarted");
        return;
    }
    let board = Board::take();
    let before = Reading::take(&board, V1_0).value;
    calibrate(&board, V1_0, before.round() + 20.0);
    // Readings are kept in memory that does not last: that is how a restart shows.
    for _ in 0..3 {
        Reading::take(&board, V1_0);
    }
    let kept = rows_of_report(&board.ask(V1_0, &say("report temperature"))).len();
    assert!(kept > 3);

    let goodbye = board.ask(V1_0, &say("reboot"));
    assert_eq!((goodbye.state, text_of(&goodbye.says)), (State::Completed, "The device restarts.".to_owned()));
    let report = board.call_request(V1_0, Method::Send, &V1_0.params(&say("report temperature")));
    board.until("it is back", || match board.try_exchange(&report) {
        Ok(answer) if answer.status == 200 => {
            let task = V1_0.outcome(&result(&answer).expect("a task")).task();
            rows_of_report(&task).len() < kept
        }
        _ => false,
    });
    let after = Reading::take(&board, V1_0);
    assert!(after.is_near(before + 20.0), "{before} {after:?}");
    calibrate(&board, V1_0, before);
}
