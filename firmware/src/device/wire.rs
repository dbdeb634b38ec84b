//! A socket of embassy-net's, lent for one connection.
//!
//! picoserve's own takes the socket away with the connection. These stay where they are: the order in which they
//! listen is what keeps the door for last.

use embassy_net::tcp::{Error, TcpReader, TcpSocket, TcpWriter};
use picoserve::{
    EmbassyRuntime, Timeouts, Timer,
    io::{BaseWrite, ErrorType, Read, Socket, Write},
    mem::BorrowedCursor,
};

use super::guard::Turn;

/// A connected socket, and whoever watches that it gets on.
pub(super) struct Wire<'a, 's> {
    pub(super) socket: &'a mut TcpSocket<'s>,
    pub(super) turn: &'a Turn,
}

/// One half of it: every look at the network is a step.
pub(super) struct Watched<'a, H> {
    half: H,
    turn: &'a Turn,
}

impl<H: ErrorType> ErrorType for Watched<'_, H> {
    type Error = H::Error;
}

impl<H: Read> Read for Watched<'_, H> {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, H::Error> {
        self.turn.step();
        self.half.read(buffer).await
    }
}

impl<H: BaseWrite> BaseWrite for Watched<'_, H> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, H::Error> {
        self.turn.step();
        self.half.write(bytes).await
    }

    async fn flush(&mut self) -> Result<(), H::Error> {
        self.turn.step();
        self.half.flush().await
    }
}

impl<H: Write> Write for Watched<'_, H> {
    async fn write_with<F: FnOnce(BorrowedCursor<'_>) -> T, T>(&mut self, f: F) -> Result<T, H::Error> {
        self.turn.step();
        self.half.write_with(f).await
    }
}

impl<'s> Socket<EmbassyRuntime> for Wire<'_, 's> {
    type Error = Error;
    type ReadHalf<'h>
        = Watched<'h, TcpReader<'h>>
    where
        Self: 'h;
    type WriteHalf<'h>
        = Watched<'h, TcpWriter<'h>>
    where
        Self: 'h;

    fn split(&mut self) -> (Self::ReadHalf<'_>, Self::WriteHalf<'_>) {
        let (reader, writer) = self.socket.split();
        (Watched { half: reader, turn: self.turn }, Watched { half: writer, turn: self.turn })
    }

    async fn abort<T: Timer<EmbassyRuntime>>(self, _: &Timeouts, _: &T) -> Result<(), picoserve::Error<Error>> {
        self.socket.abort();
        self.socket.flush().await.map_err(picoserve::Error::Write)
    }

    /// Says that there is no more to come, and reads on until the client has hung up, too: a reset in between could
    /// take the answer from it. Whoever calls decides how long that may take.
    async fn shutdown<T: Timer<EmbassyRuntime>>(self, _: &Timeouts, _: &T) -> Result<(), picoserve::Error<Error>> {
        self.socket.close();
        let mut rest = [0; 64];
        while self.socket.read(&mut rest).await.map_err(picoserve::Error::Read)? > 0 {}
        self.socket.flush().await.map_err(picoserve::Error::Write)
    }
}
