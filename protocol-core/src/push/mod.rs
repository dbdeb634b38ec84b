//! Push notifications: where they may go, and what is due.
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
mod rules;
mod url;

pub use rules::{Ranges, Rules};
pub use url::Url;
