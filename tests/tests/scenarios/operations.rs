//! What an operator sees: the log, the counters, how full the tables ever were, and traces.

use mote_tests::{
    webhook::{Answer, TAKEN, Webhooks},
    world::{ANNA, BEN, World},
};
use protocol_core::{Inbound, Note, Served, Tally, door::Allowance, push::Outcome};

use crate::support::{Script, about, member, send, send_01, send_03};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const OTHER: &str = "0af7651916cd43dd8448eb211c80319c";

fn guarded() -> World {
    World::guarded::<_, 3, 256, 3, 8>(Script, Served::ALL, Allowance::UNLIMITED)
}

/// How often requests of that kind came.
fn asked(world: &World, dialect: &str, method: &str, outcome: &str) -> u32 {
    let is_it = |number: &usize| {
        Tally::asked(*number).is_some_and(|it| (it.dialect, it.method, it.outcome) == (dialect, method, outcome))
    };
    let number = (0..Tally::ASKED).find(is_it).expect("such requests are counted");
    world.node.tally(|tally| tally.requests(number))
}

fn all_asked(world: &World) -> u32 {
    (0..Tally::ASKED).map(|number| world.node.tally(|tally| tally.requests(number))).sum()
}

fn moved(world: &World, state: &str) -> u32 {
    let number = Tally::STATES.iter().position(|known| *known == state).expect("there is such a state");
    world.node.tally(|tally| tally.moved(number))
}

/// The log without what does not belong to a task.
fn of_tasks(world: &World, token: &str) -> Vec<(&'static str, String, String)> {
    world.log(token).into_iter().filter(|(_, task, _)| !task.is_empty()).collect()
}

#[test]
fn a_task_leaves_its_edges_in_the_log_and_others_do_not_see_them() {
    let mut world = guarded();
    let id = member(&world.ask_with(ANNA, &send("SendMessage", "work; chunk a; ask more", "")), "id");
    let follow_up = send("SendMessage", "fail", &format!(r#","taskId":"{id}""#));
    world.ask_with(ANNA, &follow_up);
    let bens = member(&world.ask_with(BEN, &send("SendMessage", "done", "")), "id");
    let line = |level, task: &str, text: &str| (level, task.to_owned(), text.to_owned());
    let [first, second] = [id.as_str(), bens.as_str()];
    let hers = [
        line("info", first, "submitted"),
        line("info", first, "input_required"),
        line("info", first, "submitted"),
        line("warn", first, "failed"),
    ];
    let his = [line("info", second, "submitted"), line("info", second, "completed")];
    assert_eq!(of_tasks(&world, BEN), his);
    assert_eq!(of_tasks(&world, ANNA), [hers.as_slice(), &his].concat(), "she is an operator");
}

#[test]
fn refusals_are_told_with_their_reason_but_not_those_that_anybody_can_make() {
    let mut world = guarded();
    world.ask_with(ANNA, &about("GetTask", "nowhere"));
    world.ask_with(ANNA, "{");
    for token in ["", "a-token-that-is-nobodys"] {
        world.ask_with(token, &send("SendMessage", "done", ""));
    }
    let texts: Vec<_> = world.log(ANNA).into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(texts[1..], ["refused: task_not_found", "refused: parse: ends in the middle"]);
    assert_eq!(world.log(BEN).len(), 1, "what she was refused is not his");
    let refused = |name| {
        let kind = protocol_core::FaultKind::NAMES.iter().position(|known| *known == name).expect("a kind");
        world.node.tally(|tally| tally.refused(kind))
    };
    assert_eq!(["task_not_found", "parse", "unauthenticated", "busy"].map(refused), [1, 1, 2, 0]);
}

#[test]
fn every_request_is_counted_once_where_it_belongs() {
    let mut world = World::new(Script);
    let bodies = [
        (send("SendMessage", "done", ""), ("1.0", "send", "ok"), 3),
        (send_03("message/send", "done", ""), ("0.3", "send", "ok"), 2),
        (send_01("tasks/send", "t", "done"), ("0.1", "send", "ok"), 1),
        (send("SendStreamingMessage", "work; chunk a; done", ""), ("1.0", "stream", "ok"), 1),
        (about("GetTask", "nowhere"), ("1.0", "get", "error"), 2),
        (about("CancelTask", "nowhere"), ("1.0", "cancel", "error"), 1),
        ("{".to_owned(), ("0.3", "unknown", "error"), 4),
        (about("NoSuchThing", "x"), ("1.0", "unknown", "error"), 1),
    ];
    for (body, _, times) in &bodies {
        for _ in 0..*times {
            assert!(world.post(body).has_ended());
        }
    }
    for (_, (dialect, method, outcome), times) in bodies {
        assert_eq!(asked(&world, dialect, method, outcome), times, "{dialect} {method} {outcome}");
    }
    assert_eq!(all_asked(&world), 15);
    assert_eq!((moved(&world, "submitted"), moved(&world, "completed"), moved(&world, "working")), (7, 7, 1));
    assert_eq!(world.node.tally(|tally| (tally.created, tally.replied, tally.evicted)), (7, 0, 0));
}

#[test]
fn events_are_counted_as_they_are_begun_and_keepalives_are_none() {
    let mut world = World::new(Script);
    let stream = world.post(&send("SendStreamingMessage", "work; wait 9000; chunk a; done", ""));
    world.advance(20_000);
    assert!(stream.has_ended() && stream.text().contains("\n:"), "{}", stream.text());
    let events = stream.events().len() as u32;
    assert_eq!(world.node.tally(|tally| tally.events), events);
}

#[test]
fn what_makes_room_is_counted_and_tables_remember_their_highest() {
    let mut world = guarded();
    for _ in 0..3 {
        world.ask_with(ANNA, &send("SendMessage", "ask x", ""));
    }
    let live: Vec<String> = of_tasks(&world, ANNA).into_iter().map(|(_, id, _)| id).collect();
    assert!(world.ask_with(ANNA, &send("SendMessage", "done", "")).contains("the task table is full"));
    for id in &live {
        world.ask_with(ANNA, &about("CancelTask", id));
    }
    for _ in 0..2 {
        world.ask_with(ANNA, &send("SendMessage", "done", ""));
    }
    assert_eq!(world.node.tally(|tally| tally.evicted), 2);
    let limits = world.node.limits();
    assert_eq!((limits.tasks.used, limits.tasks.most, limits.tasks.all), (3, 3, 3));
    world.node.change_door(|door| door.forget("anna"));
    let limits = world.node.limits();
    assert_eq!((limits.tasks.used, limits.tasks.most), (0, 3));
    assert!(limits.blocks.used == 0 && limits.blocks.most > 6, "{limits:?}");
    assert_eq!((limits.readers.used, limits.readers.most, limits.workers.used, limits.workers.most), (0, 1, 0, 1));
    let busy = world.log(BEN).iter().filter(|(_, _, text)| text.starts_with("refused: busy")).count();
    assert_eq!(busy, 0, "that was hers");
}

#[test]
fn a_trace_stays_with_its_task_until_there_is_another() {
    let mut world = World::pushing::<_, 8, 512, 8, 2>(Script, protocol_core::push::Challenge::Never, None);
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    let parent = |trace| format!("00-{trace}-00f067aa0ba902b7-01");
    let body = super::push::send_to("ask more", "https://example.com/");
    let ask = |world: &mut World, body: &str, traceparent: Option<&str>| {
        let client = world.request(&Inbound { traceparent, body: body.as_bytes(), ..Inbound::GUEST }, 64);
        client.text()
    };
    let id = member(&ask(&mut world, &body, Some(&parent(TRACE))), "id");
    world.advance(10);
    assert!(hooks.take().iter().all(|sent| sent.trace.as_deref() == Some(TRACE)));
    let again = send("SendMessage", "ask more", &format!(r#","taskId":"{id}""#));
    for (traceparent, stays) in [(None, TRACE), (Some("00-zz-zz-00".to_owned()), TRACE), (Some(parent(OTHER)), OTHER)] {
        ask(&mut world, &again, traceparent.as_deref());
        world.advance(10);
        let sent = hooks.take();
        assert!(!sent.is_empty() && sent.iter().all(|sent| sent.trace.as_deref() == Some(stays)), "{sent:?}");
    }
    // A task without one has none, even where its slot had one before.
    ask(&mut world, &body, None);
    world.advance(10);
    assert!(hooks.take().iter().all(|sent| sent.trace.is_none()));
}

#[test]
fn a_webhook_that_is_given_up_is_told_of() {
    let mut world = World::pushing::<_, 8, 512, 8, 2>(Script, protocol_core::push::Challenge::Never, None);
    let _hooks = Webhooks::start(&mut world, 2, |_| Answer::Now(Outcome::Refused));
    let id = member(&world.ask(&super::push::send_to("ask more", "https://example.com/")), "id");
    world.advance(10);
    let told = ("warn", id, "a webhook is given up until there is something new to tell".to_owned());
    assert!(world.log("").contains(&told), "{:?}", world.log(""));
}

#[test]
fn who_gets_in_is_told_without_a_name() {
    let world = guarded();
    world.node.change_door(|door| door.set_open(true));
    world.node.change_door(|door| door.set_open(false));
    world.node.change_door(|door| door.forget("ben"));
    world.node.note(Note::because(protocol_core::Level::Warn, "started", "panic"));
    let texts: Vec<_> = world.log(ANNA).into_iter().map(|(level, _, text)| (level, text)).collect();
    let texts: Vec<_> = texts.iter().map(|(level, text)| (*level, text.as_str())).collect();
    assert_eq!(
        texts,
        [
            ("info", "the time is known"),
            ("info", "the door was opened: everybody gets in"),
            ("info", "the door was shut"),
            ("info", "it was changed who gets in"),
            ("warn", "started: panic"),
        ]
    );
}
