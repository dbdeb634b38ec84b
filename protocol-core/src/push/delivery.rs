//! A notification on its way: what a sender has to know, and how it tells what became of it.

use core::fmt::Write as _;

use super::Url;
use crate::{
    config::{ID_MAX, SECRET_MAX, URL_MAX},
    dialect::{self, Dialect},
    encode::Encoder,
    engine::{Errand, Snapshot, What},
    json::Text,
    log::{Stamp, Tag},
    node::Node,
    reply::{Opening, Reply},
    rpc,
    time::Millis,
    trace::Trace,
};

/// The id of an event: the same whenever it is tried, and no other event's.
pub type DeliveryId = heapless::String<40>;

/// How a delivery went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was taken.
    Delivered,
    /// It was not, for now.
    Failed {
        /// How long the webhook wants to be left alone.
        retry_after: Option<Millis>,
    },
    /// It was not, and trying again is of no use.
    Refused,
}

/// What a client wants to see in its notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secret {
    /// By which it knows them.
    Token,
    /// How we say who we are; there may be one without credentials, and then there is nothing to say.
    Scheme,
    /// With what.
    Credentials,
}

/// Something to send. Whoever drops it without [`Delivery::done`] has failed.
pub struct Delivery<'n, 's> {
    node: &'n Node<'s>,
    sender: usize,
    place: usize,
    stamp: Stamp,
    errand: Errand,
    nonce: u64,
    dialect: &'static Dialect,
    is_done: bool,
}

impl<'n, 's> Delivery<'n, 's> {
    pub(crate) fn new(node: &'n Node<'s>, sender: usize, place: usize, stamp: Stamp, errand: Errand) -> Self {
        let (nonce, number) = node.engine().push(place, stamp).map_or((0, 0), |push| (push.nonce, push.dialect));
        Self { node, sender, place, stamp, errand, nonce, dialect: dialect::numbered(number), is_done: false }
    }

    /// Whether this asks the webhook if it is meant, with a GET whose `validationToken` it has to repeat. Else it is a POST
    /// of [`Delivery::body`].
    #[must_use]
    pub const fn is_challenge(&self) -> bool {
        matches!(self.errand, Errand::Challenge)
    }

    /// Where to. Nothing if its client has deleted it meanwhile.
    #[must_use]
    pub fn url(&self) -> Option<heapless::String<URL_MAX>> {
        self.item(Tag::PushUrl).filter(|url: &heapless::String<URL_MAX>| Url::parse(url).is_ok())
    }

    /// What its client wants to see; nothing as long as the webhook has to prove that it is meant.
    #[must_use]
    pub fn secret(&self, secret: Secret) -> Option<heapless::String<SECRET_MAX>> {
        if self.is_challenge() {
            return None;
        }
        self.item(match secret {
            Secret::Token => Tag::PushToken,
            Secret::Scheme => Tag::PushScheme,
            Secret::Credentials => Tag::PushCredentials,
        })
    }

    /// The id of its task.
    #[must_use]
    pub fn task_id(&self) -> Option<heapless::String<ID_MAX>> {
        let engine = self.node.engine();
        let push = engine.push(self.place, self.stamp)?;
        engine.slot(push.follower.key).map(|slot| slot.id.clone())
    }

    /// The trace that its task belongs to. Who has to prove that it is meant hears nothing of it.
    #[must_use]
    pub fn trace(&self) -> Option<Trace> {
        let engine = self.node.engine();
        let push = engine.push(self.place, self.stamp).filter(|_| !self.is_challenge())?;
        engine.slot(push.follower.key)?.trace.known()
    }

    /// The id of the event.
    #[must_use]
    pub fn id(&self) -> DeliveryId {
        let upto = if let Errand::Event(due) = &self.errand { due.upto } else { 0 };
        let mut id = DeliveryId::new();
        // cannot fail: 16 digits, a dash, and at the most 20 digits.
        let _ = write!(id.as_mut_view(), "{:016x}-{upto}", self.nonce);
        id
    }

    /// The media type of the body.
    #[must_use]
    pub const fn content_type(&self) -> &'static str {
        self.dialect.manners.push_type
    }

    /// The body, from its beginning. It is the same every time, unless the log has lost a piece of it meanwhile; then it
    /// ends early, as [`Broken`](crate::Broken).
    #[must_use]
    pub fn body(&self) -> Option<Reply<'n, 's>> {
        let Errand::Event(due) = &self.errand else { return None };
        let engine = self.node.engine();
        let push = engine.push(self.place, self.stamp)?;
        let (key, dialect) = (push.follower.key, self.dialect);
        let shapes = &dialect.shapes;
        let record = due.event.record;
        let encoder = if dialect.manners.pushes_task {
            let snapshot = engine.known(Snapshot { key, upto: due.upto });
            Encoder::task(rpc::BARE, shapes.task, snapshot, dialect.manners.history)
        } else {
            match due.event.what {
                What::Status { ends } => {
                    let mut encoder = Encoder::event(rpc::BARE, shapes.status_event, key, record);
                    encoder.set_final(ends);
                    encoder
                }
                What::Chunk { replaces, .. } => {
                    let mut encoder = Encoder::event(rpc::BARE, shapes.artifact_event, key, record);
                    encoder.set_replaces(replaces);
                    encoder.join(due.upto, due.ends);
                    encoder
                }
            }
        };
        drop(engine);
        Some(Reply::new(self.node, None, dialect, Opening::document(encoder)))
    }

    /// Tells how it went.
    pub fn done(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    fn finish(&mut self, outcome: Outcome) {
        if !core::mem::replace(&mut self.is_done, true) {
            let now = self.node.now();
            self.node.engine().handle_delivery(now, self.sender, self.place, self.stamp, self.errand, outcome);
        }
    }

    fn item<const N: usize>(&self, tag: Tag) -> Option<heapless::String<N>> {
        let engine = self.node.engine();
        let span = engine.push_item(self.place, self.stamp, tag)?;
        // A quote or a backslash takes two.
        let escaped = engine.copy::<{ 2 * SECRET_MAX }>(span)?;
        Text::new(core::str::from_utf8(&escaped).ok()?).decode()
    }
}

impl Drop for Delivery<'_, '_> {
    fn drop(&mut self) {
        self.finish(Outcome::Failed { retry_after: None });
    }
}
