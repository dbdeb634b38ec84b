//! The HTTP edge over raw sockets, with a toy behind it: every trap that EMBEDDED.md names, and what a client may do wrong.

mod answers;
mod browsers;
mod clock;
mod door;
mod framing;
mod page;
mod routes;
mod server;
mod sharing;
mod toy;

use mote_tests::client;
