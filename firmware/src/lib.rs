//! Everything a Mote device does that is not a board: the HTTP edge, the shipped agents, and what they ask of a board.
//!
//! host-sim serves with these very files: what is tested on the laptop is what is flashed.
//!
//! | module | what it answers |
//! | --- | --- |
//! | [`http`] | how do requests come in and answers go out, on any socket of picoserve's |
//! | [`outbound`] | how does the device call others, and whom does it believe |
//! | [`app`] | how does the protocol machine stand behind that edge |
//! | [`agents`] | what can be asked |
//! | `bench` | how is an agent tested in virtual time (with the feature `bench`) |
//! | [`board`] | what does a board have to give |
//! | `device` | how does all of it run on a microcontroller (with the feature of a board) |
//! | `entropy` | what is chance made of where the chip has little (RP2040 and RP2350) |
//! | [`store`] | what is kept beyond a restart, and how |
//! | [`push`] | how do notifications get to those who asked for them |
//! | [`keyring`] | who is known beyond a restart, and where do their tokens come from |
//! | [`naming`] | which names does it go by, and whose pages may ask it |
//! | [`mdns`] | how is it found by a name in the local network |
//! | [`reach`] | whom may it call |
//! | [`roots`] | whom does it believe who a server is |
//! | [`pem`] | how are certificates typed |
//! | [`signing`] | how can a receiver of notifications tell who has sent them |
//! | [`wifi`] | how does a device join a network and stay in it |
//! | [`console`] | what can be typed on the serial line |
//! | [`reset`] | why did the device start |
//! | [`watchdog`] | who has to come round, and by when |
//! | [`status`] | how is the device |
//! | [`recent`] | what happened lately |
//! | [`metrics`] | what was counted |
//! | [`milli`] | how are readings counted without floats |
//! | [`simulated`] | what is measured where there is no sensor |
#![no_std]
// A text that is cut in the middle of a character panics with all of Unicode's rules for printing it: 4 KiB of flash.
#![cfg_attr(not(test), warn(clippy::string_slice))]

// A skill that was written outside of this crate reads the same inside: docs/your-first-skill.md.
extern crate self as firmware;

pub mod agents;
pub mod app;
#[cfg(any(test, feature = "bench"))]
pub mod bench;
pub mod board;
pub mod console;
#[cfg(feature = "device")]
mod device;
#[cfg(any(feature = "rp", test))]
mod entropy;
pub mod http;
pub mod keyring;
pub mod mdns;
pub mod metrics;
pub mod milli;
pub mod naming;
pub mod outbound;
pub mod pem;
mod pieces;
pub mod push;
pub mod reach;
pub mod recent;
pub mod reset;
pub mod roots;
pub mod signing;
pub mod simulated;
pub mod status;
pub mod store;
pub mod watchdog;
pub mod wifi;
