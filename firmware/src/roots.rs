//! Whom the device believes who a server is: root certificates, typed on the console and kept beyond a restart.
//!
//! A certificate is longer than a value that is kept, and than what there is room for in memory beside everything else. So it
//! goes into the store in pieces while it is typed, and counts when the last thing about it is there: its length and its
//! SHA-256. Wherever the power goes, the next start finds all of it or none of it.

use core::fmt::Write as _;

use embedded_storage_async::nor_flash::NorFlash;
use sha2::{Digest as _, Sha256};

use crate::{
    board::{Key, Trouble},
    pem::{self, Pem, Read},
    store::{Store, VALUE_MAX},
};

/// Roots that a board has room for.
pub const ROOTS: usize = 4;

/// Bytes of the longest. Those with an elliptic curve, which are the ones that can be checked here, have 400 to 700.
pub const ROOT_MAX: usize = 1024;

/// Bytes of all of them together.
pub const ROOTS_BYTES: usize = 2048;

/// A piece of one in the store.
const PIECE_BYTES: usize = 160;
const PIECES: usize = ROOT_MAX.div_ceil(PIECE_BYTES);

const _: () = assert!(PIECE_BYTES <= VALUE_MAX, "a piece is one value");

const DIGEST_BYTES: usize = 32;
const HEAD_BYTES: usize = 2 + DIGEST_BYTES;

/// Root certificates in DER.
pub type RootList<'m> = heapless::Vec<&'m [u8], ROOTS>;

/// What is said about one: its number, its length, and its SHA-256 as `openssl x509 -fingerprint -sha256` writes it.
pub type About = heapless::String<{ 40 + 3 * DIGEST_BYTES }>;

/// The roots in a store.
pub struct Roots<'s, F: NorFlash> {
    store: &'s Store<F>,
}

impl<'s, F: NorFlash> Roots<'s, F> {
    /// Those of that store.
    pub const fn new(store: &'s Store<F>) -> Self {
        Self { store }
    }

    /// Finds the roots that were kept.
    pub fn recall<'m>(&self, memory: &'m mut [u8; ROOTS_BYTES]) -> RootList<'m> {
        let mut roots = RootList::new();
        let mut free: &'m mut [u8] = memory;
        for place in 0..ROOTS {
            let Some(head) = self.head(place) else { continue };
            let Some((root, rest)) = core::mem::take(&mut free).split_at_mut_checked(head.length) else { break };
            free = rest;
            let is_there = root.chunks_mut(PIECE_BYTES).enumerate().all(|(piece, bytes)| {
                let length = bytes.len();
                self.store.load(Key::root_piece(place, piece), bytes) == Some(length)
            });
            if is_there && Sha256::digest(&*root)[..] == head.digest {
                // cannot fail: there is room for as many as there are places.
                let _ = roots.push(root);
            }
        }
        roots
    }

    /// What to say about the root in a place, if there is one. People count from one.
    pub fn about(&self, place: usize) -> Option<About> {
        let head = self.head(place)?;
        let mut about = About::new();
        // cannot fail: there is room for the longest.
        let view = about.as_mut_view();
        let _ = write!(view, "{}: {} bytes, SHA-256 ", place + 1, head.length);
        for (at, byte) in head.digest.iter().enumerate() {
            let _ = write!(view, "{}{byte:02X}", if at == 0 { "" } else { ":" });
        }
        Some(about)
    }

    /// Keeps the root of that number no longer.
    ///
    /// # Errors
    /// There is none, or the store does not let go of it.
    pub fn forget(&self, number: usize) -> Result<(), Trouble> {
        let place = number.checked_sub(1).filter(|place| *place < ROOTS && self.head(*place).is_some());
        let place = place.ok_or(Trouble("there is none of that number; trust shows which there are"))?;
        // This first: pieces alone are nothing.
        self.store.forget(Key::root(place))?;
        (0..PIECES).try_for_each(|piece| self.store.forget(Key::root_piece(place, piece)))
    }

    fn head(&self, place: usize) -> Option<Head> {
        let mut bytes = [0; HEAD_BYTES];
        let length = self.store.load(Key::root(place), &mut bytes)?;
        let (count, digest) = bytes.split_first_chunk::<2>()?;
        let head = Head { length: usize::from(u16::from_le_bytes(*count)), digest: digest.try_into().ok()? };
        (length == HEAD_BYTES && (1..=ROOT_MAX).contains(&head.length)).then_some(head)
    }
}

struct Head {
    length: usize,
    digest: [u8; DIGEST_BYTES],
}

/// What came of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is nothing of a certificate.
    Not,
    /// It is, and more is to come.
    More,
    /// It was the last one, or no other will do.
    Done(Result<(), Trouble>),
}

/// A certificate that is being typed.
#[derive(Default)]
pub struct Paste {
    pem: Pem,
    root: Option<Root>,
}

struct Root {
    place: usize,
    /// Bytes so far, and how many there may be.
    length: usize,
    room: usize,
    begins: [u8; 4],
    /// What is not in the store yet.
    piece: heapless::Vec<u8, PIECE_BYTES>,
    digest: Sha256,
}

impl Paste {
    /// Takes a line. What is nothing of a certificate is left to others; a whole one is kept.
    pub fn take<F: NorFlash>(&mut self, roots: &Roots<'_, F>, line: &str) -> Taken {
        let taken = match self.pem.read(line) {
            Ok(Read::Other) => return Taken::Not,
            Ok(Read::Begin) => Root::begin(roots).map(|root| self.root = Some(root)),
            Ok(Read::Bytes(bytes)) => match &mut self.root {
                Some(root) => root.add(roots, bytes),
                // What was wrong with it was said.
                None => Ok(()),
            },
            Ok(Read::End) => match self.root.take() {
                Some(root) => return Taken::Done(root.end(roots)),
                None => return Taken::More,
            },
            Err(trouble) => Err(trouble),
        };
        match taken {
            Ok(()) => Taken::More,
            Err(trouble) => {
                self.root = None;
                Taken::Done(Err(trouble))
            }
        }
    }

    /// A line came that nobody could read: what was typed so far is nothing.
    pub fn give_up(&mut self) {
        *self = Self::default();
    }
}

impl Root {
    fn begin<F: NorFlash>(roots: &Roots<'_, F>) -> Result<Self, Trouble> {
        let kept = (0..ROOTS).map(|place| roots.head(place).map_or(0, |head| head.length)).sum::<usize>();
        let place = (0..ROOTS).find(|place| roots.head(*place).is_none()).ok_or(FULL)?;
        let room = ROOTS_BYTES.saturating_sub(kept).min(ROOT_MAX);
        Ok(Self { place, length: 0, room, begins: [0; 4], piece: heapless::Vec::new(), digest: Sha256::new() })
    }

    fn add<F: NorFlash>(&mut self, roots: &Roots<'_, F>, bytes: &[u8]) -> Result<(), Trouble> {
        self.digest.update(bytes);
        for byte in bytes {
            if let Some(begins) = self.begins.get_mut(self.length) {
                *begins = *byte;
            }
            self.length += 1;
            if self.length > self.room {
                return Err(FULL);
            }
            // cannot fail: it is emptied when it is full.
            let _ = self.piece.push(*byte);
            if self.piece.is_full() {
                self.keep_piece(roots)?;
            }
        }
        Ok(())
    }

    fn keep_piece<F: NorFlash>(&mut self, roots: &Roots<'_, F>) -> Result<(), Trouble> {
        let number = (self.length - 1) / PIECE_BYTES;
        roots.store.save(Key::root_piece(self.place, number), &self.piece)?;
        self.piece.clear();
        Ok(())
    }

    fn end<F: NorFlash>(mut self, roots: &Roots<'_, F>) -> Result<(), Trouble> {
        if !pem::is_whole(self.begins, self.length) {
            return Err(Trouble("that is no certificate, or not all of one"));
        }
        if !self.piece.is_empty() {
            self.keep_piece(roots)?;
        }
        let digest: [u8; DIGEST_BYTES] = self.digest.finalize().into();
        if (0..ROOTS).any(|place| roots.head(place).is_some_and(|head| head.digest == digest)) {
            return Err(Trouble("it is trusted already"));
        }
        let mut head = [0; HEAD_BYTES];
        let count = (self.length as u16).to_le_bytes();
        for (to, from) in head.iter_mut().zip(count.iter().chain(&digest)) {
            *to = *from;
        }
        roots.store.save(Key::root(self.place), &head)
    }
}

const FULL: Trouble =
    Trouble("there is no room: 4 at most, one of 1024 bytes, all of 2048; trust forget NUMBER makes some");

#[cfg(test)]
mod tests;
