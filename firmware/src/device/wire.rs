//! A socket of embassy-net's, lent for one connection.
//!
//! picoserve's own takes the socket away with the connection. These stay where they are: the order in which they
//! listen is what keeps the door for last.

use embassy_net::tcp::{Error, TcpReader, TcpSocket, TcpWriter};
use picoserve::{EmbassyRuntime, Timeouts, Timer, io::Socket};

/// A connected socket.
pub(super) struct Wire<'a, 's>(pub(super) &'a mut TcpSocket<'s>);

impl<'s> Socket<EmbassyRuntime> for Wire<'_, 's> {
    type Error = Error;
    type ReadHalf<'h>
        = TcpReader<'h>
    where
        Self: 'h;
    type WriteHalf<'h>
        = TcpWriter<'h>
    where
        Self: 'h;

    fn split(&mut self) -> (TcpReader<'_>, TcpWriter<'_>) {
        self.0.split()
    }

    async fn abort<T: Timer<EmbassyRuntime>>(self, _: &Timeouts, _: &T) -> Result<(), picoserve::Error<Error>> {
        self.0.abort();
        self.0.flush().await.map_err(picoserve::Error::Write)
    }

    /// Says that there is no more to come, and reads on until the client has hung up, too: a reset in between could
    /// take the answer from it. Whoever calls decides how long that may take.
    async fn shutdown<T: Timer<EmbassyRuntime>>(self, _: &Timeouts, _: &T) -> Result<(), picoserve::Error<Error>> {
        self.0.close();
        let mut rest = [0; 64];
        while self.0.read(&mut rest).await.map_err(picoserve::Error::Read)? > 0 {}
        self.0.flush().await.map_err(picoserve::Error::Write)
    }
}
