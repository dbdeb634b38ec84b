//! The command line.

use core::{fmt, net::IpAddr, str::FromStr};

use protocol_core::Served;

use crate::board::{Fault, SENSORS};

/// What `--help` says.
pub const HELP: &str = "\
A Mote on this machine: an A2A agent with simulated sensors.

host-sim [OPTIONS]

  --port NUMBER            where to listen, 0 for any port that is free (8080)
  --bind ADDRESS           the IP address to listen on (127.0.0.1)
  --url URL                where clients reach it, if not where it listens
  --agent NAME             sensor or conformance (sensor)
  --seed NUMBER            makes readings and ids the same every time
  --preset NAME            host or pico: how much there is room for (host)
  --dialects LIST          versions of A2A to speak (1.0,0.3,0.1)
  --fault SENSOR:after=N   that sensor gives N readings and then fails
  --help                   this
  --version                the version

A value may also stand behind a '=': --port=8080.
";

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub(crate) agent: AgentName,
    pub(crate) seed: Option<u64>,
    pub(crate) preset: Preset,
    /// The dialects as they were written, and what that means.
    pub(crate) dialects: (String, Served),
    pub(crate) fault: Option<Fault>,
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

/// What is wrong with a command line, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadArgs {
    /// There is no such option.
    Unknown(String),
    /// An option has no value.
    NoValue(&'static str, &'static str),
    /// An option has a value that it cannot have; it can have the last.
    BadValue(&'static str, String, &'static str),
    /// An option that has no values got one.
    Value(String),
}

impl fmt::Display for BadArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "there is no option {name:?}, see --help"),
            Self::NoValue(name, takes) => write!(f, "{name} needs a value: {takes}"),
            Self::BadValue(name, value, takes) => write!(f, "{name} cannot be {value:?}, it takes {takes}"),
            Self::Value(name) => write!(f, "{name} takes no value"),
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
            agent: AgentName::Sensor,
            seed: None,
            preset: Preset::Host,
            dialects: ("1.0,0.3,0.1".into(), Served::ALL),
            fault: None,
        }
    }
}

/// The options that have a value: their names and what they take.
const OPTIONS: [(&str, &str); 8] = [
    ("--port", "a number from 0 to 65535"),
    ("--bind", "an IP address such as 127.0.0.1 or ::1"),
    ("--url", "a URL that begins with http:// or https://"),
    ("--agent", "sensor or conformance"),
    ("--seed", "a number from 0 to 18446744073709551615"),
    ("--preset", "host or pico"),
    ("--dialects", "a list of 1.0, 0.3 and 0.1 with commas"),
    ("--fault", "SENSOR:after=N with a sensor of temperature, humidity and pressure"),
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
                (Some(_), Some(_)) => return Err(BadArgs::Value(name.to_owned())),
                (None, value) => {
                    let known = OPTIONS.iter().find(|(known, _)| *known == name);
                    let (name, takes) = known.copied().ok_or_else(|| BadArgs::Unknown(name.to_owned()))?;
                    let value = value.or_else(|| words.next()).ok_or(BadArgs::NoValue(name, takes))?;
                    args.take(name, &value).ok_or(BadArgs::BadValue(name, value, takes))?;
                }
            }
        }
        Ok(Asked::Run(args))
    }

    /// Takes one option. `None` if it cannot have that value.
    fn take(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "--port" => self.port = number(value)?,
            "--bind" => self.bind = value.parse().ok()?,
            "--url" => self.url = Some(url(value)?.to_owned()),
            "--agent" => {
                self.agent = match value {
                    "sensor" => AgentName::Sensor,
                    "conformance" => AgentName::Conformance,
                    _ => return None,
                }
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
            _ => return None,
        }
        Some(())
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Asked, BadArgs> {
        Args::parse(line.split_whitespace().map(str::to_owned))
    }

    fn run(line: &str) -> Args {
        match parse(line) {
            Ok(Asked::Run(args)) => args,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn everything_has_a_default() {
        assert_eq!(run(""), Args::default());
        assert_eq!(Served::parse(&Args::default().dialects.0), Some(Args::default().dialects.1));
    }

    #[test]
    fn values_stand_behind_a_space_or_an_equals_sign() {
        let spaced =
            run("--port 0 --bind ::1 --url https://a.example/x?y=z --agent conformance --seed 7 --preset pico \
                          --dialects 1.0,0.3 --fault humidity:after=10");
        let glued =
            run("--port=0 --bind=::1 --url=https://a.example/x?y=z --agent=conformance --seed=7 --preset=pico \
                         --dialects=1.0,0.3 --fault=humidity:after=10");
        assert_eq!(spaced, glued);
        assert_eq!(
            spaced,
            Args {
                port: 0,
                bind: IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
                url: Some("https://a.example/x?y=z".into()),
                agent: AgentName::Conformance,
                seed: Some(7),
                preset: Preset::Pico,
                dialects: ("1.0,0.3".into(), Served::parse("0.3,1.0").unwrap()),
                fault: Some(Fault { sensor: 1, after: 10 }),
            }
        );
        assert_eq!(run("--port 1 --port 2").port, 2);
    }

    #[test]
    fn help_and_version_need_nothing_else() {
        assert_eq!(parse("--port 1 --help"), Ok(Asked::Help));
        assert_eq!(parse("-V"), Ok(Asked::Version));
        for (name, _) in OPTIONS {
            assert!(HELP.contains(name), "{name}");
        }
    }

    #[test]
    fn an_error_names_the_option_and_what_it_takes() {
        for (line, sentence) in [
            ("--prot 1", "there is no option \"--prot\", see --help"),
            ("8080", "there is no option \"8080\", see --help"),
            ("--port", "--port needs a value: a number from 0 to 65535"),
            ("--port 65536", "--port cannot be \"65536\", it takes a number from 0 to 65535"),
            ("--port +1", "--port cannot be \"+1\", it takes a number from 0 to 65535"),
            ("--bind here", "--bind cannot be \"here\", it takes an IP address such as 127.0.0.1 or ::1"),
            ("--agent=dog", "--agent cannot be \"dog\", it takes sensor or conformance"),
            ("--seed -1", "--seed cannot be \"-1\", it takes a number from 0 to 18446744073709551615"),
            ("--preset tiny", "--preset cannot be \"tiny\", it takes host or pico"),
            ("--dialects 0.9", "--dialects cannot be \"0.9\", it takes a list of 1.0, 0.3 and 0.1 with commas"),
            ("--help=me", "--help takes no value"),
        ] {
            assert_eq!(parse(line).expect_err(line).to_string(), sentence);
        }
        for line in [
            "--fault temperature",
            "--fault wind:after=1",
            "--fault temperature:after=",
            "--url=",
            "--url ftp://x",
            "--url http://",
            "--url http://a\"b",
            "--dialects=",
        ] {
            assert!(matches!(parse(line), Err(BadArgs::BadValue(..))), "{line}");
        }
    }

    #[test]
    fn the_sentence_for_a_fault_names_the_sensors_there_are() {
        let sentence = parse("--fault x").expect_err("it is wrong").to_string();
        for sensor in SENSORS {
            assert!(sentence.contains(sensor.name), "{sentence}");
        }
    }
}
