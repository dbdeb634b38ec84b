//! What is told to whoever asks, and to everybody.

use super::*;

#[test]
fn questions_are_answered_with_what_comes_next() {
    for (name, rtype, answers, more) in [
        ("mote.local", Rtype::A, &["A"][..], &["NSEC"][..]),
        ("MOTE.Local", Rtype::A, &["A"], &["NSEC"]),
        ("mote.local", Rtype::AAAA, &["NSEC"], &[]),
        ("mote.local", Rtype::ANY, &["A", "NSEC"], &[]),
        ("mote._a2a._tcp.local", Rtype::SRV, &["SRV"], &["A", "NSEC"]),
        ("mote._a2a._tcp.local", Rtype::TXT, &["TXT"], &[]),
        ("mote._a2a._tcp.local", Rtype::ANY, &["SRV", "TXT"], &["A", "NSEC"]),
        ("_a2a._tcp.local", Rtype::PTR, &["PTR"], &["SRV", "TXT", "A", "NSEC"]),
        ("_services._dns-sd._udp.local", Rtype::PTR, &["PTR"], &[]),
    ] {
        let own = LocalName::new();
        let mut device = Device::settled(&own);
        assert_eq!(device.hear(mdns(HIGHER), &ask(&[(name, rtype, IN)])), None);
        let start = device.now;
        let told = device.until(start + 10_000);
        assert_eq!(told.len(), 1, "{name} {rtype}");
        let (at, told) = &told[0];
        assert_eq!(told.types(0), answers.iter().copied().collect(), "{name} {rtype}");
        assert_eq!(told.types(2), more.iter().copied().collect(), "{name} {rtype}");
        // Others may have such services, too; a name is nobody else's.
        let pause = at - start;
        assert!(if rtype == Rtype::PTR { (20..=120).contains(&pause) } else { pause == 0 }, "{name} {rtype}: {pause}");
    }
}

#[test]
fn what_is_not_for_us_is_not_answered() {
    for (name, rtype, class) in [
        ("lamp.local", Rtype::A, IN),
        ("mote-2.local", Rtype::A, IN),
        ("mote.localhost", Rtype::A, IN),
        ("mote", Rtype::A, IN),
        ("mote.local", Rtype::A, 3),
        ("_http._tcp.local", Rtype::PTR, IN),
        ("_a2a._tcp.local", Rtype::A, IN),
        ("_a2a._udp.local", Rtype::PTR, IN),
        ("mote._a2a._tcp.local", Rtype::A, IN),
    ] {
        let own = LocalName::new();
        let mut device = Device::settled(&own);
        for from in [mdns(HIGHER), SocketAddrV4::new(HIGHER, 40_000)] {
            assert_eq!(device.hear(from, &ask(&[(name, rtype, class)])), None, "{name} {rtype}");
        }
        assert_eq!(device.responder.poll_timeout(), None, "{name} {rtype}");
    }
    let own = LocalName::new();
    let mut device = Device::settled(&own);
    let far = Ipv4Addr::new(192, 0, 2, 1);
    for from in [mdns(far), SocketAddrV4::new(far, 40_000)] {
        assert_eq!(device.hear(from, &ask(&[("mote.local", Rtype::A, IN)])), None);
    }
    assert_eq!(device.responder.poll_timeout(), None);
}

#[test]
fn before_the_name_is_its_own_it_answers_nobody() {
    let own = LocalName::new();
    let mut device = Device::new(&own, 1);
    device.until(300);
    for from in [mdns(HIGHER), SocketAddrV4::new(HIGHER, 40_000)] {
        assert_eq!(device.hear(from, &ask(&[("mote.local", Rtype::A, IN)])), None);
    }
    assert!(device.until(600).iter().all(|(_, said)| !said.is_answer));
}

#[test]
fn nothing_is_told_to_everybody_twice_within_a_second() {
    let own = LocalName::new();
    let mut device = Device::settled(&own);
    let start = device.now;
    let mut told = Vec::new();
    for step in 0..5000 {
        device.hear(mdns(HIGHER), &ask(&[("mote.local", Rtype::A, IN), ("_a2a._tcp.local", Rtype::PTR, IN)]));
        told.extend(device.until(start + step));
    }
    let mut last = None;
    for (at, said) in &told {
        let all: BTreeSet<_> = said.types(0).union(&said.types(2)).copied().collect();
        if all.contains("A") {
            assert!(last.is_none_or(|last| at - last >= 1000), "{told:?}");
            last = Some(*at);
        }
    }
    assert!((5..=10).contains(&told.len()), "{}", told.len());
}

#[test]
fn what_is_known_is_not_told() {
    let service = [("_a2a._tcp.local", Rtype::PTR, IN)];
    let own = LocalName::new();
    let mut device = Device::settled(&own);
    device.hear(mdns(HIGHER), &ask_knowing(&service, Records::INSTANCE, 0));
    assert_eq!(device.responder.poll_timeout(), None);
    // What will soon be forgotten is.
    let stale = packet(
        |packet| {
            packet.ask(&edge_mdns::NameSlice::new(&["_a2a", "_tcp", "local"]), Rtype::PTR, IN).expect("there is room");
            packet.tell(&other("mote", HERE), Section::Answer, Records::INSTANCE, Tone::Legacy).expect("there is room");
        },
        0,
    );
    device.hear(mdns(HIGHER), &stale);
    assert_eq!(device.until(device.now + 200).len(), 1);
    // So is what they have got wrong.
    device.now += 5000;
    let wrong = packet(
        |packet| {
            packet.ask(&edge_mdns::NameSlice::new(&["mote", "local"]), Rtype::A, IN).expect("there is room");
            packet.tell(&other("mote", HIGHER), Section::Answer, Records::ADDRESS, Tone::ToAll).expect("there is room");
        },
        0,
    );
    device.hear(mdns(HIGHER), &wrong);
    assert_eq!(device.at_once().len(), 1);
}

#[test]
fn what_is_known_may_come_in_a_second_packet_of_the_same_host() {
    const TRUNCATED: u16 = 0x0200;
    let service = [("_a2a._tcp.local", Rtype::PTR, IN)];
    let own = LocalName::new();
    for (second, others_ask, told) in [(HIGHER, false, 0), (LOWER, false, 1), (HIGHER, true, 1)] {
        let mut device = Device::settled(&own);
        let start = device.now;
        device.hear(mdns(HIGHER), &ask_knowing(&service, Records::NONE, TRUNCATED));
        assert!(device.until(start + 399).is_empty());
        if others_ask {
            device.hear(mdns(LOWER), &ask_knowing(&service, Records::NONE, TRUNCATED));
        }
        device.hear(mdns(second), &ask_knowing(&[], Records::INSTANCE, 0));
        assert_eq!(device.until(start + 1000).len(), told, "{second} {others_ask}");
    }
}

#[test]
fn who_wants_the_answer_alone_gets_it_if_everybody_has_had_it_lately() {
    let question = ask(&[("_a2a._tcp.local", Rtype::PTR, IN_ALONE)]);
    let own = LocalName::new();
    let mut device = Device::settled(&own);
    let told = device.hear(mdns(HIGHER), &question).expect("it is for one alone");
    assert_eq!(told.types(0), BTreeSet::from(["PTR"]));
    assert_eq!(told.types(2), BTreeSet::from(["A", "NSEC", "SRV", "TXT"]));
    assert_eq!(device.responder.poll_timeout(), None);
    // After a quarter of the time that others may remember it: everybody.
    device.until(2_000_000);
    assert_eq!(device.hear(mdns(HIGHER), &question), None);
    assert_eq!(device.until(2_001_000).len(), 1);
    // And if somebody else's question is in the same packet.
    let both = ask(&[("_a2a._tcp.local", Rtype::PTR, IN_ALONE), ("mote.local", Rtype::A, IN)]);
    assert_eq!(device.hear(mdns(HIGHER), &both), None);
    assert!(device.responder.poll_timeout().is_some());
}

#[test]
fn who_speaks_ordinary_dns_gets_an_ordinary_answer() {
    let own = LocalName::new();
    let mut device = Device::settled(&own);
    let stranger = SocketAddrV4::new(HIGHER, 40_000);
    let mut question = ask(&[("mote.local", Rtype::A, IN)]);
    question[..2].copy_from_slice(&[0x12, 0x34]);
    let told = device.hear(stranger, &question).expect("an answer");
    assert_eq!((told.id, &*told.questions), (0x1234, &[String::from("mote.local A 1")][..]));
    assert_eq!(told.sections, [vec![String::from("mote.local A 10")], vec![], vec![]]);
    let told = device.hear(stranger, &ask(&[("_a2a._tcp.local", Rtype::PTR, IN)])).expect("an answer");
    assert_eq!(told.sections[0], ["_a2a._tcp.local PTR 10"]);
    assert_eq!(told.types(2), BTreeSet::from(["A", "SRV", "TXT"]));
    assert_eq!(device.responder.poll_timeout(), None, "nobody else hears of it");
    // There is no answer without an answer, and none to a heap of questions.
    assert_eq!(device.hear(stranger, &ask(&[("mote.local", Rtype::AAAA, IN); 5])), None);
    assert_eq!(device.hear(stranger, &ask(&[("mote.local", Rtype::A, IN); 5])), None);
}

#[test]
fn answers_to_one_alone_are_no_flood() {
    let own = LocalName::new();
    let mut device = Device::settled(&own);
    let stranger = SocketAddrV4::new(HIGHER, 40_000);
    for class in [IN, IN_ALONE] {
        let question = ask(&[("_a2a._tcp.local", Rtype::PTR, class)]);
        device.now += 10_000;
        let from = |n| if class == IN { stranger } else { mdns(Ipv4Addr::new(10, 0, 0, n)) };
        let told = (0..1000_u32).filter(|n| device.hear(from((n % 200) as u8), &question).is_some()).count();
        assert_eq!(told, 20);
        device.now += 1000;
        assert!(device.hear(from(1), &question).is_some());
    }
}

#[test]
fn a_goodbye_takes_back_what_is_its_own_and_is_said_once() {
    let own = LocalName::new();
    let mut device = Device::settled(&own);
    let mut out = [0; PACKET_MAX];
    let length = device.responder.goodbye(Millis(device.now), &mut out).expect("it had a name");
    assert_eq!(
        said(&out[..length]).sections[0],
        [
            "mote.local A 0 flush",
            "mote._a2a._tcp.local SRV 0 flush",
            "mote._a2a._tcp.local TXT 0 flush",
            "_a2a._tcp.local PTR 0",
        ]
    );
    assert_eq!(device.own(), None);
    assert_eq!(device.responder.goodbye(Millis(device.now), &mut out), None);
    assert_eq!(device.hear(mdns(HIGHER), &ask(&[("mote.local", Rtype::A, IN)])), None);
    assert_eq!(device.responder.poll_timeout(), None);
    // Who has said nothing takes nothing back.
    let mut device = Device::new(&own, 1);
    device.until(300);
    assert_eq!(device.responder.goodbye(Millis(300), &mut out), None);
}

#[test]
fn what_others_take_back_is_told_again_while_it_is_true() {
    let own = LocalName::new();
    let mut device = Device::settled(&own);
    // The last service of somebody else is gone, and with it, as far as they know, all services of its kind.
    let gone = answer(&other("lamp", HIGHER), Records::KIND, Tone::Goodbye);
    assert_eq!(device.hear(mdns(HIGHER), &gone), None);
    let [told] = &device.at_once()[..] else { panic!("it is told once") };
    assert_eq!(told.sections[0], ["_services._dns-sd._udp.local PTR 4500"]);
    // Whoever says so for all of it gets all of it back, but not more than once a second.
    let gone = answer(&other("mote", HERE), Records::ALL, Tone::Goodbye);
    for _ in 0..100 {
        assert_eq!(device.hear(mdns(HIGHER), &gone), None);
    }
    let told = device.until(device.now + 10_000);
    assert!((1..=2).contains(&told.len()), "{told:?}");
    let types: BTreeSet<_> = told.iter().flat_map(|(_, said)| said.types(0)).collect();
    assert_eq!(types, BTreeSet::from(["A", "PTR", "SRV", "TXT"]));
    // What is true for a while longer, and what is another's, is left as it is.
    device.hear(mdns(HIGHER), &answer(&other("mote", HERE), Records::ALL, Tone::ToAll));
    device.hear(mdns(HIGHER), &answer(&other("lamp", HIGHER), Records::TAKEN_BACK, Tone::Goodbye));
    assert_eq!(device.responder.poll_timeout(), None);
    assert_eq!(device.own().as_deref(), Some("mote"));
}

#[test]
fn all_that_it_may_have_to_say_fits() {
    let own = LocalName::new();
    let longest = "n".repeat(NAME_MAX);
    let mut device = Device::new(&own, 1);
    let mut wanted = Wanted::new(&longest).expect("it is a name");
    (0..98).for_each(|_| wanted.give_way());
    device.responder.rename(Millis(0), wanted);
    let told = device.until(100_000);
    assert_eq!(told.len(), 5);
    let label = device.own().expect("it has a name");
    assert_eq!(label, format!("{longest}-99"));
    let (host, instance) = (format!("{label}.local"), format!("{label}._a2a._tcp.local"));
    let questions = [
        (&*host, Rtype::A, IN),
        (&*instance, Rtype::ANY, IN),
        ("_a2a._tcp.local", Rtype::PTR, IN),
        ("_services._dns-sd._udp.local", Rtype::PTR, IN),
    ];
    let told = device.hear(SocketAddrV4::new(HIGHER, 40_000), &ask(&questions)).expect("it fits");
    assert!(told.bytes <= PACKET_MAX && told.bytes > PACKET_MAX - 64, "{}", told.bytes);
    assert_eq!(told.questions.len(), 4);
}

#[test]
fn everything_has_a_time_after_which_it_is_forgotten() {
    for which in Records::EACH {
        assert!((60..=4500).contains(&which.ttl()), "{which:?}");
        assert!(Ttl::from_secs(which.ttl()) > Ttl::ZERO);
    }
}
