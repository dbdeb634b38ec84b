//! One sender, one task, and webhooks that are a list of answers.

extern crate std;

use core::{
    cell::{Cell, RefCell},
    future::pending,
    net::{IpAddr, SocketAddr},
    pin::pin,
    task::{Context, Poll, Waker},
};
use std::{
    collections::VecDeque,
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use protocol_core::{
    Engine, Identity, Inbound, Served, Storage,
    door::Door,
    push::{Challenge, PushStorage, Webhooks},
    time::Clock,
};

use super::*;
use crate::{
    agents::sensor,
    outbound::{ADDRESSES, Ending, Unreachable},
    simulated::SplitMix,
};

const RULES: Rules<'static> = Rules { plain_http: true, ..Rules::STRICT };
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Millis {
        Millis(0)
    }
}

/// Answers each call with the next of its answers; `{token}` is the token that it was asked with.
#[derive(Default)]
struct Hooks {
    answers: RefCell<VecDeque<&'static str>>,
    calls: RefCell<Vec<String>>,
}

impl Network for Hooks {
    type Socket<'n> = Call<'n>;

    async fn resolve(&self, _: &str) -> Result<heapless::Vec<IpAddr, ADDRESSES>, Unreachable> {
        Ok([IpAddr::from([9, 9, 9, 1])].into_iter().collect())
    }

    async fn connect(&self, _: usize, _: SocketAddr) -> Result<Call<'_>, Unreachable> {
        self.calls.borrow_mut().push(String::new());
        Ok(Call { hooks: self, is_answered: Cell::new(false) })
    }

    async fn hang_up<'n>(&'n self, _: Call<'n>, _: Ending) {}

    async fn sleep(&self, _: Millis) {
        pending().await
    }

    fn is_own(&self, _: IpAddr, _: u16) -> bool {
        false
    }
}

struct Call<'n> {
    hooks: &'n Hooks,
    is_answered: Cell<bool>,
}

impl ErrorType for Call<'_> {
    type Error = ErrorKind;
}

impl Read for Call<'_> {
    async fn read(&mut self, out: &mut [u8]) -> Result<usize, ErrorKind> {
        if self.is_answered.replace(true) {
            return Ok(0);
        }
        let heard = self.hooks.calls.borrow().last().cloned().unwrap_or_default();
        let token = heard.split("validationToken=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or("");
        let answer = self.hooks.answers.borrow_mut().pop_front().unwrap_or(OK).replace("{token}", token);
        out[..answer.len()].copy_from_slice(answer.as_bytes());
        Ok(answer.len())
    }
}

impl Write for Call<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        let text = core::str::from_utf8(bytes).expect("all of it is text");
        self.hooks.calls.borrow_mut().last_mut().expect("it was connected").push_str(text);
        Ok(bytes.len())
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// What came of a call.
type Came = (Result<u16, Miss>, Outcome);

/// What webhooks were called with, and what came of it, when a task has been submitted.
fn tell(body: &str, answers: &[&'static str]) -> (Vec<String>, Vec<Came>) {
    tell_traced(None, body, answers)
}

fn tell_traced(traceparent: Option<&str>, body: &str, answers: &[&'static str]) -> (Vec<String>, Vec<Came>) {
    let hooks = Hooks { answers: RefCell::new(answers.iter().copied().collect()), ..Hooks::default() };
    let (mut storage, mut chance) = (Storage::<2, 64, 1, 1>::new(), SplitMix::new(1));
    let mut places = PushStorage::<2, 1>::new();
    let mut engine = Engine::new(&mut storage, &mut chance);
    engine.set_push(&mut places, Webhooks { rules: RULES, challenge: Challenge::ByDialect });
    let identity = Identity { profile: sensor::PROFILE, url: None, served: Served::ALL };
    let node = Node::new(engine, Door::open_to_all(), &Stopped, identity);
    drop(node.call(&Inbound { traceparent, body: body.as_bytes(), ..Inbound::GUEST }));

    let attempts = RefCell::new(Vec::new());
    let post = Post { node: &node, network: &hooks, rules: &RULES, roots: &[], signer: None, issuer: None };
    let mut rooms = Rooms { pieces: &mut vec![0; 512], received: &mut [], sent: &mut [] };
    let tell = |attempt: &Attempt<'_>| attempts.borrow_mut().push((attempt.result, attempt.outcome));
    let sending = pin!(post.run(0, &mut rooms, tell));
    assert!(matches!(sending.poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
    (hooks.calls.take(), attempts.take())
}

fn newest(config: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"m","role":"ROLE_USER",
        "parts":[{{"text":"x"}}]}},"configuration":{{"returnImmediately":true,"taskPushNotificationConfig":
        {{"url":"http://hook.example/a"{config}}}}}}}}}"#
    )
}

fn oldest() -> String {
    r#"{"id":1,"method":"tasks/send","params":{"id":"t","message":{"role":"user","parts":[{"type":"text","text":"x"}]},
        "pushNotification":{"url":"http://hook.example/a"}}}"#
        .to_string()
}

#[test]
fn an_answer_comes_to_what_it_says() {
    let asked = Outcome::Failed { retry_after: Some(Millis(7_000)) };
    let failed = Outcome::Failed { retry_after: None };
    for (answer, status, outcome) in [
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, Outcome::Delivered),
        ("HTTP/1.1 302 Found\r\nLocation: http://9.9.9.9/\r\nContent-Length: 0\r\n\r\n", 302, failed),
        ("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", 410, Outcome::Refused),
        ("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", 429, asked),
        ("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", 500, failed),
    ] {
        let (calls, attempts) = tell(&newest(""), &[answer]);
        assert_eq!(attempts, [(Ok(status), outcome)], "{answer}");
        assert_eq!(calls.len(), 1, "nothing is tried again at once, and nobody else is called");
        assert!(calls[0].starts_with("POST /a HTTP/1.1\r\nHost: hook.example\r\n"), "{}", calls[0]);
    }
}

#[test]
fn a_body_is_as_long_as_it_was_said_to_be() {
    let (calls, _) = tell(&newest(""), &[OK]);
    let (head, body) = calls[0].split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    assert!(head.contains("Content-Type: application/a2a+json"), "{head}");
    assert!(body.starts_with("{\"statusUpdate\":") && body.contains("TASK_STATE_SUBMITTED"), "{body}");
}

#[test]
fn a_webhook_that_repeats_the_token_is_told_and_no_other_is() {
    let echo = "HTTP/1.1 200 OK\r\nContent-Length: 33\r\n\r\n{token}\n";
    let (calls, attempts) = tell(&oldest(), &[echo, OK]);
    assert_eq!(attempts, [(Ok(200), Outcome::Delivered), (Ok(200), Outcome::Delivered)]);
    assert!(calls[0].starts_with("GET /a?validationToken=") && calls[1].starts_with("POST /a "), "{calls:?}");

    let not_meant = (Err(Miss::NotMeant), Outcome::Failed { retry_after: None });
    for wrong in [OK, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 200 OK\r\n\r\n{token}{token}"] {
        let (calls, attempts) = tell(&oldest(), &[wrong, OK]);
        assert_eq!((calls.len(), &attempts[..]), (1, &[not_meant][..]), "{wrong}");
    }
}

#[test]
fn who_we_are_is_said_as_it_was_asked_for() {
    let shown = tell(&newest(r#","token":"t0","authentication":{"scheme":"Basic","credentials":"YQ=="}"#), &[OK]).0;
    assert!(shown[0].contains("\r\nX-A2A-Notification-Token: t0\r\n"), "{shown:?}");
    assert!(shown[0].contains("\r\nAuthorization: Basic YQ==\r\n"), "{shown:?}");
    // There is nobody here who could sign.
    let vouched = tell(&newest(r#","authentication":{"scheme":"Bearer"}"#), &[OK]).0;
    assert!(!vouched[0].contains("Authorization") && !vouched[0].contains("Signature"), "{vouched:?}");
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

#[test]
fn a_trace_goes_on_under_a_span_of_ours_and_none_is_begun() {
    let traceparent = std::format!("00-{TRACE}-00f067aa0ba902b7-01");
    let (calls, _) = tell_traced(Some(&traceparent), &newest(""), &[OK]);
    let (_, rest) = calls[0].split_once("\r\ntraceparent: ").expect("there is one");
    let (sent, _) = rest.split_once("\r\n").expect("a line");
    let span = sent.strip_prefix(&*std::format!("00-{TRACE}-")).and_then(|rest| rest.strip_suffix("-01"));
    let span = span.unwrap_or_else(|| panic!("not the same trace: {sent}"));
    assert!(span.len() == 16 && span.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')), "{span}");
    assert!(span != "00f067aa0ba902b7" && span != "0000000000000000", "{span}");

    for none in [None, Some("00-0-0-01"), Some(&*traceparent.to_uppercase())] {
        let (calls, _) = tell_traced(none, &newest(""), &[OK]);
        assert!(!calls[0].contains("traceparent"), "{none:?}: {calls:?}");
    }
}

#[test]
fn who_has_yet_to_prove_that_it_is_meant_hears_of_no_trace() {
    let traceparent = std::format!("00-{TRACE}-00f067aa0ba902b7-00");
    let echo = "HTTP/1.1 200 OK\r\nContent-Length: 33\r\n\r\n{token}\n";
    let (calls, _) = tell_traced(Some(&traceparent), &oldest(), &[echo, OK]);
    assert!(!calls[0].contains("traceparent") && calls[1].contains(TRACE), "{calls:?}");
}

const SHARED: &str = r#","authentication":{"scheme":"hs256","credentials":"a-key-of-thirty-two-characters-or-more"}"#;

#[cfg(feature = "signing")]
#[test]
fn a_shared_key_signs_and_is_not_sent() {
    let (calls, attempts) = tell(&newest(SHARED), &[OK]);
    assert_eq!(attempts, [(Ok(200), Outcome::Delivered)]);
    assert!(calls[0].contains("\r\nX-A2A-Notification-Signature: eyJ"), "{calls:?}");
    assert!(!calls[0].contains("Authorization") && !calls[0].contains("a-key-of"), "{calls:?}");
}

#[cfg(not(feature = "signing"))]
#[test]
fn what_cannot_be_signed_is_not_sent() {
    let (calls, attempts) = tell(&newest(SHARED), &[OK]);
    assert!(calls.is_empty() && matches!(attempts[..], [(Err(Miss::Failure(_)), Outcome::Refused)]), "{attempts:?}");
}
