//! What the HTTP edge asks of the agent behind it.

use core::fmt;

use protocol_core::door::{Address, Caller, Credential, Turned};

use super::traffic::Traffic;

/// The agent as the edge sees it: one call in, one answer out, piece by piece.
///
/// An answer may borrow from the service but never from the request: its body's buffer goes back as soon as the call
/// has been decoded.
pub trait Service {
    /// Produces an answer's bytes.
    type Answer<'a>: Source
    where
        Self: 'a;

    /// Somebody comes to the door.
    ///
    /// # Errors
    /// If it is not let in.
    fn admit(&self, address: Address, credential: Option<Credential<'_>>) -> Result<Caller, Turned>;

    /// Counts what somebody who was let in asks for, calls excepted: they are counted where they are answered.
    ///
    /// # Errors
    /// If it asks too often.
    fn count(&self, caller: Caller) -> Result<(), Turned>;

    /// Takes a JSON-RPC request. A stranger's, too: it is told in its dialect that it must say who it is.
    fn call(&self, call: Call<'_>) -> (Head, Self::Answer<'_>);

    /// Says why a request was refused before it was read: a JSON-RPC error with `id: null`.
    fn refuse(&self, refusal: Refusal) -> Self::Answer<'_>;

    /// Makes the agent card. `base` is where the client reached us, to be used where no public URL is configured; an
    /// HTTP/1.0 client may not have said.
    fn card(&self, base: Option<BaseUrl<'_>>) -> Self::Answer<'_>;

    /// Makes the card with what somebody who is known may use; nothing where everybody sees all there is.
    fn extended_card(&self, base: Option<BaseUrl<'_>>, caller: Caller) -> Option<Self::Answer<'_>>;

    /// Lists the public keys of those who sign here; nothing where nobody does.
    fn keys(&self) -> Option<Self::Answer<'_>>;

    /// Says how the device is: a JSON document for people and for monitoring.
    fn status(&self) -> Self::Answer<'_>;

    /// Says what happened lately, from the line of that number on, as far as the caller may know.
    fn log(&self, caller: Caller, after: u64) -> Self::Answer<'_>;

    /// Says what was counted, as Prometheus reads it.
    fn metrics(&self) -> Self::Answer<'_>;

    /// Counts what the edge does.
    fn traffic(&self) -> &Traffic;

    /// Hears of a client that there is no connection for.
    fn turned_away(&self) {
        self.traffic().turned_away();
    }

    /// Names the version of the card, for caches.
    fn card_version(&self) -> CardVersion<'_>;
}

/// Where an answer's bytes come from.
pub trait Source {
    /// Fills `out`, which is never empty, with the next bytes and says how many; 0 is the end.
    ///
    /// An answer gives what there is and waits only when there is nothing: whatever it gave before is on the wire by
    /// then. Until a document gives its first bytes its head waits, too.
    ///
    /// # Errors
    /// [`Broken`] if the rest cannot be sent. The client will notice.
    ///
    /// # Cancellation
    /// May be dropped while it waits: nothing is lost, and the next call goes on there.
    fn fill(&mut self, out: &mut [u8]) -> impl Future<Output = Result<usize, Broken>>;
}

/// What was being sent is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what was being sent is gone")
    }
}

impl core::error::Error for Broken {}

/// A JSON-RPC request with what its HTTP head said about it.
#[derive(Debug, Clone, Copy)]
pub struct Call<'b> {
    /// Who calls; nothing for a stranger.
    pub caller: Option<Caller>,
    /// The `host` or `host:port` it asked for.
    pub host: Option<&'b str>,
    /// `A2A-Version`, the header or else the query parameter; never empty.
    pub version: Option<&'b str>,
    /// `A2A-Extensions` or `X-A2A-Extensions`, a list with commas; never empty.
    pub extensions: Option<&'b str>,
    /// `Last-Event-ID` of a client that takes up a stream again.
    pub last_event_id: Option<&'b str>,
    /// `traceparent`, if there is exactly one.
    pub traceparent: Option<&'b str>,
    /// The body, any bytes.
    pub body: &'b [u8],
}

/// How an answer begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The HTTP status: 200 also for most JSON-RPC errors, or clients lose the code (DIALECTS.md 6.2).
    pub status: u16,
    /// What follows.
    pub kind: Kind,
    /// Seconds for `Retry-After`, when busy.
    pub retry_after_secs: Option<u16>,
}

/// What kind of answer follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One JSON document.
    Json,
    /// Server-sent events; the source does their framing.
    EventStream,
    /// Prometheus's text format.
    Metrics,
}

/// Why a request was refused before it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It is a stranger's, and nobody is going to read that much of it.
    Stranger,
    /// The body is larger than any buffer here.
    BodyTooLarge {
        /// The largest that is taken.
        limit_bytes: usize,
    },
    /// The body is not said to be JSON.
    MediaType,
    /// No buffer came free in time.
    Busy,
    /// The body ended before its length.
    BodyEnded,
    /// The body did not arrive in time.
    BodySlow,
}

impl Refusal {
    /// The HTTP status that goes with it.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Stranger => 401,
            Self::BodyTooLarge { .. } => 413,
            Self::MediaType => 415,
            Self::Busy => 503,
            Self::BodyEnded => 400,
            Self::BodySlow => 408,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stranger => f.write_str("Send a token, the card says how"),
            Self::BodyTooLarge { limit_bytes } => write!(f, "Request body is larger than {limit_bytes} bytes"),
            Self::MediaType => f.write_str("Content-Type must be application/json"),
            Self::Busy => f.write_str("All request buffers are in use, try again"),
            Self::BodyEnded => f.write_str("Request body ended before its Content-Length"),
            Self::BodySlow => f.write_str("Request body did not arrive in time"),
        }
    }
}

/// Names a version of the card.
#[derive(Debug, Clone, Copy)]
pub struct CardVersion<'s> {
    /// The entity tag, without its quotes.
    pub etag: &'s str,
    /// An HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT`; nothing where there is no clock.
    pub last_modified: Option<&'s str>,
}

/// Where a client reached us: a checked `host` or `host:port`, fit to be written into the card.
///
/// Displays as a URL without a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaseUrl<'h> {
    authority: &'h str,
}

impl<'h> BaseUrl<'h> {
    /// Checks a `Host` header. It is strict on purpose: what passes is reflected.
    #[must_use]
    pub fn from_host(host: &'h str) -> Option<Self> {
        if host.len() > protocol_core::config::HOST_MAX {
            return None;
        }
        let (is_name, port) = match host.strip_prefix('[') {
            Some(literal) => {
                let (address, rest) = literal.split_once(']')?;
                let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
                (is_all(address, |byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')), port)
            }
            None => {
                let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
                (is_all(name, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')), port)
            }
        };
        let is_port = port.is_none_or(|port| is_all(port, |byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok());
        (is_name && is_port).then_some(Self { authority: host })
    }

    /// The `host` or `host:port`.
    #[must_use]
    pub const fn authority(&self) -> &'h str {
        self.authority
    }
}

impl fmt::Display for BaseUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.authority)
    }
}

fn is_all(text: &str, fits: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::BaseUrl;

    #[test]
    fn only_a_host_with_an_optional_port_is_reflected() {
        for good in ["a", "mote.local", "mote-1.local:8080", "192.168.0.7:80", "[fe80::1]", "[::1]:8080", "my_host"] {
            assert!(BaseUrl::from_host(good).is_some(), "{good}");
        }
        for bad in [
            "", ":80", "a:", "a:+80", "a:80:80", "a:65536", "a b", "a/b", "a\"", "<a>", "a@b", "[::1", "::1", "[]",
            "[g]", "[::1]x",
        ] {
            assert!(BaseUrl::from_host(bad).is_none(), "{bad}");
        }
    }
}
