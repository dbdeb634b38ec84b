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
    let mut plain_from = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "\\u00",
            _ => continue,
        };
        sink.put(text.get(plain_from..at).unwrap_or(""));
        sink.put(short);
        if short.len() == 4 {
            let digits = [hex(byte.wrapping_shr(4)), hex(byte & 0xf)];
            sink.put(core::str::from_utf8(&digits).unwrap_or("00"));
        }
        plain_from = at.saturating_add(1);
    }
    sink.put(text.get(plain_from..).unwrap_or(""));
}

const fn hex(nibble: u8) -> u8 {
    if nibble < 10 { b'0'.wrapping_add(nibble) } else { b'a'.wrapping_add(nibble.wrapping_sub(10)) }
}

/// Writes a value without the white space between its tokens: less to store, and no line break to tear an SSE event.
pub fn compact(value: Json<'_>, sink: &mut dyn Sink) {
    let text = value.raw();
    let mut in_string = false;
    let mut escaped = false;
    let mut kept_from = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
        } else if byte == b'"' {
            in_string = true;
        } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            sink.put(text.get(kept_from..at).unwrap_or(""));
            kept_from = at.saturating_add(1);
        }
    }
    sink.put(text.get(kept_from..).unwrap_or(""));
}

/// Writes a value with the `\uXXXX` of its strings as the characters they mean, for readers that don't know them.
/// Quotes, backslashes and control characters stay escaped, so that it stays JSON.
pub fn unescape(value: Json<'_>, sink: &mut dyn Sink) {
    let mut rest = value.raw();
    while let Some((before, escape_and_after)) = rest.split_once("\\") {
        sink.put(before);
        let mut after = escape_and_after.chars();
        let length = match after.next() {
            Some('u') if escape_and_after.get(1..3).is_some_and(|first| ["d8", "d9", "da", "db"].iter().any(|high| first.eq_ignore_ascii_case(high))) => 11,
            Some('u') => 5,
            _ => 1,
        };
        let (escape_body, after) = escape_and_after.split_at_checked(length).unwrap_or((escape_and_after, ""));
        let mut buffer = [0; 4];
        // What is inside `\u` has been checked; the text borrows a backslash from before it.
        let start = rest.len().saturating_sub(escape_and_after.len()).saturating_sub(1);
        let escaped = rest.get(start..start.saturating_add(1).saturating_add(length)).unwrap_or("");
        match Text::new(escaped).chars().next() {
            Some(plain) if length > 1 && plain >= ' ' && plain != '"' && plain != '\\' => {
                sink.put(plain.encode_utf8(&mut buffer));
            }
            _ => {
                sink.put("\\");
                sink.put(escape_body);
            }
        }
        rest = after;
    }
    sink.put(rest);
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
    fn unescape_resolves_what_is_harmless_and_stays_json() {
        let value = Json::parse(br#"{"\u0061\\u0062":"\ud83d\ude00 \u0022 \u005c \n \u000a \" end"}"#).unwrap();
        let plain = written(|sink| unescape(value, sink));
        assert_eq!(plain, "{\"a\\\\u0062\":\"\u{1f600} \\u0022 \\u005c \\n \\u000a \\\" end\"}");
        assert!(Json::parse(plain.as_bytes()).is_ok());
    }

    #[test]
    fn compact_drops_space_outside_strings_only() {
        let value = Json::parse(b" { \"a b\" :\n[ 1 , \"x \\\" y\\\\\" , true ] }\r\n").unwrap();
        assert_eq!(written(|sink| compact(value, sink)), r#"{"a b":[1,"x \" y\\",true]}"#);
    }
}
