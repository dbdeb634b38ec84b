//! The socket as picoserve sees it: framing checked on the way in, small writes gathered on the way out.
//!
//! picoserve flushes between head and body, and embassy-net's flush waits for the peer to acknowledge: with a body right
//! behind the head that costs a round trip for each answer (84 instead of 1500 requests/s on the emulated device). So a
//! flush here means "send what was gathered" and no more.

use core::{fmt, future::pending};

use embassy_sync::{blocking_mutex::raw::NoopRawMutex, mutex::Mutex};
use picoserve::{
    Timeouts, Timer,
    io::{BaseWrite, Error, ErrorKind, ErrorType, Read, Socket, Write},
    mem::{BorrowedBuffer, BorrowedCursor},
};

use super::{
    flow::{Flow, Reads, Writes},
    gate::{Gate, Refused},
};

/// Both halves of one connection, already taken apart.
///
/// picoserve gets these; the socket itself stays with [`serve`](super::serve), which alone decides how a connection ends.
/// So the ways to end it do nothing here.
pub(super) struct Halves<'c, 'b, R, W> {
    inlet: Inlet<'c, R>,
    wire: &'c Wire<'b, W>,
}

impl<'c, 'b, R, W> Halves<'c, 'b, R, W> {
    pub(super) fn new(reader: R, gate: Gate, wire: &'c Wire<'b, W>, flow: &'c Flow) -> Self {
        Self { inlet: Inlet { reader, gate, tail: b"", flow }, wire }
    }
}

impl<'c, 'b, Runtime, R, W> Socket<Runtime> for Halves<'c, 'b, R, W>
where
    R: Read<Error: 'static>,
    W: BaseWrite<Error = R::Error>,
{
    type Error = LinkError<R::Error>;
    type ReadHalf<'a>
        = &'a mut Inlet<'c, R>
    where
        Self: 'a;
    type WriteHalf<'a>
        = Outlet<'c, 'b, W>
    where
        Self: 'a;

    fn split(&mut self) -> (Self::ReadHalf<'_>, Self::WriteHalf<'_>) {
        let outlet = Outlet { wire: self.wire, flow: self.inlet.flow };
        (&mut self.inlet, outlet)
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
}

impl<R> Inlet<'_, R> {
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
            match self.flow.reads() {
                Reads::Pass => {}
                Reads::End => return Ok(0),
                Reads::Wait => pending().await,
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
            if received == 0 {
                match self.gate.end() {
                    Ok(()) => return Ok(0),
                    Err(refused) => self.refuse(refused),
                }
                continue;
            }
            let passed = self.gate.pass(&mut buf[..received]).unwrap_or_else(|(passed, refused)| {
                self.refuse(refused);
                passed
            });
            if passed > 0 {
                return Ok(passed);
            }
        }
    }
}

/// The writing half: picoserve's bytes on their way to the [`Link`].
pub(super) struct Outlet<'c, 'b, W> {
    wire: &'c Wire<'b, W>,
    flow: &'c Flow,
}

impl<W: BaseWrite> ErrorType for Outlet<'_, '_, W> {
    type Error = LinkError<W::Error>;
}

impl<W: BaseWrite> BaseWrite for Outlet<'_, '_, W> {
    async fn write(&mut self, buf: &[u8]) -> Result<usize, Self::Error> {
        match self.flow.writes() {
            Writes::Pass | Writes::Gather => self.wire.lock().await.write(buf).await,
            Writes::Drop => Ok(buf.len()),
            Writes::Fail => Err(LinkError::Cut),
        }
    }

    async fn flush(&mut self) -> Result<(), Self::Error> {
        match self.flow.writes() {
            Writes::Pass => self.wire.lock().await.send().await,
            Writes::Gather => self.wire.lock().await.make_room().await,
            Writes::Drop => Ok(()),
            Writes::Fail => Err(LinkError::Cut),
        }
    }
}

impl<W: BaseWrite> Write for Outlet<'_, '_, W> {
    async fn write_with<F: FnOnce(BorrowedCursor<'_>) -> T, T>(&mut self, f: F) -> Result<T, Self::Error> {
        if self.flow.writes() == Writes::Fail {
            return Err(LinkError::Cut);
        }
        let mut link = self.wire.lock().await;
        link.make_room().await?;
        let before = link.used;
        let made = link.fill_with(f);
        if self.flow.writes() == Writes::Drop {
            link.used = before;
        }
        Ok(made)
    }
}

/// The way out of one connection, for picoserve's [`Outlet`] and for the handler's interim answers.
pub(super) type Wire<'b, W> = Mutex<NoopRawMutex, Link<'b, W>>;

/// Gathers small writes, so that head, chunk size and first bytes leave as one segment.
pub(super) struct Link<'b, W> {
    writer: W,
    gathered: &'b mut [u8],
    used: usize,
}

impl<'b, W: BaseWrite> Link<'b, W> {
    pub(super) fn new(writer: W, room: &'b mut [u8]) -> Self {
        Self { writer, gathered: room, used: 0 }
    }

    /// Sends what was gathered, and does not wait for an acknowledgement.
    pub(super) async fn send(&mut self) -> Result<(), LinkError<W::Error>> {
        let used = core::mem::take(&mut self.used);
        let mut rest = &self.gathered[..used];
        while !rest.is_empty() {
            match self.writer.write(rest).await.map_err(LinkError::Socket)? {
                0 => return Err(LinkError::Cut),
                sent => rest = &rest[sent..],
            }
        }
        Ok(())
    }

    /// Writes and sends a whole interim answer, such as `100 Continue`.
    pub(super) async fn say(&mut self, mut bytes: &[u8]) -> Result<(), LinkError<W::Error>> {
        while !bytes.is_empty() {
            bytes = &bytes[self.write(bytes).await?..];
        }
        self.send().await
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<usize, LinkError<W::Error>> {
        self.make_room().await?;
        if self.used == 0 && bytes.len() >= self.gathered.len() {
            // Nothing to gather it with.
            return match self.writer.write(bytes).await.map_err(LinkError::Socket)? {
                0 => Err(LinkError::Cut),
                sent => Ok(sent),
            };
        }
        let room = &mut self.gathered[self.used..];
        let fits = room.len().min(bytes.len());
        room[..fits].copy_from_slice(&bytes[..fits]);
        self.used += fits;
        Ok(fits)
    }

    async fn make_room(&mut self) -> Result<(), LinkError<W::Error>> {
        if self.used == self.gathered.len() { self.send().await } else { Ok(()) }
    }

    fn fill_with<T>(&mut self, f: impl FnOnce(BorrowedCursor<'_>) -> T) -> T {
        let mut room = BorrowedBuffer::new(&mut self.gathered[self.used..]);
        let made = f(room.unfilled());
        let filled = room.len();
        self.used += filled;
        made
    }
}

/// What ends a connection before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkError<E> {
    /// The socket failed.
    Socket(E),
    /// The edge gave up: what was being sent is gone, or the socket takes no more.
    Cut,
}

impl<E: fmt::Display> fmt::Display for LinkError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(error) => error.fmt(f),
            Self::Cut => f.write_str("the connection was cut"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for LinkError<E> {}

impl<E: Error> Error for LinkError<E> {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Socket(error) => error.kind(),
            Self::Cut => ErrorKind::ConnectionAborted,
        }
    }
}
