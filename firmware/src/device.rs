//! A Mote on a microcontroller: the network comes up, connections are served, tasks are worked on.
//!
//! All of its memory is here, in statics: what is linked is what is used. Tasks of embassy's cannot be generic, so this
//! is written for the board that is being built for, [`here`].

use core::{cell::RefCell, future::pending};

use embassy_executor::Spawner;
use embassy_net::{
    Config, Runner, Stack, StackResources,
    tcp::{State, TcpSocket},
};
use embassy_time::{Duration, Instant, Timer, with_timeout};
use picoserve::time::EmbassyTimer;
use protocol_core::{
    Engine, Identity, Node, Served, Storage,
    time::{Clock, Entropy, Millis},
};
use static_cell::{ConstStaticCell, StaticCell};

use self::wire::Wire;
use crate::{
    agents::sensor::{self, SensorNode},
    app::App,
    board::here::{self, Here, Nic},
    http::{self, Bodies, Buffers, LEAST_TRANSMIT_BYTES, Limits, Site},
};

mod wire;

/// What a board hands over when it has started.
pub(crate) struct Kit {
    /// Its sensors and actuators.
    pub(crate) board: &'static Here,
    /// Its network.
    pub(crate) nic: Nic,
    /// Its chance: ids are made of it.
    pub(crate) entropy: &'static mut dyn Entropy,
}

/// 16 tasks with 32 KiB of log between them.
type Memory = Storage<16, 512, WORKERS, READERS>;

/// Tasks that are worked on at the same time.
const WORKERS: usize = 4;
/// Answers that are waited for or streamed at the same time: fewer than connections, so that one can always ask for
/// something quick, such as to cancel.
const READERS: usize = 4;
/// Connections that are served at the same time.
const CONNECTIONS: usize = 6;
/// Large request buffers. One will do: a body that does not fit behind its head needs it until it is decoded.
const BODIES: usize = 1;
/// The network's own sockets: DHCP.
const SERVICES: usize = 1;
/// The socket that is there to say that all others are taken.
const DOORS: usize = 1;

const PORT: u16 = 80;
static LIMITS: Limits = Limits::DEVICE;

/// The memory of one connection.
struct Line {
    /// What TCP has received and nobody has read.
    receive: [u8; 1024],
    /// What TCP has sent and the client has not acknowledged.
    send: [u8; 1024],
    request: [u8; 1536],
    answer: [u8; 768],
    transmit: [u8; 256],
}

impl Line {
    const NEW: Self = Self { receive: [0; _], send: [0; _], request: [0; _], answer: [0; _], transmit: [0; _] };
}

/// The memory of the connection that says that there is no room.
struct Door {
    receive: [u8; 512],
    send: [u8; LEAST_TRANSMIT_BYTES],
}

type Shelf = [RefCell<&'static mut [u8]>; BODIES];
type Place = Site<'static, 'static, App<'static, 'static>>;

static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Memory::new());
static LINES: ConstStaticCell<[Line; CONNECTIONS]> = ConstStaticCell::new([Line::NEW; CONNECTIONS]);
static DOOR: ConstStaticCell<Door> = ConstStaticCell::new(Door { receive: [0; _], send: [0; _] });
static ROOMS: ConstStaticCell<[[u8; Limits::DEVICE.body_bytes]; BODIES]> =
    ConstStaticCell::new([[0; Limits::DEVICE.body_bytes]; BODIES]);

/// Starts everything that a board does.
///
/// # Panics
/// If it is called twice.
pub(crate) fn start(spawner: Spawner, kit: Kit) {
    static NODE: StaticCell<Node<'static>> = StaticCell::new();
    static AGENT: StaticCell<SensorNode<'static, Here>> = StaticCell::new();
    static APP: StaticCell<App<'static, 'static>> = StaticCell::new();
    static SHELF: StaticCell<Shelf> = StaticCell::new();
    static BODIES: StaticCell<Bodies<'static>> = StaticCell::new();
    static SITE: StaticCell<Place> = StaticCell::new();
    static SOCKETS: StaticCell<StackResources<{ SERVICES + CONNECTIONS + DOORS }>> = StaticCell::new();

    let Kit { board, nic, entropy } = kit;
    defmt::info!("mote {=str} on {=str}", env!("CARGO_PKG_VERSION"), here::NAME);

    let mut seed = [0; 8];
    entropy.fill(&mut seed);
    let config = Config::dhcpv4(Default::default());
    let sockets = SOCKETS.init_with(StackResources::new);
    let (stack, runner) = embassy_net::new(nic, config, sockets, u64::from_le_bytes(seed));

    let identity = Identity { profile: sensor::PROFILE, url: None, served: Served::ALL };
    let node = NODE.init_with(|| Node::new(Engine::new(MEMORY.take(), entropy), &Uptime, identity));
    let agent = AGENT.init_with(|| SensorNode::new(board));
    let shelf = SHELF.init(ROOMS.take().each_mut().map(|room| RefCell::new(&mut room[..])));
    let bodies = BODIES.init_with(|| Bodies::new(shelf));
    let site = SITE.init(Site { service: APP.init_with(|| App::new(node)), bodies, limits: &LIMITS });

    spawner.spawn(run_network(runner).expect(ONCE));
    spawner.spawn(watch_network(stack).expect(ONCE));
    spawner.spawn(wind(node).expect(ONCE));
    for worker in 0..WORKERS {
        spawner.spawn(work(worker, node, agent).expect(ONCE));
    }
    // A client gets the first socket of this order that listens. So the door opens for it only when all lines are busy.
    for line in LINES.take() {
        let socket = TcpSocket::new(stack, &mut line.receive, &mut line.send);
        let buffers = Buffers { request: &mut line.request, answer: &mut line.answer, transmit: &mut line.transmit };
        spawner.spawn(serve(socket, buffers, site).expect(ONCE));
    }
    let Door { receive, send } = DOOR.take();
    spawner.spawn(turn_away(TcpSocket::new(stack, receive, send)).expect(ONCE));
}

/// Every task is spawned once, and has memory of its own.
const ONCE: &str = "a task is spawned once";

#[embassy_executor::task]
async fn run_network(mut runner: Runner<'static, Nic>) -> ! {
    runner.run().await
}

/// Says where the device is to be found, and when it is not.
#[embassy_executor::task]
async fn watch_network(stack: Stack<'static>) -> ! {
    const PATIENCE: Duration = Duration::from_secs(10);
    loop {
        while with_timeout(PATIENCE, stack.wait_config_up()).await.is_err() {
            defmt::warn!("still no address: is there a DHCP server, and is the cable in?");
        }
        if let Some(config) = stack.config_v4() {
            defmt::info!(
                "at http://{}:{=u16}/ after {=u64} ms",
                config.address.address(),
                PORT,
                Instant::now().as_millis()
            );
        }
        stack.wait_config_down().await;
        defmt::warn!("the address is gone");
    }
}

/// Keeps the node's clock going.
#[embassy_executor::task]
async fn wind(node: &'static Node<'static>) -> ! {
    node.run_clock(|due| Timer::at(Instant::from_millis(due.0))).await
}

#[embassy_executor::task(pool_size = WORKERS)]
async fn work(worker: usize, node: &'static Node<'static>, agent: &'static SensorNode<'static, Here>) -> ! {
    node.work(worker, agent).await
}

#[embassy_executor::task(pool_size = CONNECTIONS)]
async fn serve(mut socket: TcpSocket<'static>, mut buffers: Buffers<'static>, site: &'static Place) -> ! {
    loop {
        accept(&mut socket).await;
        let Buffers { request, answer, transmit } = &mut buffers;
        let ending =
            http::serve(Wire(&mut socket), &EmbassyTimer, site, Buffers { request, answer, transmit }, pending()).await;
        defmt::debug!("connection ended: {}", defmt::Debug2Format(&ending));
        hang_up(&mut socket).await;
    }
}

#[embassy_executor::task(pool_size = DOORS)]
async fn turn_away(mut socket: TcpSocket<'static>) -> ! {
    loop {
        accept(&mut socket).await;
        defmt::warn!("all {=usize} connections are in use: a client is asked to come back", CONNECTIONS);
        http::turn_away(Wire(&mut socket), &EmbassyTimer, &LIMITS).await;
        hang_up(&mut socket).await;
    }
}

/// Waits for a client.
async fn accept(socket: &mut TcpSocket<'_>) {
    // A client that vanishes while it connects, or later, must not keep the socket.
    socket.set_timeout(Some(Duration::from_secs(30)));
    socket.set_keep_alive(Some(Duration::from_secs(10)));
    // Answers are gathered already: what is sent is to leave at once.
    socket.set_nagle_enabled(false);
    // cannot fail: the port is one, and the socket was hung up.
    socket.accept(PORT).await.expect("a socket that is free");
    defmt::debug!("connection from {}", socket.remote_endpoint());
}

/// Makes the socket free for the next client, whatever is left of this one.
async fn hang_up(socket: &mut TcpSocket<'_>) {
    if !matches!(socket.state(), State::Closed | State::TimeWait) {
        socket.abort();
    }
    // The reset that tells the client leaves with the next look at the network; if there is none, there is no client.
    let _ = with_timeout(Duration::from_millis(100), socket.flush()).await;
}

/// Time since the start.
struct Uptime;

impl Clock for Uptime {
    fn now(&self) -> Millis {
        Millis(Instant::now().as_millis())
    }
}
