//! Who goes when it gets full: finished tasks, the oldest first, those that somebody reads last; of a task that outgrows
//! its share the oldest pieces; a live task never.

use super::{
    Engine, TaskKey,
    slot::{Place, Slot},
};
use crate::door::{Door, Owner};
use crate::journal::Note;
use crate::log::{self, Draft, Header, Kind, NIL};
use crate::time::Millis;

impl Engine<'_> {
    /// Evicts the finished task that may go first, other than `spare`. False if there is none.
    pub(super) fn evict_one(&mut self, spare: Option<TaskKey>) -> bool {
        let Some(key) = self.first_to_go(|key, _| Some(key) != spare) else { return false };
        self.evict(key);
        true
    }

    /// The first of the finished tasks that are meant. One that is being read goes after all others: whoever asked for it
    /// has not got it yet, or somebody is still to be notified.
    fn first_to_go(&self, is_meant: impl Fn(TaskKey, &Slot) -> bool) -> Option<TaskKey> {
        let mut being_read = None;
        let mut next = self.slots.front(&self.finished);
        while let Some(key) = next {
            if self.slots.get(key).is_some_and(|slot| is_meant(key, slot)) {
                if !self.is_read(key) && !self.is_owed(key) {
                    return Some(key);
                }
                being_read = being_read.or(next);
            }
            next = self.slots.behind(key);
        }
        being_read
    }

    /// The finished task of a caller that would go first.
    pub(super) fn oldest_finished_of(&self, owner: Owner) -> Option<TaskKey> {
        self.first_to_go(|_, slot| slot.owner == owner)
    }

    /// Lets go of all tasks of those who are no longer known.
    pub(crate) fn handle_forgotten(&mut self, now: Millis, door: &Door<'_>) {
        loop {
            let orphan = self.slots.taken().find(|(_, slot)| !door.knows(slot.owner)).map(|(key, _)| key);
            let Some(key) = orphan else { return };
            // Nobody is told how it ends: who was to be is not known any more.
            self.drop_pushes(key);
            // An error: it has ended.
            let _ = self.handle_cancel(now, key);
            self.evict(key);
            // cannot be: what was canceled has ended, and what has ended can be evicted.
            if self.slots.get(key).is_some() {
                return;
            }
        }
    }

    /// Takes a finished task out of the table.
    pub(super) fn evict(&mut self, key: TaskKey) {
        let Some(slot) = self.slots.get(key).filter(|slot| slot.place == Place::Finished) else { return };
        let was_task = !slot.hidden;
        self.forget_pushes(key);
        if was_task {
            self.tally.evicted = self.tally.evicted.wrapping_add(1);
            self.note(Note::EVICTED, key);
        }
        let Some(slot) = self.slots.get_mut(key) else { return };
        log::clear(&mut self.pool, &mut slot.chain);
        self.slots.remove(&mut self.finished, key);
        self.slots.give_back(key);
        self.wake_readers(key);
    }

    /// Frees blocks until `wanted` are available, as far as finished tasks have them. `spare` is not evicted.
    pub(super) fn make_room(&mut self, wanted: u32, spare: Option<TaskKey>) -> bool {
        while self.pool.available() < wanted {
            if !self.evict_one(spare) {
                return false;
            }
        }
        true
    }

    /// Blocks that could be had by evicting every finished task but `spare`.
    pub(super) fn evictable(&self, spare: Option<TaskKey>) -> u32 {
        let others = self.slots.finished().filter(|(key, _)| Some(*key) != spare);
        others.fold(0, |blocks, (_, slot)| blocks.saturating_add(slot.chain.blocks))
    }

    /// Blocks that dropping the oldest pieces of a task would give back, until that is `enough` or nothing is left.
    pub(super) fn droppable(&self, key: TaskKey, enough: u32) -> u32 {
        let Some(slot) = self.slots.get(key).filter(|slot| !slot.chain.is_empty()) else { return 0 };
        let mut blocks = 0u32;
        let mut record = slot.chain.first;
        while record != NIL && blocks < enough {
            let header = Header::read(&self.pool, record);
            if may_go(slot, record, header) {
                blocks = blocks.saturating_add(Draft::blocks_for(header.len() as usize));
            }
            record = header.next();
        }
        blocks
    }

    /// Drops the oldest artifact chunk or passed status of a task. False if it has none that may go.
    pub(super) fn drop_oldest(&mut self, key: TaskKey) -> bool {
        let Some(slot) = self.slots.get_mut(key).filter(|slot| !slot.chain.is_empty()) else { return false };
        let mut before = None;
        let mut record = slot.chain.first;
        while record != NIL {
            let header = Header::read(&self.pool, record);
            if may_go(slot, record, header) {
                match header.kind() {
                    Kind::Chunk { .. } => slot.dropped_chunks_upto = header.stamp(),
                    _ => slot.dropped_statuses_upto = header.stamp(),
                }
                log::remove(&mut self.pool, &mut slot.chain, before, record);
                self.tally.dropped = self.tally.dropped.wrapping_add(1);
                return true;
            }
            before = Some(record);
            record = header.next();
        }
        false
    }
}

fn may_go(slot: &Slot, record: log::BlockIndex, header: Header<'_>) -> bool {
    match header.kind() {
        Kind::Chunk { .. } => slot.last_chunk.is_none_or(|(newest, _)| newest != record),
        Kind::Status(_) => record != slot.status,
        Kind::Message | Kind::Reply | Kind::Push => false,
    }
}
