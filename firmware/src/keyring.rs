//! Who is known beyond a restart, and the tokens that are made for them.
//!
//! The door in memory is who is known now; the store has what it is to be told at the next start: each principal under a
//! number of its own, with the digests of its tokens, and whether guests come in. A token itself is nowhere but in the
//! answer to whoever asked for it.
//!
//! Wherever the power goes, the next start finds somebody who is known, or makes `owner` anew and shuts the door. An open
//! door is something that a person has typed while somebody was known, and nothing else.

use core::fmt::{self, Write as _};

use base64ct::{Base64UrlUnpadded, Encoding as _};
use embedded_storage_async::nor_flash::NorFlash;
use heapless::string::StringView;
use protocol_core::door::{Classes, Door, NAME_MAX, Principal, Unfit};

use crate::{
    board::{Key, Trouble},
    console::Keys,
    store::Store,
};

/// Principals that a board has room for.
pub const PRINCIPALS: usize = 4;

/// Whom a device knows that knew nobody.
const OWNER: &str = "owner";

/// A token that was made here.
pub struct Token([u8; Self::CHARACTERS]);

impl Token {
    /// Nobody guesses 192 bits.
    const BYTES: usize = 24;
    /// Four characters for three bytes.
    pub const CHARACTERS: usize = Self::BYTES / 3 * 4;

    /// Makes one.
    pub fn make(fill_random: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = [0; Self::BYTES];
        fill_random(&mut bytes);
        let mut characters = [b'A'; Self::CHARACTERS];
        // cannot fail: that is how many characters so many bytes are.
        let _ = Base64UrlUnpadded::encode(&bytes, &mut characters);
        Self(characters)
    }

    /// The token, for the one who is to have it.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// What a device that knew nobody has made.
#[derive(Debug)]
pub struct First {
    /// The token of `owner`, who may do everything.
    pub token: Token,
    /// Whether the next start knows it, too.
    pub kept: Result<(), Trouble>,
}

/// Why somebody's wish was not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Unfit(Unfit),
    Unknown,
    OneToken,
    Nobody,
}

impl From<Unfit> for Refusal {
    fn from(unfit: Unfit) -> Self {
        Self::Unfit(unfit)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfit(unfit) => unfit.fmt(f),
            Self::Unknown => f.write_str("nobody of that name is known; tokens shows who is"),
            Self::OneToken => f.write_str("it has one token only: replace comes first"),
            Self::Nobody => f.write_str("nobody is known who could shut it again: token add NAME CLASSES comes first"),
        }
    }
}

/// Room for the longest answer to [`Keys`]: a full list.
pub type Answer = heapless::String<{ PRINCIPALS * (NAME_MAX + 40) + 64 }>;

/// Who is known, in the store.
pub struct Keyring<'s, F: NorFlash> {
    store: &'s Store<F>,
}

impl<'s, F: NorFlash> Keyring<'s, F> {
    /// What that store knows.
    pub const fn new(store: &'s Store<F>) -> Self {
        Self { store }
    }

    /// Tells a door whom it knew before the restart, and whether guests come in. If it knew nobody, the first start
    /// included, it is shut and knows `owner`, whose token is what is given.
    pub fn recall(&self, door: &mut Door<'_>, fill_random: impl FnOnce(&mut [u8])) -> Option<First> {
        for place in 0..PRINCIPALS {
            if let Some(principal) = self.load(place) {
                // An error: somebody else has that token. Nothing here writes such a thing, and it need not be known.
                let _ = door.know(principal);
            }
        }
        let mut guests = [0];
        let is_open = self.store.load(Key::GUESTS, &mut guests) == Some(1) && guests == [1];
        if door.principals().next().is_some() {
            door.set_open(is_open);
            return None;
        }
        door.set_open(false);
        let token = Token::make(fill_random);
        // It is shut before anybody is known: the other way round the start after the next would find an open door.
        let shut = if is_open { self.keep_guests(false) } else { Ok(()) };
        let owner = Principal::new(OWNER, Classes::ALL, token.as_str());
        let kept = match owner.and_then(|owner| door.know(owner.clone()).map(|()| owner)) {
            Ok(owner) => shut.and_then(|()| self.keep(door, &owner)),
            Err(_) => Err(Trouble("there is no room to know it")),
        };
        Some(First { token, kept })
    }

    /// Does what somebody typed, at once, and says what came of it. If the store does not take it, it is forgotten with the
    /// next restart, and the answer says so.
    pub fn obey(&self, keys: Keys<'_>, door: &mut Door<'_>, fill_random: impl FnOnce(&mut [u8])) -> Answer {
        let mut whole = Answer::new();
        let answer = whole.as_mut_view();
        let done = match keys {
            Keys::List => Ok(write_list(answer, door)),
            Keys::Add { name, classes } => {
                let token = Token::make(fill_random);
                self.add(door, name, classes, &token).map(|kept| {
                    write!(answer, "the token of {name}, shown this once: {}", token.as_str())?;
                    write_kept(answer, kept)
                })
            }
            Keys::Replace(name) => {
                let token = Token::make(fill_random);
                let change = |principal: &mut Principal| Ok(principal.add_token(token.as_str())?);
                self.change(door, name, change).map(|kept| {
                    write!(answer, "the new token of {name}, shown this once: {}", token.as_str())?;
                    write!(answer, "\r\nthe one before stays valid until: token retire {name}")?;
                    write_kept(answer, kept)
                })
            }
            Keys::Retire(name) => {
                let change = |principal: &mut Principal| {
                    if principal.tokens.iter().flatten().count() < 2 {
                        return Err(Refusal::OneToken);
                    }
                    principal.drop_old_token();
                    Ok(())
                };
                self.change(door, name, change).map(|kept| {
                    answer.write_str("ok")?;
                    write_kept(answer, kept)
                })
            }
            Keys::Revoke(name) => self.revoke(door, name).map(|kept| {
                answer.write_str("ok")?;
                if door.principals().next().is_none() {
                    answer.write_str(
                        "; nobody is known now, and the door is shut. To get in again: token add NAME CLASSES",
                    )?;
                }
                write_kept(answer, kept)
            }),
            Keys::Guests(is_open) => self.set_guests(door, is_open).map(|kept| {
                answer.write_str(if is_open {
                    "ok; whoever reaches the device may ask and act, until: open off"
                } else {
                    "ok"
                })?;
                write_kept(answer, kept)
            }),
        };
        if let Err(refusal) = done {
            // cannot fail, nor can what is written above: a test has the longest of all.
            let _ = write!(answer, "{refusal}");
        }
        whole
    }

    fn add(
        &self,
        door: &mut Door<'_>,
        name: &str,
        classes: Classes,
        token: &Token,
    ) -> Result<Result<(), Trouble>, Refusal> {
        if door.principals().any(|known| known.name == name) {
            return Err(Unfit::Known.into());
        }
        let principal = Principal::new(name, classes, token.as_str())?;
        door.know(principal.clone())?;
        Ok(self.keep(door, &principal))
    }

    fn change(
        &self,
        door: &mut Door<'_>,
        name: &str,
        change: impl FnOnce(&mut Principal) -> Result<(), Refusal>,
    ) -> Result<Result<(), Trouble>, Refusal> {
        let mut principal = door.principals().find(|known| known.name == name).ok_or(Refusal::Unknown)?.clone();
        change(&mut principal)?;
        door.know(principal.clone())?;
        Ok(self.keep(door, &principal))
    }

    fn revoke(&self, door: &mut Door<'_>, name: &str) -> Result<Result<(), Trouble>, Refusal> {
        if !door.forget(name) {
            return Err(Refusal::Unknown);
        }
        let mut shut = Ok(());
        if door.principals().next().is_none() && door.is_open() {
            door.set_open(false);
            shut = self.keep_guests(false);
        }
        let mut places = (0..PRINCIPALS).filter(|place| self.load(*place).is_some_and(|kept| kept.name == name));
        Ok(shut.and(places.try_for_each(|place| self.store.forget(Key::principal(place)))))
    }

    fn set_guests(&self, door: &mut Door<'_>, is_open: bool) -> Result<Result<(), Trouble>, Refusal> {
        if is_open && door.principals().next().is_none() {
            return Err(Refusal::Nobody);
        }
        door.set_open(is_open);
        Ok(self.keep_guests(is_open))
    }

    fn load(&self, place: usize) -> Option<Principal> {
        let mut bytes = [0; Principal::BYTES];
        let length = self.store.load(Key::principal(place), &mut bytes)?;
        Principal::from_bytes(bytes.get(..length)?)
    }

    /// Keeps a principal in its place; a new one where nobody is, or nobody whom the door knows.
    fn keep(&self, door: &Door<'_>, principal: &Principal) -> Result<(), Trouble> {
        let mut free = None;
        for place in 0..PRINCIPALS {
            match self.load(place) {
                Some(kept) if kept.name == principal.name => {
                    free = Some(place);
                    break;
                }
                Some(kept) if door.principals().any(|known| known.name == kept.name) => {}
                _ => free = free.or(Some(place)),
            }
        }
        let place = free.ok_or(Trouble("there is no room to keep it"))?;
        self.store.save(Key::principal(place), &principal.to_bytes())
    }

    fn keep_guests(&self, is_open: bool) -> Result<(), Trouble> {
        self.store.save(Key::GUESTS, &[u8::from(is_open)])
    }
}

fn write_list(answer: &mut StringView, door: &Door<'_>) -> fmt::Result {
    for Principal { name, classes, tokens, .. } in door.principals() {
        let count = tokens.iter().flatten().count();
        write!(answer, "{name}: {classes}, {count} token{}\r\n", if count == 1 { "" } else { "s" })?;
    }
    answer.write_str(match (door.is_open(), door.principals().next()) {
        (true, _) => "the door is open: guests get in, too",
        (false, Some(_)) => "the door is shut for everybody else",
        (false, None) => "nobody is known, and the door is shut: token add NAME CLASSES",
    })
}

fn write_kept(answer: &mut StringView, kept: Result<(), Trouble>) -> fmt::Result {
    match kept {
        Ok(()) => Ok(()),
        Err(trouble) => write!(answer, "\r\nuntil the next restart only: {trouble}"),
    }
}

#[cfg(test)]
mod tests;
