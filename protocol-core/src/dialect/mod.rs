//! Every version of A2A as tables and the few shapes that tables can't say. Outside this folder no code names a version.
//!
//! A dialect reads requests into [`Call`]s and says with templates what its answers look like. Which one speaks is
//! decided once per request, by [`select`].
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

pub(crate) mod asking;
mod card;
mod common;
pub(crate) mod read;
mod v0_1;
mod v0_3;
mod v1_0;

#[cfg(test)]
mod tests;

pub(crate) use card::CARD;

use crate::{
    encode::Ops,
    engine,
    json::Json,
    model::{Call, Fault, FaultKind, History, TaskState},
};

/// One version of the protocol.
pub(crate) struct Dialect {
    /// Its place in [`DIALECTS`].
    pub(crate) number: u8,
    /// The versions it answers for, as `A2A-Version` names them; a trailing dot stands for every minor version.
    pub(crate) versions: &'static [&'static str],
    /// What the card's list of interfaces calls it, if it may stand there.
    pub(crate) interface: Option<&'static str>,
    pub(crate) methods: &'static [(&'static str, Method)],
    pub(crate) decode: for<'a> fn(Method, Json<'a>) -> Result<Call<'a>, Fault>,
    pub(crate) states: [&'static str; TaskState::COUNT],
    /// The client's, the agent's.
    pub(crate) roles: [&'static str; 2],
    pub(crate) faults: [Said; FaultKind::COUNT],
    pub(crate) manners: Manners,
    pub(crate) shapes: Shapes,
}

impl core::fmt::Debug for Dialect {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

impl Dialect {
    /// The first version it answers for.
    pub(crate) fn name(&self) -> &'static str {
        self.versions.first().copied().unwrap_or("")
    }

    /// What the card calls it, or else the first version it answers for: for counters.
    pub(crate) fn label(&self) -> &'static str {
        self.interface.unwrap_or(self.name())
    }

    /// Whether it has a name for the method of that number.
    pub(crate) fn has(&self, method: usize) -> bool {
        self.methods.iter().any(|(_, known)| *known as usize == method)
    }

    /// What the engine must know of it.
    pub(crate) const fn task_manners(&self) -> engine::Manners {
        engine::Manners {
            dialect: self.number,
            reopens: self.manners.reopens,
            knows_replies: self.manners.knows_replies,
            challenges: self.manners.challenges,
        }
    }
}

/// How a fault is told.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) name: &'static str,
    /// The machine-readable reason, where the dialect has one.
    pub(crate) reason: &'static str,
}

/// What a dialect does differently.
pub(crate) struct Manners {
    /// A request without `jsonrpc` is no request.
    pub(crate) insists_on_jsonrpc: bool,
    /// A message to a finished task starts it afresh.
    pub(crate) reopens: bool,
    /// The agent may answer with a message instead of a task.
    pub(crate) knows_replies: bool,
    /// An error before the first event of a stream is an event too.
    pub(crate) errors_as_events: bool,
    /// Clients expect a task to stay open for more unless the agent has a reason to end it.
    pub(crate) leaves_open: bool,
    /// One may still subscribe to a task that has ended, and is shown how.
    pub(crate) shows_ended: bool,
    /// How much history is shown to those who don't say.
    pub(crate) history: History,
    /// Clients know that a webhook may be asked whether it is meant.
    pub(crate) challenges: bool,
    /// A notification is the whole task as it is behind the event, not the event.
    pub(crate) pushes_task: bool,
    /// The media type of a notification.
    pub(crate) push_type: &'static str,
}

/// What its documents look like.
pub(crate) struct Shapes {
    /// The answer to a message, to a message that was answered by a message, to get and cancel, to list.
    pub(crate) sent: Ops,
    pub(crate) replied: Ops,
    pub(crate) task: Ops,
    pub(crate) list: Ops,
    /// The answers about who is notified: one configuration, all of a task.
    pub(crate) push: Ops,
    pub(crate) pushes: Ops,
    /// The first event of a stream. Without one the stream begins with the first record.
    pub(crate) snapshot: Option<Ops>,
    pub(crate) status_event: Ops,
    pub(crate) artifact_event: Ops,
    pub(crate) reply_event: Ops,
    /// What is inside of those: a message, the first members of an artifact, a part.
    pub(crate) message: Ops,
    pub(crate) artifact_head: Ops,
    pub(crate) part: Ops,
    /// The `data` of an error; may be nothing.
    pub(crate) error_data: Ops,
}

/// What a method asks for, before its parameters are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
    SetPush,
    GetPush,
    ListPush,
    DeletePush,
    ExtendedCard,
}

impl Method {
    /// How many there are.
    pub(crate) const COUNT: usize = 11;

    /// All of them in the words of no version: for counters.
    pub(crate) const NAMES: [&'static str; Self::COUNT] = [
        "send",
        "stream",
        "get",
        "list",
        "cancel",
        "subscribe",
        "set_push",
        "get_push",
        "list_push",
        "delete_push",
        "extended_card",
    ];

    pub(crate) const fn is_stream(self) -> bool {
        matches!(self, Self::Stream | Self::Subscribe)
    }
}

/// How many there are.
pub(crate) const DIALECT_COUNT: usize = 3;

/// All of them, oldest first.
pub(crate) static DIALECTS: [&Dialect; DIALECT_COUNT] = [&v0_1::DIALECT, &v0_3::DIALECT, &v1_0::DIALECT];

/// The one that speaks when nothing tells.
static DEFAULT: &Dialect = &v0_3::DIALECT;

/// Which dialects are served: a bit each, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served(u8);

impl Served {
    /// Every dialect.
    pub const ALL: Self = Self(0b111);

    /// The dialects that answer for these versions (`1.0,0.3`), or `None` if one is unknown or there is none.
    pub fn parse(versions: &str) -> Option<Self> {
        let mut served = 0;
        for version in versions.split(',') {
            served |= bit(by_version(version.trim_ascii())?);
        }
        (served != 0).then_some(Self(served))
    }

    pub(crate) const fn has(self, dialect: &Dialect) -> bool {
        self.0 & bit(dialect) != 0
    }

    pub(crate) const fn has_number(self, number: u8) -> bool {
        self.0 & 1u8.wrapping_shl(number as u32) != 0
    }
}

const fn bit(dialect: &Dialect) -> u8 {
    1u8.wrapping_shl(dialect.number as u32)
}

/// The dialects that a card lists as interfaces, newest first.
pub(crate) fn interfaces(served: Served) -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().rev().filter(move |dialect| served.has(dialect)).filter_map(|dialect| dialect.interface)
}

/// The dialect of that number.
pub(crate) fn numbered(number: u8) -> &'static Dialect {
    DIALECTS.get(usize::from(number)).copied().unwrap_or(DEFAULT)
}

/// Who answers.
#[derive(Clone, Copy)]
pub(crate) enum Choice {
    /// This dialect.
    One(&'static Dialect, Method),
    /// The one that made the task, if it has the method; else this one.
    ByTask(&'static Dialect, Method),
}

/// Decides who answers a method.
///
/// A name that only one dialect has decides, and so does `A2A-Version` where two dialects have the name. A version
/// that is named and not spoken is an error. (A2A 1.0 §3.6: no version means 0.3; serving a name that only 1.0 has
/// all the same breaks no client.)
///
/// # Errors
/// A fault, and the dialect to tell it in.
pub(crate) fn select(served: Served, method: &str, version: Option<&str>) -> Result<Choice, (&'static Dialect, Fault)> {
    let version = version.map(str::trim_ascii).filter(|version| !version.is_empty());
    let named = version.map(by_version);
    let mut owners = DIALECTS
        .iter()
        .filter(|dialect| served.has(dialect))
        .filter_map(|dialect| method_of(dialect, method).map(|found| (*dialect, found)));
    let first = owners.next();
    let second = owners.next();
    if matches!(named, Some(None)) {
        let teller = first.map_or_else(|| fallback(served, version), |(dialect, _)| dialect);
        return Err((teller, Fault::new(FaultKind::VersionNotSupported)));
    }
    let named = named.flatten();
    match (first, second) {
        (Some((dialect, found)), None) => Ok(Choice::One(dialect, found)),
        (Some((older, found)), Some((newer, _))) => Ok(match named {
            Some(named) if named.number == older.number => Choice::One(older, found),
            Some(named) if named.number == newer.number => Choice::One(newer, found),
            _ => Choice::ByTask(newer, found),
        }),
        (None, _) => {
            let teller = if method.starts_with(|first: char| first.is_ascii_uppercase()) {
                DIALECTS.iter().rev().copied().find(|dialect| served.has(dialect)).unwrap_or(DEFAULT)
            } else {
                fallback(served, version)
            };
            let kind = match named {
                Some(named) if !served.has(named) => FaultKind::VersionNotSupported,
                _ => FaultKind::MethodNotFound,
            };
            Err((teller, Fault::new(kind)))
        }
    }
}

/// Who tells of an error when the request could not be read.
pub(crate) fn fallback(served: Served, version: Option<&str>) -> &'static Dialect {
    let named = version.and_then(|version| by_version(version.trim_ascii()));
    let default = DIALECTS.iter().rev().copied().find(|dialect| served.has(dialect));
    match named {
        Some(named) if served.has(named) => named,
        _ if served.has(DEFAULT) => DEFAULT,
        _ => default.unwrap_or(DEFAULT),
    }
}

fn by_version(version: &str) -> Option<&'static Dialect> {
    let mut numbers = version.splitn(3, '.');
    let (major, minor) = (numbers.next()?, numbers.next()?);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(major) || !is_number(minor) {
        return None;
    }
    DIALECTS.iter().copied().find(|dialect| {
        dialect.versions.iter().any(|known| {
            let (known_major, known_minor) = known.split_once('.').unwrap_or((known, ""));
            known_major == major && (known_minor.is_empty() || known_minor == minor)
        })
    })
}

fn method_of(dialect: &Dialect, name: &str) -> Option<Method> {
    dialect.methods.iter().find(|(known, _)| *known == name).map(|(_, method)| *method)
}

/// A request without `jsonrpc` about no task that is known: only a dialect that does not insist on it can be meant.
pub(crate) fn of_bare(served: Served, otherwise: &'static Dialect, method: Method) -> &'static Dialect {
    let lenient = |dialect: &&Dialect| !dialect.manners.insists_on_jsonrpc && shares(dialect, otherwise, method);
    DIALECTS.iter().copied().filter(|dialect| served.has(dialect)).find(lenient).unwrap_or(otherwise)
}

/// The dialect that made a task answers for it, if it has the method and is served.
pub(crate) fn of_task(served: Served, birth: u8, otherwise: &'static Dialect, method: Method) -> &'static Dialect {
    let born = numbered(birth);
    if served.has(born) && shares(born, otherwise, method) { born } else { otherwise }
}

/// Whether two dialects have a name for a method in common.
fn shares(one: &Dialect, other: &Dialect, method: Method) -> bool {
    one.methods.iter().any(|(name, found)| *found == method && method_of(other, name).is_some())
}

/// The calls about one task, which all versions before 1.0 have alike.
fn task_call(method: Method, params: Json<'_>, unset: History) -> Result<Call<'_>, Fault> {
    let [id, length, metadata] = read::members(params, ["id", "historyLength", "metadata"], "params")?;
    read::object(metadata, "metadata")?;
    let id = read::required(read::name(id, "id")?, "id")?;
    let history = read::history(length, unset)?;
    Ok(match method {
        Method::Cancel => Call::Cancel { id },
        Method::Subscribe => Call::Subscribe { id, history },
        _ => Call::Get { id, history },
    })
}
