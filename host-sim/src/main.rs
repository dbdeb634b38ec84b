//! A Mote on this machine: the firmware's library on tokio's sockets, with simulated sensors.

mod args;
mod board;
mod random;
mod welcome;

use core::{fmt, net::SocketAddr, time::Duration};
use std::{
    io,
    process::ExitCode,
    time::{Instant, SystemTime},
};

use firmware::{
    agents::{conformance::Conformance, sensor, sensor::SensorNode},
    app::App,
    reset::{Memo, Past, Reason},
    simulated::SplitMix,
    status::Facts,
};
use host_sim::net::{self, Settings};
use protocol_core::{
    Agent, Engine, Identity, Node, Storage,
    time::{Clock, Entropy, Millis, UnixMillis},
};
use static_cell::ConstStaticCell;
use tokio::task::{LocalSet, spawn_local};

use crate::{
    args::{AgentName, Args, Asked, BadArgs, HELP, Preset},
    board::{SimBoard, say},
    random::System,
};

/// 4096 tasks with 16 MiB of log between them, 64 being worked on, 1000 answers being waited for: fewer
/// than there are connections, so that one can always ask for something quick.
static HOST: ConstStaticCell<Storage<4096, 262_144, 64, 1000>> = ConstStaticCell::new(Storage::new());

/// What the smallest board has, to meet its limits on a laptop.
static PICO: ConstStaticCell<Storage<16, 512, 4, 4>> = ConstStaticCell::new(Storage::new());

fn main() -> ExitCode {
    let asked = std::env::args_os()
        .skip(1)
        .map(|word| word.into_string().map_err(|word| BadArgs::Unknown(word.to_string_lossy().into_owned())))
        .collect::<Result<Vec<_>, _>>()
        .and_then(Args::parse);
    let outcome = match asked {
        Ok(Asked::Run(args)) => start(&args),
        Ok(Asked::Help) => {
            say(format_args!("{}", HELP.trim_end()));
            Ok(())
        }
        Ok(Asked::Version) => {
            say(format_args!("host-sim {}", env!("CARGO_PKG_VERSION")));
            Ok(())
        }
        Err(bad) => {
            eprintln!("host-sim: {bad}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("host-sim: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Why a good command line came to nothing.
enum StartError {
    Runtime(io::Error),
    Randomness(getrandom::Error),
    Listen(SocketAddr, io::Error),
    Signals(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runtime(error) => write!(f, "cannot wait for the network: {error}"),
            Self::Randomness(error) => write!(f, "the operating system gives no randomness: {error}"),
            Self::Listen(address, error) if error.kind() == io::ErrorKind::AddrInUse => {
                let (ip, port) = (address.ip(), address.port());
                write!(
                    f,
                    "port {port} of {ip} is taken, choose another one with --port, or --port 0 for any that is free"
                )
            }
            Self::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Self::Signals(error) => write!(f, "cannot wait for Ctrl-C: {error}"),
        }
    }
}

fn start(args: &Args) -> Result<(), StartError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(StartError::Runtime)?;
    LocalSet::new().block_on(&runtime, run(args))
}

async fn run(args: &Args) -> Result<(), StartError> {
    let stop = stop_signal().map_err(StartError::Signals)?;
    let cannot_listen = |error| StartError::Listen(SocketAddr::new(args.bind, args.port), error);
    let listener = net::bind(args.bind, args.port).await.map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;

    let seed = args.seed.map_or_else(System::seed, Ok).map_err(StartError::Randomness)?;
    let entropy: &'static mut dyn Entropy = match args.seed {
        Some(seed) => Box::leak(Box::new(SplitMix::new(seed))),
        None => Box::leak(Box::new(System)),
    };
    let clock: &'static Uptime = Box::leak(Box::new(Uptime(Instant::now())));
    let (engine, settings) = match args.preset {
        Preset::Host => (Engine::new(HOST.take(), entropy), Settings::HOST),
        Preset::Pico => (Engine::new(PICO.take(), entropy), Settings::DEVICE),
    };
    let profile = match args.agent {
        AgentName::Sensor => sensor::PROFILE,
        AgentName::Conformance => Conformance::PROFILE,
    };
    let url = args.url.clone().map(|url| &*url.leak());
    let node = Node::new(engine, clock, Identity { profile, url, served: args.dialects.1 });
    let node: &'static Node<'static> = Box::leak(Box::new(node));
    if let Ok(wall) = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        node.handle_wall_time(UnixMillis(wall.as_millis() as u64));
    }

    match args.agent {
        AgentName::Sensor => {
            let board: &'static SimBoard = Box::leak(Box::new(SimBoard::new(seed, args.fault)));
            employ(node, Box::leak(Box::new(SensorNode::new(board))));
        }
        AgentName::Conformance => employ(node, &Conformance),
    }
    spawn_local(wind(node, clock));

    welcome::print(args, address);
    // The one call of the HTTP edge.
    let past = Past::of(Reason::PowerOn, &mut Memo::EMPTY.clone());
    let facts = Facts { board: "host-sim", past, stack: None };
    net::run(listener, &App::new(node, &facts), &settings, stop).await;
    say(format_args!("stopped"));
    Ok(())
}

/// Lets as many workers work as the storage has places for.
fn employ<A: Agent>(node: &'static Node<'static>, agent: &'static A) {
    for worker in 0..node.limits().workers as usize {
        spawn_local(async move {
            node.work(worker, agent).await;
        });
    }
}

/// Keeps the node's clock going.
async fn wind(node: &'static Node<'static>, clock: &'static Uptime) {
    node.run_clock(|due| tokio::time::sleep_until((clock.0 + Duration::from_millis(due.0)).into())).await;
}

struct Uptime(Instant);

impl Clock for Uptime {
    fn now(&self) -> Millis {
        Millis(self.0.elapsed().as_millis() as u64)
    }
}

/// Is done when somebody wants us to end: Ctrl-C, or the way that other programs ask.
#[cfg(unix)]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use core::{future::poll_fn, task::Poll};

    use tokio::signal::unix::{SignalKind, signal};

    let mut signals = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
    Ok(poll_fn(move |cx| {
        let is_asked = signals.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
        if is_asked { Poll::Ready(()) } else { Poll::Pending }
    }))
}

/// Is done when somebody wants us to end.
#[cfg(not(unix))]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        // An error: there is no way to ask us, and we go on for ever.
        if tokio::signal::ctrl_c().await.is_err() {
            core::future::pending::<()>().await;
        }
    })
}
