//! Which name it is: the one that somebody wanted, with a number if others have it.

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use embedded_storage_async::nor_flash::NorFlash;

use crate::{
    board::{Key, Trouble},
    store::Store,
};

/// What a device is called until somebody says otherwise.
pub const DEFAULT_NAME: &str = "mote";

/// Characters of the longest name that one can ask for. A label of DNS could have 63.
pub const NAME_MAX: usize = 32;

/// Characters of the longest name with a number behind it.
pub const LABEL_MAX: usize = NAME_MAX + 3;

/// A name and a number.
pub(super) type Label = heapless::String<LABEL_MAX>;

/// Is it a name that a host can have: letters, digits, and hyphens between them?
#[must_use]
pub fn is_name(text: &str) -> bool {
    (1..=NAME_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Keeps a name for the next start.
///
/// # Errors
/// Says why it is none, or why it is not kept.
pub fn keep<F: NorFlash>(store: &Store<F>, name: &str) -> Result<(), Trouble> {
    if is_name(name) { store.save(Key::NAME, name.as_bytes()) } else { Err(BAD) }
}

/// Finds the name that was kept, or [`DEFAULT_NAME`].
pub fn recall<F: NorFlash>(store: &Store<F>) -> Wanted {
    let mut bytes = [0; NAME_MAX];
    let length = store.load(Key::NAME, &mut bytes);
    let name = length.and_then(|length| core::str::from_utf8(bytes.get(..length)?).ok());
    name.and_then(Wanted::new).unwrap_or_default()
}

const BAD: Trouble = Trouble("a name has letters, digits and hyphens between them, 32 at most");

/// A name that somebody wants, and the number behind it if others have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Without a number.
    base: Label,
    /// 1 is none.
    number: u8,
}

/// The highest number.
const NUMBER_MAX: u8 = 99;

impl Wanted {
    /// Wants that name. `None` if it is none.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        if !is_name(name) {
            return None;
        }
        // The next after kitchen-2 is kitchen-3.
        let (base, number) = match *name.as_bytes() {
            [ref base @ .., before, b'-', ones @ b'2'..=b'9'] if before != b'-' => (base.len(), ones & 0xf),
            [ref base @ .., before, b'-', tens @ b'1'..=b'9', ones @ b'0'..=b'9'] if before != b'-' => {
                (base.len(), 10 * (tens & 0xf) + (ones & 0xf))
            }
            _ => (name.len(), 0),
        };
        let (base, number) = if number == 0 { (base, 1) } else { (base.saturating_add(1), number) };
        Some(Self { base: Label::try_from(name.get(..base)?).ok()?, number })
    }

    /// Wants the next one. Behind the last number it is none again: somebody may have left meanwhile, and who was to be
    /// called lamp-99 has somewhere to go.
    pub(super) fn give_way(&mut self) {
        self.number = if self.number >= NUMBER_MAX { 1 } else { self.number.saturating_add(1) };
    }

    /// As it is written.
    pub(super) fn label(&self) -> Label {
        let mut label = self.base.clone();
        if self.number > 1 {
            let (tens, ones) = (self.number / 10, self.number % 10);
            // cannot fail: there is room for a number behind the longest name.
            let _ = label.push('-');
            if tens > 0 {
                let _ = label.push(char::from(b'0'.wrapping_add(tens)));
            }
            let _ = label.push(char::from(b'0'.wrapping_add(ones)));
        }
        label
    }
}

impl Default for Wanted {
    fn default() -> Self {
        let mut base = Label::new();
        // cannot fail: it is short.
        let _ = base.push_str(DEFAULT_NAME);
        Self { base, number: 1 }
    }
}

/// The name that is ours at the moment, if any is: who asks for it in `Host` means us.
///
/// Of atoms, so that a set-up with one in it can be handed to the thread that serves; there it is set and read.
#[derive(Debug)]
pub struct LocalName {
    length: AtomicU8,
    bytes: [AtomicU8; LABEL_MAX],
}

impl LocalName {
    /// No name.
    #[must_use]
    pub const fn new() -> Self {
        Self { length: AtomicU8::new(0), bytes: [const { AtomicU8::new(0) }; LABEL_MAX] }
    }

    /// That name is ours now, or none if it is empty.
    pub(crate) fn set(&self, label: &str) {
        for (own, byte) in self.bytes.iter().zip(label.bytes()) {
            own.store(byte, Relaxed);
        }
        self.length.store(label.len().min(LABEL_MAX) as u8, Relaxed);
    }

    fn bytes(&self) -> impl ExactSizeIterator<Item = u8> {
        let length = usize::from(self.length.load(Relaxed));
        self.bytes.iter().take(length).map(|byte| byte.load(Relaxed))
    }

    /// The name without `.local`, if there is one.
    #[must_use]
    pub fn get(&self) -> Option<heapless::String<LABEL_MAX>> {
        let label: Label = self.bytes().map(char::from).collect();
        (!label.is_empty()).then_some(label)
    }

    /// Is that host, without a dot at its end, the one that we are?
    #[must_use]
    pub fn is(&self, host: &str) -> bool {
        let own = self.bytes();
        own.len() > 0
            && host.split_once('.').is_some_and(|(label, domain)| {
                let is_same = label.bytes().map(|byte| byte.to_ascii_lowercase());
                is_same.eq(own.map(|byte| byte.to_ascii_lowercase())) && domain.eq_ignore_ascii_case("local")
            })
    }
}

impl Default for LocalName {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{string::ToString as _, vec};

    use super::*;
    use crate::simulated::flash::two_pages::{FLASH_BYTES, blank, open};

    #[test]
    fn a_name_is_a_label_of_a_host() {
        let longest = "n".repeat(NAME_MAX);
        for name in ["mote", "Mote-7", "7", "a-b", &longest] {
            assert!(is_name(name) && Wanted::new(name).is_some(), "{name}");
        }
        let too_long = "n".repeat(NAME_MAX + 1);
        for bad in ["", "-mote", "mote-", "mo te", "mote.local", "möte", "mote_1", "mote\n", &too_long] {
            assert!(!is_name(bad) && Wanted::new(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_next_name_has_the_next_number_and_after_the_last_comes_the_first() {
        for (name, next) in [
            ("mote", ["mote-2", "mote-3"]),
            ("kitchen-2", ["kitchen-3", "kitchen-4"]),
            ("lamp-9", ["lamp-10", "lamp-11"]),
            ("lamp-99", ["lamp", "lamp-2"]),
            ("lamp-98", ["lamp-99", "lamp"]),
            ("lamp-0", ["lamp-0-2", "lamp-0-3"]),
            ("lamp-007", ["lamp-007-2", "lamp-007-3"]),
            ("lamp-100", ["lamp-100-2", "lamp-100-3"]),
            ("2", ["2-2", "2-3"]),
        ] {
            let mut wanted = Wanted::new(name).expect(name);
            assert_eq!(wanted.label(), name);
            for next in next {
                wanted.give_way();
                assert_eq!(wanted.label(), next, "{name}");
            }
        }
        let mut longest = Wanted::new(&"n".repeat(NAME_MAX)).expect("it is one");
        (0..98).for_each(|_| longest.give_way());
        assert_eq!(longest.label().to_string(), std::format!("{}-99", "n".repeat(NAME_MAX)));
        longest.give_way();
        assert_eq!(longest.label().len(), NAME_MAX);
    }

    #[test]
    fn a_name_outlives_a_restart_and_what_is_none_is_not_kept() {
        let mut memory = blank();
        let store = open(&mut memory);
        assert_eq!(recall(&store), Wanted::default());
        assert_eq!(recall(&store).label(), DEFAULT_NAME);
        assert_eq!(keep(&store, "kitchen"), Ok(()));
        assert_eq!(keep(&store, "no name"), Err(BAD));
        assert_eq!(recall(&store).label(), "kitchen");
        for damaged in [&b"no name"[..], b"\xff", &[b'n'; 40], b""] {
            store.save(Key::NAME, damaged).expect("there is room");
            assert_eq!(recall(&store).label(), DEFAULT_NAME, "{damaged:?}");
        }
        let mut garbage = vec![0x5a; FLASH_BYTES];
        assert_eq!(recall(&open(&mut garbage)).label(), DEFAULT_NAME);
    }

    #[test]
    fn only_the_name_that_is_ours_is_ours() {
        let name = LocalName::new();
        assert!(!name.is(".local") && !name.is("mote.local") && name.get().is_none());
        name.set("mote-2");
        assert!(name.is("mote-2.local") && name.is("MOTE-2.Local"));
        for other in ["mote.local", "mote-2", "mote-2.local.evil", "mote-2.locale", "xmote-2.local", "mote-2."] {
            assert!(!name.is(other), "{other}");
        }
        name.set("");
        assert!(!name.is("mote-2.local"));
    }
}
