//! The relay in virtual time: its minutes pass at once.

use firmware::{
    bench::{Bench, OWNER, READER, Toy, with_skills},
    board::Position,
};

use crate::relay::Relay;

fn with_relay(test: impl FnOnce(&Bench<'_>, &Toy)) {
    let board = Toy::default();
    with_skills(&Relay { board: &board, is_on: false.into() }, |bench| test(bench, &board));
}

#[test]
fn it_is_on_for_as_long_as_was_asked_and_off_at_the_end() {
    with_relay(|bench, board| {
        bench.begin("pulse for 3 seconds");
        bench.pass(2_900);
        assert_eq!(board.led.get(), Some(Position::On));
        bench.pass(200);
        assert_eq!(board.led.get(), Some(Position::Off));
    });
}

#[test]
fn a_cancelled_pulse_is_off_at_once() {
    with_relay(|bench, board| {
        let task = bench.begin("pulse for 60 seconds");
        bench.pass(1_500);
        assert_eq!(board.led.get(), Some(Position::On));
        assert!(bench.cancel(&task).contains("TASK_STATE_CANCELED"));
        assert_eq!(board.led.get(), Some(Position::Off));
        assert!(bench.say("pulse for 1 second", "").contains("The relay was on for 1 s."));
    });
}

#[test]
fn nothing_moves_for_those_who_may_not_or_ask_for_too_much() {
    with_relay(|bench, board| {
        assert!(bench.say("pulse for 61 seconds", "").contains("must be a whole number from 1 to 60"));
        bench.call_as(READER);
        assert!(bench.say("pulse for 5 seconds", "").contains("TASK_STATE_AUTH_REQUIRED"));
        assert_eq!(board.led.get(), None);
        bench.call_as(OWNER);
        assert!(bench.say("open the pod bay doors", "").contains("pulse: pulse for 5 seconds"));
    });
}
