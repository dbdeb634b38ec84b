//! The JSON-RPC envelope: found first, checked, and put around every answer.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use crate::{
    config::RPC_ID_MAX,
    encode::{
        Field,
        Op::{Bare, Body, If, Lit, Member, Nest},
        Ops,
    },
    json::{Json, Kind, Text, separate},
    model::{Fault, FaultKind},
};

/// A request's id as it came, `null` if there was none. It outlives the request.
pub(crate) type RpcId = heapless::String<RPC_ID_MAX>;

/// The id of an answer to a request that had none, or whose id could not be read.
pub(crate) const NO_ID: &str = "null";

/// A request's outer members.
#[derive(Debug)]
pub(crate) struct Envelope<'b> {
    pub(crate) id: Option<Json<'b>>,
    pub(crate) method: Text<'b>,
    pub(crate) params: Json<'b>,
    /// `"jsonrpc":"2.0"` was there.
    pub(crate) has_version: bool,
}

/// Finds the members of a request, in any order.
///
/// # Errors
/// What is wrong, and the id to tell it under.
pub(crate) fn parse(body: &[u8]) -> Result<Envelope<'_>, (Option<Json<'_>>, Fault)> {
    let nobody = |fault| (None, fault);
    let request = Json::parse(body).map_err(|error| {
        let at = u32::try_from(error.at).ok();
        nobody(Fault { at, ..Fault::because(FaultKind::Parse, error.what) })
    })?;
    match request.kind() {
        Kind::Object => {}
        Kind::Array => return Err(nobody(invalid("", "batches are not supported, send one request at a time"))),
        _ => return Err(nobody(invalid("", "must be an object"))),
    }
    const NAMES: [&str; 4] = ["jsonrpc", "id", "method", "params"];
    let mut found = [None; 4];
    for (key, value) in request.members() {
        let Some((name, place)) = NAMES.iter().zip(found.iter_mut()).find(|(name, _)| key.is(name)) else { continue };
        if place.replace(value).is_some() {
            return Err(nobody(invalid(name, "stands there twice")));
        }
    }
    let [version, id, method, params] = found;
    match id {
        Some(id) if !matches!(id.kind(), Kind::String | Kind::Number | Kind::Null) => {
            return Err(nobody(invalid("id", "must be a string, a number or null")));
        }
        Some(id) if id.raw().len() > RPC_ID_MAX => return Err(nobody(invalid("id", "is too long"))),
        _ => {}
    }
    match version {
        Some(version) if !version.text().is_some_and(|text| text.is("2.0")) => {
            return Err((id, invalid("jsonrpc", "must be \"2.0\"")));
        }
        _ => {}
    }
    let Some(method) = method.and_then(Json::text) else {
        return Err((id, invalid("method", "must be a string")));
    };
    let params = params.filter(|params| params.kind() != Kind::Null).unwrap_or(Json::EMPTY_OBJECT);
    Ok(Envelope { id, method, params, has_version: version.is_some() })
}

/// A request that is none.
pub(crate) const fn invalid(field: &'static str, why: &'static str) -> Fault {
    Fault { kind: FaultKind::InvalidRequest, field, why, at: None }
}

/// An id as it is kept for the answer.
pub(crate) fn id_of(id: Option<Json<'_>>) -> RpcId {
    let mut text = RpcId::new();
    let mut fits = true;
    separate(id.map_or(NO_ID, Json::raw), &mut |piece: &str| fits &= text.push_str(piece).is_ok());
    if fits { text } else { RpcId::try_from(NO_ID).unwrap_or_default() }
}

/// An answer.
pub(crate) const RESULT: Ops =
    &[Member("{\"jsonrpc\":\"2.0\",\"id\":", Field::RpcId), Lit(",\"result\":"), Body, Lit("}")];

/// A document without an envelope.
pub(crate) const BARE: Ops = &[Body];

/// An error. Its body is the dialect's `data`.
pub(crate) const ERROR: Ops = &[
    Member("{\"jsonrpc\":\"2.0\",\"id\":", Field::RpcId),
    Member(",\"error\":{\"code\":", Field::FaultCode),
    Lit(",\"message\":\""),
    Bare(Field::FaultName),
    If(Field::FaultMember, &[Lit(": "), Bare(Field::FaultMember)]),
    If(Field::FaultWhy, &[Lit(": "), Bare(Field::FaultWhy)]),
    Member(" at byte ", Field::FaultAt),
    Lit("\""),
    Body,
    Lit("}}"),
];

/// An answer as an event of a stream.
pub(crate) const RESULT_EVENT: Ops = &[Member("id: ", Field::Stamp), Lit("\ndata: "), Nest(RESULT), Lit("\n\n")];

/// An error as an event of a stream.
pub(crate) const ERROR_EVENT: Ops = &[Lit("event: error\ndata: "), Nest(ERROR), Lit("\n\n")];

/// Nothing to say, but still here. No blank line: to some clients that would be an event, an empty one.
pub(crate) const KEEPALIVE_COMMENT: Ops = &[Lit(": \n")];

/// JSON may begin with white space: it keeps a client waiting that waits for a single answer.
pub(crate) const KEEPALIVE_SPACE: u8 = b' ';

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(body: &str) -> (RpcId, Fault) {
        let (id, fault) = parse(body.as_bytes()).unwrap_err();
        (id_of(id), fault)
    }

    #[test]
    fn members_in_any_order_and_ids_of_any_type() {
        for (body, id) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#, "1"),
            (r#" {"params":{"a":[1]},"method":"m","x":0,"id":"1","jsonrpc":"2.0"} "#, "\"1\""),
            (r#"{"method":"m","id":null,"jsonrpc":"2.0"}"#, "null"),
            (r#"{"method":"m","jsonrpc":"2.0","params":null}"#, "null"),
            (r#"{"method":"m","id":1.50e3,"jsonrpc":"2.0"}"#, "1.50e3"),
        ] {
            let envelope = parse(body.as_bytes()).unwrap();
            assert_eq!(id_of(envelope.id), id);
            assert!(envelope.method.is("m"));
            assert!(envelope.has_version);
        }
        assert!(!parse(br#"{"method":"m"}"#).unwrap().has_version);
    }

    #[test]
    fn what_is_no_request_is_told_under_the_right_id() {
        let (id, error) = fault("{");
        assert_eq!((id.as_str(), error.kind, error.at), ("null", FaultKind::Parse, Some(1)));
        assert_eq!(fault("[]").1.why, "batches are not supported, send one request at a time");
        assert_eq!(fault("7").1.why, "must be an object");
        for twice in ["jsonrpc", "id", "method", "params"] {
            let (_, error) = fault(&std::format!(r#"{{"{twice}":1,"{twice}":1}}"#));
            assert_eq!((error.kind, error.field), (FaultKind::InvalidRequest, twice));
        }
        let (id, error) = fault(r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#);
        assert_eq!((id.as_str(), error.field), ("null", "id"));
        let (id, error) = fault(r#"{"jsonrpc":"1.0","id":7,"method":"m"}"#);
        assert_eq!((id.as_str(), error.field), ("7", "jsonrpc"));
        let (id, error) = fault(r#"{"jsonrpc":"2.0","id":7}"#);
        assert_eq!((id.as_str(), error.field), ("7", "method"));
        let (id, error) = fault(&std::format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"m"}}"#, "x".repeat(80)));
        assert_eq!((id.as_str(), error.why), ("null", "is too long"));
    }

    extern crate std;
}
