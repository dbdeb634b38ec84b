//! A network without one: whoever is called is a piece of code, and time passes when nobody has anything to say.

use core::{
    cell::{Cell, RefCell},
    future::poll_fn,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    pin::pin,
    task::{Context, Poll, Waker},
};

use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use firmware::{
    http::{Broken, Source},
    outbound::{ADDRESSES, Answer, Client, Content, Ending, Failure, Network, Request, Rooms, Unreachable},
};
use protocol_core::{
    push::{Ranges, Rules, Url},
    time::{Millis, UnixMillis},
};

/// Whoever is called.
pub(crate) trait Peer {
    /// Takes bytes.
    fn hear(&mut self, bytes: &[u8]);
    /// Gives bytes. `None` is nothing now, 0 the end.
    fn say(&mut self, out: &mut [u8]) -> Option<usize>;
}

/// The network.
pub(crate) struct Wire<P> {
    pub(crate) peer: RefCell<P>,
    is_late: Cell<bool>,
}

impl<P: Peer> Network for Wire<P> {
    type Socket<'n>
        = Socket<'n, P>
    where
        P: 'n;

    async fn resolve(&self, _: &str) -> Result<heapless::Vec<IpAddr, ADDRESSES>, Unreachable> {
        Ok([IpAddr::V4(Ipv4Addr::new(9, 9, 9, 1))].into_iter().collect())
    }

    async fn connect(&self, _: usize, _: SocketAddr) -> Result<Socket<'_, P>, Unreachable> {
        Ok(Socket(self))
    }

    async fn hang_up<'n>(&'n self, _: Socket<'n, P>, _: Ending) {}

    async fn sleep(&self, _: Millis) {
        poll_fn(|_| if self.is_late.get() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    fn is_own(&self, _: IpAddr, _: u16) -> bool {
        false
    }
}

pub(crate) struct Socket<'n, P>(&'n Wire<P>);

impl<P> ErrorType for Socket<'_, P> {
    type Error = ErrorKind;
}

impl<P: Peer> Read for Socket<'_, P> {
    async fn read(&mut self, out: &mut [u8]) -> Result<usize, ErrorKind> {
        poll_fn(|_| self.0.peer.borrow_mut().say(out).map_or(Poll::Pending, |said| Poll::Ready(Ok(said)))).await
    }
}

impl<P: Peer> Write for Socket<'_, P> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.0.peer.borrow_mut().hear(bytes);
        Ok(bytes.len())
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// A call over TLS.
pub(crate) struct Call<'c> {
    pub(crate) url: &'c str,
    pub(crate) roots: &'c [&'c [u8]],
    pub(crate) now: Option<UnixMillis>,
    pub(crate) room_bytes: usize,
    pub(crate) body: &'c [u8],
}

/// A day in the middle of 2026.
pub(crate) const NOW: UnixMillis = UnixMillis(1_781_000_000_000);

impl Call<'_> {
    pub(crate) const PLAIN: Self =
        Self { url: "https://hook.example/a", roots: &[], now: Some(NOW), room_bytes: 4608, body: b"{}" };

    /// Calls, and tells what came back with the first bytes of its body.
    pub(crate) fn make<P: Peer>(&self, peer: P) -> (Result<(Answer, String), Failure>, P) {
        let rules = Rules {
            plain_http: false,
            ranges: Ranges { loopback: false, private: true, link_local: false },
            hosts: &[],
        };
        let wire = Wire { peer: RefCell::new(peer), is_late: Cell::new(false) };
        let state = Cell::new(0x9e37_79b9_7f4a_7c15_u64);
        let fill_random = |bytes: &mut [u8]| {
            for byte in bytes {
                state.set(state.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
                *byte = (state.get() >> 56) as u8;
            }
        };
        let client = Client {
            network: &wire,
            place: 0,
            rules: &rules,
            roots: self.roots,
            now: self.now,
            fill_random: &fill_random,
        };
        let url = Url::parse(self.url).unwrap();
        let content = Some(Content { media_type: "application/json", bytes: self.body.len() as u64 });
        let request = Request { url: &url, query: None, fields: &[], content };
        let (mut pieces, mut received, mut sent) = ([0; 256], vec![0; self.room_bytes], [0; 1024]);
        let mut rooms = Rooms { pieces: &mut pieces, received: &mut received, sent: &mut sent };
        let (body, mut answer) = (|| Some(Bytes(self.body)), [0; 64]);
        let called = {
            let call = client.call(&mut rooms, &request, &body, &mut answer, Millis(1000));
            let mut call = pin!(call);
            let mut polls = 0;
            loop {
                if let Poll::Ready(called) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    break called;
                }
                // More than there are steps in which others may run.
                polls += 1;
                wire.is_late.set(polls > 20);
            }
        };
        let called = called.map(|called| {
            let text = String::from_utf8_lossy(&answer[..called.body_bytes]).into_owned();
            (called, text)
        });
        (called, wire.peer.into_inner())
    }
}

/// A body that is there already.
struct Bytes<'b>(&'b [u8]);

impl Source for Bytes<'_> {
    async fn fill(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        let (now, later) = self.0.split_at(self.0.len().min(out.len()));
        out[..now.len()].copy_from_slice(now);
        self.0 = later;
        Ok(now.len())
    }
}
