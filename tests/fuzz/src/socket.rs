//! A connection without a network: what comes in, when, and how much the other side takes.

use std::{cell::RefCell, collections::VecDeque, future::pending};

use picoserve::{
    Timeouts, Timer,
    io::{BaseWrite, ErrorKind, ErrorType, Read, Socket, Write},
    mem::{BorrowedBuffer, BorrowedCursor},
    time::Duration,
};
use protocol_core::time::{Clock, Millis};

use crate::world::VirtualClock;

/// Names the executor that is no executor: [`crate::world::World`] polls by hand.
pub struct ByHand;

/// A timer on the virtual clock.
pub struct VirtualTimer<'c>(pub &'c VirtualClock);

impl Timer<ByHand> for VirtualTimer<'_> {
    fn delay(&self, duration: Duration) -> impl Future<Output = ()> {
        let until = self.0.now().after(Millis(duration.as_millis()));
        self.0.sleep_until(until)
    }
}

/// What the client does when it has sent everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Says that nothing more comes, and reads on.
    HalfCloses,
    /// Says nothing.
    Stays,
    /// Resets the connection.
    Resets,
}

/// The other side of a connection.
pub struct Peer<'c> {
    pub clock: &'c VirtualClock,
    /// What it sends, each piece that many milliseconds behind the one before.
    pub sends: RefCell<VecDeque<(u64, Vec<u8>)>>,
    pub then: Then,
    /// What it has read.
    pub received: RefCell<Vec<u8>>,
    /// Bytes that it takes at a time, and all in all.
    pub window: usize,
    pub patience: usize,
}

/// Our side of it.
pub struct Line<'p>(pub &'p Peer<'p>);
pub struct In<'p>(&'p Peer<'p>);
pub struct Out<'p>(&'p Peer<'p>);

impl ErrorType for In<'_> {
    type Error = ErrorKind;
}

impl Read for In<'_> {
    async fn read(&mut self, buf: &mut [u8]) -> Result<usize, ErrorKind> {
        let peer = self.0;
        let pause = peer.sends.borrow().front().map(|(pause, _)| *pause);
        match (pause, peer.then) {
            (Some(pause), _) => {
                if pause > 0 {
                    peer.clock.sleep_until(peer.clock.now().after(Millis(pause))).await;
                }
                let mut sends = peer.sends.borrow_mut();
                let Some((pause, piece)) = sends.front_mut() else { return Ok(0) };
                *pause = 0;
                let count = piece.len().min(buf.len());
                buf[..count].copy_from_slice(&piece[..count]);
                piece.drain(..count);
                if piece.is_empty() {
                    sends.pop_front();
                }
                Ok(count)
            }
            (None, Then::HalfCloses) => Ok(0),
            (None, Then::Stays) => pending().await,
            (None, Then::Resets) => Err(ErrorKind::ConnectionReset),
        }
    }
}

impl ErrorType for Out<'_> {
    type Error = ErrorKind;
}

impl BaseWrite for Out<'_> {
    async fn write(&mut self, buf: &[u8]) -> Result<usize, ErrorKind> {
        let peer = self.0;
        let left = peer.patience.saturating_sub(peer.received.borrow().len());
        if left == 0 {
            return pending().await;
        }
        let count = buf.len().min(peer.window).min(left);
        peer.received.borrow_mut().extend_from_slice(&buf[..count]);
        Ok(count)
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

impl Write for Out<'_> {
    async fn write_with<F: FnOnce(BorrowedCursor<'_>) -> T, T>(&mut self, f: F) -> Result<T, ErrorKind> {
        let mut room = [0; 64];
        let mut room = BorrowedBuffer::new(&mut room);
        let made = f(room.unfilled());
        self.write_all(room.filled()).await?;
        Ok(made)
    }
}

impl<'p> Socket<ByHand> for Line<'p> {
    type Error = ErrorKind;
    type ReadHalf<'a>
        = In<'a>
    where
        'p: 'a;
    type WriteHalf<'a>
        = Out<'a>
    where
        'p: 'a;

    fn split(&mut self) -> (In<'_>, Out<'_>) {
        (In(self.0), Out(self.0))
    }

    async fn abort<T: Timer<ByHand>>(self, _: &Timeouts, _: &T) -> Result<(), picoserve::Error<ErrorKind>> {
        Ok(())
    }

    async fn shutdown<T: Timer<ByHand>>(self, _: &Timeouts, _: &T) -> Result<(), picoserve::Error<ErrorKind>> {
        Ok(())
    }
}
