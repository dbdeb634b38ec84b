//! A simulated device, from its command line to its last connection.

use core::{fmt, net::SocketAddr, time::Duration};
use std::{
    io,
    path::PathBuf,
    time::{Instant, SystemTime},
};

use firmware::{
    agents::{conformance::Conformance, sensor, sensor::SensorNode},
    app::App,
    http::Names,
    reset::Reason,
    signing::{Made, Recalled, Signer},
    simulated::SplitMix,
    status::{Connection, Edge, Facts},
    store::Store,
};
use protocol_core::{
    Agent, Engine, Identity, JournalStorage, Level, Node, Storage,
    door::{Door, DoorStorage},
    time::{Clock, Entropy, Millis, UnixMillis},
};
use static_cell::ConstStaticCell;
use tokio::task::spawn_local;

use crate::{
    args::{AgentName, Args, Preset},
    board::{SimBoard, say},
    keys::{self, BadKeys, Keys},
    local,
    net::{self, Settings},
    own::Own,
    post,
    random::System,
    store::{self, SimFlash},
    welcome,
};

/// 4096 tasks with 16 MiB of log between them, 64 being worked on, 1000 answers being waited for: fewer
/// than there are connections, so that one can always ask for something quick.
static HOST: ConstStaticCell<Storage<4096, 262_144, 64, 1000>> = ConstStaticCell::new(Storage::new());

/// What the smallest board has, to meet its limits on a laptop.
static PICO: ConstStaticCell<Storage<16, 512, 4, 4>> = ConstStaticCell::new(Storage::new());

static JOURNAL: ConstStaticCell<JournalStorage<1024>> = ConstStaticCell::new(JournalStorage::new());

/// As many lines as a board keeps.
static PICO_JOURNAL: ConstStaticCell<JournalStorage<32>> = ConstStaticCell::new(JournalStorage::new());

static HOST_DOOR: ConstStaticCell<DoorStorage<{ Preset::Host.principals() }, 1024>> =
    ConstStaticCell::new(DoorStorage::new());
static PICO_DOOR: ConstStaticCell<DoorStorage<{ Preset::Pico.principals() }, 16>> =
    ConstStaticCell::new(DoorStorage::new());

/// Why a good command line came to nothing.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// There is no seed to begin with.
    Randomness(getrandom::Error),
    /// The address is not ours, or somebody has the port.
    Listen(SocketAddr, io::Error),
    /// Nobody could tell us to read the tokens again, or to change the key.
    Signal(io::Error),
    /// What was to be kept in a file cannot be.
    Store(PathBuf, io::Error),
    /// Who gets in does not add up.
    Keys(BadKeys),
    /// Nobody could find us by our name.
    Mdns(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Randomness(error) => write!(f, "the operating system gives no randomness: {error}"),
            Self::Listen(address, error) if error.kind() == io::ErrorKind::AddrInUse => {
                let (ip, port) = (address.ip(), address.port());
                write!(
                    f,
                    "port {port} of {ip} is taken, choose another one with --port, or --port 0 for any that is free"
                )
            }
            Self::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Self::Signal(error) => write!(f, "cannot wait for signals: {error}"),
            Self::Store(path, error) => write!(f, "--store {}: {error}", path.display()),
            Self::Keys(bad) => bad.fmt(f),
            Self::Mdns(error) => write!(f, "--mdns: {error}"),
        }
    }
}

impl core::error::Error for StartError {}

/// Runs a device until `stop` is done, with an agent of one's own or the one that `args` name. `listening` hears where, just before the first client is served.
///
/// To be called inside a `LocalSet`, once in a process for each preset: what a device has room for is a static here, too.
///
/// # Errors
/// Where there is nothing to listen on, or no randomness.
///
/// # Panics
/// If a preset runs twice.
pub async fn run(
    args: &Args,
    own: Option<Own>,
    listening: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), StartError> {
    let principals = args.keys.principals(args.preset.principals()).map_err(StartError::Keys)?;
    let cannot_listen = |error| StartError::Listen(SocketAddr::new(args.bind, args.port), error);
    let listener = net::bind(args.bind, args.port).await.map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;

    let store = store::open(args.store.as_deref());
    let store = store.map_err(|error| StartError::Store(args.store.clone().unwrap_or_default(), error))?;
    let store: &'static Store<SimFlash> = Box::leak(Box::new(store));

    let seed = args.seed.map_or_else(System::seed, Ok).map_err(StartError::Randomness)?;
    let entropy: &'static mut dyn Entropy = match args.seed {
        Some(seed) => Box::leak(Box::new(SplitMix::new(seed))),
        None => Box::leak(Box::new(System)),
    };
    let clock: &'static Uptime = Box::leak(Box::new(Uptime(Instant::now())));
    let (mut engine, mut door, mut settings) = match args.preset {
        Preset::Host => {
            let settings = Settings::HOST;
            (Engine::new(HOST.take(), entropy), Door::new(HOST_DOOR.take(), settings.limits.allowance), settings)
        }
        Preset::Pico => {
            let settings = Settings::DEVICE;
            (Engine::new(PICO.take(), entropy), Door::new(PICO_DOOR.take(), settings.limits.allowance), settings)
        }
    };
    let least = args.log.unwrap_or(Level::Info).min(Level::Info);
    let hear = welcome::hear(args.log);
    match args.preset {
        Preset::Host => engine.set_journal(JOURNAL.take(), least, hear),
        Preset::Pico => engine.set_journal(PICO_JOURNAL.take(), least, hear),
    }
    let reach = args.calls.reach(args.bind);
    if reach.is_on {
        post::prepare(&mut engine, args.preset, reach.webhooks);
    }
    keys::make_known(&mut door, &principals);
    door.set_open(args.keys.is_open(args.bind));
    let agent = args.agent.unwrap_or(AgentName::Sensor);
    let profile = match (&own, agent) {
        (Some(own), _) => own.profile,
        (None, AgentName::Sensor) => sensor::PROFILE,
        (None, AgentName::Conformance) => Conformance::PROFILE,
    };
    let url = args.url.clone().map(|url| &*url.leak());
    // Who tells clients a name has it.
    let names = args.names.iter().map(|name| &*name.clone().leak());
    settings.names.hosts = names.chain(url.and_then(Names::host_of)).collect::<Vec<_>>().leak();
    settings.names.origins = args.origins.iter().map(|origin| &*origin.clone().leak()).collect::<Vec<_>>().leak();
    let node = Node::new(engine, door, clock, Identity { profile, url, served: args.dialects.1 });
    let node: &'static Node<'static> = Box::leak(Box::new(node));
    if let Ok(wall) = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        node.handle_wall_time(UnixMillis(wall.as_millis() as u64));
    }

    let board: &'static SimBoard = Box::leak(Box::new(SimBoard::new(seed, args.fault, store)));
    match (own, agent) {
        (Some(own), _) => (own.employ)(node, board),
        (None, AgentName::Sensor) => employ(node, Box::leak(Box::new(SensorNode::<_, 4>::new(board)))),
        (None, AgentName::Conformance) => employ(node, &Conformance),
    }
    spawn_local(wind(node, clock));
    #[cfg(unix)]
    if args.keys.file.is_some() {
        use tokio::signal::unix::{SignalKind, signal};
        let hangups = signal(SignalKind::hangup()).map_err(StartError::Signal)?;
        spawn_local(read_again(node, hangups, args.keys.clone(), args.preset.principals()));
    }

    let signer = recall_signer(store, url);
    #[cfg(unix)]
    if let Some(signer) = signer {
        use tokio::signal::unix::{SignalKind, signal};
        let asked = signal(SignalKind::user_defined1()).map_err(StartError::Signal)?;
        spawn_local(rotate_key(signer, store, asked));
    }

    if reach.is_on {
        post::employ(node, address, args.preset, &reach, signer, url);
    }
    let found = args.local.clone().map(|wanted| local::Found::new(wanted, address, clock)).transpose();
    let found = found.map_err(StartError::Mdns)?.map(|found| &*Box::leak(Box::new(found)));
    if let Some(found) = found {
        settings.names.local = Some(found.name());
        spawn_local(found.answer());
    }
    let stop = async {
        stop.await;
        if let Some(found) = found {
            found.leave().await;
        }
    };
    keys::warn(&principals);
    listening(address);
    // The one call of the HTTP edge.
    let limits = Box::leak(Box::new(settings.limits.clone()));
    let edge = Edge::new(limits, settings.connections, settings.bodies);
    let facts =
        Facts { board: "host-sim", past: Reason::PowerOn.into(), stack: None, network: Connection::default(), edge };
    node.note(facts.past.note());
    net::run(listener, &App::new(node, &facts, signer), &settings, stop).await;
    Ok(())
}

/// Lets as many workers work as the storage has places for.
pub(crate) fn employ<A: Agent>(node: &'static Node<'static>, agent: &'static A) {
    for worker in 0..node.limits().workers.all as usize {
        spawn_local(async move {
            node.work(worker, agent).await;
        });
    }
}

/// Reads the file with the tokens again whenever somebody says so. If it is wrong, everything stays as it was.
#[cfg(unix)]
async fn read_again(
    node: &'static Node<'static>,
    mut hangups: tokio::signal::unix::Signal,
    mut keys: Keys,
    room: usize,
) {
    while hangups.recv().await.is_some() {
        match keys.read().and_then(|()| keys.principals(room)) {
            Ok(principals) => {
                node.change_door(|door| keys::make_known(door, &principals));
                keys::warn(&principals);
                say(format_args!("the tokens were read again, known are: {}", keys::listed(&keys.known)));
            }
            Err(bad) => say(format_args!("the tokens stay as they were: {bad}")),
        }
    }
}

/// The key with which notifications are signed. It is made of the operating system's chance whatever `--seed` says: that one
/// everybody knows.
fn recall_signer(store: &Store<SimFlash>, url: Option<&'static str>) -> Option<&'static Signer> {
    let Recalled { signer, made } = Signer::recall(store, url, |bytes| System.fill(bytes)).ok()?;
    match made {
        Some(Made { kept: Err(trouble), .. }) => say(format_args!("the signing key is not kept: {trouble}")),
        Some(Made { was_damaged: true, .. }) => {
            say(format_args!("the signing key that was kept is none: there is a new one"))
        }
        _ => {}
    }
    Some(Box::leak(Box::new(signer)))
}

/// Changes the key whenever somebody says so.
#[cfg(unix)]
async fn rotate_key(signer: &'static Signer, store: &'static Store<SimFlash>, mut asked: tokio::signal::unix::Signal) {
    while asked.recv().await.is_some() {
        match signer.rotate(store, |bytes| System.fill(bytes)) {
            Ok(()) => say(format_args!("there is a new signing key; the one before stays published until the next")),
            Err(trouble) => say(format_args!("the signing key stays as it was: {trouble}")),
        }
    }
}

/// Keeps the node's clock going.
async fn wind(node: &'static Node<'static>, clock: &'static Uptime) {
    node.run_clock(|due| tokio::time::sleep_until((clock.0 + Duration::from_millis(due.0)).into())).await;
}

pub(crate) struct Uptime(pub(crate) Instant);

impl Clock for Uptime {
    fn now(&self) -> Millis {
        Millis(self.0.elapsed().as_millis() as u64)
    }
}
