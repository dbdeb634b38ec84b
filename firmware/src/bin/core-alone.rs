//! protocol-core with room for 8 tasks and the smallest agent: what it takes where nothing else is.
//!
//! No board runs this. It is there to be measured (tests/size/boards.sh), so all that it has to do is to use all of it
//! in a way that the compiler cannot foresee.
#![no_std]
#![no_main]

use core::{
    cell::Cell,
    future::pending,
    hint::black_box,
    panic::PanicInfo,
    pin::pin,
    task::{Context, Waker},
};

use protocol_core::{
    Agent, Done, Engine, Identity, Inbound, Node, Profile, Served, Stopped, Storage, TaskCx,
    door::{Address, Allowance, Credential, Door, DoorStorage, Principal},
    push::{Challenge, Outcome, PushStorage, Rules, Secret, Url, Webhooks},
    time::{Clock, Entropy, Millis, UnixMillis},
};

/// 8 tasks with 8 KiB of log between them.
type Memory = Storage<8, 128, 2, 2>;

/// 4 principals, and 8 addresses of strangers.
type Visitors = DoorStorage<4, 8>;

/// 4 who are notified, two at a time.
type Pushes = PushStorage<4, 2>;

struct Echo;

impl Agent for Echo {
    async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        let said = task.said();
        task.artifact("echo").text(format_args!("{}", said.text.as_deref().unwrap_or_default())).await?;
        Ok(Done::Completed)
    }
}

struct Outside(Cell<u64>);

impl Clock for Outside {
    fn now(&self) -> Millis {
        Millis(black_box(self.0.get()))
    }
}

struct Chance;

impl Entropy for Chance {
    fn fill(&mut self, bytes: &mut [u8]) {
        black_box(bytes);
    }
}

const PROFILE: Profile<'static> = Profile {
    name: "echo",
    description: "Says what it hears",
    version: "1",
    provider: None,
    documentation_url: None,
    input_modes: &["text/plain"],
    output_modes: &["text/plain"],
    skills: &[],
};

/// Where it starts.
#[unsafe(no_mangle)]
extern "C" fn start(
    memory: &'static mut Memory,
    visitors: &'static mut Visitors,
    pushes: &'static mut Pushes,
    bytes: &mut [u8; 1024],
) -> ! {
    let outside = Outside(Cell::new(0));
    let mut chance = Chance;
    let identity = Identity { profile: black_box(PROFILE), url: None, served: Served::ALL };
    let mut engine = Engine::new(memory, &mut chance);
    engine.set_push(pushes, black_box(Webhooks { rules: Rules::STRICT, challenge: Challenge::ByDialect }));
    let node = Node::new(engine, Door::new(visitors, Allowance::UNLIMITED), &outside, identity);
    node.handle_wall_time(UnixMillis(black_box(0)));
    if let Some(known) = Principal::from_bytes(black_box(&*bytes)) {
        let _ = black_box(node.change_door(|door| door.know(known)));
    }
    let mut clock = pin!(node.run_clock(|_| pending()));
    let mut work = pin!(node.work(0, &Echo));
    let mut send = pin!(send(&node));
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        let _ = send.as_mut().poll(&mut cx);
        let _ = black_box(node.push_counts());
        node.retry_deliveries();
        let _ = clock.as_mut().poll(&mut cx);
        let _ = work.as_mut().poll(&mut cx);
        let (body, out) = black_box(&mut *bytes).split_at_mut(512);
        let host = core::str::from_utf8(body).unwrap_or_default();
        let inbound = Inbound {
            caller: node.admit(Address::default(), Some(Credential { name: Some(body), token: body })).ok(),
            host: Some(host),
            version: Some(host),
            extensions: None,
            last_event_id: Some(host),
            traceparent: Some(host),
            body,
        };
        for mut reply in [node.call(black_box(&inbound)), node.card(host)] {
            let _ = black_box(reply.poll_fill(&mut cx, out));
        }
    }
}

/// Sends notifications nowhere.
async fn send(node: &Node<'_>) -> ! {
    let webhooks = Webhooks { rules: black_box(Rules::STRICT), challenge: Challenge::ByDialect };
    loop {
        let delivery = node.next_delivery(black_box(1)).await;
        black_box((delivery.is_challenge(), delivery.id(), delivery.task_id(), delivery.content_type()));
        black_box(delivery.secret(black_box(Secret::Token)));
        if let Some(url) = delivery.url()
            && let Ok(url) = Url::parse(&url)
        {
            let _ = black_box(webhooks.rules.check_address(&url, black_box(core::net::Ipv4Addr::LOCALHOST.into())));
        }
        let mut piece = [0; 64];
        if let Some(mut body) = delivery.body() {
            while body.fill(&mut piece).await.is_ok_and(|filled| filled > 0) {
                black_box(&piece);
            }
        }
        delivery.done(black_box(Outcome::Delivered));
    }
}

/// A static one, as a device would have it.
#[used]
static MEMORY: Shared = Shared(core::cell::UnsafeCell::new((Memory::new(), Visitors::new(), Pushes::new())));

#[expect(dead_code, reason = "its size is all that counts")]
struct Shared(core::cell::UnsafeCell<(Memory, Visitors, Pushes)>);

// SAFETY: nobody looks into it; it only takes its place in the numbers.
unsafe impl Sync for Shared {}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    black_box(info);
    loop {
        core::hint::spin_loop();
    }
}
