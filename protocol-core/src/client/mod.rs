//! The other end of the line: a client of A2A agents. Requests go out, answers and events come in; the sockets are the
//! caller's, and so is the memory.
//!
//! It works without a heap, a clock or a socket, as the rest does, and uses the same tables, read in the other direction. What
//! an agent answers is borrowed from the bytes that came and looked at in place. Nothing that it sends makes a reader panic,
//! and nothing is kept but what the caller keeps.
//!
//! ```
//! use protocol_core::client::{Answer, Card, Content, Request, Say, Saying};
//!
//! // What came from /.well-known/agent-card.json says where and in which version to ask.
//! let card = br#"{"name":"probe","supportedInterfaces":[
//!     {"url":"http://probe.local/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#;
//! let card = Card::read(card).unwrap();
//! let place = card.place(None).unwrap();
//! assert!(place.url.is("http://probe.local/"));
//!
//! // A request is written piece by piece, to wherever that goes: here, a text.
//! let parts = [Saying::Text("read temperature")];
//! let request = Request::Send(Say { message: "m1", parts: &parts, ..Say::default() });
//! let mut body = heapless::String::<256>::new();
//! place.version.write(7, &request, &mut |piece: &str| body.push_str(piece).unwrap()).unwrap();
//! assert!(body.starts_with(r#"{"jsonrpc":"2.0","id":7,"method":"SendMessage","#));
//!
//! let answer = br#"{"jsonrpc":"2.0","id":7,"result":{"message":{"messageId":"r","role":"ROLE_AGENT",
//!     "parts":[{"text":"21 degrees"}]}}}"#;
//! let said = match place.version.read(answer, 7) {
//!     Ok(Answer::Message(mut message)) => message.parts.next(),
//!     _ => None,
//! };
//! assert!(matches!(said, Some(Ok(part)) if matches!(part.content, Content::Text(text) if text.is("21 degrees"))));
//! ```
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

mod answer;
mod card;
mod request;
mod sse;
mod task;

#[cfg(test)]
mod tests;

pub use self::{
    answer::{Answer, Failure, Page, Unreadable},
    card::{Card, CardSkill, Interface, Place},
    request::{Request, Say, Unspoken},
    sse::{Events, TooLong},
    task::{Artifact, ArtifactUpdate, Artifacts, Message, Parts, Status, StatusUpdate, Task},
};
pub use crate::{
    dialect::asking::Saying,
    model::{Content, Part, TaskState},
};

use crate::dialect::asking::{self, Asking};

/// A version of the protocol, as a client speaks it.
#[derive(Clone, Copy, Debug)]
pub struct Version(&'static Asking);

impl Version {
    /// The newest one there is.
    pub fn newest() -> Self {
        Self(asking::newest())
    }

    /// The one that answers for a version such as `1.0`; a patch number is passed over.
    pub fn parse(text: &str) -> Option<Self> {
        asking::of_version(text).map(Self)
    }

    /// What the header `A2A-Version` says.
    pub const fn name(self) -> &'static str {
        self.0.version
    }

    /// The one before it.
    pub fn before(self) -> Option<Self> {
        asking::before(self.0).map(Self)
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.0.dialect.number == other.0.dialect.number
    }
}

impl Eq for Version {}
