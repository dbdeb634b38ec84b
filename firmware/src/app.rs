//! The node behind the HTTP edge.

use core::fmt::Write as _;

use protocol_core::{FaultKind, Inbound, Node, Reply};

use crate::http::{BaseUrl, Broken, Call, CardVersion, Head, Kind, Refusal, Service, Source};

/// A node as the HTTP edge sees it.
pub struct App<'n, 's> {
    node: &'n Node<'s>,
    etag: heapless::String<16>,
    last_modified: Option<heapless::String<32>>,
}

impl<'n, 's> App<'n, 's> {
    /// Puts a node behind the edge. Tell it the time first, if it is known: the card's date is that of the start.
    pub fn new(node: &'n Node<'s>) -> Self {
        let mut etag = heapless::String::new();
        // cannot fail: 64 bits are 16 digits, and an HTTP date has 29 characters.
        let _ = write!(etag, "{:016x}", node.card_tag(""));
        let last_modified = node.card_date().map(|date| {
            let mut text = heapless::String::new();
            let _ = write!(text, "{date}");
            text
        });
        Self { node, etag, last_modified }
    }
}

impl<'s> Service for App<'_, 's> {
    type Answer<'a>
        = Reply<'a, 's>
    where
        Self: 'a;

    fn call<'a>(&'a self, call: Call<'_>) -> (Head, Reply<'a, 's>) {
        let Call { version, extensions, last_event_id, body } = call;
        let reply = self.node.call(&Inbound { version, extensions, last_event_id, body });
        let kind = if reply.is_stream() { Kind::EventStream } else { Kind::Json };
        (Head { status: 200, kind, retry_after_secs: reply.retry_after() }, reply)
    }

    fn refuse(&self, refusal: Refusal) -> Reply<'_, 's> {
        let (kind, why) = match refusal {
            Refusal::BodyTooLarge { .. } => (FaultKind::InvalidRequest, "the body is too large"),
            Refusal::MediaType => (FaultKind::ContentTypeNotSupported, "Content-Type must be application/json"),
            Refusal::Busy => (FaultKind::Busy, "all request buffers are in use"),
            Refusal::BodyEnded => (FaultKind::InvalidRequest, "the body ended before its Content-Length"),
            Refusal::BodySlow => (FaultKind::InvalidRequest, "the body did not arrive in time"),
        };
        self.node.refuse(None, kind, why)
    }

    fn card<'a>(&'a self, base: Option<BaseUrl<'_>>) -> Reply<'a, 's> {
        self.node.card(base.map_or("localhost", |base| base.authority()))
    }

    fn card_version(&self) -> CardVersion<'_> {
        CardVersion { etag: &self.etag, last_modified: self.last_modified.as_deref() }
    }
}

impl Source for Reply<'_, '_> {
    async fn fill(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        Reply::fill(self, out).await.map_err(|protocol_core::Broken| Broken)
    }
}
