//! The files: header lines, a line of three dashes, a body.

use std::{fs, path::Path};

use serde_json::Value;

/// One example.
#[derive(Debug)]
pub(crate) struct Vector {
    /// `001/002-send-with-push`
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) expect: String,
    pub(crate) body: String,
}

/// All of them, in the order of the documents.
pub(crate) fn all() -> Vec<Vector> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/seeds");
    let mut vectors = Vec::new();
    for folder in ["001", "002", "003", "004", "raw"] {
        let files = fs::read_dir(root.join(folder)).expect("the folder is there");
        let mut files: Vec<_> = files.map(|file| file.expect("the folder can be read").path()).collect();
        files.sort();
        for file in files {
            let stem = file.file_stem().expect("files have names").to_string_lossy();
            let text = fs::read_to_string(&file).expect("the file can be read");
            vectors.push(Vector::parse(format!("{folder}/{stem}"), &text));
        }
    }
    assert_eq!(vectors.len(), 91);
    vectors
}

impl Vector {
    fn parse(name: String, text: &str) -> Self {
        let (head, body) = text.split_once("\n---\n").unwrap_or_else(|| panic!("{name} has no body"));
        let header = |key: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            line.unwrap_or_else(|| panic!("{name} has no {key}")).to_owned()
        };
        let (kind, expect) = (header("kind"), header("expect"));
        Self { name, kind, expect, body: body.to_owned() }
    }

    /// The JSON documents in the body: one, or one an event of a stream.
    pub(crate) fn documents(&self) -> Vec<String> {
        if self.kind != "stream" {
            return vec![self.body.clone()];
        }
        // Some events run over several lines of which only the first is marked: up to the next mark they belong to it.
        let mut documents: Vec<String> = Vec::new();
        for line in self.body.lines() {
            if let Some(data) = line.strip_prefix("data: ") {
                documents.push(data.to_owned());
            } else if let Some(document) = documents.last_mut()
                && !line.starts_with("id: ")
                && !line.starts_with("event: ")
            {
                document.push_str(line);
            }
        }
        documents
    }

    /// The request in a form that we serve: placeholders are base64.
    pub(crate) fn served(&self) -> Value {
        let body = self
            .body
            .replace("<base64-encoded-content>", "aGk=")
            .replace("iVBORw0KGgoAAAANSUhEUgAAAAUA...", "iVBORw0KGgo=");
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}
