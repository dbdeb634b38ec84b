//! Writing a record: a draft takes blocks as it grows and becomes a record only when it is finished.

use core::fmt;

use super::{
    BlockIndex, Chain, NIL, Pool, Position, Stamp,
    pool::PAYLOAD,
    record::{HEADER_BYTES, Header, ITEM_HEAD, Kind, Tag},
};
use crate::{
    json::{self, Escaped, Json, Sink},
    time::Millis,
};

/// A record being written. Nobody sees it until [`Draft::append_to`]; [`Draft::discard`] leaves no trace.
pub(crate) struct Draft {
    first: BlockIndex,
    end: Position,
    blocks: u32,
    len: u32,
    /// Blocks this draft may have.
    budget: u32,
    full: bool,
}

impl Draft {
    /// Starts a record that may take up to `budget` blocks.
    pub(crate) fn new(pool: &mut Pool<'_>, budget: u32) -> Self {
        let mut draft =
            Self { first: NIL, end: Position { block: NIL, offset: 0 }, blocks: 0, len: 0, budget, full: false };
        draft.grow(pool);
        // The header comes last.
        draft.end.offset = HEADER_BYTES as u8;
        draft
    }

    /// Starts a record in a block that was set aside for it.
    pub(crate) const fn in_reserve(block: BlockIndex) -> Self {
        let end = Position { block, offset: HEADER_BYTES as u8 };
        Self { first: block, end, blocks: 1, len: 0, budget: 1, full: false }
    }

    /// Blocks that a record of so many bytes takes.
    pub(crate) const fn blocks_for(bytes: usize) -> u32 {
        HEADER_BYTES.saturating_add(bytes).div_ceil(PAYLOAD) as u32
    }

    /// Whether something did not fit.
    pub(crate) const fn is_full(&self) -> bool {
        self.full
    }

    /// Blocks it has taken.
    pub(crate) const fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Writes an item with JSON without its white space.
    pub(crate) fn json(&mut self, pool: &mut Pool<'_>, tag: Tag, value: Json<'_>) {
        self.item(pool, tag, |sink| json::compact(value, sink));
    }

    /// Writes an item with text that is escaped already.
    pub(crate) fn escaped(&mut self, pool: &mut Pool<'_>, tag: Tag, text: &str) {
        self.item(pool, tag, |sink| json::separate(text, sink));
    }

    /// Writes an item with a string, escaping it.
    pub(crate) fn string(&mut self, pool: &mut Pool<'_>, tag: Tag, text: &str) {
        self.item(pool, tag, |sink| json::escape(text, sink));
    }

    /// Writes an item with text as it is formatted, escaping it.
    pub(crate) fn text(&mut self, pool: &mut Pool<'_>, tag: Tag, text: fmt::Arguments<'_>) {
        self.item(pool, tag, |sink| {
            // cannot fail: the sink takes everything, and a value that fails to print has printed what it could.
            let _ = fmt::write(&mut Escaped(sink), text);
        });
    }

    /// Writes an item in pieces.
    pub(crate) fn item(&mut self, pool: &mut Pool<'_>, tag: Tag, write: impl FnOnce(&mut dyn Sink)) {
        if self.full {
            return;
        }
        let head_at = self.end;
        self.put_bytes(pool, &[0; ITEM_HEAD]);
        let before = self.len;
        write(&mut |text: &str| self.put_bytes(pool, text.as_bytes()));
        let [l0, l1, l2, over] = self.len.saturating_sub(before).to_le_bytes();
        if over != 0 {
            self.full = true;
        }
        if !self.full {
            pool.overwrite(head_at, &[tag as u8, l0, l1, l2]);
        }
    }

    /// Makes the draft the newest record of `chain`.
    pub(crate) fn append_to(self, pool: &mut Pool<'_>, chain: &mut Chain, stamp: Stamp, at: Millis, kind: Kind) {
        let header = Header::encode(stamp, at, kind, self.len);
        pool.overwrite_head(self.first, &header);
        if chain.is_empty() {
            chain.first = self.first;
        } else {
            pool.overwrite_head(chain.last, &self.first.to_le_bytes());
        }
        chain.last = self.first;
        chain.blocks = chain.blocks.saturating_add(self.blocks);
    }

    /// Gives every block back.
    pub(crate) fn discard(self, pool: &mut Pool<'_>) {
        if self.first != NIL {
            pool.give_back(self.first);
        }
    }

    fn put_bytes(&mut self, pool: &mut Pool<'_>, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.full {
            if usize::from(self.end.offset) == PAYLOAD {
                self.grow(pool);
                continue;
            }
            let tail = pool.tail_mut(self.end);
            let n = tail.len().min(bytes.len());
            tail[..n].copy_from_slice(&bytes[..n]);
            bytes = &bytes[n..];
            self.end.offset = self.end.offset.saturating_add(n as u8);
            self.len = self.len.saturating_add(n as u32);
            // A block that is not there has no room.
            self.full |= n == 0;
        }
    }

    fn grow(&mut self, pool: &mut Pool<'_>) {
        let block = if self.blocks < self.budget { pool.take() } else { None };
        let Some(block) = block else {
            self.full = true;
            return;
        };
        if self.first == NIL {
            self.first = block;
        } else {
            pool.link(self.end.block, block);
        }
        self.end = Position { block, offset: 0 };
        self.blocks = self.blocks.saturating_add(1);
    }
}

/// Takes a record out of the middle or the front of a chain and gives its blocks back.
pub(crate) fn remove(pool: &mut Pool<'_>, chain: &mut Chain, before: Option<BlockIndex>, record: BlockIndex) {
    let next = Header::read(pool, record).next();
    match before {
        Some(before) => pool.overwrite_head(before, &next.to_le_bytes()),
        None => chain.first = next,
    }
    if chain.last == record {
        chain.last = before.unwrap_or(NIL);
    }
    chain.blocks = chain.blocks.saturating_sub(pool.give_back(record));
}

/// Gives back every record of a chain.
pub(crate) fn clear(pool: &mut Pool<'_>, chain: &mut Chain) {
    while !chain.is_empty() && chain.first != NIL {
        remove(pool, chain, None, chain.first);
    }
    *chain = Chain::EMPTY;
}
