//! The way out on tokio's sockets: names, connections, time.

use core::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};
use std::{io, net::UdpSocket};

use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use firmware::outbound::{ADDRESSES, Ending, Network, Unreachable};
use protocol_core::time::Millis;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, lookup_host},
};

/// The laptop's network, as a caller sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    /// Where this device listens.
    pub own: SocketAddr,
}

impl Network for Outside {
    type Socket<'n> = Tcp;

    async fn resolve(&self, host: &str) -> Result<heapless::Vec<IpAddr, ADDRESSES>, Unreachable> {
        let found = lookup_host((host, 0)).await.map_err(|_| Unreachable::Unknown)?;
        let mut addresses = heapless::Vec::new();
        for address in found.map(|socket| socket.ip()) {
            // What is beyond is not called: one is enough.
            if !addresses.contains(&address) && addresses.push(address).is_err() {
                break;
            }
        }
        if addresses.is_empty() { Err(Unreachable::Unknown) } else { Ok(addresses) }
    }

    async fn connect(&self, _: usize, to: SocketAddr) -> Result<Tcp, Unreachable> {
        let stream = TcpStream::connect(to).await.map_err(|error| match error.kind() {
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::NetworkDown => Unreachable::Offline,
            _ => Unreachable::Silent,
        })?;
        // What is sent is gathered already.
        let _ = stream.set_nodelay(true);
        Ok(Tcp(stream))
    }

    async fn hang_up(&self, mut socket: Tcp, ending: Ending) {
        match ending {
            Ending::Done => _ = socket.0.shutdown().await,
            Ending::Abort => _ = socket.0.set_zero_linger(),
        }
    }

    async fn sleep(&self, span: Millis) {
        tokio::time::sleep(Duration::from_millis(span.0)).await;
    }

    fn is_own(&self, address: IpAddr, port: u16) -> bool {
        let own = self.own.ip();
        // One that listens everywhere is found at every address of this machine.
        port == self.own.port() && (address == own || own.is_unspecified() && is_here(address))
    }
}

/// Is it an address of this machine? Nobody can be at any other; nothing is sent to find out.
fn is_here(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Tcp(TcpStream);

impl ErrorType for Tcp {
    type Error = ErrorKind;
}

impl Read for Tcp {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ErrorKind> {
        self.0.read(buffer).await.map_err(|_| ErrorKind::ConnectionReset)
    }
}

impl Write for Tcp {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.0.write(bytes).await.map_err(|_| ErrorKind::ConnectionReset)
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}
