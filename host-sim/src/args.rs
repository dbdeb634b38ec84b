//! The command line.

use core::{fmt, net::IpAddr, str::FromStr};
use std::path::PathBuf;

use firmware::{http::Names, mdns::Wanted};
use protocol_core::{Level, Served, door::TOKEN_MIN, push::Challenge};

use crate::{
    board::{Fault, SENSORS},
    keys::{BadGrant, BadKeys, Grant, Keys},
    reach::{BadTrust, Calls},
};

/// What `--help` says.
pub const HELP: &str = "\
A Mote on this machine: an A2A agent with simulated sensors.

host-sim [OPTIONS]
host-sim card|ask|watch|get|tasks|cancel URL ...      talks to an agent instead: host-sim ask --help

  --port NUMBER            where to listen, 0 for any port that is free (8080)
  --bind ADDRESS           the IP address to listen on (127.0.0.1)
  --url URL                where clients reach it, if not where it listens
  --agent NAME             sensor or conformance (sensor)
  --seed NUMBER            makes readings and ids the same every time
  --preset NAME            host or pico: how much there is room for (host)
  --dialects LIST          versions of A2A to speak (1.0,0.3,0.1)
  --fault SENSOR:after=N   that sensor gives N readings and then fails
  --token NAME:CLASSES:TOKEN
                           who gets in, and may do what: classes are read, act and operator with + between them, and every
                           call needs read; a token has 16 characters or more (openssl rand -hex 16). May be said again;
                           the same name a second time has an old token and a new one. Other users of this machine see
                           it: better in a file
  --token-file FILE        the same, one in a line, read again on SIGHUP; lines that begin with # are comments
  --open                   everybody gets in, without a token, too
  --store FILE             keeps what a device keeps in its flash, such as its signing key; without it a new key is made at
                           every start. SIGUSR1 changes the key
  --webhooks LIST          where push notifications may go beside https to public addresses: http, private, link-local and
                           loopback with commas, or none. Unless said: http,loopback if it listens on loopback itself
  --webhook-host HOST      push notifications go only to hosts that are named so: NAME, *.NAME or ADDRESS, with :PORT or
                           without; may be said again
  --trust FILE             root certificates (PEM) of those who receive push notifications; may be said again. Without any
                           no https gets through
  --challenge WHO          whose webhooks are asked first if they are meant: always, never or usual, where the client's
                           version of A2A has that (usual)
  --no-push                no push notifications
  --log LEVEL              tells what happens, from that level on: debug, info, warn or error. Without it only GET /log does
  --name HOST              a name it goes by, beside its addresses and localhost; may be said again
  --mdns                   found as mote.local in the local network, or as mote-2.local if there is one, and among its A2A
                           services (_a2a._tcp). Needs --bind with an IPv4 address of this machine, or 0.0.0.0
  --mdns-name NAME         the same by another name than mote
  --allow-origin URL       a web site whose pages may ask, e.g. https://panel.example; may be said again
  --help                   this
  --version                the version

A value may also stand behind a '=': --port=8080. Without --token and --token-file, tokens are taken from the variable
MOTE_TOKEN: one or more in the same form with spaces between them, or a token alone, which is that of the owner, who may do
everything. Without any, everybody on this machine gets in; on another address than loopback it does not start then. A
client sends the token alone: Authorization: Bearer TOKEN.
";

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one in a process")]
pub enum Asked {
    /// To run.
    Run(Args),
    /// What the options are.
    Help,
    /// Which version this is.
    Version,
}

/// How to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    pub(crate) port: u16,
    pub(crate) bind: IpAddr,
    pub(crate) url: Option<String>,
    /// Which of those that are shipped, if one is named.
    pub(crate) agent: Option<AgentName>,
    pub(crate) seed: Option<u64>,
    pub(crate) preset: Preset,
    /// The dialects as they were written, and what that means.
    pub(crate) dialects: (String, Served),
    pub(crate) fault: Option<Fault>,
    /// Who gets in.
    pub(crate) keys: Keys,
    /// Where that is kept which outlives a restart.
    pub(crate) store: Option<PathBuf>,
    /// Whom it may call.
    pub(crate) calls: Calls,
    /// Names it goes by, in lower case.
    pub(crate) names: Vec<String>,
    /// What it is called in the local network, if it is to be found there.
    pub(crate) local: Option<Wanted>,
    /// Web sites whose pages may ask, as browsers name them.
    pub(crate) origins: Vec<String>,
    /// What is told as it happens, from that level on.
    pub(crate) log: Option<Level>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentName {
    Sensor,
    Conformance,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preset {
    Host,
    Pico,
}

impl Preset {
    /// Principals that there is room for.
    pub(crate) const fn principals(self) -> usize {
        match self {
            Self::Host => 64,
            Self::Pico => firmware::keyring::PRINCIPALS,
        }
    }
}

/// What is wrong with a command line, in one sentence. What may be a token is neither told nor kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadArgs {
    /// There is no such option.
    Unknown(String),
    /// A word is no option, and belongs to none.
    Stray,
    /// An option has no value.
    NoValue(&'static str, &'static str),
    /// An option has a value that it cannot have, if that can be told; it can have the last.
    BadValue(&'static str, Option<String>, &'static str),
    /// An option that has no values got one.
    Value(String),
    /// A token is none; not even the wrong one is told.
    Token(BadGrant),
    /// Who gets in does not add up.
    Keys(BadKeys),
    /// Who is trusted cannot be read.
    Trust(BadTrust),
    /// A program with an agent of its own was to run another one.
    OneAgent,
    /// Nobody else could reach it there.
    Unreachable(IpAddr),
}

impl BadArgs {
    /// There is no such option. Only what begins like one is told, up to its value: anything else may be a token.
    pub fn unknown(word: &str) -> Self {
        if word.starts_with('-') {
            Self::Unknown(word.split([':', '=']).next().unwrap_or_default().to_owned())
        } else {
            Self::Stray
        }
    }

    /// An option cannot have that value. It is told if it is too short for a token, and does not look like a grant.
    fn bad_value(name: &'static str, value: String, takes: &'static str) -> Self {
        let is_told = value.len() < TOKEN_MIN && !is_like_a_grant(&value);
        Self::BadValue(name, is_told.then_some(value), takes)
    }
}

impl From<BadKeys> for BadArgs {
    fn from(bad: BadKeys) -> Self {
        Self::Keys(bad)
    }
}

impl fmt::Display for BadArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "there is no option {name:?}, see --help"),
            Self::Stray => f.write_str("there is a word that belongs to no option, see --help"),
            Self::NoValue(name, takes) => write!(f, "{name} needs a value: {takes}"),
            Self::BadValue(name, Some(value), takes) => write!(f, "{name} cannot be {value:?}, it takes {takes}"),
            Self::BadValue(name, None, takes) => write!(f, "{name} cannot have that value, it takes {takes}"),
            Self::Value(name) => write!(f, "{name} takes no value"),
            Self::Token(bad) => write!(f, "--token: {bad}"),
            Self::Keys(bad) => bad.fmt(f),
            Self::Trust(bad) => bad.fmt(f),
            Self::OneAgent => f.write_str("--agent is for host-sim itself: this program has an agent of its own"),
            Self::Unreachable(address) => {
                let why = if address.is_ipv4() { "nobody else can reach it" } else { "mDNS is spoken over IPv4 here" };
                write!(
                    f,
                    "--mdns cannot tell others to go to {address}: {why}; --bind 0.0.0.0, or an address of this machine"
                )
            }
        }
    }
}

impl core::error::Error for BadArgs {}

impl Default for Args {
    fn default() -> Self {
        Self {
            port: 8080,
            bind: IpAddr::from([127, 0, 0, 1]),
            url: None,
            agent: None,
            seed: None,
            preset: Preset::Host,
            dialects: ("1.0,0.3,0.1".into(), Served::ALL),
            fault: None,
            keys: Keys::default(),
            store: None,
            calls: Calls::default(),
            names: Vec::new(),
            local: None,
            origins: Vec::new(),
            log: None,
        }
    }
}

/// The options that have a value: their names and what they take.
const OPTIONS: [(&str, &str); 19] = [
    ("--port", "a number from 0 to 65535"),
    ("--bind", "an IP address such as 127.0.0.1 or ::1"),
    ("--url", "a URL that begins with http:// or https://"),
    ("--agent", "sensor or conformance"),
    ("--seed", "a number from 0 to 18446744073709551615"),
    ("--preset", "host or pico"),
    ("--dialects", "a list of 1.0, 0.3 and 0.1 with commas"),
    ("--fault", "SENSOR:after=N with a sensor of temperature, humidity and pressure"),
    ("--token", "NAME:CLASSES:TOKEN"),
    ("--token-file", "the name of a file, with one colon at most"),
    ("--store", "the name of a file, with one colon at most"),
    ("--webhooks", "a list of http, private, link-local and loopback with commas, or none"),
    ("--webhook-host", "a name, *. and the end of names, or an address, with :PORT if it has one"),
    ("--trust", "the name of a file, with one colon at most"),
    ("--challenge", "always, never or usual"),
    ("--log", "debug, info, warn or error"),
    ("--name", "a host name such as mote.local, without a port"),
    ("--mdns-name", "letters, digits and hyphens between them, 32 at most"),
    ("--allow-origin", "http:// or https:// and a host, with a port if it has one"),
];

impl Args {
    /// Reads a command line, without the name of the program.
    ///
    /// # Errors
    /// Says what is wrong with the first thing that is.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Asked, BadArgs> {
        let mut args = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let flag = match name {
                "--help" | "-h" => Some(Asked::Help),
                "--version" | "-V" => Some(Asked::Version),
                _ => None,
            };
            match (flag, value) {
                (Some(asked), None) => return Ok(asked),
                (None, None) if name == "--open" => args.keys.is_open = true,
                (None, None) if name == "--no-push" => args.calls.is_off = true,
                (None, None) if name == "--mdns" => drop(args.local.get_or_insert_default()),
                (Some(_), Some(_)) => return Err(BadArgs::Value(name.to_owned())),
                (None, Some(_)) if matches!(name, "--open" | "--no-push" | "--mdns") => {
                    return Err(BadArgs::Value(name.to_owned()));
                }
                (None, value) => {
                    let known = OPTIONS.iter().find(|(known, _)| *known == name);
                    let (name, takes) = known.copied().ok_or_else(|| BadArgs::unknown(name))?;
                    let value = value.or_else(|| words.next()).ok_or(BadArgs::NoValue(name, takes))?;
                    if name == "--token" {
                        args.keys.given.push(Grant::parse(&value).map_err(BadArgs::Token)?);
                    } else {
                        args.take(name, &value).ok_or_else(|| BadArgs::bad_value(name, value, takes))?;
                    }
                }
            }
        }
        Ok(Asked::Run(args))
    }

    /// Adds what the environment says about who gets in, reads the files that the command line names, and looks whether all
    /// of it fits together.
    ///
    /// # Errors
    /// Says what does not.
    pub fn with_keys(mut self, environment: Option<&str>) -> Result<Self, BadArgs> {
        self.keys.add_environment(environment.unwrap_or_default())?;
        self.keys.read()?;
        self.calls.read().map_err(BadArgs::Trust)?;
        let principals = self.keys.principals(self.preset.principals())?;
        if self.local.is_some() && (self.bind.is_ipv6() || self.bind.is_loopback()) {
            return Err(BadArgs::Unreachable(self.bind));
        }
        match &self.keys.file {
            Some(file) if principals.is_empty() => Err(BadKeys::Empty(file.clone()).into()),
            None if principals.is_empty() && !self.keys.is_open(self.bind) => Err(BadKeys::Unguarded(self.bind).into()),
            _ => Ok(self),
        }
    }

    /// Takes one option. `None` if it cannot have that value.
    fn take(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "--port" => self.port = number(value)?,
            "--bind" => self.bind = value.parse().ok()?,
            "--url" => self.url = Some(url(value)?.to_owned()),
            "--agent" => {
                self.agent = Some(match value {
                    "sensor" => AgentName::Sensor,
                    "conformance" => AgentName::Conformance,
                    _ => return None,
                })
            }
            "--seed" => self.seed = Some(number(value)?),
            "--preset" => {
                self.preset = match value {
                    "host" => Preset::Host,
                    "pico" => Preset::Pico,
                    _ => return None,
                }
            }
            "--dialects" => self.dialects = (value.to_owned(), Served::parse(value)?),
            "--fault" => {
                let (sensor, after) = value.split_once(":after=")?;
                let sensor = SENSORS.iter().position(|known| known.name == sensor)?;
                self.fault = Some(Fault { sensor, after: number(after)? });
            }
            // The name of a file is told when it cannot be read.
            "--token-file" | "--store" | "--trust" if value.is_empty() || is_like_a_grant(value) => return None,
            "--token-file" => self.keys.file = Some(value.into()),
            "--store" => self.store = Some(value.into()),
            "--trust" => self.calls.trust(value),
            "--webhooks" => self.calls.allow(value)?,
            "--webhook-host" => self.calls.name(value)?,
            "--challenge" => {
                self.calls.challenge = match value {
                    "usual" => Challenge::ByDialect,
                    "always" => Challenge::Always,
                    "never" => Challenge::Never,
                    _ => return None,
                }
            }
            "--log" => self.log = Some(Level::parse(value)?),
            "--name" => self.names.push(host(value)?),
            "--mdns-name" => self.local = Some(Wanted::new(value)?),
            "--allow-origin" => self.origins.push(origin(value)?),
            _ => return None,
        }
        Some(())
    }
}

/// Whether it has the three parts of a grant, and so perhaps a token.
fn is_like_a_grant(text: &str) -> bool {
    text.bytes().filter(|byte| *byte == b':').count() >= 2
}

/// Digits and nothing else: `+1` parses in Rust, but nobody means it.
fn number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// It goes into the card as it is.
fn url(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"))?;
    let is_plain = rest.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'<' | b'>'));
    (is_plain && !rest.is_empty()).then_some(text)
}

/// A host as browsers write it. A port would be one too many: it is known.
fn host(text: &str) -> Option<String> {
    Names::is_host(text).then(|| text.to_ascii_lowercase())
}

/// An origin as browsers write it: in lower case, and without a path.
fn origin(text: &str) -> Option<String> {
    let origin = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
    Names::is_origin(&origin).then_some(origin)
}

#[cfg(test)]
mod tests;
