//! The node behind the HTTP edge.

use core::fmt::Write as _;

use protocol_core::{
    FaultKind, Inbound, Node, Reply,
    door::{Address, Caller, Credential, Turned},
};

use crate::{
    http::{BaseUrl, Broken, Call, CardVersion, Head, Kind, Refusal, Service, Source},
    status::{Facts, Status},
};

/// A node as the HTTP edge sees it.
pub struct App<'n, 's> {
    node: &'n Node<'s>,
    facts: &'n Facts,
    etag: heapless::String<16>,
    last_modified: Option<heapless::String<32>>,
}

impl<'n, 's> App<'n, 's> {
    /// Puts a node behind the edge. Tell it the time first, if it is known: the card's date is that of the start.
    pub fn new(node: &'n Node<'s>, facts: &'n Facts) -> Self {
        let mut etag = heapless::String::new();
        // cannot fail: 64 bits are 16 digits, and an HTTP date has 29 characters.
        let _ = write!(etag, "{:016x}", node.card_tag(""));
        let last_modified = node.card_date().map(|date| {
            let mut text = heapless::String::new();
            let _ = write!(text, "{date}");
            text
        });
        Self { node, facts, etag, last_modified }
    }
}

impl<'s> Service for App<'_, 's> {
    type Answer<'a>
        = Answer<'a, 's>
    where
        Self: 'a;

    fn admit(&self, address: Address, credential: Option<Credential<'_>>) -> Result<Caller, Turned> {
        self.node.admit(address, credential)
    }

    fn count(&self, caller: Caller) -> Result<(), Turned> {
        self.node.count(caller)
    }

    fn call<'a>(&'a self, call: Call<'_>) -> (Head, Answer<'a, 's>) {
        let Call { caller, host, version, extensions, last_event_id, body } = call;
        let reply = self.node.call(&Inbound { caller, host, version, extensions, last_event_id, body });
        let kind = if reply.is_stream() { Kind::EventStream } else { Kind::Json };
        (Head { status: reply.status(), kind, retry_after_secs: reply.retry_after() }, Answer::Reply(reply))
    }

    fn refuse(&self, refusal: Refusal) -> Answer<'_, 's> {
        let (kind, why) = match refusal {
            Refusal::Stranger => (FaultKind::Unauthenticated, "send a token, the card says how"),
            Refusal::BodyTooLarge { .. } => (FaultKind::InvalidRequest, "the body is too large"),
            Refusal::MediaType => (FaultKind::ContentTypeNotSupported, "Content-Type must be application/json"),
            Refusal::Busy => (FaultKind::Busy, "all request buffers are in use"),
            Refusal::BodyEnded => (FaultKind::InvalidRequest, "the body ended before its Content-Length"),
            Refusal::BodySlow => (FaultKind::InvalidRequest, "the body did not arrive in time"),
        };
        Answer::Reply(self.node.refuse(None, kind, why))
    }

    fn card<'a>(&'a self, base: Option<BaseUrl<'_>>) -> Answer<'a, 's> {
        Answer::Reply(self.node.card(base.map_or("localhost", |base| base.authority())))
    }

    fn status(&self) -> Answer<'_, 's> {
        Answer::Status(Status::new(self.node, self.facts))
    }

    fn card_version(&self) -> CardVersion<'_> {
        CardVersion { etag: &self.etag, last_modified: self.last_modified.as_deref() }
    }
}

/// What is being sent.
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the larger one on")]
pub enum Answer<'a, 's> {
    /// The protocol's answer.
    Reply(Reply<'a, 's>),
    /// How the device is.
    Status(Status<'a>),
}

impl Source for Answer<'_, '_> {
    async fn fill(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        match self {
            Self::Reply(reply) => reply.fill(out).await.map_err(|protocol_core::Broken| Broken),
            Self::Status(status) => Ok(status.fill(out)),
        }
    }
}
