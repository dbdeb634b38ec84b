//! How an answer goes out: in one piece where it fits, else in chunks, else until the connection closes.
//!
//! It goes straight to the [`Link`]. picoserve's response types would do, but there is one for each way to end a body,
//! and together they add 3 KB to the future of every connection.

use core::{fmt, future::poll_fn, pin::pin, task::Poll};

use picoserve::{io::BaseWrite, request::RequestParts};

use super::{
    flow::Flow,
    routes::Problem,
    service::{Broken, CardVersion, Kind, Source},
    socket::Link,
};

/// A status, a few header fields and where the bytes come from.
pub(super) struct Reply<'e, A> {
    pub(super) status: u16,
    pub(super) kind: Kind,
    pub(super) fields: Fields<'e>,
    pub(super) matter: Matter<A>,
}

/// What follows the head.
pub(super) enum Matter<A> {
    /// Nothing, and no `Content-Length` either: 204 and 304.
    Nothing,
    /// A media type and a text of ours.
    Text(&'static str, &'static [u8]),
    /// An error of the edge's own.
    Problem(Problem),
    /// The service's answer.
    Answer(A),
}

/// What an answer's head says beside what the body is and where it ends.
#[derive(Default)]
pub(super) struct Fields<'e> {
    pub(super) allow: Option<&'static str>,
    pub(super) retry_after_secs: Option<u16>,
    /// How to say who one is: on every 401.
    pub(super) challenge: Option<Challenge>,
    pub(super) cors: Cors<'e>,
    /// How many seconds it keeps, if anybody may keep it.
    pub(super) max_age_secs: Option<u32>,
    /// What belongs to a document of ours, about caching, too.
    pub(super) lines: Option<&'static str>,
    /// The card's version.
    pub(super) card: Option<CardVersion<'e>>,
}

/// What a browser is told about pages of other origins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Cors<'e> {
    /// Nothing: none of them may read any answer.
    #[default]
    Silent,
    /// Nothing, but others might hear something else.
    Varies,
    /// Pages of this one may read the answer.
    Origin(&'e str),
    /// Pages of this one may send what they have in mind.
    Preflight(&'e str),
}

/// The ways to show a token that a 401 names, one line for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Challenge {
    /// All of them.
    Everybody,
    /// Without Basic: for that a browser would interrupt its person with a question about what some page does. Who opens
    /// a page is to be asked.
    Script,
}

impl Challenge {
    pub(super) fn of(parts: &RequestParts<'_>) -> Self {
        let headers = parts.headers();
        let is_script =
            headers.get("origin").is_some() || headers.get("sec-fetch-mode").is_some_and(|mode| mode != "navigate");
        if is_script { Self::Script } else { Self::Everybody }
    }
}

impl<A> Reply<'_, A> {
    /// A document, or nothing.
    pub(super) fn new(status: u16, matter: Matter<A>) -> Self {
        Self { status, kind: Kind::Json, fields: Fields::default(), matter }
    }

    fn content_type(&self) -> &'static str {
        match (&self.matter, self.kind) {
            (Matter::Text(media_type, _), _) => media_type,
            (_, Kind::Json) => "application/json",
            (_, Kind::EventStream) => "text/event-stream",
            // Prometheus asks for the version.
            (_, Kind::Metrics) => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

impl<A: Source> Source for Matter<A> {
    async fn fill(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        match self {
            // A text goes out in one piece, behind its head.
            Self::Nothing | Self::Text(..) | Self::Problem(_) => Ok(0),
            Self::Answer(answer) => answer.fill(out).await,
        }
    }
}

/// The beginning of an answer, made before its head is written: it decides how the rest is framed.
pub(super) struct Begun<'f> {
    pub(super) buffer: &'f mut [u8],
    pub(super) used: usize,
    pub(super) extent: Extent,
}

/// Is there more than what the buffer holds?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    Open,
}

/// What the client can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    /// It asked for the head only.
    Head,
    Http10,
    Http11,
}

impl Client {
    pub(super) fn of(parts: &RequestParts<'_>) -> Self {
        match (parts.method(), parts.http_version()) {
            ("HEAD", _) => Self::Head,
            (_, "HTTP/1.1") => Self::Http11,
            _ => Self::Http10,
        }
    }
}

/// Where a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// There is none.
    Bare,
    Length(usize),
    Chunked,
    /// With the connection.
    Close,
}

impl Begun<'_> {
    /// The bytes of the buffer that are used.
    fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.used).unwrap_or(self.buffer)
    }
}

/// Sends an answer, all of it.
///
/// # Errors
/// [`Broken`] if it ends in the middle, for whatever reason: then the connection has to end badly, too.
pub(super) async fn send<A: Source, W: BaseWrite>(
    link: &mut Link<'_, W>,
    flow: &Flow,
    reply: &mut Reply<'_, A>,
    begun: &mut Begun<'_>,
    client: Client,
) -> Result<(), Broken> {
    let framing = match (&reply.matter, client, begun.extent) {
        (Matter::Nothing, ..) | (_, Client::Head, Extent::Open) => Framing::Bare,
        (Matter::Text(_, text), _, Extent::Whole) => Framing::Length(text.len()),
        (Matter::Problem(problem), _, Extent::Whole) => Framing::Length(problem.length()),
        (_, _, Extent::Whole) => Framing::Length(begun.used),
        (_, Client::Http11, Extent::Open) => Framing::Chunked,
        (_, Client::Http10, Extent::Open) => Framing::Close,
    };
    write_head(link, flow, reply, framing).await.map_err(|_| Broken)?;
    match framing {
        _ if client == Client::Head => {}
        Framing::Bare => {}
        Framing::Length(_) => {
            let done = match &reply.matter {
                Matter::Text(_, text) => link.write_all(text).await,
                Matter::Problem(problem) => write_problem(link, problem).await,
                _ => link.write_all(begun.bytes()).await,
            };
            done.map_err(|_| Broken)?;
        }
        Framing::Chunked | Framing::Close => {
            loop {
                write_piece(link, begun.bytes(), framing).await.map_err(|_| Broken)?;
                begun.used = next(link, flow, reply, begun.buffer).await?;
                if begun.used == 0 {
                    break;
                }
            }
            if framing == Framing::Chunked {
                link.write_all(b"0\r\n\r\n").await.map_err(|_| Broken)?;
            }
        }
    }
    link.send().await.map_err(|_| Broken)
}

/// Makes the next piece. As long as there is one it is gathered; before a wait everything goes out.
async fn next<A: Source, W: BaseWrite>(
    link: &mut Link<'_, W>,
    flow: &Flow,
    reply: &mut Reply<'_, A>,
    buffer: &mut [u8],
) -> Result<usize, Broken> {
    let mut fill = pin!(reply.matter.fill(buffer));
    if let Poll::Ready(filled) = poll_fn(|cx| Poll::Ready(fill.as_mut().poll(cx))).await {
        return filled;
    }
    link.send().await.map_err(|_| Broken)?;
    match flow.unless_stopped(fill).await {
        Some(filled) => filled,
        None if reply.kind == Kind::EventStream => Ok(0),
        // Half a document must not look like a whole one.
        None => Err(Broken),
    }
}

async fn write_piece<W: BaseWrite>(link: &mut Link<'_, W>, piece: &[u8], framing: Framing) -> Result<(), W::Error> {
    if piece.is_empty() {
        return Ok(());
    }
    if framing == Framing::Chunked {
        link.write_text(format_args!("{:x}\r\n", piece.len())).await?;
    }
    link.write_all(piece).await?;
    if framing == Framing::Chunked {
        link.write_all(b"\r\n").await?;
    }
    Ok(())
}

/// Writes the document of an error.
pub(super) async fn write_problem<W: BaseWrite>(link: &mut Link<'_, W>, problem: &Problem) -> Result<(), W::Error> {
    for number in 0..Problem::PIECES {
        link.write_all(problem.piece(number).as_bytes()).await?;
    }
    Ok(())
}

async fn write_head<A, W: BaseWrite>(
    link: &mut Link<'_, W>,
    flow: &Flow,
    reply: &Reply<'_, A>,
    framing: Framing,
) -> Result<(), W::Error> {
    let content_type = (!matches!(reply.matter, Matter::Nothing)).then(|| reply.content_type());
    for line in Line::ALL {
        if let Line::Connection = line {
            let [vary, origin, rest] = cors_lines(reply.fields.cors);
            for text in [vary, origin, rest, reply.fields.lines.unwrap_or_default()] {
                link.write_all(text.as_bytes()).await?;
            }
        }
        let heading = Heading { line, reply, content_type, framing, is_last: flow.is_last() };
        link.write_text(format_args!("{heading}")).await?;
    }
    Ok(())
}

/// No `Allow-Credentials`, ever: those would be whatever a browser keeps, and a page is to know the token that it uses.
fn cors_lines(cors: Cors<'_>) -> [&str; 3] {
    const EXPOSED: &str = "\r\nAccess-Control-Expose-Headers: Retry-After, WWW-Authenticate\r\n";
    const ALLOWED: &str = "\r\nAccess-Control-Allow-Methods: GET, HEAD, POST\r\n\
        Access-Control-Allow-Headers: Authorization, Content-Type, X-API-Key, A2A-Version, A2A-Extensions, Last-Event-ID\r\n\
        Access-Control-Max-Age: 600\r\n";
    let (origin, rest) = match cors {
        Cors::Silent => return [""; 3],
        Cors::Varies => return ["Vary: Origin\r\n", "", ""],
        Cors::Origin(origin) => (origin, EXPOSED),
        Cors::Preflight(origin) => (origin, ALLOWED),
    };
    ["Vary: Origin\r\nAccess-Control-Allow-Origin: ", origin, rest]
}

/// One line of a head, or none. They go out one by one, as each has to fit into the room.
struct Heading<'r, 'e, A> {
    line: Line,
    reply: &'r Reply<'e, A>,
    content_type: Option<&'static str>,
    framing: Framing,
    is_last: bool,
}

#[derive(Clone, Copy)]
enum Line {
    Status,
    Type,
    Length,
    Allow,
    RetryAfter,
    Bearer,
    Basic,
    ApiKey,
    Cache,
    Tag,
    Modified,
    Connection,
}

impl Line {
    const ALL: [Self; 12] = [
        Self::Status,
        Self::Type,
        Self::Length,
        Self::Allow,
        Self::RetryAfter,
        Self::Bearer,
        Self::Basic,
        Self::ApiKey,
        Self::Cache,
        Self::Tag,
        Self::Modified,
        Self::Connection,
    ];
}

impl<A> fmt::Display for Heading<'_, '_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reply { status, kind, fields, .. } = self.reply;
        let Fields { card, max_age_secs, .. } = fields;
        match (self.line, card) {
            (Line::Status, _) => write!(f, "HTTP/1.1 {status} {}\r\n", reason(*status)),
            (Line::Type, _) => line(f, "Content-Type: ", self.content_type),
            (Line::Length, _) => match self.framing {
                Framing::Length(bytes) => line(f, "Content-Length: ", Some(bytes)),
                Framing::Chunked => f.write_str("Transfer-Encoding: chunked\r\n"),
                Framing::Bare | Framing::Close => Ok(()),
            },
            (Line::Allow, _) => line(f, "Allow: ", fields.allow),
            (Line::RetryAfter, _) => line(f, "Retry-After: ", fields.retry_after_secs),
            (Line::Bearer, _) if fields.challenge.is_some() => {
                f.write_str("WWW-Authenticate: Bearer realm=\"mote\"\r\n")
            }
            (Line::Basic, _) if fields.challenge == Some(Challenge::Everybody) => {
                f.write_str("WWW-Authenticate: Basic realm=\"mote\", charset=\"UTF-8\"\r\n")
            }
            (Line::ApiKey, _) if fields.challenge.is_some() => {
                f.write_str("WWW-Authenticate: ApiKey realm=\"mote\", header=\"X-API-Key\"\r\n")
            }
            (Line::Bearer | Line::Basic | Line::ApiKey, _) => Ok(()),
            (Line::Cache, _) if fields.lines.is_some() => Ok(()),
            (Line::Cache, _) if max_age_secs.is_some() => line(f, "Cache-Control: public, max-age=", *max_age_secs),
            // Proxies must not hold events back (DIALECTS.md 8).
            (Line::Cache, _) if *kind == Kind::EventStream => {
                f.write_str("Cache-Control: no-cache, no-store\r\nX-Accel-Buffering: no\r\n")
            }
            // Everything else is for one caller, or for one moment.
            (Line::Cache, _) => f.write_str("Cache-Control: no-store\r\n"),
            (Line::Tag, Some(version)) => line(f, "ETag: ", Some(format_args!("\"{}\"", version.etag))),
            (Line::Modified, Some(version)) => line(f, "Last-Modified: ", version.last_modified),
            (Line::Tag | Line::Modified, None) => Ok(()),
            (Line::Connection, _) => {
                line(f, "Connection: ", Some(if self.is_last { "close" } else { "keep-alive" }))?;
                f.write_str("\r\n")
            }
        }
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, value: Option<impl fmt::Display>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, "{name}{value}\r\n"))
}

/// The words for a status. A person may read them, no program does.
pub(super) fn reason(status: u16) -> &'static str {
    said(status).get(4..).unwrap_or_default()
}

/// The digits of a status.
pub(super) fn digits(status: u16) -> &'static str {
    said(status).get(..3).unwrap_or_default()
}

fn said(status: u16) -> &'static str {
    STATUSES.iter().find(|(known, _)| *known == status).map_or("", |(_, said)| said)
}

/// All that we say.
pub(super) const STATUSES: [(u16, &str); 20] = [
    (200, "200 OK"),
    (204, "204 No Content"),
    (304, "304 Not Modified"),
    (400, "400 Bad Request"),
    (401, "401 Unauthorized"),
    (403, "403 Forbidden"),
    (404, "404 Not Found"),
    (405, "405 Method Not Allowed"),
    (408, "408 Request Timeout"),
    (411, "411 Length Required"),
    (413, "413 Content Too Large"),
    (414, "414 URI Too Long"),
    (415, "415 Unsupported Media Type"),
    (417, "417 Expectation Failed"),
    (421, "421 Misdirected Request"),
    (429, "429 Too Many Requests"),
    (431, "431 Request Header Fields Too Large"),
    (500, "500 Internal Server Error"),
    (503, "503 Service Unavailable"),
    (505, "505 HTTP Version Not Supported"),
];
