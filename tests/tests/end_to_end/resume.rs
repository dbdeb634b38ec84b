//! What a client that lost its connection does next.

use crate::{
    board::Board,
    read::Reading,
    stream::Event,
    talk::{ALL, State, V0_1, V1_0, What, say},
};

const TIMES: usize = 12;
const WATCH: &str = "watch temperature 12 times every 100 ms";

#[test]
fn a_stream_goes_on_behind_the_last_event_without_loss_or_repetition() {
    let board = Board::take();
    board.expect_crowd();
    for dialect in ALL {
        let mut stream = board.stream(dialect, &say(WATCH)).expect("a stream");
        let id = stream.task_id();
        let mut events = stream.until_chunk();
        // It goes away twice: once in the middle, once at the first event that it gets.
        for _ in 0..2 {
            let newest = stream.newest();
            stream = board.follow(dialect, &id, Some(newest)).expect("a stream");
            let next = stream.next().expect("there is more");
            assert!(next.id > newest, "{next:?} came again");
            events.push(next);
        }
        events.extend(stream.rest());
        assert!(events.is_sorted_by_key(|event| event.id));
        let streamed = readings(&events);
        assert_eq!(streamed.len(), TIMES);
        let task = board.task(dialect, &id);
        assert_eq!(task.artifacts[0].parts.chunks(2).map(Reading::of).collect::<Vec<_>>(), streamed);
        assert!(matches!(events.last(), Some(Event { what: What::Status { state: State::Completed, .. }, .. })));
    }
    board.assert_free();
}

#[test]
fn a_client_that_comes_back_after_the_end_gets_what_it_missed() {
    let board = Board::take();
    for dialect in ALL {
        let mut stream = board.stream(dialect, &say("watch temperature 5 times every 0 ms")).expect("a stream");
        let id = stream.task_id();
        let begun = stream.newest();
        let events = stream.rest();
        let mut again = board.follow(dialect, &id, Some(begun)).expect("a stream");
        assert_eq!(again.rest(), events);
        // 1.0 has nothing to tell of a task that is over to a client that does not say what it has.
        match board.follow(dialect, &id, None) {
            Err(refusal) => assert_eq!((dialect, refusal.code), (V1_0, -32004)),
            Ok(mut stream) => {
                let events = stream.rest();
                let is_told = match &events[..] {
                    [Event { what: What::Task(task), .. }, ..] => task.artifacts[0].parts.len() == 10,
                    events => dialect == V0_1 && readings(events).len() == 5,
                };
                assert!(is_told, "{events:?}");
            }
        }
    }
}

#[test]
fn a_task_goes_on_without_its_client() {
    let board = Board::take();
    board.expect_crowd();
    for dialect in ALL {
        let mut stream = board.stream(dialect, &say(WATCH)).expect("a stream");
        let id = stream.task_id();
        drop(stream);
        board.until("it is done", || board.task(dialect, &id).state == State::Completed);
        assert_eq!(board.task(dialect, &id).artifacts[0].parts.len(), TIMES * 2);
    }
    board.assert_free();
}

/// What the chunks of some events say.
fn readings(events: &[Event]) -> Vec<Reading> {
    let chunks = events.iter().filter_map(|event| match &event.what {
        What::Chunk { artifact, .. } => Some(Reading::of(&artifact.parts)),
        _ => None,
    });
    chunks.collect()
}
