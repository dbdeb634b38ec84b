//! What an agent says, made fit for a terminal: it is shown, and never obeyed.

use core::fmt::{self, Write as _};

/// A text on one line. What would move the cursor, change the colours or turn the writing round stands there as its code.
pub(super) fn line(text: &(impl fmt::Display + ?Sized)) -> Clean<'_, impl fmt::Display + ?Sized> {
    Clean { text, has_lines: false }
}

/// As [`line`], of as many lines as it has.
pub(super) fn lines(text: &(impl fmt::Display + ?Sized)) -> Clean<'_, impl fmt::Display + ?Sized> {
    Clean { text, has_lines: true }
}

/// A text as one word of a command that somebody may copy into a shell: nothing in it is obeyed there either.
pub(super) fn word(text: &(impl fmt::Display + ?Sized)) -> String {
    let word = line(text).to_string();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

pub(super) struct Clean<'a, T: fmt::Display + ?Sized> {
    text: &'a T,
    has_lines: bool,
}

impl<T: fmt::Display + ?Sized> fmt::Display for Clean<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Cleaner { out: f, has_lines: self.has_lines }, "{}", self.text)
    }
}

struct Cleaner<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    has_lines: bool,
}

impl fmt::Write for Cleaner<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match character {
                '\n' if self.has_lines => self.out.write_char('\n')?,
                '\t' => self.out.write_char(' ')?,
                '\n' => self.out.write_char(' ')?,
                '\r' if self.has_lines => {}
                unseen if is_unseen(unseen) => write!(self.out, "\\u{{{:x}}}", u32::from(unseen))?,
                seen => self.out.write_char(seen)?,
            }
        }
        Ok(())
    }
}

/// Whether a character does something to the terminal or to those beside it, instead of being seen.
const fn is_unseen(character: char) -> bool {
    matches!(character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// JSON that means the same, with every such character escaped: they stand nowhere but in strings.
pub(super) fn json(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unseen(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                // cannot fail: it is a String.
                let _ = write!(clean, "\\u{unit:04x}");
            }
        } else {
            clean.push(character);
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_drive_a_terminal_is_shown_instead() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{7}b\r\nc\t\u{202e}d\u{0}é😀";
        assert_eq!(lines(hostile).to_string(), "a\\u{1b}[2J\\u{9b}31m\\u{7}b\nc \\u{202e}d\\u{0}é😀");
        assert_eq!(line("a\nb\r").to_string(), "a b\\u{d}");
    }

    #[test]
    fn a_word_of_a_command_stays_one_word() {
        for plain in ["http://127.0.0.1:8080/a", "3d6ddc9d-96ad", "--x"] {
            assert_eq!(word(plain), plain);
        }
        for (hostile, quoted) in [
            ("a b", "'a b'"),
            ("$(reboot)", "'$(reboot)'"),
            ("x'; reboot; '", r"'x'\''; reboot; '\'''"),
            ("a\nreboot", "'a reboot'"),
            ("", "''"),
        ] {
            assert_eq!(word(hostile), quoted);
        }
    }

    #[test]
    fn json_stays_the_same_json() {
        let given = "{\"a\":\"x\u{9b}2J\u{7f}\u{202e}\u{e0041}é\"}";
        let clean = json(given);
        assert_eq!(clean, r#"{"a":"x\u009b2J\u007f\u202e\udb40\udc41é"}"#);
        let meant = |text: &str| {
            let value = protocol_core::json::Json::parse(text.as_bytes()).unwrap();
            value.member("a").unwrap().text().unwrap().chars().collect::<String>()
        };
        assert_eq!(meant(&clean), meant(given));
    }
}
