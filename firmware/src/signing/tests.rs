//! Tokens that a receiver would accept, keys that outlive a restart, and what becomes of both when the power goes.

extern crate std;

use std::{format, string::String, vec, vec::Vec};

use base64ct::{Base64UrlUnpadded, Encoding as _};
use p256::ecdsa::{Signature, VerifyingKey, signature::hazmat::PrehashVerifier as _};
use protocol_core::{
    json::Json,
    time::{Entropy as _, UnixMillis},
};
use sha2::{Digest as _, Sha256};

use super::{jwks::PublicKey, *};
use crate::{
    board::Key,
    simulated::{
        SplitMix,
        flash::{PAGE_BYTES, RamFlash},
    },
    store::{Store, VALUE_MAX},
};

const FLASH_BYTES: usize = 2 * PAGE_BYTES;

const CLAIMS: Claims<'static> = Claims {
    iat: Some(UnixMillis(1_767_225_600_999)),
    jti: "task-1.7",
    task: "task-1",
    audience: "https://receiver.example/hook?a=b",
    body_digest: &[0xab; 32],
};

fn blank() -> Vec<u8> {
    vec![0xff; FLASH_BYTES]
}

fn open(memory: &mut [u8]) -> Store<RamFlash<&mut [u8]>> {
    Store::new(RamFlash::new(memory), 0..FLASH_BYTES as u32)
}

fn recall(store: &Store<RamFlash<&mut [u8]>>, seed: u64) -> Recalled {
    let mut chance = SplitMix::new(seed);
    Signer::recall(store, None, |bytes| chance.fill(bytes)).expect("there is chance enough")
}

fn rotate(signer: &Signer, store: &Store<RamFlash<&mut [u8]>>, seed: u64) -> Result<(), Trouble> {
    let mut chance = SplitMix::new(seed);
    signer.rotate(store, |bytes| chance.fill(bytes))
}

fn sign(signer: &Signer, claims: &Claims<'_>) -> String {
    token(&signer.seal(claims).expect("it has a key"), claims)
}

fn token(seal: &Seal<'_>, claims: &Claims<'_>) -> String {
    let mut token = String::new();
    seal.write_token(&mut |text: &str| token.push_str(text), claims);
    token
}

fn jwks(signer: &Signer, piece: usize) -> String {
    let mut set = signer.published();
    let (mut text, mut piece) = (Vec::new(), vec![0; piece]);
    while let filled @ 1.. = set.fill(&mut piece) {
        text.extend_from_slice(&piece[..filled]);
    }
    String::from_utf8(text).expect("it is text")
}

fn decode(text: &str) -> Vec<u8> {
    let mut bytes = vec![0; text.len()];
    Base64UrlUnpadded::decode(text, &mut bytes).expect("base64url").to_vec()
}

fn encode(bytes: &[u8]) -> String {
    let mut text = vec![0; bytes.len() * 2 + 2];
    Base64UrlUnpadded::encode(bytes, &mut text).expect("there is room").into()
}

fn member(json: Json<'_>, name: &str) -> Option<String> {
    json.member(name)?.text().map(|text| text.chars().collect())
}

/// The keys of a set, by their names.
fn keys(set: &str) -> Vec<(String, VerifyingKey)> {
    let set = Json::parse(set.as_bytes()).expect("JSON");
    let of = |key| {
        for (name, value) in [("kty", "EC"), ("crv", "P-256"), ("use", "sig"), ("alg", "ES256")] {
            assert_eq!(member(key, name).as_deref(), Some(value));
        }
        let [x, y] = ["x", "y"].map(|name| decode(&member(key, name).expect("a coordinate")));
        let point = p256::EncodedPoint::from_affine_coordinates((&*x).into(), (&*y).into(), false);
        (member(key, "kid").expect("a name"), VerifyingKey::from_encoded_point(&point).expect("a point of the curve"))
    };
    set.member("keys").expect("keys").items().map(of).collect()
}

/// Checks a token as a receiver does, and gives its claims.
fn verify(token: &str, set: &str) -> Option<String> {
    let [header, claims, signature] = token.split('.').collect::<Vec<_>>().try_into().expect("three parts");
    let text = decode(header);
    let kid = member(Json::parse(&text).expect("JSON"), "kid")?;
    let (_, key) = keys(set).into_iter().find(|(name, _)| *name == kid)?;
    let signature = Signature::from_slice(&decode(signature)).ok()?;
    key.verify_prehash(&Sha256::digest(format!("{header}.{claims}")), &signature).ok()?;
    String::from_utf8(decode(claims)).ok()
}

#[test]
fn a_receiver_can_check_a_token_and_read_its_claims() {
    let mut memory = blank();
    let Recalled { signer, made } = recall(&open(&mut memory), 1);
    assert_eq!(made, Some(Made { was_damaged: false, kept: Ok(()) }));
    let (set, token) = (jwks(&signer, 64), sign(&signer, &CLAIMS));
    let [(kid, _)] = <[_; 1]>::try_from(keys(&set)).expect("one key");
    let digest = "ab".repeat(32);
    assert_eq!(
        verify(&token, &set),
        Some(format!(
            r#"{{"iss":"urn:ietf:params:oauth:jwk-thumbprint:sha-256:{kid}","iat":1767225600,"exp":1767225900,"jti":"task-1.7","aud":"https://receiver.example/hook?a=b","taskId":"task-1","request_body_sha256":"{digest}"}}"#
        ))
    );
    let header = decode(token.split('.').next().expect("a header"));
    assert_eq!(header, format!(r#"{{"alg":"ES256","typ":"JWT","kid":"{kid}"}}"#).as_bytes());
    // Nobody needs chance to sign, and the same is signed in the same way.
    assert_eq!(token, sign(&signer, &CLAIMS));
}

#[test]
fn whatever_is_changed_in_a_token_it_is_refused() {
    let mut memory = blank();
    let Recalled { signer, .. } = recall(&open(&mut memory), 1);
    let (set, token) = (jwks(&signer, 64), sign(&signer, &CLAIMS));
    let (signed, signature) = token.rsplit_once('.').expect("a signature");
    let claims = verify(&token, &set).expect("a good one");
    let other = claims.replace("task-1\"", "task-2\"");
    assert_ne!(claims, other);
    let header = signed.split('.').next().expect("a header");
    let forged = format!("{header}.{}.{signature}", encode(other.as_bytes()));
    assert_eq!(verify(&forged, &set), None);
    let mut bytes = decode(signature);
    bytes[40] ^= 1;
    assert_eq!(verify(&format!("{signed}.{}", encode(&bytes)), &set), None);
    let mut memory = blank();
    let stranger = recall(&open(&mut memory), 2).signer;
    assert_eq!(verify(&sign(&stranger, &CLAIMS), &set), None);
}

#[test]
fn without_the_time_there_is_none_in_a_token() {
    let mut memory = blank();
    let Recalled { signer, .. } = recall(&open(&mut memory), 1);
    let claims = verify(&sign(&signer, &Claims { iat: None, ..CLAIMS }), &jwks(&signer, 64)).expect("a good one");
    assert!(!claims.contains("\"iat\"") && !claims.contains("\"exp\"") && claims.contains(r#""jti":"task-1.7""#));
}

#[test]
fn a_device_that_has_a_url_is_named_by_it_if_it_is_a_plain_one() {
    let issuer = |url: String| {
        let mut memory = blank();
        let store = open(&mut memory);
        let mut chance = SplitMix::new(1);
        let url: &'static str = url.leak();
        let signer = Signer::recall(&store, Some(url), |bytes| chance.fill(bytes)).expect("chance").signer;
        let claims = verify(&sign(&signer, &CLAIMS), &jwks(&signer, 64)).expect("a good one");
        member(Json::parse(claims.as_bytes()).expect("JSON"), "iss").expect("an issuer")
    };
    assert_eq!(issuer("https://mote.example/".into()), "https://mote.example/");
    let longest = format!("https://{}", "m".repeat(ISSUER_MAX - "https://".len()));
    assert_eq!(issuer(longest.clone()), longest);
    for strange in [format!("{longest}m"), "https://mote.example/\"".into(), "\u{1}".into(), "".into()] {
        assert!(issuer(strange).starts_with("urn:ietf:params:oauth:jwk-thumbprint:sha-256:"));
    }
}

/// The key and the thumbprint of RFC 7517 A.1 and RFC 7515 A.3: the same point, whose thumbprint others have calculated, too.
#[test]
fn a_thumbprint_is_the_one_that_others_calculate() {
    let [x, y] = ["f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"]
        .map(|text| decode(text).try_into().expect("32 bytes"));
    assert_eq!(PublicKey::new(x, y).kid.as_str(), "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U");
}

/// RFC 7515 A.3: a key and a signature that was made with another nonce.
#[test]
fn the_signature_of_the_standard_is_one() {
    const SIGNED: &str = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    const SIGNATURE: &str = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    let mut memory = blank();
    let store = open(&mut memory);
    let secret = decode("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI");
    store.save(Key::SIGNING, &secret).expect("there is room");
    let Recalled { signer, made } = recall(&store, 1);
    assert_eq!(made, None);
    let [(kid, key)] = <[_; 1]>::try_from(keys(&jwks(&signer, 64))).expect("one key");
    assert_eq!(kid, "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U");
    let signature = Signature::from_slice(&decode(SIGNATURE)).expect("a signature");
    key.verify_prehash(&Sha256::digest(SIGNED), &signature).expect("it is a good one");
}

/// RFC 7515 A.1: its claims have spaces and line breaks that ours have not, so only the signature is compared.
#[test]
fn a_shared_secret_signs_as_the_standard_says() {
    const SIGNED: &str = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let key = decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
    let tag = |signed: &str| {
        use hmac::{Hmac, Mac as _};
        let mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key").chain_update(signed);
        encode(&mac.finalize().into_bytes())
    };
    assert_eq!(tag(SIGNED), "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");

    let token = token(&seal_shared(&key, None, &CLAIMS).expect("a key"), &CLAIMS);
    let (signed, signature) = token.rsplit_once('.').expect("a signature");
    assert_eq!(signature, tag(signed));
    let (header, claims) = signed.split_once('.').expect("a header");
    assert_eq!(decode(header), br#"{"alg":"HS256","typ":"JWT"}"#);
    let claims = String::from_utf8(decode(claims)).expect("text");
    assert!(claims.starts_with(r#"{"iat":1767225600,"exp":1767225900,"jti":"task-1.7","aud":"#), "{claims}");
    let named =
        super::tests::token(&seal_shared(&key, Some("https://mote.example/"), &CLAIMS).expect("a key"), &CLAIMS);
    assert!(decode(named.split('.').nth(1).expect("claims")).starts_with(br#"{"iss":"https://mote.example/","iat""#));
}

#[test]
fn texts_that_want_to_break_out_stay_texts() {
    let mut memory = blank();
    let Recalled { signer, .. } = recall(&open(&mut memory), 1);
    let set = jwks(&signer, 64);
    let hostile = ["\",\"aud\":\"x", "\\", "\u{0}\u{1f}\r\n", "\u{85}\u{2028}ä€😀", ""];
    for jti in hostile {
        for audience in hostile {
            let claims = Claims { jti, audience, task: jti, ..CLAIMS };
            let claims = verify(&sign(&signer, &claims), &set).expect("a good one");
            let claims = Json::parse(claims.as_bytes()).expect("JSON");
            for (name, value) in [("jti", jti), ("aud", audience), ("taskId", jti)] {
                assert_eq!(member(claims, name).as_deref(), Some(value));
            }
        }
    }
}

#[test]
fn a_token_is_the_same_whenever_it_is_written_also_when_the_key_has_changed() {
    let mut memory = blank();
    let store = open(&mut memory);
    let Recalled { signer, .. } = recall(&store, 1);
    let seal = signer.seal(&CLAIMS).expect("a key");
    let first = token(&seal, &CLAIMS);
    rotate(&signer, &store, 2).expect("there is room");
    assert_eq!(token(&seal, &CLAIMS), first);
    assert!(verify(&first, &jwks(&signer, 64)).is_some());
    assert_ne!(sign(&signer, &CLAIMS), first);
}

#[test]
fn a_token_has_characters_that_a_header_may_have_whatever_is_in_it() {
    let mut memory = blank();
    let Recalled { signer, .. } = recall(&open(&mut memory), 1);
    for text in ["\u{0}", "\"", "\\", "\u{7f}", "\u{85}", "\u{2028}", "😀", "a", "/", "\n"] {
        let text = text.repeat(64);
        let claims = Claims { iat: Some(UnixMillis(u64::MAX)), jti: &text, task: &text, audience: &text, ..CLAIMS };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        for token in [sign(&signer, &claims), token(&seal_shared(b"secret", None, &claims).expect("a key"), &claims)] {
            assert!(token.bytes().all(is_plain), "{token}");
            assert_eq!(token.split('.').count(), 3);
        }
    }
}

#[test]
fn the_set_is_the_same_in_pieces_of_any_size() {
    let mut memory = blank();
    let store = open(&mut memory);
    let Recalled { signer, .. } = recall(&store, 1);
    rotate(&signer, &store, 2).expect("there is room");
    let whole = jwks(&signer, 1024);
    assert_eq!(keys(&whole).len(), 2);
    for piece in [1, 2, 3, 7, 64, 224, 500] {
        assert_eq!(jwks(&signer, piece), whole);
    }
}

#[test]
fn a_key_outlives_a_restart_and_a_change_keeps_the_one_before_published() {
    let mut memory = blank();
    let store = open(&mut memory);
    let Recalled { signer, .. } = recall(&store, 1);
    let first = sign(&signer, &CLAIMS);
    rotate(&signer, &store, 2).expect("there is room");
    let second = sign(&signer, &CLAIMS);
    let set = jwks(&signer, 64);
    assert!(verify(&first, &set).is_some() && verify(&second, &set).is_some());
    assert_ne!(first, second);

    let store = open(&mut memory);
    let Recalled { signer, made } = recall(&store, 3);
    assert_eq!((made, jwks(&signer, 64), sign(&signer, &CLAIMS)), (None, set, second.clone()));

    rotate(&signer, &store, 4).expect("there is room");
    let set = jwks(&signer, 64);
    assert_eq!(keys(&set).len(), 2);
    assert!(verify(&first, &set).is_none() && verify(&second, &set).is_some());
    // Of the key before only the public half is left.
    let mut kept = [0; VALUE_MAX];
    assert_eq!(store.load(Key::SIGNED_BEFORE, &mut kept), Some(PublicKey::BYTES));
}

#[test]
fn what_is_kept_and_is_no_key_is_replaced_and_told() {
    for damage in [&[0; 32][..], &[0xff; 32], &[7; 31], &[7; 33], b"x", &[7; VALUE_MAX]] {
        let mut memory = blank();
        let store = open(&mut memory);
        store.save(Key::SIGNING, damage).expect("there is room");
        store.save(Key::SIGNED_BEFORE, damage).expect("there is room");
        let Recalled { signer, made } = recall(&store, 1);
        assert_eq!(made, Some(Made { was_damaged: true, kept: Ok(()) }), "{damage:?}");
        let set = jwks(&signer, 64);
        assert_eq!(keys(&set).len(), 1);
        assert!(verify(&sign(&signer, &CLAIMS), &set).is_some());
        assert_eq!(recall(&open(&mut memory), 2).made, None, "the new one is kept");
    }
}

#[test]
fn a_board_without_chance_gets_no_key_and_keeps_the_one_it_has() {
    for chance in [0, 0xff] {
        let mut memory = blank();
        let store = open(&mut memory);
        assert!(Signer::recall(&store, None, |bytes| bytes.fill(chance)).is_err());
        let Recalled { signer, .. } = recall(&store, 1);
        let set = jwks(&signer, 64);
        assert!(signer.rotate(&store, |bytes| bytes.fill(chance)).is_err());
        assert_eq!(jwks(&signer, 64), set);
    }
}

#[test]
fn wherever_the_power_goes_what_was_signed_last_can_be_checked() {
    let mut memory = blank();
    let Recalled { signer, .. } = recall(&open(&mut memory), 1);
    let before = sign(&signer, &CLAIMS);
    for steps in 0.. {
        let mut after = memory.clone();
        let mut flash = RamFlash::new(&mut after[..]);
        flash.cut_after(steps);
        let store = Store::new(flash, 0..FLASH_BYTES as u32);
        let signer = recall(&store, 2).signer;
        let done = rotate(&signer, &store, 3).is_ok();
        let now = sign(&signer, &CLAIMS);
        assert_eq!(done, now != before, "a change that is not kept is none");
        let store = open(&mut after);
        let Recalled { signer, made } = recall(&store, 4);
        assert_eq!(made, None);
        let set = jwks(&signer, 64);
        assert!(verify(&now, &set).is_some() && verify(&before, &set).is_some(), "cut after {steps}");
        let names: Vec<_> = keys(&set).into_iter().map(|(kid, _)| kid).collect();
        assert!(names.len() == 1 || names[0] != names[1], "cut after {steps}");
        if done {
            assert!(steps > 10);
            break;
        }
    }
}

#[test]
fn a_flash_that_takes_nothing_is_told() {
    let mut memory = blank();
    let mut flash = RamFlash::new(&mut memory[..]);
    flash.cut_after(0);
    let store = Store::new(flash, 0..FLASH_BYTES as u32);
    let Recalled { signer, made } = recall(&store, 1);
    assert!(made.is_some_and(|made| made.kept.is_err()));
    assert!(verify(&sign(&signer, &CLAIMS), &jwks(&signer, 64)).is_some());
}

#[test]
fn nothing_that_is_printed_has_the_secret() {
    let mut memory = blank();
    let store = open(&mut memory);
    let Recalled { signer, .. } = recall(&store, 1);
    let [(kid, _)] = <[_; 1]>::try_from(keys(&jwks(&signer, 64))).expect("one key");
    assert_eq!(format!("{signer:?}"), format!("Signer({kid})"));
}
