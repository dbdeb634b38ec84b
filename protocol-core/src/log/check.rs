//! What must hold of the log between two calls. For tests and fuzz targets only.

use super::{BlockIndex, Chain, Draft, Header, NIL, Pool};

impl Pool<'_> {
    /// Asserts that the blocks that are free are free once, and as many as they are said to be. `marks` has a place for
    /// each block; from here on those are marked that are free.
    pub(crate) fn check(&self, marks: &mut [bool]) {
        marks.fill(false);
        assert_eq!(marks.len(), self.blocks.len(), "a place for each block");
        let mut free = 0;
        let mut at = self.free;
        while at != NIL {
            assert!(at < self.fresh, "block {at} is free and was never used");
            self.mark(at, marks);
            free += 1;
            at = self.blocks[at as usize].next;
        }
        for index in self.fresh..self.capacity() {
            self.mark(index, marks);
            free += 1;
        }
        assert_eq!(free, self.available(), "blocks that are free");
    }

    /// Marks a block that nobody else has.
    pub(crate) fn mark(&self, index: BlockIndex, marks: &mut [bool]) {
        let mark = &mut marks[index as usize];
        assert!(!core::mem::replace(mark, true), "block {index} is in two places");
    }

    /// Asserts that every block is somewhere.
    pub(crate) fn check_all_marked(&self, marks: &[bool]) {
        let lost = marks.iter().position(|mark| !mark);
        assert_eq!(lost, None, "a block is lost");
    }
}

/// Asserts that a chain is one, marks its blocks, and shows every record to `see`.
pub(crate) fn check_chain(
    pool: &Pool<'_>,
    chain: &Chain,
    marks: &mut [bool],
    mut see: impl FnMut(BlockIndex, Header<'_>),
) {
    let (mut blocks, mut stamp, mut last) = (0, 0, None);
    let mut record = if chain.is_empty() { NIL } else { chain.first };
    while record != NIL {
        let header = Header::read(pool, record);
        assert!(header.stamp() > stamp, "stamps go up");
        stamp = header.stamp();
        let mut block = record;
        let mut count = 0;
        while block != NIL {
            pool.mark(block, marks);
            count += 1;
            block = pool.next(block);
        }
        assert_eq!(count, Draft::blocks_for(header.len() as usize), "a record has the blocks that it needs");
        check_items(pool, record, header);
        blocks += count;
        see(record, header);
        last = Some(record);
        record = header.next();
    }
    assert_eq!(blocks, chain.blocks, "blocks of a chain");
    assert!(last.is_none_or(|last| last == chain.last), "the last record of a chain");
}

/// Asserts that the items of a record fill it to its last byte.
fn check_items(pool: &Pool<'_>, record: BlockIndex, header: Header<'_>) {
    let mut items = header.items(record);
    let mut len = 0;
    while let Some(item) = items.next(pool) {
        len += super::ITEM_HEAD as u32 + item.span.len;
    }
    assert_eq!(len, header.len(), "items of a record");
}
