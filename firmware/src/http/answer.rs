//! How an answer goes out: in one piece where it fits, else in chunks, else until the connection closes.

use core::{
    future::poll_fn,
    pin::pin,
    task::Poll,
};

use picoserve::{
    ResponseSent,
    io::{Read, Write},
    response::{
        Connection, Content, ForEachHeader, HeadersIter, IntoResponse, Response, ResponseWriter, StatusCode,
        chunked::{ChunkWriter, ChunkedResponse, Chunks, ChunksWritten},
        custom::{CustomBody, CustomResponse},
    },
};

use super::{
    flow::{Flow, Reads, Writes},
    service::{Broken, CardVersion, Kind, Source},
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
    /// A text of ours and its media type.
    Text(&'static str, &'static str),
    /// The service's answer.
    Answer(A),
}

impl<A: Source> Source for Matter<A> {
    async fn fill(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        match self {
            Self::Nothing => Ok(0),
            Self::Text(_, rest) => {
                // Our texts are ASCII: every place is a good one to cut.
                let (now, later) = rest.split_at(rest.len().min(out.len()));
                out[..now.len()].copy_from_slice(now.as_bytes());
                *rest = later;
                Ok(now.len())
            }
            Self::Answer(answer) => answer.fill(out).await,
        }
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
        }
    }
}

/// What an answer's head says beside what the body is and where it ends.
#[derive(Default)]
pub(super) struct Fields<'e> {
    pub(super) allow: Option<&'static str>,
    pub(super) retry_after_secs: Option<u16>,
    /// The card's version and how many seconds it keeps.
    pub(super) card: Option<(CardVersion<'e>, u32)>,
}

/// All header fields that picoserve does not write itself.
struct Headers<'e> {
    content_type: Option<&'static str>,
    content_length: Option<usize>,
    fields: Fields<'e>,
    kind: Kind,
    connection: Option<&'static str>,
}

impl HeadersIter for Headers<'_> {
    async fn for_each_header<F: ForEachHeader>(self, mut f: F) -> Result<F::Output, F::Error> {
        if let Some(content_type) = self.content_type {
            f.call("Content-Type", content_type).await?;
        }
        if let Some(content_length) = self.content_length {
            f.call("Content-Length", content_length).await?;
        }
        if let Some(allow) = self.fields.allow {
            f.call("Allow", allow).await?;
        }
        if let Some(seconds) = self.fields.retry_after_secs {
            f.call("Retry-After", seconds).await?;
        }
        if let Some((version, max_age_secs)) = self.fields.card {
            f.call("Cache-Control", format_args!("public, max-age={max_age_secs}")).await?;
            f.call("ETag", format_args!("\"{}\"", version.etag)).await?;
            if let Some(date) = version.last_modified {
                f.call("Last-Modified", date).await?;
            }
        }
        if self.kind == Kind::EventStream {
            // Proxies must not hold events back (DIALECTS.md 8).
            f.call("Cache-Control", "no-cache").await?;
            f.call("X-Accel-Buffering", "no").await?;
        }
        if let Some(connection) = self.connection {
            f.call("Connection", connection).await?;
        }
        f.finalize().await
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

/// Sends an answer.
pub(super) async fn send<A: Source, R: Read, W: ResponseWriter<Error = R::Error>>(
    flow: &Flow,
    reply: Reply<'_, A>,
    begun: Begun<'_>,
    client: Client,
    connection: Connection<'_, R>,
    writer: W,
) -> Result<ResponseSent, W::Error> {
    let status = StatusCode::new(reply.status);
    let content_type = reply.content_type();
    let Reply { kind, fields, matter, .. } = reply;
    let mut headers = Headers {
        content_type: None,
        content_length: None,
        fields,
        kind,
        connection: flow.is_last().then_some("close"),
    };
    if matches!(matter, Matter::Nothing) {
        return Response::empty(status).with_headers(headers).write_to(connection, writer).await;
    }
    if client == Client::Head {
        headers.content_type = Some(content_type);
        headers.content_length = (begun.extent == Extent::Whole).then_some(begun.used);
        return Response::empty(status).with_headers(headers).write_to(connection, writer).await;
    }
    flow.set_writes(Writes::Gather);
    if begun.extent == Extent::Whole {
        let whole = Whole { flow, content_type, bytes: &begun.buffer[..begun.used] };
        return Response::new(status, whole).with_headers(headers).write_to(connection, writer).await;
    }
    let pump = Pump { flow, source: matter, kind, content_type, begun };
    if client == Client::Http11 {
        let chunked = ChunkedResponse::new(pump).into_response().with_status_code(status);
        return chunked.with_headers(headers).write_to(connection, writer).await;
    }
    headers.content_type = Some(content_type);
    // Here picoserve says so itself.
    headers.connection = None;
    flow.set_reads(Reads::Wait);
    CustomResponse::build(status).with_headers(headers).with_body(pump).write_to(connection, writer).await
}

/// A body that is all there.
struct Whole<'a> {
    flow: &'a Flow,
    content_type: &'static str,
    bytes: &'a [u8],
}

impl Content for Whole<'_> {
    fn content_type(&self) -> &'static str {
        self.content_type
    }

    fn content_length(&self) -> usize {
        self.bytes.len()
    }

    async fn write_content<W: Write>(self, mut writer: W) -> Result<(), W::Error> {
        self.flow.set_writes(Writes::Pass);
        writer.write_all(self.bytes).await
    }
}

/// A body that is still being made.
struct Pump<'a, A> {
    flow: &'a Flow,
    source: A,
    kind: Kind,
    content_type: &'static str,
    begun: Begun<'a>,
}

impl<A: Source> Pump<'_, A> {
    async fn run<F: Framed>(self, mut framed: F) -> Result<F, F::Error> {
        let Self { flow, mut source, kind, begun: Begun { buffer, mut used, .. }, .. } = self;
        flow.set_writes(Writes::Pass);
        loop {
            if used > 0 {
                framed.put(&buffer[..used]).await?;
            }
            let filled = {
                let mut fill = pin!(source.fill(buffer));
                // As long as there is more, it is gathered; before a wait everything goes out.
                match poll_fn(|cx| Poll::Ready(fill.as_mut().poll(cx))).await {
                    Poll::Ready(filled) => Some(filled),
                    Poll::Pending => {
                        framed.flush().await?;
                        flow.unless_stopped(fill).await
                    }
                }
            };
            match filled {
                Some(Ok(0)) => return Ok(framed),
                Some(Ok(filled)) => used = filled,
                None if kind == Kind::EventStream => return Ok(framed),
                None | Some(Err(Broken)) => {
                    // Half a document must not look like a whole one: this flush fails, and picoserve gives up.
                    flow.set_writes(Writes::Fail);
                    framed.flush().await?;
                    return Ok(framed);
                }
            }
        }
    }
}

impl<A: Source> Chunks for Pump<'_, A> {
    fn content_type(&self) -> &'static str {
        self.content_type
    }

    async fn write_chunks<W: Write>(self, writer: ChunkWriter<W>) -> Result<ChunksWritten, W::Error> {
        self.run(writer).await?.finalize().await
    }
}

impl<A: Source> CustomBody for Pump<'_, A> {
    async fn write_response_body<W: Write>(self, writer: W) -> Result<(), W::Error> {
        self.run(Bare(writer)).await.map(|Bare(_)| ())
    }
}

/// Puts a frame, if any, around each piece.
trait Framed {
    type Error;

    async fn put(&mut self, piece: &[u8]) -> Result<(), Self::Error>;

    async fn flush(&mut self) -> Result<(), Self::Error>;
}

impl<W: Write> Framed for ChunkWriter<W> {
    type Error = W::Error;

    async fn put(&mut self, piece: &[u8]) -> Result<(), W::Error> {
        self.write_chunk(piece).await
    }

    async fn flush(&mut self) -> Result<(), W::Error> {
        Self::flush(self).await
    }
}

struct Bare<W>(W);

impl<W: Write> Framed for Bare<W> {
    type Error = W::Error;

    async fn put(&mut self, piece: &[u8]) -> Result<(), W::Error> {
        self.0.write_all(piece).await
    }

    async fn flush(&mut self) -> Result<(), W::Error> {
        self.0.flush().await
    }
}
