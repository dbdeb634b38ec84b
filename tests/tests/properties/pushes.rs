//! What a webhook is told adds up to the task, however often it fails, and however tight the log.

use core::cell::{Cell, RefCell};
use std::{collections::BTreeSet, rc::Rc};

use mote_tests::{
    random::{Random, with_seeds},
    script::{Script, about, member, send, send_03},
    webhook::{Answer, Sent, Webhooks},
    world::World,
};
use protocol_core::{
    push::{Challenge, Outcome},
    time::Millis,
};
use serde_json::Value;

use crate::streams::{View, parts, script, text};

/// A webhook that knows events by their ids. It may fail before it has taken an event, or behind it.
#[derive(Default)]
struct Receiver {
    seen: BTreeSet<String>,
    view: View,
    /// The newest event that it has taken.
    newest: u64,
    bodies: Vec<(String, String)>,
}

impl Receiver {
    fn take(&mut self, sent: &Sent, is_newest: bool) {
        let Some(body) = &sent.body else { return };
        assert!(!sent.is_broken);
        if !self.seen.insert(sent.id.clone()) {
            return;
        }
        let number = sent.id.split('-').nth(1).unwrap().parse().expect("the number of the event");
        assert!(number > self.newest, "{} behind {}", number, self.newest);
        self.newest = number;
        let event: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
        assert_eq!(event["kind"] == "task", !is_newest, "{body}");
        let was = self.view.state.clone();
        self.view.take(&event);
        // What has settled stays settled here, whatever the log has lost: nobody goes back.
        let is_settled = |state: &str| !["", "submitted", "working"].contains(&state);
        assert!(is_newest || !is_settled(&was) || is_settled(&self.view.state), "{was} became {}", self.view.state);
    }

    /// Whatever is tried again under one id is the same, or what is left of it. (A whole task whose status of then is gone
    /// from the log is shown as it was later.)
    fn look(&mut self, sent: &Sent) {
        let Some(body) = sent.body.as_ref().filter(|body| !body.contains(r#""kind":"task""#)) else { return };
        if let Some((_, before)) = self.bodies.iter().find(|(id, _)| *id == sent.id) {
            assert!(before == body || before.len() >= body.len() || body.contains("droppedChunks"), "{before}\n{body}");
        } else {
            self.bodies.push((sent.id.clone(), body.clone()));
        }
    }
}

fn outcome(random: &mut Random) -> (Answer, bool) {
    let failed = |retry_after| Outcome::Failed { retry_after };
    let takes = random.once_in(3);
    match random.below(12) {
        0..=3 => (Answer::Now(Outcome::Delivered), true),
        4..=5 => (Answer::After(random.below(3000) as u64, Outcome::Delivered), true),
        6 => (Answer::Now(failed(None)), takes),
        7 => (Answer::After(random.below(30_000) as u64, failed(None)), takes),
        8 => (Answer::Now(failed(Some(Millis(random.below(20_000) as u64)))), takes),
        9 => (Answer::Now(Outcome::Refused), takes),
        _ => (Answer::Dropped(random.below(100) as u64), takes),
    }
}

fn message(text: &str, is_newest: bool) -> String {
    if is_newest {
        send("SendMessage", text, "").replace(
            "}]}}}",
            r#"}]},"configuration":{"returnImmediately":true,"taskPushNotificationConfig":{"url":"https://a.example/"}}}}"#,
        )
    } else {
        send_03("message/send", text, "").replace(
            "}]}}}",
            r#"}]},"configuration":{"blocking":false,"pushNotificationConfig":{"url":"https://a.example/"}}}}"#,
        )
    }
}

fn config(method: &str, task: &str, id: &str, url: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"{method}","params":{{"taskId":"{task}","id":"{id}","url":"{url}"}}}}"#
    )
}

#[test]
fn what_a_webhook_is_told_adds_up_to_the_task() {
    let counts = Cell::new((0, 0));
    with_seeds(400, |random| {
        let challenge = if random.once_in(4) { Challenge::Always } else { Challenge::Never };
        let mut world = match random.below(3) {
            0 => World::pushing::<_, 3, 60, 4, 2>(Script, challenge, None),
            1 => World::pushing::<_, 3, 90, 4, 1>(Script, challenge, None),
            _ => World::pushing::<_, 3, 400, 4, 3>(Script, challenge, None),
        };
        let is_newest = random.once_in(2);
        let receiver = Rc::new(RefCell::new(Receiver::default()));
        let (inside, mut chance) = (Rc::clone(&receiver), random.clone());
        let hooks = Webhooks::start(&mut world, 3, move |sent| {
            let (answer, takes) = outcome(&mut chance);
            if sent.url == "https://a.example/" {
                inside.borrow_mut().look(sent);
                if takes {
                    inside.borrow_mut().take(sent, is_newest);
                }
            }
            answer
        });
        random.number();
        let sent = world.post(&message(&script(random), is_newest));
        world.advance(1);
        let id = member(&sent.text(), "id");
        let is_refused = !sent.has_ended() || sent.text().contains("error");
        for _ in 0..30 {
            match random.below(8) {
                0 => world.advance(random.below(20) as u64),
                1 => world.advance(random.below(20_000) as u64),
                2 => _ = world.post(&config("CreateTaskPushNotificationConfig", &id, "b", "https://b.example/")),
                3 => _ = world.post(&config("DeleteTaskPushNotificationConfig", &id, "b", "")),
                // The same once more: it goes on where it was.
                4 if is_newest && random.once_in(4) => {
                    _ = world.post(&config("CreateTaskPushNotificationConfig", &id, &id, "https://a.example/"));
                }
                5 => _ = world.post(&send("SendMessage", "done", "")),
                6 if random.once_in(4) => world.node.retry_deliveries(),
                _ => _ = world.step(),
            }
        }
        // From now on all goes well.
        let inside = Rc::clone(&receiver);
        hooks.answer(move |sent| {
            if sent.url == "https://a.example/" {
                inside.borrow_mut().take(sent, is_newest);
            }
            Answer::Now(Outcome::Delivered)
        });
        world.advance(4_000_000);
        world.ask(&about("CancelTask", &id));
        world.node.retry_deliveries();
        world.advance(4_000_000);
        let lost = world.node.push_counts().unwrap().lost;
        let (told, skipped) = counts.get();
        let task: Value =
            serde_json::from_str(&world.ask(&about(if is_newest { "GetTask" } else { "tasks/get" }, &id)))
                .expect("JSON");
        if is_refused || lost > 0 || task.get("error").is_some() {
            counts.set((told, skipped + 1));
            return;
        }
        counts.set((told + 1, skipped));
        let (task, receiver) = (&task["result"], receiver.borrow());
        assert_eq!(receiver.view.state, text(&task["status"]["state"]), "{:#?}", hooks.sent());
        for artifact in task["artifacts"].as_array().into_iter().flatten() {
            let (left, seen) = (parts(artifact), receiver.view.artifacts.get(&text(&artifact["artifactId"])));
            let seen = seen.unwrap_or_else(|| panic!("never told of {artifact}: {:#?}", hooks.sent()));
            assert!(seen.ends_with(&left), "{seen:?} does not end with {left:?}: {:#?}", hooks.sent());
        }
    });
    let (told, skipped) = counts.get();
    let is_whole = std::env::var_os("MOTE_SEED").is_none();
    assert!(!is_whole || told > 2 * skipped, "{told} were told all, {skipped} were not looked at");
}
