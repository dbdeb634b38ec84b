//! The table of tasks: slots, their lists, and finding one by its id.

use crate::{
    config::ID_MAX,
    door::Owner,
    json::Text,
    log::{BlockIndex, Chain, NIL, Stamp},
    model::TaskState,
    trace::Trace,
};

/// A task's or a context's id.
pub(crate) type Id = heapless::String<ID_MAX>;

/// A task, as long as it exists: a key of a task that is gone finds nothing, never another task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct TaskKey {
    pub(super) index: u32,
    generation: u32,
}

impl TaskKey {
    /// The key of no task.
    pub(crate) const NONE: Self = Self { index: u32::MAX, generation: 0 };

    /// All zero, for places that nobody looks at.
    pub(crate) const ZERO: Self = Self { index: 0, generation: 0 };
}

/// Where a slot is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Place {
    Free,
    /// In the queue for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// It waits for its client.
    Asking,
    /// It has ended and may be evicted.
    Finished,
}

/// One task of the table.
pub(crate) struct Slot {
    pub(super) generation: u32,
    pub(super) place: Place,
    pub(super) prev: u32,
    pub(super) next: u32,
    pub(crate) id: Id,
    pub(crate) context: Id,
    /// Whose it is. Nobody else sees it.
    pub(crate) owner: Owner,
    /// Whose credential was shown in it; nobody's if that is the guest.
    pub(crate) lender: Owner,
    /// It has asked for one, and has neither ended nor asked for anything else since.
    pub(crate) asks_credential: bool,
    /// The dialect that made it, by its number.
    pub(crate) birth: u8,
    pub(crate) state: TaskState,
    pub(super) chain: Chain,
    /// The newest status record, and its stamp: the order of lists.
    pub(super) status: BlockIndex,
    pub(crate) status_stamp: Stamp,
    /// The client's message that the present run answers, and the newest one.
    pub(super) run_message: BlockIndex,
    pub(super) newest_message: BlockIndex,
    /// The newest artifact chunk: the next one is usually of the same artifact.
    pub(super) last_chunk: Option<(BlockIndex, Stamp)>,
    pub(super) artifacts: u16,
    /// The highest stamp of any chunk that was dropped, and of any status: what is newer of the same kind stands.
    pub(super) dropped_chunks_upto: Stamp,
    pub(super) dropped_statuses_upto: Stamp,
    /// A block set aside so that the end can always be told.
    pub(super) reserve: BlockIndex,
    /// Nobody has been told of a task yet: the agent may still answer with a message.
    pub(super) tentative: bool,
    /// It was a message, not a task: only the asker sees it.
    pub(super) hidden: bool,
    /// Its agent says that it takes long.
    pub(super) slow: bool,
    /// The trace of the newest message that had one.
    pub(crate) trace: Trace,
}

impl Slot {
    /// The stamp of the newest status or chunk. Neither is ever dropped, so somebody who follows has something to come
    /// exactly when this is newer than where he is.
    pub(super) fn newest_event(&self) -> Stamp {
        self.status_stamp.max(self.last_chunk.map_or(0, |(_, stamp)| stamp))
    }

    /// A slot that was never used: all zero.
    pub(super) const EMPTY: Self = Self {
        generation: 0,
        place: Place::Free,
        prev: 0,
        next: 0,
        id: Id::new(),
        context: Id::new(),
        owner: Owner::GUEST,
        lender: Owner::GUEST,
        asks_credential: false,
        birth: 0,
        state: TaskState::Submitted,
        chain: Chain::EMPTY,
        status: 0,
        status_stamp: 0,
        run_message: 0,
        newest_message: 0,
        last_chunk: None,
        artifacts: 0,
        dropped_chunks_upto: 0,
        dropped_statuses_upto: 0,
        reserve: 0,
        tentative: false,
        hidden: false,
        slow: false,
        trace: Trace::NONE,
    };
}

/// A list of slots, linked through them. A slot is in one list at the most.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) head: u32,
    pub(super) tail: u32,
}

impl List {
    pub(super) const EMPTY: Self = Self { head: NIL, tail: NIL };

    pub(super) const fn is_empty(&self) -> bool {
        self.head == NIL
    }
}

pub(super) struct Slots<'s> {
    pub(super) slots: &'s mut [Slot],
    pub(super) free: u32,
    /// Slots from here on were never used.
    pub(super) fresh: u32,
    used: u32,
}

impl<'s> Slots<'s> {
    pub(super) fn new(slots: &'s mut [Slot]) -> Self {
        Self { slots, free: NIL, fresh: 0, used: 0 }
    }

    pub(super) fn capacity(&self) -> u32 {
        self.slots.len() as u32
    }

    pub(super) const fn used(&self) -> u32 {
        self.used
    }

    pub(super) fn take(&mut self) -> Option<TaskKey> {
        let key = if let Some(key) = self.key_at(self.free) {
            self.free = self.at(self.free)?.next;
            key
        } else {
            let key = self.key_at(self.fresh)?;
            self.fresh = self.fresh.saturating_add(1);
            key
        };
        self.used = self.used.saturating_add(1);
        Some(key)
    }

    /// Fills a slot that was taken.
    pub(super) fn put(&mut self, key: TaskKey, slot: Slot) {
        if let Some(place) = self.at(key.index) {
            *place = Slot { generation: key.generation, ..slot };
        }
    }

    pub(super) fn give_back(&mut self, key: TaskKey) {
        let (generation, next) = (key.generation.wrapping_add(1), self.free);
        let Some(place) = self.at(key.index) else { return };
        *place = Slot { generation, next, ..Slot::EMPTY };
        self.free = key.index;
        self.used = self.used.saturating_sub(1);
    }

    // Small, and asked for everywhere.
    #[inline(never)]
    pub(super) fn get(&self, key: TaskKey) -> Option<&Slot> {
        self.slots.get(key.index as usize).filter(|slot| slot.generation == key.generation && slot.place != Place::Free)
    }

    #[inline(never)]
    pub(super) fn get_mut(&mut self, key: TaskKey) -> Option<&mut Slot> {
        self.slots
            .get_mut(key.index as usize)
            .filter(|slot| slot.generation == key.generation && slot.place != Place::Free)
    }

    /// Every task that a client may see.
    pub(super) fn visible(&self) -> impl Iterator<Item = (TaskKey, &Slot)> {
        (0..self.fresh).zip(self.slots.iter()).filter_map(|(index, slot)| {
            (slot.place != Place::Free && !slot.hidden)
                .then_some((TaskKey { index, generation: slot.generation }, slot))
        })
    }

    /// Every task, in no order, those included that turned out to be messages.
    pub(super) fn taken(&self) -> impl Iterator<Item = (TaskKey, &Slot)> {
        (0..self.fresh).zip(self.slots.iter()).filter_map(|(index, slot)| {
            (slot.place != Place::Free).then_some((TaskKey { index, generation: slot.generation }, slot))
        })
    }

    /// Every task that may be evicted, in no order.
    pub(super) fn finished(&self) -> impl Iterator<Item = (TaskKey, &Slot)> {
        (0..self.fresh).zip(self.slots.iter()).filter_map(|(index, slot)| {
            (slot.place == Place::Finished).then_some((TaskKey { index, generation: slot.generation }, slot))
        })
    }

    /// The task of that owner by its id. Somebody else's is as good as none, and may have the same.
    pub(super) fn find(&self, owner: Owner, id: Text<'_>) -> Option<TaskKey> {
        // What does not fit into an id is the id of no task.
        let id: Id = id.decode()?;
        self.visible().find(|(_, slot)| slot.id == id && slot.owner == owner).map(|(key, _)| key)
    }

    pub(super) fn push_back(&mut self, list: &mut List, key: TaskKey) {
        let Some(slot) = self.at(key.index) else { return };
        slot.prev = list.tail;
        slot.next = NIL;
        match self.at(list.tail) {
            Some(last) => last.next = key.index,
            None => list.head = key.index,
        }
        list.tail = key.index;
    }

    pub(super) fn push_front(&mut self, list: &mut List, key: TaskKey) {
        let Some(slot) = self.at(key.index) else { return };
        slot.prev = NIL;
        slot.next = list.head;
        match self.at(list.head) {
            Some(first) => first.prev = key.index,
            None => list.tail = key.index,
        }
        list.head = key.index;
    }

    pub(super) fn remove(&mut self, list: &mut List, key: TaskKey) {
        let Some(&mut Slot { prev, next, .. }) = self.at(key.index) else { return };
        match self.at(prev) {
            Some(before) => before.next = next,
            None => list.head = next,
        }
        match self.at(next) {
            Some(behind) => behind.prev = prev,
            None => list.tail = prev,
        }
    }

    pub(super) fn front(&self, list: &List) -> Option<TaskKey> {
        self.key_at(list.head)
    }

    /// The one behind it in its list.
    pub(super) fn behind(&self, key: TaskKey) -> Option<TaskKey> {
        self.key_at(self.slots.get(key.index as usize)?.next)
    }

    /// The slot that a list or a key leads to; nothing is at [`NIL`].
    fn at(&mut self, index: u32) -> Option<&mut Slot> {
        self.slots.get_mut(index as usize)
    }

    /// Its key, free or not.
    fn key_at(&self, index: u32) -> Option<TaskKey> {
        self.slots.get(index as usize).map(|slot| TaskKey { index, generation: slot.generation })
    }
}
