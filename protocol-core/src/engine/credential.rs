//! Credentials inside of a message: looked at, and left out of what is kept.
//!
//! A credential is the member `credential` of a data part, or, in a task that has asked for one, a text that is nothing but
//! a token. It lends the task what its principal may do with the world ([`Access::Act`](crate::model::Access::Act)), and
//! nobody ever reads it again: not in the history, not in a stream, not in the log. Anywhere else a token is text like any
//! other.

use crate::{
    door::{Credential, Door, Owner, TOKEN_MAX, TOKEN_MIN},
    json::{Json, Kind, Sink, Text, compact, separate},
    model::{Content, SendCall},
};

/// The member of a data part that holds a token.
const MEMBER: &str = "credential";

/// What stands where a token stood.
pub(super) const WITHHELD: &str = "(withheld)";

/// What may stand before a token: it is how the header has it.
const SCHEME: &str = "Bearer ";

type Token = heapless::String<{ TOKEN_MAX + SCHEME.len() }>;

/// What a message shows of credentials.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// The task has asked for one, so that a text may be one.
    is_asked: bool,
    /// The first one: others are left out all the same.
    token: Option<Token>,
}

impl Shown {
    /// Finds what is shown.
    pub(crate) fn in_message(call: &SendCall<'_>, is_asked: bool) -> Self {
        let token = call.message.parts.iter().find_map(|part| match part.content {
            Content::Data(data) => {
                data.member(MEMBER).and_then(Json::text).map(|text| token_in(text).unwrap_or_default())
            }
            Content::Text(text) if is_asked => token_in(text),
            _ => None,
        });
        Self { is_asked, token }
    }

    /// Whether there is one.
    pub(crate) const fn is_any(&self) -> bool {
        self.token.is_some()
    }

    /// Whose it is.
    pub(super) fn lender(&self, door: &Door<'_>) -> Option<Owner> {
        let token = self.token.as_ref()?.as_bytes();
        door.recognize(&Credential { name: None, token }).map(|caller| caller.owner)
    }

    /// Whether this text is one, or was meant to be.
    pub(super) fn is_text(&self, text: Text<'_>) -> bool {
        self.is_asked && token_in(text).is_some()
    }
}

/// Whether there is one in this data.
pub(super) fn is_in(data: Json<'_>) -> bool {
    data.kind() == Kind::Object && data.member(MEMBER).is_some()
}

/// The token that a text is, right or wrong.
fn token_in(text: Text<'_>) -> Option<Token> {
    let text: Token = text.decode()?;
    let token = text.trim_ascii();
    let token = match token.split_at_checked(SCHEME.len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(SCHEME) => rest.trim_ascii_start(),
        _ => token,
    };
    let is_one = (TOKEN_MIN..=TOKEN_MAX).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic());
    if is_one { Token::try_from(token).ok() } else { None }
}

/// Writes an object with nothing where its credential was.
pub(super) fn withheld(object: Json<'_>, sink: &mut dyn Sink) {
    let mut before = "{\"";
    for (name, value) in object.members() {
        sink.put(before);
        separate(name.escaped(), sink);
        sink.put("\":");
        if name.is(MEMBER) {
            sink.put("null")
        } else {
            compact(value, sink)
        }
        before = ",\"";
    }
    sink.put("}");
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::String;

    use super::*;

    #[test]
    fn an_object_is_kept_but_for_its_credential() {
        let object = br#" { "a" : [ 1, {"credential":"x"} ] , "credential" : "secret" , "b": "c" , "\u0063redential":{"d":1} } "#;
        let mut kept = String::new();
        withheld(Json::parse(object).unwrap(), &mut |piece: &str| kept.push_str(piece));
        assert_eq!(kept, r#"{"a":[1,{"credential":"x"}],"credential":null,"b":"c","\u0063redential":null}"#);
        Json::parse(kept.as_bytes()).unwrap();
    }

    #[test]
    fn a_text_is_a_token_if_it_is_nothing_else() {
        for (text, token) in [
            ("a-token-of-annas", Some("a-token-of-annas")),
            (" a-token-of-annas\\n", Some("a-token-of-annas")),
            ("bearer  a-token-of-annas", Some("a-token-of-annas")),
            ("Bearer short", None),
            ("my token is a-token-of-annas", None),
            ("read temperature", None),
            ("", None),
            ("grüße-von-hier-aus", None),
        ] {
            assert_eq!(token_in(Text::new(text)).as_deref(), token, "{text}");
        }
        let long = "x".repeat(TOKEN_MAX + 1);
        assert_eq!(token_in(Text::new(&long)), None);
    }
}
