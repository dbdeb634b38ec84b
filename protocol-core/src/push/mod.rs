//! Push notifications: where they may go, and what is due.

mod rules;
mod url;

pub use rules::{Ranges, Rules};
pub use url::Url;
