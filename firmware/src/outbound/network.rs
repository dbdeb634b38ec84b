//! What the client asks of a network: names, connections, time.

use core::net::{IpAddr, SocketAddr};

use embedded_io_async::{Read, Write};
use heapless::Vec;
use protocol_core::time::Millis;

use super::Unreachable;

/// Addresses of one name that are looked at. If one of them must not be called, none of them is.
pub const ADDRESSES: usize = 4;

/// A network as a caller sees it. All of it runs on one executor.
pub trait Network {
    /// A connection. Dropped it is gone; [`hang_up`](Self::hang_up) lets the other side know.
    type Socket<'n>: Read + Write
    where
        Self: 'n;

    /// Waits until there is a network.
    fn ready(&self) -> impl Future<Output = ()> {
        async {}
    }

    /// Asks for the addresses of a name.
    ///
    /// # Errors
    /// If nobody knows, or nobody answers.
    fn resolve(&self, host: &str) -> impl Future<Output = Result<Vec<IpAddr, ADDRESSES>, Unreachable>>;

    /// Connects. `place` is the caller's: it has memory for one connection at a time.
    ///
    /// # Errors
    /// If there is nobody, or no network.
    ///
    /// # Cancellation
    /// May be dropped at any time: the place is free then.
    fn connect(&self, place: usize, to: SocketAddr) -> impl Future<Output = Result<Self::Socket<'_>, Unreachable>>;

    /// Ends a connection. It takes no longer than it has to: what the other side says now is not read.
    fn hang_up<'n>(&'n self, socket: Self::Socket<'n>, ending: Ending) -> impl Future<Output = ()>;

    /// Waits.
    fn sleep(&self, span: Millis) -> impl Future<Output = ()>;

    /// Is it the device itself that would answer there?
    fn is_own(&self, address: IpAddr, port: u16) -> bool;
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All was said.
    Done,
    /// What was said is not all there was to say, and the other side must not think so.
    Abort,
}
