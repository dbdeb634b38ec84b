//! Why the device started: what the chip knows of it, and what was written down just before.
//!
//! A panic or a stuck loop writes a [`Memo`] into memory that a restart leaves alone, and the next start reads it. So
//! whoever looks at the log or the status after the fact learns what happened, not just that something did.

use core::fmt::{self, Write as _};

use protocol_core::{Level, Note};

/// Why a device started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Power has come on.
    PowerOn,
    /// Somebody pressed the button, or a debugger did.
    Pin,
    /// Power was too low for a moment.
    BrownOut,
    /// The watchdog was not fed, and nobody had the time to write down why.
    Watchdog,
    /// Somebody asked for it.
    Asked,
    /// One of the loops had not come round in time.
    Stuck,
    /// The program gave up.
    Panic,
    /// The stack was too small.
    StackOverflow,
    /// The processor could not go on.
    Fault,
    /// The chip does not say.
    Unknown,
}

impl Reason {
    const ALL: [Self; 10] = [
        Self::PowerOn,
        Self::Pin,
        Self::BrownOut,
        Self::Watchdog,
        Self::Asked,
        Self::Stuck,
        Self::Panic,
        Self::StackOverflow,
        Self::Fault,
        Self::Unknown,
    ];

    /// One word or two, for people and programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PowerOn => "power on",
            Self::Pin => "reset pin",
            Self::BrownOut => "brown-out",
            Self::Watchdog => "watchdog",
            Self::Asked => "asked to",
            Self::Stuck => "stuck",
            Self::Panic => "panic",
            Self::StackOverflow => "stack overflow",
            Self::Fault => "fault",
            Self::Unknown => "unknown",
        }
    }

    /// Is it one that somebody should look into?
    #[must_use]
    pub const fn is_trouble(self) -> bool {
        matches!(self, Self::BrownOut | Self::Watchdog | Self::Stuck | Self::Panic | Self::StackOverflow | Self::Fault)
    }
}

/// The longest detail of a [`Past`] in bytes; more is cut off.
pub const DETAIL_MAX: usize = 112;

/// Why the device started this time, with what was written down about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// Why.
    pub reason: Reason,
    /// What was written down; may be empty.
    pub detail: heapless::String<DETAIL_MAX>,
}

impl Past {
    /// Puts together what the chip says and what was written down. What was written down knows more.
    #[must_use]
    pub fn of(chip: Reason, memo: &mut Memo) -> Self {
        memo.take().unwrap_or_else(|| chip.into())
    }
}

impl Past {
    /// What the log says of it.
    #[must_use]
    pub const fn note(&self) -> Note {
        let level = if self.reason.is_trouble() { Level::Warn } else { Level::Info };
        Note::because(level, "started", self.reason.as_str())
    }
}

impl From<Reason> for Past {
    fn from(reason: Reason) -> Self {
        Self { reason, detail: heapless::String::new() }
    }
}

impl fmt::Display for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason.as_str())?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// Memory that a restart leaves alone. After power has come on it may hold anything: a check tells.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Memo {
    magic: u32,
    reason: u8,
    length: u8,
    check: u16,
    text: [u8; DETAIL_MAX],
}

/// "mote", and a version of the layout.
const MAGIC: u32 = 0x6d6f_7401;

impl Memo {
    /// Nothing written down.
    pub const EMPTY: Self = Self { magic: 0, reason: 0, length: 0, check: 0, text: [0; DETAIL_MAX] };

    /// Writes down why the device is about to restart. What does not fit is cut off.
    pub fn write(&mut self, reason: Reason, detail: fmt::Arguments<'_>) {
        let mut text = Cut { text: heapless::String::<DETAIL_MAX>::new() };
        // cannot fail: `Cut` takes what fits.
        let _ = text.write_fmt(detail);
        *self = Self::EMPTY;
        self.magic = MAGIC;
        self.reason = Reason::ALL.iter().position(|known| *known == reason).unwrap_or(0) as u8;
        self.length = text.text.len() as u8;
        self.text[..text.text.len()].copy_from_slice(text.text.as_bytes());
        self.check = self.sum();
    }

    /// Reads what was written down, once.
    pub fn take(&mut self) -> Option<Past> {
        let memo = core::mem::replace(self, Self::EMPTY);
        if memo.magic != MAGIC || memo.check != memo.sum() {
            return None;
        }
        let reason = *Reason::ALL.get(usize::from(memo.reason))?;
        let text = core::str::from_utf8(memo.text.get(..usize::from(memo.length))?).ok()?;
        Some(Past { reason, detail: heapless::String::try_from(text).ok()? })
    }

    /// Fletcher's checksum: enough to tell what was written from what power left behind.
    fn sum(&self) -> u16 {
        let bytes = [self.reason, self.length].into_iter().chain(self.text);
        let (low, high) = bytes.fold((1_u16, 1_u16), |(low, high), byte| {
            let low = (low + u16::from(byte)) % 255;
            (low, (high + low) % 255)
        });
        high << 8 | low
    }
}

/// Takes what fits and forgets the rest, at the end of a character. What would have to be escaped in JSON is replaced.
struct Cut {
    text: heapless::String<DETAIL_MAX>,
}

impl fmt::Write for Cut {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let plain = match character {
                '"' => '\'',
                '\\' => '/',
                other if other.is_control() => ' ',
                other => other,
            };
            if self.text.push(plain).is_err() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn what_was_written_down_is_read_once_and_knows_more_than_the_chip() {
        let mut memo = Memo::EMPTY;
        assert_eq!(Past::of(Reason::PowerOn, &mut memo).to_string(), "power on");
        memo.write(Reason::Panic, format_args!("at {}:{}", "main.rs", 7));
        let past = Past::of(Reason::Watchdog, &mut memo);
        assert_eq!((past.reason, past.to_string().as_str()), (Reason::Panic, "panic: at main.rs:7"));
        assert_eq!(Past::of(Reason::Watchdog, &mut memo).to_string(), "watchdog");
    }

    #[test]
    fn what_power_left_behind_is_not_believed() {
        let mut memo = Memo::EMPTY;
        memo.write(Reason::Fault, format_args!("at 0x1234"));
        for damage in [
            |memo: &mut Memo| memo.magic ^= 1,
            |memo: &mut Memo| memo.reason ^= 1,
            |memo: &mut Memo| memo.length += 1,
            |memo: &mut Memo| memo.text[3] ^= 0x40,
            |memo: &mut Memo| memo.check ^= 0x100,
        ] {
            let mut damaged = memo;
            damage(&mut damaged);
            assert_eq!(damaged.take(), None);
        }
        assert_eq!(memo.take().expect("it is whole").detail, "at 0x1234");
    }

    #[test]
    fn a_long_story_is_cut_at_a_character() {
        let mut memo = Memo::EMPTY;
        memo.write(Reason::Stuck, format_args!("{}{}", "x".repeat(DETAIL_MAX - 1), "°C"));
        let past = memo.take().expect("it is whole");
        assert_eq!(past.detail.as_str(), "x".repeat(DETAIL_MAX - 1));
    }

    #[test]
    fn what_is_written_down_can_stand_in_json_as_it_is() {
        let mut memo = Memo::EMPTY;
        memo.write(Reason::Panic, format_args!("\"a\\b\"\n"));
        assert_eq!(memo.take().expect("it is whole").detail, "'a/b' ");
    }

    #[test]
    fn every_reason_survives() {
        for reason in Reason::ALL {
            let mut memo = Memo::EMPTY;
            memo.write(reason, format_args!(""));
            assert_eq!(memo.take().map(|past| past.reason), Some(reason));
        }
    }
}
