//! Which names a device goes by and which pages may ask it, beyond a restart: what somebody typed, a line of words each.
//!
//! The next start finds the line as it was typed or none: with fewer names than it was given a device is only harder to
//! reach, and its address is always one.

use embedded_storage_async::nor_flash::NorFlash;

use crate::{
    board::{Key, Trouble},
    http::Names,
    store::{Store, VALUE_MAX},
};

/// Words in a list.
pub const WORDS_MAX: usize = 4;

/// Bytes of the longest list, with a space between words.
pub const LIST_BYTES: usize = 160;

const _: () = assert!(LIST_BYTES <= VALUE_MAX, "a list is one value");

/// The words of a list.
pub type Words<'l> = heapless::Vec<&'l str, WORDS_MAX>;

/// What there are lists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// [`Names::hosts`].
    Hosts,
    /// [`Names::origins`].
    Origins,
}

impl List {
    const fn key(self) -> Key {
        match self {
            Self::Hosts => Key::HOSTS,
            Self::Origins => Key::ORIGINS,
        }
    }

    const fn bytes_max(self) -> usize {
        match self {
            Self::Hosts => 128,
            Self::Origins => LIST_BYTES,
        }
    }

    fn check(self, words: &[&str]) -> Result<(), Trouble> {
        let (is_fit, bad): (fn(&str) -> bool, _) = match self {
            Self::Hosts => (Names::is_host, "a name is a host such as mote.lan, without a port"),
            Self::Origins => (Names::is_origin, "an origin is http:// or https:// and a host, in lower case"),
        };
        if words.iter().all(|word| is_fit(word)) { Ok(()) } else { Err(Trouble(bad)) }
    }

    /// Keeps these words for the next start, instead of those before.
    ///
    /// # Errors
    /// Says what is wrong with them, or why they are not kept. Those before are kept then.
    pub fn keep<F: NorFlash>(self, store: &Store<F>, words: &[&str]) -> Result<(), Trouble> {
        self.check(words)?;
        let mut line = heapless::Vec::<u8, LIST_BYTES>::new();
        for (place, word) in words.iter().enumerate() {
            let space: &[u8] = if place == 0 { b"" } else { b" " };
            let room = line.extend_from_slice(space).and_then(|()| line.extend_from_slice(word.as_bytes()));
            room.map_err(|_| TOO_LONG)?;
        }
        if words.len() > WORDS_MAX || line.len() > self.bytes_max() {
            return Err(TOO_LONG);
        }
        if line.is_empty() { store.forget(self.key()) } else { store.save(self.key(), &line) }
    }

    /// Finds the words that were kept: all of them, or none if one cannot be what was typed.
    pub fn recall<'m, F: NorFlash>(self, store: &Store<F>, line: &'m mut [u8; LIST_BYTES]) -> Words<'m> {
        let length = store.load(self.key(), line).filter(|length| *length <= self.bytes_max());
        let line: &'m [u8; LIST_BYTES] = line;
        let line = length.and_then(|length| core::str::from_utf8(line.get(..length)?).ok());
        let mut words = Words::new();
        let is_whole = line.is_some_and(|line| line.split(' ').all(|word| words.push(word).is_ok()));
        if is_whole && self.check(&words).is_ok() { words } else { Words::new() }
    }
}

const TOO_LONG: Trouble = Trouble("that is too much: 4 at most, names of 128 characters in all, origins of 160");

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{format, vec, vec::Vec};

    use super::*;
    use crate::simulated::flash::{
        RamFlash,
        two_pages::{FLASH_BYTES, blank, open},
    };

    fn recall(list: List, store: &Store<RamFlash<&mut [u8]>>) -> Vec<std::string::String> {
        list.recall(store, &mut [0; LIST_BYTES]).iter().map(|word| (*word).into()).collect()
    }

    #[test]
    fn a_list_outlives_a_restart_until_there_is_another_one() {
        let mut memory = blank();
        let store = open(&mut memory);
        assert!(recall(List::Hosts, &store).is_empty() && recall(List::Origins, &store).is_empty());
        assert_eq!(List::Hosts.keep(&store, &["mote.lan", "Mote"]), Ok(()));
        assert_eq!(List::Origins.keep(&store, &["https://panel.example:8443"]), Ok(()));
        let store = open(&mut memory);
        assert_eq!(recall(List::Hosts, &store), ["mote.lan", "Mote"]);
        assert_eq!(recall(List::Origins, &store), ["https://panel.example:8443"]);
        assert_eq!(List::Hosts.keep(&store, &["a", "b", "c", "d"]), Ok(()));
        assert_eq!(List::Origins.keep(&store, &[]), Ok(()));
        let store = open(&mut memory);
        assert_eq!(recall(List::Hosts, &store), ["a", "b", "c", "d"]);
        assert!(recall(List::Origins, &store).is_empty());
    }

    #[test]
    fn the_longest_lists_fit_and_longer_ones_change_nothing() {
        let mut memory = blank();
        let store = open(&mut memory);
        let host = |bytes| "h".repeat(bytes);
        let origin = |bytes: usize| format!("http://{}", host(bytes - "http://".len()));
        let (half, more) = (host(63), host(64));
        assert_eq!(List::Hosts.keep(&store, &[&half, &more]), Ok(()));
        assert_eq!(List::Hosts.keep(&store, &[&more, &more]), Err(TOO_LONG));
        assert_eq!(List::Hosts.keep(&store, &["a", "b", "c", "d", "e"]), Err(TOO_LONG));
        assert_eq!(recall(List::Hosts, &store), [half, more]);
        let (half, more) = (origin(79), origin(80));
        assert_eq!(List::Origins.keep(&store, &[&half, &more]), Ok(()));
        assert_eq!(List::Origins.keep(&store, &[&more, &more]), Err(TOO_LONG));
        assert_eq!(List::Origins.keep(&store, &[&half, &half, "http://a"]), Err(TOO_LONG));
        assert_eq!(recall(List::Origins, &store), [half, more]);
    }

    #[test]
    fn bad_words_are_refused_and_change_nothing() {
        let mut memory = blank();
        let store = open(&mut memory);
        List::Hosts.keep(&store, &["mote.lan"]).expect("there is room");
        List::Origins.keep(&store, &["http://a"]).expect("there is room");
        for bad in ["", "mote.lan:80", "a b", "http://mote.lan", "möte", "a/b", "*"] {
            assert!(List::Hosts.keep(&store, &["mote", bad]).is_err(), "{bad}");
        }
        for bad in ["", "panel.example", "https://Panel.example", "https://a/", "http://a http://b", "*", "null"] {
            assert!(List::Origins.keep(&store, &["http://b", bad]).is_err(), "{bad}");
        }
        assert_eq!(recall(List::Hosts, &store), ["mote.lan"]);
        assert_eq!(recall(List::Origins, &store), ["http://a"]);
    }

    #[test]
    fn what_nobody_typed_is_none() {
        let mut garbage = vec![0x5a; FLASH_BYTES];
        assert!(recall(List::Hosts, &open(&mut garbage)).is_empty());
        let mut memory = blank();
        let store = open(&mut memory);
        let long = [b'h'; 129];
        for bytes in
            [&b"a b c d e"[..], b"a  b", b" a", b"a ", b"mote.lan:80", b"\xff\xfe", b"a\0", b"mote.lan evil/", &long]
        {
            store.save(Key::HOSTS, bytes).expect("there is room");
            assert!(recall(List::Hosts, &store).is_empty(), "{bytes:?}");
        }
        store.save(Key::ORIGINS, b"http://a mote.lan").expect("there is room");
        assert!(recall(List::Origins, &store).is_empty());
    }

    #[test]
    fn wherever_the_power_goes_it_is_the_old_list_or_the_new_one() {
        let mut before = blank();
        List::Hosts.keep(&open(&mut before), &["old.lan"]).expect("there is room");
        for steps in 0.. {
            let mut memory = before.clone();
            let mut flash = RamFlash::new(&mut memory[..]);
            flash.cut_after(steps);
            let done = List::Hosts.keep(&Store::new(flash, 0..FLASH_BYTES as u32), &["new.lan", "new"]).is_ok();
            let found = recall(List::Hosts, &open(&mut memory));
            assert!(found == ["new.lan", "new"] || (!done && found == ["old.lan"]), "cut after {steps}: {found:?}");
            if done {
                assert!(steps > 2, "{steps}");
                break;
            }
        }
    }
}
