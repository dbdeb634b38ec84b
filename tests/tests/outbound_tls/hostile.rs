//! A server that knows TLS 1.3 well enough to do it wrong. No library does that.

use aes_gcm::{AeadInPlace as _, Aes128Gcm, KeyInit as _};
use hkdf::Hkdf;
use hmac::{Hmac, Mac as _};
use p256::{
    EncodedPoint, PublicKey, SecretKey,
    ecdh::diffie_hellman,
    ecdsa::{Signature, SigningKey, signature::Signer as _},
};
use sha2::{Digest as _, Sha256};

use crate::wire::Peer;

const ALERT: u8 = 21;
pub(crate) const HANDSHAKE: u8 = 22;
pub(crate) const APPLICATION_DATA: u8 = 23;

/// What it does in its part of the handshake, behind its greeting, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Extensions,
    Certificate,
    /// The proof that it has the key.
    Proof,
    /// A proof made with another key.
    WrongProof,
    Finished,
    /// A record of that kind that says this, and is ciphered.
    Say(u8, &'static [u8]),
    /// The same, not ciphered.
    Shout(u8, &'static [u8]),
    /// A ciphered record with nothing in it, not even what it is.
    Nothing,
    /// A ciphered record with so many zeroes and nothing else.
    Zeroes(usize),
}

/// The server. It answers once the client has finished, and then does the rest.
pub(crate) struct Hostile {
    chain: Vec<Vec<u8>>,
    key: SigningKey,
    steps: Vec<Step>,
    /// What it does when it was asked.
    after: Vec<Step>,
    heard: Vec<u8>,
    said: Vec<u8>,
    transcript: Sha256,
    secret: [u8; 32],
    sending: Option<Keys>,
    receiving: Option<Keys>,
    master: [u8; 32],
    finished: [u8; 32],
    has_shaken_hands: bool,
    /// The client's plaintext, whatever it is.
    pub(crate) request: Vec<u8>,
    is_done: bool,
}

struct Keys {
    cipher: Aes128Gcm,
    nonce: [u8; 12],
    count: u64,
}

impl Keys {
    fn new(secret: &[u8; 32]) -> Self {
        let (mut key, mut nonce) = ([0; 16], [0; 12]);
        expand(secret, b"key", b"", &mut key);
        expand(secret, b"iv", b"", &mut nonce);
        Self { cipher: Aes128Gcm::new(&key.into()), nonce, count: 0 }
    }

    fn next(&mut self) -> [u8; 12] {
        let mut nonce = self.nonce;
        nonce[4..].iter_mut().zip(self.count.to_be_bytes()).for_each(|(byte, count)| *byte ^= count);
        self.count += 1;
        nonce
    }
}

impl Hostile {
    pub(crate) fn new(chain: &[&[u8]], key_der: &[u8], steps: &[Step], after: &[Step]) -> Self {
        // PKCS#8 of these keys has the secret at a known place.
        let at = key_der.windows(2).position(|window| window == [4, 32]).unwrap() + 2;
        Self {
            chain: chain.iter().map(|der| der.to_vec()).collect(),
            key: SigningKey::from_slice(&key_der[at..at + 32]).unwrap(),
            steps: steps.to_vec(),
            after: after.to_vec(),
            heard: Vec::new(),
            said: Vec::new(),
            transcript: Sha256::new(),
            secret: [0; 32],
            sending: None,
            receiving: None,
            master: [0; 32],
            finished: [0; 32],
            has_shaken_hands: false,
            request: Vec::new(),
            is_done: false,
        }
    }

    fn greet(&mut self, hello: &[u8]) {
        let ours = SecretKey::from_slice(&[7; 32]).unwrap();
        // The one key share in there is a point of P-256: 0x0017, 65 bytes, 0x04.
        let at = hello.windows(5).position(|window| window == [0, 0x17, 0, 65, 4]).unwrap() + 4;
        let theirs = PublicKey::from_sec1_bytes(&hello[at..at + 65]).unwrap();
        let shared = diffie_hellman(ours.to_nonzero_scalar(), theirs.as_affine());
        self.transcript.update(hello);
        let mut body = [&[3, 3][..], &[9; 32], &[0, 0x13, 0x01, 0]].concat();
        let share = [&[0, 0x33, 0, 69, 0, 0x17, 0, 65][..], EncodedPoint::from(ours.public_key()).as_bytes()].concat();
        let extensions = [&[0, 0x2b, 0, 2, 3, 4][..], &share].concat();
        body.extend((extensions.len() as u16).to_be_bytes());
        body.extend(extensions);
        let hello = message(2, &body);
        self.transcript.update(&hello);
        self.say_plain(HANDSHAKE, &hello);

        let nothing = Sha256::digest(b"");
        let (early, _) = Hkdf::<Sha256>::extract(None, &[0; 32]);
        let derived = derive(&early.into(), b"derived", &nothing);
        let (secret, _) = Hkdf::<Sha256>::extract(Some(&derived), shared.raw_secret_bytes());
        self.secret = secret.into();
        let until_now = self.transcript.clone().finalize();
        let theirs = derive(&self.secret, b"c hs traffic", &until_now);
        self.finished = derive(&self.secret, b"s hs traffic", &until_now);
        (self.sending, self.receiving) = (Some(Keys::new(&self.finished)), Some(Keys::new(&theirs)));
        let derived = derive(&self.secret, b"derived", &nothing);
        let (master, _) = Hkdf::<Sha256>::extract(Some(&derived), &[0; 32]);
        self.master = master.into();
        for step in self.steps.clone() {
            self.do_step(step);
        }
        // What comes next is with other keys, and theirs come when they have finished.
        let until_now = self.transcript.clone().finalize();
        self.sending = Some(Keys::new(&derive(&self.master, b"s ap traffic", &until_now)));
        self.secret = derive(&self.master, b"c ap traffic", &until_now);
    }

    fn do_step(&mut self, step: Step) {
        let until_now = self.transcript.clone().finalize();
        let proof = |key: &SigningKey| {
            let said = [&[b' '; 64][..], b"TLS 1.3, server CertificateVerify\0", &until_now].concat();
            let signature: Signature = key.sign(&said);
            let der = signature.to_der();
            message(15, &[&[4, 3][..], &(der.as_bytes().len() as u16).to_be_bytes(), der.as_bytes()].concat())
        };
        let said = match step {
            Step::Extensions => message(8, &[0, 0]),
            Step::Certificate => {
                let entries: Vec<u8> =
                    self.chain.iter().flat_map(|der| [&length(der.len())[..], der, &[0, 0]].concat()).collect();
                message(11, &[&[0][..], &length(entries.len()), &entries].concat())
            }
            Step::Proof => proof(&self.key),
            Step::WrongProof => proof(&SigningKey::from_slice(&[5; 32]).unwrap()),
            Step::Finished => {
                let mut key = [0; 32];
                expand(&self.finished, b"finished", b"", &mut key);
                let mac = <Hmac<Sha256> as hmac::Mac>::new_from_slice(&key).unwrap().chain_update(until_now);
                message(20, &mac.finalize().into_bytes())
            }
            Step::Say(kind, said) => return self.say(kind, said),
            Step::Shout(kind, said) => return self.say_plain(kind, said),
            Step::Nothing => return self.cipher(Vec::new()),
            Step::Zeroes(count) => return self.cipher(vec![0; count]),
        };
        self.transcript.update(&said);
        self.say(HANDSHAKE, &said);
    }

    fn say_plain(&mut self, kind: u8, said: &[u8]) {
        self.said.extend([kind, 3, 3]);
        self.said.extend((said.len() as u16).to_be_bytes());
        self.said.extend(said);
    }

    fn say(&mut self, kind: u8, said: &[u8]) {
        self.cipher([said, &[kind]].concat());
    }

    fn cipher(&mut self, mut inside: Vec<u8>) {
        let keys = self.sending.as_mut().unwrap();
        let [high, low] = ((inside.len() + 16) as u16).to_be_bytes();
        let nonce = keys.next();
        keys.cipher.encrypt_in_place(&nonce.into(), &[APPLICATION_DATA, 3, 3, high, low], &mut inside).unwrap();
        self.say_plain(APPLICATION_DATA, &inside);
    }

    fn hear_record(&mut self, kind: u8, mut record: Vec<u8>) {
        match (kind, self.receiving.is_some()) {
            (HANDSHAKE, false) => self.greet(&record),
            (APPLICATION_DATA, true) => {
                let keys = self.receiving.as_mut().unwrap();
                let [high, low] = (record.len() as u16).to_be_bytes();
                let nonce = keys.next();
                let header = [APPLICATION_DATA, 3, 3, high, low];
                if keys.cipher.decrypt_in_place(&nonce.into(), &header, &mut record).is_err() {
                    // Both understand different things: nothing comes of it.
                    self.is_done = true;
                    return;
                }
                if !self.has_shaken_hands {
                    self.has_shaken_hands = true;
                    self.receiving = Some(Keys::new(&self.secret));
                    return;
                }
                if record.pop() != Some(APPLICATION_DATA) {
                    return;
                }
                self.request.extend(record);
                if self.request.ends_with(b"}") {
                    for step in core::mem::take(&mut self.after) {
                        self.do_step(step);
                    }
                    self.is_done = true;
                }
            }
            _ => assert_eq!(kind, ALERT),
        }
    }
}

impl Peer for Hostile {
    fn hear(&mut self, bytes: &[u8]) {
        self.heard.extend(bytes);
        while let [kind, _, _, high, low, rest @ ..] = &self.heard[..] {
            let bytes = usize::from(u16::from_be_bytes([*high, *low]));
            if rest.len() < bytes {
                return;
            }
            let (kind, record) = (*kind, rest[..bytes].to_vec());
            self.heard.drain(..5 + bytes);
            self.hear_record(kind, record);
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Option<usize> {
        if self.said.is_empty() {
            return self.is_done.then_some(0);
        }
        let now = self.said.len().min(out.len());
        out[..now].copy_from_slice(&self.said[..now]);
        self.said.drain(..now);
        Some(now)
    }
}

fn length(bytes: usize) -> [u8; 3] {
    let [_, a, b, c] = (bytes as u32).to_be_bytes();
    [a, b, c]
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &length(body.len()), body].concat()
}

fn derive(secret: &[u8; 32], label: &[u8], context: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    expand(secret, label, context, &mut out);
    out
}

/// HKDF-Expand-Label (RFC 8446 §7.1).
fn expand(secret: &[u8; 32], label: &[u8], context: &[u8], out: &mut [u8]) {
    let length = (out.len() as u16).to_be_bytes();
    let label_bytes = [label.len() as u8 + 6];
    let info = [&length[..], &label_bytes, b"tls13 ", label, &[context.len() as u8], context];
    Hkdf::<Sha256>::from_prk(secret).unwrap().expand(&info.concat(), out).unwrap();
}
