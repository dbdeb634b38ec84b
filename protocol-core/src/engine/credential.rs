//! Credentials inside of a message: looked at, and left out of what is kept.
//!
//! A task that asks for credentials gets them as the member `credential` of a data part, or as a text that is nothing but
//! a token. They lend the task what their principal may do, and nobody ever reads them again: not in the history, not in
//! a stream, not in the log.

use crate::{
    door::{Classes, Credential, Door, TOKEN_MAX},
    json::{Json, Kind, Sink, Text, compact, separate},
    model::{Content, SendCall},
};

/// The member of a data part that holds a token.
pub(crate) const MEMBER: &str = "credential";

/// What stands where a token stood.
pub(super) const WITHHELD: &str = "(withheld)";

/// The credentials of a message.
pub(super) struct Shown<'a> {
    /// What they add to what the caller may do.
    pub(super) lent: Classes,
    /// Members that hold one are to be left out.
    in_data: bool,
    /// The text, escaped, that is one.
    text: Option<&'a str>,
}

impl<'a> Shown<'a> {
    /// Looks for credentials. A token of somebody who is known is found in the data of any message, so that a client need
    /// not wait to be asked; when it was asked, a wrong one is withheld, too, and a text may be one.
    pub(super) fn in_message(call: &SendCall<'a>, door: &Door<'_>, is_asked: bool) -> Self {
        let mut shown = Self { lent: Classes::NONE, in_data: is_asked, text: None };
        for part in call.message.parts.iter() {
            match part.content {
                Content::Data(data) => {
                    let members = data.members().filter(|(name, _)| name.is(MEMBER));
                    for classes in members.filter_map(|(_, value)| lent(door, value.text()?)) {
                        shown.lent = shown.lent.with(classes);
                        shown.in_data = true;
                    }
                }
                Content::Text(text) if is_asked => {
                    if let Some(classes) = lent(door, text) {
                        shown.lent = shown.lent.with(classes);
                        shown.text = Some(text.escaped());
                    }
                }
                _ => {}
            }
        }
        shown
    }

    /// Whether this text is a token.
    pub(super) fn is_token(&self, text: Text<'_>) -> bool {
        self.text == Some(text.escaped())
    }

    /// Whether there is one in this data.
    pub(super) fn is_in(&self, data: Json<'_>) -> bool {
        self.in_data && data.kind() == Kind::Object && data.member(MEMBER).is_some()
    }
}

/// What the owner of a token may do.
fn lent(door: &Door<'_>, text: Text<'_>) -> Option<Classes> {
    let token = text.decode::<TOKEN_MAX>()?;
    let credential = Credential { name: None, token: token.trim_ascii().as_bytes() };
    door.recognize(&credential).map(|caller| caller.classes)
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
        let object = br#" { "a" : [ 1, {"credential":"x"} ] , "credential" : "secret" , "b\u2028": "c" , "\u0063redential":{"d":1} } "#;
        let mut kept = String::new();
        withheld(Json::parse(object).unwrap(), &mut |piece: &str| kept.push_str(piece));
        assert_eq!(
            kept,
            r#"{"a":[1,{"credential":"x"}],"credential":null,"b\u2028":"c","credential":null}"#
                .replace(r#""c","credential""#, "\"c\",\"\\u0063redential\"")
        );
        assert!(!kept.contains("secret"));
        Json::parse(kept.as_bytes()).unwrap();
    }
}
