//! Who has the name: asks for it, tells it, defends it, and gives way.
//!
//! ```text
//!           address                three times nobody minds            twice
//! Away ---------------> Probing -------------------------> Announcing -----> Settled
//!  ^                    |  ^  ^                                |                |
//!  | no address,        |  |  |   somebody says otherwise      |                |
//!  | from anywhere      |  |  +--------------------------------+----------------+
//!  |                    +--+ it is taken: the next name; two ask at once and the other one wins: later again
//! ```

use core::{
    cmp::Ordering,
    net::{Ipv4Addr, SocketAddrV4},
};

use edge_mdns::domain::base::{
    iana::{Opcode, Rcode},
    wire::ParseError,
};
use protocol_core::time::Millis;

use super::{
    LocalName, PORT, Wanted,
    heard::{self, Heard},
    name::Label,
    records::{ANSWER, Owner, Packet, Records, Section, Told, Tone},
};
use crate::simulated::SplitMix;

/// Where the device is in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its address.
    pub address: Ipv4Addr,
    /// How many bits its neighbours' addresses have in common with it; none where nobody but neighbours gets through.
    pub prefix: u8,
}

impl Place {
    fn is_near(self, other: Ipv4Addr) -> bool {
        let mask = u32::MAX.checked_shl(u32::from(32_u8.saturating_sub(self.prefix))).unwrap_or(0);
        (self.address.to_bits() ^ other.to_bits()) & mask == 0
    }
}

/// Answers to a name in the local network. Sends nothing itself: what is to be sent is polled.
pub struct Responder<'n> {
    wanted: Wanted,
    label: Label,
    port: u16,
    own: &'n LocalName,
    place: Option<Place>,
    stage: Stage,
    /// When the stage has something to do next.
    due: Option<Millis>,
    /// When each record is to be told, because somebody asked.
    answers: [Option<Millis>; Records::COUNT],
    /// Who asked for those, if it was one alone.
    asker: Option<Ipv4Addr>,
    /// When each record was told to everybody last.
    told_at: [Option<Millis>; Records::COUNT],
    conflicts: u8,
    last_conflict: Millis,
    /// Answers to one alone in the second that began then.
    replies: (Millis, u8),
    is_news: bool,
    chance: SplitMix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Away,
    Probing { asked: u8 },
    Announcing { told: u8 },
    Settled,
}

const PROBES: u8 = 3;
const ANNOUNCEMENTS: u8 = 2;
const PROBE_PAUSE: Millis = Millis(250);
const SECOND: Millis = Millis(1000);
/// So many conflicts within [`CONFLICT_SPAN`] of each other are somebody's mistake, or somebody's fun (RFC 6762 §8.1).
const CONFLICTS_MAX: u8 = 15;
const CONFLICT_SPAN: Millis = Millis(10_000);
const CONFLICT_PAUSE: Millis = Millis(5000);
/// Answers to one alone in a second: whoever claims to be somebody else should not flood them.
const REPLIES_MAX: u8 = 20;
/// Questions that are sent back to whoever has no idea of mDNS.
const ECHOED_MAX: usize = 4;

impl<'n> Responder<'n> {
    /// Wants that name, for a service on that port. `own` has the name as soon as it is ours, for as long as it is. Of `seed`
    /// the moments are made at which it speaks, so that devices that start together do not speak together.
    #[must_use]
    pub fn new(wanted: Wanted, port: u16, own: &'n LocalName, seed: u64) -> Self {
        Self {
            label: wanted.label(),
            wanted,
            port,
            own,
            place: None,
            stage: Stage::Away,
            due: None,
            answers: [None; _],
            asker: None,
            told_at: [None; _],
            conflicts: 0,
            last_conflict: Millis(0),
            replies: (Millis(0), 0),
            is_news: false,
            chance: SplitMix::new(seed),
        }
    }

    /// Takes in where the device is now, if it is anywhere. Somewhere else its name may be taken.
    pub fn set_place(&mut self, now: Millis, place: Option<Place>) {
        if place != self.place {
            self.place = place;
            self.told_at = [None; _];
            self.start_over(now);
        }
    }

    /// Wants another name from now on. What is to be said about the one before is [`Responder::goodbye`]'s.
    pub fn rename(&mut self, now: Millis, wanted: Wanted) {
        self.label = wanted.label();
        self.wanted = wanted;
        self.start_over(now);
    }

    /// Takes back what it has told, and is gone until it is somewhere again: fills `out` and says how long the packet to
    /// everybody is, if there is one.
    pub fn goodbye(&mut self, now: Millis, out: &mut [u8]) -> Option<usize> {
        let told = self.told().filter(|_| self.is_ours());
        let length = told.and_then(|told| told.answer(out, Records::TAKEN_BACK, Records::NONE, Tone::Goodbye));
        self.set_place(now, None);
        length
    }

    /// Takes in a packet that somebody has sent. There may be an answer for them alone: then `out` is filled, and it says how
    /// long it is.
    #[must_use]
    pub fn handle_packet(&mut self, now: Millis, from: SocketAddrV4, packet: &[u8], out: &mut [u8]) -> Option<usize> {
        let place = self.place?;
        let heard = Heard::from_slice(packet).ok()?;
        let header = heard.header();
        let is_fit = header.opcode() == Opcode::QUERY && header.rcode() == Rcode::NOERROR;
        if !is_fit || !place.is_near(*from.ip()) {
            return None;
        }
        // A packet that ends too early says nothing.
        let done = match header.qr() {
            true if from.port() != PORT => Ok(None),
            true => self.hear_answer(now, from, heard).map(|()| None),
            false => self.hear_question(now, from, heard, out),
        };
        done.unwrap_or_default()
    }

    /// When there is something to poll again.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Millis> {
        self.answers.iter().chain([&self.due]).copied().flatten().min()
    }

    /// Gives the next packet to everybody that is due: fills `out` and says how long it is. To be called until there is none.
    #[must_use]
    pub fn poll_packet(&mut self, now: Millis, out: &mut [u8]) -> Option<usize> {
        if self.due.is_some_and(|due| due <= now) {
            return self.step(now, out);
        }
        let mut records = Records::NONE;
        for (which, answer) in Records::EACH.into_iter().zip(&mut self.answers) {
            if answer.take_if(|due| *due <= now).is_some() {
                records = records.with(which);
            }
        }
        if records.is_empty() {
            return None;
        }
        let more = records.additional();
        let length = self.told()?.answer(out, records, more, Tone::ToAll);
        self.was_told(now, records.with(more));
        length
    }

    /// Is the name new since it was asked for the last time, and ours? Then it is this one, without `.local`.
    #[must_use]
    pub fn poll_news(&mut self) -> Option<&str> {
        core::mem::take(&mut self.is_news).then_some(&self.label)
    }

    fn told(&self) -> Option<Told<'_>> {
        Some(Told { label: &self.label, address: self.place?.address, port: self.port })
    }

    fn is_ours(&self) -> bool {
        matches!(self.stage, Stage::Announcing { .. } | Stage::Settled)
    }

    /// A number of milliseconds up to that one.
    fn chance(&mut self, most: u64) -> u64 {
        // cannot fail: most is no more than some hundreds.
        self.chance.next().checked_rem(most.saturating_add(1)).unwrap_or_default()
    }

    /// Asks whether the name is free, a moment from now.
    fn start_over(&mut self, now: Millis) {
        self.own.set("");
        self.is_news = false;
        self.answers = [None; _];
        if self.place.is_none() {
            self.stage = Stage::Away;
            self.due = None;
            return;
        }
        let pause = if self.conflicts >= CONFLICTS_MAX { CONFLICT_PAUSE } else { Millis(self.chance(PROBE_PAUSE.0)) };
        self.stage = Stage::Probing { asked: 0 };
        self.due = Some(now.after(pause));
    }

    fn count_conflict(&mut self, now: Millis) {
        if now > self.last_conflict.after(CONFLICT_SPAN) {
            self.conflicts = 0;
        }
        self.last_conflict = now;
        self.conflicts = self.conflicts.saturating_add(1);
    }

    /// Does what the stage has to do now.
    fn step(&mut self, now: Millis, out: &mut [u8]) -> Option<usize> {
        let told = match self.stage {
            Stage::Probing { asked } if asked < PROBES => {
                self.stage = Stage::Probing { asked: asked.saturating_add(1) };
                self.due = Some(now.after(PROBE_PAUSE));
                return self.told()?.probe(out);
            }
            Stage::Probing { .. } => {
                self.own.set(&self.label);
                self.is_news = true;
                1
            }
            Stage::Announcing { told } => told.saturating_add(1),
            Stage::Away | Stage::Settled => ANNOUNCEMENTS,
        };
        let is_done = told >= ANNOUNCEMENTS;
        self.stage = if is_done { Stage::Settled } else { Stage::Announcing { told } };
        self.due = (!is_done).then(|| now.after(SECOND));
        self.answers = [None; _];
        self.was_told(now, Records::ALL);
        self.told()?.answer(out, Records::ALL, Records::NONE, Tone::ToAll)
    }

    fn was_told(&mut self, now: Millis, records: Records) {
        let places = self.told_at.iter_mut().zip(&mut self.answers);
        for (which, (told_at, answer)) in Records::EACH.into_iter().zip(places) {
            if records.has(which) {
                *told_at = Some(now);
                *answer = None;
            }
        }
    }

    /// Somebody answers somebody: is it about our name?
    fn hear_answer(&mut self, now: Millis, from: SocketAddrV4, heard: &Heard) -> Result<(), ParseError> {
        let Some(told) = self.told() else { return Ok(()) };
        let is_ours = self.is_ours();
        let (mut is_conflict, mut fading) = (false, Records::NONE);
        // What is behind them is read as well, so that a packet that ends too early says nothing.
        for section in [heard.answer()?, heard.additional()?] {
            for record in section {
                let record = record?;
                is_conflict |= if is_ours { heard::contradicts(&told, &record) } else { heard::takes(&told, &record) };
                if is_ours {
                    fading = fading.with(heard::fading(&told, &record));
                }
            }
        }
        if is_conflict {
            self.count_conflict(now);
            if !is_ours {
                self.wanted.give_way();
                self.label = self.wanted.label();
            }
            self.start_over(now);
        } else if !fading.is_empty() {
            self.tell_later(now, from, fading, Millis(0), SECOND);
        }
        Ok(())
    }

    /// Somebody asks: is it for us, or for our name?
    fn hear_question(
        &mut self,
        now: Millis,
        from: SocketAddrV4,
        heard: &Heard,
        out: &mut [u8],
    ) -> Result<Option<usize>, ParseError> {
        let Some(told) = self.told() else { return Ok(None) };
        if !self.is_ours() {
            // Only one of both may have it. Who asks by ordinary DNS wants no name.
            let mut order = Ordering::Greater;
            let theirs = heard.authority()?;
            for name in [Owner::Host, Owner::Instance] {
                order = order.min(heard::duel(&told, name, theirs)?);
            }
            if order == Ordering::Less && from.port() == PORT {
                // A second, and a moment more: of two that each lost one of the names and wait as long as each other, both
                // would lose again.
                let moment = Millis(self.chance(PROBE_PAUSE.0));
                self.stage = Stage::Probing { asked: 0 };
                self.due = Some(now.after(SECOND).after(moment));
            }
            return Ok(None);
        }

        let (mut wanted, mut is_for_all, mut questions) = (Records::NONE, false, 0_usize);
        for question in heard.question() {
            let (records, is_for_one) = heard::asked(&told, &question?);
            wanted = wanted.with(records);
            is_for_all |= !records.is_empty() && !is_for_one;
            questions = questions.saturating_add(1);
        }
        if from.port() != PORT {
            if wanted.is_empty() || questions > ECHOED_MAX || !self.may_reply(now) {
                return Ok(None);
            }
            // cannot be none: it was there a moment ago.
            return self.told().map_or(Ok(None), |told| reply_to_stranger(&told, heard, wanted, out));
        }
        let mut known = Records::NONE;
        for record in heard.answer()? {
            known = known.with(heard::known(&told, &record?));
        }
        let is_probe = heard.authority()?.next().is_some() && wanted.has(Records::PROBED);
        wanted = wanted.without(known);
        if questions == 0 && self.asker == Some(*from.ip()) {
            // What it knows did not fit into one packet.
            self.forget(known);
        }
        if wanted.is_empty() {
            return Ok(None);
        }
        if !is_for_all && !is_probe && self.is_remembered(now, wanted) {
            let length = if self.may_reply(now) {
                self.told().and_then(|told| told.answer(out, wanted, wanted.additional(), Tone::ToAll))
            } else {
                None
            };
            return Ok(length);
        }
        let pause = match () {
            () if is_probe => 0,
            // More of what it knows is on its way (RFC 6762 §7.2).
            () if heard.header().tc() => self.chance(100).saturating_add(400),
            // Others may have something to say as well.
            () if wanted.has(Records::INSTANCE.with(Records::KIND)) => self.chance(100).saturating_add(20),
            () => 0,
        };
        self.tell_later(now, from, wanted, Millis(pause), if is_probe { PROBE_PAUSE } else { SECOND });
        Ok(None)
    }

    /// Tells these records to everybody after a pause, but none of them twice within a span (RFC 6762 §6).
    fn tell_later(&mut self, now: Millis, from: SocketAddrV4, records: Records, pause: Millis, span: Millis) {
        let is_first = self.answers.iter().all(Option::is_none);
        self.asker = (is_first || self.asker == Some(*from.ip())).then_some(*from.ip());
        for ((which, answer), told_at) in Records::EACH.into_iter().zip(&mut self.answers).zip(&self.told_at) {
            if records.has(which) {
                let earliest = told_at.map_or(now, |told_at| told_at.after(span));
                let due = now.after(pause).max(earliest);
                *answer = Some(answer.map_or(due, |answer| answer.min(due)));
            }
        }
    }

    fn forget(&mut self, known: Records) {
        for (which, answer) in Records::EACH.into_iter().zip(&mut self.answers) {
            if known.has(which) {
                *answer = None;
            }
        }
    }

    /// Was all of this told to everybody lately, so that who else might want it has it? (RFC 6762 §5.4)
    fn is_remembered(&self, now: Millis, records: Records) -> bool {
        Records::EACH.into_iter().zip(&self.told_at).all(|(which, told_at)| {
            let span = Millis(u64::from(which.ttl()).saturating_mul(250));
            !records.has(which) || told_at.is_some_and(|told_at| now < told_at.after(span))
        })
    }

    fn may_reply(&mut self, now: Millis) -> bool {
        let (since, count) = &mut self.replies;
        if now >= since.after(SECOND) {
            (*since, *count) = (now, 0);
        }
        let may = *count < REPLIES_MAX;
        *count = count.saturating_add(u8::from(may));
        may
    }
}

/// Answers somebody who speaks ordinary DNS: as they know it, with what they asked (RFC 6762 §6.7).
fn reply_to_stranger(
    told: &Told<'_>,
    heard: &Heard,
    wanted: Records,
    out: &mut [u8],
) -> Result<Option<usize>, ParseError> {
    let Some(mut packet) = Packet::new(out) else { return Ok(None) };
    for question in heard.question() {
        let question = question?;
        if packet.ask(question.qname(), question.qtype(), question.qclass().to_int()).is_err() {
            return Ok(None);
        }
    }
    // They would take it for an answer to something else.
    let records = wanted.without(Records::NO_OTHER);
    let more = records.additional().without(Records::NO_OTHER);
    let done = packet
        .tell(told, Section::Answer, records, Tone::Legacy)
        .and_then(|()| packet.tell(told, Section::Additional, more, Tone::Legacy));
    Ok(done.ok().map(|()| packet.finish(heard.header().id(), ANSWER)))
}

#[cfg(test)]
mod tests;
