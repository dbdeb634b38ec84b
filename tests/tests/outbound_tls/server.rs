//! A server with TLS by rustls, and certificates that are made on the spot.

use std::{
    io::{Read as _, Write as _},
    sync::Arc,
};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SignatureAlgorithm, date_time_ymd,
};
use rustls::{
    ServerConfig, ServerConnection,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    sign::{CertifiedKey, SingleCertAndKey},
};

use crate::wire::Peer;

/// Somebody with a certificate.
pub(crate) struct Party {
    pub(crate) der: CertificateDer<'static>,
    params: CertificateParams,
    key: KeyPair,
}

impl Party {
    /// An authority that nobody has issued.
    pub(crate) fn root(name: &str, algorithm: &'static SignatureAlgorithm) -> Self {
        let (params, key) = (authority(name), KeyPair::generate_for(algorithm).unwrap());
        Self { der: params.self_signed(&key).unwrap().der().clone(), params, key }
    }

    pub(crate) fn issue(&self, params: CertificateParams, algorithm: &'static SignatureAlgorithm) -> Self {
        let key = KeyPair::generate_for(algorithm).unwrap();
        let issuer = Issuer::from_params(&self.params, &self.key);
        Self { der: params.signed_by(&key, &issuer).unwrap().der().clone(), params, key }
    }

    /// Its key, as PKCS#8.
    pub(crate) fn key_der(&self) -> Vec<u8> {
        self.key.serialize_der()
    }

    /// Issues a certificate for a server, with a key of the usual kind.
    pub(crate) fn serve(&self, names: &[&str]) -> Self {
        self.issue(server(names), &PKCS_ECDSA_P256_SHA256)
    }
}

/// What an authority says about itself.
pub(crate) fn authority(name: &str) -> CertificateParams {
    let mut params = dated(CertificateParams::default());
    params.distinguished_name = named(name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// The same with a difference.
pub(crate) fn but(mut params: CertificateParams, change: impl FnOnce(&mut CertificateParams)) -> CertificateParams {
    change(&mut params);
    params
}

/// What a server says about itself.
pub(crate) fn server(names: &[&str]) -> CertificateParams {
    let names = names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut params = dated(CertificateParams::new(names).unwrap());
    params.distinguished_name = named("a server");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params
}

pub(crate) fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

fn dated(mut params: CertificateParams) -> CertificateParams {
    (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2027, 1, 1));
    params
}

/// A server that answers one request.
pub(crate) struct Server {
    tls: ServerConnection,
    answer: String,
    /// What it was asked.
    pub(crate) heard: Vec<u8>,
    has_answered: bool,
    says_goodbye: bool,
    outgoing: Vec<u8>,
}

impl Server {
    /// The first party is the server, the others are shown with it.
    pub(crate) fn new(chain: &[&Party]) -> Self {
        Self::with(chain, |_| {})
    }

    pub(crate) fn with(chain: &[&Party], change: impl FnOnce(&mut ServerConfig)) -> Self {
        let certificates = chain.iter().map(|party| party.der.clone()).collect();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(chain[0].key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        // Not as a proper server does, which looks at what it shows.
        let key = provider.key_provider.load_private_key(key).unwrap();
        let shown = SingleCertAndKey::from(CertifiedKey::new(certificates, key));
        let config = ServerConfig::builder_with_provider(provider).with_protocol_versions(rustls::ALL_VERSIONS);
        let mut config = config.unwrap().with_no_client_auth().with_cert_resolver(Arc::new(shown));
        change(&mut config);
        Self {
            tls: ServerConnection::new(Arc::new(config)).unwrap(),
            answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".into(),
            heard: Vec::new(),
            has_answered: false,
            says_goodbye: true,
            outgoing: Vec::new(),
        }
    }

    pub(crate) fn answering(self, answer: impl Into<String>) -> Self {
        Self { answer: answer.into(), ..self }
    }

    pub(crate) fn hanging_up(self) -> Self {
        Self { says_goodbye: false, ..self }
    }
}

impl Peer for Server {
    fn hear(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            self.tls.read_tls(&mut bytes).unwrap();
            // What is wrong is said by an alert.
            let _ = self.tls.process_new_packets();
        }
        let mut plain = [0; 4096];
        while let Ok(read @ 1..) = self.tls.reader().read(&mut plain) {
            self.heard.extend_from_slice(&plain[..read]);
        }
        if self.heard.ends_with(b"}") && !self.has_answered {
            self.has_answered = true;
            self.tls.writer().write_all(self.answer.as_bytes()).unwrap();
            if self.says_goodbye {
                self.tls.send_close_notify();
            }
        }
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.outgoing).unwrap();
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Option<usize> {
        if self.outgoing.is_empty() {
            return self.has_answered.then_some(0);
        }
        let now = self.outgoing.len().min(out.len());
        out[..now].copy_from_slice(&self.outgoing[..now]);
        self.outgoing.drain(..now);
        Some(now)
    }
}
