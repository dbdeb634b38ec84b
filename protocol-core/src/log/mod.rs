//! The task log: append-only lists of records in one pool of small blocks.
//!
//! ```text
//! Chain (one a task)   first ──► record ──► record ──► record ◄── last
//! record               header │ item │ item │ ...      spread over as many blocks as it needs
//! item                 tag, length, bytes              a field of a message, a part's content, an artifact's name
//! ```
//! Blocks are all alike, so taking and giving back is O(1) and nothing fragments. Records never change once written;
//! a reader is a position and holds no borrow.

#[cfg(any(test, fuzzing))]
mod check;
mod pool;
mod record;
mod write;

#[cfg(test)]
mod tests;

#[cfg(any(test, fuzzing))]
pub(crate) use check::check_chain;
pub(crate) use pool::Block;
pub(crate) use pool::{Pool, Position};
pub(crate) use record::{Header, ITEM_HEAD, Item, Items, Kind, Span, Tag};
pub(crate) use write::{Draft, clear, remove};

/// The index of a block; of a record, the index of its first block.
pub(crate) type BlockIndex = u32;

/// No block.
pub(crate) const NIL: BlockIndex = u32::MAX;

/// The number of a record, counted over all tasks from 1. It orders everything: a snapshot is "up to this stamp", an
/// event's id is its record's stamp.
pub(crate) type Stamp = u64;

/// One task's records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    pub(crate) first: BlockIndex,
    pub(crate) last: BlockIndex,
    pub(crate) blocks: u32,
}

impl Chain {
    pub(crate) const EMPTY: Self = Self { first: 0, last: 0, blocks: 0 };

    pub(crate) const fn is_empty(&self) -> bool {
        self.blocks == 0
    }
}
