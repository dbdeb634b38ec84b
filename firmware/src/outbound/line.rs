//! The connection of one call: small writes are gathered, and nobody waits for an acknowledgement.

use embedded_io_async::{Read, Write};

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

    pub(super) async fn write_texts(&mut self, texts: &[&str]) -> Result<(), Failure> {
        for text in texts {
            let mut bytes = text.as_bytes();
            while !bytes.is_empty() {
                let room = self.free().await?;
                let (now, later) = bytes.split_at(room.len().min(bytes.len()));
                room.iter_mut().zip(now).for_each(|(room, byte)| *room = *byte);
                self.fill(now.len());
                bytes = later;
            }
        }
        Ok(())
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
