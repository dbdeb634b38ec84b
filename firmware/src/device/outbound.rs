//! The way out over embassy-net: names, connections, time.

use core::{
    cell::{RefCell, RefMut},
    net::{IpAddr, SocketAddr},
};

use embassy_net::{
    IpAddress, IpEndpoint, Stack,
    dns::DnsQueryType,
    tcp::{State, TcpSocket},
};
use embassy_time::{Duration, Timer, with_timeout};
use embedded_io_async::{ErrorType, Read, Write};
use heapless::Vec;
use protocol_core::time::Millis;

use super::{hang_up, presence::Presence};
use crate::outbound::{ADDRESSES, Ending, Network, Unreachable};

/// The network of the board, as a caller sees it, with a socket for each of `PLACES` callers.
pub(super) struct Outside<const PLACES: usize> {
    pub(super) stack: Stack<'static>,
    pub(super) presence: &'static Presence,
    pub(super) sockets: [RefCell<TcpSocket<'static>>; PLACES],
}

/// How long nobody may answer before a connection is given up.
const SILENCE: Duration = Duration::from_secs(15);
/// How long the other side may take to let go.
const PARTING: Duration = Duration::from_secs(1);

impl<const PLACES: usize> Network for Outside<PLACES> {
    type Socket<'n> = Line<'n>;

    async fn ready(&self) {
        self.presence.wait().await;
    }

    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr, ADDRESSES>, Unreachable> {
        if !self.stack.is_config_up() {
            return Err(Unreachable::Offline);
        }
        let found = self.stack.dns_query(host, DnsQueryType::A).await.map_err(|error| match error {
            embassy_net::dns::Error::Failed => Unreachable::Unknown,
            _ => Unreachable::Unresolved,
        })?;
        let addresses: Vec<IpAddr, ADDRESSES> = found.iter().take(ADDRESSES).map(|address| (*address).into()).collect();
        if addresses.is_empty() { Err(Unreachable::Unknown) } else { Ok(addresses) }
    }

    async fn connect(&self, place: usize, to: SocketAddr) -> Result<Line<'_>, Unreachable> {
        if !self.stack.is_config_up() {
            return Err(Unreachable::Offline);
        }
        // What is not IPv4 has no way out here.
        let IpAddr::V4(address) = to.ip() else { return Err(Unreachable::Silent) };
        let socket = self.sockets.get(place).and_then(|socket| socket.try_borrow_mut().ok());
        let mut socket = socket.ok_or(Unreachable::Offline)?;
        // A call that was dropped has left it as it was.
        hang_up(&mut socket).await;
        socket.set_timeout(Some(SILENCE));
        socket.set_nagle_enabled(false);
        let end = IpEndpoint::new(IpAddress::Ipv4(address), to.port());
        socket.connect(end).await.map_err(|_| Unreachable::Silent)?;
        Ok(Line(socket))
    }

    async fn hang_up<'n>(&'n self, mut line: Line<'n>, ending: Ending) {
        if ending == Ending::Done {
            line.0.close();
            // An error: it is gone, or takes its time. Both are dealt with here.
            let _ = with_timeout(PARTING, line.0.flush()).await;
        }
        hang_up(&mut line.0).await;
    }

    async fn sleep(&self, span: Millis) {
        Timer::after(Duration::from_millis(span.0)).await;
    }

    fn is_own(&self, address: IpAddr, _: u16) -> bool {
        let own = self.stack.config_v4().map(|config| IpAddr::V4(config.address.address()));
        address.is_loopback() || address.is_unspecified() || own == Some(address)
    }
}

/// A connection.
pub(super) struct Line<'n>(RefMut<'n, TcpSocket<'static>>);

impl ErrorType for Line<'_> {
    type Error = embassy_net::tcp::Error;
}

impl Read for Line<'_> {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        self.0.read(buffer).await
    }
}

impl Write for Line<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        self.0.write(bytes).await
    }

    /// What was written leaves by itself; to wait until it has arrived would take a round trip for nothing.
    async fn flush(&mut self) -> Result<(), Self::Error> {
        if self.0.state() == State::Closed { Err(embassy_net::tcp::Error::ConnectionReset) } else { Ok(()) }
    }
}
