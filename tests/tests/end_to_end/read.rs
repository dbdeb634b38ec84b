//! What is answered at once: readings, reports, switches, words.

use serde_json::json;

use crate::{
    board::Board,
    talk::{ALL, Dialect, Method, Outcome, Part, State, Task, V0_1, V1_0, data, fresh_id, say, text_of},
};

/// A reading as a client understands it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    pub(crate) value: f64,
    pub(crate) unit: String,
}

impl Reading {
    /// Understands a temperature that is told as text and as data.
    pub(crate) fn of(parts: &[Part]) -> Self {
        let [Part::Text(text), Part::Data(data)] = parts else { panic!("text and data: {parts:?}") };
        assert_eq!(data["sensor"], "temperature");
        let (value, unit) = (&data["value"], data["unit"].as_str().expect("a unit"));
        assert_eq!(*text, format!("temperature {value} {unit}"));
        Self { value: value.as_f64().expect("a number"), unit: unit.to_owned() }
    }

    /// Understands a task that is completed with one.
    pub(crate) fn of_task(task: &Task) -> Self {
        assert_eq!(task.state, State::Completed, "{task:?}");
        let [artifact] = &task.artifacts[..] else { panic!("one artifact: {task:?}") };
        assert_eq!(artifact.name, "temperature");
        Self::of(&artifact.parts)
    }

    /// Takes one.
    pub(crate) fn take(board: &Board, dialect: Dialect) -> Self {
        Self::of_task(&board.ask(dialect, &say("read temperature")))
    }

    /// Whether it may well follow the other: sensors drift and are noisy.
    pub(crate) fn is_near(&self, value: f64) -> bool {
        (self.value - value).abs() < 3.0
    }
}

#[test]
fn a_reading_is_data_and_text_in_every_dialect() {
    let board = Board::take();
    for dialect in ALL {
        let words = Reading::take(&board, dialect);
        assert_eq!(words.unit, "°C");
        // A board is in a room or on a desk.
        assert!((-40.0..125.0).contains(&words.value), "{words:?}");
        let request = data(json!({"skill": "read", "sensor": "temperature"}));
        let reading = Reading::of_task(&board.ask(dialect, &request));
        assert!(reading.is_near(words.value), "{words:?} {reading:?}");
    }
}

#[test]
fn a_report_is_a_table_in_a_file() {
    let board = Board::take();
    for dialect in ALL {
        let reading = Reading::take(&board, dialect);
        let task = board.ask(dialect, &say("report temperature"));
        assert_eq!(task.state, State::Completed);
        let rows = rows_of_report(&task);
        assert!((1..=32).contains(&rows.len()), "{rows:?}");
        // The newest is the last, and nothing is in 1970.
        assert!(
            rows.last().is_some_and(|row| row.ends_with(&format!(",temperature,{},°C", reading.value))),
            "{rows:?}"
        );
        assert!(rows.iter().all(|row| !row.starts_with("1970")), "{rows:?}");
    }
}

/// The rows of a report, without its heading.
fn rows_of_report(task: &Task) -> Vec<String> {
    let [artifact] = &task.artifacts[..] else { panic!("one artifact: {task:?}") };
    let [Part::File { name, media_type, content }] = &artifact.parts[..] else { panic!("one file: {artifact:?}") };
    assert_eq!((name.as_str(), media_type.as_str()), ("temperature.csv", "text/csv"));
    let mut lines = content.split_terminator("\r\n");
    let heading = lines.next().expect("a heading");
    assert!(heading == "time,sensor,value,unit" || heading == "uptimeMs,sensor,value,unit", "{heading}");
    lines.map(str::to_owned).collect()
}

#[test]
fn a_light_is_switched() {
    let board = Board::take();
    for dialect in ALL {
        for position in ["on", "off"] {
            let task = board.ask(dialect, &say(&format!("set led {position}")));
            assert_eq!((task.state, text_of(&task.says)), (State::Completed, format!("led is {position}.")));
        }
    }
}

#[test]
fn hello_names_the_skills() {
    let board = Board::take();
    for dialect in ALL {
        let words = words_for(&board, dialect, "hello");
        for example in ["read temperature", "watch temperature", "alert when", "calibrate", "report", "set led on"] {
            assert!(words.contains(example), "{words}");
        }
        assert!(!words.contains("reboot"), "{words}");
    }
}

#[test]
fn what_is_not_understood_is_answered_with_what_would_be() {
    let board = Board::take();
    for dialect in ALL {
        assert!(words_for(&board, dialect, "make coffee").contains("- read: read temperature"));
        assert!(words_for(&board, dialect, "read wind").contains("Sensors: temperature"));
        assert!(words_for(&board, dialect, "set led").contains("set led on"));
    }
    let unknown = data(json!({"skill": "brew"}));
    let Ok(Outcome::Message(parts)) = board.send(V1_0, &unknown) else { panic!("no message") };
    assert!(text_of(&parts).contains("- read: read temperature"), "{parts:?}");
    let task = board.ask(V1_0, &say("watch temperature 99999 times"));
    assert_eq!(task.state, State::Rejected);
    assert!(text_of(&task.says).contains("from 1 to 10000"), "{task:?}");
}

/// What the agent has to say, as a message or, where there are none, as a completed task.
fn words_for(board: &Board, dialect: Dialect, text: &str) -> String {
    match board.send(dialect, &say(text)) {
        Ok(Outcome::Message(parts)) if dialect != V0_1 => text_of(&parts),
        Ok(Outcome::Task(task)) if dialect == V0_1 && task.state == State::Completed => text_of(&task.says),
        other => panic!("{dialect:?}: {text}: {other:?}"),
    }
}

#[test]
fn a_task_can_be_had_again() {
    let board = Board::take();
    for dialect in ALL {
        let task = board.ask(dialect, &say("read temperature"));
        assert_eq!(board.task(dialect, &task.id), task);
    }
}

#[test]
fn tasks_are_listed_the_newest_first() {
    let board = Board::take();
    let first = board.ask(V1_0, &say("read temperature"));
    let second = board.ask(V1_0, &say("set led off").beside(&first));
    let list = |params| {
        let list = board.call(V1_0, Method::List, &params).expect("a list");
        let tasks = list["tasks"].as_array().expect("tasks").iter().map(|task| V1_0.task(task).id);
        (tasks.collect::<Vec<_>>(), list)
    };
    let (ids, page) = list(json!({"contextId": first.context}));
    assert_eq!(ids, [second.id.clone(), first.id.clone()]);
    assert_eq!((&page["totalSize"], &page["nextPageToken"]), (&json!(2), &json!("")));
    let (ids, page) = list(json!({"contextId": first.context, "pageSize": 1}));
    assert_eq!((ids, page["totalSize"].as_u64()), (vec![second.id], Some(2)));
    let (ids, _) = list(json!({"contextId": first.context, "pageSize": 1, "pageToken": page["nextPageToken"]}));
    assert_eq!(ids, [first.id]);
    assert!(list(json!({"contextId": fresh_id()})).0.is_empty());
}
