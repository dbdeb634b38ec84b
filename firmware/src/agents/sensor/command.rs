//! What a client wants, from plain words or from a data part.
//!
//! The words are a model's or a person's, and so is the data: nothing here panics, whatever comes in.
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use core::fmt;

use protocol_core::{
    Access, Outside, Said,
    json::{Json, Text},
    time::Millis,
    words::{Words, is},
};

use super::{
    reading::Scale,
    skills::{EVERY, SPAN, TIMES},
    vocabulary::{
        AGAIN, ARTICLES, BOUNDS, EVERY_WORDS, FILLERS, FOR_WORDS, POSITIONS, SCALES, SKILLS, Side, UNITS, Unit, VERBS,
        Verb,
    },
};
use crate::{
    board::{Position, Sensor},
    milli::{self, Milli},
};

/// A request that was understood. Sensors and actuators are places in the board's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Read {
        sensor: usize,
        scale: Option<Scale>,
    },
    Watch {
        sensor: usize,
        scale: Option<Scale>,
        plan: Plan,
    },
    Alert {
        sensor: usize,
        bound: Bound,
    },
    Calibrate {
        sensor: usize,
        reference: Option<Milli>,
    },
    Report {
        sensor: usize,
    },
    Set {
        actuator: usize,
        position: Position,
    },
    Reboot,
    ForgetWifi,
    /// Once more what an earlier task did.
    Again {
        scale: Option<Scale>,
    },
    /// What an earlier task measured, on another scale.
    Convert {
        scale: Scale,
    },
    /// Everything else.
    Help,
}

impl Command {
    /// What it may do to the world: the access class of its skill.
    pub(super) const fn access(self) -> Access {
        match self {
            Self::Calibrate { .. } | Self::Set { .. } => Access::Act,
            Self::Reboot | Self::ForgetWifi => Access::Operator,
            Self::Read { .. }
            | Self::Watch { .. }
            | Self::Alert { .. }
            | Self::Report { .. }
            | Self::Again { .. }
            | Self::Convert { .. }
            | Self::Help => Access::Read,
        }
    }
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
    Outside(Outside<'static>),
    /// Something else is wrong with it, in words.
    Because(&'static str),
}

impl From<Outside<'static>> for Misfit {
    fn from(outside: Outside<'static>) -> Self {
        Self::Outside(outside)
    }
}

impl Plan {
    /// Nothing that was checked is below zero.
    fn new(times: Option<i32>, every: Option<i32>, span: Option<i32>) -> Self {
        let times = match (times, span) {
            (Some(times), _) => times.unsigned_abs(),
            (None, None) => 10,
            (None, Some(_)) => TIMES.range().end().unsigned_abs(),
        };
        let millis = |value: i32| Millis(value.unsigned_abs().into());
        let every = every.or(EVERY.usual()).unwrap_or_default();
        Self { every: millis(every), times, span: span.map(millis) }
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
            return self.read_data(skill, data);
        }
        self.read_words(said.text.as_deref().unwrap_or_default())
    }

    fn read_words(self, text: &str) -> Result<Command, Misfit> {
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
        let value = behind.numbers().next().and_then(|number| Milli::parse(number.text)).ok_or(HOW)?;
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
        let value = Milli::parse(numbers.next()?.text)?;
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

    fn read_data(self, skill: Text<'_>, data: Json<'_>) -> Result<Command, Misfit> {
        let sensor = || {
            let name = data.member("sensor").and_then(Json::text).ok_or(Misfit::Sensor)?;
            let is_it = |sensor: &Sensor| is_text(name, sensor.name);
            self.sensors.iter().position(is_it).ok_or(Misfit::Sensor)
        };
        let scale = data.member("unit").and_then(Json::text).and_then(|unit| choose(unit, SCALES));
        Ok(match choose(skill, SKILLS) {
            Some(Verb::Read) => Command::Read { sensor: sensor()?, scale },
            Some(Verb::Watch) => {
                let plan = Plan::new(TIMES.find(data)?, EVERY.find(data)?, SPAN.find(data)?);
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
    let (mut times, mut every, mut span) = (None, None, None);
    for number in words.numbers() {
        if let Some((Unit::Times, _)) = number.behind.at_front(UNITS) {
            times = Some(TIMES.check(milli::parse_wide(number.text).and_then(whole_of))?);
        }
    }
    if let Some(((), behind)) = words.look_up(EVERY_WORDS) {
        every = Some(EVERY.check(quantity(behind).ok_or(HOW)?.millis().ok_or(HOW)?)?);
    }
    let mut rest = words;
    while let Some(((), behind)) = rest.look_up(FOR_WORDS) {
        rest = behind;
        if let Some(millis) = quantity(behind).and_then(Quantity::millis) {
            span = Some(SPAN.check(millis)?);
        }
    }
    Ok(Plan::new(times, every, span))
}

/// How much of what.
struct Quantity {
    /// `None` if it is no number that can be.
    thousandths: Option<i64>,
    unit: Unit,
}

impl Quantity {
    /// `None` if it is no time at all; `Some(None)` if it is one that can't be.
    fn millis(self) -> Option<Option<i64>> {
        match self.unit {
            Unit::Times => None,
            Unit::Millis(unit) => Some(self.thousandths.map(|thousandths| thousandths.saturating_mul(unit) / 1000)),
        }
    }
}

/// The quantity at the front: `200 ms`, `5` (seconds are meant), `a minute`, `second`. `None` if there is none.
fn quantity(words: Words<'_>) -> Option<Quantity> {
    if let Some(number) = words.number() {
        let unit = number.behind.at_front(UNITS).map_or(Unit::Millis(1000), |(unit, _)| unit);
        return Some(Quantity { thousandths: milli::parse_wide(number.text), unit });
    }
    let behind = words.at_front(ARTICLES).map_or(words, |((), behind)| behind);
    let (unit, _) = behind.at_front(UNITS)?;
    Some(Quantity { thousandths: Some(1000), unit })
}

fn whole_of(thousandths: i64) -> Option<i64> {
    (thousandths % 1000 == 0).then_some(thousandths / 1000)
}

impl Side {
    const fn bound(self, value: Milli) -> Bound {
        match self {
            Self::Above => Bound::Above(value),
            Self::Below => Bound::Below(value),
        }
    }
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
    words.all(|word| verbs.iter().any(|(verb, _)| is(word, verb)) || FILLERS.iter().any(|filler| is(word, filler)))
}

fn is_wifi(words: Words<'_>) -> bool {
    words.has("wifi") || words.has("wlan") || (words.has("wi") && words.has("fi"))
}

#[cfg(test)]
mod tests;
