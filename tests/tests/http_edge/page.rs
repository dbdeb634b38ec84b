//! The page for browsers: who gets it, what its head says, and that the policy is for these very bytes.

use std::{fs, path::Path};

use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};

use crate::{
    client::{Answer, Client, call, field, get},
    server::Server,
};

/// What Chromium sends with the request for a page.
const BROWSER: &str = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8\r\n\
    Accept-Encoding: gzip, deflate\r\n";

fn with(request: &str, headers: &str) -> String {
    request.replacen("Host:", &format!("{headers}Host:"), 1)
}

/// The head of the page, and the page as it was before it was compressed.
fn page(client: &mut Client) -> (String, Vec<u8>, String) {
    client.send(with(&get("/"), &format!("{BROWSER}Connection: close\r\n")));
    let (status, head) = client.head();
    assert_eq!(status, 200);
    let packed = client.rest();
    let html = miniz_oxide::inflate::decompress_to_vec(&packed[10..packed.len() - 8]).expect("it is gzip");
    (head, packed, String::from_utf8(html).expect("it is text"))
}

fn inside<'p>(page: &'p str, tag: &str) -> &'p str {
    let [begin, end] = [format!("<{tag}>"), format!("</{tag}>")];
    assert_eq!((page.matches(&begin).count(), page.matches(&end).count()), (1, 1), "one {tag}");
    let (_, rest) = page.split_once(&begin).expect("its begin");
    rest.split_once(&end).expect("its end").0
}

#[test]
fn a_browser_gets_the_page_and_its_head_is_strict() {
    let server = Server::guarded(|_| {});
    let (head, packed, html) = page(&mut server.connect());
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>"), "{html}");
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("content-encoding", "gzip"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("vary", "Accept, Accept-Encoding"),
        ("cache-control", "no-cache"),
    ] {
        assert_eq!(field(&head, name), Some(value));
    }
    assert_eq!(field(&head, "content-length"), Some(packed.len().to_string().as_str()));
    let [style, script] = ["style", "script"].map(|tag| Base64::encode_string(&Sha256::digest(inside(&html, tag))));
    assert_eq!(
        field(&head, "content-security-policy"),
        Some(
            format!(
                "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:; \
                 connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            )
            .as_str()
        )
    );
}

#[test]
fn all_of_it_is_at_most_12_kilobytes_on_the_wire() {
    let server = Server::start();
    let (head, packed, _) = page(&mut server.connect());
    // `head` ends where the empty line begins.
    let wire = head.len() + 4 + packed.len();
    assert!(wire <= 12 * 1024, "{wire} bytes");
}

#[test]
fn who_asks_for_something_else_gets_a_few_words() {
    let server = Server::start();
    let mut client = server.connect();
    for headers in [
        "",
        "Accept: */*\r\n",
        "Accept: text/html\r\n",
        "Accept: text/html\r\nAccept-Encoding: br, deflate\r\n",
        "Accept: text/html\r\nAccept-Encoding: gzip;q=0\r\n",
        "Accept: text/html;q=0, */*\r\nAccept-Encoding: gzip\r\n",
        "Accept: */*\r\nAccept-Encoding: gzip, deflate, br\r\n",
        "Accept: application/json, text/event-stream\r\nAccept-Encoding: gzip\r\n",
    ] {
        client.send(with(&get("/"), headers));
        let answer = client.answer();
        assert_eq!((answer.status, answer.field("content-type")), (200, Some("text/plain")), "{headers}");
        assert!(answer.body.starts_with("This is a Mote") && answer.body.contains("in a browser"), "{}", answer.body);
        assert_eq!(answer.field("vary"), Some("Accept, Accept-Encoding"));
        assert_eq!((answer.field("cache-control"), answer.field("content-encoding")), (Some("no-store"), None));
    }
}

#[test]
fn a_page_that_the_browser_has_is_not_sent_again() {
    let server = Server::start();
    let (head, ..) = page(&mut server.connect());
    let tag = field(&head, "etag").expect("a tag").to_owned();
    let mut client = server.connect();
    for (condition, status) in
        [(tag.clone(), 304), (format!("\"other\", W/{tag}"), 304), ("*".to_owned(), 304), ("\"toy-1\"".to_owned(), 200)]
    {
        client.send(with(&get("/"), &format!("{BROWSER}If-None-Match: {condition}\r\n")).replace("GET", "HEAD"));
        let answer = client.head_only();
        assert_eq!((answer.status, answer.field("etag")), (status, Some(tag.as_str())), "{condition}");
        assert_eq!(answer.field("vary"), Some("Accept, Accept-Encoding"));
    }
    // Words have no version, and a date says nothing about the page.
    client.send(with(&get("/"), &format!("If-None-Match: {tag}\r\n")));
    assert_eq!(client.answer().status, 200);
}

#[test]
fn the_head_of_the_page_comes_alone_too_and_the_connection_is_kept() {
    let server = Server::start();
    let (head, ..) = page(&mut server.connect());
    let mut client = server.connect();
    client.send(with(&get("/"), BROWSER).replace("GET", "HEAD"));
    let answer = client.head_only();
    for name in ["content-length", "content-type", "content-encoding", "content-security-policy", "etag"] {
        assert_eq!(answer.field(name), field(&head, name));
    }
    assert_eq!(answer.field("connection"), Some("keep-alive"));
    client.send(with(&call("{}"), BROWSER));
    let answer: Answer = client.answer();
    assert_eq!((answer.status, answer.field("content-type")), (200, Some("application/json")));
}

#[test]
fn a_page_from_elsewhere_and_a_strange_name_do_not_get_it() {
    let server = Server::start();
    let mut client = server.connect();
    client.send(with(&get("/"), &format!("{BROWSER}Origin: http://evil.example\r\n")));
    assert_eq!(client.answer().status, 403);
    client.send(with(&get("/"), BROWSER).replace("mote.local", "rebind.evil.example"));
    assert_eq!(client.answer().status, 421);
}

/// What a task or a log says is never markup, whoever changes the page next.
#[test]
fn the_sources_of_the_page_have_no_way_to_make_markup_of_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/src/page");
    let [html, css, js] =
        ["html", "css", "js"].map(|end| fs::read_to_string(folder.join(format!("page.{end}"))).expect("a source"));
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "DOMParser",
        "createContextualFragment",
        "srcdoc",
        "eval(",
        "Function(",
        "import(",
        "setTimeout('",
        "javascript:",
        "EventSource",
    ] {
        assert!(!js.contains(word) && !html.contains(word), "{word}");
    }
    for word in [" on", " style=", "src=", "http-equiv"] {
        let tags = html.split('<').filter_map(|piece| piece.split('>').next());
        assert!(tags.clone().count() > 20 && tags.clone().all(|tag| !tag.contains(word)), "{word}");
    }
    // The name of SVG is the one address in it, and fetches nothing.
    for text in [&html, &css, &js] {
        assert_eq!(text.matches("//").count(), text.matches("http://www.w3.org/2000/svg").count() + comments(text));
    }
    assert!(!css.contains("url(") && !css.contains("@import"));
}

fn comments(text: &str) -> usize {
    text.lines().filter(|line| line.trim_start().starts_with("// ")).count()
}
