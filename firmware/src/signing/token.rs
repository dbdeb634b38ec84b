//! The token: header, claims and signature, with dots between them (RFC 7515 §3.1). It is never in memory as a whole: what is
//! kept is its seal, and the rest is written again whenever it is wanted.

use core::fmt::{self, Write as _};

use base64ct::{Base64UrlUnpadded, Encoding as _};
use hmac::{Hmac, Mac as _};
use protocol_core::json::{Sink, escape};
use sha2::Sha256;

use super::{Claims, ISSUER_MAX, LIFETIME_SECS, jwks::Text};

/// What a signature takes: r and s, or a digest, which is shorter.
const SIGNATURE_BYTES: usize = 64;

const fn encoded(bytes: usize) -> usize {
    bytes.saturating_mul(4).div_ceil(3)
}

/// Says who stands for some claims. With them it is a token.
#[derive(Clone, Debug)]
pub struct Seal<'i> {
    /// Where the device is to be found.
    url: Option<&'i str>,
    /// The key, by its thumbprint; nothing where it is a secret that the receiver has, too.
    kid: Option<Text>,
    signature: heapless::Vec<u8, SIGNATURE_BYTES>,
}

/// Seals with a secret that the receiver has, too. `issuer` is where the device is to be found.
#[must_use]
#[inline(never)]
pub fn seal_shared<'i>(key: &[u8], issuer: Option<&'i str>, claims: &Claims<'_>) -> Option<Seal<'i>> {
    // cannot fail: a key of any length is one.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    let seal = Seal::new(issuer, None);
    seal.write_signed(&mut |text: &str| mac.update(text.as_bytes()), claims);
    seal.signed(&mac.finalize().into_bytes())
}

impl<'i> Seal<'i> {
    /// One that is not signed yet.
    pub(super) fn new(issuer: Option<&'i str>, kid: Option<Text>) -> Self {
        // What has to be escaped is none.
        let is_plain = |url: &&str| url.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
        let url = issuer.filter(|url| (1..=ISSUER_MAX).contains(&url.len())).filter(is_plain);
        Self { url, kid, signature: heapless::Vec::new() }
    }

    /// Nothing if that is no signature.
    pub(super) fn signed(mut self, signature: &[u8]) -> Option<Self> {
        self.signature.extend_from_slice(signature).ok()?;
        Some(self)
    }

    /// Writes the token, of characters that a header may have. `claims` are those that were sealed.
    pub fn write_token(&self, out: &mut dyn Sink, claims: &Claims<'_>) {
        self.write_signed(out, claims);
        out.put(".");
        let mut room = [0; encoded(SIGNATURE_BYTES)];
        // cannot fail: there is room for the longest.
        out.put(Base64UrlUnpadded::encode(&self.signature, &mut room).unwrap_or_default());
    }

    /// Writes what is signed.
    pub(super) fn write_signed(&self, out: &mut dyn Sink, claims: &Claims<'_>) {
        let mut segments = Segments { out, block: [0; BLOCK_BYTES], used: 0 };
        match &self.kid {
            Some(kid) => {
                for part in [r#"{"alg":"ES256","typ":"JWT","kid":""#, kid.as_str(), "\"}"] {
                    segments.put(part);
                }
            }
            None => segments.put(r#"{"alg":"HS256","typ":"JWT"}"#),
        }
        segments.end();
        segments.out.put(".");
        self.write_claims(&mut segments, claims);
        segments.end();
    }

    fn write_claims(&self, segments: &mut Segments<'_>, claims: &Claims<'_>) {
        let Claims { iat, jti, task, audience, body_digest } = claims;
        segments.put("{");
        if let Some(url) = self.url {
            segments.member(r#""iss":""#, url);
        } else if let Some(kid) = &self.kid {
            segments.put(r#""iss":"urn:ietf:params:oauth:jwk-thumbprint:sha-256:"#);
            segments.member("", kid.as_str());
        }
        if let Some(iat) = iat {
            let seconds = iat.0 / 1000;
            // cannot fail: segments take everything.
            let _ = write!(segments, "\"iat\":{seconds},\"exp\":{},", seconds.saturating_add(LIFETIME_SECS));
        }
        segments.member(r#""jti":""#, jti);
        segments.member(r#""aud":""#, audience);
        segments.member(r#""taskId":""#, task);
        segments.put(r#""request_body_sha256":""#);
        for byte in *body_digest {
            // cannot fail, too.
            let _ = write!(segments, "{byte:02x}");
        }
        segments.put("\"}");
    }
}

/// A multiple of three: only the last block of a segment has characters that stand for less.
const BLOCK_BYTES: usize = 24;

/// Encodes what is put in, block by block.
struct Segments<'w> {
    out: &'w mut dyn Sink,
    block: [u8; BLOCK_BYTES],
    used: usize,
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
        // cannot fail: the room is for a whole block.
        self.out.put(Base64UrlUnpadded::encode(block, &mut room).unwrap_or_default());
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
        Ok(())
    }
}
