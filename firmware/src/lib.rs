//! The board-free firmware.
#![no_std]
pub mod app;
pub mod agents;
pub mod board;
pub mod http;
pub mod milli;
