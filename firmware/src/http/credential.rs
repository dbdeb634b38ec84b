//! What a caller shows at the door: a token, in one of three ways.
//!
//! Never in the target: those are written into logs, histories and `Referer`s.

use base64ct::{Base64, Encoding};
use protocol_core::door::{Credential, NAME_MAX, TOKEN_MAX};

/// Bytes of the longest `NAME:TOKEN`.
pub(super) const ROOM: usize = NAME_MAX + 1 + TOKEN_MAX;

/// Nobody's token. What can't be read, or says two things, is as wrong as a wrong one: it is not the same as nothing.
const WRONG: Credential<'static> = Credential { name: None, token: b"" };

/// Finds it in the header fields. `room` is where Basic is decoded.
pub(super) fn find<'r>(
    headers: impl Iterator<Item = (&'r [u8], &'r [u8])>,
    room: &'r mut [u8; ROOM],
) -> Option<Credential<'r>> {
    let (mut authorization, mut key) = (None, None);
    for (name, value) in headers {
        let place = if name.eq_ignore_ascii_case(b"authorization") {
            &mut authorization
        } else if name.eq_ignore_ascii_case(b"x-api-key") {
            &mut key
        } else {
            continue;
        };
        if place.replace(value).is_some() {
            return Some(WRONG);
        }
    }
    let authorization = authorization.map(|value| read(value, room).unwrap_or(WRONG));
    match (authorization, key) {
        (Some(credential), Some(key)) if credential.token != key => Some(WRONG),
        (Some(credential), _) => Some(credential),
        (None, key) => key.map(|token| Credential { name: None, token }),
    }
}

/// Reads `Bearer TOKEN` or `Basic base64(NAME:TOKEN)`.
fn read<'r>(value: &'r [u8], room: &'r mut [u8; ROOM]) -> Option<Credential<'r>> {
    let (scheme, rest) = split_at_byte(value, b' ')?;
    let rest = rest.trim_ascii_start();
    if scheme.eq_ignore_ascii_case(b"bearer") {
        return Some(Credential { name: None, token: rest });
    }
    if !scheme.eq_ignore_ascii_case(b"basic") {
        return None;
    }
    let (name, token) = split_at_byte(Base64::decode(rest, room).ok()?, b':')?;
    Some(Credential { name: Some(name), token })
}

/// What is before the first such byte, and what is behind it.
fn split_at_byte(bytes: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let (before, behind) = bytes.split_at_checked(bytes.iter().position(|it| *it == byte)?)?;
    Some((before, behind.get(1..)?))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{
        format,
        string::{String, ToString},
    };

    use super::*;

    /// What is found, as text: `name:token`, or `token` where there is no name, or `!` for what is wrong.
    fn found(headers: &[(&str, &str)]) -> Option<String> {
        let mut room = [0; ROOM];
        let fields = headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let Credential { name, token } = find(fields, &mut room)?;
        let token = String::from_utf8_lossy(token);
        Some(match name {
            Some(name) => format!("{}:{token}", String::from_utf8_lossy(name)),
            None if token.is_empty() => "!".to_string(),
            None => token.to_string(),
        })
    }

    #[test]
    fn a_token_comes_in_three_ways() {
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("Host", "a"), ("X-Token", "abc")]), None);
        for (name, value, says) in [
            ("Authorization", "Bearer abc", "abc"),
            ("AUTHORIZATION", "bEARER   abc", "abc"),
            ("authorization", "Basic YW5uYTphYmM=", "anna:abc"),
            ("Authorization", "basic YW5uYTphOmI6Yw==", "anna:a:b:c"),
            ("Authorization", "Basic OmFiYw==", ":abc"),
            ("X-API-Key", "abc", "abc"),
            ("x-api-key", "abc", "abc"),
        ] {
            assert_eq!(found(&[("Host", "a"), (name, value)]).as_deref(), Some(says), "{name}: {value}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_wrong_and_not_nothing() {
        for value in [
            "",
            "abc",
            "Bearer",
            "Digest abc",
            "Basic",
            "Basic abc",
            "Basic YW5uYQ==",
            "Basic YW5uYTphYmM",
            "Basic YW5uYTphYm!=",
            "Basic YW5uYTphYmM= x",
            "Bearer,Basic YW5uYTphYmM=",
        ] {
            assert_eq!(found(&[("Authorization", value)]).as_deref(), Some("!"), "{value}");
        }
        assert_eq!(found(&[("X-API-Key", "")]).as_deref(), Some("!"));
        let long = format!("Basic {}", "YWFh".repeat(ROOM / 3 + 1));
        assert_eq!(found(&[("Authorization", &long)]).as_deref(), Some("!"));
    }

    #[test]
    fn two_that_disagree_are_wrong() {
        let (bearer, basic) = (("Authorization", "Bearer abc"), ("authorization", "Basic YW5uYTphYmM="));
        assert_eq!(found(&[bearer, basic]).as_deref(), Some("!"));
        assert_eq!(found(&[bearer, bearer]).as_deref(), Some("!"));
        assert_eq!(found(&[bearer, ("X-API-Key", "abd")]).as_deref(), Some("!"));
        assert_eq!(found(&[("X-API-Key", "abc"), ("X-API-Key", "abc")]).as_deref(), Some("!"));
        assert_eq!(found(&[("X-API-Key", ""), bearer]).as_deref(), Some("!"));
        assert_eq!(found(&[bearer, ("X-API-Key", "abc")]).as_deref(), Some("abc"));
        assert_eq!(found(&[("X-API-Key", "abc"), basic]).as_deref(), Some("anna:abc"));
    }
}
