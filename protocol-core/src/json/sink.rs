//! Where written JSON goes.

use core::fmt;

use super::{Json, Text};

/// Takes text piece by piece.
pub trait Sink {
    /// Appends `text`.
    fn put(&mut self, text: &str);
}

impl<F: FnMut(&str)> Sink for F {
    fn put(&mut self, text: &str) {
        self(text);
    }
}

/// Writes `text` as the content of a JSON string.
pub fn escape(text: &str, sink: &mut dyn Sink) {
    // Letters and digits are told by the first comparisons.
    let plain = |byte| matches!(byte, b']'..=0xc1 | b'#'..=b'[');
    rewrite(text, sink, |byte| !plain(byte) && matches!(byte, 0..=0x1f | b'"' | b'\\' | 0xc2 | 0xe2));
}

/// Writes the runs of `text` that need no escape as they are. What may need one begins with a byte that is `special`.
fn rewrite(text: &str, sink: &mut dyn Sink, special: impl Fn(u8) -> bool) {
    let bytes = text.as_bytes();
    let (mut plain_from, mut look_from) = (0usize, 0usize);
    while let Some(ahead) = bytes.get(look_from..).and_then(|rest| rest.iter().position(|byte| special(*byte))) {
        let at = look_from.saturating_add(ahead);
        look_from = at.saturating_add(1);
        let (length, escaped) = match bytes.get(at..) {
            Some([b'"', ..]) => (1, "\\\""),
            Some([b'\\', ..]) => (1, "\\\\"),
            Some([b'\n', ..]) => (1, "\\n"),
            Some([b'\r', ..]) => (1, "\\r"),
            Some([b'\t', ..]) => (1, "\\t"),
            Some([0..=0x1f, ..]) => (1, "\\u00"),
            Some([0xc2, 0x85, ..]) => (2, "\\u0085"),
            Some([0xe2, 0x80, 0xa8, ..]) => (3, "\\u2028"),
            Some([0xe2, 0x80, 0xa9, ..]) => (3, "\\u2029"),
            _ => continue,
        };
        sink.put(text.get(plain_from..at).unwrap_or(""));
        sink.put(escaped);
        if let (4, Some(byte)) = (escaped.len(), bytes.get(at)) {
            let digits = [hex(byte.wrapping_shr(4)), hex(byte & 0xf)];
            sink.put(core::str::from_utf8(&digits).unwrap_or("00"));
        }
        plain_from = at.saturating_add(length);
    }
    sink.put(text.get(plain_from..).unwrap_or(""));
}

/// The digit of half a byte.
pub(crate) const fn hex(nibble: u8) -> u8 {
    if nibble < 10 { b'0'.wrapping_add(nibble) } else { b'a'.wrapping_add(nibble.wrapping_sub(10)) }
}

/// Writes a value without the white space between its tokens: less to store, and no line break to tear an SSE event.
/// (See [`separate`] for the other line breaks.)
pub fn compact(value: Json<'_>, sink: &mut dyn Sink) {
    let text = value.raw();
    let mut in_string = false;
    let mut escaped = false;
    let mut kept_from = 0usize;
    for (at, byte) in (0..text.len()).zip(text.bytes()) {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
        } else if byte == b'"' {
            in_string = true;
        } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            separate(text.get(kept_from..at).unwrap_or(""), sink);
            kept_from = at.saturating_add(1);
        }
    }
    separate(text.get(kept_from..).unwrap_or(""), sink);
}

/// Writes JSON text with the three characters escaped that JSON allows in strings and that some clients take for the end
/// of a line, and so of an SSE field: U+0085, U+2028 and U+2029. They stand nowhere but in strings.
pub fn separate(text: &str, sink: &mut dyn Sink) {
    rewrite(text, sink, |byte| matches!(byte, 0xc2 | 0xe2));
}

/// Writes a value in the simplest form that means the same, for readers that know less: the `\uXXXX` of its strings as
/// the characters they mean (quotes, backslashes and control characters stay escaped), and `2.0` as `2`.
pub fn simplify(value: Json<'_>, sink: &mut dyn Sink) {
    let mut rest = value.raw();
    let mut in_string = false;
    while let Some(at) = rest.find(['\\', '"', '.']) {
        let (before, special) = rest.split_at_checked(at).unwrap_or((rest, ""));
        sink.put(before);
        let length = match special.as_bytes() {
            [b'"', ..] => {
                in_string = !in_string;
                1
            }
            [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..] => 12,
            [b'\\', b'u', ..] => 6,
            [b'\\', ..] => 2,
            [b'.', ..] if !in_string => zeros(special),
            _ => 1,
        };
        let (special, after) = special.split_at_checked(length).unwrap_or((special, ""));
        let mut buffer = [0; 4];
        match Text::new(special).chars().next() {
            Some(plain)
                if length >= 6 && special.starts_with('\\') && plain >= ' ' && plain != '"' && plain != '\\' =>
            {
                sink.put(plain.encode_utf8(&mut buffer));
            }
            _ if special.starts_with('.') && special.len() > 1 => {}
            _ => sink.put(special),
        }
        rest = after;
    }
    sink.put(rest);
}

/// How many bytes of a fraction can go without changing the number: all of it if it is zero and no exponent follows,
/// else none but its point.
fn zeros(fraction: &str) -> usize {
    let digits = fraction.bytes().skip(1).take_while(u8::is_ascii_digit).count();
    let whole = fraction.bytes().skip(1).take(digits).all(|digit| digit == b'0');
    let end = digits.saturating_add(1);
    let has_exponent = matches!(fraction.as_bytes().get(end), Some(b'e' | b'E'));
    if whole && !has_exponent { end } else { 1 }
}

/// Escapes formatted text on its way into a sink.
pub(crate) struct Escaped<'a>(pub(crate) &'a mut dyn Sink);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(text, self.0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::String;

    use super::*;

    fn written(write: impl FnOnce(&mut dyn Sink)) -> String {
        let mut out = String::new();
        write(&mut |text: &str| out.push_str(text));
        out
    }

    #[test]
    fn escaped_text_reads_back_as_it_was() {
        let original = "q\" b\\ n\n r\r t\t c\u{1} \u{1f} é 😀 /";
        let json = std::format!("\"{}\"", written(|sink| escape(original, sink)));
        assert!(Json::parse(json.as_bytes()).unwrap().text().unwrap().is(original));
    }

    #[test]
    fn simplify_keeps_the_meaning_and_stays_json() {
        for (given, simple) in [
            (
                r#"{"\u0061\\u0062":"\ud83d\ude00 \u0022 \u005c \n \u000a \" 1.0 end"}"#,
                "{\"a\\\\u0062\":\"\u{1f600} \\u0022 \\u005c \\n \\u000a \\\" 1.0 end\"}",
            ),
            (r#"[2.0,-0.000,2.50,1.0e3,10.01,"3.0"]"#, r#"[2,-0,2.50,1.0e3,10.01,"3.0"]"#),
        ] {
            let value = Json::parse(given.as_bytes()).unwrap();
            let written = written(|sink| simplify(value, sink));
            assert_eq!(written, simple);
            assert!(Json::parse(written.as_bytes()).is_ok());
        }
    }

    #[test]
    fn line_separators_of_other_alphabets_are_escaped() {
        assert_eq!(written(|sink| separate("\"a\u{85}b\u{2028}\u{2029}\"", sink)), r#""a\u0085b\u2028\u2029""#);
        assert_eq!(written(|sink| escape("\u{2028}\n", sink)), r"\u2028\n");
    }

    #[test]
    fn compact_drops_space_outside_strings_only() {
        let value = Json::parse(b" { \"a b\" :\n[ 1 , \"x \\\" y\\\\\" , true ] }\r\n").unwrap();
        assert_eq!(written(|sink| compact(value, sink)), r#"{"a b":[1,"x \" y\\",true]}"#);
    }
}
