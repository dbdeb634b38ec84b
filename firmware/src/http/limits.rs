//! How much one connection may ask of the device, and for how long.

use picoserve::time::Duration;
use protocol_core::{
    door::{Allowance, Rate},
    time::Millis,
};

/// The numbers of the HTTP edge and of the door, all of them, with what happens beyond.
///
/// Sizes come first, then deadlines, then how many and how often. What is refused before it was read has an HTTP status of
/// its own. What the node refuses, a caller that has too much or calls too often, is its dialect's error in a 200.
///
/// The buffers lent to [`serve`](super::serve) are limits, too, and the smaller number counts: a head has to fit into the
/// connection's buffer, a body behind it or into one of the shared ones.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Request line and headers together; 431 beyond.
    pub head_bytes: usize,
    /// The request target; 414 beyond.
    pub target_bytes: usize,
    /// A request's body; 413 beyond.
    pub body_bytes: usize,
    /// A body nobody wants is read and dropped up to here to keep the connection; beyond, the connection is closed.
    pub drain_bytes: usize,
    /// Requests on one connection before it is closed, so that nobody owns a socket forever.
    pub requests: u32,
    /// Silence before the next request on a kept connection; then it is closed.
    pub idle: Duration,
    /// From a request's first byte to the end of its head, and of its body if that fits behind the head; 408 beyond.
    /// Also the wait for the very first byte.
    pub head: Duration,
    /// All of a body that has a shared buffer; 408 beyond.
    pub body: Duration,
    /// Waiting for a shared buffer; 503 beyond.
    pub lease: Duration,
    /// One piece of the answer, at most one transmit buffer long: a reader that stalls for longer, of a stream or of
    /// anything else, is cut off.
    pub write: Duration,
    /// After the last answer: for the client to read it and to hang up.
    pub linger: Duration,
    /// After the call to stop: for an answer to end properly.
    pub grace: Duration,
    /// Connections from one address at a time, an IPv6 network of 64 bits counting as one; 503 beyond.
    pub connections_per_address: usize,
    /// How long a client waits for one of those to come free.
    pub patience: Duration,
    /// For a client that is turned away: to read why and to hang up. Short, as it has a place that others could have.
    pub turned_away: Duration,
    /// What one caller may have: its rate, its tasks, its streams, and how long an answer is held back for it. Strangers
    /// have a rate for each address; 429 beyond.
    pub allowance: Allowance,
    /// What `Retry-After` says when there is no room, in seconds. Often somebody is just hanging up.
    pub retry_after_secs: u16,
    /// What `Cache-Control: max-age` of the card says, in seconds.
    pub card_max_age_secs: u32,
}

impl Limits {
    /// For a microcontroller with a handful of sockets.
    pub const DEVICE: Self = Self {
        head_bytes: 1200,
        target_bytes: 512,
        body_bytes: 8 * 1024,
        drain_bytes: 4 * 1024,
        requests: 200,
        idle: Duration::from_secs(5),
        head: Duration::from_secs(5),
        body: Duration::from_secs(10),
        lease: Duration::from_secs(2),
        write: Duration::from_secs(20),
        linger: Duration::from_secs(1),
        grace: Duration::from_secs(2),
        connections_per_address: 5,
        patience: Duration::from_millis(20),
        turned_away: Duration::from_millis(500),
        allowance: Allowance {
            principal: Rate { per_second: 100, burst: 500 },
            address: Rate { per_second: 50, burst: 500 },
            failure_cost: 25,
            tasks: 12,
            readers: 3,
            blocking: Millis(60_000),
        },
        retry_after_secs: 1,
        card_max_age_secs: 300,
    };

    /// For a laptop or a server.
    pub const HOST: Self = Self {
        head_bytes: 8 * 1024,
        target_bytes: 4 * 1024,
        body_bytes: 1024 * 1024,
        drain_bytes: 64 * 1024,
        requests: 100_000,
        idle: Duration::from_secs(60),
        head: Duration::from_secs(10),
        body: Duration::from_secs(30),
        connections_per_address: 1000,
        allowance: Allowance {
            principal: Rate { per_second: 50_000, burst: 50_000 },
            address: Rate { per_second: 50_000, burst: 50_000 },
            failure_cost: 1000,
            tasks: 3072,
            readers: 900,
            blocking: Millis(300_000),
        },
        ..Self::DEVICE
    };
}
