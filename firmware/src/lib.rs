//! Everything a Mote device does that is not a board: the HTTP edge, the shipped agents, and what they ask of a board.
//!
//! host-sim serves with these very files: what is tested on the laptop is what is flashed.
//!
//! | module | what it answers |
//! | --- | --- |
//! | [`http`] | how do requests come in and answers go out, on any socket of picoserve's |
//! | [`app`] | how does the protocol machine stand behind that edge |
//! | [`agents`] | what can be asked |
//! | [`board`] | what does a board have to give |
//! | `device` | how does all of it run on a microcontroller (with the feature of a board) |
//! | [`milli`] | how are readings counted without floats |
//! | [`simulated`] | what is measured where there is no sensor |
#![no_std]

pub mod agents;
pub mod app;
pub mod board;
#[cfg(feature = "device")]
mod device;
pub mod http;
pub mod milli;
pub mod simulated;
