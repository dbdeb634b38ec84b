//! One measurement, as it is kept, told and converted.

use core::fmt;

use protocol_core::{Artifact, Data, Pause, Piece, TaskCx, json::Json, time::UnixMillis};
use serde::{Serialize, Serializer};

use crate::{board::Sensor, milli::Milli};

/// What a sensor measured, ready to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Reading {
    pub(super) sensor: &'static str,
    pub(super) value: Milli,
    pub(super) unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub(super) time: Option<UnixMillis>,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.sensor, self.value, self.unit)
    }
}

fn as_text<S: Serializer>(time: &Option<UnixMillis>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(time),
        None => serializer.serialize_none(),
    }
}

impl Reading {
    /// Finds a reading in a data part that we sent before.
    pub(super) fn from_json(json: Json<'_>, sensors: &[Sensor]) -> Option<Self> {
        let name = json.member("sensor")?.text()?;
        let unit = json.member("unit")?.text()?;
        let sensor = sensors.iter().find(|sensor| name.is(sensor.name))?;
        let units = [sensor.unit, Scale::Celsius.unit(), Scale::Fahrenheit.unit()];
        Some(Self {
            sensor: sensor.name,
            value: Milli::parse(json.member("value")?.raw())?,
            unit: units.into_iter().find(|known| unit.is(known))?,
            time: json.member("time").and_then(Json::text).and_then(|time| UnixMillis::parse(time.chars())),
        })
    }

    /// The same on another scale. `None` if it is no temperature.
    pub(super) fn on(self, scale: Scale) -> Option<Self> {
        let value = Scale::of(self.unit)?.convert(self.value, scale);
        Some(Self { value, unit: scale.unit(), ..self })
    }

    /// Sends it as a piece of an artifact.
    pub(super) fn send<'t, 'n, 's>(&self, artifact: Artifact<'t, 'n, 's>, form: Form) -> Pause<'t, 'n, 's> {
        // More than the longest names and numbers take; if not, the text still says it.
        let data = Data::<160>::of(self);
        match (form, &data) {
            (Form::Text, _) | (_, None) => artifact.text(format_args!("{self}")),
            (Form::Data, Some(data)) => artifact.parts(&[data.piece()]),
            (Form::Both, Some(data)) => artifact.parts(&[Piece::Text(format_args!("{self}")), data.piece()]),
        }
    }
}

/// In which form a client wants what it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Both,
    Text,
    Data,
}

impl Form {
    /// The form that the client of a task asked for; both if it can use either or did not say.
    pub(super) fn of(task: &TaskCx<'_, '_>) -> Self {
        if task.wants_structure() {
            return Self::Data;
        }
        match (task.accepts("text/plain"), task.accepts("application/json")) {
            (true, false) => Self::Text,
            (false, true) => Self::Data,
            _ => Self::Both,
        }
    }
}

/// What degrees are counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Celsius,
    Fahrenheit,
}

impl Scale {
    pub(super) const fn unit(self) -> &'static str {
        match self {
            Self::Celsius => "°C",
            Self::Fahrenheit => "°F",
        }
    }

    /// The scale that a unit is of.
    pub(super) fn of(unit: &str) -> Option<Self> {
        [Self::Celsius, Self::Fahrenheit].into_iter().find(|scale| scale.unit() == unit)
    }

    /// A temperature on this scale, on another one.
    pub(super) fn convert(self, value: Milli, to: Self) -> Milli {
        let milli = i64::from(value.0);
        let converted = match (self, to) {
            (Self::Celsius, Self::Fahrenheit) => divide(milli * 9, 5) + 32_000,
            (Self::Fahrenheit, Self::Celsius) => divide((milli - 32_000) * 5, 9),
            (Self::Celsius, Self::Celsius) | (Self::Fahrenheit, Self::Fahrenheit) => milli,
        };
        Milli(i32::try_from(converted).unwrap_or(if converted < 0 { i32::MIN } else { i32::MAX }))
    }
}

/// Divides and rounds to the nearest.
const fn divide(number: i64, by: i64) -> i64 {
    (number * 2 + by).div_euclid(by * 2)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use protocol_core::{Data, Piece, json::Json, time::UnixMillis};

    use super::{Reading, Scale};
    use crate::{board::Sensor, milli::Milli};

    const TEMPERATURE: Sensor = Sensor { name: "temperature", unit: "°C" };
    const READING: Reading = Reading { sensor: "temperature", value: Milli(-2_500), unit: "°C", time: None };

    fn json(reading: &Reading) -> std::string::String {
        let data = Data::<160>::of(reading).expect("it fits");
        let Piece::Data(json) = data.piece() else { panic!("it is data") };
        json.raw().to_string()
    }

    #[test]
    fn is_told_as_text_and_as_json() {
        assert_eq!(READING.to_string(), "temperature -2.5 °C");
        assert_eq!(json(&READING), r#"{"sensor":"temperature","value":-2.5,"unit":"°C"}"#);
        let timed = Reading { time: Some(UnixMillis(1_767_225_600_123)), ..READING };
        assert_eq!(
            json(&timed),
            r#"{"sensor":"temperature","value":-2.5,"unit":"°C","time":"2026-01-01T00:00:00.123Z"}"#
        );
    }

    #[test]
    fn comes_back_from_json() {
        for reading in
            [READING, Reading { time: Some(UnixMillis(5)), ..READING }, READING.on(Scale::Fahrenheit).unwrap()]
        {
            let text = json(&reading);
            let json = Json::parse(text.as_bytes()).expect("it is JSON");
            assert_eq!(Reading::from_json(json, &[TEMPERATURE]), Some(reading));
        }
        for other in
            [r#"{"sensor":"wind","value":1,"unit":"°C"}"#, r#"{"sensor":"temperature","value":"x","unit":"°C"}"#, "[]"]
        {
            assert_eq!(Reading::from_json(Json::parse(other.as_bytes()).unwrap(), &[TEMPERATURE]), None);
        }
    }

    #[test]
    fn converts_degrees_and_nothing_else() {
        for (celsius, fahrenheit) in
            [(0, 32_000), (100_000, 212_000), (-40_000, -40_000), (21_500, 70_700), (37_780, 100_004)]
        {
            assert_eq!(Scale::Celsius.convert(Milli(celsius), Scale::Fahrenheit), Milli(fahrenheit));
            assert_eq!(Scale::Fahrenheit.convert(Milli(fahrenheit), Scale::Celsius), Milli(celsius));
        }
        assert_eq!(Scale::Celsius.convert(Milli(i32::MAX), Scale::Fahrenheit), Milli(i32::MAX));
        assert_eq!(Scale::Celsius.convert(Milli(i32::MIN), Scale::Fahrenheit), Milli(i32::MIN));
        assert_eq!(READING.on(Scale::Celsius), Some(READING));
        assert_eq!(Reading { unit: "%", ..READING }.on(Scale::Fahrenheit), None);
    }
}
