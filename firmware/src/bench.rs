//! A bench for agents: a node in virtual time, asked and answered in JSON, with everything polled by hand; and a board to
//! put them on.
//!
//! For tests only, and with `std`: the feature `bench` has it for those of other crates.

extern crate std;

use core::{
    cell::{Cell, RefCell},
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll, Waker},
};
use std::{boxed::Box, format, string::String, sync::Arc, task::Wake, vec::Vec};

use protocol_core::{
    Agent, Engine, Identity, Inbound, Node, Profile, Served, Skilled, Storage,
    door::{Address, Allowance, Classes, Credential, Door, DoorStorage, Principal},
    time::{Clock, Entropy, Millis, UnixMillis},
};

use crate::{
    board::{Board, Key, Position, Sensor, Trouble},
    milli::Milli,
};

/// Runs a test with an agent that is made of skills on the bench.
pub fn with_skills<S: Skilled>(agent: &S, test: impl FnOnce(&Bench<'_>)) {
    with_agent(S::PROFILE, agent, test);
}

/// Runs a test with an agent on the bench.
///
/// # Panics
/// If a worker leaves, as none does.
pub fn with_agent<A: Agent>(profile: Profile<'static>, agent: &A, test: impl FnOnce(&Bench<'_>)) {
    let mut storage = Box::new(Storage::<16, 512, WORKERS, 8>::new());
    let mut entropy = Counter(0);
    let clock = Ticks::default();
    let identity = Identity { profile, url: None, served: Served::ALL };
    let mut visitors = DoorStorage::<2, 1>::new();
    let mut door = Door::new(&mut visitors, Allowance::UNLIMITED);
    for (name, classes, token) in [("owner", "read+act+operator", OWNER), ("reader", "read", READER)] {
        let principal = Principal::new(name, Classes::parse(classes).expect("classes"), token).expect("a principal");
        door.know(principal).expect("there is room");
    }
    let node = Node::new(Engine::new(&mut *storage, &mut entropy), door, &clock, identity);
    let workers = (0..WORKERS).map(|worker| Box::pin(work(&node, worker, agent)) as Worker<'_>).collect();
    let bench = Bench { node: &node, workers: RefCell::new(workers), clock: &clock, token: Cell::new(OWNER) };
    bench.settle();
    test(&bench);
}

/// The token of somebody who may do everything, and of somebody who may only look.
pub const OWNER: &str = "the-token-of-the-owner";
/// See [`OWNER`].
pub const READER: &str = "the-token-of-a-reader";

const WORKERS: usize = 3;

async fn work<A: Agent>(node: &Node<'_>, worker: usize, agent: &A) {
    node.work(worker, agent).await;
}

type Worker<'b> = Pin<Box<dyn Future<Output = ()> + 'b>>;

/// A node with an agent at work, and a clock that goes when it is told to.
pub struct Bench<'b> {
    node: &'b Node<'b>,
    workers: RefCell<Vec<Worker<'b>>>,
    clock: &'b Ticks,
    token: Cell<&'static str>,
}

impl Bench<'_> {
    /// Sends a request and returns the whole answer, letting as much time pass as it takes.
    ///
    /// # Panics
    /// If that takes more than ten minutes.
    pub fn call(&self, body: &str) -> String {
        let credential = Credential { name: None, token: self.token.get().as_bytes() };
        let caller = self.node.admit(Address::default(), Some(credential)).ok();
        let mut reply = self.node.call(&Inbound { caller, body: body.as_bytes(), ..Inbound::GUEST });
        let mut answer = Vec::new();
        let mut piece = [0; 64];
        loop {
            let restless = self.round();
            let flag = Arc::new(Flag::default());
            match reply.poll_fill(&mut Context::from_waker(&Waker::from(flag.clone())), &mut piece) {
                Poll::Ready(Ok(0)) => break,
                Poll::Ready(Ok(n)) => answer.extend_from_slice(&piece[..n]),
                Poll::Ready(Err(broken)) => panic!("{broken}"),
                Poll::Pending if restless => {}
                Poll::Pending => self.clock.tick(),
            }
        }
        String::from_utf8(answer).expect("an answer is text")
    }

    /// From now on it is the owner of this token who calls.
    pub fn call_as(&self, token: &'static str) {
        self.token.set(token);
    }

    /// Sends words in the newest dialect; `more` are further members of the message.
    pub fn say(&self, words: &str, more: &str) -> String {
        self.part(&format!(r#"{{"text":"{words}"}}"#), more)
    }

    /// Sends one part in the newest dialect.
    pub fn part(&self, part: &str, more: &str) -> String {
        self.call(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{part}]{more}}}}}}}"#
        ))
    }

    /// Sends words and does not wait for what becomes of them. Gives the id of the task.
    pub fn begin(&self, words: &str) -> String {
        task_id(&self.call(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"configuration":{{"returnImmediately":true}},"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"text":"{words}"}}]}}}}}}"#
        )))
    }

    /// Cancels a task.
    pub fn cancel(&self, id: &str) -> String {
        self.call(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{{"id":"{id}"}}}}"#))
    }

    /// The task as older clients see it.
    pub fn get(&self, id: &str) -> String {
        self.call(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{{"id":"{id}"}}}}"#))
    }

    /// Lets time pass.
    pub fn pass(&self, millis: u64) {
        let end = self.clock.0.get() + millis;
        self.settle();
        while self.clock.0.get() < end {
            self.clock.tick();
            self.settle();
        }
    }

    /// Milliseconds since the beginning.
    pub fn now(&self) -> u64 {
        self.clock.0.get()
    }

    /// Tells the node the wall time, in milliseconds since 1970.
    pub fn set_wall_time(&self, wall: u64) {
        self.node.handle_wall_time(UnixMillis(wall));
    }

    fn settle(&self) {
        while self.round() {}
    }

    /// Polls every worker once and says whether one of them wants to be polled again at once.
    fn round(&self) -> bool {
        let flag = Arc::new(Flag::default());
        let waker = Waker::from(flag.clone());
        for worker in self.workers.borrow_mut().iter_mut() {
            assert!(worker.as_mut().poll(&mut Context::from_waker(&waker)).is_pending(), "a worker left");
        }
        flag.0.load(Ordering::Relaxed)
    }
}

/// A board whose temperature rises by 0.1 with every reading, from 21.5.
#[derive(Default)]
pub struct Toy {
    /// Readings that were made.
    pub reads: Cell<i32>,
    /// No more readings than these can be made.
    pub fails_after: Cell<Option<i32>>,
    /// How its light was switched last: its one actuator, `led`.
    pub led: Cell<Option<Position>>,
    /// How often it was to restart.
    pub reboots: Cell<u32>,
    /// How often it was to forget its network.
    pub forgets: Cell<u32>,
    /// What it keeps.
    pub store: RefCell<Vec<(Key, Vec<u8>)>>,
}

impl Board for Toy {
    fn sensors(&self) -> &[Sensor] {
        &[Sensor { name: "temperature", unit: "°C" }, Sensor { name: "humidity", unit: "%" }]
    }

    async fn read(&self, sensor: usize) -> Result<Milli, Trouble> {
        let reads = self.reads.get();
        self.reads.set(reads + 1);
        match sensor {
            _ if self.fails_after.get().is_some_and(|after| reads >= after) => Err(Trouble("no answer on the bus")),
            0 => Ok(Milli(21_500 + 100 * reads)),
            _ => Ok(Milli(45_000)),
        }
    }

    fn actuators(&self) -> &[&'static str] {
        &["led"]
    }

    fn set(&self, _: usize, position: Position) -> Result<(), Trouble> {
        self.led.set(Some(position));
        Ok(())
    }

    fn reboot(&self) {
        self.reboots.set(self.reboots.get() + 1);
    }

    fn forget_wifi(&self) -> Result<(), Trouble> {
        self.forgets.set(self.forgets.get() + 1);
        Ok(())
    }

    fn load(&self, key: Key, value: &mut [u8]) -> Option<usize> {
        let store = self.store.borrow();
        let (_, kept) = store.iter().find(|(known, _)| *known == key)?;
        value.get_mut(..kept.len())?.copy_from_slice(kept);
        Some(kept.len())
    }

    fn save(&self, key: Key, value: &[u8]) -> Result<(), Trouble> {
        let mut store = self.store.borrow_mut();
        store.retain(|(known, _)| *known != key);
        store.push((key, value.into()));
        Ok(())
    }
}

/// The string that an answer has behind `"name":"`.
///
/// # Panics
/// If it has none.
pub fn text_of<'a>(answer: &'a str, name: &str) -> &'a str {
    let begin = format!("\"{name}\":\"");
    let (_, rest) = answer.split_once(&begin).unwrap_or_else(|| panic!("no {name} in {answer}"));
    rest.split_once('"').expect("a string ends").0
}

/// The id of the task in an answer.
///
/// # Panics
/// If there is none.
pub fn task_id(answer: &str) -> String {
    text_of(answer.split_once("\"result\":").expect("a result").1, "id").into()
}

#[derive(Default)]
struct Ticks(Cell<u64>);

impl Ticks {
    /// Virtual time goes in steps; a test that waits for minutes is a mistake.
    fn tick(&self) {
        self.0.set(self.0.get() + 10);
        assert!(self.0.get() < 600_000, "nothing happens");
    }
}

impl Clock for Ticks {
    fn now(&self) -> Millis {
        Millis(self.0.get())
    }
}

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Ids that count.
struct Counter(u8);

impl Entropy for Counter {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        bytes.fill(self.0);
    }
}
