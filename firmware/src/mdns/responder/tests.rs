extern crate std;

mod asking;
mod naming;
mod noise;

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
