//! What one caller may have of the tables, so that there is something left for everybody else. Guests are one and all, and
//! have no share: an open door is open.

use super::{Engine, ReaderKey, TaskKey, count, slot::Place};
use crate::{door::Owner, model::Fault};

impl Engine<'_> {
    /// Whether a caller has as many tasks as it may.
    pub(super) fn has_its_share(&self, owner: Owner) -> bool {
        let share = self.allowance().tasks;
        let is_limited = owner != Owner::GUEST && share < self.slots.capacity();
        is_limited && count(self.slots.taken().filter(|(_, slot)| slot.owner == owner)) >= share
    }

    /// Blocks that a caller may still take: a quarter of the pool is out of reach of the live tasks of any one. What has
    /// ended does not count, it goes when there is need.
    pub(super) fn blocks_left(&self, owner: Owner) -> u32 {
        let most = self.pool.capacity().saturating_sub(self.pool.capacity() / 4);
        // Nobody has so much that it matters.
        if owner == Owner::GUEST || self.pool.available() >= most {
            return u32::MAX;
        }
        let live = self.slots.taken().filter(|(_, slot)| slot.owner == owner && slot.place != Place::Finished);
        live.fold(most, |left, (_, slot)| left.saturating_sub(slot.chain.blocks))
    }

    /// Whether a caller would get a place to wait for an answer, and which. The last one is for somebody who has none.
    ///
    /// # Errors
    /// If not, and why.
    pub(crate) fn check_reader(&self, owner: Owner) -> Result<ReaderKey, Fault> {
        const FULL: Fault = Fault::busy("too many answers are being waited for");
        let index = self.readers.iter().position(|reader| !reader.is_used()).ok_or(FULL)?;
        let free = count(self.readers.iter().filter(|reader| !reader.is_used()));
        let is_last = free == 1 && self.readers.len() > 1;
        let own = count(self.readers.iter().filter(|reader| reader.is_used() && reader.owner == owner));
        if owner != Owner::GUEST && (own >= self.allowance().readers || own > 0 && is_last) {
            return Err(Fault::busy("you are waiting for too many answers already"));
        }
        Ok(ReaderKey(index))
    }

    /// The queued task whose turn it is: of the caller that is worked for least, the one that waits longest.
    pub(super) fn next_in_turn(&self) -> Option<TaskKey> {
        let mut best: Option<(TaskKey, u32)> = None;
        let mut next = self.slots.front(&self.queued);
        for _ in 0..LOOKED_AT {
            let Some(key) = next else { break };
            let running = self.running_for(key);
            if best.is_none_or(|(_, least)| running < least) {
                best = Some((key, running));
            }
            if running == 0 {
                break;
            }
            next = self.slots.behind(key);
        }
        best.map(|(key, _)| key)
    }

    /// How many workers work for the owner of a task.
    fn running_for(&self, key: TaskKey) -> u32 {
        let Some(owner) = self.slots.get(key).map(|slot| slot.owner) else { return 0 };
        let tasks = self.jobs.iter().filter_map(|job| self.slots.get(job.task()?));
        count(tasks.filter(|slot| slot.owner == owner))
    }
}

/// So far into the queue somebody is looked for who is worked for less.
const LOOKED_AT: usize = 64;
