//! Who has the name: asked for, told, defended and given up.

use super::*;

#[test]
fn it_asks_three_times_tells_twice_and_is_quiet() {
    for seed in 0..50 {
        let own = LocalName::new();
        let mut device = Device::new(&own, seed);
        let told = device.until(100_000);
        let times: Vec<_> = told.iter().map(|(at, _)| *at).collect();
        let first = times[0];
        assert!(first <= 250, "{first}");
        assert_eq!(times, [0, 250, 500, 750, 1750].map(|pause| first + pause));
        for (_, probe) in &told[..3] {
            assert!(!probe.is_answer);
            assert_eq!(probe.questions, ["mote.local ANY 1", "mote._a2a._tcp.local ANY 1"]);
            assert_eq!(probe.types(1), BTreeSet::from(["A", "SRV", "TXT"]));
            assert!(probe.sections[1].iter().all(|record| !record.ends_with("flush")), "{probe:?}");
        }
        for (_, told) in &told[3..] {
            assert!(told.is_answer && told.questions.is_empty());
            assert_eq!(
                told.sections[0],
                [
                    "mote.local A 120 flush",
                    "mote._a2a._tcp.local SRV 120 flush",
                    "mote._a2a._tcp.local TXT 4500 flush",
                    "_services._dns-sd._udp.local PTR 4500",
                    "_a2a._tcp.local PTR 4500",
                    "mote.local NSEC 120 flush",
                ]
            );
        }
    }
}

#[test]
fn devices_that_start_together_do_not_speak_together() {
    let own = LocalName::new();
    let first: BTreeSet<_> = (0..50).map(|seed| Device::new(&own, seed).responder.poll_timeout()).collect();
    assert!(first.len() > 30, "{first:?}");
}

#[test]
fn the_name_is_its_own_from_the_first_time_that_it_tells_it() {
    let own = LocalName::new();
    let mut device = Device::new(&own, 1);
    while device.own().is_none() {
        assert!(device.responder.poll_news().is_none());
        let Millis(due) = device.responder.poll_timeout().expect("it is not done");
        let told = device.until(due);
        assert_eq!(told[0].1.is_answer, device.own().is_some());
    }
    assert_eq!(device.own().as_deref(), Some("mote"));
    assert_eq!(device.responder.poll_news(), Some("mote"));
    assert_eq!(device.responder.poll_news(), None);
    device.responder.set_place(Millis(device.now), None);
    assert_eq!((device.own(), device.responder.poll_timeout()), (None, None));
}

#[test]
fn a_name_that_somebody_has_is_theirs() {
    let told = other("MOTE", HIGHER);
    for records in [Records::ADDRESS, Records::SERVER, Records::TEXT, Records::NO_OTHER] {
        let own = LocalName::new();
        let mut device = Device::new(&own, 1);
        device.until(300);
        // The path of their card is ours, too: that alone is no other device.
        let told = Told { port: 81, ..told };
        device.hear(mdns(HIGHER), &answer(&told, records, Tone::ToAll));
        device.until(100_000);
        // And what somebody has not says nothing about what they have.
        let says_nothing = matches!(records, Records::TEXT | Records::NO_OTHER);
        let expected = if says_nothing { "mote" } else { "mote-2" };
        assert_eq!(device.own().as_deref(), Some(expected), "{records:?}");
    }
}

#[test]
fn what_is_no_conflict_changes_nothing() {
    let twin = other("mote", HERE);
    for (why, packet) in [
        ("it is what it says itself", answer(&twin, Records::ALL, Tone::ToAll)),
        ("somebody leaves", answer(&other("mote", HIGHER), Records::ALL, Tone::Goodbye)),
        ("others have other names", answer(&other("mote-2", HIGHER), Records::ALL, Tone::ToAll)),
        ("others have services of that kind", answer(&other("lamp", HIGHER), Records::INSTANCE, Tone::ToAll)),
        ("a longer name", answer(&other("motes", HIGHER), Records::ALL, Tone::ToAll)),
        ("nothing", answer(&twin, Records::NONE, Tone::ToAll)),
    ] {
        for wait in [300, 10_000] {
            let own = LocalName::new();
            let mut device = Device::new(&own, 1);
            device.until(wait);
            device.hear(mdns(HIGHER), &packet);
            let (stage, due) = (device.responder.stage, device.responder.due);
            device.until(wait + 5000);
            assert_eq!(device.own().as_deref(), Some("mote"), "{why}, {stage:?} {due:?}");
            assert_eq!(device.responder.conflicts, 0, "{why}");
        }
    }
}

#[test]
fn answers_that_are_none_are_not_believed() {
    let conflict = answer(&other("mote", HIGHER), Records::ALL, Tone::ToAll);
    let with = |place: usize, byte: u8| {
        let mut packet = conflict.clone();
        packet[place] = byte;
        packet
    };
    for (from, packet) in [
        // From a port that anybody on that machine may have (RFC 6762 §6).
        (SocketAddrV4::new(HIGHER, 5354), conflict.clone()),
        // From somewhere else (RFC 6762 §11).
        (mdns(Ipv4Addr::new(192, 0, 2, 1)), conflict.clone()),
        // Another operation, and an error (RFC 6762 §18).
        (mdns(HIGHER), with(2, 0x84 | 0x28)),
        (mdns(HIGHER), with(3, 3)),
        // Records that are not there, or that go on behind the end.
        (mdns(HIGHER), with(7, 7)),
        (mdns(HIGHER), with(6, 0xff)),
        (mdns(HIGHER), conflict[..conflict.len() - 1].to_vec()),
    ] {
        let own = LocalName::new();
        let mut device = Device::new(&own, 1);
        device.until(300);
        device.hear(from, &packet);
        device.until(10_000);
        assert_eq!(device.own().as_deref(), Some("mote"));
    }
}

#[test]
fn of_two_that_ask_together_the_one_with_the_later_records_has_the_name() {
    for (address, port, is_won) in [
        (LOWER, PORT, true),
        (HIGHER, PORT, false),
        // The same host: the ports of their services decide.
        (HERE, 79, true),
        (HERE, 81, false),
    ] {
        let own = LocalName::new();
        let mut device = Device::new(&own, 1);
        let Millis(first) = device.responder.poll_timeout().expect("it begins");
        assert_eq!(device.until(first + 260).len(), 2);
        let told = Told { label: "mote", address, port };
        assert_eq!(device.hear(mdns(address), &probe(&told)), None);
        let after = device.until(10_000);
        let expected = if is_won { 1 } else { 3 };
        assert_eq!(after.iter().filter(|(_, said)| !said.is_answer).count(), expected, "{address}:{port}");
        // Who has lost asks again in a second: the other one has it by then, or was never there.
        assert!(is_won || (first + 1260..=first + 1510).contains(&after[0].0), "{after:?}");
        assert_eq!(device.own().as_deref(), Some("mote"));
    }
    // It is no duel with oneself.
    let own = LocalName::new();
    let mut device = Device::new(&own, 1);
    device.until(300);
    device.hear(mdns(HERE), &probe(&other("mote", HERE)));
    device.until(1001);
    assert_eq!(device.own().as_deref(), Some("mote"));
}

#[test]
fn two_devices_never_have_the_same_name() {
    let mut names = BTreeSet::new();
    for seed in 0..60 {
        let (own, others) = (LocalName::new(), LocalName::new());
        let mut devices = [Device::new(&own, seed), Device::new(&others, 1000 + seed)];
        let addresses = [HERE, HIGHER];
        devices[1].responder.set_place(Millis(0), place(HIGHER));
        let head_start = seed * 37 % 2000;
        for now in 0..20_000 {
            for at in 0..2 {
                if at == 1 && now < head_start {
                    continue;
                }
                let mut out = [0; PACKET_MAX];
                while let Some(length) = devices[at].responder.poll_packet(Millis(now), &mut out) {
                    let other = &mut devices[1 - at];
                    other.now = now;
                    assert_eq!(other.hear(mdns(addresses[at]), &out[..length]), None);
                }
            }
            let both = [devices[0].own(), devices[1].own()];
            assert!(both[0].is_none() || both[0] != both[1], "seed {seed} at {now}: {both:?}");
        }
        names.insert([devices[0].own(), devices[1].own()].map(|name| name.expect("it has one")));
    }
    let [one, two] = ["mote", "mote-2"].map(String::from);
    assert_eq!(names, BTreeSet::from([[one.clone(), two.clone()], [two, one]]));
}

#[test]
fn two_that_each_lose_one_of_the_names_do_not_give_way_for_ever() {
    // A base station of a radio network holds back what is for everybody: what crosses on the way is the rule.
    const ON_THE_WAY: u64 = 100;
    for seed in 0..60 {
        let (own, others) = (LocalName::new(), LocalName::new());
        // One has the later address, the other one the later port.
        let mut devices = [(&own, HERE, PORT + 1), (&others, HIGHER, PORT)].map(|(name, address, port)| {
            let mut device = Device::new(name, seed);
            device.responder = Responder::new(Wanted::default(), port, name, seed + u64::from(port));
            device.responder.set_place(Millis(0), place(address));
            device
        });
        let mut way = Vec::new();
        for now in 0..30_000 {
            for (at, from) in [HERE, HIGHER].into_iter().enumerate() {
                let mut out = [0; PACKET_MAX];
                while let Some(length) = devices[at].responder.poll_packet(Millis(now), &mut out) {
                    way.push((now + ON_THE_WAY, 1 - at, from, out[..length].to_vec()));
                }
            }
            for (_, to, from, packet) in way.extract_if(.., |(arrives, ..)| *arrives <= now) {
                devices[to].now = now;
                assert_eq!(devices[to].hear(mdns(from), &packet), None);
            }
        }
        let names = devices.each_ref().map(|device| device.own().expect("it has one"));
        assert_eq!(BTreeSet::from(names), BTreeSet::from(["mote", "mote-2"].map(String::from)), "seed {seed}");
    }
}

#[test]
fn a_name_that_is_its_own_is_defended_and_asked_for_again_when_somebody_says_otherwise() {
    let own = LocalName::new();
    let mut device = Device::settled(&own);
    // Somebody asks for it.
    device.hear(mdns(HIGHER), &probe(&other("mote", HIGHER)));
    let told = device.at_once();
    assert_eq!(told.len(), 1, "at once: they wait for no more than a quarter of a second");
    assert_eq!(told[0].types(0), BTreeSet::from(["A", "NSEC", "SRV", "TXT"]));
    assert_eq!(device.own().as_deref(), Some("mote"));
    // Somebody has it, whoever was first.
    device.now += 5000;
    device.hear(mdns(HIGHER), &answer(&other("mote", HIGHER), Records::ADDRESS, Tone::ToAll));
    assert_eq!(device.own(), None);
    let again = device.until(device.now + 300);
    assert!(again.iter().all(|(_, said)| !said.is_answer) && !again.is_empty());
    // They defend it.
    device.hear(mdns(HIGHER), &answer(&other("mote", HIGHER), Records::ADDRESS, Tone::ToAll));
    device.until(device.now + 5000);
    assert_eq!(device.own().as_deref(), Some("mote-2"));
    assert_eq!(device.responder.poll_news(), Some("mote-2"));
}

#[test]
fn a_probe_is_answered_at_most_four_times_a_second() {
    let own = LocalName::new();
    let mut device = Device::settled(&own);
    let mut told = 0;
    for _ in 0..999 {
        device.hear(mdns(HIGHER), &probe(&other("mote", HIGHER)));
        let next = device.now + 1;
        told += device.until(next).len();
    }
    assert_eq!(told, 4);
}

#[test]
fn whoever_takes_every_name_is_asked_less_and_less() {
    let own = LocalName::new();
    let mut device = Device::new(&own, 1);
    let mut last = 0;
    let mut pauses = Vec::new();
    for _ in 0..120 {
        let due = device.responder.poll_timeout().expect("it does not give up").0;
        pauses.push(due - last);
        last = due;
        device.until(due);
        let label = device.responder.label.clone();
        device.hear(mdns(HIGHER), &answer(&other(&label, HIGHER), Records::ALL, Tone::ToAll));
    }
    assert!(pauses[..15].iter().all(|pause| *pause <= 250), "{pauses:?}");
    assert!(pauses[15..].iter().all(|pause| *pause == 5000), "{pauses:?}");
    // Behind the last number comes none.
    assert_eq!(device.responder.label, "mote-22");
    device.until(device.now + 20_000);
    assert_eq!(device.own().as_deref(), Some("mote-22"));
    // Who has been left alone is quick again.
    device.hear(mdns(HIGHER), &answer(&other("mote-22", HIGHER), Records::ALL, Tone::ToAll));
    assert!(device.responder.poll_timeout().expect("it asks again").0 <= device.now + 250);
}

#[test]
fn somewhere_else_and_by_another_name_it_asks_again() {
    let own = LocalName::new();
    let mut device = Device::settled(&own);
    let kinds = |told: Vec<(u64, Said)>| told.iter().map(|(_, said)| said.is_answer).collect::<Vec<_>>();
    let all = [false, false, false, true, true];
    device.responder.set_place(Millis(device.now), place(HERE));
    assert_eq!(kinds(device.until(200_000)), []);
    device.responder.set_place(Millis(device.now), place(HIGHER));
    assert_eq!(device.own(), None);
    assert_eq!(kinds(device.until(300_000)), all);
    device.responder.set_place(Millis(device.now), None);
    device.responder.set_place(Millis(device.now), place(HIGHER));
    assert_eq!(kinds(device.until(400_000)), all);
    device.responder.rename(Millis(device.now), Wanted::new("kitchen").expect("it is a name"));
    assert_eq!(kinds(device.until(500_000)), all);
    assert_eq!(device.own().as_deref(), Some("kitchen"));
    // A name that was wanted while there was no network is asked for when there is one.
    device.responder.set_place(Millis(device.now), None);
    device.responder.rename(Millis(device.now), Wanted::new("hall").expect("it is a name"));
    assert_eq!(device.responder.poll_timeout(), None);
    device.responder.set_place(Millis(device.now), place(HERE));
    device.until(600_000);
    assert_eq!(device.own().as_deref(), Some("hall"));
}
