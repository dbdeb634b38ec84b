//! A Mote on this machine: the firmware's library on tokio's sockets, with simulated sensors.

use std::process::ExitCode;

fn main() -> ExitCode {
    host_sim::program(None)
}
