//! Who goes when it gets full: finished tasks, the oldest first; of a task that outgrows its share the oldest pieces;
//! a live task never.

use super::{
    Engine, TaskKey,
    slot::{Place, Slot},
};
use crate::log::{self, Header, Kind, NIL};

impl Engine<'_> {
    /// Evicts the finished task that may go first. False if there is none.
    pub(super) fn evict_one(&mut self) -> bool {
        let Some(key) = self.slots.front(&self.finished) else { return false };
        self.evict(key);
        true
    }

    /// Takes a finished task out of the table.
    pub(super) fn evict(&mut self, key: TaskKey) {
        let Some(slot) = self.slots.get_mut(key).filter(|slot| slot.place == Place::Finished) else { return };
        log::clear(&mut self.pool, &mut slot.chain);
        self.slots.remove(&mut self.finished, key);
        self.slots.give_back(key);
        self.wake_readers(key);
    }

    /// Frees blocks until `wanted` are available, as far as finished tasks have them. `spare` is not evicted.
    pub(super) fn make_room(&mut self, wanted: u32, spare: Option<TaskKey>) -> bool {
        while self.pool.available() < wanted {
            if self.slots.front(&self.finished).is_none_or(|first| Some(first) == spare) || !self.evict_one() {
                return false;
            }
        }
        true
    }

    /// Drops the oldest artifact chunk or passed status of a task. False if it has none that may go.
    pub(super) fn drop_oldest(&mut self, key: TaskKey) -> bool {
        let Some(slot) = self.slots.get_mut(key).filter(|slot| !slot.chain.is_empty()) else { return false };
        let mut before = None;
        let mut record = slot.chain.first;
        while record != NIL {
            let header = Header::read(&self.pool, record);
            if may_go(slot, record, &header) {
                if matches!(header.kind, Kind::Chunk { .. }) {
                    slot.dropped_chunks_upto = slot.dropped_chunks_upto.max(header.stamp);
                }
                slot.dropped_upto = slot.dropped_upto.max(header.stamp);
                log::remove(&mut self.pool, &mut slot.chain, before, record);
                return true;
            }
            before = Some(record);
            record = header.next;
        }
        false
    }
}

fn may_go(slot: &Slot, record: log::BlockIndex, header: &Header) -> bool {
    match header.kind {
        Kind::Chunk { .. } => slot.last_chunk.is_none_or(|(newest, _)| newest != record),
        Kind::Status(_) => record != slot.status,
        Kind::Message | Kind::Reply => false,
    }
}
