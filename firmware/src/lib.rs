//! The board-free firmware.
#![no_std]
pub mod http;
