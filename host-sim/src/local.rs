//! The name in the local network, on tokio's sockets.

use core::{
    cell::{Cell, RefCell},
    net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4},
    time::Duration,
};
use std::{io, time::Instant};

use firmware::mdns::{GROUP, HOPS, LocalName, PACKET_MAX, Place, Responder, Wanted};
use protocol_core::time::{Clock as _, Entropy as _, Millis};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::{net::UdpSocket, time::timeout_at};

use crate::{board::say, random::System, sim::Uptime};

/// What others find us by.
pub(crate) struct Found {
    name: &'static LocalName,
    responder: RefCell<Responder<'static>>,
    socket: UdpSocket,
    listening: SocketAddrV4,
    /// Where the socket listens and speaks.
    joined: Cell<Option<Ipv4Addr>>,
    clock: &'static Uptime,
}

/// An interface may come, go, or get another address.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

impl Found {
    /// Gets ready to be found where we listen.
    ///
    /// # Errors
    /// Where there can be no such socket, or the address is not ours.
    pub(crate) fn new(wanted: Wanted, listening: SocketAddr, clock: &'static Uptime) -> io::Result<Self> {
        let SocketAddr::V4(listening) = listening else { return Err(io::ErrorKind::Unsupported.into()) };
        let name: &'static LocalName = Box::leak(Box::default());
        // Others with the same --seed must not speak at the same moments.
        let mut seed = [0; 8];
        System.fill(&mut seed);
        let responder = Responder::new(wanted, listening.port(), name, u64::from_le_bytes(seed));
        let found = Self {
            name,
            responder: RefCell::new(responder),
            socket: socket()?,
            listening,
            joined: Cell::new(None),
            clock,
        };
        if !listening.ip().is_unspecified() {
            found.join(*listening.ip())?;
        }
        Ok(found)
    }

    /// The name, while it is ours.
    pub(crate) fn name(&self) -> &'static LocalName {
        self.name
    }

    /// Answers to the name for ever.
    pub(crate) async fn answer(&self) {
        // Somebody may have more to say than fits into a frame.
        let (mut packet, mut out) = ([0; 9000], [0; PACKET_MAX]);
        loop {
            self.look();
            while let Some(length) = self.with(|responder, now| responder.poll_packet(now, &mut out)) {
                self.send(&out[..length], GROUP).await;
            }
            if let Some(name) = self.with(|responder, _| responder.poll_news().map(str::to_owned)) {
                say(format_args!("name         http://{name}.local:{}/", self.listening.port()));
            }
            let due = self.with(|responder, _| responder.poll_timeout());
            let due = due.map_or(Instant::now() + LOOK_AGAIN, |due| {
                (self.clock.0 + Duration::from_millis(due.0)).min(Instant::now() + LOOK_AGAIN)
            });
            match timeout_at(due.into(), self.socket.recv_from(&mut packet)).await {
                Ok(Ok((length, SocketAddr::V4(from)))) => {
                    let packet = &packet[..length];
                    let reply = self.with(|responder, now| responder.handle_packet(now, from, packet, &mut out));
                    if let Some(length) = reply {
                        self.send(&out[..length], from).await;
                    }
                }
                // Somebody whom we had answered is gone, most likely.
                Ok(Err(_)) => tokio::time::sleep(Duration::from_millis(50)).await,
                Ok(Ok(_)) | Err(_) => {}
            }
        }
    }

    /// Takes the name back, so that nobody looks for us in vain.
    pub(crate) async fn leave(&self) {
        let mut out = [0; PACKET_MAX];
        if let Some(length) = self.with(|responder, now| responder.goodbye(now, &mut out)) {
            self.send(&out[..length], GROUP).await;
        }
        // What is looked at from now on is nothing.
        self.joined.set(Some(Ipv4Addr::UNSPECIFIED));
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Responder<'static>, Millis) -> T) -> T {
        ask(&mut self.responder.borrow_mut(), self.clock.now())
    }

    /// A packet that gets lost is like one that was never sent: it is asked for again.
    async fn send(&self, packet: &[u8], to: SocketAddrV4) {
        let _ = self.socket.send_to(packet, to).await;
    }

    /// Looks where we are, where that may change.
    fn look(&self) {
        if !self.listening.ip().is_unspecified() || self.joined.get() == Some(Ipv4Addr::UNSPECIFIED) {
            return;
        }
        let here = outward();
        if here != self.joined.get() {
            if let Some(before) = self.joined.take() {
                let _ = self.socket.leave_multicast_v4(*GROUP.ip(), before);
            }
            match here.map(|here| self.join(here)) {
                Some(Ok(())) => {}
                // It has just gone, most likely. We will see.
                Some(Err(_)) | None => self.with(|responder, now| responder.set_place(now, None)),
            }
        }
    }

    fn join(&self, address: Ipv4Addr) -> io::Result<()> {
        self.socket.join_multicast_v4(*GROUP.ip(), address)?;
        socket2::SockRef::from(&self.socket).set_multicast_if_v4(&address)?;
        self.joined.set(Some(address));
        // Nobody but neighbours gets through to a socket that listens to the group alone.
        self.with(|responder, now| responder.set_place(now, Some(Place { address, prefix: 0 })));
        Ok(())
    }
}

/// A socket beside those of others who speak mDNS on this machine.
fn socket() -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    #[cfg(all(unix, not(target_os = "solaris"), not(target_os = "illumos")))]
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.set_multicast_ttl_v4(HOPS.into())?;
    socket.set_ttl_v4(HOPS.into())?;
    // Others on this machine want to hear it, too.
    socket.set_multicast_loop_v4(true)?;
    #[cfg(target_os = "linux")]
    socket.set_multicast_all_v4(false)?;
    // What is sent to this machine alone is none of ours: it may come from anywhere.
    let here = if cfg!(unix) { *GROUP.ip() } else { Ipv4Addr::UNSPECIFIED };
    socket.bind(&SocketAddrV4::new(here, GROUP.port()).into())?;
    UdpSocket::from_std(socket.into())
}

/// The address by which we speak to the local network, or failing that to the world. Nothing is sent to find out.
fn outward() -> Option<Ipv4Addr> {
    const WORLD: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 9);
    [GROUP, WORLD].into_iter().find_map(|far| {
        let probe = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        probe.connect(far).ok()?;
        match probe.local_addr().ok()?.ip() {
            IpAddr::V4(here) if !here.is_unspecified() && !here.is_loopback() => Some(here),
            _ => None,
        }
    })
}
