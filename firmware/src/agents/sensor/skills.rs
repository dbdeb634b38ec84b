//! What the sensor node says about itself.

use core::fmt;

use protocol_core::{Access, Argument, Examples, Profile, Skill};

use crate::board::Sensor;

/// What the sensor node says about itself.
pub const PROFILE: Profile<'static> = Profile {
    name: "Mote sensor node",
    description: "Measures what is around it: reads sensors, watches them live, waits for a bound to be crossed, and \
                  switches what is connected. Say it in plain words or send a data part.",
    version: env!("CARGO_PKG_VERSION"),
    provider: None,
    documentation_url: None,
    input_modes: &["text/plain", "application/json"],
    output_modes: &["text/plain", "application/json", "text/csv"],
    skills: SKILLS,
};

pub(super) const TIMES: Argument<'static> = Argument::whole("times", 1..=10_000, "how many readings").or_none();
pub(super) const EVERY: Argument<'static> =
    Argument::whole("everyMs", 0..=3_600_000, "milliseconds between readings").usually(1_000);
pub(super) const SPAN: Argument<'static> = Argument::whole("forMs", 1..=86_400_000, "milliseconds to watch").or_none();

/// Everything it can do. The first example of each is the one that the help shows.
pub const SKILLS: &[Skill<'static>] = &[
    Skill {
        id: "read",
        name: "Read a sensor",
        description: "Measures once. Gives the reading as text and as data with sensor, value, unit and time.",
        tags: &["sensor", "temperature", "measurement"],
        examples: &[
            "read temperature",
            "what is the temperature in fahrenheit?",
            r#"{"skill":"read","sensor":"temperature"}"#,
        ],
        arguments: &[],
        access: Access::Read,
    },
    Skill {
        id: "watch",
        name: "Watch a sensor",
        description: "Measures again and again and sends each reading when it is made. 10 times every second unless \
                      said otherwise.",
        tags: &["sensor", "stream", "live"],
        examples: &[
            "watch temperature 10 times every 200 ms",
            "watch temperature for 5 seconds",
            r#"{"skill":"watch","sensor":"temperature","times":10,"everyMs":200}"#,
        ],
        arguments: &[TIMES, EVERY, SPAN],
        access: Access::Read,
    },
    Skill {
        id: "alert",
        name: "Wait for a bound",
        description: "Measures every second until the reading is above or below a bound, then completes with it. May \
                      take for ever: come back later, subscribe, or cancel.",
        tags: &["sensor", "alert", "threshold"],
        examples: &["alert when temperature above 30", r#"{"skill":"alert","sensor":"temperature","above":30}"#],
        arguments: &[],
        access: Access::Read,
    },
    Skill {
        id: "calibrate",
        name: "Calibrate a sensor",
        description: "Asks what the sensor should read now, and corrects all later readings by the difference.",
        tags: &["sensor", "calibration"],
        examples: &["calibrate temperature", r#"{"skill":"calibrate","sensor":"temperature","reference":21.5}"#],
        arguments: &[],
        access: Access::Act,
    },
    Skill {
        id: "report",
        name: "Report readings",
        description: "Gives the readings kept so far as a CSV file.",
        tags: &["sensor", "history", "csv"],
        examples: &["report temperature", r#"{"skill":"report","sensor":"temperature"}"#],
        arguments: &[],
        access: Access::Read,
    },
    Skill {
        id: "set",
        name: "Switch something",
        description: "Switches what is connected on or off.",
        tags: &["actuator", "led", "switch"],
        examples: &["set led on", "turn the led off", r#"{"skill":"set","actuator":"led","state":"on"}"#],
        arguments: &[],
        access: Access::Act,
    },
    Skill {
        id: "reboot",
        name: "Reboot",
        description: "Restarts the device.",
        tags: &["device"],
        examples: &["reboot", r#"{"skill":"reboot"}"#],
        arguments: &[],
        access: Access::Operator,
    },
    Skill {
        id: "forget-wifi",
        name: "Forget the Wi-Fi network",
        description: "Forgets the network that the device joined; it asks for another one at the next start.",
        tags: &["device", "network"],
        examples: &["forget wifi", r#"{"skill":"forget-wifi"}"#],
        arguments: &[],
        access: Access::Operator,
    },
];

/// The skills with an example each, in words that let a model correct itself. The page looks for the sensors in the last line.
pub(super) struct Help<'a>(pub(super) &'a [Sensor]);

impl fmt::Display for Help<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sensors = Names(self.0.iter().map(|sensor| sensor.name));
        write!(f, "I am a sensor node. I can do this, for example:{}\nSensors: {sensors}.", Examples(SKILLS))
    }
}

/// Names with commas between them.
pub(super) struct Names<I>(pub(super) I);

impl<I: Iterator<Item: fmt::Display> + Clone> fmt::Display for Names<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for name in self.0.clone() {
            write!(f, "{separator}{name}")?;
            separator = ", ";
        }
        if separator.is_empty() { f.write_str("none") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use protocol_core::{Said, SkillText};

    use super::{Help, Names, SKILLS};
    use crate::{
        agents::sensor::command::{Command, Place},
        board::Sensor,
    };

    const SENSORS: [Sensor; 2] = [Sensor { name: "temperature", unit: "°C" }, Sensor { name: "humidity", unit: "%" }];

    #[test]
    fn help_names_what_is_in_the_card_and_nothing_else() {
        let help = Help(&SENSORS).to_string();
        assert!(help.contains("- watch: watch temperature 10 times every 200 ms\n"), "{help}");
        assert!(help.ends_with("Sensors: temperature, humidity."), "{help}");
        assert!(!help.contains("reboot") && !help.contains("wifi"), "{help}");
        assert_eq!(Names([""; 0].iter()).to_string(), "none");
    }

    #[test]
    fn every_example_of_the_card_is_understood() {
        let place = Place { sensors: &SENSORS, actuators: &["led"] };
        for skill in SKILLS {
            for example in skill.examples {
                let text = SkillText::try_from(*example).ok();
                let said = match example.starts_with('{') {
                    true => Said { text: None, data: text },
                    false => Said { text, data: None },
                };
                let understood = place.understand(&said);
                assert_eq!(understood.map(Command::access), Ok(skill.access), "{example}");
                let id = match understood {
                    Ok(Command::Read { .. }) => "read",
                    Ok(Command::Watch { .. }) => "watch",
                    Ok(Command::Alert { .. }) => "alert",
                    Ok(Command::Calibrate { .. }) => "calibrate",
                    Ok(Command::Report { .. }) => "report",
                    Ok(Command::Set { .. }) => "set",
                    Ok(Command::Reboot) => "reboot",
                    Ok(Command::ForgetWifi) => "forget-wifi",
                    other => panic!("{example}: {other:?}"),
                };
                assert_eq!(id, skill.id, "{example}");
            }
        }
    }
}
