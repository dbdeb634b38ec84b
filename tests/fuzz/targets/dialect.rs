//! The decoders: parameters of any shape inside a right envelope, for every method of every dialect.
//!
//! An input is calls with 0xff between them, each the number of a method and its parameters.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use mote_fuzz::{
    input::{BETWEEN, METHODS},
    judge,
    mutate::mutate,
    world::with_world,
};
use protocol_core::Inbound;

const MOST: usize = 12;

fuzz_target!(|bytes: &[u8]| {
    with_world::<6, 96, 2, 5>(|world| {
        let mut open = Vec::new();
        for call in bytes.split(|byte| *byte == BETWEEN).take(MOST) {
            let Some((method, params)) = call.split_first() else { continue };
            let (version, method) = METHODS[usize::from(*method) % METHODS.len()];
            let mut body = format!(r#"{{"jsonrpc":"2.0","id":"x","method":"{method}","params":"#).into_bytes();
            body.extend_from_slice(params);
            body.push(b'}');
            let id = judge::id_of(&body);
            let mut answer = world.call(&Inbound { version, body: &body, ..Inbound::GUEST });
            world.settle();
            answer.read(512);
            world.advance(100);
            answer.read(512);
            open.push((answer, id));
        }
        for (answer, id) in &open {
            judge::answer(answer, id);
        }
    });
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed, |bytes, random| {
        let from = random.below(bytes.len());
        let end = bytes[from..].iter().position(|byte| *byte == BETWEEN).map_or(bytes.len(), |at| from + at);
        let begin = bytes[..end].iter().rposition(|byte| *byte == BETWEEN).map_or(0, |at| at + 1);
        ((begin + 1).min(end), end)
    })
});
