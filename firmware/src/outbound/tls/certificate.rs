//! An X.509 certificate, as far as it matters here.

use heapless::String;
use protocol_core::time::UnixMillis;

use super::{
    claims::{Curve, Hash},
    der::{BIT_STRING, BOOLEAN, Der, GENERALIZED_TIME, INTEGER, OBJECT, OCTET_STRING, SEQUENCE, UTC_TIME, bytes_of},
};
use crate::outbound::Untrusted;

pub(super) struct Certificate<'d> {
    /// What was signed.
    pub(super) signed: &'d [u8],
    /// How; nothing if we do not know that way.
    pub(super) hash: Option<Hash>,
    pub(super) signature: &'d [u8],
    pub(super) issuer: &'d [u8],
    pub(super) subject: &'d [u8],
    not_before: UnixMillis,
    not_after: UnixMillis,
    /// Nothing if it is no key that we know.
    pub(super) key: Option<(Curve, &'d [u8])>,
    rights: Rights<'d>,
}

/// What the extensions say.
struct Rights<'d> {
    names: Der<'d>,
    is_authority: bool,
    /// How many other authorities may be below.
    depth: Option<u8>,
    may_certify: bool,
    may_prove: bool,
    may_serve: bool,
    is_understood: bool,
}

const ECDSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const ECDSA_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03];
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const NAME_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x1e];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const SERVER_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];

impl<'d> Certificate<'d> {
    /// Reads one; nothing if it is none.
    pub(super) fn parse(der: &'d [u8]) -> Option<Self> {
        const VERSION: u8 = 0xa0;
        const EXTENSIONS: u8 = 0xa3;
        let mut outside = Der(der);
        let mut certificate = outside.sequence().filter(|_| outside.is_empty())?;
        let signed = certificate.next().filter(|signed| signed.tag == SEQUENCE)?;
        let algorithm = certificate.next_if(SEQUENCE)?;
        let signature = bytes_of(certificate.next_if(BIT_STRING)?)?;
        let mut body = Der(signed.value);
        body.next_if(VERSION);
        body.next_if(INTEGER)?;
        // It stands there twice, and one of them is signed.
        body.next_if(SEQUENCE).filter(|inside| *inside == algorithm)?;
        let issuer = body.next_if(SEQUENCE)?;
        let mut validity = body.sequence()?;
        let (not_before, not_after) = (time(&mut validity)?, time(&mut validity)?);
        let subject = body.next_if(SEQUENCE)?;
        let key = key(body.sequence()?)?;
        let mut rights = Rights::default();
        while let Some(element) = body.next() {
            if element.tag == EXTENSIONS {
                rights.read(Der(element.value).sequence()?)?;
                // Nothing comes behind them, not even more of them.
                break;
            }
        }
        let is_whole = certificate.is_empty() && body.is_empty();
        let hash = match Der(algorithm).next_if(OBJECT) {
            Some(ECDSA_SHA256) => Some(Hash::Sha256),
            Some(ECDSA_SHA384) => Some(Hash::Sha384),
            _ => None,
        };
        let signed = signed.whole;
        is_whole.then_some(Self { signed, hash, signature, issuer, subject, not_before, not_after, key, rights })
    }

    pub(super) fn names(&self) -> Der<'d> {
        self.rights.names
    }

    /// Whether its time is now. Nobody knows where nobody knows the time.
    pub(super) fn check_time(&self, now: Option<UnixMillis>) -> Result<(), Untrusted> {
        match now {
            Some(now) if now < self.not_before => Err(Untrusted::NotYetValid),
            // To the end of that second.
            Some(now) if now.0 >= self.not_after.0.saturating_add(1000) => Err(Untrusted::Expired),
            _ => Ok(()),
        }
    }

    /// Whether a server may show it.
    pub(super) fn check_server(&self) -> Result<(), Untrusted> {
        let Rights { may_prove, may_serve, is_understood, .. } = self.rights;
        match (is_understood, may_prove && may_serve) {
            (false, _) => Err(Untrusted::Unsupported),
            (_, false) => Err(Untrusted::Malformed),
            _ => Ok(()),
        }
    }

    /// Whether it may issue others, with so many authorities in between.
    pub(super) fn check_authority(&self, between: u8) -> Result<(), Untrusted> {
        let Rights { is_authority, depth, may_certify, may_serve, is_understood, .. } = self.rights;
        if !is_authority || !may_certify || !may_serve || depth.is_some_and(|depth| depth < between) {
            return Err(Untrusted::NotAnAuthority);
        }
        if is_understood { Ok(()) } else { Err(Untrusted::Unsupported) }
    }
}

impl Default for Rights<'_> {
    /// Of a certificate that says nothing about them.
    fn default() -> Self {
        Self {
            names: Der(&[]),
            is_authority: false,
            depth: None,
            may_certify: true,
            may_prove: true,
            may_serve: true,
            is_understood: true,
        }
    }
}

impl<'d> Rights<'d> {
    fn read(&mut self, mut extensions: Der<'d>) -> Option<()> {
        const ONCE: [&[u8]; 5] = [ALTERNATIVE_NAME, BASIC_CONSTRAINTS, KEY_USAGE, EXTENDED_KEY_USAGE, NAME_CONSTRAINTS];
        let mut seen = [false; ONCE.len()];
        while !extensions.is_empty() {
            let mut extension = extensions.sequence()?;
            let object = extension.next_if(OBJECT)?;
            // What is said twice is understood in two ways (RFC 5280 §4.2).
            let place = ONCE.iter().zip(&mut seen).find(|(known, _)| **known == object);
            if place.is_some_and(|(_, seen)| core::mem::replace(seen, true)) {
                return None;
            }
            let is_critical = extension.next_if(BOOLEAN).is_some_and(|critical| critical != [0]);
            let mut value = Der(extension.next_if(OCTET_STRING).filter(|_| extension.is_empty())?);
            match object {
                ALTERNATIVE_NAME => self.names = value.sequence()?,
                BASIC_CONSTRAINTS => {
                    let mut constraints = value.sequence()?;
                    self.is_authority = match constraints.next_if(BOOLEAN) {
                        Some([0xff]) => true,
                        Some([0]) | None => false,
                        Some(_) => return None,
                    };
                    self.depth = match constraints.next_if(INTEGER) {
                        Some([depth @ 0..=0x7f]) => Some(*depth),
                        // More than anybody has.
                        Some([0, 0x80..=0xff, ..] | [1..=0x7f, _, ..]) | None => None,
                        // Less than nothing, or not the one way to write it.
                        Some(_) => return None,
                    };
                }
                KEY_USAGE => {
                    let bits = value.next_if(BIT_STRING)?.get(1).copied().unwrap_or(0);
                    (self.may_prove, self.may_certify) = (bits & 0x80 != 0, bits & 0x04 != 0);
                }
                EXTENDED_KEY_USAGE => {
                    let mut purposes = value.sequence()?;
                    self.may_serve = false;
                    while !purposes.is_empty() {
                        self.may_serve |= purposes.next_if(OBJECT)? == SERVER_AUTH;
                    }
                }
                // Issuers are bound by it: passing it over would be to trust them with more than they have.
                NAME_CONSTRAINTS => self.is_understood = false,
                _ => self.is_understood &= !is_critical,
            }
        }
        Some(())
    }
}

/// Nothing inside if it is of another kind; nothing at all if it is none.
fn key(mut info: Der<'_>) -> Option<Option<(Curve, &[u8])>> {
    let mut algorithm = info.sequence()?;
    let point = bytes_of(info.next_if(BIT_STRING)?)?;
    let curve = match (algorithm.next_if(OBJECT)?, algorithm.next_if(OBJECT)) {
        (EC_PUBLIC_KEY, Some(P256)) => Curve::P256,
        (EC_PUBLIC_KEY, Some(P384)) => Curve::P384,
        _ => return Some(None),
    };
    Some(Some((curve, point)))
}

/// `YYMMDDHHMMSSZ` until 2049, `YYYYMMDDHHMMSSZ` from then on.
fn time(validity: &mut Der<'_>) -> Option<UnixMillis> {
    let element = validity.next()?;
    let (century, digits) = match (element.tag, element.value) {
        (GENERALIZED_TIME, [a, b, digits @ ..]) => ([*a, *b], digits),
        (UTC_TIME, digits @ [b'0'..=b'4', ..]) => (*b"20", digits),
        (UTC_TIME, digits) => (*b"19", digits),
        _ => return None,
    };
    let [y1, y2, mo1, mo2, d1, d2, h1, h2, mi1, mi2, s1, s2, b'Z'] = *digits else { return None };
    let [c1, c2] = century;
    let written = [c1, c2, y1, y2, b'-', mo1, mo2, b'-', d1, d2, b'T', h1, h2, b':', mi1, mi2, b':', s1, s2, b'Z'];
    let text: String<20> = written.iter().map(|byte| char::from(*byte)).collect();
    UnixMillis::parse(text.chars())
}
