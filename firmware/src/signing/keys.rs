//! The keys of the device: made at the first start, kept in the store, changed when somebody says so.
//!
//! A secret is nowhere but in the store and here. When it is changed the store gets another one in its place, and of the one
//! before only the public half is left, for receivers that still have to check something it has signed.

use core::{cell::RefCell, fmt};

use embedded_storage_async::nor_flash::NorFlash;
use p256::ecdsa::{Signature, SigningKey, signature::hazmat::PrehashSigner as _};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::{
    Claims, Made, Recalled,
    jwks::{COORDINATE_BYTES, JwkSet, PublicKey},
    token::Seal,
};
use crate::{
    board::{Key, Trouble},
    store::{Store, VALUE_MAX},
};

/// Signs with a key of the device's own.
pub struct Signer {
    /// Where the device is to be found, if somebody has said so.
    issuer: Option<&'static str>,
    keys: RefCell<Keys>,
}

struct Keys {
    current: Pair,
    previous: Option<PublicKey>,
}

struct Pair {
    secret: SigningKey,
    public: PublicKey,
}

/// Bytes of a secret.
const SECRET_BYTES: usize = 32;

/// A number by chance is no key once in 2^32 times. If so many are none they are not by chance.
const TRIES: usize = 8;

impl Pair {
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let secret = SigningKey::from_slice(bytes).ok()?;
        let public = PublicKey::of(secret.verifying_key());
        Some(Self { secret, public })
    }

    fn make(mut fill_random: impl FnMut(&mut [u8])) -> Result<(Self, Zeroizing<[u8; SECRET_BYTES]>), Trouble> {
        let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
        for _ in 0..TRIES {
            fill_random(&mut *bytes);
            if let Some(pair) = Self::from_bytes(&*bytes) {
                return Ok((pair, bytes));
            }
        }
        Err(Trouble("the board has no chance to make a key of"))
    }
}

impl Signer {
    /// Finds the key that was kept, or makes one, the first start included. `issuer` is the URL of the device, if it has
    /// one that does not change.
    ///
    /// # Errors
    /// If there is none and none can be made.
    pub fn recall<F: NorFlash>(
        store: &Store<F>,
        issuer: Option<&'static str>,
        fill_random: impl FnMut(&mut [u8]),
    ) -> Result<Recalled, Trouble> {
        let mut bytes = Zeroizing::new([0; VALUE_MAX]);
        let length = store.load(Key::SIGNING, &mut *bytes);
        let kept = length.and_then(|length| Pair::from_bytes(bytes.get(..length).filter(|_| length == SECRET_BYTES)?));
        let (current, made) = match kept {
            Some(pair) => (pair, None),
            None => {
                let (pair, secret) = Pair::make(fill_random)?;
                let kept = store.save(Key::SIGNING, &*secret);
                (pair, Some(Made { was_damaged: length.is_some(), kept }))
            }
        };
        let mut bytes = [0; 2 * COORDINATE_BYTES];
        let previous = store.load(Key::SIGNED_BEFORE, &mut bytes);
        let previous = previous.and_then(|length| PublicKey::from_bytes(bytes.get(..length)?));
        // The power went in the middle of a change: the key before is the one that there is.
        let previous = previous.filter(|previous| *previous != current.public);
        let signer = Self { issuer, keys: RefCell::new(Keys { current, previous }) };
        Ok(Recalled { signer, made })
    }

    /// Signs with a new key from now on. The one before stays published until the next change.
    ///
    /// # Errors
    /// Says why the new one cannot be made or kept. Then everything stays as it was.
    pub fn rotate<F: NorFlash>(&self, store: &Store<F>, fill_random: impl FnMut(&mut [u8])) -> Result<(), Trouble> {
        let (next, secret) = Pair::make(fill_random)?;
        let before = self.keys.borrow().current.public;
        // In this order: what was signed with a key that is kept nowhere could not be checked after a restart.
        store.save(Key::SIGNED_BEFORE, &before.to_bytes())?;
        store.save(Key::SIGNING, &*secret)?;
        self.keys.replace(Keys { current: next, previous: Some(before) });
        Ok(())
    }

    /// Seals with the key of now. Nothing if that cannot be.
    #[must_use]
    #[inline(never)]
    pub fn seal(&self, claims: &Claims<'_>) -> Option<Seal<'static>> {
        let Keys { current, .. } = &*self.keys.borrow();
        let seal = Seal::new(self.issuer, Some(current.public.kid));
        let mut digest = Sha256::new();
        seal.write_signed(&mut |text: &str| digest.update(text), claims);
        // The nonce is made of the key and the digest (RFC 6979): no chance is needed, and none can fail.
        let signature: Signature = current.secret.sign_prehash(&digest.finalize()).ok()?;
        seal.signed(&signature.to_bytes())
    }

    /// The public keys, for receivers.
    #[must_use]
    pub fn published(&self) -> JwkSet {
        let Keys { current, previous } = &*self.keys.borrow();
        JwkSet::new(current.public, *previous)
    }
}

/// Never the secret.
impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.keys.borrow().current.public.kid.as_str())
    }
}
