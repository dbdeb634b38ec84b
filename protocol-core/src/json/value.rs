//! Walking checked JSON.

use super::{JsonError, Text, check};

/// A JSON value as a span of checked text, without surrounding white space.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a>(&'a str);

/// What kind of value a [`Json`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, kept as its text
    Number,
    /// A string
    String,
    /// An array
    Array,
    /// An object
    Object,
}

impl<'a> Json<'a> {
    /// `{}`
    pub const EMPTY_OBJECT: Self = Self("{}");

    /// Checks a whole text.
    ///
    /// # Errors
    /// Says what was wrong and at which byte.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, JsonError> {
        check::check(bytes).map(|text| Self(skip_space(text).trim_ascii_end()))
    }

    /// Takes a text that was checked before, without white space around it.
    pub(crate) const fn of_checked(text: &'a str) -> Self {
        Self(text)
    }

    /// The value's text as it arrived.
    pub const fn raw(self) -> &'a str {
        self.0
    }

    /// The kind of the value, told by its first byte.
    pub fn kind(self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }

    /// The members of an object in their order; nothing for any other value.
    pub fn members(self) -> Members<'a> {
        Members(if self.kind() == Kind::Object { inside(self.0) } else { "" })
    }

    /// The first member of that name.
    pub fn member(self, name: &str) -> Option<Self> {
        self.members().find(|(key, _)| key.is(name)).map(|(_, value)| value)
    }

    /// The items of an array in their order; nothing for any other value.
    pub fn items(self) -> Items<'a> {
        Items(if self.kind() == Kind::Array { inside(self.0) } else { "" })
    }

    /// The content of a string.
    pub fn text(self) -> Option<Text<'a>> {
        (self.kind() == Kind::String).then(|| Text::new(inside(self.0)))
    }

    /// The truth of a boolean.
    pub fn bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then_some(self.0 == "true")
    }

    /// The value of a whole number that fits; `1.0` counts as whole, as ProtoJSON has it.
    pub fn integer(self) -> Option<i64> {
        if self.kind() != Kind::Number {
            return None;
        }
        let (digits, sign) = self.0.strip_prefix('-').map_or((self.0, 1), |digits| (digits, -1));
        let digits = match digits.split_once('.') {
            Some((whole, zeros)) if zeros.bytes().all(|digit| digit == b'0') => whole,
            _ => digits,
        };
        i64::try_from(digits.parse::<u64>().ok()?).ok()?.checked_mul(sign)
    }
}

/// Iterator over the members of an object.
#[derive(Clone, Debug)]
pub struct Members<'a>(&'a str);

impl<'a> Iterator for Members<'a> {
    type Item = (Text<'a>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, rest) = split_value(self.0)?;
        let rest = skip_space(rest).strip_prefix(':')?;
        let (value, rest) = split_value(rest)?;
        self.0 = after_comma(rest);
        Some((Text::new(inside(key)), Json(value)))
    }
}

/// Iterator over the items of an array.
#[derive(Clone, Copy, Debug)]
pub struct Items<'a>(&'a str);

impl<'a> Iterator for Items<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        let (value, rest) = split_value(self.0)?;
        self.0 = after_comma(rest);
        Some(Json(value))
    }
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Of what these functions take for space only that of JSON is there: all of it was checked.
const fn skip_space(text: &str) -> &str {
    text.trim_ascii_start()
}

/// The text without its first and its last byte (which are quotes, brackets or braces).
fn inside(text: &str) -> &str {
    text.get(1..text.len().saturating_sub(1)).unwrap_or("")
}

fn after_comma(rest: &str) -> &str {
    let rest = skip_space(rest);
    rest.strip_prefix(',').unwrap_or(rest)
}

/// Cuts the first value off a text that begins with one; `None` at the end.
fn split_value(text: &str) -> Option<(&str, &str)> {
    let text = skip_space(text);
    let mut rest = text.bytes();
    let mut depth = 0u32;
    loop {
        match rest.next()? {
            b'"' => pass_string(&mut rest),
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ if depth > 0 => continue,
            _ => {
                let ends = |byte: u8| matches!(byte, b',' | b']' | b'}' | b':') || is_space(byte);
                let end = text.as_bytes().iter().position(|byte| ends(*byte)).unwrap_or(text.len());
                return text.split_at_checked(end);
            }
        }
        if depth == 0 {
            return text.split_at_checked(text.len().saturating_sub(rest.len()));
        }
    }
}

/// Passes over a string, from behind its opening quote to behind its closing one.
fn pass_string(rest: &mut core::str::Bytes<'_>) {
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return,
            b'\\' => _ = rest.next(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Json<'_> {
        Json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn members_come_in_order_with_their_spans() {
        let value = parse(r#" { "a" : 1 , "b\u0063" : [ "x]}" , { } ] ,"c":"\"}"} "#);
        let mut members = value.members().map(|(key, value)| (key, value.raw()));
        let (key, raw) = members.next().unwrap();
        assert!(key.is("a"));
        assert_eq!(raw, "1");
        let (key, raw) = members.next().unwrap();
        assert!(key.is("bc"));
        assert_eq!(raw, r#"[ "x]}" , { } ]"#);
        let (key, raw) = members.next().unwrap();
        assert!(key.is("c"));
        assert_eq!(raw, r#""\"}""#);
        assert!(members.next().is_none());
    }

    #[test]
    fn items_of_arrays_and_of_nothing() {
        let mut items = parse(r#"[null, true,-1.5e3,"s",[],{}]"#).items();
        for kind in [Kind::Null, Kind::Bool, Kind::Number, Kind::String, Kind::Array, Kind::Object] {
            assert_eq!(items.next().unwrap().kind(), kind);
        }
        assert!(items.next().is_none());
        assert!(parse("[ ]").items().next().is_none());
        assert!(parse("{ }").members().next().is_none());
        assert!(parse("7").items().next().is_none());
    }

    #[test]
    fn numbers_stay_text_and_whole_ones_can_be_read() {
        assert_eq!(parse("12345678901234567890123").raw(), "12345678901234567890123");
        assert_eq!(parse("12345678901234567890123").integer(), None);
        assert_eq!(parse("-7").integer(), Some(-7));
        assert_eq!(parse("5.00").integer(), Some(5));
        assert_eq!(parse("5.5").integer(), None);
        assert_eq!(parse("1e3").integer(), None);
        assert_eq!(parse("\"5\"").integer(), None);
    }
}
