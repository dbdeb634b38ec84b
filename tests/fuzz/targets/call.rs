//! Conversations of any bytes with a node that speaks every dialect: each answer is well formed and for its request.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use mote_fuzz::{
    input::{BETWEEN, Sent},
    judge,
    mutate::mutate,
    world::{Answer, End, World, with_world},
};
use protocol_core::Inbound;
use serde_json::Value;

/// Requests of one conversation that are looked at.
const MOST: usize = 24;

fuzz_target!(|bytes: &[u8]| {
    with_world::<6, 96, 2, 5>(|world| {
        let mut open = Vec::new();
        for sent in bytes.split(|byte| *byte == BETWEEN).filter_map(Sent::parse).take(MOST) {
            let inbound = Inbound {
                caller: world.caller(sent.caller),
                version: sent.version,
                last_event_id: sent.last_event_id,
                body: sent.body,
                ..Inbound::GUEST
            };
            let id = judge::id_of(sent.body);
            let answer = world.call(&inbound);
            open.push((answer, id, sent.window));
            if sent.hangs_up {
                open.pop();
            }
            // Webhooks answer as the request has it, any way there is.
            world.webhooks.set(sent.body.iter().fold(0, |sum: u8, byte| sum.wrapping_mul(31).wrapping_add(*byte)));
            world.settle();
            read(&mut open);
            world.advance(sent.pause);
            read(&mut open);
        }
        wait(world, &mut open);
        for (answer, id, _) in &open {
            judge::answer(answer, id);
        }
        drop(open);
        assert_eq!(world.node.limits().readers.used, 0, "a reader's place is lost");
    });
});

fn read(open: &mut [(Answer<'_, '_>, Value, usize)]) {
    for (answer, _, window) in open {
        answer.read(*window);
    }
}

/// Lets a few minutes pass: what has not ended by then waits for its client.
fn wait<'n>(world: &mut World<'n, '_>, open: &mut [(Answer<'n, '_>, Value, usize)]) {
    for _ in 0..8 {
        read(open);
        if open.iter().all(|(answer, ..)| answer.end != End::Open) {
            return;
        }
        world.advance(20_000);
    }
    read(open);
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed, |bytes, random| {
        let count = bytes.split(|byte| *byte == BETWEEN).count();
        let mut begin = 0;
        for (number, piece) in bytes.split(|byte| *byte == BETWEEN).take(1 + random.below(count)).enumerate() {
            if number > 0 {
                begin += 1;
            }
            begin += piece.len();
        }
        let end = begin;
        let begin = bytes[..end].iter().rposition(|byte| *byte == BETWEEN).map_or(0, |at| at + 1);
        (begin + Sent::body_at(&bytes[begin..end]), end)
    })
});
