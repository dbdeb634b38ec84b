//! A JSON string's content, still escaped.

use core::fmt;

/// The content of a JSON string between its quotes, as it arrived: checked and still escaped.
///
/// It can be stored and sent again without another look, or read as characters.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    /// Wraps the escaped content of a checked string.
    pub(crate) const fn new(escaped: &'a str) -> Self {
        Self(escaped)
    }

    /// The escaped form, ready to be put between quotes.
    pub const fn escaped(self) -> &'a str {
        self.0
    }

    /// Whether there is not a single character.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The characters, escapes resolved.
    pub fn chars(self) -> impl Iterator<Item = char> + 'a {
        Chars(self.0.chars())
    }

    /// Whether the characters are those of `other`.
    pub fn is(self, other: &str) -> bool {
        // Up to the first escape, characters are the same where bytes are.
        let mut bytes = self.0.bytes().zip(other.bytes());
        match bytes.find(|(found, wanted)| found != wanted || *found == b'\\') {
            None => self.0.len() == other.len(),
            Some((b'\\', _)) => self.chars().eq(other.chars()),
            Some(_) => false,
        }
    }

    /// Copies the characters into a string of fixed capacity, or `None` if they don't fit.
    pub fn decode<const N: usize>(self) -> Option<heapless::String<N>> {
        let mut decoded = heapless::String::new();
        self.append_to(&mut decoded)?;
        Some(decoded)
    }

    /// As [`Text::decode`], behind what the string has. What fits of text that does not is there all the same.
    pub(crate) fn append_to<const N: usize>(self, decoded: &mut heapless::String<N>) -> Option<()> {
        if !self.0.as_bytes().contains(&b'\\') {
            return decoded.push_str(self.0).ok();
        }
        for character in self.chars() {
            decoded.push(character).ok()?;
        }
        Some(())
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        self.chars().try_for_each(|character| f.write_char(character))
    }
}

struct Chars<'a>(core::str::Chars<'a>);

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let first = self.0.next()?;
        if first != '\\' {
            return Some(first);
        }
        Some(match self.0.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let unit = self.hex4();
                let code = if unit & 0xfc00 == 0xd800 {
                    self.0.next();
                    self.0.next();
                    let low = self.hex4();
                    // Checked before: a high surrogate is followed by `\\u` and a low one; together 20 bits above the first plane.
                    ((unit & 0x3ff).wrapping_shl(10) | (low & 0x3ff)).wrapping_add(0x1_0000)
                } else {
                    unit
                };
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        })
    }
}

impl Chars<'_> {
    fn hex4(&mut self) -> u32 {
        let mut value = 0u32;
        for _ in 0..4 {
            let digit = self.0.next().and_then(|character| character.to_digit(16));
            value = value.wrapping_shl(4) | digit.unwrap_or(0);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use crate::json::Json;

    #[test]
    fn escapes_and_surrogate_pairs_become_characters() {
        let value = Json::parse(br#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud800\udc00\udbff\udfff z""#).unwrap();
        let text = value.text().unwrap();
        assert!(text.is("a\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}\u{10000}\u{10ffff} z"));
        assert!(!text.is("a"));
        let raw = text.escaped();
        assert!(!text.is(raw), "bytes that are the same mean something else where they are an escape");
        assert_eq!(text.decode::<64>().unwrap().chars().count(), 15);
        assert!(text.decode::<4>().is_none());
    }
}
