//! The serial console: lines that a person types, and what they mean.
//!
//! It is there for what has to be said before there is a network, and for a look at a device whose log nobody reads.

use core::fmt;

use protocol_core::{door::Classes, push::Challenge};

use crate::{
    naming::{List, WORDS_MAX, Words},
    wifi::{BadNetwork, Network},
};

/// What a person can ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command<'l> {
    /// What can be typed.
    Help,
    /// How the device is.
    Status,
    /// What happened lately.
    Log,
    /// Which network to join.
    Wifi(Network),
    /// No network to join after the next start.
    ForgetWifi,
    /// Whom to ask for the time; `None` for the gateway.
    TimeServer(Option<&'l str>),
    /// What it is called in the local network; `None` to see what it is.
    Name(Option<&'l str>),
    /// Whether it can be found there by that name, from the next start on.
    Findable(bool),
    /// Which names it goes by or which pages may ask, from the next start on.
    Names(List, Words<'l>),
    /// Who gets in.
    Keys(Keys<'l>),
    /// Whom it may call, from the next start on.
    Hooks(Hooks<'l>),
    /// Which root certificates it trusts.
    Trust,
    /// Not to trust the one of that number any more, from the next start on.
    Distrust(usize),
    /// Another key to sign notifications with.
    RotateKey,
    /// A restart.
    Reboot,
    /// Something that only an emulated board does, for tests.
    Trial(Trial),
}

/// What a person can ask about who gets in. Whoever has the device in their hands decides that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys<'l> {
    /// Who does.
    List,
    /// Somebody new does, with a token that is made for it.
    Add {
        /// Its name.
        name: &'l str,
        /// What it may do.
        classes: Classes,
    },
    /// Another token for that name; the one that it has stays valid, too.
    Replace(&'l str),
    /// The older of its two tokens is valid no longer.
    Retire(&'l str),
    /// None of its tokens is.
    Revoke(&'l str),
    /// Guests do, or no longer.
    Guests(bool),
}

/// What a person can ask about whom the device may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hooks<'l> {
    /// Whom it may.
    Show,
    /// Anybody at all, or nobody.
    On(bool),
    /// More than public addresses by https, or no longer.
    Allow(What, bool),
    /// That host: those that are named are the only ones.
    Host(&'l str),
    /// That host no longer.
    Forget(&'l str),
    /// Who is asked first whether it is meant.
    Challenge(Challenge),
}

/// What can be allowed beside `https` to public addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Plain HTTP.
    Http,
    /// The device itself.
    Loopback,
    /// The house.
    Private,
    /// The wire.
    LinkLocal,
}

impl What {
    /// Finds what a word means.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "http" => Some(Self::Http),
            "loopback" => Some(Self::Loopback),
            "private" => Some(Self::Private),
            "link-local" => Some(Self::LinkLocal),
            _ => None,
        }
    }
}

/// What an emulated board does to be tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// Panics.
    Panic,
    /// Uses all of the stack.
    Overflow,
    /// Holds up the executor for ever.
    Hang,
    /// Lets one of the watched loops stand still.
    Stall,
    /// Counts the instructions of calls.
    Bench,
    /// Counts the instructions since the start.
    Count,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complaint {
    /// It means nothing.
    Unknown,
    /// A quote is not closed.
    Quote,
    /// There are too few or too many words.
    Words,
    /// It is longer than [`LINE_MAX`].
    TooLong,
    /// There is no such network.
    Network(BadNetwork),
    /// There are no such classes.
    Classes,
    /// That cannot be allowed.
    What,
}

impl Complaint {
    /// What is wrong, and what would be right.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "not understood; help shows what can be typed",
            Self::Quote => "a quote is not closed",
            Self::Words => "too few or too many words; put a name with spaces into quotes",
            Self::TooLong => "a line has 168 characters at most",
            Self::Network(bad) => bad.as_str(),
            Self::What => {
                "what can be allowed is http, private, link-local and loopback; webhooks host HOST allows a host"
            }
            Self::Classes => "classes are read, act and operator, with + between them; every call needs read",
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for Complaint {}

/// What `help` says.
pub const HELP: &str = "\
status                 how the device is\r\n\
log                    what happened lately\r\n\
wifi SSID [PASSWORD]   the network to join; quotes around what has spaces: wifi \"my net\" secret123\r\n\
forget wifi            no network from the next restart on\r\n\
ntp ADDRESS[:PORT]     whom to ask for the time; ntp alone: the gateway\r\n\
name NAME              NAME.local in the local network; name alone shows what others find it by\r\n\
mdns on, mdns off      whether it can be found there by that name, from the next restart on\r\n\
names [HOST...]        names it goes by beside its address, from the next restart on; names alone: none\r\n\
origins [URL...]       web sites whose pages may ask, from the next restart on; origins alone: none\r\n\
tokens                 who gets in, and what they may do\r\n\
token add NAME CLASSES somebody new, e.g. token add anna read+act; shows a token, once\r\n\
token replace NAME     another token for that name; the one before stays valid until ...\r\n\
token retire NAME      ... this: the one before is valid no longer\r\n\
token revoke NAME      no token of that name is valid any longer\r\n\
open on, open off      whether everybody gets in, without a token\r\n\
webhooks               whom it may call; what is changed counts from the next restart on\r\n\
webhooks allow WHAT    beside https to public addresses: http, private, link-local or loopback\r\n\
webhooks refuse WHAT   no longer\r\n\
webhooks host HOST     only those that are named so: NAME, *.NAME or ADDRESS, with :PORT or without\r\n\
webhooks forget HOST   no longer\r\n\
webhooks challenge WHO who is asked first whether it is meant: always, never or usual (if the dialect has it)\r\n\
webhooks on, webhooks off  whether it calls anybody at all\r\n\
trust                  root certificates that it believes; paste one, as text with its BEGIN and END, to add it\r\n\
trust forget NUMBER    no longer, from the next restart on\r\n\
rotate key             sign notifications with a new key; the one before stays published until the next\r\n\
reboot                 restart";

/// The longest line: as many origins as are kept.
pub const LINE_MAX: usize = 168;

/// Gathers bytes until there is a line.
#[derive(Debug, Default)]
pub struct Line {
    bytes: heapless::Vec<u8, LINE_MAX>,
    is_too_long: bool,
    is_done: bool,
}

impl Line {
    /// An empty line.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: heapless::Vec::new(), is_too_long: false, is_done: false }
    }

    /// Takes a byte. At the end of a line there is what was typed; an empty line is none.
    pub fn push(&mut self, byte: u8) -> Option<Result<&str, Complaint>> {
        if core::mem::take(&mut self.is_done) {
            self.bytes.clear();
            self.is_too_long = false;
        }
        match byte {
            b'\r' | b'\n' => {
                self.is_done = true;
                if self.is_too_long {
                    return Some(Err(Complaint::TooLong));
                }
                let line = core::str::from_utf8(&self.bytes).map(str::trim_ascii);
                line.map_or(Some(Err(Complaint::Unknown)), |line| (!line.is_empty()).then_some(Ok(line)))
            }
            // Backspace and delete.
            0x08 | 0x7f => {
                while self.bytes.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
                None
            }
            _ => {
                self.is_too_long |= self.bytes.push(byte).is_err();
                None
            }
        }
    }
}

/// Finds out what a line means.
///
/// # Errors
/// Says what is wrong with it.
pub fn parse(line: &str) -> Result<Command<'_>, Complaint> {
    let words = split(line)?;
    match words.as_slice() {
        ["help" | "?"] => Ok(Command::Help),
        ["status"] => Ok(Command::Status),
        ["log"] => Ok(Command::Log),
        ["wifi", ssid] => Network::new(ssid, "").map(Command::Wifi).map_err(Complaint::Network),
        ["wifi", ssid, password] => Network::new(ssid, password).map(Command::Wifi).map_err(Complaint::Network),
        ["forget", "wifi"] => Ok(Command::ForgetWifi),
        ["ntp"] => Ok(Command::TimeServer(None)),
        ["ntp", server] => Ok(Command::TimeServer(Some(server))),
        ["name"] => Ok(Command::Name(None)),
        ["name", name] => Ok(Command::Name(Some(name))),
        ["mdns", "on"] => Ok(Command::Findable(true)),
        ["mdns", "off"] => Ok(Command::Findable(false)),
        ["names", hosts @ ..] => list(List::Hosts, hosts),
        ["origins", origins @ ..] => list(List::Origins, origins),
        ["tokens"] => Ok(Command::Keys(Keys::List)),
        ["token", "add", name, classes] => match Classes::parse(classes) {
            Some(classes) => Ok(Command::Keys(Keys::Add { name, classes })),
            None => Err(Complaint::Classes),
        },
        ["token", "replace", name] => Ok(Command::Keys(Keys::Replace(name))),
        ["token", "retire", name] => Ok(Command::Keys(Keys::Retire(name))),
        ["token", "revoke", name] => Ok(Command::Keys(Keys::Revoke(name))),
        ["open", "on"] => Ok(Command::Keys(Keys::Guests(true))),
        ["open", "off"] => Ok(Command::Keys(Keys::Guests(false))),
        ["webhooks"] => Ok(Command::Hooks(Hooks::Show)),
        ["webhooks", "on"] => Ok(Command::Hooks(Hooks::On(true))),
        ["webhooks", "off"] => Ok(Command::Hooks(Hooks::On(false))),
        ["webhooks", "allow", what] => allow(what, true),
        ["webhooks", "refuse", what] => allow(what, false),
        ["webhooks", "host", host] => Ok(Command::Hooks(Hooks::Host(host))),
        ["webhooks", "forget", host] => Ok(Command::Hooks(Hooks::Forget(host))),
        ["webhooks", "challenge", "usual"] => Ok(Command::Hooks(Hooks::Challenge(Challenge::ByDialect))),
        ["webhooks", "challenge", "always"] => Ok(Command::Hooks(Hooks::Challenge(Challenge::Always))),
        ["webhooks", "challenge", "never"] => Ok(Command::Hooks(Hooks::Challenge(Challenge::Never))),
        ["trust"] => Ok(Command::Trust),
        ["trust", "forget", number] => number.parse().map(Command::Distrust).map_err(|_| Complaint::Words),
        ["rotate", "key"] => Ok(Command::RotateKey),
        ["reboot"] => Ok(Command::Reboot),
        ["trial", trial] => TRIALS
            .iter()
            .find(|(name, _)| name == trial)
            .map(|(_, trial)| Command::Trial(*trial))
            .ok_or(Complaint::Unknown),
        [
            "wifi" | "forget" | "ntp" | "name" | "mdns" | "token" | "open" | "webhooks" | "trust" | "rotate" | "trial",
            ..,
        ] => Err(Complaint::Words),
        _ => Err(Complaint::Unknown),
    }
}

fn allow(what: &str, is_allowed: bool) -> Result<Command<'_>, Complaint> {
    What::parse(what).map(|what| Command::Hooks(Hooks::Allow(what, is_allowed))).ok_or(Complaint::What)
}

fn list<'l>(list: List, words: &[&'l str]) -> Result<Command<'l>, Complaint> {
    Words::from_slice(words).map(|words| Command::Names(list, words)).map_err(|_| Complaint::Words)
}

const TRIALS: [(&str, Trial); 6] = [
    ("panic", Trial::Panic),
    ("overflow", Trial::Overflow),
    ("hang", Trial::Hang),
    ("stall", Trial::Stall),
    ("bench", Trial::Bench),
    ("count", Trial::Count),
];

/// Words between spaces; what is between quotes is one, with its spaces. A list is the longest line there is.
fn split(line: &str) -> Result<heapless::Vec<&str, { 1 + WORDS_MAX }>, Complaint> {
    let mut words = heapless::Vec::new();
    let mut rest = line.trim_ascii_start();
    while !rest.is_empty() {
        let (word, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or(Complaint::Quote)?,
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word).map_err(|_| Complaint::Words)?;
        rest = behind.trim_ascii_start();
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{
        string::{String, ToString as _},
        vec::Vec,
    };

    use protocol_core::{Access, door::Unfit};

    use super::*;

    const READ_AND_ACT: Classes = Classes::of(&[Access::Read, Access::Act]);

    const FOUR: [&str; 4] = ["http://a", "http://b", "http://c", "http://d"];

    fn names(list: List, words: &[&'static str]) -> Command<'static> {
        Command::Names(list, Words::from_slice(words).expect("so many fit"))
    }

    fn network(ssid: &str, password: &str) -> Command<'static> {
        Command::Wifi(Network::new(ssid, password).expect("it is good"))
    }

    #[test]
    fn lines_mean_something_or_say_why_not() {
        for (line, meaning) in [
            ("help", Ok(Command::Help)),
            ("status", Ok(Command::Status)),
            ("log", Ok(Command::Log)),
            ("wifi home secret123", Ok(network("home", "secret123"))),
            ("wifi  home   secret123", Ok(network("home", "secret123"))),
            ("wifi \"my net\" \"two words\"", Ok(network("my net", "two words"))),
            ("wifi open", Ok(network("open", ""))),
            ("forget wifi", Ok(Command::ForgetWifi)),
            ("ntp", Ok(Command::TimeServer(None))),
            ("ntp 10.0.2.2:123", Ok(Command::TimeServer(Some("10.0.2.2:123")))),
            ("name", Ok(Command::Name(None))),
            ("name kitchen", Ok(Command::Name(Some("kitchen")))),
            ("name my kitchen", Err(Complaint::Words)),
            ("mdns on", Ok(Command::Findable(true))),
            ("mdns off", Ok(Command::Findable(false))),
            ("mdns", Err(Complaint::Words)),
            ("names", Ok(Command::Names(List::Hosts, Words::new()))),
            ("names mote.lan mote", Ok(names(List::Hosts, &["mote.lan", "mote"]))),
            ("origins", Ok(Command::Names(List::Origins, Words::new()))),
            ("origins http://a http://b http://c http://d", Ok(names(List::Origins, &FOUR))),
            ("names a b c d e", Err(Complaint::Words)),
            ("tokens", Ok(Command::Keys(Keys::List))),
            ("token add anna read+act", Ok(Command::Keys(Keys::Add { name: "anna", classes: READ_AND_ACT }))),
            ("token replace anna", Ok(Command::Keys(Keys::Replace("anna")))),
            ("token retire anna", Ok(Command::Keys(Keys::Retire("anna")))),
            ("token revoke anna", Ok(Command::Keys(Keys::Revoke("anna")))),
            ("open on", Ok(Command::Keys(Keys::Guests(true)))),
            ("open off", Ok(Command::Keys(Keys::Guests(false)))),
            ("token add anna", Err(Complaint::Words)),
            ("token add anna everything", Err(Complaint::Classes)),
            ("token add anna read act", Err(Complaint::Words)),
            ("token", Err(Complaint::Words)),
            ("open", Err(Complaint::Words)),
            ("open yes", Err(Complaint::Words)),
            ("webhooks", Ok(Command::Hooks(Hooks::Show))),
            ("webhooks on", Ok(Command::Hooks(Hooks::On(true)))),
            ("webhooks off", Ok(Command::Hooks(Hooks::On(false)))),
            ("webhooks allow http", Ok(Command::Hooks(Hooks::Allow(What::Http, true)))),
            ("webhooks allow loopback", Ok(Command::Hooks(Hooks::Allow(What::Loopback, true)))),
            ("webhooks refuse private", Ok(Command::Hooks(Hooks::Allow(What::Private, false)))),
            ("webhooks refuse link-local", Ok(Command::Hooks(Hooks::Allow(What::LinkLocal, false)))),
            ("webhooks allow everything", Err(Complaint::What)),
            ("webhooks host *.lan:8443", Ok(Command::Hooks(Hooks::Host("*.lan:8443")))),
            ("webhooks forget *.lan:8443", Ok(Command::Hooks(Hooks::Forget("*.lan:8443")))),
            ("webhooks challenge always", Ok(Command::Hooks(Hooks::Challenge(Challenge::Always)))),
            ("webhooks challenge never", Ok(Command::Hooks(Hooks::Challenge(Challenge::Never)))),
            ("webhooks challenge usual", Ok(Command::Hooks(Hooks::Challenge(Challenge::ByDialect)))),
            ("webhooks challenge", Err(Complaint::Words)),
            ("webhooks host a b", Err(Complaint::Words)),
            ("webhooks dance", Err(Complaint::Words)),
            ("trust", Ok(Command::Trust)),
            ("trust forget 2", Ok(Command::Distrust(2))),
            ("trust forget two", Err(Complaint::Words)),
            ("trust me", Err(Complaint::Words)),
            ("rotate key", Ok(Command::RotateKey)),
            ("rotate", Err(Complaint::Words)),
            ("reboot", Ok(Command::Reboot)),
            ("trial panic", Ok(Command::Trial(Trial::Panic))),
            ("trial dance", Err(Complaint::Unknown)),
            ("wifi", Err(Complaint::Words)),
            ("wifi my net secret123", Err(Complaint::Words)),
            ("wifi a b c d e f", Err(Complaint::Words)),
            ("wifi \"my net", Err(Complaint::Quote)),
            ("wifi home short", Err(Complaint::Network(BadNetwork::Password))),
            ("read temperature", Err(Complaint::Unknown)),
        ] {
            assert_eq!(parse(line), meaning, "{line}");
        }
    }

    fn typed(line: &mut Line, bytes: &[u8]) -> Vec<Result<String, Complaint>> {
        bytes.iter().filter_map(|byte| line.push(*byte).map(|line| line.map(String::from))).collect()
    }

    #[test]
    fn bytes_become_lines() {
        let mut line = Line::new();
        assert_eq!(typed(&mut line, b"\r\n\r\nhelp\r\nsta"), [Ok("help".into())]);
        assert_eq!(typed(&mut line, b"tus\n  reboot  \r"), [Ok("status".into()), Ok("reboot".into())]);
        assert_eq!(typed(&mut line, "x°\x7f\x08help\n".as_bytes()), [Ok("help".into())]);
        assert_eq!(typed(&mut line, b"\xff\n"), [Err(Complaint::Unknown)]);
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_whole_and_the_next_one_is_read() {
        let mut line = Line::new();
        assert_eq!(typed(&mut line, &[b'x'; LINE_MAX + 1]), []);
        assert_eq!(typed(&mut line, b"\nhelp\n"), [Err(Complaint::TooLong), Ok("help".into())]);
    }

    #[test]
    fn complaints_name_the_limits_there_are() {
        assert!(Complaint::TooLong.as_str().contains(&std::format!("{LINE_MAX}")));
        assert_eq!(Complaint::Classes.as_str(), Unfit::Classes.to_string());
        assert_eq!(LINE_MAX, "origins ".len() + crate::naming::LIST_BYTES);
    }

    #[test]
    fn help_names_every_command() {
        for word in [
            "status",
            "log",
            "wifi",
            "forget wifi",
            "ntp",
            "name NAME",
            "mdns on",
            "mdns off",
            "names",
            "origins",
            "tokens",
            "open on",
            "open off",
            "webhooks allow",
            "webhooks refuse",
            "webhooks host",
            "webhooks forget",
            "webhooks challenge",
            "webhooks on",
            "webhooks off",
            "trust",
            "trust forget",
            "rotate key",
            "reboot",
        ] {
            assert!(HELP.contains(word), "{word}");
        }
        for word in ["add", "replace", "retire", "revoke"] {
            assert!(HELP.contains(&std::format!("token {word} NAME")), "{word}");
        }
    }
}
