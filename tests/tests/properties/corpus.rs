//! Requests to start from: every one of the golden files and of the seeds.

use std::{fs, path::Path};

/// Well over two hundred bodies, in no special order.
pub(crate) fn requests() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut bodies = Vec::new();
    for folder in ["0.1", "0.3", "1.0", "cross", "errors"] {
        for text in texts(&root.join(folder)) {
            let lines = text.lines().filter_map(|line| {
                let (name, body) = line.split_once("> ")?;
                name.bytes().all(|byte| byte.is_ascii_lowercase()).then_some(body)
            });
            bodies.extend(lines.map(str::to_owned));
        }
    }
    for folder in ["001", "002", "003", "004"] {
        let texts = texts(&root.join("seeds").join(folder));
        let requests = texts.iter().filter(|text| text.contains("\nkind: request\n"));
        bodies.extend(requests.filter_map(|text| text.split_once("\n---\n")).map(|(_, body)| body.to_owned()));
    }
    bodies.sort();
    bodies.dedup();
    assert!(bodies.len() > 200, "{} requests only", bodies.len());
    bodies
}

fn texts(folder: &Path) -> Vec<String> {
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the folder is there").map(|file| file.expect("it can be read").path()).collect();
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).expect("it can be read")).collect()
}
