//! How often somebody may ask: a bucket of permits that fills with time.

use crate::time::Millis;

/// A bucket that holds `burst` permits and gets `per_second` new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// New permits each second; none means that there is no limit.
    pub per_second: u32,
    /// Permits that a bucket can hold.
    pub burst: u32,
}

impl Rate {
    /// No limit.
    pub const UNLIMITED: Self = Self { per_second: 0, burst: 0 };

    /// Microseconds between two permits.
    const fn interval(self) -> u64 {
        match 1_000_000u64.checked_div(self.per_second as u64) {
            Some(interval) => interval,
            None => 0,
        }
    }
}

/// A bucket, as the one number that it takes: when it will be full again, in microseconds since boot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    full_at: u64,
}

/// The bucket is empty: permits for this are there after so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Empty {
    pub(super) retry_after_secs: u16,
}

impl Bucket {
    pub(super) const FULL: Self = Self { full_at: 0 };

    /// Takes `permits`, or nothing at all.
    pub(super) fn take(&mut self, now: Millis, rate: Rate, permits: u32) -> Result<(), Empty> {
        let now = micros(now);
        let full_at = self.full_at.max(now).saturating_add(rate.interval().saturating_mul(u64::from(permits)));
        // What costs more than a bucket holds takes a full one.
        let depth = rate.interval().saturating_mul(u64::from(rate.burst.max(permits)));
        let lacking = full_at.saturating_sub(now).saturating_sub(depth);
        if lacking > 0 {
            let seconds = lacking.div_ceil(1_000_000);
            return Err(Empty { retry_after_secs: u16::try_from(seconds).unwrap_or(u16::MAX) });
        }
        self.full_at = full_at;
        Ok(())
    }

    /// Whether nothing is known of it that a new one would not know.
    pub(super) fn is_full(&self, now: Millis) -> bool {
        self.full_at <= micros(now)
    }
}

const fn micros(at: Millis) -> u64 {
    at.0.saturating_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { per_second: 10, burst: 3 };

    #[test]
    fn a_burst_then_one_for_each_interval() {
        let mut bucket = Bucket::FULL;
        let start = Millis(5_000);
        for _ in 0..3 {
            assert_eq!(bucket.take(start, RATE, 1), Ok(()));
        }
        assert_eq!(bucket.take(start, RATE, 1), Err(Empty { retry_after_secs: 1 }));
        assert_eq!(bucket.take(Millis(5_099), RATE, 1), Err(Empty { retry_after_secs: 1 }));
        assert_eq!(bucket.take(Millis(5_100), RATE, 1), Ok(()));
        assert_eq!(bucket.take(Millis(5_100), RATE, 1), Err(Empty { retry_after_secs: 1 }));
        // An hour of silence fills it, and does not overfill it.
        for _ in 0..3 {
            assert_eq!(bucket.take(Millis(3_605_100), RATE, 1), Ok(()));
        }
        assert!(bucket.take(Millis(3_605_100), RATE, 1).is_err());
    }

    #[test]
    fn who_is_refused_has_paid_nothing() {
        let mut bucket = Bucket::FULL;
        assert_eq!(bucket.take(Millis(0), RATE, 2), Ok(()));
        for _ in 0..1000 {
            assert!(bucket.take(Millis(0), RATE, 2).is_err());
        }
        assert_eq!(bucket.take(Millis(0), RATE, 1), Ok(()));
    }

    #[test]
    fn the_wait_that_is_told_is_enough() {
        let slow = Rate { per_second: 1, burst: 5 };
        let mut bucket = Bucket::FULL;
        assert_eq!(bucket.take(Millis(0), slow, 5), Ok(()));
        let Err(Empty { retry_after_secs }) = bucket.take(Millis(0), slow, 4) else { panic!("it was empty") };
        assert_eq!(retry_after_secs, 4);
        assert_eq!(bucket.take(Millis(4_000), slow, 4), Ok(()));
    }

    #[test]
    fn no_limit_is_no_limit_and_time_has_no_end() {
        let mut bucket = Bucket::FULL;
        for _ in 0..10_000 {
            assert_eq!(bucket.take(Millis(7), Rate::UNLIMITED, 1), Ok(()));
        }
        assert_eq!(bucket.take(Millis(u64::MAX), RATE, u32::MAX), Ok(()));
        let mut new = Bucket::FULL;
        assert_eq!(new.take(Millis(0), RATE, 1000), Ok(()));
    }
}
