//! Paths, methods, types and versions.

use crate::{
    client::{Framing, call, get},
    server::Server,
    toy,
};

#[test]
fn the_card_is_at_both_paths_and_names_the_host_that_was_asked() {
    let server = Server::start();
    let mut client = server.connect();
    for path in ["/.well-known/agent-card.json", "/.well-known/agent.json", "/.well-known/agent.json?x=y"] {
        client.send(get(path));
        let answer = client.answer();
        assert_eq!((answer.status, answer.framing), (200, Framing::Length));
        assert_eq!(answer.body, r#"{"name":"toy","url":"http://mote.local/"}"#);
        assert_eq!(answer.field("content-type"), Some("application/json"));
        assert_eq!(answer.field("etag"), Some("\"toy-1\""));
        assert_eq!(answer.field("last-modified"), Some(toy::LAST_MODIFIED));
        assert_eq!(answer.field("cache-control"), Some("public, max-age=300"));
    }
}

#[test]
fn a_strange_host_is_not_reflected() {
    let server = Server::start();
    for host in ["a\"b", "a/b", "<script>", "a b", "", "a:x", "user@host"] {
        let mut client = server.connect();
        client.send(format!("GET /.well-known/agent.json HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        let answer = client.answer();
        assert_eq!(answer.status, 400, "{host}");
        assert!(host.is_empty() || !answer.body.contains(host), "{}", answer.body);
    }
}

#[test]
fn a_card_that_the_client_has_is_not_sent_again() {
    let server = Server::start();
    let mut client = server.connect();
    for (condition, status) in [
        ("If-None-Match: \"toy-1\"", 304),
        ("If-None-Match: \"other\", W/\"toy-1\"", 304),
        ("If-None-Match: *", 304),
        ("If-None-Match: \"other\"", 200),
        ("If-None-Match: \"other\"\r\nIf-Modified-Since: Wed, 18 Nov 2026 06:00:00 GMT", 200),
        ("If-Modified-Since: Wed, 18 Nov 2026 06:00:00 GMT", 304),
        ("If-Modified-Since: Thu, 19 Nov 2026 06:00:00 GMT", 304),
        ("If-Modified-Since: Wed, 18 Nov 2026 05:59:59 GMT", 200),
        ("If-Modified-Since: never", 200),
    ] {
        client.send(format!("GET /.well-known/agent.json HTTP/1.1\r\nHost: a\r\n{condition}\r\n\r\n"));
        let answer = client.answer();
        assert_eq!(answer.status, status, "{condition}");
        assert_eq!(answer.field("etag"), Some("\"toy-1\""));
    }
}

#[test]
fn the_log_is_asked_from_a_number_on_and_anything_else_is_refused() {
    let server = Server::start();
    let mut client = server.connect();
    for (query, after) in [("", 0), ("?after=7", 7), ("?x=y&after=18446744073709551615", u64::MAX), ("?after=", 0)] {
        client.send(get(&format!("/log{query}")));
        let answer = client.answer();
        assert_eq!((answer.status, answer.field("content-type")), (200, Some("application/json")), "{query}");
        assert_eq!(answer.body, format!(r#"{{"after":{after},"for":"read+act+operator"}}"#));
        assert_eq!(answer.field("cache-control"), Some("no-store"));
    }
    for query in ["?after=x", "?after=-1", "?after=1.5", "?after=18446744073709551616", "?after=%31"] {
        client.send(get(&format!("/log{query}")));
        let answer = client.answer();
        assert!(answer.status == 400 && answer.body.contains("INVALID_ARGUMENT"), "{query}: {}", answer.body);
    }
}

#[test]
fn metrics_are_text_of_the_version_that_scrapers_know() {
    let server = Server::start();
    let mut client = server.connect();
    client.send(get("/metrics"));
    let answer = client.answer();
    assert_eq!(answer.field("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert_eq!((answer.status, answer.body.as_str()), (200, "# TYPE toys gauge\ntoys 1\n"));
    client.send(get("/metrics").replace("GET", "POST"));
    let answer = client.answer();
    assert_eq!((answer.status, answer.field("allow")), (405, Some("GET, HEAD, OPTIONS")));
}

#[test]
fn where_nobody_signs_there_are_no_keys_and_the_answer_says_why() {
    let server = Server::start();
    let mut client = server.connect();
    client.send(get("/.well-known/jwks.json"));
    let answer = client.answer();
    assert_eq!((answer.status, answer.field("cache-control")), (404, Some("no-store")));
    assert!(answer.body.contains(r#""code":404"#) && answer.body.contains("without signing"), "{}", answer.body);
}

#[test]
fn head_is_get_without_the_body() {
    let server = Server::start();
    let mut client = server.connect();
    for path in ["/", "/.well-known/agent.json", "/nowhere"] {
        client.send(get(path));
        let full = client.answer();
        client.send(get(path).replace("GET", "HEAD"));
        let head = client.head_only();
        assert_eq!(head.status, full.status);
        for name in ["content-length", "content-type", "etag"] {
            assert_eq!(head.field(name), full.field(name), "{path}");
        }
    }
    // Nothing was left behind.
    client.send(call("{}"));
    assert_eq!(client.answer().status, 200);
}

#[test]
fn methods_and_paths_that_are_not_there_are_told_apart() {
    let server = Server::start();
    let mut client = server.connect();
    for (line, status, allow) in [
        ("OPTIONS /", 204, Some("GET, HEAD, POST, OPTIONS")),
        ("OPTIONS *", 204, Some("GET, HEAD, POST, OPTIONS")),
        ("OPTIONS /.well-known/agent.json", 204, Some("GET, HEAD, OPTIONS")),
        ("DELETE /", 405, Some("GET, HEAD, POST, OPTIONS")),
        ("POST /.well-known/agent.json", 405, Some("GET, HEAD, OPTIONS")),
        ("GET /a2a", 405, Some("POST, OPTIONS")),
        ("GET /nowhere", 404, None),
        ("POST /nowhere", 404, None),
        ("GET /%2E", 404, None),
        ("GET /", 200, None),
    ] {
        client.send(format!("{line} HTTP/1.1\r\nHost: a\r\n\r\n"));
        let answer = client.answer();
        assert_eq!((answer.status, answer.field("allow")), (status, allow), "{line}");
        assert_eq!(answer.body.contains(&format!(r#""code":{status}"#)), status >= 400, "{}", answer.body);
    }
}

#[test]
fn a_call_says_that_it_is_json() {
    let server = Server::start();
    let mut client = server.connect();
    for (content_type, body, status) in [
        ("Content-Type: application/json\r\n", "{}", 200),
        ("Content-Type: application/json\r\n", "not json: the core's to say", 200),
        ("content-type: Application/JSON ; charset=utf-8\r\n", "{}", 200),
        ("Content-Type: application/a2a+json\r\n", "{}", 200),
        ("", "{}", 415),
        ("", "x", 415),
        ("", "", 415),
        ("Content-Type: text/plain\r\n", "{}", 415),
        ("Content-Type: application/jsonx\r\n", "{}", 415),
        ("Content-Type:\r\n", "{}", 415),
        ("Content-Type: application/json\r\nContent-Type: text/plain\r\n", "{}", 415),
        ("Content-Type: text/plain\r\nContent-Type: application/json\r\n", "{}", 415),
    ] {
        client.send(format!(
            "POST /rpc HTTP/1.1\r\nHost: a\r\n{content_type}Content-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        let answer = client.answer();
        assert_eq!(answer.status, status, "{content_type}{body}");
        if status == 415 {
            assert!(answer.body.contains(r#""id":null,"error":{"code":-32005"#), "{}", answer.body);
        }
    }
}

#[test]
fn a_call_carries_what_its_head_says() {
    let server = Server::start();
    let mut client = server.connect();
    for (path, headers, says) in [
        ("/", "", "version=None extensions=None last=None"),
        ("/", "A2A-Version: 1.0\r\n", "version=Some(\"1.0\") extensions=None last=None"),
        ("/?A2A-Version=0.3", "", "version=Some(\"0.3\") extensions=None last=None"),
        ("/?A2A-Version=0.3", "a2a-version: 1.0\r\n", "version=Some(\"1.0\") extensions=None last=None"),
        ("/", "A2A-Version:\r\n", "version=None extensions=None last=None"),
        (
            "/",
            "A2A-Extensions: https://a, https://b\r\n",
            "version=None extensions=Some(\"https://a, https://b\") last=None",
        ),
        ("/", "X-A2A-Extensions: https://a\r\n", "version=None extensions=Some(\"https://a\") last=None"),
        ("/a2a", "Last-Event-ID: 7\r\n", "version=None extensions=None last=Some(\"7\")"),
    ] {
        client.send(format!("POST {path} HTTP/1.1\r\nHost: a\r\n{headers}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"));
        assert_eq!(client.answer().body, format!("length=2 {says}"), "{path} {headers}");
    }
}

#[test]
fn a_connection_is_kept_until_the_client_is_done_with_it() {
    let server = Server::start();
    let mut client = server.connect();
    for _ in 0..50 {
        client.send(call("{}"));
        assert_eq!(client.answer().field("connection"), Some("keep-alive"));
    }
    for connection in ["close", "Close", "keep-alive, close", "Upgrade, HTTP2-Settings"] {
        let mut client = server.connect();
        client.send([call("{}").replace("Host:", &format!("Connection: {connection}\r\nHost:")), get("/")].concat());
        client.answer().assert_last();
        client.assert_closed();
    }
}
