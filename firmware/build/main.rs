//! What is made before the firmware is compiled: the board's memory map, and the page.

mod board;
mod page;

fn main() {
    println!("cargo::rerun-if-changed=build");
    board::arrange();
    page::assemble();
}
