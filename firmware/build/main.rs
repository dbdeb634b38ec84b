//! What is made before the firmware is compiled: the board's memory map, and the page.

mod board;
mod page;

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build");
    // What can be told of a build without looking around.
    for name in ["TARGET", "PROFILE"] {
        println!("cargo::rustc-env=MOTE_{name}={}", env::var(name).unwrap_or_default());
    }
    board::arrange();
    page::assemble();
}
