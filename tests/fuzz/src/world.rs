//! A small node in virtual time that leaves nothing behind: a target makes one for each input.
//!
//! `mote_tests::world` is for tests that end with their process; it never gives its memory back.

use std::{
    cell::{Cell, RefCell},
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use mote_tests::{
    script::Script,
    world::{BEGINNING, PROFILE},
};
use protocol_core::{
    Engine, Identity, Inbound, Node, Profile, Reply, Served, Storage,
    door::{Address, Allowance, Caller, Classes, Credential, Door, DoorStorage, Principal, Rate},
    push::{Challenge, Delivery, Outcome, PushStorage, Rules, Secret, Webhooks},
    time::{Clock, Entropy, Millis},
};
use serde_json::Value;

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
        let mut asked = false;
        std::future::poll_fn(|cx| {
            if self.now() >= until {
                return Poll::Ready(());
            }
            // Whoever asks again without being woken is still in the list.
            if !asked || !self.alarms.borrow().iter().any(|(at, waker)| *at == until.0 && waker.will_wake(cx.waker())) {
                self.alarms.borrow_mut().push((until.0, cx.waker().clone()));
                asked = true;
            }
            Poll::Pending
        })
        .await;
    }

    /// The next time at which somebody wants to be woken.
    pub fn next_alarm(&self) -> Option<u64> {
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

/// Bytes that count up: the same ids every time, as in the golden files.
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

/// Says that somebody can go on.
pub struct Flag(AtomicBool);

impl Flag {
    /// Set, so that whoever it belongs to begins.
    pub fn new() -> Arc<Self> {
        Arc::new(Self(AtomicBool::new(true)))
    }

    /// Whether it was set; from here on it is not.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Running<'n> {
    future: Pin<Box<dyn Future<Output = ()> + 'n>>,
    flag: Arc<Flag>,
}

/// A node with its workers, its senders and its clock.
pub struct World<'n, 's> {
    pub node: &'n Node<'s>,
    pub clock: &'n VirtualClock,
    /// How webhooks answer, see [`deliver`].
    pub webhooks: &'n Cell<u8>,
    running: Vec<Running<'n>>,
}

/// Steps of everybody together before somebody is said to run in circles.
const PATIENCE: usize = 200_000;

/// What the golden files' worlds take: any media type, so that no message is refused for it.
const OPEN: Profile<'static> = Profile { input_modes: &["*/*"], output_modes: &["*/*"], ..PROFILE };

/// Somebody who may do everything, and somebody who may only look. The door is open to guests, too.
const KNOWN: [(&str, &str, &str); 2] =
    [("anna", "read+act+operator", "annas-first-token"), ("ben", "read", "bens-first-token!")];

/// Little enough to be used up.
const ALLOWANCE: Allowance = Allowance {
    principal: Rate { per_second: 10, burst: 12 },
    tasks: 3,
    readers: 3,
    blocking: Millis(30_000),
    ..Allowance::UNLIMITED
};

fn known((name, classes, token): (&str, &str, &str)) -> Principal {
    Principal::new(name, Classes::parse(classes).expect("classes"), token).expect("a principal")
}

const SENDERS: usize = 2;

/// Sends a notification: at once, or with pauses in which anything may happen.
async fn deliver(delivery: Delivery<'_, '_>, clock: &VirtualClock, webhooks: &Cell<u8>) {
    let how = webhooks.get();
    let pause = async || {
        if how & 0x30 != 0 {
            clock.sleep_until(Millis(clock.now().0.saturating_add(u64::from(how & 0x30) * 20))).await;
        }
    };
    let id = delivery.id();
    if how & 0x40 != 0 {
        pause().await;
    }
    // Whoever is deleted meanwhile has no body any more, and no address.
    assert!(delivery.body().is_none() || delivery.url().is_some(), "a body for nobody");
    if let Some(mut body) = delivery.body() {
        let (mut bytes, mut buffer) = (Vec::new(), [0; 100]);
        loop {
            match body.fill(&mut buffer).await {
                Ok(0) => {
                    let event: Value = serde_json::from_slice(&bytes).expect("a notification is JSON");
                    assert!(event.is_object(), "{event}");
                    break;
                }
                Ok(n) => bytes.extend_from_slice(&buffer[..n]),
                Err(_) => break,
            }
            if how & 0x80 != 0 {
                pause().await;
            }
        }
    }
    assert!(!delivery.is_challenge() || delivery.secret(Secret::Token).is_none(), "a secret for a stranger");
    pause().await;
    assert_eq!(delivery.id(), id, "another id for the same event");
    match how & 7 {
        0..=2 => delivery.done(Outcome::Delivered),
        3 => delivery.done(Outcome::Failed { retry_after: None }),
        4 => delivery.done(Outcome::Failed { retry_after: Some(Millis(u64::from(how) * 1000)) }),
        5 => delivery.done(Outcome::Refused),
        _ => drop(delivery),
    }
}

/// Makes a world with that much room, and lets `play` play in it.
pub fn with_world<const TASKS: usize, const BLOCKS: usize, const WORKERS: usize, const READERS: usize>(
    play: impl for<'n, 's> FnOnce(&mut World<'n, 's>),
) {
    let mut storage = Box::new(Storage::<TASKS, BLOCKS, WORKERS, READERS>::new());
    let mut entropy = Counting(0);
    let clock = VirtualClock::default();
    let identity = Identity { profile: OPEN, url: None, served: Served::ALL };
    let mut visitors = DoorStorage::<2, 1>::new();
    let mut door = Door::new(&mut visitors, ALLOWANCE);
    door.set_open(true);
    for somebody in KNOWN {
        door.know(known(somebody)).expect("there is room");
    }
    let mut engine = Engine::new(&mut storage, &mut entropy);
    let mut pushes = PushStorage::<4, SENDERS>::new();
    engine.set_push(&mut pushes, Webhooks { rules: Rules::STRICT, challenge: Challenge::ByDialect });
    let node = Node::new(engine, door, &clock, identity);
    node.handle_wall_time(BEGINNING);
    let webhooks = Cell::new(0);
    let mut world = World { node: &node, clock: &clock, webhooks: &webhooks, running: Vec::new() };
    for sender in 0..SENDERS {
        let (node, clock, webhooks) = (&node, &clock, &webhooks);
        world.spawn(async move {
            loop {
                let delivery = node.next_delivery(sender).await;
                deliver(delivery, clock, webhooks).await;
            }
        });
    }
    for worker in 0..WORKERS {
        let node = &node;
        world.spawn(async move { node.work(worker, &Script).await });
    }
    world.spawn(async { node.run_clock(|until| clock.sleep_until(until)).await });
    world.settle();
    play(&mut world);
}

impl<'n, 's> World<'n, 's> {
    /// Lets something run beside the workers.
    pub fn spawn<T>(&mut self, future: impl Future<Output = T> + 'n) {
        self.running.push(Running { future: Box::pin(async { drop(future.await) }), flag: Flag::new() });
    }

    /// Lets one of those who can go on take one step. False if nobody can.
    pub fn step(&mut self) -> bool {
        let Some(index) = self.running.iter().position(|task| task.flag.take()) else {
            return false;
        };
        let task = &mut self.running[index];
        let waker = Waker::from(task.flag.clone());
        if task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            drop(self.running.remove(index));
        }
        true
    }

    /// Lets everybody run until nobody has anything to do at this time.
    pub fn settle(&mut self) {
        for _ in 0..PATIENCE {
            if !self.step() {
                return;
            }
        }
        panic!("somebody runs in circles");
    }

    /// Lets time pass, and everybody run at each deadline on the way.
    pub fn advance(&mut self, millis: u64) {
        let until = self.clock.now.get().saturating_add(millis);
        self.settle();
        while let Some(next) = self.clock.next_alarm().filter(|next| *next <= until) {
            self.clock.set(next);
            self.settle();
        }
        self.clock.set(until);
        self.settle();
    }

    /// Lets time pass up to the next deadline, without letting anybody run.
    /// False if there is none.
    pub fn advance_to_next_alarm(&mut self) -> bool {
        let next = self.clock.next_alarm();
        if let Some(next) = next {
            self.clock.set(next);
        }
        next.is_some()
    }

    /// One of those who come: a guest, those who are known, and one with a wrong token.
    pub fn caller(&self, number: u8) -> Option<Caller> {
        let token = match number % 4 {
            0 => return Some(Caller::GUEST),
            1 => KNOWN[0].2,
            2 => KNOWN[1].2,
            _ => "nobody",
        };
        self.node.admit(Address::default(), Some(Credential { name: None, token: token.as_bytes() })).ok()
    }

    /// A token of somebody, known or not.
    pub fn token(&self, number: u8) -> &'static str {
        ["nobodys-first-token", KNOWN[0].2, KNOWN[1].2][usize::from(number % 3)]
    }

    /// Somebody is revoked, becomes known again, or the door is opened or shut.
    pub fn change_door(&self, how: u8) {
        self.node.change_door(|door| match how % 6 {
            place @ (0 | 1) => _ = door.forget(KNOWN[usize::from(place)].0),
            place @ (2 | 3) => _ = door.know(known(KNOWN[usize::from(place) - 2])),
            open => door.set_open(open == 4),
        });
    }

    /// Sends a request.
    pub fn call(&self, inbound: &Inbound<'_>) -> Answer<'n, 's> {
        let reply = self.node.call(inbound);
        Answer { is_stream: reply.is_stream(), reply: Some(reply), bytes: Vec::new(), end: End::Open }
    }
}

/// How an answer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Open,
    Ended,
    /// It was cut off: what was being sent is gone.
    Broken,
}

/// An answer, and what of it was read.
pub struct Answer<'n, 's> {
    reply: Option<Reply<'n, 's>>,
    pub is_stream: bool,
    pub bytes: Vec<u8>,
    pub end: End,
}

impl Answer<'_, '_> {
    /// Reads what is there, through a window of so many bytes.
    pub fn read(&mut self, window: usize) {
        while self.read_once(window) {
            assert!(self.bytes.len() < 1 << 22, "an answer without an end");
        }
    }

    /// Reads so many bytes at the most. False if there is nothing yet, or nothing any more.
    pub fn read_once(&mut self, window: usize) -> bool {
        let mut buffer = [0; 512];
        let buffer = &mut buffer[..window.clamp(1, 512)];
        let Some(reply) = &mut self.reply else { return false };
        match reply.poll_fill(&mut Context::from_waker(Waker::noop()), buffer) {
            Poll::Pending => return false,
            Poll::Ready(Ok(0)) => self.close(End::Ended),
            Poll::Ready(Ok(n)) => self.bytes.extend_from_slice(&buffer[..n]),
            Poll::Ready(Err(_)) => self.close(End::Broken),
        }
        true
    }

    fn close(&mut self, end: End) {
        self.reply = None;
        self.end = end;
    }
}
