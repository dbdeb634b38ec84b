//! A whole device from outside, by its base URL, as a client meets it:
//!
//! ```sh
//! cargo test -p mote-tests --test end_to_end                  # a simulated board, started here
//! tests/end-to-end.sh http://127.0.0.1:8080                   # a board that is there, or host-sim --preset pico
//! ```
//!
//! What is expected is what the shipped sensor node does with the limits of a small board. The cases take turns, as a
//! board has few sockets, and leave nothing behind that runs.

mod board;
mod calibrate;
mod cancel;
mod card;
mod connection;
mod dialects;
mod door;
mod errors;
mod follow_up;
mod hear;
mod read;
mod reboot;
mod resume;
mod sharing;
mod stream;
mod talk;
mod watch;

use mote_tests::client;
