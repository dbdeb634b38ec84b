//! The HTTP edge on tokio's sockets: one listener, many connections, one thread.

use core::{
    cell::{Cell, RefCell},
    future::poll_fn,
    net::IpAddr,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};
use std::io;

use firmware::http::{self, Bodies, Buffers, Crowd, Ending, Limits, Names, Service, Site};
use futures_util::{Stream, stream::FuturesUnordered};
use picoserve::{Timeouts, Timer, TokioRuntime, io::Socket, time::TokioTimer};
use protocol_core::door::Address;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// How much the laptop spends on its network.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The limits of each connection.
    pub limits: Limits,
    /// What browsers may call it, and whose pages may ask.
    pub names: Names<'static>,
    /// Connections that are served at the same time; others are told to come back.
    pub connections: usize,
    /// Bodies that may be read at the same time, beside those that fit behind their heads.
    pub bodies: usize,
    /// Bytes for a request's head, and its body if there is room behind.
    pub request_bytes: usize,
    /// Bytes of the largest answer that goes out in one piece.
    pub answer_bytes: usize,
    /// Bytes that are gathered before they are sent.
    pub transmit_bytes: usize,
}

impl Settings {
    /// As DESIGN.md has it.
    pub const HOST: Self = Self {
        limits: Limits::HOST,
        names: Names { hosts: &[], origins: &[], local: None },
        connections: 1024,
        bodies: 16,
        request_bytes: 8 * 1024 + 512,
        answer_bytes: 4 * 1024,
        transmit_bytes: 2 * 1024,
    };

    /// As the smallest board has it, to meet its limits on a laptop.
    pub const DEVICE: Self = Self {
        limits: Limits::DEVICE,
        names: Names { hosts: &[], origins: &[], local: None },
        connections: 6,
        bodies: 2,
        request_bytes: 2 * 1024,
        answer_bytes: 1024,
        transmit_bytes: 512,
    };
}

/// Takes an address; port 0 takes any that is free, see [`TcpListener::local_addr`].
///
/// # Errors
/// Where the address is not ours or the port is taken.
pub async fn bind(address: IpAddr, port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((address, port)).await
}

/// Serves all connections until `shutdown` is done, then lets them come to their end.
///
/// # Cancellation
/// May be dropped at any time: the connections go with it.
pub async fn run<S: Service>(
    listener: TcpListener,
    service: &S,
    settings: &Settings,
    shutdown: impl Future<Output = ()>,
) {
    // Not `vec![vec![0; ..]; ..]`: that copies, and memory that is copied to is memory that is used.
    let mut rooms: Vec<_> = (0..settings.bodies).map(|_| vec![0; settings.limits.body_bytes]).collect();
    let shelf: Vec<_> = rooms.iter_mut().map(|room| RefCell::new(&mut room[..])).collect();
    let bodies = Bodies::new(&shelf);
    let places: Vec<_> = (0..settings.connections).map(|_| Cell::new(None)).collect();
    let crowd = Crowd::new(&places);
    let site = Site { service, bodies: &bodies, crowd: &crowd, limits: &settings.limits, names: settings.names };
    let (stop, stopped) = watch::channel(());

    let mut served = FuturesUnordered::new();
    let mut turned_away = FuturesUnordered::new();
    let mut shutdown = pin!(shutdown);
    loop {
        if served.len() >= settings.connections {
            // Whoever has just hung up may have left a place that we have not noticed yet.
            let patience = Duration::from_millis(settings.limits.patience.as_millis());
            let mut patience = pin!(tokio::time::sleep(patience));
            poll_fn(|cx| {
                reap(&mut served, cx);
                if served.len() < settings.connections { Poll::Ready(()) } else { patience.as_mut().poll(cx) }
            })
            .await;
        }
        let event = poll_fn(|cx| {
            if shutdown.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            reap(&mut served, cx);
            reap(&mut turned_away, cx);
            listener.poll_accept(cx).map(Some)
        });
        match event.await {
            None => break,
            Some(Ok((stream, peer))) if served.len() < settings.connections => {
                served.push(serve(stream, address(peer.ip()), &site, settings, stopped.clone()));
            }
            Some(Ok((stream, _))) => {
                service.turned_away();
                if turned_away.len() < TURNED_AWAY {
                    turned_away.push(http::turn_away(Tcp(stream), &TokioTimer, &settings.limits));
                }
            }
            // Out of file descriptors, most likely. The connections that hold them go on meanwhile.
            Some(Err(_)) => {
                let mut pause = pin!(tokio::time::sleep(ACCEPT_PAUSE));
                poll_fn(|cx| {
                    reap(&mut served, cx);
                    pause.as_mut().poll(cx)
                })
                .await;
            }
        }
    }
    drop(listener);
    drop(stop);
    poll_fn(|cx| {
        reap(&mut served, cx);
        if served.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Clients that may hear that there is no room at the same time; beyond, they are just dropped.
const TURNED_AWAY: usize = 64;

const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Lets every connection that can go on do so, and forgets those that are done.
fn reap<F: Future>(connections: &mut FuturesUnordered<F>, cx: &mut Context<'_>) {
    while let Poll::Ready(Some(_)) = Pin::new(&mut *connections).poll_next(cx) {}
}

async fn serve<S: Service>(
    stream: TcpStream,
    address: Address,
    site: &Site<'_, '_, S>,
    settings: &Settings,
    mut stopped: watch::Receiver<()>,
) -> Ending {
    // Answers are gathered already; what is sent is to leave at once.
    let _ = stream.set_nodelay(true);
    let mut memory = vec![0; settings.request_bytes + settings.answer_bytes + settings.transmit_bytes];
    let (request, rest) = memory.split_at_mut(settings.request_bytes);
    let (answer, transmit) = rest.split_at_mut(settings.answer_bytes);
    let shutdown = async move {
        // An error: the sender is gone, which is the signal.
        let _ = stopped.changed().await;
    };
    http::serve(Tcp(stream), address, &TokioTimer, site, Buffers { request, answer, transmit }, shutdown).await
}

/// An address as the door knows it: an IPv4 one has one form, however it came in.
fn address(ip: IpAddr) -> Address {
    match ip.to_canonical() {
        IpAddr::V4(v4) => Address::v4(v4.octets()),
        IpAddr::V6(v6) => Address(v6.octets()),
    }
}

/// A `TcpStream` whose `abort` is one: picoserve's closes politely, and half an answer would look like a whole one.
struct Tcp(TcpStream);

impl Socket<TokioRuntime> for Tcp {
    type Error = <TcpStream as Socket<TokioRuntime>>::Error;
    type ReadHalf<'a> = <TcpStream as Socket<TokioRuntime>>::ReadHalf<'a>;
    type WriteHalf<'a> = <TcpStream as Socket<TokioRuntime>>::WriteHalf<'a>;

    fn split(&mut self) -> (Self::ReadHalf<'_>, Self::WriteHalf<'_>) {
        Socket::split(&mut self.0)
    }

    async fn abort<T: Timer<TokioRuntime>>(self, _: &Timeouts, _: &T) -> Result<(), picoserve::Error<Self::Error>> {
        let _ = self.0.set_zero_linger();
        Ok(())
    }

    async fn shutdown<T: Timer<TokioRuntime>>(
        self,
        timeouts: &Timeouts,
        timer: &T,
    ) -> Result<(), picoserve::Error<Self::Error>> {
        Socket::shutdown(self.0, timeouts, timer).await
    }
}
