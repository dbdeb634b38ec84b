//! What is due to whom: notifications in order, tried again with growing pauses, and given up in the end.

use core::task::Waker;

use super::{Engine, Event, Follower, TaskKey, wait::remember};
use crate::{
    journal::{Level, Note},
    log::Stamp,
    push::{Outcome, Proof, Push, PushCounts, Sender},
    time::Millis,
};

/// After so many attempts a webhook is left alone until there is something new to tell.
const ATTEMPTS: u8 = 8;
/// And after so many in all if there was something new.
const ATTEMPTS_AGAIN: u8 = 2 * ATTEMPTS;
/// The pause behind the first attempt; each further one is twice as long.
const PAUSE_MIN: Millis = Millis(1_000);
const PAUSE_MAX: Millis = Millis(300_000);
/// The longest pause that a webhook may ask for.
const PAUSE_ASKED_MAX: Millis = Millis(3_600_000);
/// A webhook that has proved that it is meant is asked again after so long.
const PROOF_LASTS: Millis = Millis(24 * 3_600_000);

/// What there is to do for a configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Errand {
    /// Ask whether it is meant.
    Challenge,
    /// Tell it of an event.
    Event(Due),
}

/// An event that is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) event: Event,
    /// It goes up to here.
    pub(crate) upto: Stamp,
    /// The artifact ends with it.
    pub(crate) ends: bool,
    /// Where one is behind it.
    behind: Follower,
}

impl Engine<'_> {
    /// Whether there is anything to do for a configuration, whenever that is. Looks at no record: configurations are many,
    /// and this is asked of each of them often.
    pub(super) fn has_errand(&self, push: &Push) -> bool {
        let key = push.follower.key;
        let Some(slot) = self.slot(key).filter(|_| !self.is_tentative(key)) else { return false };
        let is_resting = push.rests_at.is_some_and(|rests_at| slot.newest_event() <= rests_at);
        !is_resting && (push.proof == Proof::Due || !self.is_told(push))
    }

    /// Whether all that has happened was told.
    pub(super) fn is_told(&self, push: &Push) -> bool {
        self.slot(push.follower.key).is_none_or(|slot| slot.newest_event() <= push.follower.cursor.stamp)
    }

    fn errand(&self, push: &Push, now: Millis) -> Option<Errand> {
        match push.proof {
            Proof::Due => Some(Errand::Challenge),
            // Nobody is asked for nothing: there is something to tell.
            Proof::Good(until) if now >= until => Some(Errand::Challenge),
            Proof::Good(_) | Proof::NotNeeded => self.due_event(push).map(Errand::Event),
        }
    }

    fn due_event(&self, push: &Push) -> Option<Due> {
        let first = |upto| {
            let mut behind = push.follower;
            let (event, ends) = behind.next_joined(self, upto)?;
            Some(Due { event, upto: behind.cursor.stamp, ends, behind })
        };
        // The log may have lost what was tried before.
        push.pinned.and_then(first).or_else(|| first(self.stamp))
    }

    /// Whether somebody is still to be notified of a task.
    pub(super) fn is_owed(&self, task: TaskKey) -> bool {
        self.push.places.iter().any(|push| push.is_of(task) && (push.is_out || self.has_errand(push)))
    }

    /// Gives a sender something to do: the place of a configuration, its stamp, and what; or wakes it when there is.
    ///
    /// The first sender takes only what goes well, so that webhooks that don't answer never delay all others. Whoever is
    /// worked for least comes first: one that makes its slow webhooks anew all the time can delay its own.
    #[must_use]
    pub(crate) fn poll_delivery(
        &mut self,
        now: Millis,
        sender: usize,
        waker: &Waker,
    ) -> Option<(usize, Stamp, Errand)> {
        if let Some(place) = self.push.senders.get_mut(sender) {
            remember(&mut place.waker, waker);
        }
        let is_choosy = sender == 0 && self.push.senders.len() > 1;
        let mut best: Option<(u32, u32, usize, &Push)> = None;
        let mut has_more = false;
        let mut wake_at: Option<Millis> = None;
        for (push, place) in self.push.places.iter().zip(0..self.push.places.len()) {
            if !push.is_used() || push.is_out || is_choosy && push.attempts > 0 || !self.has_errand(push) {
                continue;
            }
            let waits = self.push.turns.wrapping_sub(push.turn);
            if push.due > now {
                wake_at = Some(wake_at.map_or(push.due, |at| at.min(push.due)));
                continue;
            }
            has_more = best.is_some();
            let busy = self.senders_for(push);
            if best.is_none_or(|(least, longest, ..)| busy < least || busy == least && waits > longest) {
                best = Some((busy, waits, place, push));
            }
        }
        let next = best.and_then(|(.., place, push)| Some((place, push.stamp, self.errand(push, now)?)));
        if let Some(at) = wake_at {
            self.push.wake_at = Some(self.push.wake_at.map_or(at, |before| before.min(at)));
            self.timer_set(at);
        }
        let (place, stamp, errand) = next?;
        let newest = self.stamp;
        let push = self.push.get_mut(place, stamp)?;
        push.is_out = true;
        push.tried_at = newest;
        if let Errand::Event(due) = &errand {
            push.pinned = Some(due.upto);
        }
        let owner = self.push(place, stamp).and_then(|push| self.slot(push.follower.key)).map(|slot| slot.owner);
        if let Some(awake) = self.push.senders.get_mut(sender) {
            *awake = Sender { waker: None, works_for: owner };
        }
        if has_more {
            self.push.wake();
        }
        Some((place, stamp, errand))
    }

    /// How many senders work for the owner of a configuration.
    fn senders_for(&self, push: &Push) -> u32 {
        let owner = self.slot(push.follower.key).map(|slot| slot.owner);
        super::count(self.push.senders.iter().filter(|sender| owner.is_some() && sender.works_for == owner))
    }

    /// A sender tells how it went.
    pub(crate) fn handle_delivery(
        &mut self,
        now: Millis,
        sender: usize,
        place: usize,
        stamp: Stamp,
        errand: Errand,
        outcome: Outcome,
    ) {
        if let Some(sender) = self.push.senders.get_mut(sender) {
            sender.works_for = None;
        }
        self.push.turns = self.push.turns.wrapping_add(1);
        let turn = self.push.turns;
        let mut chance = [0; 2];
        if outcome != Outcome::Delivered {
            self.entropy.fill(&mut chance);
        }
        // It may have been deleted meanwhile.
        let Some(push) = self.push.places.get_mut(place).filter(|push| push.is_used() && push.stamp == stamp) else {
            return;
        };
        push.is_out = false;
        push.turn = turn;
        let counts = &mut self.push.counts;
        let mut given_up = None;
        match outcome {
            Outcome::Delivered => {
                push.attempts = 0;
                push.rests_at = None;
                push.due = now;
                push.was_asked = false;
                match errand {
                    Errand::Challenge => push.proof = Proof::Good(now.after(PROOF_LASTS)),
                    Errand::Event(due) => {
                        push.follower = due.behind;
                        push.pinned = None;
                        counts.delivered = counts.delivered.saturating_add(1);
                    }
                }
            }
            Outcome::Failed { .. } | Outcome::Refused => {
                counts.failed = counts.failed.saturating_add(1);
                push.attempts = push.attempts.saturating_add(1);
                let asked = if let Outcome::Failed { retry_after } = outcome { retry_after } else { None };
                let pause = pause_behind(push.attempts, u16::from_le_bytes(chance));
                push.due = now.after(asked.map_or(pause, |asked| pause.max(asked.min(PAUSE_ASKED_MAX))));
                push.was_asked = asked.is_some();
                // One that was taken up again is tried as often, with the longest pauses.
                let is_enough = push.attempts == ATTEMPTS || push.attempts >= ATTEMPTS_AGAIN;
                if is_enough || outcome == Outcome::Refused {
                    counts.given_up = counts.given_up.saturating_add(1);
                    // What has come while it was out is something new.
                    push.rests_at = Some(push.tried_at);
                    push.attempts = ATTEMPTS;
                    given_up = Some(push.follower.key);
                }
            }
        }
        if let Some(key) = given_up {
            self.journal.now = now;
            self.note(Note::new(Level::Warn, "a webhook is given up until there is something new to tell"), key);
        }
        self.push.wake();
    }

    /// Whoever could not be reached is tried again at once, but for those who want to be left alone.
    pub(crate) fn retry_deliveries(&mut self, now: Millis) {
        for push in self.push.places.iter_mut().filter(|push| push.is_used() && !push.was_asked) {
            push.rests_at = None;
            push.attempts = push.attempts.min(1);
            push.due = now;
        }
        self.push.wake();
    }

    /// What became of notifications.
    pub(crate) fn push_counts(&self) -> PushCounts {
        let used = super::count(self.push.places.iter().filter(|push| push.is_used()));
        let most = self.tally.configs_most.max(used);
        PushCounts { used, most, all: self.push.places.len() as u32, ..self.push.counts }
    }
}

/// How long to wait behind so many attempts: twice as long each time, and half of it by chance, so that those who failed
/// together don't come back together.
fn pause_behind(attempts: u8, chance: u16) -> Millis {
    let doubled = PAUSE_MIN.0 << attempts.saturating_sub(1).min(ATTEMPTS_AGAIN);
    let half = doubled.min(PAUSE_MAX.0) / 2;
    Millis(half.saturating_add(half.saturating_mul(u64::from(chance)) / 0xffff))
}
