//! The engine against a simple model of it, under random operations.

use std::collections::BTreeMap;

use mote_tests::{
    random::{Random, with_seeds},
    script::{Script, about},
    world::{PROFILE, World},
};
use protocol_core::Served;
use serde_json::{Value, json};

/// What a run comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It ran to its end without a word: what the client said meanwhile is still heard.
    Done,
    /// It said that this is the end.
    Completed,
    Failed,
    Asked,
}

/// What to tell the agent, how long that takes, and what comes of it.
const SCRIPTS: &[(&str, u64, Outcome)] = &[
    ("done", 0, Outcome::Done),
    ("end fine", 0, Outcome::Completed),
    ("fail x", 0, Outcome::Failed),
    ("ask which", 0, Outcome::Asked),
    ("put a; chunks 6; done", 0, Outcome::Done),
    ("says 4; ask more", 0, Outcome::Asked),
    ("work; wait 50; done", 50, Outcome::Done),
    ("chunk a; wait 50; chunk b; ask more", 50, Outcome::Asked),
    ("say hm; wait 120; fail late", 120, Outcome::Failed),
    ("work; wait 400; chunks 20; end late", 400, Outcome::Completed),
];

type Run = (&'static str, u64, Outcome);

#[derive(Clone, Debug)]
struct Task {
    state: &'static str,
    /// Until when the present run works, and what comes of it.
    works: Option<(u64, Outcome)>,
    /// What the client said while it worked; the newest counts.
    pending: Option<Run>,
    /// Ids of the client's messages in their order.
    messages: Vec<String>,
}

impl Task {
    fn start(&mut self, now: u64, (_, wait, outcome): Run) {
        if wait == 0 {
            self.end(now, outcome);
        } else {
            self.state = "TASK_STATE_WORKING";
            self.works = Some((now + wait, outcome));
        }
    }

    fn end(&mut self, now: u64, outcome: Outcome) {
        self.works = None;
        self.state = match outcome {
            Outcome::Done | Outcome::Completed => "TASK_STATE_COMPLETED",
            Outcome::Failed => "TASK_STATE_FAILED",
            Outcome::Asked => "TASK_STATE_INPUT_REQUIRED",
        };
        match self.pending.take() {
            Some(run) if matches!(outcome, Outcome::Asked | Outcome::Done) => self.start(now, run),
            _ => {}
        }
    }

    fn pass(&mut self, now: u64) {
        while let Some((until, outcome)) = self.works.filter(|(until, _)| *until <= now) {
            self.end(until, outcome);
        }
    }

    fn is_ended(&self) -> bool {
        is_ended(self.state)
    }
}

fn is_ended(state: &str) -> bool {
    ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED"].contains(&state)
}

struct Model {
    world: World,
    tasks: BTreeMap<String, Task>,
    now: u64,
    messages: u64,
    /// How often there were refusals and evictions: without any, nothing would be tested.
    refusals: u32,
    evictions: u32,
}

impl Model {
    fn ask(&mut self, body: &str) -> Value {
        serde_json::from_str(&self.world.ask(body)).expect("JSON")
    }

    /// Every task with its state, newest status first.
    fn list(&mut self) -> Vec<(String, String)> {
        let list =
            self.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"historyLength":0,"pageSize":100}}"#);
        let tasks = list["result"]["tasks"].as_array().expect("a list");
        assert_eq!(list["result"]["totalSize"], json!(tasks.len()));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        tasks.iter().map(|task| (text(&task["id"]), text(&task["status"]["state"]))).collect()
    }

    /// Sends a message to a task, or to a new one. Says the code if it was refused.
    fn send(&mut self, random: &mut Random, to: Option<&str>, run: Run) -> Option<i64> {
        self.messages += 1;
        let id = format!("m{}", self.messages);
        let filling = if random.once_in(3) { "x".repeat(random.below(900)) } else { String::new() };
        let by_name = to.is_some_and(|to| to.starts_with('t'));
        let (method, params) = if by_name {
            let parts = json!([{"type": "text", "text": run.0}, {"type": "data", "data": {"f": filling}}]);
            let message = json!({"messageId": id, "role": "user", "parts": parts});
            ("tasks/send", json!({"id": to, "message": message}))
        } else {
            let parts = json!([{"text": run.0}, {"data": filling}]);
            let message = json!({"messageId": id, "role": "ROLE_USER", "parts": parts, "taskId": to});
            let configuration = json!({"returnImmediately": random.once_in(2)});
            ("SendMessage", json!({"message": message, "configuration": configuration}))
        };
        let client =
            self.world.post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string());
        let answer = client.has_ended().then(|| serde_json::from_str::<Value>(&client.text()).expect("JSON"));
        if random.once_in(5) {
            client.hang_up();
        }
        answer.and_then(|answer| answer["error"]["code"].as_i64())
    }

    /// Takes a message into the model.
    fn take(&mut self, id: &str, run: Run) {
        let (now, message) = (self.now, format!("m{}", self.messages));
        let fresh = Task { state: "TASK_STATE_SUBMITTED", works: None, pending: None, messages: Vec::new() };
        let task = self.tasks.entry(id.to_owned()).or_insert(fresh);
        task.messages.push(message);
        if task.works.is_some() {
            task.pending = Some(run);
        } else {
            task.start(now, run);
        }
    }

    /// Compares after an operation on `target`; `before` is the list before it.
    fn check(&mut self, before: &[(String, String)], target: Option<&str>) {
        let after = self.list();
        let stands = |id: &str| after.iter().any(|(other, _)| other == id);
        // Finished tasks went first, the oldest first; live ones never.
        let finished: Vec<&String> = before
            .iter()
            .rev()
            .filter(|(id, state)| is_ended(state) && Some(id.as_str()) != target)
            .map(|(id, _)| id)
            .collect();
        let kept = finished.iter().position(|id| stands(id)).unwrap_or(finished.len());
        assert!(finished[kept..].iter().all(|id| stands(id)), "not the oldest first: {before:?} became {after:?}");
        let gone: Vec<String> = self.tasks.keys().filter(|id| !stands(id)).cloned().collect();
        for id in gone {
            let task = self.tasks.remove(&id).expect("it was there");
            self.evictions += 1;
            let was_finished = finished.contains(&&id);
            assert!(was_finished || (task.is_ended() && kept == finished.len()), "{id} was lost alive: {task:?}");
        }
        assert_eq!(after.len(), self.tasks.len(), "{after:?} but {:?}", self.tasks);
        for (id, state) in &after {
            let shown = self.ask(&about("GetTask", id));
            let shown = &shown["result"];
            assert_eq!(shown["status"]["state"], state.as_str());
            let task = self.tasks.get(id).unwrap_or_else(|| panic!("{id} came from nowhere"));
            assert_eq!(task.state, state, "{id} is {shown}, not {task:?}");
            // Every message of the client is there, in order.
            let history = shown["history"].as_array().into_iter().flatten();
            let said: Vec<&str> = history
                .filter(|message| message["role"] == "ROLE_USER")
                .filter_map(|message| message["messageId"].as_str())
                .collect();
            assert_eq!(said, task.messages, "{id}");
        }
    }

    fn operate(&mut self, random: &mut Random) {
        let before = self.list();
        let known: Vec<String> = self.tasks.keys().cloned().collect();
        let target = (!known.is_empty()).then(|| random.pick(&known).clone());
        let run = *random.pick(SCRIPTS);
        match (random.below(10), target) {
            (0..=1, _) => {
                let span = *random.pick(&[0, 1, 49, 50, 51, 400]);
                self.now += span;
                self.world.advance(span);
                let now = self.now;
                self.tasks.values_mut().for_each(|task| task.pass(now));
                self.check(&before, None);
            }
            (2, Some(id)) => {
                let answer = self.ask(&about("CancelTask", &id));
                let task = self.tasks.get_mut(&id).expect("it is known");
                if task.is_ended() {
                    assert_eq!(answer["error"]["code"], -32002, "{answer}");
                } else {
                    (task.state, task.works, task.pending) = ("TASK_STATE_CANCELED", None, None);
                    assert_eq!(answer["result"]["status"]["state"], task.state, "{answer}");
                }
                self.check(&before, None);
            }
            (3..=6, Some(id)) => {
                let ended = self.tasks[&id].is_ended();
                let refused = self.send(random, Some(&id), run);
                match refused {
                    None => self.take(&id, run),
                    Some(-32004) => assert!(ended && !id.starts_with('t')),
                    Some(code) => self.assert_full(code, Some(&id)),
                }
                let reopened = refused.is_none() && ended;
                self.check(&before, reopened.then_some(id.as_str()));
                assert!(refused.is_none() || self.list().len() == before.len(), "a refusal cost a task");
            }
            _ => {
                let named = random.once_in(3).then(|| format!("t{}", self.messages));
                let refused = self.send(random, named.as_deref(), run);
                let after = self.list();
                let new: Vec<&String> =
                    after.iter().map(|(id, _)| id).filter(|id| !self.tasks.contains_key(*id)).collect();
                match refused {
                    None => {
                        assert_eq!(new.len(), 1, "{before:?} became {after:?}");
                        let id = new[0].clone();
                        self.take(&id, run);
                    }
                    Some(code) => {
                        self.assert_full(code, None);
                        assert_eq!(after, before, "a refusal changed something");
                    }
                }
                self.check(&before, None);
            }
        }
    }

    /// Busy has a reason: the table, the readers, the pool, or the share of the task that the message was for.
    fn assert_full(&mut self, code: i64, id: Option<&str>) {
        self.refusals += 1;
        let limits = self.world.node.limits();
        assert!([-32000, -32011].contains(&code), "{code} for {id:?}");
        let live = self.tasks.values().filter(|task| !task.is_ended()).count() as u32;
        let is_tight = limits.readers.used == limits.readers.all || limits.blocks.used > limits.blocks.all / 4;
        assert!(live == limits.tasks.all || is_tight || id.is_some(), "busy for no reason: {limits:?}");
    }
}

#[test]
fn the_engine_does_what_a_simple_model_does() {
    let tight = core::cell::Cell::new((0, 0));
    with_seeds(25, |random| {
        let world = if random.once_in(2) {
            World::with::<_, 5, 80, 5, 6>(Script, Served::ALL, PROFILE)
        } else {
            World::with::<_, 5, 48, 5, 6>(Script, Served::ALL, PROFILE)
        };
        let mut model = Model { world, tasks: BTreeMap::new(), now: 0, messages: 0, refusals: 0, evictions: 0 };
        for _ in 0..50 {
            model.operate(random);
        }
        // When all has ended and made room, nothing is left of it.
        let live: Vec<String> =
            model.tasks.iter().filter(|(_, task)| !task.is_ended()).map(|(id, _)| id.clone()).collect();
        for id in live {
            assert!(model.ask(&about("CancelTask", &id)).get("result").is_some());
        }
        model.world.advance(10_000);
        for n in 0..5 {
            let answer = model.ask(&mote_tests::script::send("SendMessage", "done", &format!(r#","contextId":"{n}""#)));
            assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
        }
        let limits = model.world.node.limits();
        assert_eq!((limits.tasks.used, limits.readers.used), (5, 0));
        // A message, that it was submitted, that it is completed.
        assert_eq!(limits.blocks.used, 5 * 3, "blocks are lost");
        let (refusals, evictions) = tight.get();
        tight.set((refusals + model.refusals, evictions + model.evictions));
    });
    let (refusals, evictions) = tight.get();
    let is_whole = std::env::var_os("MOTE_SEED").is_none();
    assert!(!is_whole || (refusals > 50 && evictions > 100), "{refusals} refusals, {evictions} evictions only");
}
