//! The log's blocks against a simple model: the same records with the same bytes, and every block in one place.
//!
//! An input is operations, each a byte that says what, one that says to which chain, and what they need.
#![no_main]

use std::collections::VecDeque;

use libfuzzer_sys::fuzz_target;
use protocol_core::{
    fuzzing::{Blocks, Content, Head, Log},
    json::{Json, Sink, compact, escape, separate},
};

const CHAINS: usize = 4;
const BLOCKS: usize = 48;
const TAGS: u8 = 21;
const MOST: usize = 200;

/// Bytes of a block, of a record before its items, and of an item before its content: what the log promises.
const PAYLOAD: usize = 60;
const HEADER: usize = 32;
const ITEM: usize = 4;

struct Record {
    head: Head,
    items: Vec<(u8, Vec<u8>)>,
    blocks: u32,
}

#[derive(Default)]
struct Model {
    chains: [VecDeque<Record>; CHAINS],
    reserves: [bool; CHAINS],
}

impl Model {
    fn available(&self) -> u32 {
        let used: u32 = self.chains.iter().flatten().map(|record| record.blocks).sum();
        BLOCKS as u32 - used - self.reserves.iter().filter(|reserve| **reserve).count() as u32
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut blocks = Blocks::<BLOCKS>::new();
    let mut log = Log::<CHAINS>::new(&mut blocks);
    let mut model = Model::default();
    let mut marks = [false; BLOCKS];
    let mut input = Input(bytes);
    for stamp in 1..=MOST as u64 {
        let Some(what) = input.byte() else { break };
        let chain = usize::from(what >> 4) % CHAINS;
        match what & 0xf {
            0..=7 => append(&mut log, &mut model, &mut input, chain, stamp),
            8 => {
                let fits = !model.reserves[chain] && model.available() > 0;
                log.set_aside(chain);
                model.reserves[chain] |= fits;
            }
            9 | 10 => append_in_reserve(&mut log, &mut model, &mut input, chain, stamp),
            11 | 12 => {
                let number = usize::from(input.byte().unwrap_or(0)) % (model.chains[chain].len() + 1);
                assert_eq!(log.remove(chain, number), model.chains[chain].remove(number).is_some());
            }
            13 => {
                assert_eq!(log.remove(chain, 0), model.chains[chain].pop_front().is_some());
            }
            14 => {
                log.clear(chain);
                model.chains[chain].clear();
            }
            _ => compare(&log, &model, chain, usize::from(input.byte().unwrap_or(0))),
        }
        let counts = log.check(&mut marks);
        for (count, records) in counts.iter().zip(&model.chains) {
            assert_eq!(*count, records.iter().map(|record| record.blocks).sum::<u32>());
        }
        assert_eq!(log.available(), model.available());
    }
    for chain in 0..CHAINS {
        compare(&log, &model, chain, 255);
    }
});

fn append(log: &mut Log<'_, CHAINS>, model: &mut Model, input: &mut Input<'_>, chain: usize, stamp: u64) {
    let head = input.head(stamp);
    let budget = u32::from(input.byte().unwrap_or(0));
    let given = input.items();
    let record = record(head, &given);
    let fits = record.blocks <= budget.min(model.available());
    assert_eq!(log.append(chain, head, budget, &given), fits, "{} blocks of {budget}", record.blocks);
    if fits {
        model.chains[chain].push_back(record);
    }
}

fn append_in_reserve(log: &mut Log<'_, CHAINS>, model: &mut Model, input: &mut Input<'_>, chain: usize, stamp: u64) {
    let head = input.head(stamp);
    let given = input.items();
    let record = record(head, &given);
    let fits = core::mem::take(&mut model.reserves[chain]) && record.blocks == 1;
    assert_eq!(log.append_in_reserve(chain, head, &given), fits);
    if fits {
        model.chains[chain].push_back(record);
    }
}

fn compare(log: &Log<'_, CHAINS>, model: &Model, chain: usize, window: usize) {
    for (number, record) in model.chains[chain].iter().enumerate() {
        let mut items: Vec<(u8, Vec<u8>)> = Vec::new();
        let says = log.read(chain, number, record.head, window, &mut |tag, piece| {
            if piece.is_empty() {
                items.push((tag, Vec::new()));
            } else if let Some((_, bytes)) = items.last_mut() {
                bytes.extend_from_slice(piece);
            }
        });
        assert!(says, "another head than {:?}", record.head);
        assert_eq!(items, record.items);
    }
    let behind = Head { stamp: 0, at: 0, kind: 0 };
    assert!(!log.read(chain, model.chains[chain].len(), behind, 1, &mut |_, _| {}), "more records than were written");
}

fn record(head: Head, given: &[(u8, Content<'_>)]) -> Record {
    let items: Vec<(u8, Vec<u8>)> = given
        .iter()
        .map(|(tag, content)| {
            let mut bytes = Vec::new();
            let mut sink = |text: &str| bytes.extend_from_slice(text.as_bytes());
            write(*content, &mut sink);
            (tag % TAGS, bytes)
        })
        .collect();
    let len: usize = items.iter().map(|(_, bytes)| ITEM + bytes.len()).sum();
    Record { head, items, blocks: (HEADER + len).div_ceil(PAYLOAD) as u32 }
}

fn write(content: Content<'_>, sink: &mut dyn Sink) {
    match content {
        Content::Json(value) => compact(value, sink),
        Content::Escaped(text) => separate(text, sink),
        Content::Plain(text) => escape(text, sink),
    }
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, bytes: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(bytes.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn head(&mut self, stamp: u64) -> Head {
        let mut number = || u32::from(self.byte().unwrap_or(0));
        let kind = number() | number() << 8 | number() << 16;
        Head { stamp, at: u64::from(kind).wrapping_mul(0x1_0000_0001), kind }
    }

    fn items(&mut self) -> Vec<(u8, Content<'a>)> {
        let count = self.byte().unwrap_or(0) % 6;
        (0..count)
            .filter_map(|_| {
                let tag = self.byte()?;
                let length = usize::from(self.byte()?) * if tag & 0x80 == 0 { 1 } else { 3 };
                let bytes = self.take(length);
                Some((tag & 0x7f, content(bytes)))
            })
            .collect()
    }
}

/// JSON if it is, else its first characters, which stand for text that is escaped or not.
fn content(bytes: &[u8]) -> Content<'_> {
    if let Ok(value) = Json::parse(bytes) {
        return Content::Json(value);
    }
    let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    if text.len().is_multiple_of(2) { Content::Escaped(text) } else { Content::Plain(text) }
}
