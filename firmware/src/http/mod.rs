//! The HTTP edge: picoserve between a socket and the agent, with the corners rounded off.
//!
//! ```text
//! socket -> gate -> picoserve -> handler -> Service      a request, its framing checked byte by byte
//! socket <- link <------------- answer   <- Source       its answer, small writes gathered
//! ```
//!
//! picoserve reads heads and bodies, keeps connections and stops gracefully. Its answers are not used: they are flushed
//! too often and cost too much memory (`answer.rs`, `socket.rs`).
//!
//! [`serve`] is all there is to one connection, on tokio and on embassy-net alike. It takes buffers and gives them back,
//! allocates nothing and is cancelled by dropping it.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]

mod answer;
mod body;
mod conditional;
mod credential;
mod crowd;
mod flow;
mod gate;
mod handler;
mod limits;
mod origin;
mod page;
mod routes;
mod service;
mod socket;
mod traffic;

use core::{cell::Cell, marker::PhantomData};

use picoserve::{
    Config, Router, Server, Timeouts, Timer,
    io::{BaseWrite, Socket},
    time::Duration,
};
use protocol_core::door::Address;

pub use self::{
    body::Bodies,
    crowd::Crowd,
    limits::Limits,
    origin::Names,
    service::{BaseUrl, Broken, Call, CardVersion, Head, Kind, Refusal, Service, Source},
    socket::LinkError,
    traffic::{Gauge, Traffic},
};
use self::{
    flow::Flow,
    gate::{Bounds, Gate},
    handler::Handler,
    routes::Problem,
    socket::{Halves, Inlet, Link, Paced, Wire},
    traffic::Why,
};

/// The least that [`Buffers::transmit`] may be.
pub const LEAST_TRANSMIT_BYTES: usize = 128;

/// What all connections share.
pub struct Site<'e, 's, S> {
    /// The agent.
    pub service: &'e S,
    /// The large request buffers.
    pub bodies: &'e Bodies<'s>,
    /// Who is being served.
    pub crowd: &'e Crowd<'s>,
    /// The limits.
    pub limits: &'e Limits,
    /// What browsers may call it, and whose pages may ask.
    pub names: Names<'e>,
}

/// The memory of one connection.
pub struct Buffers<'b> {
    /// Holds a request's head, and its body if there is room behind.
    pub request: &'b mut [u8],
    /// Holds a piece of an answer; an answer that fits has a `Content-Length`.
    pub answer: &'b mut [u8],
    /// Gathers head and pieces until they are worth sending.
    pub transmit: &'b mut [u8],
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Everything that was asked was answered.
    Closed,
    /// A request's head did not arrive in time; the client was told.
    TimedOut,
    /// Its address has as many connections as one may have; the client was told.
    TurnedAway,
    /// The socket failed, the client did not read, or an answer broke in the middle.
    Aborted,
}

impl Ending {
    /// In words, for counters.
    const NAMES: [&'static str; 4] = ["closed", "timed_out", "turned_away", "aborted"];
}

/// Serves one connection, from the first byte to the last. `address` is the client's.
///
/// When `shutdown` is done, streams end properly, an answer that is being sent gets [`Limits::grace`], and an idle
/// connection closes.
///
/// # Panics
/// If a buffer is too small for anything; whatever a client sends, it does not.
///
/// # Cancellation
/// May be dropped at any time; the socket goes with it.
pub async fn serve<Runtime, K, T, S>(
    mut socket: K,
    address: Address,
    timer: &T,
    site: &Site<'_, '_, S>,
    buffers: Buffers<'_>,
    shutdown: impl Future<Output = ()>,
) -> Ending
where
    K: Socket<Runtime>,
    T: Timer<Runtime>,
    S: Service,
{
    assert!(buffers.request.len() > Gate::RESERVE && !buffers.answer.is_empty(), "a connection needs memory");
    assert!(buffers.transmit.len() >= LEAST_TRANSMIT_BYTES, "a line of a head needs room");
    let limits = site.limits;
    let traffic = site.service.traffic();
    let Some(place) = site.crowd.enter(address, limits, timer).await else {
        site.service.turned_away();
        turn_away(socket, timer, limits).await;
        return Ending::TurnedAway;
    };
    let _seat = traffic.connections.take();
    let timeouts = Timeouts {
        start_read_request: limits.head,
        persistent_start_read_request: limits.idle,
        read_request: limits.head,
        write: limits.write,
    };
    let ending = {
        let (reader, writer) = socket.split();
        let bounds = Bounds {
            head_bytes: limits.head_bytes.min(buffers.request.len().saturating_sub(Gate::RESERVE)),
            target_bytes: limits.target_bytes,
            body_bytes: limits.body_bytes.min(site.bodies.largest_bytes().max(buffers.request.len())),
        };
        let flow = Flow::default();
        let mut inlet = Inlet::new(reader, Gate::new(bounds), &flow, traffic);
        let wire = Wire::new(Link::new(Paced::new(writer, timer, limits.write, Some(traffic)), buffers.transmit));
        let router = Router::from_service(Handler {
            site,
            place: &place,
            body_limit_bytes: bounds.body_bytes,
            timer,
            flow: &flow,
            wire: &wire,
            fill: Cell::new(buffers.answer),
            runtime: PhantomData,
        });
        let stop = async {
            shutdown.await;
            flow.stop();
        };
        let config = Config::new(timeouts.clone()).keep_connection_alive();
        let served = Server::custom(&router, ByRef(timer), &config, buffers.request)
            .with_graceful_shutdown(stop, limits.grace)
            .serve(Halves(&mut inlet))
            .await;
        let ending = match served {
            // An answer that had its grace and did not end must not look as if it had.
            Ok(_) if flow.is_answering() => Ending::Aborted,
            Ok(_) | Err(picoserve::Error::BadRequest) => Ending::Closed,
            Err(picoserve::Error::ReadTimeout(_)) => Ending::TimedOut,
            Err(_) => Ending::Aborted,
        };
        let farewell = async {
            let mut link = wire.try_lock().map_err(|_| LinkError::Cut)?;
            if ending == Ending::TimedOut {
                traffic.refused(Why::HeadSlow);
                say_last(&mut link, &Problem::TIMED_OUT, None, inlet.may_be_head()).await?;
            }
            link.send().await
        };
        // Nor must half of a last word look like all of it.
        match timer.run_with_timeout(limits.linger, farewell).await {
            Ok(Ok(())) => ending,
            Ok(Err(_)) | Err(_) => Ending::Aborted,
        }
    };
    let end = async {
        match ending {
            Ending::Closed | Ending::TimedOut | Ending::TurnedAway => socket.shutdown(&timeouts, timer).await,
            Ending::Aborted => socket.abort(&timeouts, timer).await,
        }
    };
    // Reading on until the client hangs up is what lets it see an answer that came before its body was sent; but not forever.
    let _ = timer.run_with_timeout(limits.linger, end).await;
    traffic.ended(ending);
    ending
}

/// Tells a client that there is no room for another connection, without reading what it wants. Who calls this tells the
/// [`Service`], too.
///
/// # Cancellation
/// May be dropped at any time; the socket goes with it.
pub async fn turn_away<Runtime, K, T>(mut socket: K, timer: &T, limits: &Limits)
where
    K: Socket<Runtime>,
    T: Timer<Runtime>,
{
    let patience = limits.turned_away;
    let timeouts = Timeouts { read_request: patience, write: patience, ..Timeouts::const_default() };
    let end = async {
        let mut room = [0; LEAST_TRANSMIT_BYTES];
        let mut link = Link::new(Paced::new(socket.split().1, timer, patience, None), &mut room);
        say_last(&mut link, &Problem::NO_ROOM, Some(limits.retry_after_secs), false).await?;
        link.send().await?;
        drop(link);
        // Reading what it wanted keeps the words from being lost to a reset.
        let _ = socket.shutdown(&timeouts, timer).await;
        Ok::<_, LinkError<K::Error>>(())
    };
    let _ = timer.run_with_timeout(patience, end).await;
}

/// Answers a request that was never read, or not all of it. The connection ends with it.
async fn say_last<W: BaseWrite>(
    link: &mut Link<'_, W>,
    problem: &Problem,
    retry_after_secs: Option<u16>,
    may_be_head: bool,
) -> Result<(), W::Error> {
    let status = problem.status;
    link.write_text(format_args!("HTTP/1.1 {status} {}\r\n", answer::reason(status))).await?;
    if let Some(seconds) = retry_after_secs {
        link.write_text(format_args!("Retry-After: {seconds}\r\n")).await?;
    }
    link.write_all(b"Content-Type: application/json\r\nConnection: close\r\n").await?;
    if may_be_head {
        // Right for a HEAD, and for anything else an answer that ends with the connection.
        return link.write_all(b"\r\n").await;
    }
    link.write_text(format_args!("Content-Length: {}\r\n\r\n", problem.length())).await?;
    answer::write_problem(link, problem).await
}

/// Lends a timer to picoserve, which wants one of its own.
struct ByRef<'t, T>(&'t T);

impl<Runtime, T: Timer<Runtime>> Timer<Runtime> for ByRef<'_, T> {
    fn delay(&self, duration: Duration) -> impl Future<Output = ()> {
        self.0.delay(duration)
    }
}
