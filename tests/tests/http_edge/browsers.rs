//! What a web page can make a browser send, and what it gets to read.

use host_sim::net::Settings;

use crate::{
    client::{Answer, Client, call, get},
    server::Server,
    toy::ANNA,
};

const PANEL: &str = "https://panel.example:8443";

fn panel(settings: &mut Settings) {
    settings.names.origins = &["http://other.example", PANEL];
}

fn ask(client: &mut Client, request: &str, headers: &str) -> Answer {
    client.send(request.replacen("Host:", &format!("{headers}Host:"), 1));
    client.answer()
}

fn cors(answer: &Answer) -> Vec<&str> {
    answer.head.lines().filter(|line| line.starts_with("Access-Control-")).collect()
}

#[test]
fn a_name_that_is_not_ours_is_refused_before_anything_runs() {
    let server = Server::start();
    let mut client = server.connect();
    for request in [call("{}"), get("/.well-known/agent.json"), get("/status"), get("/").replace("GET", "OPTIONS")] {
        for host in ["rebind.evil.example", "mote.local.evil.example", "1.2.3.4.evil.example", "mote", "localhost.x"] {
            client.send(request.replace("mote.local", host));
            let answer = client.answer();
            assert_eq!(answer.status, 421, "{host}");
            assert!(answer.body.contains("Use its IP address"), "{}", answer.body);
            assert!(!answer.body.contains(host), "{}", answer.body);
        }
        for host in ["mote.local", "MOTE.LOCAL.:8080", "127.0.0.1:80", "[::1]:8080", "localhost", "192.168.7.7"] {
            client.send(request.replace("mote.local", host));
            assert!([200, 204].contains(&client.answer().status), "{host}");
        }
    }
    let mut client = server.connect();
    client.send("GET /.well-known/agent.json HTTP/1.0\r\n\r\n");
    assert_eq!(client.answer().status, 200);
}

#[test]
fn a_target_that_names_a_host_is_checked_as_well() {
    let server = Server::start();
    let mut client = server.connect();
    for (target, host, status) in [
        ("http://mote.local/.well-known/agent.json", "mote.local", 200),
        ("http://mote.local:80/", "mote.local", 200),
        ("https://mote.local/", "Mote.local:443", 200),
        ("http://mote.local?x=y", "mote.local", 200),
        ("http://127.0.0.1/", "127.0.0.1", 200),
        ("http://evil.example/", "evil.example", 421),
        ("http://evil.example/", "mote.local", 400),
        ("http://mote.local/", "evil.example", 400),
        ("http://mote.local:81/", "mote.local", 400),
        ("http://mote.local@evil.example/", "mote.local", 400),
        ("http:///", "mote.local", 400),
    ] {
        client.send(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        let answer = client.answer();
        assert_eq!(answer.status, status, "{target} {host}");
        assert!(!answer.body.contains("evil"), "{}", answer.body);
    }
    let mut client = server.connect();
    client.send("GET http://evil.example/ HTTP/1.0\r\n\r\n");
    assert_eq!(client.answer().status, 421);
}

#[test]
fn a_page_from_elsewhere_may_not_even_ask() {
    let server = Server::guarded(|_| {});
    let mut client = server.connect();
    for origin in [
        "http://evil.example",
        "https://mote.local.evil.example",
        "http://mote.local:8080",
        "null",
        "",
        "*",
        "http://mote.local\r\nOrigin: http://mote.local",
        "http://mote.local, http://evil.example",
        PANEL,
    ] {
        let headers = format!("Authorization: Bearer {ANNA}\r\nOrigin: {origin}\r\n");
        for request in [
            call("{}"),
            get("/status"),
            get("/.well-known/agent.json"),
            get("/").replace("GET", "OPTIONS").replace("Host", "Access-Control-Request-Method: POST\r\nHost"),
        ] {
            let answer = ask(&mut client, &request, &headers);
            assert_eq!((answer.status, cors(&answer)), (403, vec![]), "{origin:?} {request}");
            assert!(answer.body.contains("origin") && !answer.body.contains("evil"), "{}", answer.body);
        }
    }
    let headers = format!("Authorization: Bearer {ANNA}\r\nOrigin: http://MOTE.local:80\r\n");
    for request in [call("{}"), get("/status")] {
        let answer = ask(&mut client, &request, &headers);
        assert_eq!((answer.status, cors(&answer), answer.field("vary")), (200, vec![], None));
    }
}

#[test]
fn pages_of_a_configured_origin_may_ask_and_read() {
    let server = Server::guarded(panel);
    let mut client = server.connect();
    let readable = [
        "Access-Control-Allow-Origin: https://panel.example:8443",
        "Access-Control-Expose-Headers: Retry-After, WWW-Authenticate",
    ];
    // The origin that is sent back is the one that was configured.
    for origin in [PANEL, "https://PANEL.example:8443"] {
        let headers = format!("Authorization: Bearer {ANNA}\r\nOrigin: {origin}\r\n");
        for (request, status) in [
            (call("{}"), 200),
            (call(r#"{"do":"stream","n":2}"#), 200),
            (call(r#"{"do":"broken","n":2}"#), 500),
            (get("/.well-known/agent.json"), 200),
            (get("/nowhere"), 404),
        ] {
            let answer = ask(&mut client, &request, &headers);
            assert_eq!((answer.status, cors(&answer)), (status, readable.to_vec()), "{request}");
            assert_eq!(answer.field("vary"), Some("Origin"));
        }
    }
    let answer = ask(&mut client, &call("{}"), &format!("Origin: {PANEL}\r\n"));
    assert_eq!((answer.status, cors(&answer)), (401, readable.to_vec()));
    // A cache must not give others what it has, nor the page what others got.
    let answer = ask(&mut client, &get("/.well-known/agent.json"), "");
    assert_eq!((answer.status, cors(&answer), answer.field("vary")), (200, vec![], Some("Origin")));
}

#[test]
fn a_browser_may_ask_first() {
    let server = Server::guarded(panel);
    let mut client = server.connect();
    let preflight = "OPTIONS / HTTP/1.1\r\nHost: mote.local\r\nAccess-Control-Request-Method: POST\r\n\
        Access-Control-Request-Headers: authorization,content-type\r\n\r\n";
    let answer = ask(&mut client, preflight, &format!("Origin: {PANEL}\r\n"));
    assert_eq!(answer.status, 204);
    assert_eq!(answer.field("access-control-allow-origin"), Some(PANEL));
    assert_eq!(answer.field("access-control-allow-methods"), Some("GET, HEAD, POST"));
    assert_eq!(
        answer.field("access-control-allow-headers"),
        Some("Authorization, Content-Type, X-API-Key, A2A-Version, A2A-Extensions, Last-Event-ID")
    );
    assert_eq!(answer.field("access-control-max-age"), Some("600"));
    assert_eq!(answer.field("access-control-allow-credentials"), None);
    // Only a browser that asks for one is told.
    let answer = ask(&mut client, preflight, "");
    assert_eq!((answer.status, cors(&answer)), (204, vec![]));
    let answer = ask(&mut client, &get("/").replace("GET", "OPTIONS"), &format!("Origin: {PANEL}\r\n"));
    assert_eq!((answer.status, answer.field("access-control-allow-methods")), (204, None));
}

#[test]
fn what_a_form_can_send_is_not_taken() {
    let server = Server::start();
    let mut client = server.connect();
    for kind in ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"] {
        client.send(call("{}").replace("application/json", kind));
        let answer = client.answer();
        assert_eq!(answer.status, 415, "{kind}");
        assert!(answer.body.contains(r#""code":-32005"#), "{}", answer.body);
    }
    client.send(call("{}").replace("Content-Type: application/json\r\n", ""));
    assert_eq!(client.answer().status, 415);
}
