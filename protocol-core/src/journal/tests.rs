extern crate std;
use std::{string::String, vec::Vec};

use super::*;
use crate::door::Classes;

const ANNA: Caller = Caller { owner: Owner::of(1), classes: Classes::of(&[Access::Read]) };
const BEN: Caller = Caller { owner: Owner::of(2), classes: Classes::of(&[Access::Read]) };
const BOSS: Caller = Caller { owner: Owner::of(3), classes: Classes::ALL };

const HELLO: Note = Note::new(Level::Info, "hello");

fn text(line: &Line) -> String {
    let mut text = String::new();
    line.write_text(&mut |piece: &str| text.push_str(piece));
    text
}

/// The numbers of the lines that somebody sees from there on.
fn numbers(journal: &Journal<'_>, mut from: u64, reader: Caller) -> Vec<u64> {
    let mut seen = Vec::new();
    while let Some((number, _)) = journal.line(from, reader) {
        seen.push(number);
        from = number + 1;
    }
    seen
}

fn with_journal(least: Level, test: impl FnOnce(&mut Journal<'_>)) {
    test(&mut Journal::new(&mut JournalStorage::<4>::new(), least, |_| {}));
}

#[test]
fn old_lines_make_room_and_numbers_go_on() {
    with_journal(Level::Info, |journal| {
        assert_eq!((numbers(journal, 0, BOSS), journal.next()), (Vec::new(), 0));
        for number in 0..11_u16 {
            journal.note(&Note::counting(Level::Info, "number", number, ""), None, "", &Trace::NONE);
            let all: Vec<_> = (0..=u64::from(number)).collect();
            assert_eq!(numbers(journal, 0, BOSS), all[all.len().saturating_sub(4)..]);
            assert_eq!(journal.next(), u64::from(number) + 1);
        }
        assert_eq!(numbers(journal, 9, BOSS), [9, 10]);
        assert_eq!(numbers(journal, 11, BOSS), []);
        assert_eq!(numbers(journal, u64::MAX, BOSS), []);
        let (_, line) = journal.line(10, BOSS).expect("it is there");
        assert_eq!(text(&line), "number 10");
    });
}

#[test]
fn what_is_about_others_is_for_operators() {
    with_journal(Level::Info, |journal| {
        journal.note(&Note::task(TaskState::Submitted), Some(ANNA.owner), "annas", &Trace::NONE);
        journal.note(&Note::task(TaskState::Submitted), Some(BEN.owner), "bens", &Trace::NONE);
        journal.note(&HELLO, None, "", &Trace::NONE);
        assert_eq!(numbers(journal, 0, ANNA), [0, 2]);
        assert_eq!(numbers(journal, 0, BEN), [1, 2]);
        assert_eq!(numbers(journal, 0, BOSS), [0, 1, 2]);
        assert_eq!(numbers(journal, 0, Caller::GUEST), [0, 1, 2]);
    });
}

#[test]
fn what_happens_again_is_counted_and_takes_no_other_place() {
    with_journal(Level::Info, |journal| {
        for at in 0..1000 {
            journal.now = Millis(at);
            journal.note(&HELLO, None, "", &Trace::NONE);
        }
        assert_eq!(numbers(journal, 0, BOSS), [0]);
        let line = journal.line(0, BOSS).expect("it is there").1;
        assert_eq!((text(&line).as_str(), line.at()), ("hello (1000 times)", Millis(999)));
        for _ in 0..100_000 {
            journal.note(&HELLO, None, "", &Trace::NONE);
        }
        assert_eq!(text(&journal.line(0, BOSS).expect("it is there").1), "hello (65535 times)");
        // After a pause it is news, and so is another's.
        journal.now = Millis(999).after(AGAIN);
        journal.note(&HELLO, None, "", &Trace::NONE);
        journal.note(&HELLO, Some(ANNA.owner), "", &Trace::NONE);
        journal.note(&HELLO, Some(ANNA.owner), "a task", &Trace::NONE);
        assert_eq!(numbers(journal, 0, BOSS), [0, 1, 2, 3]);
    });
}

#[test]
fn what_anybody_can_make_pushes_nothing_out() {
    with_journal(Level::Info, |journal| {
        journal.note(&HELLO, None, "", &Trace::NONE);
        for kind in [FaultKind::Unauthenticated, FaultKind::TooOften] {
            journal.note(&Note::refused(&Fault::new(kind)), None, "", &Trace::NONE);
        }
        assert_eq!(journal.next(), 1);
    });
    with_journal(Level::Debug, |journal| {
        journal.note(&Note::refused(&Fault::new(FaultKind::TooOften)), None, "", &Trace::NONE);
        assert_eq!(journal.next(), 1);
    });
}

#[test]
fn a_line_says_what_in_words() {
    for (note, words) in [
        (Note::task(TaskState::InputRequired), "input_required"),
        (Note::EVICTED, "made room for another task"),
        (Note::refused(&Fault::new(FaultKind::Parse)), "refused: parse"),
        (Note::refused(&Fault::busy("it is full")), "refused: busy: it is full"),
        (Note::refused(&Fault::params("id", "is missing")), "refused: invalid_params: id is missing"),
        (Note::because(Level::Warn, "started", "panic"), "started: panic"),
        (Note::counting(Level::Warn, "answered", 503, "tried again"), "answered 503: tried again"),
    ] {
        with_journal(Level::Debug, |journal| {
            journal.note(&note, None, "", &Trace::NONE);
            assert_eq!(text(&journal.line(0, BOSS).expect("it is there").1), words);
        });
    }
}

#[test]
fn a_line_has_its_task_and_its_trace() {
    let trace = Trace::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").expect("it is good");
    with_journal(Level::Info, |journal| {
        journal.now = Millis(7);
        let long = "ä".repeat(30);
        for id in ["my \"task\"\n", &long] {
            journal.note(&Note::task(TaskState::Failed), Some(ANNA.owner), id, &trace);
        }
        let line = journal.line(0, ANNA).expect("it is there").1;
        assert_eq!((line.at(), line.level(), line.task()), (Millis(7), Level::Warn, Some("my \"task\"\n")));
        assert_eq!(line.trace().as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
        let told = std::format!("{line}");
        assert_eq!(told, "warn: task=my \\\"task\\\"\\n trace=4bf92f3577b34da6a3ce929d0e0e4736 failed");
        assert_eq!(journal.line(1, ANNA).expect("it is there").1.task(), Some(&*"ä".repeat(18)));
    });
}

#[test]
fn a_journal_without_room_takes_everything_and_has_nothing() {
    let mut journal = Journal::none();
    journal.note(&HELLO, None, "", &Trace::NONE);
    assert!(journal.line(0, BOSS).is_none() && journal.next() == 0);
}

#[test]
fn levels_have_names_and_an_order() {
    for level in [Level::Debug, Level::Info, Level::Warn, Level::Error] {
        assert_eq!(Level::parse(level.as_str()), Some(level));
    }
    assert_eq!(Level::parse("verbose"), None);
    assert!(Level::Debug < Level::Info && Level::Warn < Level::Error);
}
