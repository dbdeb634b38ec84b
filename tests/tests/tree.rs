//! The tree keeps its promises: versions are named in one folder only, the core stays what it says it is.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

#[test]
fn outside_the_dialects_no_code_names_a_version() {
    let root = root();
    let mut looked_at = 0;
    for folder in ["protocol-core/src", "firmware/src"] {
        for (path, text) in sources(&root.join(folder)) {
            let is_test = path.file_name().is_some_and(|name| name == "tests.rs");
            if is_test || path.components().any(|part| part.as_os_str() == "dialect") {
                continue;
            }
            looked_at += 1;
            let code = text.split("#[cfg(test)]").next().unwrap();
            for (number, line) in code.lines().enumerate() {
                let code = line.split("//").next().unwrap();
                for version in ["v0_1", "v0_2", "v0_3", "v1_0", "\"0.1", "\"0.2", "\"0.3", "\"1.0"] {
                    assert!(!code.contains(version), "{}:{}: {line}", path.display(), number + 1);
                }
            }
        }
    }
    assert!(looked_at > 30, "looked at {looked_at} files only");
}

#[test]
fn the_core_has_no_heap_no_std_and_no_unsafe() {
    let root = root().join("protocol-core");
    let lib = fs::read_to_string(root.join("src/lib.rs")).unwrap();
    assert!(lib.contains("#![no_std]") && lib.contains("#![forbid(unsafe_code)]"));
    for (path, text) in sources(&root.join("src")) {
        let code = text.split("#[cfg(test)]").next().unwrap();
        for word in
            ["extern crate alloc", "extern crate std", "std::", "todo!", "unimplemented!", "panic!", "unreachable!"]
        {
            let is_test = path.file_name().is_some_and(|name| name == "tests.rs");
            assert!(is_test || !code.contains(word), "{}: {word}", path.display());
        }
    }
}
