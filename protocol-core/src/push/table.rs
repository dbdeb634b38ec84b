//! Who is to be notified: a place for each configuration, and those who send.

use core::task::Waker;

use super::Rules;
use crate::{
    door::Owner,
    engine::{Cursor, Follower, TaskKey},
    log::{BlockIndex, Stamp},
    time::Millis,
};

/// What the owner of the device says about webhooks.
#[derive(Clone, Copy, Debug)]
pub struct Webhooks<'s> {
    /// Which ones may be called.
    pub rules: Rules<'s>,
    /// Which ones have to prove that they want to be.
    pub challenge: Challenge,
}

/// Who is asked, before anything is sent there, whether a webhook is meant: it has to repeat a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Challenge {
    /// The webhooks of dialects whose clients know how to answer.
    ByDialect,
    /// All of them.
    Always,
    /// None.
    Never,
}

/// Memory for `CONFIGS` configurations, and for `SENDERS` that send at a time. All zero when new: a static one costs no
/// flash.
pub struct PushStorage<const CONFIGS: usize, const SENDERS: usize> {
    places: [Push; CONFIGS],
    senders: [Sender; SENDERS],
}

impl<const CONFIGS: usize, const SENDERS: usize> PushStorage<CONFIGS, SENDERS> {
    /// Bytes that one more configuration takes, beside its record.
    pub const CONFIG_BYTES: usize = size_of::<Push>();

    /// Empty memory.
    pub const fn new() -> Self {
        Self { places: [const { Push::FREE }; CONFIGS], senders: [const { Sender::IDLE }; SENDERS] }
    }
}

impl<const CONFIGS: usize, const SENDERS: usize> Default for PushStorage<CONFIGS, SENDERS> {
    fn default() -> Self {
        Self::new()
    }
}

/// What became of notifications since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PushCounts {
    /// Configurations that there are, and that there is room for.
    pub used: u32,
    /// See `used`.
    pub all: u32,
    /// The most that there were at a time.
    pub most: u32,
    /// Events that were acknowledged.
    pub delivered: u32,
    /// Attempts that failed.
    pub failed: u32,
    /// Times that a webhook was left alone until there is something new to tell.
    pub given_up: u32,
    /// Configurations that made room for others before all was told.
    pub lost: u32,
}

/// Whether a webhook has proved that it is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    NotNeeded,
    Due,
    /// And is asked again from then on.
    Good(Millis),
}

/// One configuration.
pub(crate) struct Push {
    /// The stamp of its record; 0 where the place is free.
    pub(crate) stamp: Stamp,
    pub(crate) record: BlockIndex,
    /// The dialect in which it was made, by its number.
    pub(crate) dialect: u8,
    /// A chance number that no other configuration has, today or after a restart: it makes ids of events.
    pub(crate) nonce: u64,
    /// Behind what was acknowledged.
    pub(crate) follower: Follower,
    /// What was tried goes up to here: it is tried again as it was.
    pub(crate) pinned: Option<Stamp>,
    pub(crate) proof: Proof,
    pub(crate) attempts: u8,
    /// The newest record of any task when it was last tried.
    pub(crate) tried_at: Stamp,
    /// It was given up: nothing is tried until there is something newer than this.
    pub(crate) rests_at: Option<Stamp>,
    /// Nothing is tried before, and whether that is what the webhook asked for.
    pub(crate) due: Millis,
    pub(crate) was_asked: bool,
    /// When it had its turn: whoever waits longest goes first.
    pub(crate) turn: u32,
    /// A sender has it.
    pub(crate) is_out: bool,
}

impl Push {
    /// All zero.
    pub(crate) const FREE: Self = Self {
        stamp: 0,
        record: 0,
        dialect: 0,
        nonce: 0,
        follower: Follower::new(TaskKey::ZERO, Cursor::ZERO),
        pinned: None,
        proof: Proof::NotNeeded,
        attempts: 0,
        tried_at: 0,
        rests_at: None,
        due: Millis(0),
        was_asked: false,
        turn: 0,
        is_out: false,
    };

    pub(crate) const fn is_used(&self) -> bool {
        self.stamp != 0
    }

    pub(crate) fn is_of(&self, task: TaskKey) -> bool {
        self.is_used() && self.follower.key == task
    }

    /// A new one: tells what its follower comes to.
    pub(crate) const fn new(follower: Follower) -> Self {
        Self { follower, ..Self::FREE }
    }
}

/// Somebody who sends.
pub(crate) struct Sender {
    /// To be told when there is something to send.
    pub(crate) waker: Option<Waker>,
    /// On whose behalf it calls a webhook now.
    pub(crate) works_for: Option<Owner>,
}

impl Sender {
    const IDLE: Self = Self { waker: None, works_for: None };
}

/// All configurations. The engine has one, without places where there are no notifications.
pub(crate) struct Table<'s> {
    pub(crate) places: &'s mut [Push],
    pub(crate) senders: &'s mut [Sender],
    pub(crate) webhooks: Webhooks<'s>,
    pub(crate) counts: PushCounts,
    /// When a sender wants to look again.
    pub(crate) wake_at: Option<Millis>,
    pub(crate) turns: u32,
}

impl<'s> Table<'s> {
    /// No notifications.
    pub(crate) const fn none() -> Self {
        Self {
            places: &mut [],
            senders: &mut [],
            webhooks: Webhooks { rules: Rules::STRICT, challenge: Challenge::ByDialect },
            counts: PushCounts { used: 0, all: 0, most: 0, delivered: 0, failed: 0, given_up: 0, lost: 0 },
            wake_at: None,
            turns: 0,
        }
    }

    pub(crate) fn new<const CONFIGS: usize, const SENDERS: usize>(
        storage: &'s mut PushStorage<CONFIGS, SENDERS>,
        webhooks: Webhooks<'s>,
    ) -> Self {
        Self { places: &mut storage.places, senders: &mut storage.senders, webhooks, ..Self::none() }
    }

    /// Whether there is a configuration whose record has that stamp.
    pub(crate) fn has(&self, stamp: Stamp) -> bool {
        self.places.iter().any(|push| push.is_used() && push.stamp == stamp)
    }

    pub(crate) fn get(&self, place: usize, stamp: Stamp) -> Option<&Push> {
        self.places.get(place).filter(|push| push.is_used() && push.stamp == stamp)
    }

    pub(crate) fn get_mut(&mut self, place: usize, stamp: Stamp) -> Option<&mut Push> {
        self.places.get_mut(place).filter(|push| push.is_used() && push.stamp == stamp)
    }

    /// Frees the place of a configuration.
    pub(crate) fn free(&mut self, stamp: Stamp) {
        if let Some(push) = self.places.iter_mut().find(|push| push.is_used() && push.stamp == stamp) {
            *push = Push::FREE;
        }
    }

    /// There may be something to send. The first sender is choosy, so one of the others is woken, too; those who are
    /// awake look by themselves, and whoever finds more than it can take wakes the next one.
    pub(crate) fn wake(&mut self) {
        let mut senders = self.senders.iter_mut();
        let first = senders.next();
        let other = senders.find(|sender| sender.waker.is_some());
        first.into_iter().chain(other).filter_map(|sender| sender.waker.take()).for_each(Waker::wake);
    }
}
