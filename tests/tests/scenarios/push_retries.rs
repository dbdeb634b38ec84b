//! Push notifications that fail: tried again as they were, with growing pauses, given up, taken up again.

use core::cell::RefCell;
use std::rc::Rc;

use mote_tests::{
    webhook::{Answer, FAILED, Sent, TAKEN, Webhooks},
    world::World,
};
use protocol_core::{
    push::{Challenge, Outcome},
    time::Millis,
};

use crate::{
    push::{send_to, set, world},
    support::{Script, member, send, state_of, texts},
};

const HOOK: &str = "https://example.com/";

fn pauses(sent: &[Sent]) -> Vec<u64> {
    sent.windows(2).map(|pair| pair[1].at - pair[0].at).collect()
}

fn asked(millis: u64) -> Answer {
    Answer::Now(Outcome::Failed { retry_after: Some(Millis(millis)) })
}

#[test]
fn what_fails_is_tried_again_as_it_was_and_nothing_overtakes_it() {
    let mut world = world();
    let mut attempts = 0;
    let hooks = Webhooks::start(&mut world, 2, move |_| {
        attempts += 1;
        if attempts % 3 == 0 { TAKEN } else { FAILED }
    });
    world.ask(&send_to("work; chunk a; wait 1; chunk b; wait 100; chunk c; say x; done", HOOK));
    world.advance(120_000);
    let sent = hooks.take();
    let events: Vec<&[Sent]> = sent.chunks(3).collect();
    for event in &events {
        assert!(event.iter().all(|sent| (&sent.id, &sent.body) == (&event[0].id, &event[0].body)), "{event:#?}");
    }
    let mut ids: Vec<&str> = events.iter().map(|event| event[0].id.as_str()).collect();
    let told: Vec<String> = events.iter().flat_map(|event| texts(event[0].body.as_ref().unwrap())).collect();
    assert_eq!(told, ["a", "b", "c", "x"]);
    assert_eq!(state_of(sent.last().unwrap().body.as_ref().unwrap()), "TASK_STATE_COMPLETED");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), events.len(), "no two events have one id");
    assert_eq!(world.node.push_counts().unwrap().failed, 2 * world.node.push_counts().unwrap().delivered);
}

#[test]
fn whole_tasks_are_tried_again_as_they_were() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |sent| if sent.at < 10_000 { FAILED } else { TAKEN });
    let config = r#"}]},"configuration":{"blocking":false,"pushNotificationConfig":{"url":"https://example.com/"}}}}"#;
    let text = "work; wait 10; chunk a; wait 2000; chunk b; done";
    world.ask(&crate::support::send_03("message/send", text, "").replace("}]}}}", config));
    world.advance(60_000);
    let sent = hooks.take();
    // The task has gone on and ended meanwhile.
    let first: Vec<&Sent> = sent.iter().filter(|other| other.id == sent[0].id).collect();
    assert!(first.len() > 3 && first.last().unwrap().at > 2010);
    assert!(first.iter().all(|other| other.body == sent[0].body));
    assert_eq!(state_of(sent.last().unwrap().body.as_ref().unwrap()), "completed");
}

#[test]
fn pauses_double_up_to_a_bound_with_half_of_them_by_chance_and_then_it_is_given_up() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| FAILED);
    world.ask(&send_to("done", HOOK));
    world.advance(24 * 3_600_000);
    let sent = hooks.take();
    assert_eq!(sent.len(), 8);
    for (n, pause) in pauses(&sent).into_iter().enumerate() {
        let whole = 1000 << n;
        assert!((whole / 2..=whole).contains(&pause), "{pause} behind attempt {}", n + 1);
    }
    let counts = world.node.push_counts().unwrap();
    assert_eq!((counts.failed, counts.given_up, counts.delivered, counts.lost), (8, 1, 0, 0));
}

#[test]
fn a_webhook_that_says_when_is_tried_then_but_not_later_than_in_an_hour() {
    for (wants, least, most) in [(0, 500, 1000), (10_000, 10_000, 10_000), (1_000_000_000, 3_600_000, 3_600_000)] {
        let mut world = world();
        let hooks = Webhooks::start(&mut world, 2, move |_| asked(wants));
        world.ask(&send_to("done", HOOK));
        world.advance(most + 1);
        let pause = pauses(&hooks.sent())[0];
        assert!((least..=most).contains(&pause), "{pause} for {wants}");
    }
}

#[test]
fn what_was_given_up_is_taken_up_when_something_new_happens_and_nothing_is_lost() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| FAILED);
    let client = world.post(&send_to("work; chunk a; wait 10; say x; wait 1000000; chunk b; end y", HOOK));
    world.advance(900_000);
    assert!(client.has_ended());
    assert_eq!(hooks.sent().len(), 8);
    let first = hooks.take().remove(0);
    hooks.answer(|_| TAKEN);
    world.advance(99_000);
    assert!(hooks.sent().is_empty(), "it is left alone");
    world.advance(10_000);
    let sent = hooks.take();
    assert_eq!((&sent[0].id, &sent[0].body), (&first.id, &first.body));
    let told: Vec<String> = sent.iter().flat_map(|sent| texts(sent.body.as_ref().unwrap())).collect();
    assert_eq!(told, ["a", "x", "b", "y"]);
    assert_eq!(state_of(sent.last().unwrap().body.as_ref().unwrap()), "TASK_STATE_COMPLETED");
}

#[test]
fn what_is_new_gets_as_many_attempts_as_what_was_given_up() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| FAILED);
    world.ask(&send_to("work; wait 1000000; end y", HOOK));
    world.advance(999_000);
    assert_eq!(hooks.take().len(), 8);
    world.advance(24 * 3_600_000);
    let sent = hooks.take();
    assert_eq!(sent.len(), 8);
    assert!(pauses(&sent).into_iter().all(|pause| (128_000..=300_000).contains(&pause)), "{:?}", pauses(&sent));
    assert_eq!(world.node.push_counts().unwrap().given_up, 2);
}

#[test]
fn what_happens_while_the_last_attempt_is_out_is_something_new() {
    let mut world = world();
    // The last attempt takes so long that the task ends meanwhile.
    let mut attempts = 0;
    let hooks = Webhooks::start(&mut world, 2, move |_| {
        attempts += 1;
        match attempts {
            8 => Answer::After(1_000_000, Outcome::Failed { retry_after: None }),
            9.. => TAKEN,
            _ => FAILED,
        }
    });
    world.ask(&send_to("work; wait 500000; end y", HOOK));
    world.advance(2_000_000);
    let bodies = hooks.bodies();
    assert_eq!(state_of(bodies.last().unwrap()), "TASK_STATE_COMPLETED", "{bodies:#?}");
}

#[test]
fn what_is_refused_for_good_is_not_tried_again_until_there_is_something_new() {
    let mut world = world();
    let hooks = Webhooks::start(&mut world, 2, |_| Answer::Now(Outcome::Refused));
    world.ask(&send_to("work; wait 1000000; end y", HOOK));
    world.advance(999_999);
    // The second one was something new: the task had begun before the first was refused.
    let refused = hooks.sent().len();
    assert!(refused <= 2, "{:#?}", hooks.sent());
    hooks.answer(|_| TAKEN);
    world.advance(10_000);
    assert_eq!(hooks.sent().len(), refused + 3);
}

#[test]
fn a_delivery_that_its_sender_loses_has_failed() {
    let mut world = world();
    let mut lost = 1;
    let hooks = Webhooks::start(&mut world, 2, move |_| {
        lost -= 1;
        if lost >= 0 { Answer::Dropped(100) } else { TAKEN }
    });
    world.ask(&send_to("done", HOOK));
    world.advance(10_000);
    let sent = hooks.take();
    assert_eq!((sent[0].id.as_str(), &sent[0].body), (sent[1].id.as_str(), &sent[1].body));
    assert_eq!(sent.len(), 3);
    assert_eq!(world.node.push_counts().unwrap().failed, 1);
}

#[test]
fn a_network_that_is_back_is_used_at_once_but_for_those_who_want_to_be_left_alone() {
    let mut world = world();
    let hooks =
        Webhooks::start(&mut world, 2, |sent| if sent.url.contains("busy") { asked(3_000_000) } else { FAILED });
    world.ask(&send_to("done", HOOK));
    world.ask(&send_to("done", "https://busy.example/"));
    world.advance(1_000_000);
    hooks.take();
    hooks.answer(|_| TAKEN);
    world.advance(1_000_000);
    assert!(hooks.sent().is_empty());
    world.node.retry_deliveries();
    world.settle();
    assert_eq!(hooks.sent().iter().map(|sent| sent.url.as_str()).collect::<Vec<_>>(), [HOOK; 2]);
    world.advance(1_000_000);
    assert_eq!(hooks.sent().len(), 4);
}

#[test]
fn webhooks_that_never_answer_delay_no_other() {
    let mut world = World::pushing::<_, 16, 1024, 16, 2>(Script, Challenge::Never, None);
    let hooks = Webhooks::start(&mut world, 2, |sent| {
        if sent.url.contains("dead") { Answer::After(10_000, Outcome::Failed { retry_after: None }) } else { TAKEN }
    });
    for n in 0..5 {
        world.ask(&send_to("says 3; done", &format!("https://dead{n}.example/")));
    }
    // Each of them has its first try, two at a time; from then on they have one sender between them.
    world.advance(60_000);
    hooks.take();
    for n in 0..20 {
        world.ask(&send_to("says 3; done", HOOK));
        world.advance(1);
        let told = hooks.sent().iter().filter(|sent| sent.url == HOOK).count();
        assert_eq!(told, 5 * (n + 1));
        world.advance(3_000);
    }
    assert!(hooks.sent().iter().filter(|sent| sent.url != HOOK).all(|sent| sent.sender == 1));
    assert!(hooks.sent().iter().any(|sent| sent.url != HOOK), "the dead ones are tried all the same");
}

#[test]
fn everybody_has_its_turn() {
    let mut world = World::pushing::<_, 16, 1024, 16, 1>(Script, Challenge::Never, None);
    let hooks = Webhooks::start(&mut world, 1, |_| Answer::After(1000, Outcome::Delivered));
    for n in 0..4 {
        world.ask(&send_to("says 10; done", &format!("https://hook{n}.example/")));
    }
    world.advance(100_000);
    let urls: Vec<String> = hooks.sent().iter().map(|sent| sent.url.clone()).collect();
    assert_eq!(urls.len(), 4 * 12);
    for round in urls.chunks(4) {
        let mut round = round.to_vec();
        round.sort();
        round.dedup();
        assert_eq!(round.len(), 4, "{urls:?}");
    }
}

#[test]
fn a_sender_that_stops_waiting_is_not_missed() {
    // Only the second sender comes, and only after everything has happened: nothing was lost for lack of a waker.
    let mut world = world();
    let id = member(&world.ask(&send_to("work; wait 10; chunk a; done", HOOK)), "id");
    world.advance(1000);
    let hooks = Webhooks::start(&mut world, 2, |_| TAKEN);
    assert_eq!(hooks.bodies().len(), 4);
    // A waiting sender is woken by every kind of news.
    world.ask(&set(&id, "b", HOOK));
    let seen = Rc::new(RefCell::new(0));
    let counter = Rc::clone(&seen);
    hooks.answer(move |_| {
        *counter.borrow_mut() += 1;
        TAKEN
    });
    world.ask(&send("SendMessage", "done", ""));
    assert_eq!(*seen.borrow(), 0);
    world.ask(&send_to("ask x", HOOK));
    assert_eq!(*seen.borrow(), 2);
}
