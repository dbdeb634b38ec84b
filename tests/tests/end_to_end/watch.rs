//! What is followed live.

use serde_json::json;

use crate::{
    board::Board,
    read::Reading,
    stream::Event,
    talk::{ALL, State, Task, V0_1, V1_0, What, data, say},
};

/// A watch that nobody waits for.
pub(crate) const LONG: &str = "watch temperature 1000 times every 1 second";

#[test]
fn each_reading_is_a_chunk_and_the_last_one_says_so() {
    let board = Board::take();
    for dialect in ALL {
        let said = [
            say("watch temperature 5 times every 100 ms"),
            data(json!({"skill": "watch", "sensor": "temperature", "times": 5, "everyMs": 100})),
        ];
        for said in said {
            let mut stream = board.stream(dialect, &said).expect("a stream");
            let events = stream.rest();
            let (readings, id) = readings_of(&events, dialect == V0_1);
            assert_eq!(readings.len(), 5);
            // What was streamed is what is kept.
            let task = board.task(dialect, &id);
            assert_eq!((task.state, &task.artifacts[0].name[..]), (State::Completed, "temperature"));
            let kept: Vec<_> = task.artifacts[0].parts.chunks(2).map(Reading::of).collect();
            assert_eq!(kept, readings);
            // The connection outlives the stream.
            let mut client = stream.into_client();
            assert_eq!(client.send(board.get_request("/", "")).answer().status, 200);
        }
    }
}

/// Checks a whole stream of a watch, and gives its readings and the task's id.
fn readings_of(events: &[Event], is_oldest: bool) -> (Vec<Reading>, String) {
    let mut states = Vec::new();
    let mut readings = Vec::new();
    let mut named = String::new();
    let mut is_last = false;
    for (n, event) in events.iter().enumerate() {
        match &event.what {
            What::Task(Task { id, state, artifacts, .. }) => {
                assert!(n == 0 && !is_oldest && artifacts.is_empty(), "{event:?}");
                named.clone_from(id);
                states.push(*state);
            }
            What::Status { task, state, .. } => {
                named.clone_from(task);
                states.push(*state);
            }
            What::Chunk { artifact, append, last } => {
                assert_eq!((&artifact.name[..], *append), ("temperature", !readings.is_empty()), "{event:?}");
                assert!(!is_last, "a chunk behind the last one: {event:?}");
                is_last = *last;
                readings.push(Reading::of(&artifact.parts));
            }
            What::Message(_) => panic!("{event:?}"),
        }
    }
    assert!(is_last, "no chunk was the last one: {events:?}");
    assert_eq!(states, [State::Submitted, State::Working, State::Completed]);
    (readings, named)
}

#[test]
fn a_reading_is_told_before_the_next_one_is_made() {
    let board = Board::take();
    for dialect in ALL {
        let mut stream = board.stream(dialect, &say(LONG)).expect("a stream");
        let id = stream.task_id();
        stream.until_chunk();
        assert_eq!(board.task(dialect, &id).state, State::Working);
        // And so on.
        let next = stream.until_chunk();
        assert!(matches!(next[..], [Event { what: What::Chunk { append: true, last: false, .. }, .. }]), "{next:?}");
        board.cancel(dialect, &id).expect("it runs");
        stream.assert_canceled();
    }
}

#[test]
fn whoever_follows_a_task_sees_the_same_events() {
    let board = Board::take();
    let mut one = board.stream(V1_0, &say("watch temperature 1000 times every 200 ms")).expect("a stream");
    let id = one.task_id();
    one.until_chunk();
    let mut two = board.follow(V1_0, &id, None).expect("a stream");
    let Some(Event { what: What::Task(snapshot), .. }) = two.next() else { panic!("no snapshot first") };
    let shown = two.newest();
    let mut seen = two.until_chunk();
    board.cancel(V1_0, &id).expect("it runs");
    seen.extend(two.rest());
    let behind: Vec<_> = one.rest().into_iter().filter(|event| event.id > shown).collect();
    assert_eq!(behind, seen);
    // What was shown first and what came then is all there is.
    let chunks = seen.iter().filter(|event| matches!(event.what, What::Chunk { .. })).count();
    let parts = |task: &Task| task.artifacts[0].parts.len();
    assert_eq!(parts(&snapshot) / 2 + chunks, parts(&board.task(V1_0, &id)) / 2);
}

#[test]
fn a_quiet_stream_says_that_it_is_still_there() {
    let board = Board::take();
    let streams = ALL.map(|dialect| board.stream(dialect, &say("alert when temperature above 99")).expect("a stream"));
    for (dialect, mut stream) in ALL.into_iter().zip(streams) {
        let id = stream.task_id();
        stream.until_comment();
        assert_eq!(board.task(dialect, &id).state, State::Working);
        board.cancel(dialect, &id).expect("it runs");
        stream.assert_canceled();
    }
}

#[test]
fn an_alert_ends_with_the_reading_that_crosses_its_bound() {
    let board = Board::take();
    for dialect in ALL {
        let mut stream = board.stream(dialect, &say("alert when temperature above -50")).expect("a stream");
        let events = stream.rest();
        let [.., Event { what: chunk, .. }, Event { what: end, .. }] = &events[..] else { panic!("{events:?}") };
        assert!(matches!(end, What::Status { state: State::Completed, .. }), "{end:?}");
        let What::Chunk { artifact, .. } = chunk else { panic!("{chunk:?}") };
        assert!(Reading::of(&artifact.parts).value > -50.0);
    }
}
