//! JSON without a tree: a body is checked once, then walked as borrowed spans.
//!
//! [`Json::parse`] proves a whole text well formed (UTF-8, grammar, escapes, depth) without recursion. After that every
//! [`Json`] is a span of checked text, so walking it needs no error handling: a member that is not there is `None`, and
//! nothing a peer sends can make a walk panic, recurse or run past its end.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

mod check;
mod sink;
mod text;
mod value;

pub use check::{JsonError, MAX_DEPTH};
pub(crate) use sink::{Escaped, hex};
pub use sink::{Sink, compact, escape, separate, simplify};
pub use text::Text;
pub use value::{Items, Json, Kind, Members};
