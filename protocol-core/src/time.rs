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
        Self::read(text.as_bytes())
    }

    /// Once for all the places that texts come from.
    fn read(text: &[u8]) -> Option<Self> {
        let (date, time) = (text.get(..10)?, text.get(11..19)?);
        let is_separated = matches!(date, [.., b'-', _, _, b'-', _, _])
            && matches!(text.get(10), Some(b'T' | b't' | b' '))
            && matches!(time, [_, _, b':', _, _, b':', _, _]);
        let year = u16::from(number(&date[..2])?) * 100 + u16::from(number(&date[2..4])?);
        let [month, day] = [number(&date[5..7])?, number(&date[8..])?];
        let [hour, minute, second] = [number(&time[..2])?, number(&time[3..5])?, number(&time[6..])?];
        let is_possible =
            (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
        // A day before 1970 may still be one of 1970 elsewhere.
        if !is_separated || !is_possible || year < 1969 {
            return None;
        }
        let (millis, offset) = match text.get(19..)? {
            [b'.', fraction @ ..] => {
                let (digits, offset) = fraction.split_at(fraction.iter().position(|byte| !byte.is_ascii_digit())?);
                let digit = |at| digits.get(at).map_or(0, |digit| i32::from(*digit) - i32::from(b'0'));
                (!digits.is_empty()).then_some((digit(0) * 100 + digit(1) * 10 + digit(2), offset))?
            }
            offset => (0, offset),
        };
        let east = match *offset {
            [b'Z' | b'z'] => 0,
            [b'+', ref hours @ .., b':', tens, ones] => {
                i32::from(number(hours)?) * 60 + i32::from(number(&[tens, ones])?)
            }
            [b'-', ref hours @ .., b':', tens, ones] => {
                -i32::from(number(hours)?) * 60 - i32::from(number(&[tens, ones])?)
            }
            _ => return None,
        };
        let minutes = i64::from(days_from_civil(year, month, day)) * 1440
            + i64::from(i32::from(hour) * 60 + i32::from(minute) - east);
        u64::try_from(minutes * 60_000 + i64::from(i32::from(second) * 1000 + millis)).ok().map(Self)
    }

    /// Whole days since 1970, and the milliseconds behind them. The last day is the last that has a year of four digits.
    fn split(self) -> (i32, i32) {
        const DAY: u64 = 86_400_000;
        const LAST: u64 = 2_932_896;
        ((self.0 / DAY).min(LAST) as i32, (self.0 % DAY) as i32)
    }
}

impl fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, millis) = self.split();
        let (year, month, day) = civil_from_days(days);
        let (seconds, millis) = (millis / 1000, millis % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// The same point as HTTP writes it: `Thu, 01 Jan 2026 00:00:00 GMT`.
#[derive(Clone, Copy, Debug)]
pub struct HttpDate(pub UnixMillis);

impl fmt::Display for HttpDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let (days, millis) = self.0.split();
        let (year, month, day) = civil_from_days(days);
        let seconds = millis / 1000;
        let weekday = DAYS[(days % 7) as usize];
        let month = MONTHS[(month as usize).saturating_sub(1) % 12];
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
    }
}

/// The value of two digits, in a type so small that the compiler knows: what is made of a few of them does not overflow.
fn number(digits: &[u8]) -> Option<u8> {
    match *digits {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some((tens - b'0') * 10 + (ones - b'0')),
        _ => None,
    }
}

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i32 = 719_468;

/// Days since 1970-01-01 of a date in the Gregorian calendar, years counted from March so that leap days come last.
fn days_from_civil(year: u16, month: u8, day: u8) -> i32 {
    let year = u32::from(year).saturating_sub(u32::from(month <= 2));
    let day_of_year = (153 * ((u32::from(month) + 9) % 12) + 2) / 5 + u32::from(day);
    let days = year * 365 + year / 4 + year / 400 + day_of_year;
    days as i32 - (year / 100) as i32 - 1 - EPOCH
}

fn civil_from_days(days: i32) -> (i32, i32, i32) {
    let shifted = days + EPOCH;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + i32::from(month <= 2);
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
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
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
        assert_eq!(parse("1969-12-31T23:00:00-01:00"), Some(0));
        assert_eq!(parse("9999-12-31T23:59:60-99:99"), Some(253_402_300_800_000 + 99 * 3_660_000));
        assert_eq!(parse("2026-01-01T00:00:00.123456789Z"), Some(1_767_225_600_123));
        for bad in [
            "",
            "now",
            "2026-01-01",
            "2026-13-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00Zz",
            "2026-01-01T00:00:00+123:00",
            "2026-01-01T00:00:00+01:3°",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+00:01",
            "0000-01-01T00:00:00Z",
            "2026-01-01T00:00:00+1",
            "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:00Z and then some more text that does not fit",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
