//! Scenarios in virtual time: scripts of what clients do and when, over engine, dialects and encoder.

mod support;

mod cancel;
mod capacity;
mod door;
mod life;
mod operations;
mod push;
mod push_limits;
mod push_retries;
mod streams;
mod turns;
