//! What is told about the device, and how it is written.

use core::net::Ipv4Addr;

use edge_mdns::{
    Buf, DNS_SD_OWNER, NameSlice, Txt,
    domain::{
        base::{Rtype, ToName, rdata::ComposeRecordData as _},
        dep::octseq::{OctetsBuilder as _, ShortBuf},
    },
};

/// Some of the records that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Records(u8);

impl Records {
    pub(super) const NONE: Self = Self(0);
    /// A: where the host is.
    pub(super) const ADDRESS: Self = Self(1);
    /// NSEC: the host has no other addresses, so that nobody waits for one.
    pub(super) const NO_OTHER: Self = Self(2);
    /// SRV: host and port of the service.
    pub(super) const SERVER: Self = Self(4);
    /// TXT: the path of the card.
    pub(super) const TEXT: Self = Self(8);
    /// PTR: that the service is one of its kind.
    pub(super) const INSTANCE: Self = Self(16);
    /// PTR: that there is such a kind of services.
    pub(super) const KIND: Self = Self(32);

    pub(super) const COUNT: usize = 6;
    pub(super) const ALL: Self = Self(63);
    /// Those whose names nobody else may have.
    pub(super) const UNIQUE: Self = Self(15);
    /// What it asks others about before it says that they are its own.
    pub(super) const PROBED: Self = Self(1 | 4 | 8);
    /// What it takes back. That there is such a kind of services may go on being true.
    pub(super) const TAKEN_BACK: Self = Self(1 | 4 | 8 | 16);

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// One after the other.
    pub(super) const EACH: [Self; Self::COUNT] =
        [Self::ADDRESS, Self::NO_OTHER, Self::SERVER, Self::TEXT, Self::INSTANCE, Self::KIND];

    /// What whoever asked for these asks for next (RFC 6763 §12).
    pub(super) const fn additional(self) -> Self {
        let mut more = Self::NONE;
        if self.has(Self::INSTANCE) {
            more = more.with(Self::SERVER).with(Self::TEXT);
        }
        if self.with(more).has(Self::SERVER) {
            more = more.with(Self::ADDRESS);
        }
        if self.with(more).has(Self::ADDRESS) {
            more = more.with(Self::NO_OTHER);
        }
        more.without(self)
    }

    pub(super) const fn rtype(self) -> Rtype {
        match self {
            Self::ADDRESS => Rtype::A,
            Self::NO_OTHER => Rtype::NSEC,
            Self::SERVER => Rtype::SRV,
            Self::TEXT => Rtype::TXT,
            _ => Rtype::PTR,
        }
    }

    /// Seconds that others may remember it (RFC 6762 §10).
    pub(super) const fn ttl(self) -> u32 {
        if self.has(Self(1 | 2 | 4)) { 120 } else { 4500 }
    }
}

/// A class that is not on the wire's own: whoever knows something else of that name is to forget it (RFC 6762 §10.2). In
/// a question: whoever answers need not tell everybody.
pub(super) const TOP_BIT: u16 = 0x8000;
pub(super) const INTERNET: u16 = 1;
pub(super) const ANY_CLASS: u16 = 255;

const SERVICE: [&str; 3] = ["_a2a", "_tcp", "local"];
/// The first says which form the others have (RFC 6763 §6.7).
const TEXT: [(&str, &str); 2] = [("txtvers", "1"), ("path", "/.well-known/agent-card.json")];

/// Whose record it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// `mote.local`
    Host,
    /// `mote._a2a._tcp.local`
    Instance,
    /// `_a2a._tcp.local`
    Service,
    /// `_services._dns-sd._udp.local`
    Kinds,
}

impl Owner {
    /// What a question about that name means.
    pub(super) fn asked(self, rtype: Rtype) -> Records {
        match (self, rtype) {
            (Self::Host, Rtype::A) => Records::ADDRESS,
            (Self::Host, Rtype::ANY) => Records::ADDRESS.with(Records::NO_OTHER),
            (Self::Host, _) => Records::NO_OTHER,
            (Self::Instance, Rtype::SRV) => Records::SERVER,
            (Self::Instance, Rtype::TXT) => Records::TEXT,
            (Self::Instance, Rtype::ANY) => Records::SERVER.with(Records::TEXT),
            (Self::Service, Rtype::PTR | Rtype::ANY) => Records::INSTANCE,
            (Self::Kinds, Rtype::PTR | Rtype::ANY) => Records::KIND,
            _ => Records::NONE,
        }
    }
}

/// How the part behind a record's head is written.
type Write<'w> = &'w dyn Fn(&mut Buf<'_>) -> Result<(), ShortBuf>;

/// What there is to tell.
#[derive(Clone, Copy)]
pub(super) struct Told<'t> {
    pub(super) label: &'t str,
    pub(super) address: Ipv4Addr,
    pub(super) port: u16,
}

impl Told<'_> {
    /// Whose name it is, if it is one that something is told about.
    pub(super) fn owner(&self, name: &impl ToName) -> Option<Owner> {
        let [service, protocol, local] = SERVICE;
        if name.name_eq(&NameSlice::new(&[self.label, local])) {
            Some(Owner::Host)
        } else if name.name_eq(&NameSlice::new(&SERVICE)) {
            Some(Owner::Service)
        } else if name.name_eq(&NameSlice::new(&[self.label, service, protocol, local])) {
            Some(Owner::Instance)
        } else if name.name_eq(&DNS_SD_OWNER) {
            Some(Owner::Kinds)
        } else {
            None
        }
    }

    /// Shows every record: which it is, its name, and how the rest is written.
    fn visit(
        &self,
        see: &mut dyn FnMut(Records, &NameSlice<'_>, Write<'_>) -> Result<(), ShortBuf>,
    ) -> Result<(), ShortBuf> {
        let [service, protocol, local] = SERVICE;
        let (host, instance) = ([self.label, local], [self.label, service, protocol, local]);
        let (host, instance) = (NameSlice::new(&host), NameSlice::new(&instance));
        let service = NameSlice::new(&SERVICE);
        see(Records::ADDRESS, &host, &|out| out.append_slice(&self.address.octets()))?;
        see(Records::SERVER, &instance, &|out| {
            // Neither priority nor weight: there is one server.
            out.append_slice(&[0; 4])?;
            out.append_slice(&self.port.to_be_bytes())?;
            host.compose(out)
        })?;
        see(Records::TEXT, &instance, &|out| Txt::new(&TEXT).compose_rdata(out))?;
        see(Records::KIND, &DNS_SD_OWNER, &|out| service.compose(out))?;
        see(Records::INSTANCE, &service, &|out| instance.compose(out))?;
        see(Records::NO_OTHER, &host, &|out| {
            host.compose(out)?;
            // Of the types 0 to 7 it has the first: A.
            out.append_slice(&[0, 1, 0x40])
        })
    }

    /// Writes what is behind the head of a record of ours into `out`, and says how long it is.
    pub(super) fn data(&self, which: Records, out: &mut [u8]) -> Option<usize> {
        let mut out = Buf::new(out);
        let mut see = |seen: Records, _: &NameSlice<'_>, write: Write<'_>| {
            if seen == which { write(&mut out) } else { Ok(()) }
        };
        self.visit(&mut see).ok()?;
        Some(out.1)
    }

    /// Asks who has our names, and says what we would tell about them (RFC 6762 §8.1).
    pub(super) fn probe(&self, out: &mut [u8]) -> Option<usize> {
        let mut packet = Packet::new(out)?;
        let [service, protocol, local] = SERVICE;
        packet.ask(&NameSlice::new(&[self.label, local]), Rtype::ANY, INTERNET).ok()?;
        packet.ask(&NameSlice::new(&[self.label, service, protocol, local]), Rtype::ANY, INTERNET).ok()?;
        packet.tell(self, Section::Authority, Records::PROBED, Tone::ToAll).ok()?;
        Some(packet.finish(0, 0))
    }

    /// Tells these records, and what belongs to them.
    pub(super) fn answer(&self, out: &mut [u8], records: Records, more: Records, tone: Tone) -> Option<usize> {
        let mut packet = Packet::new(out)?;
        packet.tell(self, Section::Answer, records, tone).ok()?;
        packet.tell(self, Section::Additional, more, tone).ok()?;
        Some(packet.finish(0, ANSWER))
    }
}

/// An answer, and by somebody who knows (RFC 6762 §18).
pub(super) const ANSWER: u16 = 0x8400;

/// Whom a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// For everybody who speaks mDNS.
    ToAll,
    /// For somebody who speaks ordinary DNS and has no idea (RFC 6762 §6.7).
    Legacy,
    /// It is no longer true.
    Goodbye,
}

/// The parts of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Answer = 1,
    Authority = 2,
    Additional = 3,
}

/// A packet that is being written. Names are written out: nobody here has so much to say that it would be too much.
pub(super) struct Packet<'o> {
    out: Buf<'o>,
    counts: [u16; 4],
}

impl<'o> Packet<'o> {
    pub(super) fn new(out: &'o mut [u8]) -> Option<Self> {
        let mut out = Buf::new(out);
        out.append_slice(&[0; HEAD_BYTES]).ok()?;
        Some(Self { out, counts: [0; 4] })
    }

    pub(super) fn ask(&mut self, name: &impl ToName, rtype: Rtype, class: u16) -> Result<(), ShortBuf> {
        name.compose(&mut self.out)?;
        self.numbers(&[rtype.to_int(), class])?;
        self.count(0);
        Ok(())
    }

    pub(super) fn tell(
        &mut self,
        told: &Told<'_>,
        section: Section,
        records: Records,
        tone: Tone,
    ) -> Result<(), ShortBuf> {
        told.visit(&mut |which, owner, write| {
            if !records.has(which) {
                return Ok(());
            }
            // In a probe nothing is ours yet.
            let is_ours = which.has(Records::UNIQUE) && section != Section::Authority && tone != Tone::Legacy;
            let seconds = match tone {
                Tone::ToAll => which.ttl(),
                Tone::Legacy => LEGACY_SECONDS,
                Tone::Goodbye => 0,
            };
            owner.compose(&mut self.out)?;
            self.numbers(&[which.rtype().to_int(), INTERNET | if is_ours { TOP_BIT } else { 0 }])?;
            self.numbers(&[(seconds >> 16) as u16, seconds as u16, 0])?;
            let start = self.out.1;
            write(&mut self.out)?;
            let length = self.out.1.saturating_sub(start) as u16;
            let place = start.checked_sub(2).and_then(|place| self.out.0.get_mut(place..start)).ok_or(ShortBuf)?;
            place.copy_from_slice(&length.to_be_bytes());
            self.count(section as usize);
            Ok(())
        })
    }

    /// Writes the head, and says how long the packet is.
    pub(super) fn finish(self, id: u16, flags: u16) -> usize {
        let [questions, answers, authorities, additional] = self.counts;
        let head = [id, flags, questions, answers, authorities, additional];
        for (place, number) in self.out.0.chunks_exact_mut(2).zip(head) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        self.out.1
    }

    fn numbers(&mut self, numbers: &[u16]) -> Result<(), ShortBuf> {
        numbers.iter().try_for_each(|number| self.out.append_slice(&number.to_be_bytes()))
    }

    fn count(&mut self, section: usize) {
        if let Some(count) = self.counts.get_mut(section) {
            *count = count.saturating_add(1);
        }
    }
}

const HEAD_BYTES: usize = 12;

/// Whoever has no idea is to ask again soon (RFC 6762 §6.7).
const LEGACY_SECONDS: u32 = 10;
