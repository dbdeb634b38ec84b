//! Lists of tasks: filters, a stable order, pages.

use super::{Engine, Snapshot, TaskKey, count};
use crate::{
    config::ID_MAX,
    door::Owner,
    log::Stamp,
    model::{Filter, History, TaskState},
    time::UnixMillis,
};

/// One page of a list, as it was when it was asked for.
///
/// The order is that of the newest status record, newest first. Its stamp is unique and never comes back, so a page
/// token ("behind this stamp") stays right however the tasks change: a task that moves meanwhile moves to the front,
/// and no task is shown twice or left out in between.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    owner: Owner,
    context: Option<heapless::String<ID_MAX>>,
    state: Option<TaskState>,
    after: Option<UnixMillis>,
    pub(crate) history: History,
    pub(crate) artifacts: bool,
    pub(crate) size: u16,
    /// What the list looked like: records up to here.
    pub(crate) upto: Stamp,
    pub(crate) total: u32,
    /// How many may still be shown, and behind which stamp.
    left: u16,
    behind: Stamp,
    /// The stamp of the last task of this page, if there are more behind it.
    pub(crate) next: Option<Stamp>,
}

impl Page {
    pub(crate) fn new(engine: &Engine<'_>, owner: Owner, filter: &Filter<'_>) -> Self {
        let mut page = Self {
            owner,
            // A context longer than an id may be is the context of no task; so is the empty one.
            context: filter.context.map(|context| context.decode().unwrap_or_default()),
            state: filter.state,
            after: filter.after,
            history: filter.history,
            artifacts: filter.artifacts,
            size: filter.page_size,
            upto: engine.snapshot_stamp(),
            total: 0,
            left: filter.page_size,
            behind: filter.behind.unwrap_or(Stamp::MAX),
            next: None,
        };
        page.total = count(page.matching(engine, Stamp::MAX));
        let mut last = page.behind;
        for _ in 0..page.size {
            match page.best(engine, last) {
                Some((_, stamp)) => last = stamp,
                None => return page,
            }
        }
        page.next = page.best(engine, last).map(|_| last);
        page
    }

    /// The next task of the page.
    pub(crate) fn advance(&mut self, engine: &Engine<'_>) -> Option<Snapshot> {
        self.left = self.left.checked_sub(1)?;
        let (key, stamp) = self.best(engine, self.behind)?;
        self.behind = stamp;
        Some(Snapshot { key, upto: self.upto })
    }

    /// Whether there is one.
    pub(crate) fn has_more(&self, engine: &Engine<'_>) -> bool {
        self.left > 0 && self.best(engine, self.behind).is_some()
    }

    fn best(&self, engine: &Engine<'_>, behind: Stamp) -> Option<(TaskKey, Stamp)> {
        self.matching(engine, behind).max_by_key(|(_, stamp)| *stamp)
    }

    fn matching<'e>(&'e self, engine: &'e Engine<'_>, behind: Stamp) -> impl Iterator<Item = (TaskKey, Stamp)> + 'e {
        engine.slots.visible().filter_map(move |(key, slot)| {
            // Nobody sees the tasks of others. And whether there will be a task at all may not be decided yet.
            if slot.tentative || slot.owner != self.owner {
                return None;
            }
            if self.context.as_ref().is_some_and(|context| *context != slot.context) {
                return None;
            }
            // The usual case without reading the log: the status has not changed since.
            let (stamp, state, at) = if slot.status_stamp <= self.upto && self.after.is_none() {
                (slot.status_stamp, slot.state, None)
            } else {
                let (cursor, state, at) = engine.status(Snapshot { key, upto: self.upto })?;
                (cursor.stamp, state, engine.wall_time(at))
            };
            let shown = stamp < behind
                && self.state.is_none_or(|wanted| wanted == state)
                && self.after.is_none_or(|after| at.is_some_and(|at| at > after));
            shown.then_some((key, stamp))
        })
    }
}

impl Engine<'_> {
    pub(crate) const fn snapshot_stamp(&self) -> Stamp {
        self.stamp
    }
}
