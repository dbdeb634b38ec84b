extern crate std;

use std::{string::String, vec::Vec};

use super::{Block, BlockIndex, Chain, Draft, Header, Kind, NIL, Pool, Span, Tag, clear, remove};
use crate::{json::Json, time::Millis};

fn text_of(pool: &Pool<'_>, span: Span) -> String {
    let mut bytes = std::vec![0; span.len as usize];
    pool.read(span.at, &mut bytes);
    String::from_utf8(bytes).unwrap()
}

fn append(pool: &mut Pool<'_>, chain: &mut Chain, stamp: u64, text: &str) {
    let mut draft = Draft::new(pool, 1000);
    draft.text(pool, Tag::MessageId, format_args!("m{stamp}"));
    draft.text(pool, Tag::Text, format_args!("{text}"));
    assert!(!draft.is_full());
    draft.append_to(pool, chain, stamp, Millis(stamp), Kind::Message);
}

fn contents(pool: &Pool<'_>, chain: &Chain) -> Vec<(u64, String)> {
    let mut all = Vec::new();
    let mut record: BlockIndex = if chain.is_empty() { NIL } else { chain.first };
    while record != NIL {
        let header = Header::read(pool, record);
        let mut items = header.items(record);
        let part = items.next_part(pool).unwrap();
        assert_eq!(part.tag, Tag::Text);
        all.push((header.stamp(), text_of(pool, part.span)));
        record = header.next();
    }
    all
}

#[test]
fn records_of_any_length_read_back_across_blocks() {
    let mut blocks = [Block::EMPTY; 64];
    let mut pool = Pool::new(&mut blocks);
    let mut chain = Chain::EMPTY;
    let long = "0123456789".repeat(30);
    let texts: Vec<&str> = [0, 1, 19, 20, 21, 22, 59, 60, 61, 120, 300].iter().map(|n| &long[..*n]).collect();
    for (n, text) in texts.iter().enumerate() {
        append(&mut pool, &mut chain, n as u64 + 1, text);
    }
    let read = contents(&pool, &chain);
    assert_eq!(read.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), texts);
    clear(&mut pool, &mut chain);
    assert_eq!(pool.available(), 64);
    assert!(chain.is_empty());
}

#[test]
fn removing_from_anywhere_keeps_the_rest_in_order() {
    for gone in 0..3 {
        let mut blocks = [Block::EMPTY; 16];
        let mut pool = Pool::new(&mut blocks);
        let mut chain = Chain::EMPTY;
        for stamp in 1..=3 {
            append(&mut pool, &mut chain, stamp, "x");
        }
        let mut records = std::vec![chain.first];
        for _ in 0..2 {
            records.push(Header::read(&pool, *records.last().unwrap()).next());
        }
        let before = if gone == 0 { None } else { Some(records[gone - 1]) };
        remove(&mut pool, &mut chain, before, records[gone]);
        append(&mut pool, &mut chain, 9, "y");
        let stamps: Vec<u64> = contents(&pool, &chain).iter().map(|(stamp, _)| *stamp).collect();
        let expected: Vec<u64> = (1..=3).filter(|stamp| *stamp != gone as u64 + 1).chain([9]).collect();
        assert_eq!(stamps, expected);
    }
}

#[test]
fn a_draft_that_does_not_fit_leaves_no_trace() {
    let mut blocks = [Block::EMPTY; 4];
    let mut pool = Pool::new(&mut blocks);
    let mut draft = Draft::new(&mut pool, 100);
    draft.text(&mut pool, Tag::Text, format_args!("{}", "x".repeat(1000)));
    assert!(draft.is_full());
    assert_eq!(draft.blocks(), 4);
    draft.discard(&mut pool);
    assert_eq!(pool.available(), 4);

    let mut draft = Draft::new(&mut pool, 2);
    draft.text(&mut pool, Tag::Text, format_args!("{}", "x".repeat(1000)));
    assert!(draft.is_full());
    assert_eq!(draft.blocks(), 2);
    draft.discard(&mut pool);
    assert_eq!(pool.available(), 4);
}

#[test]
fn items_and_attributes_are_found_where_they_belong() {
    let mut blocks = [Block::EMPTY; 16];
    let mut pool = Pool::new(&mut blocks);
    let mut chain = Chain::EMPTY;
    let mut draft = Draft::new(&mut pool, 16);
    draft.escaped(&mut pool, Tag::MessageId, "m\\n1");
    draft.json(&mut pool, Tag::Metadata, Json::parse(b"{ \"a\" : 1 }").unwrap());
    draft.text(&mut pool, Tag::Text, format_args!("say \"hi\""));
    draft.escaped(&mut pool, Tag::Raw, "AAAA");
    draft.escaped(&mut pool, Tag::Filename, "f.bin");
    draft.append_to(
        &mut pool,
        &mut chain,
        7,
        Millis(8),
        Kind::Chunk { artifact: 513, append: true, last: false, ordinal: 70_000 },
    );

    let header = Header::read(&pool, chain.first);
    assert_eq!((header.stamp(), header.at()), (7, Millis(8)));
    assert_eq!(header.kind(), Kind::Chunk { artifact: 513, append: true, last: false, ordinal: 70_000 });
    let items = header.items(chain.first);
    assert_eq!(text_of(&pool, items.find(&pool, Tag::MessageId).unwrap()), "m\\n1");
    assert_eq!(text_of(&pool, items.find(&pool, Tag::Metadata).unwrap()), "{\"a\":1}");
    assert!(items.find(&pool, Tag::Filename).is_none());
    let mut parts = items;
    let text = parts.next_part(&pool).unwrap();
    assert_eq!(text_of(&pool, text.span), "say \\\"hi\\\"");
    assert!(parts.find(&pool, Tag::Filename).is_none());
    assert_eq!(parts.next_part(&pool).unwrap().tag, Tag::Raw);
    assert_eq!(text_of(&pool, parts.find(&pool, Tag::Filename).unwrap()), "f.bin");
    assert!(parts.next_part(&pool).is_none());
}
