//! Who is known here: a name, what it may do, and the digests of its tokens.

use core::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

use super::rate::Bucket;
use crate::model::Access;

/// Longest name of a principal in bytes.
pub const NAME_MAX: usize = 24;

/// A token has at least so many bytes. Who guesses at the speed of a network never gets through that, so nobody has to be
/// locked out for somebody else's guesses.
pub const TOKEN_MIN: usize = 16;

/// Longest token in bytes.
pub const TOKEN_MAX: usize = 128;

/// A set of access classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Classes(u8);

impl Classes {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// All of them.
    pub const ALL: Self = Self(0b111);

    /// Those classes.
    pub const fn of(classes: &[Access]) -> Self {
        let mut bits = 0;
        let mut rest = classes;
        while let [class, others @ ..] = rest {
            bits |= bit(*class);
            rest = others;
        }
        Self(bits)
    }

    /// Reads names with `+` or `,` between them: `read+act`.
    pub fn parse(names: &str) -> Option<Self> {
        let mut classes = Self::NONE;
        for name in names.split(['+', ',']) {
            let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim_ascii()));
            classes.0 |= bit(known?.1);
        }
        Some(classes)
    }

    /// Whether that class is among them.
    pub const fn has(self, class: Access) -> bool {
        self.0 & bit(class) != 0
    }

    /// Those of either.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    pub(super) const fn bits(self) -> u8 {
        self.0
    }

    pub(super) const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }
}

const NAMES: [(&str, Access); 3] = [("read", Access::Read), ("act", Access::Act), ("operator", Access::Operator)];

const fn bit(class: Access) -> u8 {
    1u8.wrapping_shl(class as u32)
}

impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (name, class) in NAMES {
            if self.has(class) {
                write!(f, "{separator}{name}")?;
                separator = "+";
            }
        }
        Ok(())
    }
}

/// What is kept of a token.
#[derive(Clone, Copy)]
pub struct Digest([u8; Self::BYTES]);

impl Digest {
    /// Bytes of a digest.
    pub const BYTES: usize = 32;

    /// What is kept of this token.
    pub fn of(token: &[u8]) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// Whether it is of the same token. Takes the same time for every answer.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(..)")
    }
}

/// Somebody who is known here.
#[derive(Clone, Debug)]
pub struct Principal {
    /// What it is called, in logs and as the user name of HTTP Basic.
    pub name: heapless::String<NAME_MAX>,
    /// What it may do.
    pub classes: Classes,
    /// Its token, and the one before that: both are valid until the older one is dropped.
    pub tokens: [Option<Digest>; 2],
    pub(super) bucket: Bucket,
    /// Tells it from others that had its place before: their tasks are not its own.
    pub(super) generation: u8,
}

impl Principal {
    /// A place for one.
    pub(super) const NOBODY: Self = Self {
        name: heapless::String::new(),
        classes: Classes::NONE,
        tokens: [None; 2],
        bucket: Bucket::FULL,
        generation: 0,
    };

    pub(super) fn is_known(&self) -> bool {
        !self.name.is_empty()
    }

    /// Bytes that [`Principal::to_bytes`] makes at the most.
    pub const BYTES: usize = 3 + NAME_MAX + 2 * Digest::BYTES;

    /// Somebody with that token.
    ///
    /// # Errors
    /// What is wrong with the name or the token, for the person who chose it.
    pub fn new(name: &str, classes: Classes, token: &str) -> Result<Self, Unfit> {
        check_token(token)?;
        let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let name = heapless::String::try_from(name).ok().filter(|_| is_plain).ok_or(Unfit::Name)?;
        if classes == Classes::NONE {
            return Err(Unfit::Classes);
        }
        let tokens = [Some(Digest::of(token.as_bytes())), None];
        Ok(Self { name, classes, tokens, bucket: Bucket::FULL, generation: 0 })
    }

    /// As it is stored: classes, number of tokens, length of the name, the name, the digests.
    pub fn to_bytes(&self) -> heapless::Vec<u8, { Self::BYTES }> {
        let mut bytes = heapless::Vec::new();
        let count = self.tokens.iter().flatten().fold(0u8, |count, _| count.saturating_add(1));
        // cannot fail: that is what the length is made of.
        let _ = bytes.extend_from_slice(&[self.classes.bits(), count, self.name.len() as u8]);
        let _ = bytes.extend_from_slice(self.name.as_bytes());
        for token in self.tokens.iter().flatten() {
            let _ = bytes.extend_from_slice(&token.0);
        }
        bytes
    }

    /// Reads what [`Principal::to_bytes`] has made; nothing if it was anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&[classes, count, name_len], rest) = bytes.split_first_chunk()?;
        let (name, digests) = rest.split_at_checked(usize::from(name_len))?;
        let name = heapless::String::try_from(core::str::from_utf8(name).ok()?).ok()?;
        let mut chunks = digests.chunks_exact(Digest::BYTES);
        let mut tokens = [None; 2];
        for (token, digest) in tokens.iter_mut().zip(&mut chunks) {
            *token = Some(Digest(digest.try_into().ok()?));
        }
        let is_whole = name_len > 0 && digests.len() == usize::from(count).checked_mul(Digest::BYTES)? && count <= 2;
        let classes = Classes::from_bits(classes);
        is_whole.then_some(Self { name, classes, tokens, bucket: Bucket::FULL, generation: 0 })
    }

    /// Gives it another token. The one it had stays valid, too, until it is dropped.
    ///
    /// # Errors
    /// What is wrong with the token.
    pub fn add_token(&mut self, token: &str) -> Result<(), Unfit> {
        check_token(token)?;
        self.tokens = [Some(Digest::of(token.as_bytes())), self.tokens[0]];
        Ok(())
    }

    /// Drops the older of two tokens.
    pub const fn drop_old_token(&mut self) {
        self.tokens[1] = None;
    }

    /// Whether one of its tokens is this one. Looks at both, whatever the first one is.
    pub(super) fn has(&self, digest: &Digest) -> bool {
        self.tokens.iter().flatten().fold(false, |found, token| token.is(digest) | found)
    }

    /// Whether a token of the one is a token of the other.
    pub fn shares_token_with(&self, other: &Self) -> bool {
        other.tokens.iter().flatten().fold(false, |found, token| self.has(token) | found)
    }
}

fn check_token(token: &str) -> Result<(), Unfit> {
    let is_graphic = token.bytes().all(|byte| byte.is_ascii_graphic());
    if is_graphic && (TOKEN_MIN..=TOKEN_MAX).contains(&token.len()) { Ok(()) } else { Err(Unfit::Token) }
}

/// What is wrong with a principal, to be told to the person who made it. It never tells the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// The name.
    Name,
    /// There are no classes.
    Classes,
    /// The token.
    Token,
    /// There is no room for another one.
    Full,
    /// It is known already, or its token is.
    Known,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => write!(f, "a name has 1 to {NAME_MAX} letters, digits and hyphens"),
            Self::Classes => {
                f.write_str("classes are read, act and operator, with + between them; every call needs read")
            }
            Self::Token => write!(f, "a token has {TOKEN_MIN} to {TOKEN_MAX} printable ASCII characters, no spaces"),
            Self::Full => f.write_str("there is no room for another principal"),
            Self::Known => f.write_str("that name or token is in use"),
        }
    }
}

impl core::error::Error for Unfit {}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{format, string::ToString};

    use super::*;

    const TOKEN: &str = "correct-horse-battery";

    #[test]
    fn classes_are_read_as_they_are_written() {
        for names in ["read", "act", "read+act", "read+act+operator"] {
            assert_eq!(Classes::parse(names).unwrap().to_string(), names);
        }
        assert_eq!(Classes::parse("Operator, read"), Some(Classes::of(&[Access::Read, Access::Operator])));
        for bad in ["", "root", "read+", "read act"] {
            assert_eq!(Classes::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_principal_survives_being_stored_and_a_torn_one_is_none() {
        let mut anna = Principal::new("anna", Classes::of(&[Access::Read]), TOKEN).unwrap();
        anna.add_token("another-token-of-hers").unwrap();
        let bytes = anna.to_bytes();
        let again = Principal::from_bytes(&bytes).unwrap();
        assert_eq!((again.name.as_str(), again.classes), ("anna", anna.classes));
        assert!(again.has(&Digest::of(TOKEN.as_bytes())) && again.has(&Digest::of(b"another-token-of-hers")));
        assert!((0..bytes.len()).all(|len| Principal::from_bytes(&bytes[..len]).is_none()));
        assert!(Principal::from_bytes(&[&bytes[..], &[0]].concat()).is_none());
    }

    #[test]
    fn two_tokens_at_a_time_and_the_older_can_go() {
        let mut anna = Principal::new("anna", Classes::ALL, TOKEN).unwrap();
        anna.add_token("second-token-of-hers").unwrap();
        anna.add_token("third-token-of-hers!").unwrap();
        let has = |anna: &Principal, token: &str| anna.has(&Digest::of(token.as_bytes()));
        assert!(!has(&anna, TOKEN) && has(&anna, "second-token-of-hers") && has(&anna, "third-token-of-hers!"));
        anna.drop_old_token();
        assert!(!has(&anna, "second-token-of-hers") && has(&anna, "third-token-of-hers!"));
    }

    #[test]
    fn two_share_a_token_if_any_of_theirs_is_the_same() {
        let mut anna = Principal::new("anna", Classes::ALL, TOKEN).unwrap();
        let mut ben = Principal::new("ben", Classes::ALL, "first-token-of-his!!").unwrap();
        assert!(anna.shares_token_with(&anna) && !anna.shares_token_with(&ben));
        anna.add_token("second-token-of-hers").unwrap();
        ben.add_token(TOKEN).unwrap();
        assert!(anna.shares_token_with(&ben) && ben.shares_token_with(&anna));
        anna.drop_old_token();
        assert!(!anna.shares_token_with(&ben) && !ben.shares_token_with(&anna));
    }

    #[test]
    fn what_is_unfit_is_told_without_the_token() {
        for (name, classes, token, unfit) in [
            ("", Classes::ALL, TOKEN, Unfit::Name),
            ("a b", Classes::ALL, TOKEN, Unfit::Name),
            ("a-name-of-twenty-five-let", Classes::ALL, TOKEN, Unfit::Name),
            ("anna", Classes::NONE, TOKEN, Unfit::Classes),
            ("anna", Classes::ALL, "fifteen-letters", Unfit::Token),
            ("anna", Classes::ALL, "with a space in it", Unfit::Token),
        ] {
            assert_eq!(Principal::new(name, classes, token).unwrap_err(), unfit);
            assert!(!unfit.to_string().contains(token));
        }
        assert!(Unfit::Classes.to_string().ends_with("every call needs read"));
        let anna = Principal::new("anna", Classes::ALL, TOKEN).unwrap();
        assert!(format!("{anna:?}").contains("Digest(..)"));
    }
}
