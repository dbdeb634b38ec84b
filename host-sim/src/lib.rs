//! The laptop as one more board: what `host-sim` is made of.

mod args;
mod board;
mod keys;
pub mod net;
mod outbound;
mod post;
mod random;
mod sim;
mod store;
mod welcome;

pub use self::{
    args::{Args, Asked, BadArgs, HELP},
    board::say,
    keys::{BadGrant, BadKeys},
    sim::{StartError, run},
    welcome::greet,
};
