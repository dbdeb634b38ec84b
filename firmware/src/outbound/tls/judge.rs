//! Who is it? Goes from the server's certificate to somebody who is trusted, and puts down what has to be signed for that.

use embedded_tls::{CertificateEntryRef, CertificateRef, CertificateVerifyRef, SignatureScheme, TlsError, TlsVerifier};
use heapless::Vec;
use protocol_core::time::UnixMillis;
use sha2::{Digest as _, Sha256};

use super::{
    certificate::Certificate,
    claims::{Claim, Curve, Hash, Key, Signer},
    name::Host,
    records::Suite,
};
use crate::outbound::Untrusted;

/// Certificates from the server's to the last below a root.
const CHAIN: usize = 3;
/// The server's own signature comes on top.
const CLAIMS: usize = CHAIN + 1;

/// Judges one server.
pub(super) struct Judge<'t> {
    host: Host<'t>,
    roots: &'t [&'t [u8]],
    now: Option<UnixMillis>,
    /// The server's key, and what was said until it was shown.
    server: Option<(Key, [u8; 32])>,
    claims: Vec<Claim, CLAIMS>,
    has_proof: bool,
    refusal: Option<Untrusted>,
}

impl<'t> Judge<'t> {
    pub(super) fn new(host: Host<'t>, roots: &'t [&'t [u8]], now: Option<UnixMillis>) -> Self {
        Self { host, roots, now, server: None, claims: Vec::new(), has_proof: false, refusal: None }
    }

    /// Why it was refused, if it was.
    pub(super) fn refusal(&self) -> Option<Untrusted> {
        self.refusal
    }

    /// What remains to be checked. Nothing if something is missing: it is not who it should be.
    pub(super) fn claims(&self) -> Option<&[Claim]> {
        (self.server.is_some() && self.has_proof && self.refusal.is_none()).then_some(&self.claims)
    }

    fn judge(&mut self, shown: &[CertificateEntryRef<'_>]) -> Result<Key, Untrusted> {
        let Some((CertificateEntryRef::X509(first), others)) = shown.split_first() else {
            return Err(Untrusted::Malformed);
        };
        let server = Certificate::parse(first).ok_or(Untrusted::Malformed)?;
        if !self.host.is_among(server.names()) {
            return Err(Untrusted::Name);
        }
        server.check_time(self.now)?;
        server.check_server()?;
        let key = server.key.and_then(Key::new).ok_or(Untrusted::Unsupported)?;
        // It is trusted itself, whoever issued it.
        if !self.roots.contains(first) {
            self.follow(server, others)?;
        }
        Ok(key)
    }

    /// Follows the chain up. It need not be in order, nor need all of it be of use (RFC 8446 §4.4.2).
    fn follow(&mut self, server: Certificate<'_>, others: &[CertificateEntryRef<'_>]) -> Result<(), Untrusted> {
        let mut lower = server;
        for between in 0..CHAIN as u8 {
            let mut refusal = Untrusted::Issuer;
            let mut check = |upper: &Certificate<'_>| {
                let checked = upper.check_authority(between).and_then(|()| upper.check_time(self.now));
                checked.map_err(|why| refusal = why).is_ok()
            };
            let mut numbers = 0;
            for (number, root) in self.roots.iter().enumerate().take(u32::BITS as usize) {
                let root = Certificate::parse(root);
                if root.is_some_and(|root| root.subject == lower.issuer && check(&root)) {
                    numbers |= 1 << number;
                }
            }
            if numbers != 0 {
                return self.claim(&lower, Signer::Root(numbers));
            }
            let upper = others.iter().find_map(|other| {
                let CertificateEntryRef::X509(other) = other else { return None };
                Certificate::parse(other).filter(|other| other.subject == lower.issuer && check(other))
            });
            let upper = upper.ok_or(refusal)?;
            // It issued itself, and nobody knows it.
            if upper.subject == upper.issuer {
                return Err(Untrusted::Issuer);
            }
            let key = upper.key.and_then(Key::new).ok_or(Untrusted::Unsupported)?;
            self.claim(&lower, Signer::Issuer(key))?;
            lower = upper;
        }
        Err(Untrusted::Issuer)
    }

    fn claim(&mut self, lower: &Certificate<'_>, signer: Signer) -> Result<(), Untrusted> {
        let hash = lower.hash.ok_or(Untrusted::Unsupported)?;
        let claim = Claim::new(hash, &[lower.signed], lower.signature, signer).ok_or(Untrusted::Malformed)?;
        self.claims.push(claim).map_err(|_| Untrusted::Issuer)
    }

    /// Puts down what the server says to prove that the key is its own (RFC 8446 §4.4.3).
    fn prove(&mut self, proof: &CertificateVerifyRef<'_>) -> Result<(), Untrusted> {
        const CONTEXT: &[u8] = b"TLS 1.3, server CertificateVerify\0";
        let (key, said) = self.server.clone().filter(|_| !self.has_proof).ok_or(Untrusted::Unproven)?;
        let hash = match (proof.signature_scheme, key.curve) {
            (SignatureScheme::EcdsaSecp256r1Sha256, Curve::P256) => Hash::Sha256,
            (SignatureScheme::EcdsaSecp384r1Sha384, Curve::P384) => Hash::Sha384,
            _ => return Err(Untrusted::Unproven),
        };
        let claim = Claim::new(hash, &[&[b' '; 64], CONTEXT, &said], proof.signature, Signer::Server(key));
        self.claims.push(claim.ok_or(Untrusted::Unproven)?).map_err(|_| Untrusted::Unproven)?;
        self.has_proof = true;
        Ok(())
    }

    fn refuse(&mut self, why: Untrusted) -> TlsError {
        self.refusal = Some(why);
        TlsError::InvalidCertificate
    }
}

impl TlsVerifier<Suite> for Judge<'_> {
    /// The host is known already, and it may be an address.
    fn set_hostname_verification(&mut self, _: &str) -> Result<(), TlsError> {
        Ok(())
    }

    fn verify_certificate(&mut self, said: &Sha256, shown: CertificateRef<'_>) -> Result<(), TlsError> {
        // One certificate is enough, and the first one counts.
        if self.server.is_some() {
            return Err(self.refuse(Untrusted::Malformed));
        }
        let key = self.judge(&shown.entries).map_err(|why| self.refuse(why))?;
        self.server = Some((key, said.clone().finalize().into()));
        Ok(())
    }

    fn verify_signature(&mut self, proof: CertificateVerifyRef<'_>) -> Result<(), TlsError> {
        self.prove(&proof).map_err(|why| self.refuse(why))
    }
}
