//! Who waits for what: workers for tasks, answers for records, both for the clock.

use core::task::Waker;

use super::{Engine, TaskKey, slot::Place};
use crate::{
    door::Owner,
    model::{Fault, TaskState},
    time::Millis,
};

/// A worker's place.
pub(crate) struct Job {
    task: Option<TaskKey>,
    waker: Option<Waker>,
    wake_at: Option<Millis>,
}

impl Job {
    pub(super) const IDLE: Self = Self { task: None, waker: None, wake_at: None };

    pub(super) const fn task(&self) -> Option<TaskKey> {
        self.task
    }
}

/// An answer that is waited for.
pub(crate) struct Reader {
    used: bool,
    pub(super) owner: Owner,
    pub(super) task: Option<TaskKey>,
    waker: Option<Waker>,
    wake_at: Option<Millis>,
}

impl Reader {
    pub(super) const FREE: Self = Self { used: false, owner: Owner::GUEST, task: None, waker: None, wake_at: None };

    pub(super) const fn is_used(&self) -> bool {
        self.used
    }
}

/// A reader's place, given back with [`Engine::handle_reader_gone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReaderKey(pub(super) usize);

impl Engine<'_> {
    /// Takes a place for somebody who waits for a task of its own.
    ///
    /// # Errors
    /// If all are taken, or its owner has as many as it may.
    pub(crate) fn handle_reader(&mut self, task: TaskKey) -> Result<ReaderKey, Fault> {
        let owner = self.slot(task).map_or(Owner::GUEST, |slot| slot.owner);
        let key = self.check_reader(owner)?;
        self.set_reader(key, Reader { used: true, owner, task: Some(task), ..Reader::FREE });
        self.tally.readers_used = self.tally.readers_used.saturating_add(1);
        self.tally.readers_most = self.tally.readers_most.max(self.tally.readers_used);
        Ok(key)
    }

    fn set_reader(&mut self, ReaderKey(index): ReaderKey, reader: Reader) {
        if let Some(place) = self.readers.get_mut(index) {
            *place = reader;
        }
    }

    pub(crate) fn handle_reader_gone(&mut self, key: ReaderKey) {
        self.set_reader(key, Reader::FREE);
        self.tally.readers_used = self.tally.readers_used.saturating_sub(1);
    }

    /// Wakes the reader when its task has a new record, or at `wake_at`.
    pub(crate) fn wait_for_record(&mut self, ReaderKey(index): ReaderKey, wake_at: Millis, waker: &Waker) {
        let Some(reader) = self.readers.get_mut(index) else { return };
        remember(&mut reader.waker, waker);
        reader.wake_at = Some(wake_at);
        self.timer_set(wake_at);
    }

    /// Whether somebody waits for this task, or is being told of it.
    pub(super) fn is_read(&self, task: TaskKey) -> bool {
        self.readers.iter().any(|reader| reader.task == Some(task))
    }

    pub(super) fn wake_readers(&mut self, task: TaskKey) {
        for reader in self.readers.iter_mut().filter(|reader| reader.task == Some(task)) {
            wake(&mut reader.waker);
        }
        if self.push.places.iter().any(|push| push.is_of(task)) {
            self.push.wake();
        }
    }

    /// What a worker does. A number that no worker has is a mistake in the firmware.
    #[inline(never)]
    fn job(&mut self, worker: usize) -> &mut Job {
        &mut self.jobs[worker]
    }

    /// Gives the worker the task whose turn it is, or wakes it when there is one.
    #[must_use]
    pub(crate) fn poll_job(&mut self, worker: usize, waker: &Waker) -> Option<TaskKey> {
        remember(&mut self.job(worker).waker, waker);
        let key = self.next_in_turn()?;
        self.slots.remove(&mut self.queued, key);
        let slot = self.slots.get_mut(key)?;
        slot.place = Place::Running;
        slot.run_message = slot.newest_message;
        self.job(worker).task = Some(key);
        self.tally.workers_most = self.tally.workers_most.max(self.busy());
        // Whoever queued several tasks has woken one worker: each wakes the next.
        if !self.queued.is_empty() {
            self.wake_idle_worker();
        }
        Some(key)
    }

    /// How many workers have a task.
    pub(super) fn busy(&self) -> u32 {
        super::count(self.jobs.iter().filter(|job| job.task.is_some()))
    }

    /// Whether the worker's task is still its to work on.
    pub(crate) fn may_go_on(&self, worker: usize, key: TaskKey) -> bool {
        self.jobs.get(worker).is_some_and(|job| job.task == Some(key))
            && self.slot(key).is_some_and(|slot| slot.place == Place::Running)
    }

    /// Makes the newest message of the client the one to answer. False if it is already, or the task is not the worker's.
    pub(crate) fn take_new_message(&mut self, worker: usize, key: TaskKey) -> bool {
        let is_ours = self.may_go_on(worker, key);
        let Some(slot) = self.slots.get_mut(key).filter(|slot| is_ours && slot.run_message != slot.newest_message)
        else {
            return false;
        };
        slot.run_message = slot.newest_message;
        true
    }

    pub(crate) fn wait_as_worker(&mut self, worker: usize, waker: &Waker) {
        remember(&mut self.job(worker).waker, waker);
    }

    /// Wakes the worker at that time.
    pub(crate) fn wait_until(&mut self, worker: usize, at: Millis) {
        self.job(worker).wake_at = Some(at);
        self.timer_set(at);
    }

    /// The worker has let go of its task. What the client said meanwhile is answered by another run.
    pub(crate) fn handle_worker_done(&mut self, now: Millis, worker: usize, key: TaskKey) {
        let job = self.job(worker);
        job.task = None;
        job.wake_at = None;
        if self.slot(key).is_some_and(|slot| slot.place == Place::Asking && slot.run_message != slot.newest_message) {
            self.queue(now, key);
        }
    }

    /// Whether somebody could start on a new task at once.
    pub(super) fn worker_is_idle(&self) -> bool {
        self.queued.is_empty() && self.jobs.iter().any(|job| job.task.is_none() && job.waker.is_some())
    }

    /// A run is over, whether its worker knows or not: the next run of the task may begin first, and is another's.
    pub(super) fn release_workers(&mut self, task: TaskKey) {
        for job in self.jobs.iter_mut().filter(|job| job.task == Some(task)) {
            job.task = None;
            wake(&mut job.waker);
        }
    }

    pub(super) fn wake_idle_worker(&mut self) {
        if let Some(job) = self.jobs.iter_mut().find(|job| job.task.is_none() && job.waker.is_some()) {
            wake(&mut job.waker);
        }
    }

    /// When [`Engine::handle_timeout`] wants to be called next. Wakes `waker` when that changes.
    #[must_use]
    pub fn poll_timeout(&mut self, waker: &Waker) -> Option<Millis> {
        remember(&mut self.timer, waker);
        let jobs = self.jobs.iter().filter_map(|job| job.wake_at);
        let readers = self.readers.iter().filter_map(|reader| reader.wake_at);
        self.armed = jobs.chain(readers).chain(self.push.wake_at).min();
        self.armed
    }

    /// Wakes everybody whose time has come.
    pub fn handle_timeout(&mut self, now: Millis) {
        for job in self.jobs.iter_mut().filter(|job| job.wake_at.is_some_and(|at| at <= now)) {
            job.wake_at = None;
            wake(&mut job.waker);
        }
        for reader in self.readers.iter_mut().filter(|reader| reader.wake_at.is_some_and(|at| at <= now)) {
            reader.wake_at = None;
            wake(&mut reader.waker);
        }
        if self.push.wake_at.is_some_and(|at| at <= now) {
            self.push.wake_at = None;
            self.push.wake();
        }
    }

    /// Somebody wants to be woken then: whoever waits for the clock must know if that is earlier than he thinks.
    pub(super) fn timer_set(&mut self, at: Millis) {
        if self.armed.is_none_or(|armed| at < armed) {
            wake(&mut self.timer);
        }
    }

    /// Whether the answer to a message can be given: the task settled after it, or turned out to be a message.
    pub(crate) fn is_settled(&self, key: TaskKey, message: u64) -> bool {
        self.slot(key).is_none_or(|slot| slot.hidden || (slot.state.is_settled() && slot.status_stamp > message))
    }

    /// Whether it turned out to be a message.
    pub(crate) fn is_message(&self, key: TaskKey) -> bool {
        self.slot(key).is_some_and(|slot| slot.hidden)
    }

    /// Whether its agent says that it takes long.
    pub(crate) fn is_slow(&self, key: TaskKey) -> bool {
        self.slot(key).is_some_and(|slot| slot.slow)
    }

    /// Whether it is still open if there will be a task at all.
    pub(crate) fn is_tentative(&self, key: TaskKey) -> bool {
        self.slot(key).is_some_and(|slot| slot.tentative && slot.state == TaskState::Submitted)
    }
}

pub(super) fn remember(place: &mut Option<Waker>, waker: &Waker) {
    match place {
        Some(known) if known.will_wake(waker) => {}
        _ => *place = Some(waker.clone()),
    }
}

fn wake(place: &mut Option<Waker>) {
    if let Some(waker) = place {
        waker.wake_by_ref();
    }
}
