//! Calls that the device makes: one request over HTTP, out to an address that was checked, and the first of the answer.
//!
//! ```text
//! Url -> resolve -> check every address -> connect to the one that was checked -> (TLS) -> head, body piece by piece
//!                                                                               <- status, Retry-After, first bytes
//! ```
//!
//! A client of its own, and a small one: no pool, no redirects, no cookies. Webhooks are called with it; so may other
//! agents be. It allocates nothing, knows no sockets (a [`Network`] has them) and is cancelled by dropping it. What a
//! receiver sends ends in an [`Answer`] or a [`Failure`], never in a panic (docs/decisions/0017-outbound.md).
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]

mod answer;
mod client;
mod failure;
mod line;
mod network;
mod request;
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;

pub use self::{
    answer::Answer,
    client::{Client, Rooms},
    failure::{Failure, Garbled, Unreachable, Unsecured, Untrusted},
    network::{ADDRESSES, Ending, Network},
    request::{Content, Field, Request, Value},
};
