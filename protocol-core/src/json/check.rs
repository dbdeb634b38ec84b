//! Is this text JSON? One pass, no recursion, a depth limit.

/// Arrays and objects may nest this deep. One bit of a `u32` says for each level which of the two it is.
pub const MAX_DEPTH: u32 = 32;

/// Why a text is not JSON, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct JsonError {
    /// Offset of the byte at which the text stopped being JSON.
    pub at: usize,
    /// What was wrong there, in a few words.
    pub what: &'static str,
}

impl core::fmt::Display for JsonError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

impl core::error::Error for JsonError {}

/// Checks that `bytes` are exactly one JSON value, and gives them back as text.
pub(super) fn check(bytes: &[u8]) -> Result<&str, JsonError> {
    let text = core::str::from_utf8(bytes).map_err(|error| JsonError { at: error.valid_up_to(), what: "not UTF-8" })?;
    Checker { bytes, at: 0, objects: 0, depth: 0 }.document()?;
    Ok(text)
}

struct Checker<'a> {
    bytes: &'a [u8],
    at: usize,
    /// One bit a level, the innermost lowest: 1 for an object, 0 for an array.
    objects: u32,
    depth: u32,
}

impl Checker<'_> {
    fn document(&mut self) -> Result<(), JsonError> {
        self.value()?;
        while self.depth > 0 {
            self.skip_space();
            match (self.peek(), self.objects & 1 == 1) {
                (Some(b','), true) => {
                    self.step();
                    self.key()?;
                    self.value()?;
                }
                (Some(b','), false) => {
                    self.step();
                    self.value()?;
                }
                (Some(b'}'), true) | (Some(b']'), false) => self.close(),
                (None, _) => return self.fail("ends in the middle"),
                (_, true) => return self.fail("expected ',' or '}'"),
                (_, false) => return self.fail("expected ',' or ']'"),
            }
        }
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail("something follows the value"),
        }
    }

    /// Reads a scalar, an empty container, or the opening of a container up to and including its first scalar.
    fn value(&mut self) -> Result<(), JsonError> {
        loop {
            self.skip_space();
            match self.peek() {
                Some(b'{') => {
                    self.open(1)?;
                    self.skip_space();
                    if self.peek() == Some(b'}') {
                        self.close();
                        return Ok(());
                    }
                    self.key()?;
                }
                Some(b'[') => {
                    self.open(0)?;
                    self.skip_space();
                    if self.peek() == Some(b']') {
                        self.close();
                        return Ok(());
                    }
                }
                Some(b'"') => return self.string(),
                Some(b'-' | b'0'..=b'9') => return self.number(),
                Some(b't') => return self.word(b"true"),
                Some(b'f') => return self.word(b"false"),
                Some(b'n') => return self.word(b"null"),
                None => return self.fail("ends in the middle"),
                Some(_) => return self.fail("expected a value"),
            }
        }
    }

    fn open(&mut self, object: u32) -> Result<(), JsonError> {
        if self.depth >= MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        self.depth = self.depth.saturating_add(1);
        self.objects = self.objects.wrapping_shl(1) | object;
        self.step();
        Ok(())
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.objects = self.objects.wrapping_shr(1);
        self.step();
    }

    fn key(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => self.string()?,
            None => return self.fail("ends in the middle"),
            Some(_) => return self.fail("expected a member name"),
        }
        self.skip_space();
        match self.peek() {
            Some(b':') => {
                self.step();
                Ok(())
            }
            None => self.fail("ends in the middle"),
            Some(_) => self.fail("expected ':'"),
        }
    }

    fn string(&mut self) -> Result<(), JsonError> {
        self.step();
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let plain = rest.iter().take_while(|byte| !matches!(byte, 0..=0x1f | b'"' | b'\\')).count();
            self.at = self.at.saturating_add(plain);
            match self.peek() {
                Some(b'"') => {
                    self.step();
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return self.fail("control character in a string"),
                None => return self.fail("ends in the middle of a string"),
            }
        }
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        self.step();
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.step();
                Ok(())
            }
            Some(b'u') => {
                self.step();
                match self.hex4()? {
                    0xd800..=0xdbff => {
                        // A high surrogate means something only together with a low one.
                        if self.peek() != Some(b'\\') {
                            return self.fail("surrogate without its pair");
                        }
                        self.step();
                        if self.peek() != Some(b'u') {
                            return self.fail("surrogate without its pair");
                        }
                        self.step();
                        match self.hex4()? {
                            0xdc00..=0xdfff => Ok(()),
                            _ => self.fail("surrogate without its pair"),
                        }
                    }
                    0xdc00..=0xdfff => self.fail("surrogate without its pair"),
                    _ => Ok(()),
                }
            }
            _ => self.fail("unknown escape"),
        }
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let mut value = 0u32;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return self.fail("expected four hex digits");
            };
            value = value.wrapping_shl(4) | digit;
            self.step();
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<(), JsonError> {
        if self.peek() == Some(b'-') {
            self.step();
        }
        match self.peek() {
            Some(b'0') => self.step(),
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.fail("expected a digit"),
        }
        if self.peek() == Some(b'.') {
            self.step();
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.step();
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.step();
            }
            self.some_digits()?;
        }
        Ok(())
    }

    fn some_digits(&mut self) -> Result<(), JsonError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.fail("expected a digit");
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.step();
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), JsonError> {
        for byte in word {
            if self.peek() != Some(*byte) {
                return self.fail("expected a value");
            }
            self.step();
        }
        Ok(())
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.step();
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn fail<T>(&self, what: &'static str) -> Result<T, JsonError> {
        Err(JsonError { at: self.at.min(self.bytes.len()), what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> &'static str {
        check(text.as_bytes()).unwrap_err().what
    }

    #[test]
    fn accepts_every_kind_of_value() {
        for text in [
            "null",
            " true ",
            "false",
            "0",
            "-0",
            "-1.5e+10",
            "1E3",
            "\"\"",
            "[]",
            "{}",
            "[1,2,[3]]",
            r#"{"a":{"b":[null,{}]},"c":"\u00e9\ud83d\ude00\/\n"}"#,
            "\t[\r\n1 , 2]\n",
        ] {
            assert_eq!(check(text.as_bytes()), Ok(text));
        }
    }

    #[test]
    fn names_what_is_wrong() {
        assert_eq!(error(""), "ends in the middle");
        assert_eq!(error("[1,]"), "expected a value");
        assert_eq!(error("{\"a\":1,}"), "expected a member name");
        assert_eq!(error("{\"a\" 1}"), "expected ':'");
        assert_eq!(error("{a:1}"), "expected a member name");
        assert_eq!(error("[1 2]"), "expected ',' or ']'");
        assert_eq!(error("[1}"), "expected ',' or ']'");
        assert_eq!(error("{\"a\":1]"), "expected ',' or '}'");
        assert_eq!(error("01"), "something follows the value");
        assert_eq!(error("1."), "expected a digit");
        assert_eq!(error("-"), "expected a digit");
        assert_eq!(error("+1"), "expected a value");
        assert_eq!(error("NaN"), "expected a value");
        assert_eq!(error("\"\n\""), "control character in a string");
        assert_eq!(error("\"\\x\""), "unknown escape");
        assert_eq!(error("\"\\u12g4\""), "expected four hex digits");
        assert_eq!(error("\"\\ud800\""), "surrogate without its pair");
        assert_eq!(error("\"\\ud800\\u0041\""), "surrogate without its pair");
        assert_eq!(error("\"\\udc00\""), "surrogate without its pair");
        assert_eq!(error("\"abc"), "ends in the middle of a string");
        assert_eq!(error("\u{feff}{}"), "expected a value");
    }

    #[test]
    fn says_where_utf8_ends() {
        assert_eq!(check(b"\"a\xff\""), Err(JsonError { at: 2, what: "not UTF-8" }));
        // An overlong slash and a surrogate in UTF-8 are no UTF-8 either.
        assert_eq!(check(b"\"\xc0\xaf\"").unwrap_err().what, "not UTF-8");
        assert_eq!(check(b"\"\xed\xa0\x80\"").unwrap_err().what, "not UTF-8");
    }

    #[test]
    fn depth_is_bounded_and_a_bomb_costs_no_stack() {
        let mut bomb = [b'['; 100_000];
        assert_eq!(check(&bomb).unwrap_err(), JsonError { at: 32, what: "nested too deeply" });
        bomb[32..64].fill(b']');
        assert_eq!(check(&bomb[..64]).unwrap().len(), 64);
    }

    #[test]
    fn every_truncation_of_a_document_is_refused() {
        let text = r#"{"a":[1,"\ud83d\ude00",{"b":null}],"c":-1.5e3}"#;
        for end in 0..text.len() {
            assert!(check(&text.as_bytes()[..end]).is_err(), "{}", &text[..end]);
        }
    }
}
