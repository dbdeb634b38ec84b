//! What the HTTP edge counts: connections, answers, refusals, bytes.

use core::cell::Cell;

use super::{Ending, answer, service::Refusal};

/// The counters of the edge, and how full its tables are. Nothing in them says who it was.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Connections that are served.
    pub connections: Gauge,
    /// Shared buffers for bodies that are in use.
    pub bodies: Gauge,
    received: Cell<u64>,
    sent: Cell<u64>,
    answers: [Cell<u32>; answer::STATUSES.len()],
    refusals: [Cell<u32>; Why::COUNT],
    endings: [Cell<u32>; Ending::NAMES.len()],
}

/// How much of something is in use.
#[derive(Debug, Default)]
pub struct Gauge {
    used: Cell<u32>,
    most: Cell<u32>,
}

/// One more in use, until this is dropped.
pub(super) struct Seat<'g>(&'g Gauge);

impl Gauge {
    /// In use now.
    pub fn used(&self) -> u32 {
        self.used.get()
    }

    /// The most that ever was.
    pub fn most(&self) -> u32 {
        self.most.get()
    }

    pub(super) fn take(&self) -> Seat<'_> {
        self.used.set(self.used.get().saturating_add(1));
        self.most.set(self.most.get().max(self.used.get()));
        Seat(self)
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.used.set(self.0.used.get().saturating_sub(1));
    }
}

impl Traffic {
    /// Bytes that came in.
    pub fn received_bytes(&self) -> u64 {
        self.received.get()
    }

    /// Bytes that went out.
    pub fn sent_bytes(&self) -> u64 {
        self.sent.get()
    }

    /// Answers by their HTTP status: the one of that number, and how many.
    pub fn answers(&self, number: usize) -> Option<(u16, u32)> {
        answer::STATUSES.get(number).zip(self.answers.get(number)).map(|((status, _), count)| (*status, count.get()))
    }

    /// Requests and connections that the edge refused: the reason of that number, and how many.
    pub fn refusals(&self, number: usize) -> Option<(&'static str, u32)> {
        Why::NAMES.get(number).zip(self.refusals.get(number)).map(|(name, count)| (*name, count.get()))
    }

    /// How connections ended: the way of that number, and how many.
    pub fn endings(&self, number: usize) -> Option<(&'static str, u32)> {
        Ending::NAMES.get(number).zip(self.endings.get(number)).map(|(name, count)| (*name, count.get()))
    }

    /// Counts a client that there is no connection for.
    pub(crate) fn turned_away(&self) {
        self.refused(Why::NoRoom);
        self.ended(Ending::TurnedAway);
    }

    pub(super) fn received(&self, bytes: usize) {
        self.received.set(self.received.get().wrapping_add(bytes as u64));
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.sent.set(self.sent.get().wrapping_add(bytes as u64));
    }

    pub(super) fn answered(&self, status: u16) {
        let place = answer::STATUSES.iter().zip(&self.answers).find(|((known, _), _)| *known == status);
        if let Some((_, count)) = place {
            count.set(count.get().wrapping_add(1));
        }
    }

    pub(super) fn refused(&self, why: Why) {
        if let Some(count) = self.refusals.get(why as usize) {
            count.set(count.get().wrapping_add(1));
        }
    }

    pub(super) fn ended(&self, ending: Ending) {
        if let Some(count) = self.endings.get(ending as usize) {
            count.set(count.get().wrapping_add(1));
        }
    }
}

macro_rules! reasons {
    ($($reason:ident $name:literal,)*) => {
        /// Why the edge refuses something.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Why {
            $($reason,)*
        }

        impl Why {
            const NAMES: &[&str] = &[$($name),*];
            const COUNT: usize = Self::NAMES.len();
        }
    };
}

reasons! {
    Path "path",
    Method "method",
    Host "host",
    Misdirected "misdirected",
    Origin "origin",
    Stranger "stranger",
    Class "class",
    TooOften "too_often",
    Argument "argument",
    Expectation "expectation",
    Malformed "malformed",
    LengthRequired "length_required",
    BodyTooLarge "body_too_large",
    BodyEnded "body_ended",
    BodySlow "body_slow",
    MediaType "media_type",
    TargetTooLong "target_too_long",
    HeadTooLarge "head_too_large",
    HeadSlow "head_slow",
    Version "version",
    NoBuffer "no_buffer",
    NoRoom "no_room",
    Gone "gone",
    Stopping "stopping",
}

impl From<Refusal> for Why {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Stranger => Self::Stranger,
            Refusal::BodyTooLarge { .. } => Self::BodyTooLarge,
            Refusal::MediaType => Self::MediaType,
            Refusal::Busy => Self::NoBuffer,
            Refusal::BodyEnded => Self::BodyEnded,
            Refusal::BodySlow => Self::BodySlow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_counted_in_its_own_place() {
        let traffic = Traffic::default();
        for (status, _) in answer::STATUSES {
            traffic.answered(status);
        }
        // There is no place for what we never say.
        traffic.answered(418);
        assert!((0..answer::STATUSES.len()).all(|number| traffic.answers(number).is_some_and(|(_, count)| count == 1)));
        traffic.turned_away();
        traffic.refused(Why::Stopping);
        traffic.ended(Ending::Aborted);
        let counted = |find: &dyn Fn(usize) -> Option<(&'static str, u32)>, name| {
            (0..).map_while(find).find(|(known, _)| *known == name).map(|(_, count)| count)
        };
        let refused = |name| counted(&|number| traffic.refusals(number), name);
        let ended = |name| counted(&|number| traffic.endings(number), name);
        assert_eq!([refused("no_room"), refused("stopping"), refused("path")], [Some(1), Some(1), Some(0)]);
        assert_eq!([ended("turned_away"), ended("aborted"), ended("closed")], [Some(1), Some(1), Some(0)]);
    }

    #[test]
    fn a_gauge_remembers_its_highest() {
        let gauge = Gauge::default();
        {
            let _seats = [gauge.take(), gauge.take()];
            assert_eq!((gauge.used(), gauge.most()), (2, 2));
        }
        drop(gauge.take());
        assert_eq!((gauge.used(), gauge.most()), (0, 2));
    }
}
