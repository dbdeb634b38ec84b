//! Who sent a notification: a token that a receiver can check, and the public keys to check it with.
//!
//! The token is a JWT (RFC 7519) over the digest of the body, signed with a key of the device's own (ES256) or with a secret
//! that the client has given it (HS256). `docs/push.md` says what a receiver does with it, `docs/decisions/0018-signing.md`
//! why it looks like that. Without the feature `signing` there are no keys, and nobody can have a [`Signer`].

#[cfg(not(feature = "signing"))]
mod absent;
#[cfg(feature = "signing")]
mod jwks;
#[cfg(feature = "signing")]
mod keys;
#[cfg(all(test, feature = "signing"))]
mod tests;
#[cfg(feature = "signing")]
mod token;

use protocol_core::time::UnixMillis;

#[cfg(not(feature = "signing"))]
pub use self::absent::{JwkSet, Seal, Signer, seal_shared};
#[cfg(feature = "signing")]
pub use self::{
    jwks::JwkSet,
    keys::Signer,
    token::{Seal, seal_shared},
};
use crate::board::Trouble;

/// What a token says about a notification.
#[derive(Clone, Copy, Debug)]
pub struct Claims<'a> {
    /// When it is signed, if the device knows: without it the token has no `iat` and no `exp`.
    pub iat: Option<UnixMillis>,
    /// Names the event. It stays the same when the event is sent again, so that a receiver can tell.
    pub jti: &'a str,
    /// The id of the task.
    pub task: &'a str,
    /// The URL of the webhook, as it was configured.
    pub audience: &'a str,
    /// SHA-256 of the body.
    pub body_digest: &'a [u8; 32],
}

/// How long a token is good for. Receivers refuse what is older, whatever it says.
pub const LIFETIME_SECS: u64 = 300;

/// The longest URL of the device that is named as the issuer. Where there is none, or one that is longer or no URL, the key
/// is.
pub const ISSUER_MAX: usize = 128;

/// The device's key after a start.
#[derive(Debug)]
pub struct Recalled {
    /// Signs with it.
    pub signer: Signer,
    /// It was made at this start, for there was none.
    pub made: Option<Made>,
}

/// A key that was made at a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Something was kept, but it is no key. Receivers find another one than before.
    pub was_damaged: bool,
    /// Whether the next start knows it, too.
    pub kept: Result<(), Trouble>,
}
