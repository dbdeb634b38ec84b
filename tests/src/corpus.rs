//! Requests to start from: every one of the golden files and of the seeds.

use std::{fs, path::Path};

/// What a client sent, with the headers that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `A2A-Version`.
    pub version: Option<String>,
    /// `Last-Event-ID`.
    pub last_event_id: Option<String>,
    /// The body.
    pub body: String,
    /// Milliseconds that pass behind it.
    pub pause: u64,
}

/// The conversations of the golden files, each with its requests in order.
pub fn conversations() -> Vec<Vec<Request>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut all = Vec::new();
    for folder in ["0.1", "0.3", "1.0", "cross", "errors"] {
        all.extend(texts(&root.join(folder)).iter().map(|text| conversation(text)));
    }
    all
}

fn conversation(text: &str) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    let mut next = Request::default();
    for line in text.lines() {
        if let Some(version) = line.strip_prefix("version: ") {
            next.version = Some(version.to_owned());
        } else if let Some(id) = line.strip_prefix("last-event-id: ") {
            next.last_event_id = Some(id.to_owned());
        } else if let Some((_, body)) = line.split_once("> ").filter(|(name, _)| is_name(name)) {
            requests.push(Request { body: body.to_owned(), ..core::mem::take(&mut next) });
        } else if let (Some(millis), Some(last)) = (line.strip_prefix("advance "), requests.last_mut()) {
            last.pause = millis.parse().expect("milliseconds");
        }
    }
    requests
}

fn is_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Well over two hundred bodies, in no special order.
pub fn requests() -> Vec<String> {
    let mut bodies: Vec<String> = conversations().into_iter().flatten().map(|request| request.body).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/seeds");
    for folder in ["001", "002", "003", "004"] {
        let texts = texts(&root.join(folder));
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
