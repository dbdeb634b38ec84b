//! A task that asks: the answer goes on with it.

use crate::{
    board::Board,
    read::Reading,
    stream::Event,
    talk::{ALL, Dialect, Part, State, Task, What, say, text_of},
};

/// Makes the board read a value, by question and answer.
pub(crate) fn calibrate(board: &Board, dialect: Dialect, reference: f64) -> Task {
    let question = board.ask(dialect, &say("calibrate temperature"));
    assert_eq!(question.state, State::InputRequired, "{question:?}");
    assert!(text_of(&question.says).starts_with("What should temperature read now?"), "{question:?}");
    let done = board.ask(dialect, &say(&reference.to_string()).to(&question));
    assert_eq!((&done.id, &done.context, done.state), (&question.id, &question.context, State::Completed));
    done
}

#[test]
fn the_answer_to_a_question_completes_the_task_and_later_readings_are_corrected() {
    let board = Board::take();
    for dialect in ALL {
        let before = Reading::take(&board, dialect).value;
        let done = calibrate(&board, dialect, before.round() + 20.0);
        assert!(text_of(&done.says).starts_with("temperature is calibrated"), "{done:?}");
        let [artifact] = &done.artifacts[..] else { panic!("one artifact: {done:?}") };
        let [Part::Data(data)] = &artifact.parts[..] else { panic!("data: {artifact:?}") };
        assert_eq!((&artifact.name[..], &data["sensor"]), ("calibration", &"temperature".into()));
        assert!(data["offset"].as_f64().is_some(), "{data}");
        let corrected = Reading::take(&board, dialect);
        assert!(corrected.is_near(before + 20.0), "{before} {corrected:?}");
        // And back: others measure here, too.
        calibrate(&board, dialect, before);
        assert!(Reading::take(&board, dialect).is_near(before));
    }
}

#[test]
fn a_stream_ends_with_the_question_and_another_one_begins_with_the_answer() {
    let board = Board::take();
    for dialect in ALL {
        let before = Reading::take(&board, dialect).value;
        let mut stream = board.stream(dialect, &say("calibrate temperature")).expect("a stream");
        let id = stream.task_id();
        let events = stream.rest();
        let Some(Event { what: What::Status { state: State::InputRequired, says, .. }, .. }) = events.last() else {
            panic!("no question: {events:?}")
        };
        assert!(text_of(says).starts_with("What should temperature read now?"), "{says:?}");
        let question = board.task(dialect, &id);
        let mut stream = board.stream(dialect, &say(&before.to_string()).to(&question)).expect("a stream");
        let events = stream.rest();
        assert!(
            matches!(events.last(), Some(Event { what: What::Status { state: State::Completed, .. }, .. })),
            "{events:?}"
        );
        assert_eq!(board.task(dialect, &id).state, State::Completed);
    }
}

#[test]
fn an_answer_that_is_none_is_asked_for_again() {
    let board = Board::take();
    for dialect in ALL {
        let question = board.ask(dialect, &say("calibrate temperature"));
        let again = board.ask(dialect, &say("I do not know").to(&question));
        assert_eq!((again.id, again.state), (question.id, State::InputRequired));
    }
}
