//! The token: header, claims and signature, with dots between them (RFC 7515 §3.1), made without a buffer for any of them.

use core::fmt::{self, Write as _};

use base64ct::{Base64UrlUnpadded, Encoding as _};
use hmac::{Hmac, Mac as _};
use protocol_core::json::{Sink, escape};
use sha2::{
    Sha256,
    digest::{FixedOutput as _, Update},
};

use super::{Claims, ISSUER_MAX, LIFETIME_SECS};

/// What a signature takes: r and s, or a digest, which is shorter.
const SIGNATURE_BYTES: usize = 64;

/// The longest header there is.
const HEADER_MAX: usize = r#"{"alg":"ES256","typ":"JWT","kid":""}"#.len() + 43;

/// What is always among the claims, with the longest issuer and the largest numbers.
const CLAIMS_MAX: usize = r#"{"iss":"","iat":,"exp":,"jti":"","aud":"","taskId":"","request_body_sha256":""}"#.len()
    + ISSUER_MAX
    + 2 * 20
    + 64;

/// The most that a byte of a text takes in JSON: `\u001f`.
const ESCAPED_MAX: usize = 6;

/// The longest that a token gets whose `jti`, task and audience have so many bytes, whatever they are.
#[must_use]
pub const fn token_max(jti: usize, task: usize, audience: usize) -> usize {
    let texts = jti.saturating_add(task).saturating_add(audience).saturating_mul(ESCAPED_MAX);
    encoded(HEADER_MAX)
        .saturating_add(encoded(CLAIMS_MAX.saturating_add(texts)))
        .saturating_add(encoded(SIGNATURE_BYTES))
        .saturating_add(2)
}

const fn encoded(bytes: usize) -> usize {
    bytes.saturating_mul(4).div_ceil(3)
}

/// Who signs.
#[derive(Clone, Copy)]
pub(super) enum Issuer<'a> {
    /// A device that knows where it is to be found.
    Url(&'a str),
    /// A key, by its thumbprint (RFC 9278).
    Thumbprint(&'a str),
    /// Whoever has the secret.
    Nobody,
}

impl<'a> Issuer<'a> {
    pub(super) fn new(url: Option<&'a str>, otherwise: Self) -> Self {
        // So it has no more characters than bytes: `token_max` counts on it.
        let is_plain = |url: &&str| url.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
        url.filter(|url| (1..=ISSUER_MAX).contains(&url.len())).filter(is_plain).map_or(otherwise, Self::Url)
    }
}

/// Writes a token that is signed with a secret the receiver has, too. `issuer` is where the device is to be found.
///
/// # Errors
/// If `out` does not take all of it.
pub fn hmac_token(key: &[u8], issuer: Option<&str>, out: &mut dyn fmt::Write, claims: &Claims<'_>) -> fmt::Result {
    // cannot fail: a key of any length is one.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| fmt::Error)?;
    write_signed(out, &mut mac, None, Issuer::new(issuer, Issuer::Nobody), claims)?;
    write_signature(out, &mac.finalize_fixed())
}

/// Writes what is signed, and lets `digest` have it, too.
pub(super) fn write_signed(
    out: &mut dyn fmt::Write,
    digest: &mut dyn Update,
    kid: Option<&str>,
    issuer: Issuer<'_>,
    claims: &Claims<'_>,
) -> fmt::Result {
    let mut segments = Segments { out, digest, block: [0; BLOCK_BYTES], used: 0, done: Ok(()) };
    match kid {
        Some(kid) => {
            for part in [r#"{"alg":"ES256","typ":"JWT","kid":""#, kid, "\"}"] {
                segments.put(part);
            }
        }
        None => segments.put(r#"{"alg":"HS256","typ":"JWT"}"#),
    }
    segments.end();
    segments.emit(".");
    write_claims(&mut segments, issuer, claims)?;
    segments.end();
    segments.done
}

/// Writes the last part.
pub(super) fn write_signature(out: &mut dyn fmt::Write, signature: &[u8]) -> fmt::Result {
    let mut room = [0; encoded(SIGNATURE_BYTES)];
    let text = Base64UrlUnpadded::encode(signature, &mut room).map_err(|_| fmt::Error)?;
    out.write_str(".")?;
    out.write_str(text)
}

fn write_claims(segments: &mut Segments<'_>, issuer: Issuer<'_>, claims: &Claims<'_>) -> fmt::Result {
    let Claims { iat, jti, task, audience, body_digest } = claims;
    segments.put("{");
    match issuer {
        Issuer::Url(url) => segments.member(r#""iss":""#, url),
        Issuer::Thumbprint(kid) => {
            segments.put(r#""iss":"urn:ietf:params:oauth:jwk-thumbprint:sha-256:"#);
            segments.member("", kid);
        }
        Issuer::Nobody => {}
    }
    if let Some(iat) = iat {
        let seconds = iat.0 / 1000;
        write!(segments, "\"iat\":{seconds},\"exp\":{},", seconds.saturating_add(LIFETIME_SECS))?;
    }
    segments.member(r#""jti":""#, jti);
    segments.member(r#""aud":""#, audience);
    segments.member(r#""taskId":""#, task);
    segments.put(r#""request_body_sha256":""#);
    for byte in *body_digest {
        write!(segments, "{byte:02x}")?;
    }
    segments.put("\"}");
    Ok(())
}

/// A multiple of three: only the last block of a segment has characters that stand for less.
const BLOCK_BYTES: usize = 24;

/// Encodes what is put in, block by block.
struct Segments<'w> {
    out: &'w mut dyn fmt::Write,
    digest: &'w mut dyn Update,
    block: [u8; BLOCK_BYTES],
    used: usize,
    done: fmt::Result,
}

impl Segments<'_> {
    /// A member whose value is a text, with the comma behind it.
    fn member(&mut self, begin: &str, value: &str) {
        self.put(begin);
        escape(value, self);
        self.put("\",");
    }

    /// Ends a segment, or a block in the middle of one.
    fn end(&mut self) {
        let mut room = [0; encoded(BLOCK_BYTES)];
        let block = self.block.get(..core::mem::take(&mut self.used)).unwrap_or_default();
        match Base64UrlUnpadded::encode(block, &mut room) {
            Ok(text) => self.emit(text),
            // cannot happen: the room is for a whole block.
            Err(_) => self.done = Err(fmt::Error),
        }
    }

    /// Writes characters of the token itself.
    fn emit(&mut self, text: &str) {
        self.digest.update(text.as_bytes());
        if self.done.is_ok() {
            self.done = self.out.write_str(text);
        }
    }
}

impl Sink for Segments<'_> {
    fn put(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.used >= BLOCK_BYTES {
                self.end();
            }
            if let Some(place) = self.block.get_mut(self.used) {
                *place = byte;
                self.used = self.used.saturating_add(1);
            }
        }
    }
}

impl fmt::Write for Segments<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.put(text);
        self.done
    }
}
