//! TLS 1.3 by embedded-tls, which is watched: who the other side is is judged here, and what could upset it stays outside.
//! docs/decisions/0017-outbound.md says why.

mod certificate;
mod claims;
mod der;
mod judge;
mod name;
mod p384;
mod records;

use core::cell::Cell;

use embassy_futures::yield_now;
use embedded_io_async::{ErrorKind, Read, Write};
use embedded_tls::{
    CryptoProvider, CryptoRngCore, FlushPolicy, MaxFragmentLength, TlsConfig, TlsConnection, TlsContext, TlsError,
    TlsVerifier,
};
use p256::elliptic_curve::rand_core;
use protocol_core::time::UnixMillis;

use self::{
    judge::Judge,
    name::Host,
    records::{Records, Suite},
};
use super::{Failure, Unreachable, Unsecured, Untrusted};

/// A secured connection.
pub(super) type Tls<'s, S> = TlsConnection<'s, Records<'s, S>, Suite>;

/// Whom to expect there, and whom to believe that.
pub(super) struct Trust<'t> {
    pub(super) host: &'t str,
    pub(super) roots: &'t [&'t [u8]],
    pub(super) now: Option<UnixMillis>,
    pub(super) fill_random: &'t dyn Fn(&mut [u8]),
}

/// The least that a record that is sent may take, with what embedded-tls keeps free in it.
const LEAST_SENT: usize = 512;

/// A connection on which nothing was said yet. `is_open` is to be told when the handshake is over.
pub(super) fn begin<'s, S: Read + Write>(
    socket: &'s mut S,
    is_open: &'s Cell<bool>,
    received: &'s mut [u8],
    sent: &'s mut [u8],
) -> Result<Tls<'s, S>, Failure> {
    if sent.len() < LEAST_SENT || received.len() < LEAST_SENT {
        return Err(Failure::Unsecured(Unsecured::TooLarge));
    }
    let mut tls = TlsConnection::new(Records::new(socket, is_open), received, sent);
    // embassy-net would wait for an acknowledgement.
    tls.set_flush_policy(FlushPolicy::Relaxed);
    Ok(tls)
}

/// Shakes hands. When this is done the other side has proven who it is, and nothing was sent to it before.
///
/// Each signature is checked in a step of its own, and others run in between: a small processor takes most of a second
/// for one.
pub(super) async fn open<S: Read + Write>(
    tls: &mut Tls<'_, S>,
    is_open: &Cell<bool>,
    room: usize,
    trust: &Trust<'_>,
) -> Result<(), Failure> {
    let host = Host::new(trust.host);
    let mut config = TlsConfig::new();
    if let Host::Name(name) = host {
        config = config.with_server_name(name);
    }
    if let Some(length) = longest_fragment(room) {
        config = config.with_max_fragment_length(length);
    }
    let mut provider = Provider { judge: Judge::new(host, trust.roots, trust.now), chance: Chance(trust.fill_random) };
    if let Err(error) = tls.open(TlsContext::new(&config, &mut provider)).await {
        return Err(provider.judge.refusal().map_or_else(|| explain(error), Failure::Untrusted));
    }
    is_open.set(true);
    // embedded-tls does not mind if the other side leaves its certificate out, or the proof that it has the key.
    let claims = provider.judge.claims().ok_or(Failure::Untrusted(Untrusted::Unproven))?;
    for claim in claims {
        yield_now().await;
        claim.check(trust.roots).map_err(Failure::Untrusted)?;
    }
    Ok(())
}

/// What a record that comes in may have, if the other side does us the favour: 256 bytes around it (RFC 6066 §4).
fn longest_fragment(room: usize) -> Option<MaxFragmentLength> {
    match room.saturating_sub(256) {
        16_384.. => None,
        4096.. => Some(MaxFragmentLength::Bits12),
        2048.. => Some(MaxFragmentLength::Bits11),
        1024.. => Some(MaxFragmentLength::Bits10),
        _ => Some(MaxFragmentLength::Bits9),
    }
}

/// What an error of embedded-tls means for whoever has to do something about it.
pub(super) fn explain(error: TlsError) -> Failure {
    match error {
        // Not of the socket's: it was kept outside.
        TlsError::Io(ErrorKind::InvalidData) => Failure::Unsecured(Unsecured::Garbled),
        TlsError::Io(_) | TlsError::IoError | TlsError::ConnectionClosed => Unreachable::Lost.into(),
        // It says so itself, or it wants another group of numbers to begin with.
        TlsError::HandshakeAborted(..) | TlsError::InvalidKeyShare | TlsError::InvalidCipherSuite => {
            Failure::Unsecured(Unsecured::Refused)
        }
        // A record that does not fit; or certificates that come in several, which embedded-tls does not put together.
        TlsError::InsufficientSpace | TlsError::InvalidCertificate | TlsError::InvalidCertificateEntry => {
            Failure::Unsecured(Unsecured::TooLarge)
        }
        _ => Failure::Unsecured(Unsecured::Garbled),
    }
}

struct Provider<'t> {
    judge: Judge<'t>,
    chance: Chance<'t>,
}

impl CryptoProvider for Provider<'_> {
    type CipherSuite = Suite;
    type Signature = &'static [u8];

    fn rng(&mut self) -> impl CryptoRngCore {
        &mut self.chance
    }

    fn verifier(&mut self) -> Result<&mut impl TlsVerifier<Suite>, TlsError> {
        Ok(&mut self.judge)
    }
}

/// The device's chance, as embedded-tls wants it.
struct Chance<'t>(&'t dyn Fn(&mut [u8]));

impl rand_core::RngCore for Chance<'_> {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        (self.0)(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        (self.0)(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        (self.0)(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rand_core::Error> {
        (self.0)(bytes);
        Ok(())
    }
}

impl rand_core::CryptoRng for Chance<'_> {}
