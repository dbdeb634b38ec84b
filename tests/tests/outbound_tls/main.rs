//! Calls over TLS: to servers that are who they should be, and to all others.

mod hostile;
mod server;
mod wire;

use firmware::outbound::{Failure, Unreachable, Unsecured, Untrusted};
use protocol_core::time::UnixMillis;
use rcgen::{
    BasicConstraints, CustomExtension, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, KeyUsagePurpose, NameConstraints,
    PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, date_time_ymd,
};

use crate::{
    hostile::{APPLICATION_DATA, HANDSHAKE, Hostile, Step},
    server::{Party, Server, authority, but, named, server},
    wire::{Call, NOW, Peer},
};

const P256: &rcgen::SignatureAlgorithm = &PKCS_ECDSA_P256_SHA256;
const P384: &rcgen::SignatureAlgorithm = &PKCS_ECDSA_P384_SHA384;

/// Calls a server with this chain, trusting this root.
fn call(chain: &[&Party], root: &Party) -> Result<String, Failure> {
    Call { roots: &[&root.der], ..Call::PLAIN }.make(Server::new(chain)).0.map(|(_, body)| body)
}

/// The reason for not trusting it. Nothing of the request may have been sent.
fn refusal(chain: &[&Party], root: &Party) -> Untrusted {
    let (called, server) = Call { roots: &[&root.der], ..Call::PLAIN }.make(Server::new(chain));
    assert!(server.heard.is_empty(), "somebody who is not trusted has heard something");
    match called.unwrap_err() {
        Failure::Untrusted(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_is_who_it_should_be_is_told_everything() {
    let root = Party::root("root", P256);
    let hook = root.serve(&["hook.example"]);
    let body = [b"{".to_vec(), vec![b'x'; 5000], b"}".to_vec()].concat();
    let (called, server) = Call { roots: &[&root.der], body: &body, ..Call::PLAIN }.make(Server::new(&[&hook]));
    let (answer, text) = called.unwrap();
    assert_eq!((answer.status, answer.is_whole, &*text), (200, true, "hello"));
    let heard = String::from_utf8(server.heard).unwrap();
    assert!(heard.starts_with("POST /a HTTP/1.1\r\nHost: hook.example\r\n"), "{heard}");
    assert!(heard.ends_with(&String::from_utf8(body).unwrap()));
}

#[test]
fn both_curves_and_intermediate_authorities_will_do() {
    for (of_root, of_authority, of_server) in
        [(P256, P256, P256), (P384, P384, P256), (P384, P256, P384), (P256, P384, P384)]
    {
        let root = Party::root("root", of_root);
        let middle = root.issue(authority("middle"), of_authority);
        let lower = middle.issue(authority("lower"), of_authority);
        let hook = lower.issue(server(&["hook.example"]), of_server);
        assert_eq!(call(&[&hook, &lower, &middle], &root).unwrap(), "hello");
        // In any order, with the root and with some that have nothing to do with it.
        let other = Party::root("other", P256);
        assert_eq!(call(&[&hook, &other, &root, &middle, &lower], &root).unwrap(), "hello");
        // One that is missing, and one that is too many.
        assert_eq!(refusal(&[&hook, &middle], &root), Untrusted::Issuer);
        let lowest = lower.issue(authority("lowest"), P256);
        let deep = lowest.serve(&["hook.example"]);
        assert_eq!(refusal(&[&deep, &lowest, &lower, &middle], &root), Untrusted::Issuer);
    }
}

#[test]
fn one_of_several_roots_is_enough_even_if_they_share_a_name() {
    let [one, two, three] = ["root", "root", "elsewhere"].map(|name| Party::root(name, P256));
    let hook = two.serve(&["hook.example"]);
    let roots: &[&[u8]] = &[&three.der, &one.der, &two.der];
    assert_eq!(Call { roots, ..Call::PLAIN }.make(Server::new(&[&hook])).0.unwrap().1, "hello");
    // The same name, and not the key: whoever calls itself so is not.
    assert_eq!(refusal(&[&hook], &one), Untrusted::Issuer);
    assert_eq!(refusal(&[&hook], &three), Untrusted::Issuer);
    assert_eq!(refusal(&[&hook, &two], &one), Untrusted::Issuer);
    let nobody = Call { roots: &[], ..Call::PLAIN }.make(Server::new(&[&hook])).0;
    assert_eq!(nobody.unwrap_err(), Failure::Untrusted(Untrusted::Issuer));
}

#[test]
fn a_certificate_that_is_trusted_itself_needs_nobody_and_vouches_for_nobody() {
    let root = Party::root("root", P256);
    let hook = root.serve(&["hook.example"]);
    assert_eq!(call(&[&hook], &hook).unwrap(), "hello");
    let below = hook.serve(&["hook.example"]);
    assert_eq!(refusal(&[&below], &hook), Untrusted::NotAnAuthority);
}

#[test]
fn only_the_names_that_it_is_for_will_do() {
    let root = Party::root("root", P256);
    for names in [&["other.example"][..], &["*.hook.example"], &["9.9.9.1"], &[]] {
        assert_eq!(refusal(&[&root.serve(names)], &root), Untrusted::Name, "{names:?}");
    }
    // The name of the subject is no name of a host.
    let subject = but(server(&["other.example"]), |params| params.distinguished_name = named("hook.example"));
    assert_eq!(refusal(&[&root.issue(subject, P256)], &root), Untrusted::Name);
    let many = root.serve(&["a.example", "b.example", "c.example", "d.example", "e.example", "HOOK.example"]);
    assert_eq!(call(&[&many], &root).unwrap(), "hello");
    let starred = root.serve(&["*.hooks.example", "9.9.9.1"]);
    for (url, is_it) in [
        ("https://one.hooks.example/", true),
        ("https://one.two.hooks.example/", false),
        ("https://hooks.example/", false),
        ("https://9.9.9.1/", true),
        ("https://9.9.9.2/", false),
    ] {
        let called = Call { url, roots: &[&root.der], ..Call::PLAIN }.make(Server::new(&[&starred])).0;
        assert_eq!(called.err(), (!is_it).then_some(Failure::Untrusted(Untrusted::Name)), "{url}");
    }
}

#[test]
fn times_are_checked_if_the_time_is_known() {
    let root = Party::root("root", P256);
    let dated = |times, params| but(params, |params| (params.not_before, params.not_after) = times);
    let past = (date_time_ymd(2025, 1, 1), date_time_ymd(2026, 1, 1));
    let future = (date_time_ymd(2027, 1, 1), date_time_ymd(2052, 1, 1));
    for (times, why) in [(past, Untrusted::Expired), (future, Untrusted::NotYetValid)] {
        let hook = root.issue(dated(times, server(&["hook.example"])), P256);
        assert_eq!(refusal(&[&hook], &root), why);
        let unknown = Call { now: None, roots: &[&root.der], ..Call::PLAIN };
        assert_eq!(unknown.make(Server::new(&[&hook])).0.unwrap().1, "hello");
        // Everybody on the way up counts.
        let middle = root.issue(dated(times, authority("middle")), P256);
        let hook = middle.serve(&["hook.example"]);
        assert_eq!(refusal(&[&hook, &middle], &root), why);
    }
    let hook = root.serve(&["hook.example"]);
    // The first and the last second of 2026.
    for (now, why) in [
        (1_767_225_599_999, Some(Untrusted::NotYetValid)),
        (1_767_225_600_000, None),
        (1_798_761_600_999, None),
        (1_798_761_601_000, Some(Untrusted::Expired)),
    ] {
        let call = Call { now: Some(UnixMillis(now)), roots: &[&root.der, &hook.der], ..Call::PLAIN };
        assert_eq!(call.make(Server::new(&[&hook])).0.err(), why.map(Failure::Untrusted), "{now}");
    }
    // Roots age, too.
    let old = Call { now: Some(UnixMillis(NOW.0 * 2)), roots: &[&root.der], ..Call::PLAIN };
    let long =
        root.issue(dated((date_time_ymd(2026, 1, 1), date_time_ymd(2100, 1, 1)), server(&["hook.example"])), P256);
    assert_eq!(old.make(Server::new(&[&long])).0.unwrap_err(), Failure::Untrusted(Untrusted::Expired));
}

#[test]
fn whoever_may_not_issue_certificates_has_not_issued_any() {
    let root = Party::root("root", P256);
    let leaf = root.issue(but(server(&["leaf.example"]), |params| params.distinguished_name = named("leaf")), P256);
    assert_eq!(refusal(&[&leaf.serve(&["hook.example"]), &leaf], &root), Untrusted::NotAnAuthority);
    // It says that it is none, or that it may do other things.
    let explicit = but(authority("leaf"), |params| params.is_ca = IsCa::ExplicitNoCa);
    let unused = but(authority("leaf"), |params| params.key_usages = vec![KeyUsagePurpose::DigitalSignature]);
    let others =
        but(authority("leaf"), |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]);
    for params in [explicit, unused, others] {
        let leaf = root.issue(params, P256);
        assert_eq!(refusal(&[&leaf.serve(&["hook.example"]), &leaf], &root), Untrusted::NotAnAuthority);
    }
    // It may issue those of servers, and none of authorities.
    let none_below = IsCa::Ca(BasicConstraints::Constrained(0));
    let last = root.issue(but(authority("last"), |params| params.is_ca = none_below), P256);
    let hook = last.serve(&["hook.example"]);
    assert_eq!(call(&[&hook, &last], &root).unwrap(), "hello");
    let below = last.issue(authority("below"), P256);
    let hook = below.serve(&["hook.example"]);
    assert_eq!(refusal(&[&hook, &below, &last], &root), Untrusted::NotAnAuthority);
}

#[test]
fn certificates_for_something_else_or_with_more_than_we_understand_are_refused() {
    let root = Party::root("root", P256);
    let client =
        but(server(&["hook.example"]), |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]);
    assert_eq!(refusal(&[&root.issue(client, P256)], &root), Untrusted::Malformed);
    let unusable = but(server(&["hook.example"]), |params| params.key_usages = vec![KeyUsagePurpose::KeyEncipherment]);
    assert_eq!(refusal(&[&root.issue(unusable, P256)], &root), Untrusted::Malformed);

    let mut extension = CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0]);
    let with = |extension: &CustomExtension| {
        but(server(&["hook.example"]), |params| params.custom_extensions = vec![extension.clone()])
    };
    assert_eq!(call(&[&root.issue(with(&extension), P256)], &root).unwrap(), "hello");
    extension.set_criticality(true);
    assert_eq!(refusal(&[&root.issue(with(&extension), P256)], &root), Untrusted::Unsupported);

    let permitted_subtrees = vec![GeneralSubtree::DnsName("elsewhere.example".into())];
    let name_constraints = Some(NameConstraints { permitted_subtrees, excluded_subtrees: vec![] });
    let bound = root.issue(but(authority("bound"), |params| params.name_constraints = name_constraints), P256);
    assert_eq!(refusal(&[&bound.serve(&["hook.example"]), &bound], &root), Untrusted::Unsupported);
}

#[test]
fn what_a_certificate_says_twice_or_in_a_wrong_way_counts_for_nothing() {
    const BASIC_CONSTRAINTS: &[u64] = &[2, 5, 29, 19];
    let root = Party::root("root", P256);
    let with = |is_ca: IsCa, id: &[u64], content: &[u8]| {
        but(authority("middle"), |params| {
            params.is_ca = is_ca;
            params.custom_extensions = vec![CustomExtension::from_oid_content(id, content.to_vec())];
        })
    };
    let whole: &[u8] = &[0x30, 3, 1, 1, 0xff];
    let middle = root.issue(with(IsCa::NoCa, BASIC_CONSTRAINTS, whole), P256);
    assert_eq!(call(&[&middle.serve(&["hook.example"]), &middle], &root).unwrap(), "hello");
    for (is_ca, content) in [
        // It is none, and it is one.
        (IsCa::ExplicitNoCa, whole),
        // True, but not as it is written; with less than nobody below it, and with nobody, written in too many bytes.
        (IsCa::NoCa, &[0x30, 3, 1, 1, 1]),
        (IsCa::NoCa, &[0x30, 6, 1, 1, 0xff, 2, 1, 0xff]),
        (IsCa::NoCa, &[0x30, 7, 1, 1, 0xff, 2, 2, 0, 0]),
        (IsCa::NoCa, &[0x30, 5, 1, 1, 0xff, 2, 0]),
    ] {
        let middle = root.issue(with(is_ca, BASIC_CONSTRAINTS, content), P256);
        assert_eq!(refusal(&[&middle.serve(&["hook.example"]), &middle], &root), Untrusted::Issuer, "{content:?}");
    }
    // A name that somebody has put behind those that were checked.
    let name = [&[0x30, 14, 0x82, 12][..], b"hook.example"].concat();
    let twice = but(server(&["other.example"]), |params| {
        params.custom_extensions = vec![CustomExtension::from_oid_content(&[2, 5, 29, 17], name)];
    });
    assert_eq!(refusal(&[&root.issue(twice, P256)], &root), Untrusted::Malformed);
}

#[test]
fn keys_that_we_do_not_know_are_told_apart_from_those_that_are_wrong() {
    let root = Party::root("root", P256);
    let edwards = root.issue(server(&["hook.example"]), &PKCS_ED25519);
    assert_eq!(refusal(&[&edwards], &root), Untrusted::Unsupported);
    let authority = root.issue(authority("edwards"), &PKCS_ED25519);
    assert_eq!(refusal(&[&authority.serve(&["hook.example"]), &authority], &root), Untrusted::Unsupported);
}

#[test]
fn servers_with_another_tls_or_none_say_so_or_are_found_out() {
    let root = Party::root("root", P256);
    let hook = root.serve(&["hook.example"]);
    let old = Server::with(&[&hook], |config| {
        let provider = rustls::crypto::ring::default_provider();
        *config = rustls::ServerConfig::builder_with_provider(provider.into())
            .with_protocol_versions(&[&rustls::version::TLS12])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(config.cert_resolver.clone());
    });
    let call = Call { roots: &[&root.der], ..Call::PLAIN };
    assert_eq!(call.make(old).0.unwrap_err(), Failure::Unsecured(Unsecured::Refused));
    // What a server says that has nothing but a certificate with an RSA key: handshake_failure.
    let alert = Script::new(&[&[21, 3, 3, 0, 2, 2, 40]]);
    assert_eq!(call.make(alert).0.unwrap_err(), Failure::Unsecured(Unsecured::Refused));
    for (said, failure) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], Failure::Unsecured(Unsecured::Garbled)),
        (b"", Failure::Unreachable(Unreachable::Lost)),
        (&[22, 3, 3, 0, 4, 2, 0, 0, 0], Failure::Unsecured(Unsecured::Garbled)),
    ] {
        assert_eq!(call.make(Script::new(&[said])).0.unwrap_err(), failure, "{said:?}");
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let root = Party::root("root", P256);
    let hook = root.serve(&["hook.example"]);
    let call = Call { room_bytes: 1024, roots: &[&root.der], ..Call::PLAIN };
    let chain = [&hook, &root, &root, &root, &root];
    assert_eq!(call.make(Server::new(&chain)).0.unwrap_err(), Failure::Unsecured(Unsecured::TooLarge));
    // An answer in one record that is larger than the room. One with smaller ones is read as far as needed.
    let long = format!("HTTP/1.1 200 OK\r\nContent-Length: 8000\r\n\r\n{}", "x".repeat(8000));
    let call = Call { room_bytes: 4608, roots: &[&root.der], ..Call::PLAIN };
    let large = call.make(Server::new(&[&hook]).answering(&*long)).0;
    assert_eq!(large.unwrap_err(), Failure::Unsecured(Unsecured::TooLarge));
    let small = Server::with(&[&hook], |config| config.max_fragment_size = Some(2048)).answering(&*long);
    let (answer, text) = call.make(small).0.unwrap();
    assert_eq!((answer.is_whole, text.len()), (false, 64));
}

#[test]
fn an_answer_that_is_cut_off_is_not_taken_for_all_of_it() {
    let root = Party::root("root", P256);
    let hook = root.serve(&["hook.example"]);
    let call = Call { roots: &[&root.der], ..Call::PLAIN };
    let open_ended = "HTTP/1.1 200 OK\r\n\r\nhello";
    let (answer, text) = call.make(Server::new(&[&hook]).answering(open_ended)).0.unwrap();
    assert_eq!((answer.is_whole, &*text), (true, "hello"));
    let cut = call.make(Server::new(&[&hook]).answering(open_ended).hanging_up()).0;
    assert_eq!(cut.unwrap_err(), Failure::Unreachable(Unreachable::Lost));
    // Where the length is known it does not matter.
    assert_eq!(call.make(Server::new(&[&hook]).hanging_up()).0.unwrap().1, "hello");
}

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const PROPER: [Step; 4] = [Step::Extensions, Step::Certificate, Step::Proof, Step::Finished];

/// Calls a server that does these things with a good certificate.
fn call_hostile(steps: &[Step], after: &[Step]) -> (Result<String, Failure>, Hostile) {
    let root = Party::root("root", P256);
    let hook = root.serve(&["hook.example"]);
    let call = Call { roots: &[&root.der], ..Call::PLAIN };
    let (called, server) = call.make(Hostile::new(&[&hook.der], &hook.key_der(), steps, after));
    (called.map(|(_, body)| body), server)
}

#[test]
fn whoever_leaves_out_a_part_of_the_handshake_has_proven_nothing() {
    let answer = Step::Say(APPLICATION_DATA, ANSWER);
    assert_eq!(call_hostile(&PROPER, &[answer]).0.unwrap(), "hello");
    for steps in [
        // What embedded-tls would take: anybody in between could be that.
        &[Step::Extensions, Step::Finished][..],
        &[Step::Finished],
        &[Step::Extensions, Step::Certificate, Step::Finished],
        &[Step::Extensions, Step::Proof, Step::Finished],
        &[Step::Extensions, Step::Proof, Step::Certificate, Step::Finished],
        // Somebody else's certificate.
        &[Step::Extensions, Step::Certificate, Step::WrongProof, Step::Finished],
        // Two are not better than one.
        &[Step::Extensions, Step::Certificate, Step::WrongProof, Step::Proof, Step::Finished],
        &[Step::Extensions, Step::Certificate, Step::Proof, Step::WrongProof, Step::Finished],
    ] {
        let (called, server) = call_hostile(steps, &[answer]);
        assert_eq!(called.unwrap_err(), Failure::Untrusted(Untrusted::Unproven), "{steps:?}");
        assert!(server.request.is_empty());
    }
    let twice = [Step::Extensions, Step::Certificate, Step::Proof, Step::Certificate, Step::Finished];
    assert_eq!(call_hostile(&twice, &[answer]).0.unwrap_err(), Failure::Untrusted(Untrusted::Malformed));
}

#[test]
fn no_record_makes_it_panic() {
    let odd = [
        Step::Nothing,
        Step::Zeroes(1),
        Step::Zeroes(100),
        // Messages of the handshake that may come once, or never, or that are none.
        Step::Extensions,
        Step::Certificate,
        Step::Proof,
        Step::Finished,
        Step::Say(HANDSHAKE, &[13, 0, 0, 3, 0, 0, 0]),
        Step::Say(HANDSHAKE, &[24, 0, 0, 1, 0]),
        Step::Say(HANDSHAKE, &[2, 0, 0, 0]),
        Step::Say(HANDSHAKE, &[]),
        Step::Say(HANDSHAKE, &[99]),
        Step::Say(21, &[]),
        Step::Say(21, &[2]),
        Step::Say(21, &[1, 0]),
        Step::Say(21, &[2, 40]),
        Step::Say(21, &[9, 99]),
        Step::Say(20, &[1]),
        Step::Say(0, &[1]),
        Step::Say(99, &[1]),
        Step::Shout(HANDSHAKE, &[20, 0, 0, 0]),
        Step::Shout(HANDSHAKE, &[13, 0, 0, 3, 0, 0, 0]),
        Step::Shout(HANDSHAKE, &[]),
        Step::Shout(21, &[1, 0]),
        Step::Shout(20, &[1]),
        Step::Shout(20, &[]),
        Step::Shout(APPLICATION_DATA, &[]),
        Step::Shout(APPLICATION_DATA, &[0; 16]),
        Step::Shout(APPLICATION_DATA, &[0; 17]),
        Step::Shout(99, &[]),
    ];
    for step in odd {
        for at in 0..=PROPER.len() {
            let steps = [&PROPER[..at], &[step], &PROPER[at..]].concat();
            // It may even do, as a change of cipher does. It is not to panic.
            let (called, server) = call_hostile(&steps, &[Step::Say(APPLICATION_DATA, ANSWER)]);
            assert!(called.is_err() || !server.request.is_empty(), "{step:?} {at}");
        }
        let (called, _) = call_hostile(&PROPER, &[step, Step::Say(APPLICATION_DATA, ANSWER)]);
        assert!(called.is_err(), "{step:?} passed when the handshake was over");
    }
}

#[test]
fn tickets_and_empty_records_are_passed_over() {
    let ticket = Step::Say(HANDSHAKE, &[4, 0, 0, 13, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // What would be another message behind it, too.
    let two = Step::Say(HANDSHAKE, &[4, 0, 0, 1, 0, 13, 0, 0, 0]);
    let empty = Step::Say(APPLICATION_DATA, &[]);
    let answer = Step::Say(APPLICATION_DATA, ANSWER);
    assert_eq!(call_hostile(&PROPER, &[ticket, two, empty, ticket, answer]).0.unwrap(), "hello");
}

/// Says something, whatever it hears.
struct Script(Vec<u8>);

impl Script {
    fn new(said: &[&[u8]]) -> Self {
        Self(said.concat())
    }
}

impl Peer for Script {
    fn hear(&mut self, _: &[u8]) {}

    fn say(&mut self, out: &mut [u8]) -> Option<usize> {
        let now = self.0.len().min(out.len());
        out[..now].copy_from_slice(&self.0[..now]);
        self.0.drain(..now);
        Some(now)
    }
}
