//! A door for fuzz targets into what is private. It is there for them only.

use crate::{
    json::Json,
    log::{self, Block, BlockIndex, Chain, Draft, Header, Kind, NIL, Pool, Tag, check_chain},
    model::TaskState,
    time::Millis,
};

/// Memory for a [`Log`].
pub struct Blocks<const COUNT: usize>([Block; COUNT]);

impl<const COUNT: usize> Blocks<COUNT> {
    /// Empty memory.
    pub const fn new() -> Self {
        Self([Block::EMPTY; COUNT])
    }
}

impl<const COUNT: usize> Default for Blocks<COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

/// What is written into a record, and how.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// JSON, without its white space.
    Json(Json<'a>),
    /// Text that is escaped already.
    Escaped(&'a str),
    /// Text as it is.
    Plain(&'a str),
}

/// A few chains of records in one pool of blocks.
pub struct Log<'s, const CHAINS: usize> {
    pool: Pool<'s>,
    chains: [Chain; CHAINS],
    reserves: [BlockIndex; CHAINS],
}

impl<'s, const CHAINS: usize> Log<'s, CHAINS> {
    /// An empty one.
    pub fn new<const COUNT: usize>(blocks: &'s mut Blocks<COUNT>) -> Self {
        Self { pool: Pool::new(&mut blocks.0), chains: [Chain::EMPTY; CHAINS], reserves: [NIL; CHAINS] }
    }

    /// Blocks that can still be taken.
    pub fn available(&self) -> u32 {
        self.pool.available()
    }

    /// Adds a record of so many blocks at the most. False if it does not fit.
    pub fn append(&mut self, chain: usize, head: Head, budget: u32, items: &[(u8, Content<'_>)]) -> bool {
        let draft = Draft::new(&mut self.pool, budget);
        self.finish(chain, head, draft, items)
    }

    /// Sets a block aside, unless one is already or there is none.
    pub fn set_aside(&mut self, chain: usize) {
        if self.reserves[chain] == NIL {
            self.reserves[chain] = self.pool.take().unwrap_or(NIL);
        }
    }

    /// Adds a record in the block that was set aside. False if there is none, or it does not fit: then the block is free.
    pub fn append_in_reserve(&mut self, chain: usize, head: Head, items: &[(u8, Content<'_>)]) -> bool {
        let reserve = core::mem::replace(&mut self.reserves[chain], NIL);
        reserve != NIL && self.finish(chain, head, Draft::in_reserve(reserve), items)
    }

    fn finish(&mut self, chain: usize, head: Head, mut draft: Draft, items: &[(u8, Content<'_>)]) -> bool {
        let pool = &mut self.pool;
        for (tag, content) in items {
            let tag = Tag::ALL[usize::from(*tag) % Tag::ALL.len()];
            match content {
                Content::Json(value) => draft.json(pool, tag, *value),
                Content::Escaped(text) => draft.escaped(pool, tag, text),
                Content::Plain(text) => draft.string(pool, tag, text),
            }
        }
        if draft.is_full() {
            draft.discard(pool);
            return false;
        }
        draft.append_to(pool, &mut self.chains[chain], head.stamp, Millis(head.at), head.kind());
        true
    }

    /// Takes a record out. False if there is none of that number.
    pub fn remove(&mut self, chain: usize, number: usize) -> bool {
        let Some(record) = self.record(chain, number) else { return false };
        let before = number.checked_sub(1).and_then(|before| self.record(chain, before));
        log::remove(&mut self.pool, &mut self.chains[chain], before, record);
        true
    }

    /// Takes all records out.
    pub fn clear(&mut self, chain: usize) {
        log::clear(&mut self.pool, &mut self.chains[chain]);
    }

    /// Whether a record says what it should; its items go to `each`, read in pieces of `window` bytes.
    pub fn read(
        &self,
        chain: usize,
        number: usize,
        head: Head,
        window: usize,
        each: &mut dyn FnMut(u8, &[u8]),
    ) -> bool {
        let Some(record) = self.record(chain, number) else { return false };
        let header = Header::read(&self.pool, record);
        let mut items = header.items(record);
        let mut buffer = [0; 256];
        while let Some(item) = items.next(&self.pool) {
            let (mut at, mut left) = (item.span.at, item.span.len as usize);
            each(item.tag as u8, &[]);
            while left > 0 {
                let piece = &mut buffer[..left.min(window.clamp(1, 256))];
                at = self.pool.read(at, piece);
                each(item.tag as u8, piece);
                left -= piece.len();
            }
        }
        header.stamp() == head.stamp && header.at() == Millis(head.at) && header.kind() == head.kind()
    }

    fn record(&self, chain: usize, number: usize) -> Option<BlockIndex> {
        let mut record = if self.chains[chain].is_empty() { NIL } else { self.chains[chain].first };
        for _ in 0..number {
            if record == NIL {
                return None;
            }
            record = Header::read(&self.pool, record).next();
        }
        (record != NIL).then_some(record)
    }

    /// Asserts that every block is in one place, and gives the blocks of each chain.
    ///
    /// # Panics
    /// If not.
    pub fn check(&self, marks: &mut [bool]) -> [u32; CHAINS] {
        self.pool.check(marks);
        for chain in &self.chains {
            check_chain(&self.pool, chain, marks, |_, _| {});
        }
        for reserve in self.reserves.iter().filter(|reserve| **reserve != NIL) {
            self.pool.mark(*reserve, marks);
        }
        self.pool.check_all_marked(marks);
        self.chains.map(|chain| chain.blocks)
    }
}

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its stamp.
    pub stamp: u64,
    /// Its time.
    pub at: u64,
    /// A number that its kind is made of.
    pub kind: u32,
}

impl Head {
    fn kind(self) -> Kind {
        match self.kind % 5 {
            0 => Kind::Message,
            1 => Kind::Status(TaskState::ALL[self.kind as usize / 5 % TaskState::COUNT]),
            2 => Kind::Chunk {
                artifact: (self.kind >> 8) as u16,
                append: self.kind & 4 != 0,
                last: self.kind & 8 != 0,
                ordinal: self.kind,
            },
            3 => Kind::Reply,
            _ => Kind::Push,
        }
    }
}
