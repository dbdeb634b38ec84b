//! A Mote on a microcontroller: the network comes up, connections are served, tasks are worked on.
//!
//! All of its memory is here, in statics: what is linked is what is used. Tasks of embassy's cannot be generic, so this
//! is written for the board that is being built for, [`here`].

use core::{
    cell::{Cell, RefCell},
    future::pending,
};

use embassy_executor::Spawner;
use embassy_net::{
    Config, IpAddress, StackResources,
    tcp::{State, TcpSocket},
};
use embassy_sync::signal::Signal;
use embassy_time::{Duration, Instant, Timer, with_timeout};
use picoserve::time::EmbassyTimer;
use protocol_core::{
    Engine, Identity, JournalStorage, Level, Node, Served, Storage,
    door::{Address, Door, DoorStorage},
    time::{Clock, Entropy, Millis},
};
use static_cell::{ConstStaticCell, StaticCell};

use self::{desk::Desk, guard::Guard, porch::Porch, presence::Presence, wire::Wire};
use crate::{
    app::App,
    board::here,
    http::{self, Bodies, Buffers, Crowd, LEAST_TRANSMIT_BYTES, Limits, Names, Service, Site},
    keyring::{First, Keyring, PRINCIPALS},
    mdns::LocalName,
    naming::{LIST_BYTES, List, Words},
    reset::Reason,
    signing::{Made, Recalled, Signer},
    status::{Connection, Edge, Facts},
    store::Store,
    wifi::NetworkChange,
};

mod agent;
mod calls;
mod console;
mod desk;
mod guard;
pub(crate) mod memo;
mod name;
mod network;
mod outbound;
mod porch;
mod post;
mod presence;
pub(crate) mod stack;
#[cfg(feature = "emulated")]
mod trial;
mod wire;

/// What a board hands over when it has started. Its module says what each of these is.
pub(crate) struct Kit {
    /// What it measures and switches.
    pub(crate) instruments: here::Instruments,
    /// Its network.
    pub(crate) nic: here::Nic,
    /// Its radio, if the network is one without a cable.
    pub(crate) radio: Option<here::Radio>,
    /// Where it keeps what is to outlive a restart: [`here::STORE`] is ours.
    pub(crate) flash: here::Flash,
    /// Its chance: ids are made of it.
    pub(crate) entropy: &'static mut dyn Entropy,
    /// Bites within [`watchdog::BITE`](crate::watchdog::BITE) if it is not fed.
    pub(crate) watchdog: here::Watchdog,
    /// Its console.
    pub(crate) serial: here::Serial,
    /// Why it started, as far as the chip knows.
    pub(crate) reason: Reason,
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
/// The network's own sockets: DHCP, one to ask for the time, one to ask for names, and one to answer to ours.
const SERVICES: usize = 4;
/// The sockets that are there to say that all others are taken: while one says so the other one listens.
const DOORS: usize = 2;
/// Lines that are kept of what happened lately.
const LINES_KEPT: usize = 32;
/// Addresses of strangers that are counted each by itself.
const ADDRESSES: usize = 16;

const PORT: u16 = 80;
static LIMITS: Limits = Limits::DEVICE;

/// The memory of one connection.
struct Line {
    /// What TCP has received and nobody has read.
    receive: [u8; 1024],
    /// What TCP has sent and the client has not acknowledged.
    send: [u8; 1024],
    /// A head, and the body of a short message behind it: longer ones take turns in the rooms.
    request: [u8; 1280],
    /// More than a reading takes.
    answer: [u8; 640],
    /// The least that it may be: what is written in one go is gathered in `send` anyway.
    transmit: [u8; LEAST_TRANSMIT_BYTES],
}

impl Line {
    const NEW: Self = Self { receive: [0; _], send: [0; _], request: [0; _], answer: [0; _], transmit: [0; _] };
}

/// The memory of a connection that says that there is no room.
struct Entrance {
    receive: [u8; 256],
    /// All that it says.
    send: [u8; 256],
}

impl Entrance {
    const NEW: Self = Self { receive: [0; _], send: [0; _] };
}

type Shelf = [RefCell<&'static mut [u8]>; BODIES];
type Place = Site<'static, 'static, App<'static, 'static>>;

static UPTIME: ConstStaticCell<Uptime> = ConstStaticCell::new(Uptime::new());
static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Memory::new());
static LINES: ConstStaticCell<[Line; CONNECTIONS]> = ConstStaticCell::new([Line::NEW; CONNECTIONS]);
static ENTRANCES: ConstStaticCell<[Entrance; DOORS]> = ConstStaticCell::new([Entrance::NEW; DOORS]);
static KNOWN: ConstStaticCell<DoorStorage<PRINCIPALS, ADDRESSES>> = ConstStaticCell::new(DoorStorage::new());
static JOURNAL: ConstStaticCell<JournalStorage<LINES_KEPT>> = ConstStaticCell::new(JournalStorage::new());
static PLACES: ConstStaticCell<[Cell<Option<Address>>; CONNECTIONS]> =
    ConstStaticCell::new([const { Cell::new(None) }; CONNECTIONS]);
static LISTS: ConstStaticCell<[[u8; LIST_BYTES]; 2]> = ConstStaticCell::new([[0; LIST_BYTES]; 2]);
static ROOMS: ConstStaticCell<[[u8; Limits::DEVICE.body_bytes]; BODIES]> =
    ConstStaticCell::new([[0; Limits::DEVICE.body_bytes]; BODIES]);

/// Starts everything that a board does.
///
/// # Panics
/// If it is called twice.
pub(crate) fn start(spawner: Spawner, kit: Kit) {
    static NODE: StaticCell<Node<'static>> = StaticCell::new();
    static DESK: StaticCell<Desk> = StaticCell::new();
    static FACTS: StaticCell<Facts> = StaticCell::new();
    static GUARD: StaticCell<Guard> = StaticCell::new();
    static AGENT: StaticCell<agent::Shipped> = StaticCell::new();
    static SIGNER: StaticCell<Signer> = StaticCell::new();
    static APP: StaticCell<App<'static, 'static>> = StaticCell::new();
    static SHELF: StaticCell<Shelf> = StaticCell::new();
    static BODIES: StaticCell<Bodies<'static>> = StaticCell::new();
    static CROWD: StaticCell<Crowd<'static>> = StaticCell::new();
    static HOSTS: StaticCell<Words<'static>> = StaticCell::new();
    static ORIGINS: StaticCell<Words<'static>> = StaticCell::new();
    static LOCAL: StaticCell<LocalName> = StaticCell::new();
    static SITE: StaticCell<Place> = StaticCell::new();
    static SOCKETS: StaticCell<StackResources<{ SERVICES + CONNECTIONS + DOORS + post::SENDERS }>> = StaticCell::new();

    let Kit { instruments, nic, radio, flash, entropy, watchdog, serial, reason } = kit;
    let facts = FACTS.init_with(|| Facts {
        board: here::NAME,
        past: memo::past(reason),
        stack: here::STACK,
        network: Connection::default(),
        edge: Edge::new(&LIMITS, CONNECTIONS, self::BODIES),
    });
    greet(facts);

    let guard = GUARD.init_with(Guard::new);
    spawner.spawn(guard::keep_watch(guard, watchdog).expect(ONCE));

    let (mut seed, mut moments) = ([0; 8], [0; 8]);
    entropy.fill(&mut seed);
    entropy.fill(&mut moments);
    let config = Config::dhcpv4(Default::default());
    let sockets = SOCKETS.init_with(StackResources::new);
    let (stack, runner) = embassy_net::new(Porch(nic), config, sockets, u64::from_le_bytes(seed));

    let desk = DESK.init_with(|| Desk {
        instruments,
        store: Store::new(flash, here::STORE),
        network: NetworkChange::new(),
        has_radio: radio.is_some(),
        restart: Signal::new(),
        time_server: Signal::new(),
        name: Signal::new(),
        presence: Presence::new(),
    });
    let local = name::is_findable(&desk.store).then(|| &*LOCAL.init(LocalName::new()));
    let reach = calls::recall(&desk.store);
    let mut door = Door::new(KNOWN.take(), LIMITS.allowance);
    let first = Keyring::new(&desk.store).recall(&mut door, |bytes| entropy.fill(bytes));
    if let Some(first) = &first {
        tell_first(first);
    }
    let signer = match Signer::recall(&desk.store, None, |bytes| entropy.fill(bytes)) {
        Ok(Recalled { signer, made }) => {
            tell_key(made);
            Some(&*SIGNER.init(signer))
        }
        Err(trouble) => {
            defmt::warn!("nothing is signed: {=str}", trouble.0);
            None
        }
    };
    let identity = Identity { profile: agent::PROFILE, url: None, served: Served::ALL };
    let node = NODE.init_with(|| {
        let mut engine = Engine::new(MEMORY.take(), entropy);
        engine.set_journal(JOURNAL.take(), Level::Info, |_| {});
        post::prepare(&mut engine, &reach);
        Node::new(engine, door, UPTIME.take(), identity)
    });
    node.note(facts.past.note());
    let agent = AGENT.init_with(|| agent::make(desk));
    let shelf = SHELF.init(ROOMS.take().each_mut().map(|room| RefCell::new(&mut room[..])));
    let bodies = BODIES.init_with(|| Bodies::new(shelf));
    let [hosts, origins] = LISTS.take();
    let site = SITE.init(Site {
        service: APP.init_with(|| App::new(node, facts, signer)),
        bodies,
        crowd: CROWD.init(Crowd::new(PLACES.take())),
        limits: &LIMITS,
        names: Names {
            hosts: HOSTS.init(List::Hosts.recall(&desk.store, hosts)),
            origins: ORIGINS.init(List::Origins.recall(&desk.store, origins)),
            local,
        },
    });

    spawner.spawn(network::run_network(runner, guard).expect(ONCE));
    spawner.spawn(network::watch_network(stack, node, desk, &facts.network).expect(ONCE));
    spawner.spawn(network::tell_time(stack, node, desk).expect(ONCE));
    if let Some(own) = local {
        spawner.spawn(name::answer_to_name(stack, desk, own, u64::from_le_bytes(moments)).expect(ONCE));
    }
    if let Some(radio) = radio {
        spawner.spawn(network::stay_joined(radio, desk, &facts.network).expect(ONCE));
    }
    spawner.spawn(desk::restart_when_asked(desk).expect(ONCE));
    let room = console::Room {
        node,
        facts,
        desk,
        signer,
        local,
        #[cfg(feature = "emulated")]
        guard,
    };
    spawner.spawn(console::listen(serial, room, first.map(|first| first.token)).expect(ONCE));
    post::employ(spawner, (stack, &desk.presence), node, &reach, signer);
    spawner.spawn(wind(node, guard).expect(ONCE));
    for worker in 0..WORKERS {
        spawner.spawn(work(worker, node, agent).expect(ONCE));
    }
    // A client gets the first socket of this order that listens. So a door opens for it only when all lines are busy.
    for (place, line) in LINES.take().iter_mut().enumerate() {
        let socket = TcpSocket::new(stack, &mut line.receive, &mut line.send);
        let buffers = Buffers { request: &mut line.request, answer: &mut line.answer, transmit: &mut line.transmit };
        spawner.spawn(serve(place, socket, buffers, site, guard).expect(ONCE));
    }
    for (place, door) in ENTRANCES.take().iter_mut().enumerate() {
        let socket = TcpSocket::new(stack, &mut door.receive, &mut door.send);
        spawner.spawn(turn_away(CONNECTIONS + place, socket, site, guard).expect(ONCE));
    }
}

/// Says what it is, why it started, and what a connection and a task take of its memory.
fn greet(facts: &Facts) {
    defmt::info!("mote {=str} on {=str}", env!("CARGO_PKG_VERSION"), here::NAME);
    if facts.past.reason.is_trouble() {
        defmt::warn!("started because of: {}", defmt::Display2Format(&facts.past));
    } else {
        defmt::info!("started because of: {}", defmt::Display2Format(&facts.past));
    }
    const SOCKET_BYTES: usize = size_of::<StackResources<2>>() - size_of::<StackResources<1>>();
    defmt::info!(
        "bytes: {=usize} a connection beside its future, {=usize} a stream beside its connection, {=usize} a task beside its log",
        size_of::<Line>() + SOCKET_BYTES,
        Memory::READER_BYTES,
        Memory::TASK_BYTES
    );
}

/// Shows the token of a device that knew nobody. The console shows it, too, to whoever comes first; nothing else does.
fn tell_first(First { token, kept }: &First) {
    defmt::warn!("nobody was known here: this is the token of owner, shown this once: {=str}", token.as_str());
    if let Err(trouble) = kept {
        defmt::error!("the token is not kept, and the next start makes another one: {=str}", trouble.0);
    }
}

/// Says what became of the key with which notifications are signed, where it is not the one from before.
fn tell_key(made: Option<Made>) {
    match made {
        Some(Made { was_damaged: true, .. }) => {
            defmt::warn!("the signing key that was kept is none: there is a new one, and receivers have to fetch it");
        }
        Some(Made { was_damaged: false, .. }) => defmt::info!("a signing key was made"),
        None => {}
    }
    if let Some(Made { kept: Err(trouble), .. }) = made {
        defmt::error!("the signing key is not kept, and the next start makes another one: {=str}", trouble.0);
    }
}

/// Every task is spawned once, and has memory of its own.
const ONCE: &str = "a task is spawned once";

/// Keeps the node's clock going.
#[embassy_executor::task]
async fn wind(node: &'static Node<'static>, guard: &'static Guard) -> ! {
    node.run_clock(|due| async move {
        let _turn = guard.clock(due);
        Timer::at(Instant::from_millis(due.0)).await;
    })
    .await
}

#[embassy_executor::task(pool_size = WORKERS)]
async fn work(worker: usize, node: &'static Node<'static>, agent: &'static agent::Shipped) -> ! {
    node.work(worker, agent).await
}

#[embassy_executor::task(pool_size = CONNECTIONS)]
async fn serve(
    place: usize,
    mut socket: TcpSocket<'static>,
    mut buffers: Buffers<'static>,
    site: &'static Place,
    guard: &'static Guard,
) -> ! {
    loop {
        accept(&mut socket).await;
        let turn = guard.line(place);
        let Buffers { request, answer, transmit } = &mut buffers;
        let (address, wire) = (peer(&socket), Wire { socket: &mut socket, turn: &turn });
        let buffers = Buffers { request, answer, transmit };
        let ending = http::serve(wire, address, &EmbassyTimer, site, buffers, pending()).await;
        defmt::debug!("connection ended: {}", defmt::Debug2Format(&ending));
        hang_up(&mut socket).await;
    }
}

#[embassy_executor::task(pool_size = DOORS)]
async fn turn_away(place: usize, mut socket: TcpSocket<'static>, site: &'static Place, guard: &'static Guard) -> ! {
    loop {
        accept(&mut socket).await;
        let turn = guard.line(place);
        defmt::warn!("all {=usize} connections are in use: a client is asked to come back", CONNECTIONS);
        site.service.turned_away();
        http::turn_away(Wire { socket: &mut socket, turn: &turn }, &EmbassyTimer, &LIMITS).await;
        hang_up(&mut socket).await;
    }
}

/// How long a client may take to answer that it wants to connect. Two packets that are lost are made up for by then.
const HANDSHAKE: Duration = Duration::from_secs(3);
/// How long a client may be away.
const SILENCE: Duration = Duration::from_secs(30);

/// Waits for a client.
async fn accept(socket: &mut TcpSocket<'_>) {
    // A client that vanishes must not keep the socket. While it connects nobody can tell whether there is one: a handful
    // of packets, sent by anybody in anybody's name, would keep everybody else out.
    socket.set_timeout(Some(HANDSHAKE));
    socket.set_keep_alive(Some(Duration::from_secs(10)));
    // Answers are gathered already: what is sent is to leave at once.
    socket.set_nagle_enabled(false);
    // cannot fail: the port is one, and the socket was hung up.
    socket.accept(PORT).await.expect("a socket that is free");
    socket.set_timeout(Some(SILENCE));
    defmt::debug!("connection from {}", socket.remote_endpoint());
}

/// Where the client is. One that is gone already is nowhere.
fn peer(socket: &TcpSocket<'_>) -> Address {
    socket.remote_endpoint().map_or_else(Default::default, |endpoint| match endpoint.addr {
        IpAddress::Ipv4(address) => Address::v4(address.octets()),
    })
}

/// Makes the socket free for the next client, whatever is left of this one.
async fn hang_up(socket: &mut TcpSocket<'_>) {
    if !matches!(socket.state(), State::Closed | State::TimeWait) {
        socket.abort();
    }
    // The reset that tells the client leaves with the next look at the network; if there is none, there is no client.
    let _ = with_timeout(Duration::from_millis(100), socket.flush()).await;
}

/// Milliseconds since boot, counted on from the last look: dividing 64 bits by hand takes hundreds of instructions.
struct Uptime {
    /// The millisecond that was told last, and when it began.
    millis: Cell<u64>,
    began: Cell<Instant>,
}

impl Uptime {
    const fn new() -> Self {
        Self { millis: Cell::new(0), began: Cell::new(Instant::from_ticks(0)) }
    }
}

impl Clock for Uptime {
    fn now(&self) -> Millis {
        let passed = Instant::now().saturating_duration_since(self.began.get());
        if passed.as_ticks() >= TICKS_PER_MILLI {
            let millis = passed.as_millis();
            self.millis.set(self.millis.get() + millis);
            self.began.set(self.began.get() + Duration::from_millis(millis));
        }
        Millis(self.millis.get())
    }
}

const TICKS_PER_MILLI: u64 = embassy_time::TICK_HZ / 1000;
