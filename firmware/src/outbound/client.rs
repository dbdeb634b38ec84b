//! One call, from the name of the receiver to the first bytes of its answer.

use core::{
    net::{IpAddr, SocketAddr},
    pin::pin,
};

use embassy_futures::select::{Either, select};
use embedded_io_async::{Read, Write};
use heapless::Vec;
use protocol_core::{
    push::{Rules, Url},
    time::{Millis, UnixMillis},
};

#[cfg(feature = "tls")]
use super::tls;
use super::{
    Answer, Ending, Failure, Network, Request, Unreachable, Unsecured,
    answer::Reader,
    line::{Line, Stream},
};
use crate::http::Source;

/// Who calls, by which network, and whom it may call and trust.
#[derive(Clone, Copy)]
pub struct Client<'c, N> {
    /// The network.
    pub network: &'c N,
    /// The caller's place there.
    pub place: usize,
    /// Whom the owner lets it call.
    pub rules: &'c Rules<'c>,
    /// Whose certificates are trusted: X.509, DER.
    pub roots: &'c [&'c [u8]],
    /// The time, if it is known.
    pub now: Option<UnixMillis>,
    /// Chance, good enough for keys.
    pub fill_random: &'c dyn Fn(&mut [u8]),
}

/// The memory of one call.
pub struct Rooms<'b> {
    /// Gathers what is sent and holds what comes back, piece by piece.
    pub pieces: &'b mut [u8],
    /// A TLS record that is received. What does not fit cannot be read: 4.5 KiB are enough for most receivers, 16.5 KiB
    /// for all.
    pub received: &'b mut [u8],
    /// A TLS record that is sent: its head, and at least 512 bytes.
    pub sent: &'b mut [u8],
}

impl<N: Network> Client<'_, N> {
    /// Makes a call. `body` opens what is sent, if anything is; the first bytes of what comes back go into `answer`, and if
    /// that is empty, all that is read is the head.
    ///
    /// It is opened behind the head: a body that is there already would lie beside the handshake, which needs most memory.
    ///
    /// The answer may come before all was sent; what it says then still counts, unless it says that all is well.
    ///
    /// # Errors
    /// If there is no answer.
    ///
    /// # Cancellation
    /// May be dropped at any time; the connection goes with it.
    pub async fn call<B: Source>(
        &self,
        rooms: &mut Rooms<'_>,
        request: &Request<'_>,
        body: &dyn Fn() -> Option<B>,
        answer: &mut [u8],
        patience: Millis,
    ) -> Result<Answer, Failure> {
        request.check()?;
        self.rules.check_url(request.url).map_err(Failure::Refused)?;
        if request.url.is_https && !cfg!(feature = "tls") {
            return Err(Failure::Unsecured(Unsecured::LeftOut));
        }
        let mut late = pin!(self.network.sleep(patience));
        let mut socket = match select(self.connect(request.url), late.as_mut()).await {
            Either::First(connected) => connected?,
            Either::Second(()) => return Err(Failure::Late),
        };
        let exchanged = match select(self.exchange(&mut socket, rooms, request, body, answer), late).await {
            Either::First(exchanged) => exchanged,
            Either::Second(()) => Err(Failure::Late),
        };
        let ending = if exchanged.is_ok() { Ending::Done } else { Ending::Abort };
        self.network.hang_up(socket, ending).await;
        exchanged
    }

    /// Connects to an address that was checked. A name is asked for once: what it means later does not matter.
    async fn connect(&self, url: &Url<'_>) -> Result<N::Socket<'_>, Failure> {
        let addresses = match url.host.parse::<IpAddr>() {
            Ok(address) => Vec::from_iter([address]),
            Err(_) => self.network.resolve(url.host).await?,
        };
        for address in &addresses {
            let address = address.to_canonical();
            self.rules.check_address(url, address).map_err(Failure::Refused)?;
            if self.network.is_own(address, url.port) {
                return Err(Failure::Refused("leads to the device itself"));
            }
        }
        let mut failure = Unreachable::Unknown;
        for address in &addresses {
            match self.network.connect(self.place, SocketAddr::new(address.to_canonical(), url.port)).await {
                Ok(socket) => return Ok(socket),
                Err(unreachable) => failure = unreachable,
            }
        }
        Err(failure.into())
    }

    async fn exchange<S: Read + Write, B: Source>(
        &self,
        socket: &mut S,
        rooms: &mut Rooms<'_>,
        request: &Request<'_>,
        body: &dyn Fn() -> Option<B>,
        answer: &mut [u8],
    ) -> Result<Answer, Failure> {
        if !request.url.is_https {
            let mut line = Line::new(Stream::Plain(socket), rooms.pieces);
            return converse(&mut line, self.now, request, body, answer).await;
        }
        #[cfg(not(feature = "tls"))]
        return Err(Failure::Unsecured(Unsecured::LeftOut));
        #[cfg(feature = "tls")]
        {
            let is_open = core::cell::Cell::new(false);
            let room = rooms.received.len();
            let mut tls = tls::begin(socket, &is_open, rooms.received, rooms.sent)?;
            let Self { roots, now, fill_random, .. } = *self;
            let trust = tls::Trust { host: request.url.host, roots, now, fill_random };
            tls::open(&mut tls, &is_open, room, &trust).await?;
            let mut line = Line::new(Stream::Tls(&mut tls), rooms.pieces);
            // Nobody says goodbye: the length of what was sent is known, and embedded-tls takes kilobytes to say it.
            converse(&mut line, now, request, body, answer).await
        }
    }
}

/// Asks, and hears the answer.
async fn converse<S: Read + Write, B: Source>(
    line: &mut Line<'_, '_, S>,
    now: Option<UnixMillis>,
    request: &Request<'_>,
    body: &dyn Fn() -> Option<B>,
    answer: &mut [u8],
) -> Result<Answer, Failure> {
    let sent = send(line, request, body).await;
    if let Err(failure) = sent
        && !matches!(failure, Failure::Unreachable(_))
    {
        return Err(failure);
    }
    match (sent, receive(line, now, answer).await) {
        (Ok(()), received) => received,
        // Who says no may hang up before it has heard all.
        (Err(_), Ok(answer)) if answer.status >= 300 => Ok(answer),
        (Err(failure), _) => Err(failure),
    }
}

async fn send<S: Read + Write, B: Source>(
    line: &mut Line<'_, '_, S>,
    request: &Request<'_>,
    body: &dyn Fn() -> Option<B>,
) -> Result<(), Failure> {
    line.write(&|out| request.write_head(out)).await?;
    if let Some(content) = request.content {
        let mut body = body().ok_or(Failure::Broken)?;
        let mut left = content.bytes;
        while left > 0 {
            let filled = body.fill(line.free().await?).await.map_err(|_| Failure::Broken)?;
            left = left.checked_sub(filled as u64).filter(|_| filled > 0).ok_or(Failure::Broken)?;
            line.fill(filled);
        }
        // What is not the end now would have been cut off.
        if body.fill(&mut [0]).await != Ok(0) {
            return Err(Failure::Broken);
        }
    }
    line.send().await
}

async fn receive<S: Read + Write>(
    line: &mut Line<'_, '_, S>,
    now: Option<UnixMillis>,
    out: &mut [u8],
) -> Result<Answer, Failure> {
    let mut reader = Reader::new(now);
    loop {
        if let Some(answer) = reader.answer() {
            return Ok(answer);
        }
        let received = line.read().await?;
        match received.is_empty() {
            true if !reader.has_begun() => return Err(Unreachable::Lost.into()),
            true => reader.end()?,
            false => reader.push(received, out)?,
        }
    }
}
