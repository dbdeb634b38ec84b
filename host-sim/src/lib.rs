//! The laptop as one more board: what `host-sim` is made of.

mod args;
mod board;
mod keys;
mod local;
pub mod net;
mod outbound;
mod post;
mod random;
mod reach;
mod sim;
mod store;
mod welcome;

pub use self::{
    args::{Args, Asked, BadArgs, HELP},
    board::say,
    keys::{BadGrant, BadKeys},
    reach::BadTrust,
    sim::{StartError, run},
    welcome::greet,
};
