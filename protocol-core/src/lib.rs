#![doc = include_str!("../README.md")]
#![no_std]
// A text that is cut in the middle of a character panics with all of Unicode's rules for printing it: 4 KiB of flash.
#![cfg_attr(not(test), warn(clippy::string_slice))]
// Nothing that a peer sends makes it panic: docs/decisions/0016-no-panic-from-a-peer.md.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]
#![forbid(unsafe_code)]

mod agent;
pub mod client;
pub mod config;
mod dialect;
pub mod door;
mod encode;
mod engine;
mod fmt;
#[cfg(fuzzing)]
pub mod fuzzing;
mod journal;
pub mod json;
mod log;
mod model;
mod node;
pub mod push;
mod reply;
mod rpc;
mod tally;
pub mod time;
mod trace;
pub mod words;

pub use agent::{
    Agent, Artifact, Data, Done, Examples, Pause, Reference, Request, Said, SkillText, Skilled, Stopped, TaskCx,
};
pub use dialect::Served;
pub use engine::{Engine, Limits, Piece, Storage};
pub use journal::{JournalStorage, Level, Line, Note};
pub use model::{Access, Argument, FaultKind, Outside, Profile, Provider, Skill};
pub use node::{Identity, Inbound, Node};
pub use reply::{Broken, Reply};
pub use tally::{Asked, Tally, Usage};
pub use trace::{Trace, TraceParent};
