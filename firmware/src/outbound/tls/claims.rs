//! What is said to be signed by whom. It is put down while the certificates are there, and checked when there is time: a
//! certificate takes kilobytes, a claim a few hundred bytes.

use heapless::Vec;
use p256::ecdsa::{Signature, VerifyingKey, signature::hazmat::PrehashVerifier as _};
use sha2::{Digest as _, Sha256, Sha384};

use super::{
    certificate::Certificate,
    der::{Der, INTEGER},
    p384,
};
use crate::outbound::Untrusted;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sha256,
    Sha384,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    P384,
}

/// A public key: a point, as SEC 1 writes it.
#[derive(Clone)]
pub(super) struct Key {
    pub(super) curve: Curve,
    point: Vec<u8, 97>,
}

impl Key {
    pub(super) fn new((curve, point): (Curve, &[u8])) -> Option<Self> {
        Some(Self { curve, point: Vec::from_slice(point).ok()? })
    }
}

/// Something is signed by somebody.
pub(super) struct Claim {
    digest: Vec<u8, 48>,
    signature: Vec<u8, 104>,
    signer: Signer,
}

/// Who is said to have signed.
pub(super) enum Signer {
    /// The next one in the chain.
    Issuer(Key),
    /// One of the roots with these numbers.
    Root(u32),
    /// The server itself.
    Server(Key),
}

impl Claim {
    /// Nothing if it cannot be a signature.
    pub(super) fn new(hash: Hash, pieces: &[&[u8]], signature: &[u8], signer: Signer) -> Option<Self> {
        let digest = match hash {
            Hash::Sha256 => {
                Vec::from_slice(&pieces.iter().fold(Sha256::new(), |sum, piece| sum.chain_update(piece)).finalize())
            }
            Hash::Sha384 => {
                Vec::from_slice(&pieces.iter().fold(Sha384::new(), |sum, piece| sum.chain_update(piece)).finalize())
            }
        };
        Some(Self { digest: digest.ok()?, signature: Vec::from_slice(signature).ok()?, signer })
    }

    /// Checks it, in one long step.
    pub(super) fn check(&self, roots: &[&[u8]]) -> Result<(), Untrusted> {
        let (is_signed, otherwise) = match &self.signer {
            Signer::Issuer(key) => (self.is_by(key), Untrusted::Issuer),
            Signer::Server(key) => (self.is_by(key), Untrusted::Unproven),
            Signer::Root(numbers) => {
                let mut chosen = roots.iter().enumerate().filter(|(number, _)| numbers >> number & 1 == 1);
                let is_signed = chosen.any(|(_, root)| {
                    let key = Certificate::parse(root).and_then(|root| root.key).and_then(Key::new);
                    key.is_some_and(|key| self.is_by(&key))
                });
                (is_signed, Untrusted::Issuer)
            }
        };
        if is_signed { Ok(()) } else { Err(otherwise) }
    }

    #[inline(never)]
    fn is_by(&self, key: &Key) -> bool {
        let Some((r, s)) = numbers(&self.signature) else { return false };
        match key.curve {
            Curve::P256 => is_signed_p256(&key.point, &self.digest, r, s),
            Curve::P384 => p384::is_signed(&key.point, &self.digest, r, s),
        }
    }
}

fn is_signed_p256(key: &[u8], digest: &[u8], r: &[u8], s: &[u8]) -> bool {
    let padded = |number: &[u8]| {
        let mut all = [0; 32];
        let low = all.get_mut(32_usize.checked_sub(number.len())?..)?;
        low.iter_mut().zip(number).for_each(|(low, byte)| *low = *byte);
        Some(all)
    };
    let (Some(r), Some(s)) = (padded(r), padded(s)) else { return false };
    let (Ok(key), Ok(signature)) = (VerifyingKey::from_sec1_bytes(key), Signature::from_scalars(r, s)) else {
        return false;
    };
    key.verify_prehash(digest, &signature).is_ok()
}

/// The two numbers of a signature, without the zero that says that they are not negative.
fn numbers(signature: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut outside = Der(signature);
    let mut inside = outside.sequence().filter(|_| outside.is_empty())?;
    let mut number = || match inside.next_if(INTEGER)? {
        [0, positive @ ..] if matches!(positive, [0x80..=0xff, ..]) => Some(positive),
        positive @ [1..=0x7f, ..] => Some(positive),
        _ => None,
    };
    let (r, s) = (number()?, number()?);
    inside.is_empty().then_some((r, s))
}
