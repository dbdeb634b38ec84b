//! Golden files: what goes in, what comes out, byte for byte. The files are in `tests/golden`, see the README there.

mod judge;
mod play;

use std::{
    fs,
    path::{Path, PathBuf},
};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

/// Plays every file of a folder. With `MOTE_BLESS=1` what comes out is written into the file instead.
fn play_all(name: &str, at_least: usize) {
    let mut files: Vec<PathBuf> = fs::read_dir(folder(name))
        .expect("the folder is there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "golden"))
        .collect();
    files.sort();
    assert!(files.len() >= at_least, "{name} has {} files only", files.len());
    let bless = std::env::var_os("MOTE_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in files {
        let written = fs::read_to_string(&path).expect("the file can be read");
        assert!(written.starts_with("# "), "{}: the first line says why", path.display());
        let played = play::play(&path.display().to_string(), &written);
        if bless && played != written {
            fs::write(&path, played).expect("the file can be written");
        } else if played != written {
            wrong.push(first_difference(&path, &written, &played));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} files differ", wrong.join("\n"), wrong.len());
}

fn first_difference(path: &Path, written: &str, played: &str) -> String {
    let mut lines = written.lines().zip(played.lines()).enumerate();
    let (number, (expected, found)) = lines
        .find(|(_, (expected, found))| expected != found)
        .unwrap_or((written.lines().count().min(played.lines().count()), ("(the end)", "(the end)")));
    format!("{}:{}\n  written: {expected}\n   played: {found}", path.display(), number + 1)
}

#[test]
fn the_oldest_dialect_answers_as_written() {
    play_all("0.1", 20);
}

#[test]
fn the_middle_dialect_answers_as_written() {
    play_all("0.3", 20);
}

#[test]
fn the_newest_dialect_answers_as_written() {
    play_all("1.0", 25);
}

#[test]
fn errors_are_told_as_written() {
    play_all("errors", 10);
}

#[test]
fn what_is_made_in_one_dialect_reads_in_the_others_as_written() {
    play_all("cross", 5);
}

#[test]
fn who_may_what_is_told_as_written() {
    play_all("door", 10);
}
