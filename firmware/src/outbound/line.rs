//! The connection of one call: small writes are gathered, and nobody waits for an acknowledgement.

use embedded_io_async::{Read, Write};
use protocol_core::json::Sink;

#[cfg(feature = "tls")]
use super::tls;
use super::{Failure, Unreachable};

/// A connection, in the clear or not.
pub(super) enum Stream<'l, 's, S: Read + Write> {
    Plain(&'l mut S),
    #[cfg(feature = "tls")]
    Tls(&'l mut tls::Tls<'s, S>),
    #[cfg(not(feature = "tls"))]
    #[expect(dead_code, reason = "there is none, and its lifetime is")]
    Never(core::convert::Infallible, core::marker::PhantomData<&'s S>),
}

impl<S: Read + Write> Stream<'_, '_, S> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Failure> {
        match self {
            Self::Plain(socket) => socket.write(bytes).await.map_err(|_| Unreachable::Lost.into()),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => tls.write(bytes).await.map_err(tls::explain),
            #[cfg(not(feature = "tls"))]
            Self::Never(never, _) => match *never {},
        }
    }

    /// Lets go of what is held back. It is on its way then, not there.
    async fn send(&mut self) -> Result<(), Failure> {
        match self {
            // embassy-net's flush waits for an acknowledgement, and nothing is held back.
            Self::Plain(_) => Ok(()),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => tls.flush().await.map_err(tls::explain),
            #[cfg(not(feature = "tls"))]
            Self::Never(never, _) => match *never {},
        }
    }

    /// Reads; nothing is the end.
    pub(super) async fn read(&mut self, out: &mut [u8]) -> Result<usize, Failure> {
        match self {
            Self::Plain(socket) => socket.read(out).await.map_err(|_| Unreachable::Lost.into()),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => match tls.read(out).await {
                // It said so; else it was cut off.
                Err(embedded_tls::TlsError::ConnectionClosed) => Ok(0),
                read => read.map_err(tls::explain),
            },
            #[cfg(not(feature = "tls"))]
            Self::Never(never, _) => match *never {},
        }
    }
}

/// The way there and back.
pub(super) struct Line<'r, 's, S: Read + Write> {
    stream: Stream<'r, 's, S>,
    room: &'r mut [u8],
    used: usize,
}

impl<'r, 's, S: Read + Write> Line<'r, 's, S> {
    pub(super) fn new(stream: Stream<'r, 's, S>, room: &'r mut [u8]) -> Self {
        Self { stream, room, used: 0 }
    }

    /// Sends what is written, however long it is: it is written again for every piece of it that there is room for, and it
    /// must be the same every time.
    pub(super) async fn write(&mut self, write: &dyn Fn(&mut dyn Sink)) -> Result<(), Failure> {
        let mut bytes = 0_usize;
        write(&mut |text: &str| bytes = bytes.saturating_add(text.len()));
        let mut sent = 0_usize;
        loop {
            let (used, is_all) = Window::fill(self.free().await?, sent, write);
            self.fill(used);
            sent = sent.saturating_add(used);
            if is_all {
                // What it said is gone meanwhile, or in the wrong place.
                return if sent == bytes { Ok(()) } else { Err(Failure::Broken) };
            }
        }
    }

    /// Where the next bytes go; never empty.
    pub(super) async fn free(&mut self) -> Result<&mut [u8], Failure> {
        if self.used >= self.room.len() {
            self.drain().await?;
        }
        Ok(self.room.get_mut(self.used..).unwrap_or_default())
    }

    /// So many bytes were put there.
    pub(super) fn fill(&mut self, bytes: usize) {
        self.used = self.used.saturating_add(bytes);
    }

    /// Sends all that was gathered.
    pub(super) async fn send(&mut self) -> Result<(), Failure> {
        self.drain().await?;
        self.stream.send().await
    }

    async fn drain(&mut self) -> Result<(), Failure> {
        let used = core::mem::take(&mut self.used);
        let mut bytes = self.room.get(..used).unwrap_or_default();
        while !bytes.is_empty() {
            match self.stream.write(bytes).await? {
                0 => return Err(Unreachable::Lost.into()),
                written => bytes = bytes.get(written..).unwrap_or_default(),
            }
        }
        Ok(())
    }

    /// Reads into what was the room for writing, which must have been sent. Nothing is the end.
    pub(super) async fn read(&mut self) -> Result<&[u8], Failure> {
        let received = self.stream.read(self.room).await?;
        Ok(self.room.get(..received).unwrap_or_default())
    }
}

/// The piece of a text that there is room for.
struct Window<'r> {
    room: &'r mut [u8],
    used: usize,
    /// Bytes before it.
    skip: usize,
    is_full: bool,
}

impl<'r> Window<'r> {
    /// How much was written, and whether nothing is left.
    #[inline(never)]
    fn fill(room: &'r mut [u8], skip: usize, write: &dyn Fn(&mut dyn Sink)) -> (usize, bool) {
        let mut window = Self { room, used: 0, skip, is_full: false };
        write(&mut window);
        (window.used, !window.is_full)
    }
}

impl Sink for Window<'_> {
    fn put(&mut self, text: &str) {
        let skipped = self.skip.min(text.len());
        self.skip = self.skip.saturating_sub(skipped);
        let bytes = text.as_bytes().get(skipped..).unwrap_or_default();
        let room = self.room.get_mut(self.used..).unwrap_or_default();
        room.iter_mut().zip(bytes).for_each(|(room, byte)| *room = *byte);
        self.is_full |= bytes.len() > room.len();
        self.used = self.used.saturating_add(bytes.len().min(room.len()));
    }
}
