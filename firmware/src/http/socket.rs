//! The socket as picoserve sees it, and the way out that answers take.
//!
//! picoserve flushes between head and body, and embassy-net's flush waits for the peer to acknowledge: with a body right
//! behind the head that costs a round trip for each answer (84 instead of 1500 requests/s on the emulated device). So
//! answers are gathered here, and sending them is all that is done: nobody waits for an acknowledgement.

use core::{
    fmt::{self, Write as _},
    marker::PhantomData,
};

use embassy_sync::{blocking_mutex::raw::NoopRawMutex, mutex::Mutex};
use picoserve::{
    Timeouts, Timer,
    io::{BaseWrite, Error, ErrorKind, ErrorType, Read, Socket, Write},
    mem::{BorrowedBuffer, BorrowedCursor},
    time::Duration,
};

use super::{
    flow::Flow,
    gate::{Gate, Refused},
    traffic::Traffic,
};

/// Both halves of one connection, already taken apart.
///
/// picoserve gets these; the socket itself stays with [`serve`](super::serve), which alone decides how a connection ends.
/// So the ways to end it do nothing here. Lent: picoserve hands its socket down, and every `async fn` keeps a copy or two.
pub(super) struct Halves<'h, 'c, R>(pub(super) &'h mut Inlet<'c, R>);

impl<'c, Runtime, R: Read<Error: 'static>> Socket<Runtime> for Halves<'_, 'c, R> {
    type Error = LinkError<R::Error>;
    type ReadHalf<'a>
        = &'a mut Inlet<'c, R>
    where
        Self: 'a;
    type WriteHalf<'a>
        = Outlet<'c, R::Error>
    where
        Self: 'a;

    fn split(&mut self) -> (Self::ReadHalf<'_>, Self::WriteHalf<'_>) {
        let outlet = Outlet { flow: self.0.flow, error: PhantomData };
        (self.0, outlet)
    }

    async fn abort<T: Timer<Runtime>>(self, _: &Timeouts, _: &T) -> Result<(), picoserve::Error<Self::Error>> {
        Ok(())
    }

    async fn shutdown<T: Timer<Runtime>>(self, _: &Timeouts, _: &T) -> Result<(), picoserve::Error<Self::Error>> {
        Ok(())
    }
}

/// The reading half: a socket's bytes behind the [`Gate`].
pub(super) struct Inlet<'c, R> {
    reader: R,
    gate: Gate,
    /// What is left of the bytes that end a refused request's head.
    tail: &'static [u8],
    flow: &'c Flow,
    traffic: &'c Traffic,
}

impl<'c, R> Inlet<'c, R> {
    pub(super) fn new(reader: R, gate: Gate, flow: &'c Flow, traffic: &'c Traffic) -> Self {
        Self { reader, gate, tail: b"", flow, traffic }
    }

    /// Is it a HEAD that is being read, for all we know?
    pub(super) fn may_be_head(&self) -> bool {
        self.gate.may_be_head()
    }

    fn refuse(&mut self, refused: Refused) {
        self.tail = refused.tail;
        self.flow.refuse(refused);
    }
}

impl<R: Read> ErrorType for Inlet<'_, R> {
    type Error = LinkError<R::Error>;
}

impl<R: Read> Read for Inlet<'_, R> {
    async fn read(&mut self, buf: &mut [u8]) -> Result<usize, Self::Error> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            if self.flow.is_last() {
                return Ok(0);
            }
            if !self.tail.is_empty() {
                let (now, later) = self.tail.split_at(self.tail.len().min(buf.len()));
                buf[..now.len()].copy_from_slice(now);
                self.tail = later;
                return Ok(now.len());
            }
            if self.gate.is_shut() {
                return Ok(0);
            }
            let received = self.reader.read(buf).await.map_err(LinkError::Socket)?;
            self.traffic.received(received);
            if received == 0 {
                match self.gate.end() {
                    Ok(()) => return Ok(0),
                    Err(refused) => self.refuse(refused),
                }
                continue;
            }
            let passed =
                self.gate.pass(buf.get_mut(..received).unwrap_or_default()).unwrap_or_else(|(passed, refused)| {
                    self.refuse(refused);
                    passed
                });
            if passed > 0 {
                return Ok(passed);
            }
        }
    }
}

/// The writing half: where what picoserve has to say goes nowhere.
///
/// That is a head of its own for each of our answers, and a plain 400 for what it cannot read, which the gate leaves it
/// nothing of.
pub(super) struct Outlet<'c, E> {
    flow: &'c Flow,
    error: PhantomData<E>,
}

impl<E: Error> ErrorType for Outlet<'_, E> {
    type Error = LinkError<E>;
}

impl<E: Error> BaseWrite for Outlet<'_, E> {
    async fn write(&mut self, buf: &[u8]) -> Result<usize, LinkError<E>> {
        if self.flow.is_cut() { Err(LinkError::Cut) } else { Ok(buf.len()) }
    }

    async fn flush(&mut self) -> Result<(), LinkError<E>> {
        if self.flow.is_cut() { Err(LinkError::Cut) } else { Ok(()) }
    }
}

impl<E: Error> Write for Outlet<'_, E> {
    async fn write_with<F: FnOnce(BorrowedCursor<'_>) -> T, T>(&mut self, f: F) -> Result<T, LinkError<E>> {
        let mut room = [0; 64];
        let made = f(BorrowedBuffer::new(&mut room).unfilled());
        if self.flow.is_cut() { Err(LinkError::Cut) } else { Ok(made) }
    }
}

/// The way out of one connection: for the answer while there is one, and for a last word.
pub(super) type Wire<'b, W> = Mutex<NoopRawMutex, Link<'b, W>>;

/// Gathers small writes, so that head, chunk size and first bytes leave as one segment.
pub(super) struct Link<'b, W> {
    writer: W,
    room: &'b mut [u8],
    used: usize,
}

impl<'b, W: BaseWrite> Link<'b, W> {
    pub(super) fn new(writer: W, room: &'b mut [u8]) -> Self {
        Self { writer, room, used: 0 }
    }

    /// Sends what was gathered, and does not wait for an acknowledgement.
    pub(super) async fn send(&mut self) -> Result<(), W::Error> {
        let used = core::mem::take(&mut self.used);
        self.writer.write_all(self.room.get(..used).unwrap_or_default()).await
    }

    pub(super) async fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), W::Error> {
        while !bytes.is_empty() {
            if self.used == 0 && bytes.len() >= self.room.len() {
                // There is nothing to gather it with.
                return self.writer.write_all(bytes).await;
            }
            let room = self.room.get_mut(self.used..).unwrap_or_default();
            let (now, later) = bytes.split_at(room.len().min(bytes.len()));
            room[..now.len()].copy_from_slice(now);
            self.used = self.used.saturating_add(now.len());
            bytes = later;
            if self.used >= self.room.len() {
                self.send().await?;
            }
        }
        Ok(())
    }

    /// Writes a text in one piece. One longer than all of the room is left out: only a service's `ETag` could be.
    pub(super) async fn write_text(&mut self, text: fmt::Arguments<'_>) -> Result<(), W::Error> {
        if !self.gather(text) {
            self.send().await?;
            self.gather(text);
        }
        Ok(())
    }

    fn gather(&mut self, text: fmt::Arguments<'_>) -> bool {
        let mut room = Room { bytes: self.room.get_mut(self.used..).unwrap_or_default(), used: 0 };
        let fits = room.write_fmt(text).is_ok();
        if fits {
            let used = room.used;
            self.used = self.used.saturating_add(used);
        }
        fits
    }
}

/// Formats into a slice.
struct Room<'a> {
    bytes: &'a mut [u8],
    used: usize,
}

impl fmt::Write for Room<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.used..).and_then(|room| room.get_mut(..text.len())).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.used = self.used.saturating_add(text.len());
        Ok(())
    }
}

/// A socket's writing half with a deadline on every write.
pub(super) struct Paced<'t, Runtime, T, W> {
    writer: W,
    timer: &'t T,
    limit: Duration,
    /// Counts what is written, if anybody does.
    traffic: Option<&'t Traffic>,
    runtime: PhantomData<fn(&Runtime)>,
}

impl<'t, Runtime, T, W> Paced<'t, Runtime, T, W> {
    pub(super) fn new(writer: W, timer: &'t T, limit: Duration, traffic: Option<&'t Traffic>) -> Self {
        Self { writer, timer, limit, traffic, runtime: PhantomData }
    }
}

impl<Runtime, T, W: BaseWrite> ErrorType for Paced<'_, Runtime, T, W> {
    type Error = LinkError<W::Error>;
}

impl<Runtime, T: Timer<Runtime>, W: BaseWrite> BaseWrite for Paced<'_, Runtime, T, W> {
    async fn write(&mut self, buf: &[u8]) -> Result<usize, Self::Error> {
        match self.timer.run_with_timeout(self.limit, self.writer.write(buf)).await {
            // Nobody expects that, and `write_all` panics on it.
            Ok(Ok(0)) if !buf.is_empty() => Err(LinkError::Cut),
            Ok(written) => {
                let written = written.map_err(LinkError::Socket)?;
                if let Some(traffic) = self.traffic {
                    traffic.sent(written);
                }
                Ok(written)
            }
            Err(_) => Err(LinkError::Stalled),
        }
    }

    async fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// What ends a connection before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkError<E> {
    /// The socket failed.
    Socket(E),
    /// The peer has not read for too long.
    Stalled,
    /// What was being sent is gone.
    Cut,
}

impl<E: fmt::Display> fmt::Display for LinkError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(error) => error.fmt(f),
            Self::Stalled => f.write_str("the peer does not read"),
            Self::Cut => f.write_str("what was being sent is gone"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for LinkError<E> {}

impl<E: Error> Error for LinkError<E> {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Socket(error) => error.kind(),
            Self::Stalled => ErrorKind::TimedOut,
            Self::Cut => ErrorKind::ConnectionAborted,
        }
    }
}
