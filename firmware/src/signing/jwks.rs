//! The public keys, as receivers fetch them: a JWK set (RFC 7517) that is made a key at a time.

use core::fmt::{self, Write as _};

use base64ct::{Base64UrlUnpadded, Encoding as _};
use heapless::string::StringView;
use p256::ecdsa::VerifyingKey;
use sha2::{Digest as _, Sha256};

/// Bytes of a coordinate.
pub(super) const COORDINATE_BYTES: usize = 32;

/// A public key: a point of P-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PublicKey {
    x: [u8; COORDINATE_BYTES],
    y: [u8; COORDINATE_BYTES],
    /// Its name: the thumbprint of RFC 7638.
    pub(super) kid: Text,
}

/// 32 bytes as JSON has them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Text([u8; Self::CHARACTERS]);

impl Text {
    const CHARACTERS: usize = 43;

    fn new(bytes: &[u8; COORDINATE_BYTES]) -> Self {
        let mut characters = [b'A'; Self::CHARACTERS];
        // cannot fail: that is how many characters so many bytes are.
        let _ = Base64UrlUnpadded::encode(bytes, &mut characters);
        Self(characters)
    }

    pub(super) fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PublicKey {
    /// Bytes in which it is kept: one coordinate behind the other.
    pub(super) const BYTES: usize = 2 * COORDINATE_BYTES;

    pub(super) fn new(x: [u8; COORDINATE_BYTES], y: [u8; COORDINATE_BYTES]) -> Self {
        let mut digest = Sha256::new();
        // RFC 7638 §3.2: these members, in this order, without a space.
        for part in [r#"{"crv":"P-256","kty":"EC","x":""#, Text::new(&x).as_str(), r#"","y":""#, Text::new(&y).as_str()]
        {
            digest.update(part);
        }
        digest.update("\"}");
        Self { x, y, kid: Text::new(&digest.finalize().into()) }
    }

    pub(super) fn of(key: &VerifyingKey) -> Self {
        let point = key.to_encoded_point(false);
        // cannot fail: a key is no point at infinity, and only those have no coordinates.
        let [x, y] = [point.x(), point.y()].map(|coordinate| coordinate.copied().unwrap_or_default().into());
        Self::new(x, y)
    }

    /// Reads what was kept. Whether the point is one of the curve is the receiver's to see.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (x, y) = bytes.split_first_chunk()?;
        Some(Self::new(*x, y.try_into().ok()?))
    }

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (place, byte) in bytes.iter_mut().zip(self.x.iter().chain(&self.y)) {
            *place = *byte;
        }
        bytes
    }
}

/// The keys of one moment, while they are being read.
pub struct JwkSet {
    keys: [Option<PublicKey>; 2],
    part: usize,
    /// Bytes of the part that were given already.
    given: usize,
}

/// Before the keys, each of them, and behind.
const PARTS: usize = 4;

/// The longest part is a key.
const PART_MAX: usize = 224;

impl JwkSet {
    pub(super) const fn new(current: PublicKey, previous: Option<PublicKey>) -> Self {
        Self { keys: [Some(current), previous], part: 0, given: 0 }
    }

    /// Fills `out` with the next bytes and says how many; 0 is the end.
    pub fn fill(&mut self, out: &mut [u8]) -> usize {
        let bytes = out.len();
        let mut room = out;
        while !room.is_empty() && self.part < PARTS {
            let mut text = heapless::String::<PART_MAX>::new();
            // cannot fail: every key has the same length, and a test reads one.
            let _ = self.write(&mut text);
            let rest = text.as_bytes().get(self.given..).unwrap_or_default();
            let (now, later) = room.split_at_mut(rest.len().min(room.len()));
            now.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
            self.given = self.given.saturating_add(now.len());
            room = later;
            if self.given >= text.len() {
                self.part = self.part.saturating_add(1);
                self.given = 0;
            }
        }
        bytes.saturating_sub(room.len())
    }

    fn write(&self, text: &mut StringView) -> fmt::Result {
        match (self.part, self.keys) {
            (0, _) => text.write_str("{\"keys\":["),
            (1, [Some(key), _]) => write_key(text, "", &key),
            (2, [_, Some(key)]) => write_key(text, ",", &key),
            (1 | 2, _) => Ok(()),
            _ => text.write_str("]}"),
        }
    }
}

fn write_key(text: &mut StringView, comma: &str, key: &PublicKey) -> fmt::Result {
    let (x, y) = (Text::new(&key.x), Text::new(&key.y));
    write!(
        text,
        r#"{comma}{{"kty":"EC","crv":"P-256","use":"sig","alg":"ES256","kid":"{}","x":"{}","y":"{}"}}"#,
        key.kid.as_str(),
        x.as_str(),
        y.as_str()
    )
}
