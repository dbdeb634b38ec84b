//! Who gets in, what a stranger hears, and what happens to those who come too often.

use protocol_core::door::Rate;

use crate::{
    client::{Answer, call, get},
    server::Server,
    toy::{ANNA, BEN, KID, OTTO},
};

/// A request with further header lines.
fn with(request: &str, headers: &str) -> String {
    request.replacen("Host:", &format!("{headers}Host:"), 1)
}

fn bearer(request: &str, token: &str) -> String {
    with(request, &format!("Authorization: Bearer {token}\r\n"))
}

/// The ways to say who one is that a 401 names.
fn challenges(answer: &Answer) -> Vec<&str> {
    answer.head.lines().filter_map(|line| line.strip_prefix("WWW-Authenticate: ")).collect()
}

const EVERYBODY: [&str; 3] =
    [r#"Bearer realm="mote""#, r#"Basic realm="mote", charset="UTF-8""#, r#"ApiKey realm="mote", header="X-API-Key""#];

#[test]
fn a_token_lets_in_whichever_way_it_is_shown() {
    let server = Server::guarded(|_| {});
    let mut client = server.connect();
    for headers in [
        format!("Authorization: Bearer {ANNA}\r\n"),
        format!("authorization: bearer {BEN}\r\n"),
        // anna:anna-has-a-token
        "Authorization: Basic YW5uYTphbm5hLWhhcy1hLXRva2Vu\r\n".to_owned(),
        format!("X-API-Key: {ANNA}\r\n"),
        format!("x-api-key: {ANNA}\r\nAuthorization: Bearer {ANNA}\r\n"),
    ] {
        client.send(with(&call("{}"), &headers));
        let answer = client.answer();
        assert_eq!((answer.status, challenges(&answer)), (200, vec![]), "{headers}");
        client.send(with(&get("/status"), &headers));
        let answer = client.answer();
        assert_eq!((answer.status, answer.body.as_str()), (200, r#"{"board":"toy"}"#), "{headers}");
    }
}

#[test]
fn the_keys_are_for_everybody_and_keep_for_a_while() {
    let server = Server::guarded(|_| {});
    let mut client = server.connect();
    client.send(get("/.well-known/jwks.json"));
    let answer = client.answer();
    assert_eq!((answer.status, answer.body), (200, format!(r#"{{"keys":[{{"kid":"{KID}"}}]}}"#)));
    client.send(get("/.well-known/jwks.json").replace("GET", "HEAD"));
    let answer = client.head_only();
    assert_eq!((answer.status, answer.field("content-type")), (200, Some("application/json")));
    assert_eq!((answer.field("cache-control"), answer.field("etag")), (Some("public, max-age=300"), None));
    client.send(get("/.well-known/jwks.json").replace("GET", "POST"));
    let answer = client.answer();
    assert_eq!((answer.status, answer.field("allow")), (405, Some("GET, HEAD, OPTIONS")));
}

#[test]
fn nobody_else_is_let_in() {
    let server = Server::guarded(|settings| settings.limits.allowance.address = Rate::UNLIMITED);
    let mut client = server.connect();
    for headers in [
        String::new(),
        format!("Authorization: Bearer {ANNA}x\r\n"),
        format!("Authorization: Bearer {BEN}, {ANNA}\r\n"),
        format!("Authorization: {ANNA}\r\n"),
        format!("Authorization: Token {ANNA}\r\n"),
        format!("Authorization: Bearer {ANNA}\r\nAuthorization: Bearer {ANNA}\r\n"),
        format!("Authorization: Bearer {ANNA}\r\nX-API-Key: {BEN}\r\n"),
        // ben:anna-has-a-token
        "Authorization: Basic YmVuOmFubmEtaGFzLWEtdG9rZW4=\r\n".to_owned(),
        "Authorization: Basic ????\r\n".to_owned(),
        format!("Authorization: Bearer {}\r\n", "x".repeat(1000)),
        "X-API-Key:\r\n".to_owned(),
        format!("Cookie: token={ANNA}\r\n"),
    ] {
        for request in
            [call("{}"), get("/status"), get("/status").replace("GET", "HEAD"), get("/log?after=1"), get("/metrics")]
        {
            client.send(with(&request, &headers));
            let answer = if request.starts_with("HEAD") { client.head_only() } else { client.answer() };
            assert_eq!((answer.status, challenges(&answer)), (401, EVERYBODY.to_vec()), "{headers}");
            assert!(!answer.body.contains(ANNA), "{}", answer.body);
        }
    }
    for path in ["/status?token=", "/status?access_token=", "/status?x-api-key=", "/status?authorization=Bearer%20"] {
        client.send(get(&format!("{path}{ANNA}")));
        assert_eq!(client.answer().status, 401, "{path}");
    }
}

#[test]
fn what_is_for_everybody_needs_no_token_and_no_right_one() {
    let server = Server::guarded(|settings| settings.limits.allowance.address = Rate::UNLIMITED);
    let mut client = server.connect();
    for headers in ["", "X-API-Key: somebody-elses-token\r\n"] {
        for (request, status) in [
            (get("/.well-known/agent-card.json"), 200),
            (get("/.well-known/agent.json"), 200),
            (get("/"), 200),
            (get("/").replace("GET", "OPTIONS"), 204),
            (get("/nowhere"), 404),
            (get("/a2a"), 405),
        ] {
            client.send(with(&request, headers));
            let answer = client.answer();
            assert_eq!((answer.status, challenges(&answer)), (status, vec![]), "{request}");
        }
    }
}

#[test]
fn who_is_known_and_may_not_read_hears_that() {
    let server = Server::guarded(|_| {});
    let mut client = server.connect();
    for request in [get("/status"), get("/log"), get("/metrics"), call("{}")] {
        client.send(bearer(&request, OTTO));
        let answer = client.answer();
        assert_eq!((answer.status, challenges(&answer)), (403, vec![]), "{request}");
    }
    client.send(bearer(&get("/status"), OTTO));
    assert!(client.answer().body.contains(r#""status":"PERMISSION_DENIED""#));
}

#[test]
fn the_extended_card_is_for_those_who_are_known() {
    let server = Server::guarded(|_| {});
    let mut client = server.connect();
    let request = get("/agent/authenticatedExtendedCard");
    client.send(bearer(&request, BEN));
    let answer = client.answer();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body, r#"{"name":"toy","url":"http://mote.local/","for":"read"}"#);
    assert_eq!((answer.field("cache-control"), answer.field("etag")), (Some("no-store"), None));
    client.send(&request);
    let answer = client.answer();
    assert_eq!((answer.status, challenges(&answer)), (401, EVERYBODY.to_vec()));
    client.send(bearer(&request, OTTO));
    assert_eq!(client.answer().status, 403);
    client.send(request.replace("GET", "POST"));
    assert_eq!(client.answer().status, 405);
    // Behind an open door everybody is shown everything.
    let server = Server::start();
    let mut client = server.connect();
    client.send(&request);
    let answer = client.answer();
    assert_eq!(answer.status, 404);
    assert!(answer.body.contains("/.well-known/agent-card.json"), "{}", answer.body);
}

#[test]
fn only_the_public_card_may_be_kept() {
    let server = Server::guarded(|_| {});
    let mut client = server.connect();
    for path in ["/", "/status", "/agent/authenticatedExtendedCard", "/nowhere"] {
        for request in [get(path), bearer(&get(path), ANNA)] {
            client.send(&request);
            assert_eq!(client.answer().field("cache-control"), Some("no-store"), "{request}");
        }
    }
    client.send(bearer(&call("{}"), ANNA));
    assert_eq!(client.answer().field("cache-control"), Some("no-store"));
    client.send(get("/.well-known/agent.json"));
    assert_eq!(client.answer().field("cache-control"), Some("public, max-age=300"));
}

#[test]
fn a_script_is_not_told_of_a_way_that_opens_a_dialog() {
    let server = Server::guarded(|_| {});
    let mut client = server.connect();
    for (headers, has_basic) in [
        ("Sec-Fetch-Mode: cors\r\n", false),
        ("Sec-Fetch-Mode: no-cors\r\n", false),
        ("Sec-Fetch-Mode: navigate\r\n", true),
        ("Origin: http://mote.local\r\n", false),
    ] {
        client.send(with(&get("/status"), headers));
        let answer = client.answer();
        assert_eq!(answer.status, 401);
        assert_eq!(challenges(&answer).contains(&EVERYBODY[1]), has_basic, "{headers}");
        assert_eq!(challenges(&answer).len(), if has_basic { 3 } else { 2 }, "{headers}");
    }
}

#[test]
fn a_stranger_is_answered_in_its_dialect_if_that_takes_no_buffer_of_others() {
    let server = Server::guarded(|settings| {
        settings.bodies = 1;
        settings.limits.drain_bytes = 16 * 1024;
    });
    let mut client = server.connect();
    client.send(call(r#"{"do":"document","n":5}"#));
    let answer = client.answer();
    assert_eq!(answer.status, 401);
    assert!(answer.body.contains(r#""was":{"do":"document","n":5}"#), "{}", answer.body);
    // One that does not fit behind its head is not looked at. It holds no buffer: not even while it comes.
    let large = call(&format!("{{{}}}", " ".repeat(10_000)));
    let (begin, end) = large.split_at(5000);
    client.send(begin);
    let answer = client.answer();
    assert_eq!(answer.status, 401);
    assert!(answer.body.contains(r#""id":null,"error":{"code":-32007"#), "{}", answer.body);
    let mut anna = server.connect();
    anna.send(bearer(&large, ANNA));
    assert!(anna.answer().body.starts_with("length=10002 "));
    // The connection is kept as far as others are: what was left of the body is no request.
    client.send(end).send(bearer(&call("{}"), ANNA));
    assert_eq!(client.answer().status, 200);
    let mut client = server.connect();
    client.send(call(&format!("{{{}}}", " ".repeat(20_000))));
    let answer = client.answer();
    assert_eq!(answer.status, 401);
    answer.assert_last();
    client.assert_closed();
}

#[test]
fn a_stranger_is_not_asked_for_its_body() {
    let server = Server::guarded(|_| {});
    let mut client = server.connect();
    let request = with(&call("{}"), "Expect: 100-continue\r\n");
    client.send(&request[..request.len() - 2]);
    let answer = client.answer();
    assert_eq!(answer.status, 401);
    answer.assert_last();
    client.assert_closed();
    // Nor is it told what is wrong with it.
    let mut client = server.connect();
    client.send(call("{}").replace("application/json", "text/plain"));
    assert_eq!(client.answer().status, 401);
}

#[test]
fn strangers_who_come_too_often_hear_when_to_come_again() {
    let server = Server::guarded(|settings| {
        settings.limits.allowance.address = Rate { per_second: 1, burst: 20 };
        settings.limits.allowance.failure_cost = 15;
    });
    let mut client = server.connect();
    client.send(bearer(&call("{}"), "a-guess-at-a-token"));
    assert_eq!(client.answer().status, 401);
    // Five are left, and whatever is asked takes one.
    for (request, status) in [
        (get("/.well-known/agent.json"), 200),
        (get("/"), 200),
        (get("/").replace("GET", "OPTIONS"), 204),
        (get("/nowhere"), 404),
        (call("{}"), 401),
    ] {
        client.send(&request);
        assert_eq!(client.answer().status, status, "{request}");
    }
    for request in [
        get("/.well-known/agent.json"),
        get("/"),
        get("/").replace("GET", "OPTIONS"),
        get("/nowhere"),
        get("/status"),
        call("{}"),
        bearer(&call("{}"), "another-guess-at-it"),
    ] {
        client.send(&request);
        let answer = client.answer();
        let is_guess = request.contains("another-guess");
        let expected = if is_guess { "15" } else { "1" };
        assert_eq!((answer.status, answer.field("retry-after")), (429, Some(expected)), "{request}");
        assert!(answer.body.contains(r#""code":429,"status":"RESOURCE_EXHAUSTED""#), "{}", answer.body);
    }
    // A large body is not waited for.
    let mut sender = server.connect();
    sender.send(&call(&"x".repeat(20_000)).as_bytes()[..1000]);
    let answer = sender.answer();
    assert_eq!(answer.status, 429);
    answer.assert_last();
    // Who is known comes in all the same, and sees what everybody sees.
    for request in [call("{}"), get("/status"), get("/.well-known/agent.json")] {
        client.send(bearer(&request, ANNA));
        assert_eq!(client.answer().status, 200, "{request}");
    }
}

#[test]
fn who_is_known_is_counted_too() {
    let server = Server::guarded(|settings| settings.limits.allowance.principal = Rate { per_second: 1, burst: 3 });
    let mut client = server.connect();
    for path in ["/status", "/.well-known/agent.json", "/"] {
        client.send(bearer(&get(path), ANNA));
        assert_eq!(client.answer().status, 200);
    }
    client.send(bearer(&get("/status"), ANNA));
    let answer = client.answer();
    assert_eq!((answer.status, answer.field("retry-after")), (429, Some("1")));
    client.send(bearer(&get("/status"), BEN));
    assert_eq!(client.answer().status, 200);
}
