//! What a client wants, from plain words or from a data part.
//!
//! The words are a model's or a person's, and so is the data: nothing here panics, whatever comes in.
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use core::fmt;

use protocol_core::{
    Said,
    json::{Json, Kind, Text},
    time::Millis,
};

use super::{
    reading::Scale,
    words::{Words, is},
};
use crate::{
    board::{Position, Sensor},
    milli::{self, Milli},
};

/// A request that was understood. Sensors and actuators are places in the board's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Read { sensor: usize, scale: Option<Scale> },
    Watch { sensor: usize, scale: Option<Scale>, plan: Plan },
    Alert { sensor: usize, bound: Bound },
    Calibrate { sensor: usize, reference: Option<Milli> },
    Report { sensor: usize },
    Set { actuator: usize, position: Position },
    Reboot,
    ForgetWifi,
    /// Once more what an earlier task did.
    Again { scale: Option<Scale> },
    /// What an earlier task measured, on another scale.
    Convert { scale: Scale },
    /// Everything else.
    Help,
}

/// How often to measure, and when to stop: after so many times or after so long, whichever is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) every: Millis,
    pub(super) times: u32,
    pub(super) span: Option<Millis>,
}

/// What a reading is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Above(Milli),
    Below(Milli),
}

impl Bound {
    pub(super) fn is_crossed_by(self, value: Milli) -> bool {
        match self {
            Self::Above(bound) => value > bound,
            Self::Below(bound) => value < bound,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Above(bound) => write!(f, "above {bound}"),
            Self::Below(bound) => write!(f, "below {bound}"),
        }
    }
}

/// Why a request cannot be done as it was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// It names no sensor that is here.
    Sensor,
    /// It names nothing that could be switched here.
    Actuator,
    /// An argument is not in its range.
    Outside(&'static Range),
    /// Something else is wrong with it, in words.
    Because(&'static str),
}

/// What an argument may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Range {
    what: &'static str,
    min: i64,
    max: i64,
    unit: &'static str,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} must be a whole number from {} to {}{}", self.what, self.min, self.max, self.unit)
    }
}

impl Range {
    fn check(&'static self, value: Option<i64>) -> Result<u32, Misfit> {
        let value = value.filter(|value| (self.min..=self.max).contains(value)).ok_or(Misfit::Outside(self))?;
        u32::try_from(value).map_err(|_| Misfit::Outside(self))
    }
}

static TIMES: Range = Range { what: "the number of times", min: 1, max: 10_000, unit: "" };
static EVERY: Range = Range { what: "the time between readings", min: 0, max: 3_600_000, unit: " ms" };
static SPAN: Range = Range { what: "the time to watch", min: 1, max: 86_400_000, unit: " ms" };

impl Plan {
    fn new(times: Option<u32>, every: Option<u32>, span: Option<u32>) -> Self {
        let times = match (times, span) {
            (Some(times), _) => times,
            (None, None) => 10,
            (None, Some(_)) => u32::try_from(TIMES.max).unwrap_or(u32::MAX),
        };
        Self { every: Millis(every.map_or(1000, u64::from)), times, span: span.map(|span| Millis(span.into())) }
    }
}

/// What there is to talk about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) sensors: &'a [Sensor],
    pub(super) actuators: &'a [&'static str],
}

impl Place<'_> {
    /// Understands a message: its data part if that names a skill, else its words.
    pub(super) fn understand(self, said: &Said) -> Result<Command, Misfit> {
        let data = said.data.as_ref().and_then(|data| Json::parse(data.as_bytes()).ok());
        if let Some((data, skill)) = data.and_then(|data| Some((data, data.member("skill")?.text()?))) {
            return self.from_data(skill, data);
        }
        self.from_words(said.text.as_deref().unwrap_or_default())
    }

    fn from_words(self, text: &str) -> Result<Command, Misfit> {
        let words = Words::new(text);
        let scale = words.look_up(SCALES).map(|(scale, _)| scale);
        let sensor = self.sensor(words);
        let verb = words.look_up(VERBS).map(|(verb, _)| verb);
        let bound = words.look_up(BOUNDS);
        if sensor.is_none() && words.look_up(AGAIN).is_some() {
            return Ok(Command::Again { scale });
        }
        if bound.is_some() && verb != Some(Verb::Alert) && (words.has("when") || words.has("if")) {
            return self.alert(sensor, bound, scale);
        }
        match verb {
            Some(Verb::Read) => Ok(Command::Read { sensor: sensor.ok_or(Misfit::Sensor)?, scale }),
            Some(Verb::Watch) => {
                Ok(Command::Watch { sensor: sensor.ok_or(Misfit::Sensor)?, scale, plan: plan_in(words)? })
            }
            Some(Verb::Alert) => self.alert(sensor, bound, scale),
            Some(Verb::Calibrate) => {
                let sensor = sensor.ok_or(Misfit::Sensor)?;
                Ok(Command::Calibrate { sensor, reference: self.amount_in(words, sensor) })
            }
            Some(Verb::Report) => Ok(Command::Report { sensor: sensor.ok_or(Misfit::Sensor)? }),
            Some(Verb::Set) => self.set_in(words, self.actuator(words).ok_or(Misfit::Actuator)?),
            // These are meant only when nothing else is said: "do not reboot" is no wish.
            Some(Verb::Reboot) if is_only(words, VERBS) => Ok(Command::Reboot),
            Some(Verb::Forget) if is_only(words, VERBS) && is_wifi(words) => Ok(Command::ForgetWifi),
            Some(Verb::Reboot | Verb::Forget) => Ok(Command::Help),
            None => match (sensor, self.actuator(words), scale) {
                (Some(sensor), _, _) => Ok(Command::Read { sensor, scale }),
                (None, Some(actuator), _) => self.set_in(words, actuator),
                (None, None, Some(scale)) => Ok(Command::Convert { scale }),
                (None, None, None) => Ok(Command::Help),
            },
        }
    }

    fn alert(
        self,
        sensor: Option<usize>,
        bound: Option<(Side, Words<'_>)>,
        scale: Option<Scale>,
    ) -> Result<Command, Misfit> {
        const HOW: Misfit = Misfit::Because("an alert needs a bound, such as: alert when temperature above 30");
        let sensor = sensor.ok_or(Misfit::Sensor)?;
        let (side, behind) = bound.ok_or(HOW)?;
        let value = behind.numbers().next().and_then(|number| number.milli()).ok_or(HOW)?;
        Ok(Command::Alert { sensor, bound: side.bound(self.in_unit_of(sensor, value, scale)) })
    }

    fn set_in(self, words: Words<'_>, actuator: usize) -> Result<Command, Misfit> {
        const HOW: Misfit = Misfit::Because("say on or off, such as: set led on");
        let (position, _) = words.look_up(POSITIONS).ok_or(HOW)?;
        Ok(Command::Set { actuator, position })
    }

    /// The one number that a message has, in the unit of the sensor. None if there are more: which would it be?
    pub(super) fn amount(self, said: &Said, sensor: usize) -> Option<Milli> {
        let data = said.data.as_ref().and_then(|data| Json::parse(data.as_bytes()).ok());
        if let Some(value) = data.and_then(|data| data.member("reference").or_else(|| data.member("value"))) {
            return decimal(value);
        }
        self.amount_in(Words::new(said.text.as_deref()?), sensor)
    }

    fn amount_in(self, words: Words<'_>, sensor: usize) -> Option<Milli> {
        let mut numbers = words.numbers();
        let value = numbers.next()?.milli()?;
        let scale = words.look_up(SCALES).map(|(scale, _)| scale);
        numbers.next().is_none().then(|| self.in_unit_of(sensor, value, scale))
    }

    fn in_unit_of(self, sensor: usize, value: Milli, scale: Option<Scale>) -> Milli {
        let unit = self.sensors.get(sensor).and_then(|sensor| Scale::of(sensor.unit));
        match (scale, unit) {
            (Some(scale), Some(unit)) => scale.convert(value, unit),
            _ => value,
        }
    }

    fn from_data(self, skill: Text<'_>, data: Json<'_>) -> Result<Command, Misfit> {
        let sensor = || {
            let name = data.member("sensor").and_then(Json::text).ok_or(Misfit::Sensor)?;
            let is_it = |sensor: &Sensor| is_text(name, sensor.name);
            self.sensors.iter().position(is_it).ok_or(Misfit::Sensor)
        };
        let scale = data.member("unit").and_then(Json::text).and_then(|unit| choose(unit, SCALES));
        let range = |name, range: &'static Range| {
            data.member(name).filter(|value| value.kind() != Kind::Null).map(|value| range.check(whole(value))).transpose()
        };
        Ok(match choose(skill, SKILLS) {
            Some(Verb::Read) => Command::Read { sensor: sensor()?, scale },
            Some(Verb::Watch) => {
                let plan = Plan::new(range("times", &TIMES)?, range("everyMs", &EVERY)?, range("forMs", &SPAN)?);
                Command::Watch { sensor: sensor()?, scale, plan }
            }
            Some(Verb::Alert) => {
                const HOW: Misfit = Misfit::Because("an alert needs a number as \"above\" or as \"below\"");
                let sensor = sensor()?;
                let bound = |name, side: Side| {
                    let value = data.member(name).and_then(decimal)?;
                    Some(side.bound(self.in_unit_of(sensor, value, scale)))
                };
                let bound = bound("above", Side::Above).or_else(|| bound("below", Side::Below)).ok_or(HOW)?;
                Command::Alert { sensor, bound }
            }
            Some(Verb::Calibrate) => {
                let sensor = sensor()?;
                let reference = data.member("reference").and_then(decimal);
                Command::Calibrate { sensor, reference: reference.map(|value| self.in_unit_of(sensor, value, scale)) }
            }
            Some(Verb::Report) => Command::Report { sensor: sensor()? },
            Some(Verb::Set) => {
                const HOW: Misfit = Misfit::Because("set needs \"on\" or \"off\" as \"state\"");
                let name = data.member("actuator").and_then(Json::text).ok_or(Misfit::Actuator)?;
                let actuator = self.actuators.iter().position(|known| is_text(name, known)).ok_or(Misfit::Actuator)?;
                let state = data.member("state").and_then(Json::text).and_then(|state| choose(state, POSITIONS));
                Command::Set { actuator, position: state.ok_or(HOW)? }
            }
            Some(Verb::Reboot) => Command::Reboot,
            Some(Verb::Forget) => Command::ForgetWifi,
            None => Command::Help,
        })
    }

    /// The first sensor that is named; `temp` and `temperatures` are as good as `temperature`.
    fn sensor(self, mut words: Words<'_>) -> Option<usize> {
        words.find_map(|word| self.sensors.iter().position(|sensor| names(word, sensor.name)))
    }

    fn actuator(self, mut words: Words<'_>) -> Option<usize> {
        words.find_map(|word| self.actuators.iter().position(|name| names(word, name)))
    }
}

/// How often and how long, as far as the words say.
fn plan_in(words: Words<'_>) -> Result<Plan, Misfit> {
    const HOW: Misfit = Misfit::Because("say how often with a number and a unit, such as: every 200 ms");
    let mut every = None;
    if let Some(((), behind)) = words.look_up(EVERY_WORDS) {
        // "every second" is every one second.
        let (count, mut behind) = match behind.number() {
            Some(number) => (number.thousandths(), number.behind),
            None => (Some(1000), behind),
        };
        let unit = behind.next().and_then(|unit| unit_of(unit, UNITS));
        let millis = match (unit, words_number(words, EVERY_WORDS)) {
            (Some(unit), _) => unit,
            (None, true) => 1000,
            (None, false) => return Err(HOW),
        };
        every = Some(EVERY.check(count.map(|count| count.saturating_mul(millis) / 1000))?);
    }
    let (mut times, mut span) = (None, None);
    for number in words.numbers() {
        if number.behind.clone().next().and_then(|word| unit_of(word, COUNTS)).is_some() {
            times = Some(TIMES.check(number.thousandths().and_then(whole_of))?);
        }
    }
    if let Some(((), behind)) = words.look_up(FOR_WORDS) {
        let mut behind = behind;
        let (count, unit) = match behind.number() {
            Some(number) => (number.thousandths(), number.behind.clone().next()),
            // "for a minute" is for one minute; "for me" is for nobody else.
            None => (behind.next().filter(|word| is(word, "a") || is(word, "one")).map(|_| 1000), behind.next()),
        };
        let is_count = unit.and_then(|unit| unit_of(unit, COUNTS)).is_some();
        let millis = unit.and_then(|unit| unit_of(unit, UNITS));
        let is_number = words_number(words, FOR_WORDS);
        if !is_count && (is_number || (count.is_some() && millis.is_some())) {
            let millis = millis.unwrap_or(1000);
            span = Some(SPAN.check(count.map(|count| count.saturating_mul(millis) / 1000))?);
        }
    }
    Ok(Plan::new(times, every, span))
}

/// Whether a number stands behind the first of these words.
fn words_number(words: Words<'_>, table: &[(&str, ())]) -> bool {
    words.look_up(table).is_some_and(|(_, behind)| behind.number().is_some())
}

fn unit_of<T: Copy>(word: &str, table: &[(&str, T)]) -> Option<T> {
    table.iter().find(|(known, _)| is(word, known)).map(|(_, value)| *value)
}

fn whole_of(thousandths: i64) -> Option<i64> {
    (thousandths % 1000 == 0).then_some(thousandths / 1000)
}

/// A whole number in JSON; models write `"10"` and `10.0` too.
fn whole(value: Json<'_>) -> Option<i64> {
    value.integer().or_else(|| milli::parse_wide(&value.text()?.decode::<16>()?).and_then(whole_of))
}

/// A number in JSON, or one in quotes.
fn decimal(value: Json<'_>) -> Option<Milli> {
    match value.text() {
        Some(text) => Milli::parse(&text.decode::<16>()?),
        None => Milli::parse(value.raw()),
    }
}

fn choose<T: Copy>(text: Text<'_>, table: &[(&str, T)]) -> Option<T> {
    table.iter().find(|(known, _)| is_text(text, known)).map(|(_, value)| *value)
}

fn is_text(text: Text<'_>, word: &str) -> bool {
    text.chars().map(|c| c.to_ascii_lowercase()).eq(word.chars())
}

/// Whether a word means that name: itself, with an s behind it, or its first four letters and more.
fn names(word: &str, name: &str) -> bool {
    let is_short = word.len() >= 4 && name.get(..word.len()).is_some_and(|begin| is(word, begin));
    let is_many = word.len() == name.len() + 1
        && word.get(..name.len()).is_some_and(|begin| is(begin, name))
        && word.ends_with(['s', 'S']);
    is(word, name) || is_short || is_many
}

/// Whether there is nothing but words that say nothing, and verbs.
fn is_only(mut words: Words<'_>, verbs: &[(&str, Verb)]) -> bool {
    words.all(|word| unit_of(word, verbs).is_some() || FILLERS.iter().any(|filler| is(word, filler)))
}

fn is_wifi(words: Words<'_>) -> bool {
    words.has("wifi") || words.has("wlan") || (words.has("wi") && words.has("fi"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Read,
    Watch,
    Alert,
    Calibrate,
    Report,
    Set,
    Reboot,
    Forget,
}

#[derive(Clone, Copy, Debug)]
enum Side {
    Above,
    Below,
}

impl Side {
    const fn bound(self, value: Milli) -> Bound {
        match self {
            Self::Above => Bound::Above(value),
            Self::Below => Bound::Below(value),
        }
    }
}

/// The skills by their ids, for data parts.
const SKILLS: &[(&str, Verb)] = &[
    ("read", Verb::Read),
    ("watch", Verb::Watch),
    ("alert", Verb::Alert),
    ("calibrate", Verb::Calibrate),
    ("report", Verb::Report),
    ("set", Verb::Set),
    ("reboot", Verb::Reboot),
    ("forget-wifi", Verb::Forget),
];

/// Words that ask for something. "What", "show" and the like are not here: with a sensor they mean to read it, and
/// without one they mean nothing that a node could do.
const VERBS: &[(&str, Verb)] = &[
    ("read", Verb::Read),
    ("measure", Verb::Read),
    ("sample", Verb::Read),
    ("watch", Verb::Watch),
    ("monitor", Verb::Watch),
    ("follow", Verb::Watch),
    ("track", Verb::Watch),
    ("stream", Verb::Watch),
    ("observe", Verb::Watch),
    ("alert", Verb::Alert),
    ("notify", Verb::Alert),
    ("warn", Verb::Alert),
    ("calibrate", Verb::Calibrate),
    ("report", Verb::Report),
    ("export", Verb::Report),
    ("csv", Verb::Report),
    ("history", Verb::Report),
    ("set", Verb::Set),
    ("turn", Verb::Set),
    ("switch", Verb::Set),
    ("reboot", Verb::Reboot),
    ("restart", Verb::Reboot),
    ("forget", Verb::Forget),
];

const AGAIN: &[(&str, ())] = &[("again", ()), ("repeat", ())];

const BOUNDS: &[(&str, Side)] = &[
    ("above", Side::Above),
    ("over", Side::Above),
    ("exceeds", Side::Above),
    ("greater", Side::Above),
    ("higher", Side::Above),
    ("more", Side::Above),
    (">", Side::Above),
    ("below", Side::Below),
    ("under", Side::Below),
    ("less", Side::Below),
    ("lower", Side::Below),
    ("<", Side::Below),
];

const SCALES: &[(&str, Scale)] = &[
    ("celsius", Scale::Celsius),
    ("centigrade", Scale::Celsius),
    ("c", Scale::Celsius),
    ("°c", Scale::Celsius),
    ("fahrenheit", Scale::Fahrenheit),
    ("f", Scale::Fahrenheit),
    ("°f", Scale::Fahrenheit),
];

const POSITIONS: &[(&str, Position)] = &[("on", Position::On), ("off", Position::Off)];

const EVERY_WORDS: &[(&str, ())] = &[("every", ()), ("each", ())];

const FOR_WORDS: &[(&str, ())] = &[("for", ())];

/// What can be counted, beside time.
const COUNTS: &[(&str, ())] =
    &[("times", ()), ("time", ()), ("x", ()), ("readings", ()), ("samples", ()), ("values", ()), ("measurements", ())];

const UNITS: &[(&str, i64)] = &[
    ("ms", 1),
    ("msec", 1),
    ("millisecond", 1),
    ("milliseconds", 1),
    ("s", 1000),
    ("sec", 1000),
    ("secs", 1000),
    ("second", 1000),
    ("seconds", 1000),
    ("min", 60_000),
    ("mins", 60_000),
    ("minute", 60_000),
    ("minutes", 60_000),
    ("h", 3_600_000),
    ("hour", 3_600_000),
    ("hours", 3_600_000),
];

/// What may stand beside a word that must not be misunderstood.
const FILLERS: &[&str] = &[
    "please", "now", "the", "your", "device", "board", "node", "yourself", "itself", "wifi", "wi", "fi", "wlan", "network",
    "can", "could", "you", "and", "thanks",
];

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
