//! Signs what it is told to on standard input, as a device would, for receivers that are tested (tests/push):
//!
//! ```text
//! keys                                                     the public keys
//! rotate                                                   another key
//! sign IAT JTI TASK AUDIENCE DIGEST                        a token; IAT in seconds or -, the digest in hexadecimal
//! share SECRET IAT JTI TASK AUDIENCE DIGEST                the same with a shared secret
//! ```
//!
//! Words have tabs between them, and every line is answered with one.

use std::io;

use firmware::{
    signing::{Claims, Seal, Signer, seal_shared},
    simulated::{
        SplitMix,
        flash::{PAGE_BYTES, RamFlash},
    },
    store::Store,
};
use protocol_core::time::{Entropy as _, UnixMillis};

const STORE_BYTES: usize = 2 * PAGE_BYTES;

fn main() {
    let store = Store::new(RamFlash::new(vec![0xff; STORE_BYTES]), 0..STORE_BYTES as u32);
    let mut chance = SplitMix::new(1);
    let signer = Signer::recall(&store, None, |bytes| chance.fill(bytes)).expect("a key").signer;
    for line in io::stdin().lines() {
        let line = line.expect("text");
        let words: Vec<_> = line.split('\t').collect();
        let mut answer = String::new();
        match words.as_slice() {
            ["keys"] => answer = keys(&signer),
            ["rotate"] => {
                signer.rotate(&store, |bytes| chance.fill(bytes)).expect("another key");
                answer.push_str("ok");
            }
            ["sign", claims @ ..] => answer = token(claims, |claims| signer.seal(claims)),
            ["share", secret, claims @ ..] => {
                answer = token(claims, |claims| seal_shared(secret.as_bytes(), None, claims));
            }
            other => panic!("{other:?}"),
        }
        println!("{answer}");
    }
}

fn keys(signer: &Signer) -> String {
    let (mut set, mut piece, mut text) = (signer.published(), [0; 64], Vec::new());
    while let filled @ 1.. = set.fill(&mut piece) {
        text.extend_from_slice(&piece[..filled]);
    }
    String::from_utf8(text).expect("text")
}

fn token(words: &[&str], seal: impl FnOnce(&Claims<'_>) -> Option<Seal<'static>>) -> String {
    let [iat, jti, task, audience, digest] = words else { panic!("five words, not {words:?}") };
    let iat = iat.parse().ok().map(|seconds: u64| UnixMillis(seconds * 1000));
    let digits = |at: usize| u8::from_str_radix(&digest[at * 2..at * 2 + 2], 16).expect("digits");
    let body_digest = &core::array::from_fn(digits);
    let claims = Claims { iat, jti, task, audience, body_digest };
    let mut token = String::new();
    seal(&claims).expect("a key").write_token(&mut |text: &str| token.push_str(text), &claims);
    token
}
