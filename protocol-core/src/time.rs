//! Time comes from outside: milliseconds since boot, and an optional wall clock.

use core::fmt;

/// A point in time or a span of it, in milliseconds; points count from boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Millis(pub u64);

impl Millis {
    /// The point `span` later.
    #[must_use]
    pub const fn after(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

/// Tells the time since boot.
pub trait Clock {
    /// Milliseconds since boot; never goes back.
    fn now(&self) -> Millis;
}

/// Gives random bytes: ids are made from them.
pub trait Entropy {
    /// Fills `bytes` with randomness.
    fn fill(&mut self, bytes: &mut [u8]);
}

/// A point in time as people write it: `2026-01-01T00:00:00.000Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnixMillis(pub u64);

impl UnixMillis {
    /// Reads RFC 3339, with any fraction and any offset. `None` for anything else and for times before 1970.
    pub fn parse(characters: impl Iterator<Item = char>) -> Option<Self> {
        let mut text = heapless::String::<40>::new();
        for character in characters {
            text.push(character).ok()?;
        }
        let (date, rest) = (text.get(..10)?, text.get(10..)?);
        let rest = rest.strip_prefix(['T', 't', ' '])?;
        let (time, rest) = (rest.get(..8)?, rest.get(8..)?);
        let [year, month, day] = split3(date, '-')?;
        let [hour, minute, second] = split3(time, ':')?;
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let (millis, rest) = match rest.strip_prefix('.') {
            None => (0, rest),
            Some(fraction) => {
                let end = fraction.find(|c: char| !c.is_ascii_digit())?;
                let digits = fraction.get(..end.min(3)).filter(|digits| !digits.is_empty())?;
                let scale = [100, 10, 1].get(digits.len().checked_sub(1)?)?;
                (digits.parse::<i64>().ok()?.checked_mul(*scale)?, fraction.get(end..)?)
            }
        };
        let offset_minutes = match rest {
            "Z" | "z" => 0,
            _ => {
                let (sign, rest) = (rest.get(..1)?, rest.get(1..)?);
                let (hours, minutes) = rest.split_once(':')?;
                let minutes = number(hours)?.checked_mul(60)?.checked_add(number(minutes)?)?;
                match sign {
                    "+" => minutes,
                    "-" => minutes.checked_neg()?,
                    _ => return None,
                }
            }
        };
        let minutes = days_from_civil(year, month, day)
            .checked_mul(24)?
            .checked_add(hour)?
            .checked_mul(60)?
            .checked_add(minute)?
            .checked_sub(offset_minutes)?;
        let total = minutes.checked_mul(60)?.checked_add(second)?.checked_mul(1000)?.checked_add(millis)?;
        u64::try_from(total).ok().map(Self)
    }
}

impl fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0 / 1000, self.0 % 1000);
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = civil_from_days(days);
        let (hour, minute) = (second / 3600, second / 60 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}.{millis:03}Z", second % 60)
    }
}

/// The same point as HTTP writes it: `Thu, 01 Jan 2026 00:00:00 GMT`.
#[derive(Clone, Copy, Debug)]
pub struct HttpDate(pub UnixMillis);

impl fmt::Display for HttpDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let seconds = self.0.0 / 1000;
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = civil_from_days(days);
        let weekday = DAYS[(days % 7) as usize];
        let month = MONTHS[(month as usize).saturating_sub(1) % 12];
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
    }
}

fn split3(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator);
    let all = [number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?];
    parts.next().is_none().then_some(all)
}

fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Days since 1970-01-01 of a date in the Gregorian calendar, years counted from March so that leap days come last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    fn parse(text: &str) -> Option<u64> {
        UnixMillis::parse(text.chars()).map(|time| time.0)
    }

    #[test]
    fn writes_and_reads_what_other_clocks_say() {
        // Figures of `date -u -d @SECONDS`.
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_767_225_600_123, "2026-01-01T00:00:00.123Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
        ] {
            assert_eq!(UnixMillis(millis).to_string(), text);
            assert_eq!(parse(text), Some(millis));
        }
        assert_eq!(HttpDate(UnixMillis(1_767_225_600_123)).to_string(), "Thu, 01 Jan 2026 00:00:00 GMT");
    }

    #[test]
    fn reads_offsets_and_fractions_and_refuses_the_rest() {
        assert_eq!(parse("2026-01-01T01:30:00+01:30"), Some(1_767_225_600_000));
        assert_eq!(parse("2025-12-31T23:00:00.5-01:00"), Some(1_767_225_600_500));
        assert_eq!(parse("2026-01-01T00:00:00.123456789Z"), Some(1_767_225_600_123));
        for bad in [
            "",
            "now",
            "2026-01-01",
            "2026-13-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "1969-12-31T23:59:59Z",
            "2026-01-01T00:00:00+1",
            "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:00Z and then some more text that does not fit",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
