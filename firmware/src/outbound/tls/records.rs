//! What reaches embedded-tls. Some records make it panic, and some it takes from whoever is in between: both stay here.
//!
//! | what comes | what embedded-tls 0.19 would do |
//! | --- | --- |
//! | an encrypted record with nothing in it | panic |
//! | another message of the handshake when it is over, in the clear or not | panic |
//! | an alert in the clear when nothing is any more | believe it, and take half an answer for all of it |
//!
//! Records in the clear are seen where bytes come in, those that are not where they are deciphered. What is to be told
//! from here to there goes along in the version of a record's head, which nobody else reads.

use core::cell::Cell;

use aes_gcm::{
    AeadCore, AeadInPlace, Aes128Gcm, Error as Undeciphered, KeyInit, KeySizeUser, Nonce, Tag,
    aead::{
        consts::{U0, U12, U16},
        generic_array::GenericArray,
    },
};
use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use embedded_tls::{Aes128GcmSha256, TlsCipherSuite};

const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const APPLICATION_DATA: u8 = 23;
const NEW_SESSION_TICKET: u8 = 4;

/// The version of every record, and the one that says that the handshake is over.
const VERSION: u8 = 3;
const IS_OPEN: u8 = 0x13;

/// A socket, record by record.
pub(in super::super) struct Records<'s, S> {
    socket: &'s mut S,
    is_open: &'s Cell<bool>,
    header: [u8; 5],
    /// How much of the header is there.
    headed: usize,
    /// What is left of the record behind it.
    left: usize,
    has_greeted: bool,
    is_ciphered: bool,
}

impl<'s, S> Records<'s, S> {
    /// `is_open` is to be set when the handshake is over.
    pub(super) fn new(socket: &'s mut S, is_open: &'s Cell<bool>) -> Self {
        Self { socket, is_open, header: [0; 5], headed: 0, left: 0, has_greeted: false, is_ciphered: false }
    }

    /// May such a record come now?
    fn admit(&mut self) -> bool {
        let [kind, _, _, high, low] = self.header;
        self.left = usize::from(u16::from_be_bytes([high, low]));
        match kind {
            // The other side's greeting, once; the rest of the handshake is not in the clear.
            HANDSHAKE => !self.is_ciphered && !core::mem::replace(&mut self.has_greeted, true),
            ALERT => !self.is_ciphered,
            // It means nothing, and is sent for the sake of what is in between.
            CHANGE_CIPHER_SPEC => !self.is_ciphered && self.left == 1,
            APPLICATION_DATA => {
                self.is_ciphered = true;
                self.has_greeted
            }
            _ => false,
        }
    }
}

impl<S: Read> ErrorType for Records<'_, S> {
    type Error = ErrorKind;
}

impl<S: Read> Read for Records<'_, S> {
    async fn read(&mut self, out: &mut [u8]) -> Result<usize, ErrorKind> {
        if self.headed == self.header.len() && self.left == 0 {
            self.headed = 0;
        }
        let is_header = self.headed < self.header.len();
        let wanted = if is_header { self.header.len().saturating_sub(self.headed) } else { self.left };
        let wanted = wanted.min(out.len());
        let out = out.get_mut(..wanted).unwrap_or_default();
        let received = self.socket.read(out).await.map_err(|_| ErrorKind::ConnectionReset)?;
        if !is_header {
            self.left = self.left.saturating_sub(received);
            return Ok(received);
        }
        for byte in out.iter_mut().take(received) {
            if let Some(place) = self.header.get_mut(self.headed) {
                *place = *byte;
            }
            if self.headed == 2 {
                *byte = if self.is_open.get() { IS_OPEN } else { VERSION };
            }
            self.headed = self.headed.saturating_add(1);
        }
        if self.headed == self.header.len() && !self.admit() {
            return Err(ErrorKind::InvalidData);
        }
        Ok(received)
    }
}

impl<S: Read + Write> Write for Records<'_, S> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        match self.socket.write(bytes).await {
            // Whoever calls would panic.
            Ok(0) if !bytes.is_empty() => Err(ErrorKind::WriteZero),
            Ok(written) => Ok(written),
            Err(_) => Err(ErrorKind::ConnectionReset),
        }
    }

    /// Nothing is held back, and nobody waits for an acknowledgement.
    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// TLS_AES_128_GCM_SHA256, with a look at what was deciphered.
pub(in super::super) struct Suite;

impl TlsCipherSuite for Suite {
    const CODE_POINT: u16 = Aes128GcmSha256::CODE_POINT;
    type Cipher = Careful;
    type KeyLen = <Aes128GcmSha256 as TlsCipherSuite>::KeyLen;
    type IvLen = <Aes128GcmSha256 as TlsCipherSuite>::IvLen;
    type Hash = <Aes128GcmSha256 as TlsCipherSuite>::Hash;
    type LabelBufferSize = <Aes128GcmSha256 as TlsCipherSuite>::LabelBufferSize;
}

/// AES-128-GCM; what it deciphers has something in it, and no surprises when the handshake is over.
pub(in super::super) struct Careful(Aes128Gcm);

impl KeySizeUser for Careful {
    type KeySize = U16;
}

impl KeyInit for Careful {
    fn new(key: &GenericArray<u8, U16>) -> Self {
        Self(Aes128Gcm::new(key))
    }
}

impl AeadCore for Careful {
    type NonceSize = U12;
    type TagSize = U16;
    type CiphertextOverhead = U0;
}

impl AeadInPlace for Careful {
    fn encrypt_in_place_detached(
        &self,
        nonce: &Nonce<U12>,
        associated: &[u8],
        buffer: &mut [u8],
    ) -> Result<Tag, Undeciphered> {
        self.0.encrypt_in_place_detached(nonce, associated, buffer)
    }

    fn decrypt_in_place_detached(
        &self,
        nonce: &Nonce<U12>,
        associated: &[u8],
        buffer: &mut [u8],
        tag: &Tag,
    ) -> Result<(), Undeciphered> {
        let &[kind, major, mark, high, low] = associated else { return Err(Undeciphered) };
        let header = [kind, major, VERSION, high, low];
        self.0.decrypt_in_place_detached(nonce, &header, buffer, tag)?;
        // Behind what is said comes what it is, and then any number of zeroes (RFC 8446 §5.2).
        let at = buffer.iter().rposition(|byte| *byte != 0).ok_or(Undeciphered)?;
        if mark == IS_OPEN && buffer.get(at) == Some(&HANDSHAKE) {
            // A ticket to come back with: nobody here comes back. Nothing else was asked for.
            if buffer.first() != Some(&NEW_SESSION_TICKET) {
                return Err(Undeciphered);
            }
            buffer.fill(0);
            if let Some(first) = buffer.first_mut() {
                *first = APPLICATION_DATA;
            }
        }
        Ok(())
    }
}
