//! Gives the linker the chosen board's memory map, and the scripts that its runtime wants. Without a board: nothing.
//!
//! Nothing but the standard library: tests/full.sh asks it alone about two boards in one image.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A board, by its feature: its memory map, and the linker's arguments in the order in which they are read.
struct Board {
    feature: &'static str,
    /// Included by the top-level memory.x; nothing where the board's runtime brings one.
    map: Option<&'static str>,
    arguments: &'static [&'static str],
}

const BOARDS: &[Board] = &[
    Board { feature: "core-alone", map: None, arguments: &["--entry=start", FOLD] },
    Board {
        feature: "qemu-arm",
        map: Some("memory/qemu-arm.x"),
        arguments: &["-Tlink.x", "-Tdefmt.x", "--nmagic", FOLD],
    },
    Board {
        feature: "qemu-riscv",
        map: Some("memory/qemu-riscv.x"),
        arguments: &["-Tmemory.x", "-Tlink.x", "-Tdefmt.x", FOLD],
    },
    Board { feature: "w5500-pico", map: Some("memory/rp2040.x"), arguments: RP2040 },
    Board { feature: "pico-w", map: Some("memory/rp2040.x"), arguments: RP2040 },
    Board { feature: "pico2-w", map: Some("memory/rp2350.x"), arguments: &["--nmagic", "-Tlink.x", "-Tdefmt.x", FOLD] },
    Board { feature: "esp32c3", map: Some("memory/esp32c3.x"), arguments: &["-Tlinkall.x", "-Tdefmt.x"] },
    Board { feature: "esp32c6", map: Some("memory/esp32c6.x"), arguments: &["-Tlinkall.x", "-Tdefmt.x"] },
];

const RP2040: &[&str] = &["--nmagic", "-Tlink.x", "-Tlink-rp.x", "-Tdefmt.x", FOLD];

/// Functions that are the same byte by byte are linked once. Not for the ESP32: esp-hal looks at the addresses of handlers.
const FOLD: &str = "--icf=all";

/// Arranges what the linker of the chosen board wants.
pub(crate) fn arrange() {
    let chosen: Vec<&Board> = BOARDS.iter().filter(|board| is_chosen(board.feature)).collect();
    let [board] = chosen[..] else {
        if !chosen.is_empty() {
            // Before any crate complains in words of its own; src/board.rs says it once more.
            let names: Vec<_> = chosen.iter().map(|board| board.feature).collect();
            println!("cargo::error=an image is for one board: choose one of the features {}", names.join(", "));
        }
        return;
    };
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    if let Some(map) = board.map {
        println!("cargo::rerun-if-changed={map}");
        // The top-level memory.x includes this name, and the linker looks for it along its search path.
        fs::copy(Path::new(map), folder.join("board-memory.x")).expect("the board's memory map");
        println!("cargo::rustc-link-search={}", folder.display());
    }
    for argument in board.arguments {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    if is_chosen("cyw43") {
        let source = nvram_crate().join("src/nvram.rs");
        fs::copy(&source, folder.join("nvram.rs")).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    }
}

/// The folder of the crate whose source has what the radio of the Pico W has to know about its board.
///
/// Cargo finds it, in the version and with the checksum that Cargo.lock says. The flag makes it a dependency, for this
/// question only.
fn nvram_crate() -> PathBuf {
    let target = env::var("TARGET").expect("cargo says for what");
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo says who it is"));
    cargo.args(["metadata", "--format-version=1", "--locked", "--filter-platform", &target]);
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", "--cfg mote_nvram");
    let output = cargo.output().expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata, which knows where cyw43 0.6.0 is: {errors}");
    let metadata = String::from_utf8_lossy(&output.stdout);
    let (_, package) = metadata.split_once(NVRAM_PACKAGE).expect("Cargo.toml names cyw43 0.6.0");
    let (_, path) = package.split_once("\"manifest_path\":\"").expect("a package has a manifest");
    let (path, _) = path.split_once('"').expect("JSON closes its quotes");
    // A backslash in JSON is two.
    PathBuf::from(path.replace("\\\\", "\\")).parent().expect("a manifest is in a folder").to_path_buf()
}

const NVRAM_PACKAGE: &str = "\"name\":\"cyw43\",\"version\":\"0.6.0\"";

fn is_chosen(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"))).is_some()
}
