//! The board-free firmware.
#![no_std]
pub mod app;
pub mod http;
