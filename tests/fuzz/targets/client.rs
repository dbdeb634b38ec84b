//! The client: whatever an agent answers is read or refused, and a stream is the same in pieces of any size.
//!
//! The first byte says into which pieces the stream is torn, the second how long an event may be.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mote_tests::visit::{self, VERSIONS};
use protocol_core::client::{Events, Version};

/// The number of the request that is answered, in the seeds.
const ID: u32 = 1;

fuzz_target!(|bytes: &[u8]| {
    let [piece, room, bytes @ ..] = bytes else { return };
    let _ = visit::card(bytes);
    let room = usize::from(*room) * 16;
    let whole = events(bytes, bytes.len().max(1), room);
    assert_eq!(events(bytes, usize::from(*piece).max(1), room), whole);
    for version in VERSIONS.map(|name| Version::parse(name).expect("it is one of ours")) {
        let _ = visit::page(version, bytes, ID);
        let _ = visit::answer(version, bytes, ID, false);
        for data in whole.0.iter().flatten() {
            let _ = visit::answer(version, data, ID, true);
        }
    }
});

/// The data of the events, `None` for one that is too long, and the id of the last.
fn events(bytes: &[u8], piece: usize, room: usize) -> (Vec<Option<Vec<u8>>>, Option<String>) {
    let mut buffer = vec![0; room];
    let mut events = Events::new(&mut buffer);
    let mut found = Vec::new();
    for mut bytes in bytes.chunks(piece) {
        while !bytes.is_empty() {
            match events.push(&mut bytes) {
                Ok(Some(data)) => {
                    assert!(data.len() <= room);
                    found.push(Some(data.to_vec()));
                }
                Ok(None) => {}
                Err(long) => {
                    assert_eq!(long.most, room);
                    found.push(None);
                }
            }
        }
    }
    (found, events.last_id().map(str::to_owned))
}
