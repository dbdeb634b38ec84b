//! Push notifications: where they may go, who is to be notified, and what is due.
//!
//! A configuration is a record in the log of its task; beside it stands a place in the table here, which is a reader of that
//! log: how far it was acknowledged, how often the next event was tried, when it is tried again. Sending is not done here:
//! a sender asks [`Node::next_delivery`](crate::Node::next_delivery) for work and tells how it went.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::arithmetic_side_effects
    )
)]

mod address;
mod delivery;
mod rules;
mod table;
mod url;

pub use delivery::{Delivery, DeliveryId, Outcome, Secret};
pub use rules::{Ranges, Rules};
pub use table::{Challenge, PushCounts, PushStorage, Webhooks};
pub(crate) use table::{Proof, Push, Sender, Table};
pub use url::Url;

/// The scheme of a configuration whose credentials are never sent: they are the key that its notifications are signed with.
pub const SHARED_KEY: &str = "HS256";

/// The least bytes that such a key has: as many as the digest (RFC 7518).
pub(crate) const SHARED_KEY_MIN: usize = 32;
