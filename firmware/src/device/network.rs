//! The network: it comes up, goes away, comes back, and tells the time.

use core::net::{IpAddr, SocketAddr};

use embassy_futures::{
    join::join,
    select::{Either, select},
};
use embassy_net::{
    Runner, Stack,
    udp::{PacketMetadata, UdpSocket},
};
use embassy_time::{Duration, Instant, Timer, with_timeout};
use protocol_core::{
    Level, Node, Note,
    time::{Millis, UnixMillis},
};

use super::{PORT, desk::Desk, guard::Guard, porch::Porch};
use crate::{
    board::{Key, here},
    mdns::Place,
    status::Connection,
    store::VALUE_MAX,
    wifi::{self, Link, Network},
};

#[embassy_executor::task]
pub(super) async fn run_network(mut runner: Runner<'static, Porch<here::Nic>>, guard: &'static Guard) -> ! {
    join(runner.run(), guard.network()).await.0
}

/// Says where the device is to be found, and when it is not. Nobody else may ask the stack: [`Presence`](super::presence::Presence).
#[embassy_executor::task]
pub(super) async fn watch_network(
    stack: Stack<'static>,
    node: &'static Node<'static>,
    desk: &'static Desk,
    connection: &'static Connection,
) -> ! {
    const PATIENCE: Duration = Duration::from_secs(10);
    loop {
        while with_timeout(PATIENCE, stack.wait_config_up()).await.is_err() {
            if stack.is_link_up() {
                defmt::warn!("still no address: is there a DHCP server?");
            } else {
                defmt::warn!("still no link: is the cable in, or the network near?");
            }
        }
        if let Some(config) = stack.config_v4() {
            let (address, prefix) = (config.address.address(), config.address.prefix_len());
            connection.address.set(Some(address));
            desk.presence.set(Some(Place { address, prefix }));
            defmt::info!(
                "{=str} at http://{}:{=u16}/ after {=u64} ms",
                here::NAME,
                address,
                PORT,
                Instant::now().as_millis()
            );
        }
        node.note(Note::new(Level::Info, "the network is there"));
        // What could not be told meanwhile is told now.
        node.retry_deliveries();
        stack.wait_config_down().await;
        connection.address.set(None);
        desk.presence.set(None);
        defmt::warn!("the address is gone");
        node.note(Note::new(Level::Warn, "the network is gone"));
    }
}

/// Joins the wireless network that was built in, else the one that was typed, and stays in it.
#[embassy_executor::task]
pub(super) async fn stay_joined(mut radio: here::Radio, desk: &'static Desk, connection: &'static Connection) -> ! {
    let network = match built_in() {
        Some(network) => Some(network),
        None => {
            let mut bytes = [0; VALUE_MAX];
            let length = desk.store.load(Key::WIFI, &mut bytes);
            length.and_then(|length| Network::from_bytes(&bytes[..length]))
        }
    };
    let sleep = async |span: Millis| Timer::after(Duration::from_millis(span.0)).await;
    wifi::stay_joined(&mut radio, network, &desk.network, sleep, |link| tell(link, connection)).await
}

/// The network that was in the environment at build time.
pub(super) fn built_in() -> Option<Network> {
    let ssid = option_env!("MOTE_WIFI_SSID").filter(|ssid| !ssid.is_empty())?;
    match Network::new(ssid, option_env!("MOTE_WIFI_PASSWORD").unwrap_or("")) {
        Ok(network) => Some(network),
        Err(bad) => {
            defmt::error!("MOTE_WIFI_SSID and MOTE_WIFI_PASSWORD: {=str}", bad.as_str());
            None
        }
    }
}

fn tell(link: Link, connection: &Connection) {
    connection.wifi.set(Some(link.as_str()));
    match link {
        Link::Joining | Link::Joined => defmt::info!("{=str}", link.as_str()),
        Link::NoNetwork | Link::Lost => defmt::warn!("{=str}", link.as_str()),
        Link::Failed(error, pause) => {
            defmt::warn!("not joined: {=str}; next try in {=u64} s", error.as_str(), pause.0 / 1000);
        }
    }
}

/// Asks for the time as soon as there is a network, and again from time to time. Where nobody knows there is none.
#[embassy_executor::task]
pub(super) async fn tell_time(stack: Stack<'static>, node: &'static Node<'static>, desk: &'static Desk) -> ! {
    /// A crystal drifts by a few seconds a day.
    const AGAIN: Duration = Duration::from_secs(3600);
    const PAUSE_MIN: Duration = Duration::from_secs(15);
    const PAUSE_MAX: Duration = Duration::from_secs(960);

    let mut pause = PAUSE_MIN;
    loop {
        desk.presence.wait().await;
        let next = match ask_time(stack, desk).await {
            Some(time) => {
                if node.wall_time().is_none() {
                    defmt::info!("the time is known: {}", defmt::Display2Format(&time));
                }
                node.handle_wall_time(time);
                pause = PAUSE_MIN;
                AGAIN
            }
            None => {
                let now = pause;
                pause = (pause * 2).min(PAUSE_MAX);
                now
            }
        };
        if let Either::Second(()) = select(Timer::after(next), desk.time_server.wait()).await {
            pause = PAUSE_MIN;
        }
    }
}

async fn ask_time(stack: Stack<'static>, desk: &Desk) -> Option<UnixMillis> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let mut text = [0; VALUE_MAX];
    let server = match desk.store.load(Key::TIME_SERVER, &mut text) {
        Some(length) => time_server(core::str::from_utf8(&text[..length]).ok()?)?,
        // Most routers know; nobody outside of the network is asked unless the owner says so.
        None => SocketAddr::new(IpAddr::V4(stack.config_v4()?.gateway?), NTP_PORT),
    };
    // An answer is 48 bytes.
    let (mut received, mut sent) = ([0; 64], [0; 64]);
    let (mut receiving, mut sending) = ([PacketMetadata::EMPTY; 1], [PacketMetadata::EMPTY; 1]);
    let mut socket = UdpSocket::new(stack, &mut receiving, &mut received, &mut sending, &mut sent);
    socket.bind(0).ok()?;
    let socket = sntpc_net_embassy::UdpSocketWrapper::from(socket);
    let context = sntpc::NtpContext::new(Uptime::default());
    let time = with_timeout(PATIENCE, sntpc::get_time(server, &socket, context)).await.ok()?.ok()?;
    let fraction = u64::from(sntpc::fraction_to_milliseconds(time.sec_fraction()));
    Some(UnixMillis(u64::from(time.sec()) * 1000 + fraction))
}

const NTP_PORT: u16 = 123;

/// Reads `ADDRESS` or `ADDRESS:PORT`.
pub(super) fn time_server(text: &str) -> Option<SocketAddr> {
    let (address, port) = match text.split_once(':') {
        Some((address, port)) => (address, port.parse().ok()?),
        None => (text, NTP_PORT),
    };
    Some(SocketAddr::new(IpAddr::V4(address.parse().ok()?), port))
}

/// What sntpc measures the way with.
#[derive(Clone, Copy, Default)]
struct Uptime(u64);

impl sntpc::NtpTimestampGenerator for Uptime {
    fn init(&mut self) {
        self.0 = Instant::now().as_micros();
    }

    fn timestamp_sec(&self) -> u64 {
        self.0 / 1_000_000
    }

    fn timestamp_subsec_micros(&self) -> u32 {
        (self.0 % 1_000_000) as u32
    }
}
