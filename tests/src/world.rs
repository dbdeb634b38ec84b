//! A node in virtual time: workers, the clock and clients as futures that are polled by hand.
//!
//! Nothing sleeps. [`World::advance`] moves the clock from one deadline to the next and lets everybody run in between,
//! so a scenario of minutes takes microseconds and is the same every time.

use core::{
    cell::{Cell, RefCell},
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll, Waker},
};
use std::{rc::Rc, sync::Arc, task::Wake};

use protocol_core::{
    Access, Agent, Engine, Identity, Inbound, JournalStorage, Level, Node, Profile, Provider, Reply, Served, Skill,
    Storage,
    door::{Address, Allowance, Classes, Credential, Door, DoorStorage, Principal},
    push::{Challenge, PushStorage, Rules, Webhooks},
    time::{Clock, Entropy, Millis, UnixMillis},
};

/// What the agents of tests say about themselves.
pub const PROFILE: Profile<'static> = Profile {
    name: "probe",
    description: "a \"test\" agent",
    version: "0.0.1",
    provider: Some(Provider { organization: "tests", url: "https://example.com" }),
    documentation_url: None,
    input_modes: &["text/plain", "application/json"],
    output_modes: &["text/plain", "application/json"],
    skills: &[
        Skill {
            id: "echo",
            name: "Echo",
            description: "says it again",
            tags: &["test"],
            examples: &["echo hi"],
            arguments: &[],
            access: Access::Read,
        },
        Skill {
            id: "wipe",
            name: "Wipe",
            description: "forgets everything",
            tags: &["test"],
            examples: &["wipe"],
            arguments: &[],
            access: Access::Operator,
        },
    ],
};

/// The tokens of a guarded world: anna may do everything, ben may read, carl may act and not read.
pub const ANNA: &str = "annas-token-for-tests";
/// See [`ANNA`].
pub const BEN: &str = "bens-token-for-tests!";
/// See [`ANNA`].
pub const CARL: &str = "carls-token-for-tests";

const READ: Classes = Classes::of(&[Access::Read]);
const ACT: Classes = Classes::of(&[Access::Act]);

/// Wall time when the world begins: 2026-01-01T00:00:00Z.
pub const BEGINNING: UnixMillis = UnixMillis(1_767_225_600_000);

/// A clock that stands until it is moved.
#[derive(Default)]
pub struct VirtualClock {
    now: Cell<u64>,
    alarms: RefCell<Vec<(u64, Waker)>>,
}

impl Clock for VirtualClock {
    fn now(&self) -> Millis {
        Millis(self.now.get())
    }
}

impl VirtualClock {
    /// Waits until the clock is there.
    pub async fn sleep_until(&self, until: Millis) {
        core::future::poll_fn(|cx| {
            if self.now() >= until {
                return Poll::Ready(());
            }
            self.alarms.borrow_mut().push((until.0, cx.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    fn next_alarm(&self) -> Option<u64> {
        self.alarms.borrow().iter().map(|(at, _)| *at).min()
    }

    fn set(&self, now: u64) {
        self.now.set(now);
        self.alarms.borrow_mut().retain(|(at, waker)| {
            if *at <= now {
                waker.wake_by_ref();
            }
            *at > now
        });
    }
}

/// Bytes that count up: the same ids every time, no two alike.
struct Counting(u64);

impl Entropy for Counting {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        bytes.fill(0);
        for (place, byte) in bytes.iter_mut().rev().zip(self.0.to_le_bytes()) {
            *place = byte;
        }
    }
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Running {
    future: Pin<Box<dyn Future<Output = ()>>>,
    flag: Arc<Flag>,
}

/// A node with its workers and its clock.
pub struct World {
    /// The node.
    pub node: &'static Node<'static>,
    /// The clock.
    pub clock: &'static VirtualClock,
    running: Vec<Running>,
}

impl World {
    /// A world with room for a few tasks, and as many workers as its storage has.
    pub fn new<A: Agent + 'static>(agent: A) -> Self {
        Self::with::<A, 8, 256, 3, 8>(agent, Served::ALL, PROFILE)
    }

    /// A world that does not know what time it is.
    pub fn without_wall_time<A: Agent + 'static>(agent: A) -> Self {
        Self::build::<A, 8, 256, 3, 8>(agent, Served::ALL, PROFILE, None, Door::open_to_all(), |_| {})
    }

    /// A world that anna, ben and carl have tokens for, and nobody else.
    pub fn guarded<
        A: Agent + 'static,
        const TASKS: usize,
        const BLOCKS: usize,
        const WORKERS: usize,
        const READERS: usize,
    >(
        agent: A,
        served: Served,
        allowance: Allowance,
    ) -> Self {
        let door = guarded_door(allowance);
        Self::build::<A, TASKS, BLOCKS, WORKERS, READERS>(agent, served, PROFILE, Some(BEGINNING), door, |_| {})
    }

    /// A world that notifies whom its clients want, of any size; with an allowance it is guarded.
    pub fn pushing<
        A: Agent + 'static,
        const TASKS: usize,
        const BLOCKS: usize,
        const CONFIGS: usize,
        const SENDERS: usize,
    >(
        agent: A,
        challenge: Challenge,
        allowance: Option<Allowance>,
    ) -> Self {
        Self::pushing_as::<A, TASKS, BLOCKS, CONFIGS, SENDERS>(agent, PROFILE, challenge, allowance)
    }

    /// As [`World::pushing`], with an agent that says something else about itself.
    pub fn pushing_as<
        A: Agent + 'static,
        const TASKS: usize,
        const BLOCKS: usize,
        const CONFIGS: usize,
        const SENDERS: usize,
    >(
        agent: A,
        profile: Profile<'static>,
        challenge: Challenge,
        allowance: Option<Allowance>,
    ) -> Self {
        let door = allowance.map_or(Door::open_to_all(), guarded_door);
        let storage: &'static mut PushStorage<CONFIGS, SENDERS> = Box::leak(Box::default());
        let rules = Rules { plain_http: true, ..Rules::STRICT };
        Self::build::<A, TASKS, BLOCKS, 3, 8>(agent, Served::ALL, profile, Some(BEGINNING), door, |engine| {
            engine.set_push(storage, Webhooks { rules, challenge });
        })
    }

    /// A world of any size.
    pub fn with<
        A: Agent + 'static,
        const TASKS: usize,
        const BLOCKS: usize,
        const WORKERS: usize,
        const READERS: usize,
    >(
        agent: A,
        served: Served,
        profile: Profile<'static>,
    ) -> Self {
        let door = Door::open_to_all();
        Self::build::<A, TASKS, BLOCKS, WORKERS, READERS>(agent, served, profile, Some(BEGINNING), door, |_| {})
    }

    fn build<
        A: Agent + 'static,
        const TASKS: usize,
        const BLOCKS: usize,
        const WORKERS: usize,
        const READERS: usize,
    >(
        agent: A,
        served: Served,
        profile: Profile<'static>,
        wall_time: Option<UnixMillis>,
        door: Door<'static>,
        set: impl FnOnce(&mut Engine<'static>),
    ) -> Self {
        let storage: &'static mut Storage<TASKS, BLOCKS, WORKERS, READERS> = Box::leak(Box::new(Storage::new()));
        let clock: &'static VirtualClock = Box::leak(Box::default());
        let mut engine = Engine::new(storage, Box::leak(Box::new(Counting(0))));
        engine.set_journal(Box::leak(Box::new(JournalStorage::<64>::new())), Level::Info, |_| {});
        set(&mut engine);
        let identity = Identity { profile, url: None, served };
        let node: &'static Node<'static> = Box::leak(Box::new(Node::new(engine, door, clock, identity)));
        if let Some(wall_time) = wall_time {
            node.handle_wall_time(wall_time);
        }
        let mut world = Self { node, clock, running: Vec::new() };
        let agent: &'static A = Box::leak(Box::new(agent));
        for worker in 0..WORKERS {
            world.spawn(async move { node.work(worker, agent).await });
        }
        world.spawn(async move { node.run_clock(|until| clock.sleep_until(until)).await });
        world.settle();
        world
    }

    /// Lets somebody else run.
    pub fn spawn<T>(&mut self, future: impl Future<Output = T> + 'static) {
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        self.running.push(Running { future: Box::pin(async { drop(future.await) }), flag });
    }

    /// Lets everybody run until nobody has anything to do at this time.
    pub fn settle(&mut self) {
        for _ in 0..1_000_000 {
            if !self.step() {
                return;
            }
        }
        panic!("somebody runs in circles");
    }

    /// Lets one of those who can go on take one step. False if nobody can.
    pub fn step(&mut self) -> bool {
        let Some(index) = self.running.iter().position(|task| task.flag.0.swap(false, Ordering::Relaxed)) else {
            return false;
        };
        let task = &mut self.running[index];
        let waker = Waker::from(task.flag.clone());
        if task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            drop(self.running.remove(index));
        }
        true
    }

    /// Lets time pass.
    pub fn advance(&mut self, millis: u64) {
        let until = self.clock.now.get() + millis;
        self.settle();
        while let Some(next) = self.clock.next_alarm().filter(|next| *next <= until) {
            self.clock.set(next);
            self.settle();
        }
        self.clock.set(until);
        self.settle();
    }

    /// Lets time pass up to the next deadline, without letting anybody run.
    pub fn advance_to_next_alarm(&mut self) {
        if let Some(next) = self.clock.next_alarm() {
            self.clock.set(next);
        }
    }

    /// Sends a request and collects its answer as it comes, through a buffer of `window` bytes.
    pub fn request(&mut self, inbound: &Inbound<'_>, window: usize) -> Client {
        let client = self.start_with(inbound, window);
        self.settle();
        client
    }

    /// Sends a body, and lets nobody run yet.
    pub fn start(&mut self, body: &str) -> Client {
        self.start_with(&Inbound { body: body.as_bytes(), ..Inbound::GUEST }, 64)
    }

    /// Sends a body and reads the answer while everybody else stands still.
    pub fn call_now(&mut self, body: &str) -> String {
        let mut reply = self.node.call(&Inbound { body: body.as_bytes(), ..Inbound::GUEST });
        let mut bytes = vec![0; 1 << 16];
        match reply.poll_fill(&mut Context::from_waker(Waker::noop()), &mut bytes) {
            Poll::Ready(Ok(n)) => String::from_utf8(bytes[..n].to_vec()).expect("answers are UTF-8"),
            other => panic!("no answer at once: {other:?}"),
        }
    }

    /// As [`World::request`], and lets nobody run yet.
    pub fn start_with(&mut self, inbound: &Inbound<'_>, window: usize) -> Client {
        let mut reply = self.node.call(inbound);
        let client = Client::new(&reply);
        let shared = client.shared.clone();
        self.spawn(async move {
            let mut buffer = vec![0; window];
            loop {
                shared.unstall().await;
                match reply.fill(&mut buffer).await {
                    Ok(0) => break shared.ended.set(true),
                    Ok(n) => shared.bytes.borrow_mut().extend_from_slice(&buffer[..n]),
                    Err(_) => break shared.broken.set(true),
                }
                if shared.dropped.get() {
                    break;
                }
            }
        });
        client
    }

    /// Sends a body without headers.
    pub fn post(&mut self, body: &str) -> Client {
        self.request(&Inbound { body: body.as_bytes(), ..Inbound::GUEST }, 64)
    }

    /// Sends a body and gives the whole answer, which must be there at once.
    pub fn ask(&mut self, body: &str) -> String {
        let client = self.post(body);
        assert!(client.has_ended(), "still waiting: {}", client.text());
        client.text()
    }

    /// A request of whoever has that token; a stranger's if nobody has.
    pub fn inbound<'b>(&self, token: &str, body: &'b str) -> Inbound<'b> {
        let credential = Some(Credential { name: None, token: token.as_bytes() }).filter(|_| !token.is_empty());
        let caller = self.node.admit(Address::default(), credential).ok();
        Inbound { caller, body: body.as_bytes(), ..Inbound::GUEST }
    }

    /// Sends a body with a token and gives the whole answer, which must be there at once.
    pub fn ask_with(&mut self, token: &str, body: &str) -> String {
        let client = self.request(&self.inbound(token, body), 64);
        assert!(client.has_ended(), "still waiting: {}", client.text());
        client.text()
    }

    /// The log as whoever has that token sees it: level, task and text of each line. Nobody's token is a guest's.
    pub fn log(&self, token: &str) -> Vec<(&'static str, String, String)> {
        let credential = Some(Credential { name: None, token: token.as_bytes() }).filter(|_| !token.is_empty());
        let reader = self.node.admit(Address::default(), credential).expect("somebody who is known");
        let (mut from, mut lines) = (0, Vec::new());
        while let Some((number, line)) = self.node.line(from, reader) {
            let mut text = String::new();
            line.write_text(&mut |piece: &str| text.push_str(piece));
            lines.push((line.level().as_str(), line.task().unwrap_or_default().to_owned(), text));
            from = number + 1;
        }
        lines
    }

    /// Sends a body with `A2A-Version`.
    pub fn ask_as(&mut self, version: &str, body: &str) -> String {
        let inbound = Inbound { version: Some(version), body: body.as_bytes(), ..Inbound::GUEST };
        let client = self.request(&inbound, 256);
        assert!(client.has_ended(), "still waiting: {}", client.text());
        client.text()
    }
}

fn guarded_door(allowance: Allowance) -> Door<'static> {
    let mut door = Door::new(Box::leak(Box::new(DoorStorage::<3, 4>::new())), allowance);
    for (name, classes, token) in [("anna", Classes::ALL, ANNA), ("ben", READ, BEN), ("carl", ACT, CARL)] {
        door.know(Principal::new(name, classes, token).expect("a principal")).expect("there is room");
    }
    door
}

#[derive(Default)]
struct Shared {
    bytes: RefCell<Vec<u8>>,
    ended: Cell<bool>,
    broken: Cell<bool>,
    dropped: Cell<bool>,
    stalled: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Shared {
    /// Waits while the client does not read.
    async fn unstall(&self) {
        core::future::poll_fn(|cx| {
            if !self.stalled.get() {
                return Poll::Ready(());
            }
            *self.waker.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// A client that reads an answer.
pub struct Client {
    shared: Rc<Shared>,
    /// Whether the answer is a stream of events.
    pub is_stream: bool,
    /// Its HTTP status, and after how many seconds to try again.
    pub status: u16,
    /// See `status`.
    pub retry_after: Option<u16>,
}

impl Client {
    fn new(reply: &Reply<'_, '_>) -> Self {
        let (status, retry_after) = (reply.status(), reply.retry_after());
        Self { shared: Rc::default(), is_stream: reply.is_stream(), status, retry_after }
    }

    /// Everything so far.
    pub fn text(&self) -> String {
        String::from_utf8(self.shared.bytes.borrow().clone()).expect("answers are UTF-8")
    }

    /// The data of each event so far.
    pub fn events(&self) -> Vec<String> {
        let text = self.text();
        let whole = text.rfind("\n\n").map_or("", |end| &text[..end]);
        whole
            .split("\n\n")
            .filter_map(|event| event.lines().find_map(|line| line.strip_prefix("data: ")))
            .map(str::to_owned)
            .collect()
    }

    /// The ids of the events so far.
    pub fn ids(&self) -> Vec<u64> {
        self.text().lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
    }

    /// Whether the answer has come to its proper end.
    pub fn has_ended(&self) -> bool {
        self.shared.ended.get()
    }

    /// Whether the answer was cut off.
    pub fn is_broken(&self) -> bool {
        self.shared.broken.get()
    }

    /// Stops reading.
    pub fn stall(&self) {
        self.shared.stalled.set(true);
    }

    /// Reads again.
    pub fn resume(&self) {
        self.shared.stalled.set(false);
        if let Some(waker) = self.shared.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Hangs up; noticed when the next bytes come.
    pub fn hang_up(&self) {
        self.shared.dropped.set(true);
    }
}
