//! Gives the linker the chosen board's memory map, and the scripts that its runtime wants. Without a board: nothing.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Boards, their memory maps, and the linker scripts of their runtimes in the order in which they are read.
const BOARDS: &[(&str, &str, &[&str])] = &[
    ("QEMU_ARM", "memory/qemu-arm.x", &["-Tlink.x", "-Tdefmt.x", "--nmagic"]),
    ("QEMU_RISCV", "memory/qemu-riscv.x", &["-Tmemory.x", "-Tlink.x", "-Tdefmt.x"]),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for (board, map, arguments) in BOARDS {
        if env::var_os(format!("CARGO_FEATURE_{board}")).is_none() {
            continue;
        }
        println!("cargo::rerun-if-changed={map}");
        // The top-level memory.x includes this name, and the linker looks for it along its search path.
        let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
        fs::copy(Path::new(map), folder.join("board-memory.x")).expect("the board's memory map");
        println!("cargo::rustc-link-search={}", folder.display());
        for argument in *arguments {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}
