//! The events of a stream add up to the task, however slow its reader and however tight the log.

use std::collections::BTreeMap;

use mote_tests::{
    random::{Random, with_seeds},
    script::{Script, about, member, send, send_03},
    world::{Client, PROFILE, World},
};
use protocol_core::{Inbound, Served};
use serde_json::Value;

/// What a reader knows: the parts of each artifact, and the state.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub(crate) artifacts: BTreeMap<String, Vec<Value>>,
    pub(crate) state: String,
    snapshots: usize,
    finals: usize,
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn parts(artifact: &Value) -> Vec<Value> {
    artifact["parts"].as_array().cloned().unwrap_or_default()
}

impl View {
    /// Takes an event of either of the newer dialects.
    pub(crate) fn take(&mut self, result: &Value) {
        let of_kind =
            |wrapper: &str, kind: &str| result.get(wrapper).or_else(|| (result["kind"] == kind).then_some(result));
        if let Some(task) = of_kind("task", "task") {
            self.snapshots += 1;
            self.state = text(&task["status"]["state"]);
            let artifacts = task["artifacts"].as_array().into_iter().flatten();
            self.artifacts = artifacts.map(|artifact| (text(&artifact["artifactId"]), parts(artifact))).collect();
        } else if let Some(update) = of_kind("artifactUpdate", "artifact-update") {
            let artifact = &update["artifact"];
            let known = self.artifacts.entry(text(&artifact["artifactId"])).or_default();
            if update["append"] != true {
                known.clear();
            }
            known.extend(parts(artifact));
        } else if let Some(update) = of_kind("statusUpdate", "status-update") {
            self.state = text(&update["status"]["state"]);
            self.finals += usize::from(update["final"] == true);
        } else {
            panic!("what is {result}?");
        }
    }
}

pub(crate) fn script(random: &mut Random) -> String {
    const STEPS: &[&str] = &[
        "work",
        "say hm",
        "says 6",
        "wait 10",
        "wait 0",
        "add out a",
        "add out bc",
        "add two d",
        "add out é",
        "chunks 4",
        "chunks 15",
        "put two",
        "put x",
        "add x longer than what fits into a single block of the log",
        "wait 5",
    ];
    let mut steps: Vec<&str> = (0..2 + random.below(14)).map(|_| *random.pick(STEPS)).collect();
    steps.push(*random.pick(&["done", "end fine", "fail x", "ask which"]));
    steps.join("; ")
}

fn judge(world: &mut World, client: &Client, is_newest: bool) {
    let events: Vec<Value> = client
        .events()
        .iter()
        .map(|event| serde_json::from_str(event).unwrap_or_else(|error| panic!("{error}: {event}")))
        .collect();
    // The snapshot of a task that has ended has the number of its end, which comes next.
    assert!(client.ids().is_sorted(), "ids go back: {:?}", client.ids());
    let mut view = View::default();
    events.iter().for_each(|event| view.take(&event["result"]));
    if client.is_broken() {
        return;
    }
    assert!(client.has_ended(), "still open: {}", client.text());
    assert_eq!(view.snapshots, 1, "{}", client.text());
    let id = if is_newest { &events[0]["result"]["task"]["id"] } else { &events[0]["result"]["id"] };
    let method = if is_newest { "GetTask" } else { "tasks/get" };
    let task: Value = serde_json::from_str(&world.ask(&about(method, &text(id)))).expect("JSON");
    let task = &task["result"];
    assert_eq!(view.state, text(&task["status"]["state"]), "{}", client.text());
    // A reader that began late may have been shown the end at once.
    assert!(is_newest || view.finals == usize::from(events.len() > 1), "{}", client.text());
    for artifact in task["artifacts"].as_array().into_iter().flatten() {
        // What is left of an artifact is the end of what the reader has: it may have seen more before that was dropped.
        let (left, seen) = (parts(artifact), view.artifacts.get(&text(&artifact["artifactId"])));
        let seen = seen.unwrap_or_else(|| panic!("never told of {artifact}: {}", client.text()));
        assert!(seen.ends_with(&left), "{seen:?} does not end with {left:?}: {}", client.text());
    }
}

#[test]
fn the_events_of_a_stream_add_up_to_the_task() {
    let counts = core::cell::Cell::new((0, 0));
    with_seeds(700, |random| {
        let mut world = match random.below(3) {
            0 => World::with::<_, 3, 40, 1, 4>(Script, Served::ALL, PROFILE),
            1 => World::with::<_, 3, 64, 1, 4>(Script, Served::ALL, PROFILE),
            _ => World::with::<_, 3, 300, 1, 4>(Script, Served::ALL, PROFILE),
        };
        let is_newest = random.once_in(2);
        let script = script(random);
        let body =
            if is_newest { send("SendStreamingMessage", &script, "") } else { send_03("message/stream", &script, "") };
        let window = if random.once_in(2) { 4096 } else { 1 + random.below(300) };
        let inbound = Inbound { body: body.as_bytes(), ..Inbound::GUEST };
        let mut clients = vec![(world.start_with(&inbound, window), is_newest)];
        for _ in 0..30 {
            let (client, _) = random.pick(&clients);
            match random.below(6) {
                0 => client.stall(),
                1 => client.resume(),
                2 => world.advance(random.below(20) as u64),
                3 if clients.len() < 3 => {
                    // Another one joins, if the task is still there to be followed.
                    let id = member(&clients[0].0.text(), "id");
                    let is_newest = random.once_in(2);
                    let method = if is_newest { "SubscribeToTask" } else { "tasks/resubscribe" };
                    let body = about(method, &id);
                    let joins = world.request(&Inbound { body: body.as_bytes(), ..Inbound::GUEST }, window);
                    if joins.is_stream && !joins.text().starts_with("event: error") {
                        clients.push((joins, is_newest));
                    }
                }
                _ => _ = world.step(),
            }
        }
        clients.iter().for_each(|(client, _)| client.resume());
        world.advance(1000);
        // Who joined at a question waits for its answer: this is the end for him.
        let id = member(&clients[0].0.text(), "id");
        world.ask(&about("CancelTask", &id));
        world.settle();
        for (client, is_newest) in &clients {
            judge_if_ended(&mut world, client, *is_newest);
            let (broken, whole) = counts.get();
            counts.set((broken + usize::from(client.is_broken()), whole + usize::from(client.has_ended())));
        }
        assert_eq!(world.node.limits().readers.used, 0);
    });
    let (broken, whole) = counts.get();
    assert!(whole > 10 * broken, "{broken} of {whole} were cut off");
}

/// A stream that ended at a question does not know that the task was canceled afterwards.
fn judge_if_ended(world: &mut World, client: &Client, is_newest: bool) {
    let asked =
        client.events().last().is_some_and(|last| last.contains("INPUT_REQUIRED") || last.contains("input-required"));
    if !asked {
        judge(world, client, is_newest);
    }
}
