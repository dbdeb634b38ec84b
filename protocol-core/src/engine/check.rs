//! What must hold of the machine between two calls. For tests and fuzz targets only.

use super::{Engine, slot::Place, slot::Slot};
use crate::door::Door;
use crate::log::{Kind, NIL, check_chain};

impl Engine<'_> {
    /// Asserts that every block and every slot is in one place, and that what leads to them is right. `marks` has a place
    /// for each block.
    ///
    /// # Panics
    /// If not.
    pub fn check(&self, marks: &mut [bool]) {
        self.pool.check(marks);
        let mut pushes = 0;
        for index in 0..self.slots.fresh {
            pushes += self.check_slot(index, marks);
        }
        self.check_pushes(pushes);
        self.pool.check_all_marked(marks);
        let count = |place| self.slots.slots.iter().filter(|slot| slot.place == place).count();
        assert_eq!(self.list(self.queued.head, Place::Queued), (self.queued.tail, count(Place::Queued)), "the queue");
        assert_eq!(
            self.list(self.finished.head, Place::Finished),
            (self.finished.tail, count(Place::Finished)),
            "finished tasks"
        );
        let mut free = 0;
        let mut at = self.slots.free;
        while at != NIL {
            free += 1;
            assert!(free <= self.slots.fresh, "the free slots go round");
            assert!(self.slots.slots[at as usize].place == Place::Free, "slot {at} is free and taken");
            at = self.slots.slots[at as usize].next;
        }
        assert_eq!(self.slots.used() + free, self.slots.fresh, "slots");
        let tasks = self.slots.slots.iter().filter(|slot| slot.place != Place::Free).count();
        assert_eq!(self.slots.used() as usize, tasks, "slots in use");
        for key in self.jobs.iter().filter_map(|job| job.task()) {
            let place = self.slots.get(key).map(|slot| slot.place);
            assert_eq!(place, Some(Place::Running), "a worker has a task that does not run");
        }
        for reader in self.readers.iter() {
            assert_eq!(reader.is_used(), reader.task.is_some(), "a reader");
        }
    }

    /// Asserts that every task is of somebody who is known.
    pub(crate) fn check_owners(&self, door: &Door<'_>) {
        assert!(self.slots.taken().all(|(_, slot)| door.knows(slot.owner)), "a task is nobody's");
    }

    /// Every configuration has a place and a record, one each, and its task. `records` is how many records there are: each
    /// of them has a place.
    fn check_pushes(&self, records: usize) {
        let used = || self.push.places.iter().filter(|push| push.is_used());
        assert_eq!(used().count(), records, "a configuration has no record");
        for push in used() {
            let key = push.follower.key;
            assert!(self.slots.get(key).is_some_and(|slot| !slot.hidden), "a configuration has no task");
            assert_eq!(used().filter(|other| other.stamp == push.stamp).count(), 1, "a record has two places");
            assert!(push.follower.cursor.stamp <= self.stamp, "it was told of the future");
            assert!(push.pinned.is_none_or(|pinned| pinned > push.follower.cursor.stamp), "it is told twice");
            assert!(push.rests_at.is_none_or(|rests_at| rests_at <= self.stamp), "it rests for ever");
            // What is asked of every configuration without a look at the log must be what the log says.
            let mut follower = push.follower;
            assert_eq!(follower.next(self, self.stamp).is_none(), self.is_told(push), "what is there to tell");
        }
    }

    /// How many configurations its log has.
    fn check_slot(&self, index: u32, marks: &mut [bool]) -> usize {
        let slot = &self.slots.slots[index as usize];
        if slot.place == Place::Free {
            assert!(slot.chain.is_empty(), "a free slot has a log");
            return 0;
        }
        let mut found = Found::default();
        check_chain(&self.pool, &slot.chain, marks, |record, header| {
            assert!(header.stamp() <= self.stamp, "a stamp of the future");
            found.status |= record == slot.status
                && header.kind() == Kind::Status(slot.state)
                && header.stamp() == slot.status_stamp;
            found.run_message |= record == slot.run_message && header.kind() == Kind::Message;
            found.newest_message |= record == slot.newest_message && header.kind() == Kind::Message;
            found.last_chunk |= slot.last_chunk == Some((record, header.stamp()));
            if header.kind() == Kind::Push {
                found.pushes += 1;
                let has_place = self.push.places.iter().any(|push| {
                    push.stamp == header.stamp() && push.record == record && push.follower.key.index == index
                });
                assert!(has_place, "a configuration has no place");
            }
        });
        assert!(found.newest_message, "the newest message is not in the log");
        let has_run = matches!(slot.place, Place::Running | Place::Asking);
        assert!(found.run_message || !has_run, "the message of the run is not in the log");
        assert!(found.status || slot.hidden, "the status is not in the log");
        assert!(found.last_chunk || slot.last_chunk.is_none(), "the newest chunk is not in the log");
        self.check_place(index, slot);
        if slot.place != Place::Finished && slot.reserve != NIL {
            self.pool.mark(slot.reserve, marks);
        }
        found.pushes
    }

    fn check_place(&self, index: u32, slot: &Slot) {
        let workers = self.jobs.iter().filter_map(|job| job.task()).filter(|task| task.index == index).count();
        match slot.place {
            Place::Running => assert_eq!(workers, 1, "a task runs once"),
            _ => assert_eq!(workers, 0, "a task that does not run has a worker"),
        }
        assert_eq!(slot.place == Place::Finished, slot.state.is_terminal(), "what has ended is finished");
        assert_eq!(slot.place == Place::Asking, slot.state.is_interrupted(), "what asks waits");
        assert!(slot.place == Place::Finished || slot.reserve != NIL, "a task may end and could not tell");
        assert!(slot.chain.blocks <= self.share + 1, "a task has more than its share");
    }

    /// Follows a list: its last slot and how many it has, each of them at that place.
    fn list(&self, head: u32, place: Place) -> (u32, usize) {
        let (mut before, mut at, mut count) = (NIL, head, 0);
        while at != NIL {
            let slot = &self.slots.slots[at as usize];
            assert!(slot.place == place && slot.prev == before, "slot {at} in a list");
            count += 1;
            assert!(count <= self.slots.slots.len(), "a list goes round");
            before = at;
            at = slot.next;
        }
        (before, count)
    }
}

/// Which of the records that a slot knows are in its log.
#[derive(Default)]
struct Found {
    status: bool,
    run_message: bool,
    newest_message: bool,
    last_chunk: bool,
    pushes: usize,
}

#[cfg(test)]
mod tests {
    use core::task::Waker;

    use super::*;
    use crate::{
        dialect::Served,
        door::Door,
        engine::Storage,
        model::{Profile, TaskState},
        node::{Identity, Inbound, Node},
        push::{Challenge, PushStorage, Rules, Webhooks},
        time::{Clock, Entropy, Millis},
    };

    struct Fixed;

    impl Clock for Fixed {
        fn now(&self) -> Millis {
            Millis(0)
        }
    }

    impl Entropy for Fixed {
        fn fill(&mut self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    const SEND: &[u8] =
        br#"{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t","pushNotification":{"url":"https://example.com"},"message":{"role":"user","parts":[{"type":"text","text":"x"}]}}}"#;

    /// Runs a task up to its end, looks at every step, and then lets `spoil` spoil it.
    fn spoiled(spoil: impl FnOnce(&mut Engine<'_>)) {
        let mut storage = Storage::<3, 24, 2, 2>::new();
        let mut pushes = PushStorage::<2, 1>::new();
        let mut entropy = Fixed;
        let profile = Profile {
            name: "",
            description: "",
            version: "",
            provider: None,
            documentation_url: None,
            input_modes: &["*/*"],
            output_modes: &["*/*"],
            skills: &[],
        };
        let identity = Identity { profile, url: None, served: Served::ALL };
        let mut engine = Engine::new(&mut storage, &mut entropy);
        engine.set_push(&mut pushes, Webhooks { rules: Rules::STRICT, challenge: Challenge::Never });
        let node = Node::new(engine, Door::open_to_all(), &Fixed, identity);
        let mut marks = [false; 24];
        node.check(&mut marks);
        let reply = node.call(&Inbound { body: SEND, ..Inbound::GUEST });
        node.check(&mut marks);
        let key = node.engine().poll_job(0, Waker::noop()).unwrap();
        node.check(&mut marks);
        spoil(&mut node.engine());
        drop(reply);
        assert!(node.engine().record_status(Millis(0), key, TaskState::Completed, &[]).is_ok());
        node.engine().handle_worker_done(Millis(0), 0, key);
        node.check(&mut marks);
    }

    #[test]
    fn what_is_in_order_passes() {
        spoiled(|_| {});
    }

    #[test]
    #[should_panic(expected = "a block is lost")]
    fn a_block_that_is_lost_is_missed() {
        spoiled(|engine| assert!(engine.pool.take().is_some()));
    }

    #[test]
    #[should_panic(expected = "is in two places")]
    fn a_block_in_two_places_is_seen() {
        spoiled(|engine| assert_eq!(engine.pool.give_back(engine.slots.slots[0].reserve), 1));
    }

    #[test]
    #[should_panic(expected = "slots")]
    fn a_slot_that_is_lost_is_missed() {
        spoiled(|engine| assert!(engine.slots.take().is_some()));
    }

    #[test]
    #[should_panic(expected = "a configuration has no place")]
    fn a_configuration_without_a_place_is_seen() {
        spoiled(|engine| {
            let stamp = engine.push.places[0].stamp;
            engine.push.free(stamp);
        });
    }

    #[test]
    #[should_panic(expected = "a configuration has no record")]
    fn a_configuration_without_a_record_is_seen() {
        spoiled(|engine| engine.push.places[1] = crate::push::Push { stamp: 99, ..crate::push::Push::FREE });
    }

    #[test]
    #[should_panic(expected = "finished tasks")]
    fn a_task_in_no_list_is_missed() {
        spoiled(|engine| engine.finished.tail = 0);
    }
}
