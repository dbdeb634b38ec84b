//! What others say, as far as it is about us. Everything in here was written by a stranger.

use core::cmp::Ordering;

use edge_mdns::{
    Buf,
    domain::{
        base::{
            Message, ParsedName, Question, RecordData, Rtype, ToName as _, message::RecordSection,
            rdata::ParseRecordData, record::ParsedRecord, wire::ParseError,
        },
        dep::octseq::{OctetsBuilder as _, Parser},
    },
};

use super::records::{ANY_CLASS, INTERNET, Owner, Records, TOP_BIT, Told};

/// The packet of somebody else. Its length bounds the work: names are compared label by label, and can only point back.
pub(super) type Heard = Message<[u8]>;
type Record<'p> = ParsedRecord<'p, [u8]>;
type Name<'p> = ParsedName<&'p [u8]>;

/// Bytes of a record that are looked at: ours are shorter.
const DATA_MAX: usize = 264;

/// What a question is about, and whether an answer to it may go to whoever asked alone.
pub(super) fn asked(told: &Told<'_>, question: &Question<Name<'_>>) -> (Records, bool) {
    let class = question.qclass().to_int();
    let is_known = matches!(class & !TOP_BIT, INTERNET | ANY_CLASS);
    let owner = is_known.then(|| told.owner(question.qname())).flatten();
    (owner.map_or(Records::NONE, |owner| owner.asked(question.qtype())), class & TOP_BIT != 0)
}

/// Finds the record that is known already, if it is one of ours and will be known for a while (RFC 6762 §7.1).
pub(super) fn known(told: &Told<'_>, record: &Record<'_>) -> Records {
    let (which, is_fresh) = alike(told, record);
    if is_fresh { which } else { Records::NONE }
}

/// Finds the record that others are told to forget, or soon will, if it is one of ours: they are to hear that it is still
/// true (RFC 6762 §6.6).
pub(super) fn fading(told: &Told<'_>, record: &Record<'_>) -> Records {
    let (which, is_fresh) = alike(told, record);
    if is_fresh { Records::NONE } else { which }
}

/// Which of ours says the same, if one does, and whether that one is believed for a while longer.
fn alike(told: &Told<'_>, record: &Record<'_>) -> (Records, bool) {
    let which = same_kind(told, record).filter(|which| compare(told, *which, record) == Ordering::Equal);
    which.map_or((Records::NONE, false), |which| (which, record.ttl().as_secs() >= which.ttl() / 2))
}

/// Does an answer say something else about a name that only one can have? (RFC 6762 §9)
pub(super) fn contradicts(told: &Told<'_>, record: &Record<'_>) -> bool {
    let is_goodbye = record.ttl().as_secs() == 0;
    !is_goodbye
        && same_kind(told, record)
            .is_some_and(|which| which.has(Records::PROBED) && compare(told, which, record) != Ordering::Equal)
}

/// Does an answer say anything else than we would about a name that we want? Then it is taken (RFC 6762 §8.1).
pub(super) fn takes(told: &Told<'_>, record: &Record<'_>) -> bool {
    let is_about_us = record.ttl().as_secs() != 0
        && record.class().to_int() & !TOP_BIT == INTERNET
        // What somebody does not have: what they have is told, too.
        && record.rtype() != Rtype::NSEC
        && matches!(told.owner(&record.owner()), Some(Owner::Host | Owner::Instance));
    is_about_us && same_kind(told, record).is_none_or(|which| compare(told, which, record) != Ordering::Equal)
}

/// Who wins a name that two ask for at the same time: whose records, in their order, are later (RFC 6762 §8.2).
pub(super) fn duel<'p>(told: &Told<'_>, name: Owner, theirs: RecordSection<'p, [u8]>) -> Result<Ordering, ParseError> {
    // In the order of their types, 1, 16 and 33.
    let ours: &[Records] = match name {
        Owner::Host => &[Records::ADDRESS],
        _ => &[Records::TEXT, Records::SERVER],
    };
    let mut last = None;
    for which in ours {
        // The next of theirs. They may be in any order, and there may be any number.
        let mut next: Option<Rank<'p>> = None;
        for record in theirs {
            let record = record?;
            if told.owner(&record.owner()) != Some(name) {
                continue;
            }
            let rank = Rank::of(record);
            if last.as_ref().is_none_or(|last| rank.compare(last) == Ordering::Greater)
                && next.as_ref().is_none_or(|next| rank.compare(next) == Ordering::Less)
            {
                next = Some(rank);
            }
        }
        let Some(next) = next else { return Ok(Ordering::Greater) };
        let order = next.against(told, *which);
        if order != Ordering::Equal {
            return Ok(order);
        }
        last = Some(next);
    }
    for record in theirs {
        let record = record?;
        if told.owner(&record.owner()) == Some(name)
            && let Some(last) = &last
            && Rank::of(record).compare(last) == Ordering::Greater
        {
            return Ok(Ordering::Less);
        }
    }
    Ok(Ordering::Equal)
}

/// The place of a record among those of one name.
struct Rank<'p> {
    class: u16,
    rtype: u16,
    record: Record<'p>,
}

impl<'p> Rank<'p> {
    fn of(record: Record<'p>) -> Self {
        Self { class: record.class().to_int() & !TOP_BIT, rtype: record.rtype().to_int(), record }
    }

    fn compare(&self, other: &Self) -> Ordering {
        let (mut one, mut two) = ([0; DATA_MAX], [0; DATA_MAX]);
        (self.class, self.rtype).cmp(&(other.class, other.rtype)).then_with(|| {
            let (one, two) = (data(&self.record, &mut one), data(&other.record, &mut two));
            one.cmp(two)
        })
    }

    /// How ours is to theirs.
    fn against(&self, told: &Told<'_>, which: Records) -> Ordering {
        let ours = (INTERNET, which.rtype().to_int());
        ours.cmp(&(self.class, self.rtype)).then_with(|| compare(told, which, &self.record))
    }
}

/// Which of ours has the name, the type and the class of that one?
fn same_kind(told: &Told<'_>, record: &Record<'_>) -> Option<Records> {
    if record.class().to_int() & !TOP_BIT != INTERNET {
        return None;
    }
    let which = match (record.rtype(), told.owner(&record.owner())?) {
        (Rtype::A, Owner::Host) => Records::ADDRESS,
        (Rtype::SRV, Owner::Instance) => Records::SERVER,
        (Rtype::TXT, Owner::Instance) => Records::TEXT,
        (Rtype::PTR, Owner::Service) => Records::INSTANCE,
        (Rtype::PTR, Owner::Kinds) => Records::KIND,
        _ => return None,
    };
    Some(which)
}

/// How what we say is to what they say.
fn compare(told: &Told<'_>, which: Records, theirs: &Record<'_>) -> Ordering {
    let (mut one, mut two) = ([0; DATA_MAX], [0; DATA_MAX]);
    let ours = told.data(which, &mut one).and_then(|length| one.get(..length));
    let theirs = data(theirs, &mut two);
    ours.unwrap_or_default().cmp(theirs)
}

/// What is behind the head of a record, its names written out (RFC 6762 §8.2.1). Nothing, if it is no such record.
fn data<'d>(record: &Record<'_>, out: &'d mut [u8; DATA_MAX]) -> &'d [u8] {
    let mut out = Buf::new(out);
    if let Ok(Some(record)) = record.to_record::<Data<'_>>() {
        let Data { bytes, name, .. } = record.data();
        // What does not fit is longer than ours: it is another one without its end, too.
        let fit = bytes.get(..bytes.len().min(DATA_MAX)).unwrap_or_default();
        let _ = out.append_slice(fit);
        if let Some(name) = name {
            let _ = name.compose(&mut out);
        }
    }
    let Buf(bytes, length) = out;
    bytes.get(..length).unwrap_or_default()
}

/// What is behind the head of a record: bytes, and a name in those that we know to have one.
struct Data<'p> {
    rtype: Rtype,
    bytes: &'p [u8],
    name: Option<Name<'p>>,
}

impl RecordData for Data<'_> {
    fn rtype(&self) -> Rtype {
        self.rtype
    }
}

impl<'p> ParseRecordData<'p, [u8]> for Data<'p> {
    fn parse_rdata(rtype: Rtype, parser: &mut Parser<'p, [u8]>) -> Result<Option<Self>, ParseError> {
        let (bytes, has_name) = match rtype {
            Rtype::PTR => (0, true),
            Rtype::SRV => (6, true),
            _ => (parser.remaining(), false),
        };
        let bytes = parser.parse_octets(bytes)?;
        let name = if has_name { Some(ParsedName::parse(parser)?) } else { None };
        Ok(Some(Self { rtype, bytes, name }))
    }
}
