//! The HTTP edge, fed any bytes in pieces of any size, at any pace: it ends, every answer is HTTP, and there are never more
//! of them than a strict reader finds requests.
//!
//! An input is three bytes that say how the rest gets there, and the rest.
#![no_main]

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    pin::pin,
    task::{Context, Poll, Waker},
};

use firmware::{
    app::App,
    http::{self, Bodies, Buffers, Crowd, Ending, Limits, Names, Site},
    reset::Reason,
    status::{Connection, Edge, Facts},
};
use libfuzzer_sys::fuzz_target;
use mote_fuzz::{
    http::{Answer, Request, requests},
    judge,
    socket::{Line, Peer, Then, VirtualTimer},
    world::{Flag, World, with_world},
};
use mote_tests::random::Random;
use protocol_core::{
    door::Address,
    time::{Clock, Millis},
};
use serde_json::Value;

/// Little enough to be met.
static LIMITS: Limits = Limits { head_bytes: 700, target_bytes: 100, body_bytes: 3000, requests: 12, ..Limits::DEVICE };

/// Those that the seeds use.
const NAMES: Names<'static> = Names { hosts: &["mote.local", "a"], origins: &["http://panel.example"], local: None };

/// After this the device is told to stop: nothing but a stream that waits for its client lasts as long.
const LONG: Millis = Millis(300_000);

/// Steps that a connection may take. Each byte may take a few.
const PATIENCE: usize = 300_000;

fuzz_target!(|bytes: &[u8]| {
    let Some((how, sent)) = bytes.split_first_chunk::<3>() else { return };
    with_world::<4, 64, 2, 3>(|world| {
        let peer = peer(world, *how, sent);
        let ending = serve(world, &peer);
        // The last word to somebody who does not read it is not waited for.
        let may_be_cut = ending == Ending::Aborted || peer.patience < usize::MAX;
        judge_all(&peer.received.borrow(), sent, may_be_cut);
        // Who pauses before the first byte may be too late for an answer.
        let is_quick = how[0] & 1 == 0 && ending != Ending::Aborted;
        let is_answered = !peer.received.borrow().is_empty() || requests(sent).requests.is_empty();
        assert!(is_answered || !is_quick, "a request without an answer");
    });
});

fn peer<'c>(world: &World<'c, '_>, [how, pieces, pace]: [u8; 3], sent: &[u8]) -> Peer<'c> {
    let mut random = Random::new(u64::from(pieces) << 8 | u64::from(pace));
    let mut sends = VecDeque::new();
    let mut rest = sent;
    while !rest.is_empty() {
        let most = if pieces == 0 { rest.len() } else { usize::from(pieces) };
        let (piece, behind) = rest.split_at((1 + random.below(most)).min(rest.len()));
        let piece = if pieces == 0 { rest } else { piece };
        rest = if pieces == 0 { &[] } else { behind };
        let is_slow = how & 1 != 0 && random.once_in(3);
        sends.push_back((if is_slow { 40 * random.below(usize::from(pace) + 1) as u64 } else { 0 }, piece.to_vec()));
    }
    Peer {
        clock: world.clock,
        sends: RefCell::new(sends),
        then: match how >> 1 & 3 {
            0 | 3 => Then::HalfCloses,
            1 => Then::Stays,
            _ => Then::Resets,
        },
        received: RefCell::default(),
        window: if how & 8 == 0 { 4096 } else { 1 + usize::from(pace) },
        patience: if how & 16 == 0 { usize::MAX } else { 16 * usize::from(pace) },
    }
}

/// Serves one connection to its end.
fn serve(world: &mut World<'_, '_>, peer: &Peer<'_>) -> Ending {
    let edge = Edge::new(&LIMITS, 6, 1);
    let facts =
        Facts { board: "fuzz", past: Reason::PowerOn.into(), stack: None, network: Connection::default(), edge };
    let app = App::new(world.node, &facts, None);
    let mut room = vec![0; LIMITS.body_bytes];
    let shelf = [RefCell::new(&mut room[..])];
    let bodies = Bodies::new(&shelf);
    let places = [const { Cell::new(None) }; 1];
    let crowd = Crowd::new(&places);
    let site = Site { service: &app, bodies: &bodies, crowd: &crowd, limits: &LIMITS, names: NAMES };
    let (mut request, mut answer, mut transmit) = ([0; 1024], [0; 512], [0; 128]);
    let buffers = Buffers { request: &mut request, answer: &mut answer, transmit: &mut transmit };
    let timer = VirtualTimer(world.clock);
    let (is_stopping, stopper) = (Cell::new(false), Cell::new(None::<Waker>));
    let shutdown = poll_fn(|cx| {
        stopper.set(Some(cx.waker().clone()));
        if is_stopping.get() { Poll::Ready(()) } else { Poll::Pending }
    });
    let flag = Flag::new();
    let waker = Waker::from(flag.clone());
    let mut connection = pin!(http::serve(Line(peer), Address::v4([10, 0, 0, 7]), &timer, &site, buffers, shutdown));
    for _ in 0..PATIENCE {
        if flag.take() {
            if let Poll::Ready(ending) = connection.as_mut().poll(&mut Context::from_waker(&waker)) {
                return ending;
            }
        } else if !world.step() {
            let is_late = world.clock.now() > LONG || !world.advance_to_next_alarm();
            if is_late && !is_stopping.replace(true) {
                stopper.take().inspect(Waker::wake_by_ref);
            } else if is_late {
                assert!(world.advance_to_next_alarm(), "a connection that waits for nothing");
            }
        }
    }
    panic!("a connection without an end");
}

/// Holds what came out against what went in.
fn judge_all(received: &[u8], sent: &[u8], may_be_cut: bool) {
    let found = requests(sent);
    let interim = Request::default();
    let mut asked = found.requests.iter().chain(&found.rest);
    let mut rest = received;
    let mut is_last = false;
    while !rest.is_empty() {
        let is_interim = rest.starts_with(b"HTTP/1.1 100 ");
        let request = if is_interim { &interim } else { asked.next().unwrap_or_else(|| panic!("one answer too many")) };
        assert!(!is_last, "an answer behind the last one");
        let Some((answer, behind)) = Answer::read(rest, request) else {
            assert!(may_be_cut, "half a head");
            return;
        };
        assert!(!answer.is_cut || may_be_cut, "half a body");
        is_last = answer.field("connection") == Some("close");
        judge_body(&answer, request);
        rest = behind;
    }
}

fn judge_body(answer: &Answer, request: &Request<'_>) {
    assert!((100..600).contains(&answer.status), "status {}", answer.status);
    if answer.is_cut || answer.body.is_empty() {
        return;
    }
    let id = judge::id_of(request.body);
    match answer.field("content-type") {
        Some("application/json") => {
            let value: Value = serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("no JSON: {error}"));
            // What was refused before it was read has no id.
            if value.get("jsonrpc").is_some() && !value["id"].is_null() {
                judge::document(&answer.body, &id);
            }
        }
        Some("text/event-stream") => judge::stream(&answer.body, &id, false),
        Some("text/plain") => assert!(str::from_utf8(&answer.body).is_ok()),
        other => panic!("a body of {other:?}"),
    }
}
