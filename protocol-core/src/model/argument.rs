//! What a skill has to be told, and what that may be.

use core::{fmt, ops::RangeInclusive};

use crate::json::{Json, Kind};

/// One thing that a skill has to be told: its name, what it may be, and what it is if nobody says it.
///
/// ```
/// use protocol_core::Argument;
///
/// const SECONDS: Argument<'static> = Argument::whole("seconds", 1..=60, "how long").usually(5);
/// const POSITION: Argument<'static> = Argument::one_of("position", &["open", "shut"], "where to");
///
/// assert_eq!(SECONDS.to_string(), "seconds (how long): a whole number from 1 to 60, 5 unless said otherwise");
/// assert_eq!(POSITION.to_string(), "position (where to): one of open, shut");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument<'a> {
    pub(crate) name: &'a str,
    words: &'a str,
    pub(crate) takes: Takes<'a>,
    pub(crate) unsaid: Unsaid,
}

/// What an argument may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes<'a> {
    /// A whole number from the first to the last.
    Whole(i32, i32),
    /// One of these words; it is known by its place.
    OneOf(&'a [&'a str]),
}

/// What becomes of an argument that nobody says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsaid {
    /// The client is asked for it.
    Asked,
    /// It is this.
    Usual(i32),
    /// It is left out.
    Left,
}

impl<'a> Argument<'a> {
    /// A whole number, which the client is asked for if it does not say it. A fraction is one in a smaller unit: name the
    /// argument `everyMs`, or `tenths`.
    ///
    /// # Panics
    /// If the range is empty: while it is compiled, where it belongs.
    #[must_use]
    pub const fn whole(name: &'a str, range: RangeInclusive<i32>, words: &'a str) -> Self {
        let (first, last) = (*range.start(), *range.end());
        assert!(first <= last, "a range with nothing in it");
        Self { name, words, takes: Takes::Whole(first, last), unsaid: Unsaid::Asked }
    }

    /// One of some words in lower case, which the client is asked for if it does not say it.
    ///
    /// # Panics
    /// If there are none, or more than anybody has: while it is compiled, where it belongs.
    #[must_use]
    pub const fn one_of(name: &'a str, choices: &'a [&'a str], words: &'a str) -> Self {
        assert!(!choices.is_empty() && choices.len() < 256, "choices to choose from");
        Self { name, words, takes: Takes::OneOf(choices), unsaid: Unsaid::Asked }
    }

    /// It is this one if nobody says it: a number, or the place of a word.
    ///
    /// # Panics
    /// If that is not in its range: while it is compiled, where it belongs.
    #[must_use]
    pub const fn usually(self, value: i32) -> Self {
        let range = self.range();
        assert!(*range.start() <= value && value <= *range.end(), "what is usual is not in the range");
        Self { unsaid: Unsaid::Usual(value), ..self }
    }

    /// It may be left out.
    #[must_use]
    pub const fn or_none(self) -> Self {
        Self { unsaid: Unsaid::Left, ..self }
    }

    /// What it is if nobody says it.
    #[must_use]
    pub const fn usual(&self) -> Option<i32> {
        if let Unsaid::Usual(value) = self.unsaid { Some(value) } else { None }
    }

    /// Takes a number that is in the range. None at all is one that cannot be.
    ///
    /// # Errors
    /// Names the argument and its range.
    pub fn check(&self, value: Option<i64>) -> Result<i32, Outside<'_>> {
        let value = value.and_then(|value| i32::try_from(value).ok());
        value.filter(|value| self.range().contains(value)).ok_or(Outside(self))
    }

    /// What it is in a data part, as a number or as the place of a word. `None` if it is not there.
    ///
    /// # Errors
    /// If it is there and not in its range.
    pub fn find<'s>(&'s self, data: Json<'_>) -> Result<Option<i32>, Outside<'s>> {
        let Some(value) = data.member(self.name).filter(|value| value.kind() != Kind::Null) else { return Ok(None) };
        let number = match self.takes {
            // Models write "10" and 10.0 too.
            Takes::Whole(..) => value.integer().or_else(|| whole(&value.text()?.decode::<16>()?)),
            Takes::OneOf(choices) => value.text().and_then(|text| {
                let is_it = |choice: &&str| text.chars().map(|c| c.to_ascii_lowercase()).eq(choice.chars());
                choices.iter().position(is_it).and_then(|place| i64::try_from(place).ok())
            }),
        };
        self.check(number).map(Some)
    }

    /// What it may be: numbers, or the places of words.
    #[must_use]
    pub const fn range(&self) -> RangeInclusive<i32> {
        match self.takes {
            Takes::Whole(first, last) => first..=last,
            Takes::OneOf(choices) => 0..=choices.len().saturating_sub(1) as i32,
        }
    }
}

/// A whole number as people write it.
pub(crate) fn whole(text: &str) -> Option<i64> {
    Json::of_checked(text.strip_prefix('+').unwrap_or(text)).integer()
}

/// What an argument was told is not in its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside<'a>(pub &'a Argument<'a>);

impl fmt::Display for Outside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Argument { name, words, takes, .. } = self.0;
        write!(f, "{name} ({words}) must be {takes}")
    }
}

impl core::error::Error for Outside<'_> {}

impl fmt::Display for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, words, takes, unsaid } = self;
        write!(f, "{name} ({words}): {takes}")?;
        match (unsaid, takes) {
            (Unsaid::Asked, _) => Ok(()),
            (Unsaid::Left, _) => f.write_str(", may be left out"),
            (Unsaid::Usual(value), Takes::Whole(..)) => write!(f, ", {value} unless said otherwise"),
            (Unsaid::Usual(place), Takes::OneOf(choices)) => {
                let usual = usize::try_from(*place).ok().and_then(|place| choices.get(place)).unwrap_or(&"");
                write!(f, ", {usual} unless said otherwise")
            }
        }
    }
}

impl fmt::Display for Takes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(first, last) => write!(f, "a whole number from {first} to {last}"),
            Self::OneOf(choices) => {
                f.write_str("one of ")?;
                let mut separator = "";
                for choice in *choices {
                    write!(f, "{separator}{choice}")?;
                    separator = ", ";
                }
                Ok(())
            }
        }
    }
}

/// All arguments of a skill in one sentence, to stand behind its description.
pub(crate) struct Arguments<'a>(pub(crate) &'a [Argument<'a>]);

impl fmt::Display for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = " Arguments: ";
        for argument in self.0 {
            write!(f, "{separator}{argument}")?;
            separator = "; ";
        }
        f.write_str(if self.0.is_empty() { "" } else { "." })
    }
}
