//! The documents say what is so: files that they name are there, code that they show is the code.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// README, CHANGELOG, the documents, and the decisions among them.
fn documents() -> Vec<(PathBuf, String)> {
    let root = root();
    let mut paths = vec![root.join("README.md"), root.join("CHANGELOG.md"), root.join("protocol-core/README.md")];
    for folder in ["docs", "docs/decisions"] {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        paths.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// What stands between two marks, each time.
fn between<'a>(text: &'a str, open: &str, close: char) -> Vec<&'a str> {
    text.split(open).skip(1).filter_map(|rest| Some(rest.split_once(close)?.0)).collect()
}

/// Whether a word in code is meant as a path of this tree.
fn is_path(word: &str) -> bool {
    const ROOMS: [&str; 6] = ["protocol-core/", "firmware/", "host-sim/", "tests/", "docs/", ".cargo/"];
    ROOMS.iter().any(|room| word.starts_with(room))
}

#[test]
fn files_that_are_named_are_there() {
    let root = root();
    let mut looked_at = 0;
    for (document, text) in documents() {
        // What is typed into a terminal may make what it names; one block of code is no prose either.
        let prose = text.split("```").step_by(2).collect::<String>();
        for link in between(&prose, "](", ')') {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || link.contains("://") {
                continue;
            }
            looked_at += 1;
            assert!(document.parent().unwrap().join(file).exists(), "{}: {link}", document.display());
        }
        for code in prose.split('`').skip(1).step_by(2) {
            for word in code.split_whitespace() {
                // `tests/*.sh` and `{a,b}.rs` name many, `push_*` is a family; a line number is no part of a name.
                let word = word.split(['*', '{', ':', '|', '#']).next().unwrap().trim_end_matches([',', '.', ')']);
                if !is_path(word) {
                    continue;
                }
                looked_at += 1;
                let stem = root.join(word);
                let is_begun = stem.parent().is_some_and(Path::exists) && code.contains(['*', '{']);
                assert!(stem.exists() || is_begun, "{}: {word}", document.display());
            }
        }
    }
    assert!(looked_at > 50, "looked at {looked_at} names only");
}

#[test]
fn code_that_is_shown_is_the_code() {
    let mut shown = 0;
    for (document, text) in documents() {
        for (before, block) in text.split("<!-- file: ").skip(1).filter_map(|rest| rest.split_once(" -->\n```rust\n")) {
            let block = block.split_once("```").unwrap().0;
            let file = fs::read_to_string(root().join(before)).unwrap();
            // A page may tell how to change a file: then that is not what the file is, but it goes by the same names.
            if before == "firmware/src/device/agent.rs" {
                for name in
                    ["type Shipped = ", "const PROFILE: Profile<'static> = ", "fn make(", "&'static Desk) -> Shipped"]
                {
                    assert!(file.contains(name) && block.contains(name), "{}: {name}", document.display());
                }
                continue;
            }
            shown += 1;
            assert_eq!(block, file, "{}: {before}", document.display());
        }
    }
    assert!(shown >= 3, "{shown} files are shown");
}
