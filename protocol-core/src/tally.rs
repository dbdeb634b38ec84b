//! What was counted since the start, for whoever draws curves of it. Counters wrap around, as scrapers expect of a counter
//! that is made new.

use crate::{
    dialect::{DIALECT_COUNT, DIALECTS, Dialect, Method},
    model::{Fault, FaultKind, TaskState},
};

/// Requests that were no call: nobody knows what they wanted.
const UNKNOWN: usize = Method::COUNT;
const METHODS: usize = Method::COUNT + 1;
/// What became of a request: it was answered, or refused.
const OUTCOMES: [&str; 2] = ["ok", "error"];

/// The counters of the engine. All of them are small: counting one is an addition.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    requests: [[[u32; OUTCOMES.len()]; METHODS]; DIALECT_COUNT],
    faults: [u32; FaultKind::COUNT],
    moves: [u32; TaskState::COUNT],
    /// Tasks that were created.
    pub created: u32,
    /// Messages that were answered with a message.
    pub replied: u32,
    /// Finished tasks that made room for others.
    pub evicted: u32,
    /// Pieces of artifacts and passed statuses that made room for newer ones of the same task.
    pub dropped: u32,
    /// Events that were begun to be sent on streams.
    pub events: u32,
    /// The most tasks that there were at a time.
    pub(crate) tasks_most: u32,
    /// The most workers that worked at a time.
    pub(crate) workers_most: u32,
    /// The most answers that were waited for at a time, and those that are.
    pub(crate) readers_most: u32,
    pub(crate) readers_used: u32,
    /// The most configurations of webhooks that there were at a time.
    pub(crate) configs_most: u32,
}

/// Which requests are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Their dialect.
    pub dialect: &'static str,
    /// What they wanted, in the words of no dialect; `unknown` for what was no call.
    pub method: &'static str,
    /// `ok` or `error`.
    pub outcome: &'static str,
}

impl Tally {
    pub(crate) const NEW: Self = Self {
        requests: [[[0; OUTCOMES.len()]; METHODS]; DIALECT_COUNT],
        faults: [0; FaultKind::COUNT],
        moves: [0; TaskState::COUNT],
        created: 0,
        replied: 0,
        evicted: 0,
        dropped: 0,
        events: 0,
        tasks_most: 0,
        workers_most: 0,
        readers_most: 0,
        readers_used: 0,
        configs_most: 0,
    };

    /// The words for the states of a task, in the order of [`Tally::moved`].
    pub const STATES: [&'static str; TaskState::COUNT] = {
        let mut names = [""; TaskState::COUNT];
        let mut at = 0;
        while at < TaskState::COUNT {
            names[at] = TaskState::ALL[at].as_str();
            at += 1;
        }
        names
    };

    /// How many kinds of requests are counted apart.
    pub const ASKED: usize = DIALECT_COUNT * METHODS * OUTCOMES.len();

    /// The kind of requests of that number; nothing where a dialect has no such method.
    #[must_use]
    pub fn asked(number: usize) -> Option<Asked> {
        let (rest, outcome) = (number / OUTCOMES.len(), number % OUTCOMES.len());
        let (dialect, method) = (DIALECTS.get(rest / METHODS)?, rest % METHODS);
        let name = if method == UNKNOWN { Some("unknown") } else { Method::NAMES.get(method).copied() };
        let method = name.filter(|_| method == UNKNOWN || dialect.has(method))?;
        Some(Asked { dialect: dialect.label(), method, outcome: OUTCOMES.get(outcome)? })
    }

    /// How many requests of that kind there were.
    #[must_use]
    pub fn requests(&self, number: usize) -> u32 {
        self.requests.as_flattened().as_flattened().get(number).copied().unwrap_or(0)
    }

    /// How many requests were refused for the reason of that number in [`FaultKind::NAMES`].
    #[must_use]
    pub fn refused(&self, kind: usize) -> u32 {
        self.faults.get(kind).copied().unwrap_or(0)
    }

    /// How often a task moved into the state of that number in [`Tally::STATES`].
    #[must_use]
    pub fn moved(&self, state: usize) -> u32 {
        self.moves.get(state).copied().unwrap_or(0)
    }

    pub(crate) fn count_request(&mut self, dialect: &Dialect, method: Option<Method>, fault: Option<FaultKind>) {
        let method = method.map_or(UNKNOWN, |method| method as usize);
        let requests = self.requests.get_mut(usize::from(dialect.number)).and_then(|methods| methods.get_mut(method));
        if let Some(count) = requests.and_then(|outcomes| outcomes.get_mut(usize::from(fault.is_some()))) {
            *count = count.wrapping_add(1);
        }
    }

    pub(crate) fn count_fault(&mut self, kind: FaultKind) {
        if let Some(count) = self.faults.get_mut(kind as usize) {
            *count = count.wrapping_add(1);
        }
    }

    /// Counts what went wrong when the answer had begun.
    pub(crate) fn count_late(&mut self, fault: Option<&Fault>) {
        if let Some(fault) = fault {
            self.count_fault(fault.kind);
        }
    }

    pub(crate) fn count_move(&mut self, state: TaskState) {
        if let Some(count) = self.moves.get_mut(state as usize) {
            *count = count.wrapping_add(1);
        }
    }
}

/// How much of a table is in use, and how much ever was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// In use now.
    pub used: u32,
    /// The most that ever was.
    pub most: u32,
    /// What there is.
    pub all: u32,
}
