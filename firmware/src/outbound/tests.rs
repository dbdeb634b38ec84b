//! Calls over a network that is a script, in time that passes when nothing else happens.

extern crate std;

use core::{
    cell::{Cell, RefCell},
    future::poll_fn,
    net::{IpAddr, SocketAddr},
    pin::pin,
    task::{Context, Poll, Waker},
};
use std::{
    collections::VecDeque,
    format,
    string::{String, ToString},
    vec::Vec,
};

use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use protocol_core::{
    json::Sink,
    push::{Ranges, Rules, Url},
    time::{Millis, UnixMillis},
};

use super::*;
use crate::http::{Broken, Source};

/// What the other side does, step by step.
#[derive(Clone)]
enum Act {
    /// Waits until so many bytes have come.
    Hear(usize),
    Say(Vec<u8>),
    Pause(u64),
    /// Reads no more.
    Deafen,
    /// Resets the connection.
    Reset,
    Close,
}

#[derive(Default)]
struct Fake {
    now: Cell<u64>,
    wake_at: Cell<Option<u64>>,
    /// What each question for a name is answered with; the last is repeated.
    names: RefCell<VecDeque<Vec<IpAddr>>>,
    own: Vec<IpAddr>,
    /// Nobody is there.
    silent: Vec<IpAddr>,
    script: RefCell<VecDeque<Act>>,
    heard: RefCell<Vec<u8>>,
    /// Bytes per write and read.
    grain: usize,
    asked: RefCell<Vec<String>>,
    connected: RefCell<Vec<SocketAddr>>,
    endings: RefCell<Vec<Ending>>,
}

impl Fake {
    fn new(script: &[Act]) -> Self {
        let script = RefCell::new(script.iter().cloned().collect());
        let names = RefCell::new([std::vec!["9.9.9.1".parse().unwrap()]].into());
        Self { script, names, grain: usize::MAX, ..Self::default() }
    }

    fn heard(&self) -> String {
        String::from_utf8(self.heard.borrow().clone()).unwrap()
    }

    async fn until(&self, at: u64) {
        poll_fn(|_| {
            if self.now.get() >= at {
                return Poll::Ready(());
            }
            self.wake_at.set(Some(self.wake_at.get().map_or(at, |other| other.min(at))));
            Poll::Pending
        })
        .await;
    }

    /// Runs it. Time passes when nobody can go on.
    fn run<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        loop {
            self.wake_at.set(None);
            if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return done;
            }
            self.now.set(self.wake_at.get().expect("somebody waits for time to pass"));
        }
    }
}

impl Network for Fake {
    type Socket<'n> = Socket<'n>;

    async fn resolve(&self, host: &str) -> Result<heapless::Vec<IpAddr, ADDRESSES>, Unreachable> {
        self.asked.borrow_mut().push(host.to_string());
        let mut names = self.names.borrow_mut();
        let addresses = if names.len() > 1 { names.pop_front() } else { names.front().cloned() };
        Ok(addresses.ok_or(Unreachable::Unresolved)?.into_iter().collect())
    }

    async fn connect(&self, _place: usize, to: SocketAddr) -> Result<Socket<'_>, Unreachable> {
        self.connected.borrow_mut().push(to);
        if self.silent.contains(&to.ip()) { Err(Unreachable::Silent) } else { Ok(Socket(self)) }
    }

    async fn hang_up<'n>(&'n self, _: Socket<'n>, ending: Ending) {
        self.endings.borrow_mut().push(ending);
    }

    async fn sleep(&self, span: Millis) {
        self.until(self.now.get() + span.0).await;
    }

    fn is_own(&self, address: IpAddr, _: u16) -> bool {
        self.own.contains(&address)
    }
}

struct Socket<'n>(&'n Fake);

impl ErrorType for Socket<'_> {
    type Error = ErrorKind;
}

impl Read for Socket<'_> {
    async fn read(&mut self, out: &mut [u8]) -> Result<usize, ErrorKind> {
        let fake = self.0;
        loop {
            let act = fake.script.borrow_mut().pop_front();
            match act {
                Some(Act::Hear(bytes)) => assert!(fake.heard.borrow().len() >= bytes, "it waits for more"),
                Some(Act::Say(said)) => {
                    let (now, later) = said.split_at(said.len().min(out.len()).min(fake.grain));
                    out[..now.len()].copy_from_slice(now);
                    if !later.is_empty() {
                        fake.script.borrow_mut().push_front(Act::Say(later.to_vec()));
                    }
                    return Ok(now.len());
                }
                Some(Act::Pause(millis)) => {
                    let until = fake.now.get() + millis;
                    fake.until(until).await;
                }
                Some(Act::Reset) => return Err(ErrorKind::ConnectionReset),
                Some(Act::Close) => return Ok(0),
                Some(Act::Deafen) => {}
                None => core::future::pending().await,
            }
        }
    }
}

impl Write for Socket<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        let next = self.0.script.borrow().front().cloned();
        match next {
            Some(Act::Deafen) => core::future::pending().await,
            Some(Act::Reset) => return Err(ErrorKind::ConnectionReset),
            Some(Act::Hear(0)) => {
                self.0.script.borrow_mut().pop_front();
                return Err(ErrorKind::BrokenPipe);
            }
            _ => {}
        }
        let now = &bytes[..bytes.len().min(self.0.grain)];
        self.0.heard.borrow_mut().extend_from_slice(now);
        Ok(now.len())
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        panic!("nobody waits for an acknowledgement")
    }
}

/// Gives these pieces one by one.
struct Pieces(VecDeque<&'static [u8]>);

impl Source for Pieces {
    async fn fill(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        let Some(piece) = self.0.pop_front() else { return Ok(0) };
        if piece == b"BROKEN" {
            return Err(Broken);
        }
        let (now, later) = piece.split_at(piece.len().min(out.len()));
        out[..now.len()].copy_from_slice(now);
        if !later.is_empty() {
            self.0.push_front(later);
        }
        Ok(now.len())
    }
}

const OPEN: Rules<'static> =
    Rules { plain_http: true, ranges: Ranges { loopback: false, private: true, link_local: false }, hosts: &[] };
const PATIENCE: Millis = Millis(10_000);

/// What a caller asks for, and how.
struct Asks<'a> {
    url: &'a str,
    query: Option<(&'a str, &'a str)>,
    fields: &'a [Field<'a>],
    body: Option<&'static [&'static [u8]]>,
    bytes: u64,
    answer_bytes: usize,
    rules: Rules<'static>,
    now: Option<UnixMillis>,
}

const GET: Asks<'static> = Asks {
    url: "http://hook.example/a?b=c",
    query: None,
    fields: &[],
    body: None,
    bytes: 0,
    answer_bytes: 16,
    rules: OPEN,
    now: None,
};

impl Asks<'_> {
    fn call(&self, fake: &Fake) -> Result<(Answer, Vec<u8>), Failure> {
        let url = Url::parse(self.url).unwrap();
        let request = Request {
            url: &url,
            query: self.query,
            fields: self.fields,
            content: self.body.map(|_| Content { media_type: "application/json", bytes: self.bytes }),
        };
        let client = Client {
            network: fake,
            place: 0,
            rules: &self.rules,
            roots: &[],
            now: self.now,
            fill_random: &|_| unreachable!("nothing is secret here"),
        };
        let mut rooms = Rooms { pieces: &mut [0; 48], received: &mut [], sent: &mut [] };
        let body = || Some(Pieces(self.body?.iter().copied().collect()));
        let mut answer = std::vec![0; self.answer_bytes];
        let called = fake.run(client.call(&mut rooms, &request, &body, &mut answer, PATIENCE));
        called.map(|called| (called, answer[..called.body_bytes].to_vec()))
    }

    fn hears(&self, said: &str) -> Result<(Answer, Vec<u8>), Failure> {
        self.call(&Fake::new(&[Act::Say(said.into()), Act::Close]))
    }
}

fn post(body: &'static [&'static [u8]]) -> Asks<'static> {
    Asks { body: Some(body), bytes: body.iter().map(|piece| piece.len() as u64).sum(), ..GET }
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

#[test]
fn a_request_says_what_it_has_to_and_no_more() {
    let fake = Fake::new(&[Act::Say(OK.into())]);
    let fields = &[Field { name: "Authorization", value: &["Bearer ", "t0k"] }];
    let asks = Asks { fields, url: "http://hook.example:8080", ..post(&[b"{\"a\":", b"1}"]) };
    let (answer, body) = asks.call(&fake).unwrap();
    assert_eq!(answer, Answer { status: 200, retry_after_secs: None, body_bytes: 2, is_whole: true });
    assert_eq!(body, b"hi");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        fake.heard(),
        format!(
            "POST / HTTP/1.1\r\nHost: hook.example:8080\r\nUser-Agent: mote/{version}\r\nAccept: */*\r\n\
             Connection: close\r\nAuthorization: Bearer t0k\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\
             \r\n{{\"a\":1}}"
        )
    );
    assert_eq!(*fake.endings.borrow(), [Ending::Done]);
    assert_eq!(*fake.asked.borrow(), ["hook.example"]);
    assert_eq!(*fake.connected.borrow(), ["9.9.9.1:8080".parse().unwrap()]);
}

#[test]
fn a_challenge_joins_the_query_that_is_there() {
    for (url, line) in [
        ("http://hook.example/a?b=c", "GET /a?b=c&validationToken=x-1 HTTP/1.1\r\nHost: hook.example\r\n"),
        ("http://hook.example/a", "GET /a?validationToken=x-1 HTTP/1.1\r\n"),
        ("http://hook.example", "GET /?validationToken=x-1 HTTP/1.1\r\n"),
    ] {
        let fake = Fake::new(&[Act::Say(OK.into())]);
        Asks { url, query: Some(("validationToken", "x-1")), ..GET }.call(&fake).unwrap();
        assert!(fake.heard().starts_with(line), "{}", fake.heard());
    }
}

const ITSELF: &str = "leads to the device itself: the owner of the device can allow loopback or name the host";

#[test]
fn every_address_of_a_name_is_checked_and_the_one_that_was_checked_is_called() {
    let [public, other, local]: [IpAddr; 3] = ["9.9.9.1", "9.9.9.2", "127.0.0.1"].map(|ip| ip.parse().unwrap());
    // One bad address among good ones, whichever is first; also dressed as one of IPv6.
    for addresses in [[public, local], [local, public], [public, "::ffff:127.0.0.1".parse().unwrap()]] {
        let fake = Fake { names: RefCell::new([addresses.to_vec()].into()), ..Fake::new(&[]) };
        assert_eq!(GET.call(&fake).unwrap_err(), Failure::Refused(ITSELF));
        assert!(fake.connected.borrow().is_empty());
    }
    // The device's own address, and it is not loopback.
    let fake = Fake { own: [public].into(), ..Fake::new(&[]) };
    assert_eq!(GET.call(&fake).unwrap_err(), Failure::Refused("leads to the device itself"));
    assert!(fake.connected.borrow().is_empty());
    // The name means something else from the second question on: there is no second question.
    let names = RefCell::new([[public].to_vec(), [local].to_vec()].into());
    let fake = Fake { names, ..Fake::new(&[Act::Say(OK.into())]) };
    GET.call(&fake).unwrap();
    assert_eq!(*fake.connected.borrow(), [SocketAddr::new(public, 80)]);
    assert_eq!(fake.asked.borrow().len(), 1);
    // Where nobody answers, the next one may.
    let names = RefCell::new([[public, other].to_vec()].into());
    let fake = Fake { names, silent: [public].into(), ..Fake::new(&[Act::Say(OK.into())]) };
    GET.call(&fake).unwrap();
    assert_eq!(*fake.connected.borrow(), [SocketAddr::new(public, 80), SocketAddr::new(other, 80)]);
}

#[test]
fn an_address_is_no_name_to_ask_for() {
    let fake = Fake::new(&[Act::Say(OK.into())]);
    Asks { url: "http://9.9.9.7:8081/", ..GET }.call(&fake).unwrap();
    assert!(fake.asked.borrow().is_empty());
    assert_eq!(*fake.connected.borrow(), ["9.9.9.7:8081".parse().unwrap()]);
    let fake = Fake::new(&[]);
    let refused = Asks { url: "http://127.0.0.1/", ..GET }.call(&fake);
    assert_eq!(refused.unwrap_err(), Failure::Refused(ITSELF));
    assert!(fake.connected.borrow().is_empty());
}

#[test]
fn nothing_is_called_that_the_rules_forbid_or_that_nobody_has() {
    let fake = Fake::new(&[]);
    let strict = Asks { rules: Rules::STRICT, ..GET };
    assert!(matches!(strict.call(&fake), Err(Failure::Refused(_))));
    assert!(fake.asked.borrow().is_empty());
    let fake = Fake { names: RefCell::default(), ..Fake::new(&[]) };
    assert_eq!(GET.call(&fake).unwrap_err(), Failure::Unreachable(Unreachable::Unresolved));
    let fake = Fake { names: RefCell::new([Vec::new()].into()), ..Fake::new(&[]) };
    assert_eq!(GET.call(&fake).unwrap_err(), Failure::Unreachable(Unreachable::Unknown));
}

#[test]
fn nobody_writes_a_head_of_their_own() {
    for bad in ["a\r\nX: y", "a\nb", "a\rb", "a\0b", "a\tb", "a\u{7f}", "\u{e4}"] {
        let fields = &[Field { name: "Authorization", value: &["Bearer ", bad] }];
        let names = &[Field { name: bad, value: &["x"] }];
        for asks in [
            Asks { fields, ..GET },
            Asks { fields: names, ..GET },
            Asks { query: Some(("validationToken", bad)), ..GET },
            Asks { query: Some((bad, "x")), ..GET },
        ] {
            let fake = Fake::new(&[]);
            assert!(matches!(asks.call(&fake), Err(Failure::Refused(_))), "{bad:?}");
            assert!(fake.asked.borrow().is_empty() && fake.heard.borrow().is_empty());
        }
    }
    for name in ["", "a b", "a:b"] {
        let fields = &[Field { name, value: &["x"] }];
        assert!(matches!(Asks { fields, ..GET }.call(&Fake::new(&[])), Err(Failure::Refused(_))), "{name:?}");
    }
}

#[test]
fn a_secret_that_goes_while_it_is_sent_ends_the_call() {
    let looks = Cell::new(0);
    // It is there when it is checked and counted, and for the first piece.
    let value = |out: &mut dyn Sink| {
        looks.set(looks.get() + 1);
        out.put(if looks.get() <= 3 { "Bearer 0123456789012345678901234567890123456789" } else { "" });
    };
    let fields = &[Field { name: "Authorization", value: &value }];
    let fake = Fake::new(&[Act::Say(OK.into())]);
    assert_eq!(Asks { fields, ..post(&[b"{}"]) }.call(&fake).unwrap_err(), Failure::Broken);
    assert!(!fake.heard().ends_with("{}"), "{}", fake.heard());
    assert_eq!(*fake.endings.borrow(), [Ending::Abort]);
}

#[test]
fn a_long_body_goes_out_in_pieces_of_any_size() {
    const PIECE: &[u8] = &[b'x'; 1000];
    for grain in [1, 7, 48, 1000] {
        let fake = Fake { grain, ..Fake::new(&[Act::Say(OK.into())]) };
        post(&[PIECE; 3]).call(&fake).unwrap();
        assert_eq!(fake.heard().rsplit_once("\r\n\r\n").unwrap().1.len(), 3000);
    }
}

#[test]
fn a_body_that_is_not_what_was_promised_is_cut_off_so_that_it_is_seen() {
    for (body, bytes) in [
        (&[b"ab" as &[u8]] as &'static [&'static [u8]], 3),
        (&[b"abcd"], 3),
        (&[b"abc", b"d"], 3),
        (&[b"ab", b"BROKEN"], 3),
        (&[b"abc", b"BROKEN"], 3),
    ] {
        let fake = Fake::new(&[Act::Say(OK.into())]);
        assert_eq!(Asks { body: Some(body), bytes, ..GET }.call(&fake).unwrap_err(), Failure::Broken);
        assert_eq!(*fake.endings.borrow(), [Ending::Abort]);
        // Not one byte too many, and of too few the last ones never left.
        assert!(!fake.heard().contains('d'));
    }
}

#[test]
fn an_answer_is_the_same_however_it_comes() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n03\r\nllo\r\n0\r\n\r\n";
    let told = "HTTP/1.1 200\r\ncontent-length:5\r\nX: a\tb\r\n\r\nhello and more";
    let closed = "HTTP/1.0 200 Fine\r\nServer: x\r\n\r\nhello";
    let interim = "HTTP/1.1 100 Continue\r\nContent-Length: 9\r\n\r\nHTTP/1.1 103 \r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\
        Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello";
    for said in [chunked, told, closed, interim] {
        for grain in 1..said.len() {
            for answer_bytes in 0..8 {
                let fake = Fake { grain, ..Fake::new(&[Act::Say(said.into()), Act::Close]) };
                let (answer, body) = Asks { answer_bytes, ..GET }.call(&fake).unwrap();
                assert_eq!((answer.status, answer.is_whole), (200, answer_bytes >= 5), "{said} {grain} {answer_bytes}");
                assert_eq!(body, b"hello"[..answer_bytes.min(5)]);
            }
        }
    }
}

#[test]
fn statuses_are_told_and_not_acted_upon() {
    for (said, status) in [
        ("HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", 301),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204),
        ("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", 204),
        ("HTTP/1.1 500 \r\nContent-Length: 0\r\n\r\n", 500),
        ("HTTP/1.1 599 x\r\nContent-Length: 0\r\n\r\n", 599),
    ] {
        let fake = Fake::new(&[Act::Say(said.into())]);
        let (answer, body) = GET.call(&fake).unwrap();
        assert_eq!((answer.status, answer.is_whole, body.len()), (status, true, 0));
        assert_eq!(fake.connected.borrow().len(), 1);
    }
}

#[test]
fn when_to_come_back_is_in_seconds_or_a_date_if_the_time_is_known() {
    let now = Some(UnixMillis(784_111_777_000));
    for (value, now, seconds) in [
        ("120", None, Some(120)),
        ("0", None, Some(0)),
        ("99999999999", None, Some(u32::MAX)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", now, Some(0)),
        ("Sun, 06 Nov 1994 08:51:07 GMT", now, Some(90)),
        ("Sun, 06 Nov 1993 08:51:07 GMT", now, Some(0)),
        ("Sun, 06 Nov 1994 08:51:07 GMT", None, None),
        ("Sunday, 06-Nov-94 08:49:37 GMT", now, None),
        ("Sun, 06 Xxx 1994 08:51:07 GMT", now, None),
        ("soon", now, None),
        ("-1", now, None),
        ("", now, None),
    ] {
        let said = format!("HTTP/1.1 429 Slow\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(Asks { now, ..GET }.hears(&said).unwrap().0.retry_after_secs, seconds, "{value}");
    }
}

#[test]
fn what_is_no_answer_is_told_apart() {
    let long = "x".repeat(9000);
    let many = "A: b\r\n".repeat(2000);
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(500);
    for (said, garbled) in [
        ("SSH-2.0-OpenSSH_9.2\r\n", Garbled::Status),
        ("\x16\x03\x01", Garbled::Status),
        ("HTTP/2 200 OK\r\n", Garbled::Status),
        ("HTTP/1.1 20 OK\r\n", Garbled::Status),
        ("HTTP/1.1 2000 OK\r\n", Garbled::Status),
        ("HTTP/1.1 099 OK\r\n", Garbled::Status),
        ("HTTP/1.1 600 OK\r\n", Garbled::Status),
        ("HTTP/1.1 101 Switch\r\n\r\n", Garbled::Status),
        ("HTTP/1.1 200 OK\n\n", Garbled::Status),
        ("HTTP/1.1 200 OK\r\nA: b\n\r\n", Garbled::Head),
        ("HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n", Garbled::Head),
        ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", Garbled::Head),
        ("HTTP/1.1 200 OK\r\nA\r\n\r\n", Garbled::Head),
        ("HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", Garbled::Head),
        ("HTTP/1.1 200 OK\r\n: b\r\n\r\n", Garbled::Head),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx", Garbled::Framing),
        ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", Garbled::Framing),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx", Garbled::Framing),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", Garbled::Framing),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Garbled::Framing),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", Garbled::Framing),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", Garbled::Framing),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", Garbled::Framing),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", Garbled::Framing),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", Garbled::Cut),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab", Garbled::Cut),
        ("HTTP/1.1 200 OK\r\nA: b\r\n", Garbled::Cut),
        ("HTTP/1.1 200 ", Garbled::Cut),
        (&format!("HTTP/1.1 200 {long}"), Garbled::Endless),
        (&format!("HTTP/1.1 200 OK\r\nA: {long}"), Garbled::Endless),
        (&format!("HTTP/1.1 200 OK\r\n{many}"), Garbled::Endless),
        (&interim, Garbled::Endless),
        (&format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;{long}"), Garbled::Endless),
    ] {
        assert_eq!(GET.hears(said).unwrap_err(), Failure::Garbled(garbled), "{said}");
    }
    // Long lines that say nothing here are no trouble.
    let said = format!("HTTP/1.1 200 OK\r\nContent-Security-Policy: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(4000));
    assert_eq!(GET.hears(&said).unwrap().0.status, 200);
}

#[test]
fn huge_bodies_are_not_read() {
    let said = format!("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n{}", "x".repeat(100));
    // Nothing comes behind these hundred bytes, and nobody waits for it.
    let fake = Fake::new(&[Act::Say(said.into())]);
    let (answer, body) = GET.call(&fake).unwrap();
    assert_eq!((answer.is_whole, body.len()), (false, 16));
    assert_eq!(fake.now.get(), 0);
}

#[test]
fn whoever_is_late_silent_or_deaf_is_left_at_the_deadline() {
    let slowly = |millis| OK.bytes().flat_map(move |byte| [Act::Pause(millis), Act::Say([byte].into())]);
    for script in [
        [].to_vec(),
        [Act::Pause(10_001), Act::Say(OK.into())].to_vec(),
        [Act::Say(b"HTTP/1.1 200 OK\r\n".into())].to_vec(),
        [Act::Deafen].to_vec(),
        slowly(1000).collect(),
    ] {
        let fake = Fake::new(&script);
        assert_eq!(post(&[b"x"]).call(&fake).unwrap_err(), Failure::Late);
        assert_eq!(fake.now.get(), PATIENCE.0);
        assert_eq!(*fake.endings.borrow(), [Ending::Abort]);
    }
    let fake = Fake::new(&slowly(100).collect::<Vec<_>>());
    assert_eq!(post(&[b"x"]).call(&fake).unwrap().0.status, 200);
}

#[test]
fn whoever_hangs_up_is_gone_but_a_no_still_counts() {
    for script in [[Act::Close].to_vec(), [Act::Reset].to_vec(), [Act::Hear(0), Act::Close].to_vec()] {
        let fake = Fake::new(&script);
        assert_eq!(post(&[b"x"]).call(&fake).unwrap_err(), Failure::Unreachable(Unreachable::Lost));
        assert_eq!(*fake.endings.borrow(), [Ending::Abort]);
    }
    // It answers and closes while we still send.
    let no = "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n";
    let fake = Fake::new(&[Act::Hear(0), Act::Say(no.into()), Act::Close]);
    assert_eq!(post(&[b"x"]).call(&fake).unwrap().0.status, 413);
    // That all is well cannot be said by somebody who has not heard all.
    let fake = Fake::new(&[Act::Hear(0), Act::Say(OK.into()), Act::Close]);
    assert_eq!(post(&[b"x"]).call(&fake).unwrap_err(), Failure::Unreachable(Unreachable::Lost));
}

#[test]
fn the_wait_for_a_name_counts_too() {
    struct Slow(Fake);
    impl Network for Slow {
        type Socket<'n> = Socket<'n>;
        async fn resolve(&self, _: &str) -> Result<heapless::Vec<IpAddr, ADDRESSES>, Unreachable> {
            core::future::pending().await
        }
        async fn connect(&self, place: usize, to: SocketAddr) -> Result<Socket<'_>, Unreachable> {
            self.0.connect(place, to).await
        }
        async fn hang_up<'n>(&'n self, socket: Socket<'n>, ending: Ending) {
            self.0.hang_up(socket, ending).await;
        }
        async fn sleep(&self, span: Millis) {
            self.0.sleep(span).await;
        }
        fn is_own(&self, _: IpAddr, _: u16) -> bool {
            false
        }
    }
    let slow = Slow(Fake::new(&[]));
    let url = Url::parse("http://hook.example/").unwrap();
    let request = Request { url: &url, query: None, fields: &[], content: None };
    let client = Client { network: &slow, place: 0, rules: &OPEN, roots: &[], now: None, fill_random: &|_| {} };
    let mut rooms = Rooms { pieces: &mut [0; 48], received: &mut [], sent: &mut [] };
    let body = || Some(Pieces(VecDeque::new()));
    let called = slow.0.run(client.call(&mut rooms, &request, &body, &mut [], PATIENCE));
    assert_eq!(called.unwrap_err(), Failure::Late);
    assert_eq!(slow.0.now.get(), PATIENCE.0);
}
