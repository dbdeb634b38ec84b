//! Blocks: taking, giving back, and walking the bytes of a chain of them.

use super::{BlockIndex, NIL};
use crate::config::BLOCK_BYTES;

pub(super) const PAYLOAD: usize = BLOCK_BYTES - 4;

/// One block of the pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// The next block of the same record, or of the free list.
    pub(super) next: BlockIndex,
    bytes: [u8; PAYLOAD],
}

impl Block {
    /// A block as it is before first use: all zero, so that a static pool costs no flash.
    pub(crate) const EMPTY: Self = Self { next: 0, bytes: [0; PAYLOAD] };

    /// What a place that does not exist leads to: the end of everything.
    const NOWHERE: Self = Self { next: NIL, bytes: [0xff; PAYLOAD] };

    /// The word at a place; one instruction, because blocks are aligned like words.
    pub(super) fn word<const AT: usize>(&self) -> u32 {
        const { assert!(AT.is_multiple_of(4) && AT + 4 <= PAYLOAD) };
        let (words, _) = self.bytes.as_chunks();
        u32::from_le_bytes(words[AT / 4])
    }
}

/// A byte's place: its block and the offset there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) block: BlockIndex,
    pub(crate) offset: u8,
}

pub(crate) struct Pool<'s> {
    pub(super) blocks: &'s mut [Block],
    /// Blocks that were given back.
    pub(super) free: BlockIndex,
    /// Blocks from here on were never used; they join no list, so that memory is touched only when needed.
    pub(super) fresh: u32,
    available: u32,
    /// The fewest that there ever were.
    least_available: u32,
    /// Places looked at, for tests that hold the work against the length of what was read.
    #[cfg(test)]
    pub(crate) looks: core::cell::Cell<u64>,
}

impl<'s> Pool<'s> {
    pub(crate) fn new(blocks: &'s mut [Block]) -> Self {
        let available = u32::try_from(blocks.len()).unwrap_or(NIL - 1).min(NIL - 1);
        Self {
            blocks,
            free: NIL,
            fresh: 0,
            available,
            least_available: available,
            #[cfg(test)]
            looks: core::cell::Cell::new(0),
        }
    }

    /// How many blocks can still be taken.
    pub(crate) const fn available(&self) -> u32 {
        self.available
    }

    /// How few there ever were.
    pub(crate) const fn least_available(&self) -> u32 {
        self.least_available
    }

    pub(crate) fn capacity(&self) -> u32 {
        self.blocks.len() as u32
    }

    pub(crate) fn take(&mut self) -> Option<BlockIndex> {
        self.available = self.available.checked_sub(1)?;
        self.least_available = self.least_available.min(self.available);
        let index = if self.free == NIL {
            let fresh = self.fresh;
            self.fresh = fresh.saturating_add(1);
            fresh
        } else {
            let head = self.free;
            self.free = self.at(head).next;
            head
        };
        self.link(index, NIL);
        Some(index)
    }

    /// Gives back a whole chain and says how many blocks it had.
    pub(crate) fn give_back(&mut self, first: BlockIndex) -> u32 {
        let (mut count, mut last, mut next) = (0u32, first, first);
        while next != NIL {
            count = count.saturating_add(1);
            last = next;
            next = self.at(next).next;
        }
        if count > 0 {
            self.link(last, self.free);
            self.free = first;
            self.available = self.available.saturating_add(count);
        }
        count
    }

    pub(crate) fn link(&mut self, block: BlockIndex, next: BlockIndex) {
        if let Some(block) = self.blocks.get_mut(block as usize) {
            block.next = next;
        }
    }

    pub(crate) fn next(&self, block: BlockIndex) -> BlockIndex {
        #[cfg(test)]
        self.looks.set(self.looks.get() + 1);
        self.at(block).next
    }

    fn at(&self, index: BlockIndex) -> &Block {
        self.blocks.get(index as usize).unwrap_or(&Block::NOWHERE)
    }

    /// The bytes from `at` to the end of its block.
    pub(crate) fn tail(&self, at: Position) -> &[u8] {
        #[cfg(test)]
        self.looks.set(self.looks.get() + 1);
        self.at(at.block).bytes.get(usize::from(at.offset)..).unwrap_or_default()
    }

    pub(super) fn block(&self, index: BlockIndex) -> &Block {
        #[cfg(test)]
        self.looks.set(self.looks.get() + 1);
        self.at(index)
    }

    pub(crate) fn tail_mut(&mut self, at: Position) -> &mut [u8] {
        let block = self.blocks.get_mut(at.block as usize);
        block.and_then(|block| block.bytes.get_mut(usize::from(at.offset)..)).unwrap_or_default()
    }

    /// The place `count` bytes further on, and the blocks walked are those in between only.
    pub(crate) fn advance(&self, mut at: Position, mut count: usize) -> Position {
        loop {
            let left = PAYLOAD.saturating_sub(usize::from(at.offset));
            if count < left {
                at.offset = at.offset.saturating_add(count as u8);
                return at;
            }
            let next = self.next(at.block);
            if next == NIL {
                // The end of the chain: one behind the last byte.
                at.offset = PAYLOAD as u8;
                return at;
            }
            count -= left;
            at = Position { block: next, offset: 0 };
        }
    }

    /// Copies bytes out of a chain; returns the place behind them.
    pub(crate) fn read(&self, mut at: Position, mut out: &mut [u8]) -> Position {
        while !out.is_empty() {
            let tail = self.tail(at);
            let n = tail.len().min(out.len());
            if n == 0 {
                let next = self.next(at.block);
                if next == NIL {
                    break;
                }
                at = Position { block: next, offset: 0 };
                continue;
            }
            let (now, later) = out.split_at_mut(n);
            now.copy_from_slice(&tail[..n]);
            out = later;
            at = self.advance(at, n);
        }
        at
    }

    /// Overwrites the first bytes of a block.
    pub(super) fn overwrite_head(&mut self, block: BlockIndex, bytes: &[u8]) {
        let block = self.blocks.get_mut(block as usize);
        if let Some(head) = block.and_then(|block| block.bytes.get_mut(..bytes.len())) {
            head.copy_from_slice(bytes);
        }
    }

    /// Overwrites bytes of a chain.
    pub(crate) fn overwrite(&mut self, mut at: Position, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let tail = self.tail_mut(at);
            let n = tail.len().min(bytes.len());
            let (now, later) = bytes.split_at(n);
            tail[..n].copy_from_slice(now);
            bytes = later;
            let next = self.advance(at, n);
            // Only the end of the chain gets no further: the end of a block is the beginning of the next one.
            if next == at {
                break;
            }
            at = next;
        }
    }
}
