//! A sentence as words: lower and upper case are the same, punctuation is nothing, numbers stand alone.
//!
//! The words are a model's or a person's: nothing here panics, whatever comes in.

/// The words of a sentence, one after the other. `200ms` is two words, `21.5` is one, and so are `<` and `>`.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    /// The words of this text.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// Whether one of them is this one.
    #[must_use]
    pub fn has(mut self, word: &str) -> bool {
        self.any(|other| is(other, word))
    }

    /// What the table says about the first word that is in it, and the words behind that one.
    pub fn look_up<T: Copy>(mut self, table: &[(&str, T)]) -> Option<(T, Self)> {
        loop {
            let word = self.next()?;
            if let Some((_, found)) = table.iter().find(|(known, _)| is(word, known)) {
                return Some((*found, self));
            }
        }
    }

    /// What the table says about the word at the front, and the words behind it.
    pub fn at_front<T: Copy>(mut self, table: &[(&str, T)]) -> Option<(T, Self)> {
        let word = self.next()?;
        table.iter().find(|(known, _)| is(word, known)).map(|(_, found)| (*found, self))
    }

    /// The number at the front.
    pub fn number(mut self) -> Option<Number<'a>> {
        let text = self.next().filter(|word| number_len(word) > 0)?;
        Some(Number { text, behind: self })
    }

    /// Every number, each with the words behind it.
    pub fn numbers(mut self) -> impl Iterator<Item = Number<'a>> {
        core::iter::from_fn(move || {
            loop {
                let number = self.number();
                self.next()?;
                if number.is_some() {
                    return number;
                }
            }
        })
    }
}

/// A number in a sentence.
#[derive(Clone, Copy, Debug)]
pub struct Number<'a> {
    /// As it was written: not always one that can be, such as `21,5`.
    pub text: &'a str,
    /// The words behind it.
    pub behind: Words<'a>,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            let first = self.0.chars().next()?;
            let len = match first {
                '<' | '>' => 1,
                _ if is_letter(first) => word_len(self.0),
                _ => number_len(self.0),
            };
            let (word, rest) = self.0.split_at_checked(if len > 0 { len } else { first.len_utf8() })?;
            self.0 = rest;
            if len > 0 {
                return Some(word);
            }
        }
    }
}

/// Bytes of the word that a text begins with.
fn word_len(text: &str) -> usize {
    let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let ascii = text.as_bytes().iter().take_while(|byte| in_word(byte)).count();
    if text.as_bytes().get(ascii).is_none_or(u8::is_ascii) {
        return ascii;
    }
    text.find(|c: char| !is_letter(c) && !c.is_ascii_digit() && c != '_').unwrap_or(text.len())
}

/// Whether words are made of it. Beyond ASCII by blocks: what Unicode's own tables say takes 2 KiB of flash, and all that
/// hangs on it is where a word ends that no table here knows.
fn is_letter(c: char) -> bool {
    // Without the blocks of punctuation and symbols, of wide forms, and of pictures.
    c.is_ascii_alphabetic() || matches!(c, 'À'..='\u{1fff}' | '\u{2c00}'..='\u{2dff}' | '\u{3040}'..='\u{d7ff}')
}

/// Whether two words are the same.
#[must_use]
pub fn is(word: &str, other: &str) -> bool {
    word.eq_ignore_ascii_case(other)
}

/// Bytes of the number that a text begins with: a sign, digits, points and commas between digits.
fn number_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_point = |at: usize| matches!(bytes.get(at), Some(b'.' | b',')) && is_digit(at.saturating_add(1));
    let mut end = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    if !is_digit(end) && !is_point(end) {
        return 0;
    }
    while is_digit(end) || is_point(end) {
        end = end.saturating_add(1);
    }
    end
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::Words;

    #[test]
    fn splits_sentences() {
        for (text, words) in [
            ("Read, please: the TEMPERATURE!", &["Read", "please", "the", "TEMPERATURE"][..]),
            ("what's up?", &["what", "s", "up"]),
            ("every 200ms for 5s.", &["every", "200", "ms", "for", "5", "s"]),
            ("x>30.5°C, y<-2", &["x", ">", "30.5", "C", "y", "<", "-2"]),
            ("co2 - 21,5 1,000 .5 5. +", &["co2", "21,5", "1,000", ".5", "5"]),
            ("größe 🌡 ２ wi-fi", &["größe", "wi", "fi"]),
            ("", &[]),
            ("...---,,,", &[]),
        ] {
            assert_eq!(Words::new(text).collect::<Vec<_>>(), words, "{text}");
        }
    }

    #[test]
    fn finds_numbers_and_what_follows() {
        let numbers: Vec<_> = Words::new("for 5 seconds 10 times 21,5").numbers().collect();
        let texts: Vec<_> = numbers.iter().map(|number| number.text).collect();
        assert_eq!(texts, ["5", "10", "21,5"]);
        assert_eq!({ numbers[1].behind }.next(), Some("times"));
    }
}
