extern crate std;

use core::net::{Ipv4Addr, SocketAddrV4};
use std::{collections::BTreeSet, format, string::String, vec, vec::Vec};

use edge_mdns::domain::base::{Message, ParsedRecord, Rtype, Ttl};
use protocol_core::time::Millis;

use super::{Place, Responder};
use crate::{
    mdns::{
        GROUP, LocalName, NAME_MAX, PACKET_MAX, Wanted,
        records::{ANSWER, Packet, Records, Section, Told, Tone},
    },
    simulated::SplitMix,
};

const PORT: u16 = 80;
const HERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 7);
const LOWER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 6);
const HIGHER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 8);

fn mdns(address: Ipv4Addr) -> SocketAddrV4 {
    SocketAddrV4::new(address, GROUP.port())
}

fn place(address: Ipv4Addr) -> Option<Place> {
    Some(Place { address, prefix: 24 })
}

/// A responder and its time.
struct Device<'n> {
    responder: Responder<'n>,
    now: u64,
}

impl<'n> Device<'n> {
    fn new(own: &'n LocalName, seed: u64) -> Self {
        let mut responder = Responder::new(Wanted::default(), PORT, own, seed);
        responder.set_place(Millis(0), place(HERE));
        Self { responder, now: 0 }
    }

    /// One whose name nobody has minded, some time later.
    fn settled(own: &'n LocalName) -> Self {
        let mut device = Self::new(own, 1);
        device.until(100_000);
        assert_eq!(device.responder.poll_news(), Some("mote"));
        device
    }

    /// What it tells everybody up to that time, and when.
    fn until(&mut self, end: u64) -> Vec<(u64, Said)> {
        let mut all = Vec::new();
        while let Some(Millis(due)) = self.responder.poll_timeout().filter(|due| due.0 <= end) {
            self.now = self.now.max(due);
            let mut out = [0; PACKET_MAX];
            let before = all.len();
            while let Some(length) = self.responder.poll_packet(Millis(self.now), &mut out) {
                all.push((self.now, said(&out[..length])));
            }
            assert!(all.len() > before, "it woke up for nothing");
        }
        self.now = end;
        all
    }

    /// What it tells everybody at once.
    fn at_once(&mut self) -> Vec<Said> {
        let now = self.now;
        self.until(now).into_iter().map(|(_, said)| said).collect()
    }

    fn hear(&mut self, from: SocketAddrV4, packet: &[u8]) -> Option<Said> {
        let mut out = [0; PACKET_MAX];
        let length = self.responder.handle_packet(Millis(self.now), from, packet, &mut out)?;
        Some(said(&out[..length]))
    }

    fn own(&self) -> Option<String> {
        self.responder.own.get().map(|name| String::from(&*name))
    }
}

/// A packet, taken apart.
#[derive(Debug, Default, PartialEq)]
struct Said {
    id: u16,
    is_answer: bool,
    questions: Vec<String>,
    /// Name, type, seconds, and whether it is to replace what others know.
    sections: [Vec<String>; 3],
    bytes: usize,
}

impl Said {
    fn types(&self, section: usize) -> BTreeSet<&str> {
        self.sections[section].iter().filter_map(|record| record.split(' ').nth(1)).collect()
    }
}

fn said(packet: &[u8]) -> Said {
    let message = Message::from_slice(packet).expect("it is a packet");
    let header = message.header();
    assert_eq!(header.aa(), header.qr(), "who answers knows");
    let describe = |record: ParsedRecord<'_, [u8]>| {
        let flush = if record.class().to_int() & 0x8000 == 0 { "" } else { " flush" };
        format!("{} {} {}{flush}", record.owner(), record.rtype(), record.ttl().as_secs())
    };
    let questions = message.question().map(|question| {
        let question = question.expect("it is whole");
        format!("{} {} {}", question.qname(), question.qtype(), question.qclass().to_int())
    });
    let sections = [message.answer(), message.authority(), message.additional()];
    let sections = sections
        .map(|section| section.expect("it is whole").map(|record| describe(record.expect("it is whole"))).collect());
    Said { id: header.id(), is_answer: header.qr(), questions: questions.collect(), sections, bytes: packet.len() }
}

/// What another device says or asks: written with the same pen, because nothing else here has one.
fn other(label: &str, address: Ipv4Addr) -> Told<'_> {
    Told { label, address, port: PORT }
}

fn packet(write: impl FnOnce(&mut Packet<'_>), flags: u16) -> Vec<u8> {
    let mut out = [0; 1400];
    let mut packet = Packet::new(&mut out).expect("there is room");
    write(&mut packet);
    let length = packet.finish(0, flags);
    out[..length].to_vec()
}

fn answer(told: &Told<'_>, records: Records, tone: Tone) -> Vec<u8> {
    packet(|packet| packet.tell(told, Section::Answer, records, tone).expect("there is room"), ANSWER)
}

fn probe(told: &Told<'_>) -> Vec<u8> {
    let mut out = [0; PACKET_MAX];
    let length = told.probe(&mut out).expect("there is room");
    out[..length].to_vec()
}

/// A name in labels: that is how it is asked for here.
fn ask(names: &[(&str, Rtype, u16)]) -> Vec<u8> {
    ask_knowing(names, Records::NONE, 0)
}

fn ask_knowing(names: &[(&str, Rtype, u16)], known: Records, flags: u16) -> Vec<u8> {
    packet(
        |packet| {
            for (name, rtype, class) in names {
                let labels: Vec<_> = name.split('.').collect();
                packet.ask(&edge_mdns::NameSlice::new(&labels), *rtype, *class).expect("there is room");
            }
            packet.tell(&other("mote", HERE), Section::Answer, known, Tone::ToAll).expect("there is room");
        },
        flags,
    )
}

const IN: u16 = 1;
/// The answer may go to whoever asks alone.
const IN_ALONE: u16 = 0x8001;

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

/// Packets as others may send them, to begin with.
fn packets() -> Vec<Vec<u8>> {
    let told = other("mote", HIGHER);
    let names = [("mote.local", Rtype::A, IN), ("mote._a2a._tcp.local", Rtype::ANY, IN_ALONE)];
    vec![
        ask(&names),
        ask_knowing(&[("_a2a._tcp.local", Rtype::PTR, IN)], Records::ALL, 0x0200),
        probe(&told),
        probe(&other("mote", HERE)),
        answer(&told, Records::ALL, Tone::ToAll),
        answer(&other("mote", HERE), Records::ALL, Tone::ToAll),
        // A name that points to itself, to one that points back, and to the head.
        [&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &[0xc0, 12, 0, 1, 0, 1]].concat(),
        [&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &[0xc0, 14, 0xc0, 12, 0, 1, 0, 1]].concat(),
        [&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &[1, b'a', 0xc0, 12, 0, 1, 0, 1]].concat(),
        [&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &[0xc0, 0, 0, 1, 0, 1]].concat(),
        // As many records as can be said, and none of them there.
        vec![0xff; 12],
        [&[0, 0, 0x84, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..], &[0; 1400]].concat(),
        [&[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0][..], &[0; 1400]].concat(),
        // Each name points to the one before.
        (0..700_u16).fold(vec![0, 0, 0, 0, 0, 120, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1], |mut packet, n| {
            packet.extend((0xc000 | (12 + 2 * n)).to_be_bytes());
            packet
        }),
        vec![],
        vec![0; 11],
    ]
}

/// Gives a packet to a device in each of its stages, from whoever could have sent it, and looks what becomes of it.
fn endure(packet: &[u8]) {
    for wait in [0, 300, 1200, 50_000] {
        for from in [mdns(HIGHER), mdns(HERE), SocketAddrV4::new(HIGHER, 40_000)] {
            let own = LocalName::new();
            let mut device = Device::new(&own, 1);
            device.until(wait);
            let told = device.hear(from, packet);
            // At most one answer to one, and at most one of each record to all.
            assert!(told.is_none_or(|told| told.is_answer));
            let told = device.until(wait + 20_000);
            assert!(told.len() <= 14, "{}", told.len());
            let name = device.own().expect("nobody keeps it from having one");
            assert!(name == "mote" || name == "mote-2", "{name}");
        }
    }
}

#[test]
fn a_packet_that_ends_anywhere_does_no_harm() {
    for packet in packets() {
        for end in 0..packet.len().min(400) {
            endure(&packet[..end]);
        }
        endure(&packet);
    }
}

#[test]
fn packets_that_chance_has_changed_do_no_harm() {
    let mut chance = SplitMix::new(7);
    let mut below = |most: usize| (chance.next() % most as u64) as usize;
    let packets = packets();
    for _ in 0..3000 {
        let mut packet = packets[below(packets.len())].clone();
        for _ in 0..=below(4) {
            if packet.is_empty() {
                break;
            }
            let place = below(packet.len());
            match below(4) {
                0 => packet[place] = below(256) as u8,
                1 => packet[place] ^= 1 << below(8),
                2 => packet.truncate(place),
                _ => {
                    let more = packets[below(packets.len())].clone();
                    packet.extend_from_slice(&more);
                    packet.truncate(1472);
                }
            }
        }
        endure(&packet);
    }
}

#[test]
fn everything_has_a_time_after_which_it_is_forgotten() {
    for which in Records::EACH {
        assert!((60..=4500).contains(&which.ttl()), "{which:?}");
        assert!(Ttl::from_secs(which.ttl()) > Ttl::ZERO);
    }
}
