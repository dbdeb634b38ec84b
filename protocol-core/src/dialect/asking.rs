//! The other side of the tables: how a client asks in a dialect, and how it understands what it is answered.
//!
//! These tables are apart from [`Dialect`], so that a device that asks nobody does not carry them.

use super::{DIALECTS, Dialect, Method, by_version, v0_1, v0_3, v1_0};
use crate::{
    json::{Json, Kind, Sink, Text, escape},
    model::{Fault, FaultKind, Part, TaskState},
};

/// How one version is asked.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) dialect: &'static Dialect,
    /// What `A2A-Version` says, and people do.
    pub(crate) version: &'static str,
    /// The parameters: to say something, about one task, about all of them.
    pub(crate) say: Words,
    pub(crate) task: Words,
    pub(crate) list: Words,
    /// The members that an answer may be in, and what it is then.
    pub(crate) wrappers: &'static [(&'static str, Sort)],
    /// What `kind` may say.
    pub(crate) kinds: &'static [(&'static str, Sort)],
    /// A task's context; the task that an event is of.
    pub(crate) context: &'static str,
    pub(crate) event_task: &'static str,
    /// What tells artifacts apart.
    pub(crate) artifact: &'static str,
    pub(crate) part: for<'j> fn(Json<'j>) -> Result<Part<'j>, Fault>,
}

/// What a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Task,
    Message,
    Status,
    Artifact,
}

/// A template of parameters.
pub(crate) type Words = &'static [Word];

/// One step of it.
#[derive(Debug)]
pub(crate) enum Word {
    /// This text.
    Lit(&'static str),
    /// This text and what is asked about as a JSON string; nothing at all if there is none.
    Member(&'static str, About),
    /// This text, if the answer is not to be waited for.
    AtOnce(&'static str),
    /// The parts with commas between, each begun as its content wants it. `Data` may have to be an object.
    Parts { text: &'static str, data: &'static str, takes_any: bool },
}

/// What a template can speak about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Message,
    Task,
    /// The task, or the name that a new one gets: its first message's.
    TaskOrMessage,
    Context,
    Page,
}

/// A part of what is said.
#[derive(Clone, Copy, Debug)]
pub enum Saying<'a> {
    /// Words.
    Text(&'a str),
    /// JSON. Versions that take nothing but objects get anything else in one, as its `value`.
    Data(Json<'a>),
}

/// What a template is filled with.
#[derive(Clone, Copy, Default)]
pub(crate) struct Filling<'a> {
    pub(crate) message: Option<&'a str>,
    pub(crate) task: Option<&'a str>,
    pub(crate) context: Option<&'a str>,
    pub(crate) page: Option<&'a str>,
    pub(crate) parts: &'a [Saying<'a>],
    pub(crate) is_at_once: bool,
}

/// All of them, in the order of [`DIALECTS`].
static ASKING: [&Asking; DIALECTS.len()] = [&v0_1::ASKING, &v0_3::ASKING, &v1_0::ASKING];

/// The one to begin with where a card does not say which.
static UNSAID: &Asking = &v0_3::ASKING;

/// The newest one.
pub(crate) fn newest() -> &'static Asking {
    &v1_0::ASKING
}

/// The one that answers for a version.
pub(crate) fn of_version(version: &str) -> Option<&'static Asking> {
    let number = by_version(version.trim_ascii())?.number;
    ASKING.iter().copied().find(|asking| asking.dialect.number == number)
}

/// The one before it.
pub(crate) fn before(asking: &Asking) -> Option<&'static Asking> {
    ASKING.iter().rev().copied().find(|other| other.dialect.number < asking.dialect.number)
}

/// What a method is called.
pub(crate) fn name_of(dialect: &Dialect, method: Method) -> Option<&'static str> {
    dialect.methods.iter().find(|(_, known)| *known == method).map(|(name, _)| *name)
}

/// The state that a word is for.
pub(crate) fn state_of(dialect: &Dialect, word: Text<'_>) -> Option<TaskState> {
    TaskState::ALL.into_iter().zip(dialect.states).find(|(_, known)| word.is(known)).map(|(state, _)| state)
}

/// The kind of fault that an error is: told by its reason, or else by its code. Some codes are for more than one kind, of
/// which the most general stands first; one is every server's own and tells nothing.
pub(crate) fn fault_of(dialect: &Dialect, code: i64, reason: Option<Text<'_>>) -> Option<FaultKind> {
    const OWN: i32 = -32000;
    let said = || FaultKind::ALL.into_iter().zip(&dialect.faults);
    let by_reason = reason.and_then(|reason| said().find(|(_, said)| reason.is(said.reason) && !reason.is_empty()));
    by_reason
        .or_else(|| said().find(|(_, said)| said.code != OWN && i64::from(said.code) == code))
        .map(|(kind, _)| kind)
}

/// What a result is, and where. `is_event` where it came by a stream: in the oldest version a status of its own looks like
/// a task there.
pub(crate) fn sort<'a>(asking: &Asking, result: Json<'a>, is_event: bool) -> Option<(Sort, Json<'a>)> {
    for (name, sort) in asking.wrappers {
        if let Some(inner) = result.member(name).filter(|inner| inner.kind() == Kind::Object) {
            return Some((*sort, inner));
        }
    }
    if let Some(kind) = result.member("kind").and_then(Json::text) {
        let known = asking.kinds.iter().find(|(name, _)| kind.is(name));
        return known.map(|(_, sort)| (*sort, result));
    }
    let has = |name| result.member(name).is_some_and(|value| value.kind() != Kind::Null);
    let sort = if has("artifact") {
        Sort::Artifact
    } else if has("parts") {
        Sort::Message
    } else if !has("status") {
        return None;
    } else if has("final") || (is_event && !has("artifacts") && !has("history") && !has(asking.context)) {
        Sort::Status
    } else {
        Sort::Task
    };
    Some((sort, result))
}

/// Writes a template.
pub(crate) fn write(words: Words, filling: &Filling<'_>, sink: &mut dyn Sink) {
    for word in words {
        match word {
            Word::Lit(text) => sink.put(text),
            Word::AtOnce(text) if filling.is_at_once => sink.put(text),
            Word::AtOnce(_) => {}
            Word::Member(text, about) => {
                let value = match about {
                    About::Message => filling.message,
                    About::Task => filling.task,
                    About::TaskOrMessage => filling.task.or(filling.message),
                    About::Context => filling.context,
                    About::Page => filling.page,
                };
                if let Some(value) = value {
                    sink.put(text);
                    quote(value, sink);
                }
            }
            Word::Parts { text, data, takes_any } => {
                let mut comma = "";
                for part in filling.parts {
                    sink.put(comma);
                    comma = ",";
                    match part {
                        Saying::Text(words) => {
                            sink.put(text);
                            quote(words, sink);
                        }
                        Saying::Data(value) => {
                            let is_put_in = !takes_any && value.kind() != Kind::Object;
                            sink.put(data);
                            sink.put(if is_put_in { "{\"value\":" } else { "" });
                            crate::json::compact(*value, sink);
                            sink.put(if is_put_in { "}" } else { "" });
                        }
                    }
                    sink.put("}");
                }
            }
        }
    }
}

fn quote(text: &str, sink: &mut dyn Sink) {
    sink.put("\"");
    escape(text, sink);
    sink.put("\"");
}

/// Where an agent wants to be asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) asking: &'static Asking,
    pub(crate) url: Text<'a>,
    /// The card says which version that is.
    pub(crate) is_sure: bool,
}

/// What a card calls the binding that is spoken here.
const BINDING: &str = "JSONRPC";

/// The interfaces of a card: address, binding, version. What an older card says of itself comes behind the newer list.
pub(crate) fn interfaces(card: Json<'_>) -> impl Iterator<Item = Interface<'_>> {
    let listed = card.member("supportedInterfaces").into_iter().flat_map(Json::items).map(|interface| Interface {
        url: text_of(interface, "url"),
        binding: text_of(interface, "protocolBinding"),
        version: text_of(interface, "protocolVersion"),
    });
    let version = text_of(card, "protocolVersion");
    let own = Interface { url: text_of(card, "url"), binding: text_of(card, "preferredTransport"), version };
    let others = card.member("additionalInterfaces").into_iter().flat_map(Json::items).map(move |interface| {
        Interface { url: text_of(interface, "url"), binding: text_of(interface, "transport"), version }
    });
    listed.chain(core::iter::once(own)).chain(others).filter(|interface| interface.url.is_some())
}

/// An interface as a card has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interface<'a> {
    pub(crate) url: Option<Text<'a>>,
    pub(crate) binding: Option<Text<'a>>,
    pub(crate) version: Option<Text<'a>>,
}

impl Interface<'_> {
    /// Whether its binding is the one that is spoken here. Where a card names none it is.
    fn is_ours(&self) -> bool {
        self.binding.is_none_or(|binding| binding.is(BINDING))
    }

    fn asking(&self) -> Option<&'static Asking> {
        of_version(&self.version?.decode::<16>()?)
    }
}

fn text_of<'a>(object: Json<'a>, name: &str) -> Option<Text<'a>> {
    object.member(name).and_then(Json::text).filter(|text| !text.is_empty())
}

/// Where to ask: the newest version that the card has an interface for, or the wanted one.
pub(crate) fn choose<'a>(card: Json<'a>, wanted: Option<&'static Asking>) -> Option<Place<'a>> {
    let ours = || interfaces(card).filter(Interface::is_ours);
    let place = |asking, is_sure| move |interface: Interface<'a>| Some(Place { asking, url: interface.url?, is_sure });
    if let Some(wanted) = wanted {
        let named = |interface: &Interface<'_>| {
            interface.asking().is_some_and(|asking| asking.dialect.number == wanted.dialect.number)
        };
        // Cards don't list the oldest ones, and it may be asked for all the same.
        return ours().find(named).or_else(|| ours().last()).and_then(place(wanted, true));
    }
    for asking in ASKING.iter().rev() {
        let speaks = |interface: &Interface<'_>| {
            interface.asking().is_some_and(|found| found.dialect.number == asking.dialect.number)
        };
        if let Some(found) = ours().find(speaks) {
            return place(asking, true)(found);
        }
    }
    ours().find(|interface| interface.version.is_none()).and_then(place(UNSAID, false))
}
