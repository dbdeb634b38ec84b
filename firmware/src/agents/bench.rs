//! A bench for agents: a node in virtual time, asked and answered in JSON, with everything polled by hand.

extern crate std;

use core::{
    cell::{Cell, RefCell},
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll, Waker},
};
use std::{boxed::Box, format, string::String, sync::Arc, task::Wake, vec::Vec};

use protocol_core::{
    Agent, Engine, Identity, Inbound, Node, Profile, Served, Storage,
    door::{Address, Allowance, Classes, Credential, Door, DoorStorage, Principal},
    time::{Clock, Entropy, Millis, UnixMillis},
};

/// Runs a test with an agent on the bench.
pub(crate) fn with_agent<A: Agent>(profile: Profile<'static>, agent: &A, test: impl FnOnce(&Bench<'_>)) {
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
pub(crate) const OWNER: &str = "the-token-of-the-owner";
pub(crate) const READER: &str = "the-token-of-a-reader";

const WORKERS: usize = 3;

async fn work<A: Agent>(node: &Node<'_>, worker: usize, agent: &A) {
    node.work(worker, agent).await;
}

type Worker<'b> = Pin<Box<dyn Future<Output = ()> + 'b>>;

pub(crate) struct Bench<'b> {
    node: &'b Node<'b>,
    workers: RefCell<Vec<Worker<'b>>>,
    clock: &'b Ticks,
    token: Cell<&'static str>,
}

impl Bench<'_> {
    /// Sends a request and returns the whole answer, letting as much time pass as it takes.
    pub(crate) fn call(&self, body: &str) -> String {
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
    pub(crate) fn call_as(&self, token: &'static str) {
        self.token.set(token);
    }

    /// Sends words in the newest dialect; `more` are further members of the message.
    pub(crate) fn say(&self, words: &str, more: &str) -> String {
        self.part(&format!(r#"{{"text":"{words}"}}"#), more)
    }

    /// Sends one part in the newest dialect.
    pub(crate) fn part(&self, part: &str, more: &str) -> String {
        self.call(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{part}]{more}}}}}}}"#
        ))
    }

    /// The task as older clients see it.
    pub(crate) fn get(&self, id: &str) -> String {
        self.call(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{{"id":"{id}"}}}}"#))
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, millis: u64) {
        let end = self.clock.0.get() + millis;
        self.settle();
        while self.clock.0.get() < end {
            self.clock.tick();
            self.settle();
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.0.get()
    }

    pub(crate) fn set_wall_time(&self, wall: u64) {
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

/// The string that an answer has behind `"name":"`.
pub(crate) fn text_of<'a>(answer: &'a str, name: &str) -> &'a str {
    let begin = format!("\"{name}\":\"");
    let (_, rest) = answer.split_once(&begin).unwrap_or_else(|| panic!("no {name} in {answer}"));
    rest.split_once('"').expect("a string ends").0
}

/// The id of the task in an answer.
pub(crate) fn task_id(answer: &str) -> String {
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
