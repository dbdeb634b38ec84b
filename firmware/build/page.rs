//! Puts the page together: one file of HTML with its style and its script inside, compressed, and the lines of the head
//! that belong to it.

use std::{env, fs, path::PathBuf};

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

/// Where the sources are, seen from the manifest.
const FOLDER: &str = "src/page";

/// Assembles the page from its sources into `page.gz` and `page.rs`, for src/http/page.rs.
pub(crate) fn assemble() {
    println!("cargo::rerun-if-changed={FOLDER}");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    let style = tightened(&trimmed(&source("page.css"), ""), ":;{},");
    let script = tightened(&trimmed(&source("page.js"), "\n"), "=(){}[],;:?<>&|+-*/!");
    let html = trimmed(&source("page.html"), "\n");
    let page = html.replacen("{style}", &style, 1).replacen("{script}", &script, 1);
    assert!(page.contains(&style) && page.contains(&script), "page.html has a place for each");

    let mut packed = Vec::new();
    zopfli::compress(zopfli::Options::default(), zopfli::Format::Gzip, page.as_bytes(), &mut packed)
        .expect("memory takes everything");
    let tag = Base64UrlUnpadded::encode_string(&Sha256::digest(&packed)[..9]);
    let [style, script] = [style, script].map(|text| Base64::encode_string(&Sha256::digest(text.as_bytes())));
    // Nothing from outside, nothing inline but these very bytes, and nobody puts it into a frame. The icon is a data URL:
    // without one every browser asks for /favicon.ico.
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    // Macros, as constants cannot be put together.
    let lines =
        format!("macro_rules! policy {{ () => {{ {policy:?} }} }}\nmacro_rules! tag {{ () => {{ {tag:?} }} }}\n",);
    fs::write(folder.join("page.gz"), &packed).expect("cargo's folder takes files");
    fs::write(folder.join("page.rs"), lines).expect("cargo's folder takes files");
}

fn source(name: &str) -> String {
    let path = PathBuf::from(FOLDER).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Without the spaces on either side of these characters, outside of texts and patterns.
///
/// It knows what the sources need, and no more: a pattern follows one of `(,!=>`, and no template is inside another one.
fn tightened(text: &str, around: &str) -> String {
    let mut tight = String::with_capacity(text.len());
    let mut inside = None;
    let mut depth = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let last = tight.chars().next_back();
        match inside {
            Some(_) if c == '\\' => {
                tight.push(c);
                tight.extend(chars.next());
                continue;
            }
            Some(end) if c == end => {
                assert!(end != '`' || depth == 0, "a template inside a template, behind: {tight}");
                inside = None;
            }
            Some('`') if c == '{' && last == Some('$') => depth += 1,
            Some('`') if c == '}' && depth > 0 => depth -= 1,
            Some(_) => {}
            None if matches!(c, '\'' | '"' | '`') => inside = Some(c),
            None if c == '/' && last.is_some_and(|last| "(,!=>".contains(last)) => inside = Some(c),
            None if c == ' ' => {
                let touches = |next: Option<char>| next.is_some_and(|next| around.contains(next));
                if touches(last) || touches(chars.peek().copied()) {
                    continue;
                }
            }
            None => {}
        }
        tight.push(c);
    }
    tight
}

/// Without indentation, empty lines, and lines that are a comment. More is left to the compressor: what arrives is still
/// there to be read.
fn trimmed(text: &str, between: &str) -> String {
    let is_comment = |line: &str| line.starts_with("// ") || (line.starts_with("/* ") && line.ends_with("*/"));
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line));
    lines.collect::<Vec<_>>().join(between)
}
