//! The agent of docs/your-first-skill.md, on this machine: `cargo run -p host-sim --example relay`.

mod relay;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

fn main() -> ExitCode {
    host_sim::serve(|board| relay::Relay { board, is_on: false.into() })
}
