//! The node behind the HTTP edge.

use core::fmt::Write as _;

use protocol_core::{
    FaultKind, Inbound, Level, Node, Note, Reply,
    door::{Address, Caller, Credential, Turned},
};

use crate::{
    http::{BaseUrl, Broken, Call, CardVersion, Head, Kind, Refusal, Service, Source, Traffic},
    metrics::Metrics,
    recent::Recent,
    signing::{JwkSet, Signer},
    status::{Facts, Status},
};

/// A node as the HTTP edge sees it.
pub struct App<'n, 's> {
    node: &'n Node<'s>,
    facts: &'n Facts,
    signer: Option<&'n Signer>,
    /// The card tells how to get in: it is another one when the door is opened or shut.
    was_open: bool,
    /// For the card as it was at the start, and for the other one.
    etags: [heapless::String<17>; 2],
    last_modified: Option<heapless::String<32>>,
}

impl<'n, 's> App<'n, 's> {
    /// Puts a node behind the edge, and who signs for it. Tell it the time first, if it is known: the card's date is that
    /// of the start.
    pub fn new(node: &'n Node<'s>, facts: &'n Facts, signer: Option<&'n Signer>) -> Self {
        let tag = node.card_tag("");
        // cannot fail: 64 bits are 16 digits, and an HTTP date has 29 characters.
        let etags = ["", "+"].map(|change| {
            let mut etag = heapless::String::<17>::new();
            let _ = write!(etag.as_mut_view(), "{tag:016x}{change}");
            etag
        });
        let last_modified = node.card_date().map(|date| {
            let mut text = heapless::String::<32>::new();
            let _ = write!(text.as_mut_view(), "{date}");
            text
        });
        Self { node, facts, signer, was_open: node.door().is_open(), etags, last_modified }
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
        let Call { caller, host, version, extensions, last_event_id, traceparent, body } = call;
        let inbound = Inbound { caller, host, version, extensions, last_event_id, traceparent, body };
        let reply = self.node.call(&inbound);
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

    fn extended_card<'a>(&'a self, base: Option<BaseUrl<'_>>, caller: Caller) -> Option<Answer<'a, 's>> {
        let host = base.map_or("localhost", |base| base.authority());
        self.node.extended_card(host, caller).map(Answer::Reply)
    }

    fn keys(&self) -> Option<Answer<'_, 's>> {
        self.signer.map(|signer| Answer::Keys(signer.published()))
    }

    fn status(&self) -> Answer<'_, 's> {
        Answer::Status(Status::new(self.node, self.facts))
    }

    fn log(&self, caller: Caller, after: u64) -> Answer<'_, 's> {
        Answer::Recent(Recent::new(self.node, caller, after))
    }

    fn metrics(&self) -> Answer<'_, 's> {
        Answer::Metrics(Metrics::new(self.node, self.facts))
    }

    fn traffic(&self) -> &Traffic {
        &self.facts.edge.traffic
    }

    fn turned_away(&self) {
        self.traffic().turned_away();
        self.node.note(Note::new(Level::Warn, "a client was turned away: too many connections"));
    }

    fn card_version(&self) -> CardVersion<'_> {
        let [same, other] = &self.etags;
        if self.node.door().is_open() == self.was_open {
            CardVersion { etag: same, last_modified: self.last_modified.as_deref() }
        } else {
            CardVersion { etag: other, last_modified: None }
        }
    }
}

/// What is being sent.
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the larger one on")]
pub enum Answer<'a, 's> {
    /// The protocol's answer.
    Reply(Reply<'a, 's>),
    /// How the device is.
    Status(Status<'a>),
    /// What happened lately.
    Recent(Recent<'a, 's>),
    /// What was counted.
    Metrics(Metrics<'a, 's>),
    /// The public keys of who signs.
    Keys(JwkSet),
}

impl Source for Answer<'_, '_> {
    async fn fill(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        match self {
            Self::Reply(reply) => reply.fill(out).await.map_err(|protocol_core::Broken| Broken),
            Self::Status(status) => Ok(status.fill(out)),
            Self::Recent(recent) => Ok(recent.fill(out)),
            Self::Metrics(metrics) => Ok(metrics.fill(out)),
            Self::Keys(keys) => Ok(keys.fill(out)),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::{String, ToString};

    use protocol_core::{
        Engine, Identity, Served, Storage,
        door::{Allowance, Classes, Door, DoorStorage, Principal},
        time::{Clock, Millis, UnixMillis},
    };

    use super::*;
    use crate::{
        agents::sensor,
        http::Limits,
        reset::Reason,
        simulated::SplitMix,
        status::{Connection, Edge},
    };

    const TOKEN: &str = "annas-first-token";

    struct Boot;

    impl Clock for Boot {
        fn now(&self) -> Millis {
            Millis(0)
        }
    }

    fn with_app(test: impl FnOnce(&App<'_, '_>)) {
        let mut storage = Storage::<2, 8, 1, 1>::new();
        let mut chance = SplitMix::new(1);
        let identity = Identity { profile: sensor::PROFILE, url: None, served: Served::ALL };
        let mut known = DoorStorage::<1, 1>::new();
        let mut door = Door::new(&mut known, Allowance::UNLIMITED);
        door.know(Principal::new("anna", Classes::ALL, TOKEN).unwrap()).unwrap();
        let node = Node::new(Engine::new(&mut storage, &mut chance), door, &Boot, identity);
        node.handle_wall_time(UnixMillis(1_767_225_600_000));
        let facts = Facts {
            board: "none",
            past: Reason::PowerOn.into(),
            stack: None,
            network: Connection::default(),
            edge: Edge::new(&Limits::DEVICE, 6, 1),
        };
        test(&App::new(&node, &facts, None));
    }

    fn read(mut answer: Answer<'_, '_>) -> String {
        let mut text = String::new();
        let mut piece = [0; 64];
        embassy_futures::block_on(async {
            while let Ok(filled @ 1..) = answer.fill(&mut piece).await {
                text.push_str(core::str::from_utf8(&piece[..filled]).unwrap());
            }
        });
        text
    }

    #[test]
    fn a_card_that_is_another_has_another_tag() {
        with_app(|app| {
            let version = || {
                let CardVersion { etag, last_modified } = app.card_version();
                (etag.to_string(), last_modified.is_some())
            };
            let shut = version();
            let card = read(app.card(None));
            app.node.change_door(|door| door.set_open(true));
            let open = version();
            assert_ne!(card, read(app.card(None)));
            assert_ne!(shut.0, open.0);
            // The date is that of the card at the start.
            assert!(shut.1 && !open.1);
            app.node.change_door(|door| door.set_open(false));
            assert_eq!((version(), read(app.card(None))), (shut, card));
        });
    }

    #[test]
    fn the_extended_card_has_what_the_public_one_has_not() {
        with_app(|app| {
            let credential = Credential { name: None, token: TOKEN.as_bytes() };
            let anna = app.admit(Address::default(), Some(credential)).unwrap();
            let base = BaseUrl::from_host("mote.local:8080");
            let card = read(app.extended_card(base, anna).expect("the door is shut"));
            assert!(card.contains("reboot") && card.contains("http://mote.local:8080/"), "{card}");
            assert!(!read(app.card(base)).contains("reboot"));
            app.node.change_door(|door| door.set_open(true));
            assert!(app.extended_card(base, anna).is_none());
        });
    }

    #[test]
    fn a_call_of_a_stranger_has_the_status_of_one() {
        with_app(|app| {
            let call = Call {
                caller: None,
                host: None,
                version: None,
                extensions: None,
                last_event_id: None,
                traceparent: None,
                body: br#"{"jsonrpc":"2.0","id":7,"method":"tasks/send","params":{}}"#,
            };
            let (head, answer) = app.call(call);
            assert_eq!((head.status, head.kind), (401, Kind::Json));
            let text = read(answer);
            assert!(text.contains(r#""id":7"#) && text.contains("-32007"), "{text}");
            assert!(read(app.refuse(Refusal::Stranger)).contains(r#""id":null"#));
        });
    }
}
