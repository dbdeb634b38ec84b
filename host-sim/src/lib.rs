//! The laptop as one more board: what `host-sim` is made of.

mod args;
mod board;
mod keys;
mod local;
pub mod net;
mod outbound;
mod own;
mod post;
mod program;
mod random;
mod reach;
mod sim;
mod store;
pub mod terminal;
mod welcome;

pub use self::{
    args::{Args, Asked, BadArgs, HELP},
    board::{SimBoard, say},
    keys::{BadGrant, BadKeys},
    own::{Own, serve},
    program::program,
    reach::BadTrust,
    sim::{StartError, run},
    welcome::greet,
};
