//! What is said about something that was said before.

use crate::{
    board::Board,
    read::Reading,
    talk::{ALL, State, V0_1, V0_3, V1_0, say},
    watch::LONG,
};

/// A reading is shown with a thousandth at most.
fn is_converted(celsius: &Reading, fahrenheit: &Reading) -> bool {
    fahrenheit.unit == "°F" && (celsius.value * 1.8 + 32.0 - fahrenheit.value).abs() < 0.001
}

#[test]
fn a_task_that_is_named_can_be_repeated_and_converted() {
    let board = Board::take();
    for dialect in [V1_0, V0_3] {
        let first = board.ask(dialect, &say("read temperature"));
        // Something else in between.
        board.ask(dialect, &say("set led on"));
        let converted = board.ask(dialect, &say("in fahrenheit").about(&first));
        assert!(is_converted(&Reading::of_task(&first), &Reading::of_task(&converted)), "{first:?} {converted:?}");
        let again = board.ask(dialect, &say("again").about(&first));
        assert!(Reading::of_task(&again).is_near(Reading::of_task(&first).value));
        for task in [&converted, &again] {
            assert_ne!((&task.id, &task.context), (&first.id, &first.context));
        }
    }
}

#[test]
fn without_a_name_the_last_one_of_the_conversation_is_meant() {
    let board = Board::take();
    for dialect in ALL {
        let first = board.ask(dialect, &say("read temperature"));
        let converted = board.ask(dialect, &say("in fahrenheit").beside(&first));
        assert!(is_converted(&Reading::of_task(&first), &Reading::of_task(&converted)), "{first:?} {converted:?}");
        assert_eq!(converted.context, first.context);
        let again = board.ask(dialect, &say("again").beside(&first));
        assert!(again.id != first.id && again.context == first.context);
        assert_eq!(again.state, State::Completed);
    }
}

#[test]
fn a_task_that_is_over_is_not_begun_again_but_in_the_oldest_dialect() {
    let board = Board::take();
    for dialect in [V1_0, V0_3] {
        let task = board.ask(dialect, &say("read temperature"));
        let refusal = board.send(dialect, &say("again").to(&task)).expect_err("it is over");
        assert_eq!(refusal.code, -32004);
        assert_eq!(board.task(dialect, &task.id), task);
    }
    let task = board.ask(V0_1, &say("read temperature"));
    let reopened = board.ask(V0_1, &say("read temperature").to(&task));
    assert_eq!((reopened.id, reopened.state), (task.id, State::Completed));
}

#[test]
fn tasks_of_one_conversation_run_side_by_side() {
    let board = Board::take();
    let mut stream = board.stream(V1_0, &say(LONG)).expect("a stream");
    let id = stream.task_id();
    let watch = board.task(V1_0, &id);
    let reading = board.ask(V1_0, &say("read temperature").beside(&watch));
    assert_eq!((&reading.context, reading.state), (&watch.context, State::Completed));
    assert_eq!(board.task(V1_0, &id).state, State::Working);
    board.cancel(V1_0, &id).expect("it runs");
    stream.assert_canceled();
}
