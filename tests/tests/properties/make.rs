//! Random JSON, and random ways to write it.

use mote_tests::random::Random;
use serde_json::{Map, Number, Value};

/// Characters that are trouble somewhere: escapes, all lengths of UTF-8, line ends, the edges of the planes.
const CHARACTERS: &[char] = &[
    'a',
    'Z',
    '0',
    ' ',
    '"',
    '\\',
    '/',
    '\n',
    '\r',
    '\t',
    '\0',
    '\u{1f}',
    '\u{7f}',
    '\u{85}',
    'é',
    'ß',
    '\u{7ff}',
    '\u{800}',
    '\u{2028}',
    '\u{2029}',
    '\u{feff}',
    '\u{fffd}',
    '\u{ffff}',
    '\u{10000}',
    '😀',
    '\u{10ffff}',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '<',
    'u',
    'n',
];

const NUMBERS: &[&str] = &["0", "-0", "1", "-1.5", "21.50", "1e3", "1E-7", "123456789012345678901234567890", "0.1e+5"];

/// Any text of up to so many characters, the empty one included.
pub(crate) fn text(random: &mut Random, most: usize) -> String {
    let length = if random.once_in(8) { random.below(most + 1) } else { random.below(most.min(12) + 1) };
    (0..length).map(|_| *random.pick(CHARACTERS)).collect()
}

/// Any text but the empty one.
pub(crate) fn name(random: &mut Random, most: usize) -> String {
    let text = text(random, most);
    if text.is_empty() { "x".to_owned() } else { text }
}

/// Any JSON of up to that depth.
pub(crate) fn json(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => Value::Bool(random.once_in(2)),
        2 => Value::Number(number(random.pick::<&str>(NUMBERS))),
        3 | 4 => Value::String(text(random, 40)),
        5 => Value::Array((0..random.below(4)).map(|_| json(random, depth - 1)).collect()),
        _ => Value::Object(object(random, depth)),
    }
}

/// Any object of up to that depth.
pub(crate) fn object(random: &mut Random, depth: usize) -> Map<String, Value> {
    (0..random.below(4)).map(|_| (text(random, 8), json(random, depth.saturating_sub(1)))).collect()
}

/// A number with its digits as they are.
pub(crate) fn number(text: &str) -> Number {
    serde_json::from_str(text).expect("a number")
}

/// Writes JSON with white space wherever it may be, and characters escaped or not as chance has it.
pub(crate) fn write(random: &mut Random, value: &Value) -> String {
    let mut out = String::new();
    put(random, value, &mut out);
    out
}

fn put(random: &mut Random, value: &Value, out: &mut String) {
    space(random, out);
    match value {
        Value::String(text) => quote(random, text, out),
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                put(random, item, out);
            }
            space(random, out);
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (n, (name, member)) in members.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                space(random, out);
                quote(random, name, out);
                space(random, out);
                out.push(':');
                put(random, member, out);
            }
            space(random, out);
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
    space(random, out);
}

fn space(random: &mut Random, out: &mut String) {
    if random.once_in(6) {
        out.push_str(random.pick::<&str>(&[" ", "\n", "\t", "\r\n", "  "]));
    }
}

fn quote(random: &mut Random, text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        let short = match character {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            '/' => Some("\\/"),
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            '\u{8}' => Some("\\b"),
            '\u{c}' => Some("\\f"),
            _ => None,
        };
        let must = character < ' ' || character == '"' || character == '\\';
        match short {
            Some(short) if must || random.once_in(2) => out.push_str(short),
            _ if must || random.once_in(5) => {
                let upper = random.once_in(2);
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.push_str(&if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
                }
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}
