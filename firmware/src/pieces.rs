//! Documents that are made a part at a time and given in pieces of any size: no buffer holds all of one.

use core::fmt;

/// A document, at one of its parts.
pub(crate) trait Parts {
    /// Writes the part. As long as nobody has moved on it writes the same again.
    fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result;

    /// Goes on to the next part.
    fn go_on(&mut self);

    /// Whether there are no more.
    fn is_done(&self) -> bool;
}

/// Fills `out` with the next bytes of a document and says how many; 0 is the end. `given` is how many of the part were
/// given already.
pub(crate) fn fill(parts: &mut dyn Parts, given: &mut usize, out: &mut [u8]) -> usize {
    let mut window = Window { skip: 0, room: out, used: 0, is_cut: false };
    while !parts.is_done() {
        let before = window.used;
        window.skip = *given;
        // An error: the room ends here, and the window knows.
        let _ = parts.write(&mut window);
        if window.is_cut {
            *given = given.saturating_add(window.used.saturating_sub(before));
            break;
        }
        *given = 0;
        parts.go_on();
    }
    window.used
}

/// Takes what is behind the first bytes, and not more than there is room for.
struct Window<'r> {
    skip: usize,
    room: &'r mut [u8],
    used: usize,
    is_cut: bool,
}

impl fmt::Write for Window<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let (passed, rest) = text.as_bytes().split_at(self.skip.min(text.len()));
        self.skip = self.skip.saturating_sub(passed.len());
        let room = self.room.get_mut(self.used..).unwrap_or_default();
        let fits = room.len().min(rest.len());
        room[..fits].copy_from_slice(&rest[..fits]);
        self.used = self.used.saturating_add(fits);
        if fits < rest.len() {
            self.is_cut = true;
            return Err(fmt::Error);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{string::String, vec, vec::Vec};

    use super::*;

    struct Words(usize);

    const WORDS: [&str; 6] = ["one", "", "three", "", "fünf", ""];

    impl Parts for Words {
        fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
            // In pieces, and going on behind an error as some writers do.
            for character in WORDS[self.0].chars() {
                let _ = out.write_char(character);
            }
            Ok(())
        }

        fn go_on(&mut self) {
            self.0 += 1;
        }

        fn is_done(&self) -> bool {
            self.0 == WORDS.len()
        }
    }

    #[test]
    fn pieces_of_any_size_make_the_same_document() {
        for size in 1..20 {
            let (mut words, mut given, mut all) = (Words(0), 0, Vec::new());
            let mut piece = vec![0; size];
            loop {
                match fill(&mut words, &mut given, &mut piece) {
                    0 => break,
                    filled => all.extend_from_slice(&piece[..filled]),
                }
            }
            assert_eq!(String::from_utf8(all).unwrap(), WORDS.concat(), "{size}");
        }
    }
}
