extern crate std;

use std::{format, string::String};

use protocol_core::{Said, SkillText};

use super::*;

const PLACE: Place<'static> = Place {
    sensors: &[
        Sensor { name: "temperature", unit: "°C" },
        Sensor { name: "humidity", unit: "%" },
        Sensor { name: "co2", unit: "ppm" },
    ],
    actuators: &["led", "relay"],
};

fn words(text: &str) -> Result<Command, Misfit> {
    PLACE.understand(&Said { text: SkillText::try_from(text).ok(), data: None })
}

fn data(json: &str) -> Result<Command, Misfit> {
    PLACE.understand(&Said { text: SkillText::try_from("").ok(), data: SkillText::try_from(json).ok() })
}

const fn read(sensor: usize) -> Result<Command, Misfit> {
    Ok(Command::Read { sensor, scale: None })
}

fn watch(sensor: usize, times: u32, every: u64, span: Option<u64>) -> Result<Command, Misfit> {
    let plan = Plan { every: Millis(every), times, span: span.map(Millis) };
    Ok(Command::Watch { sensor, scale: None, plan })
}

const fn alert(sensor: usize, bound: Bound) -> Result<Command, Misfit> {
    Ok(Command::Alert { sensor, bound })
}

const fn set(actuator: usize, position: Position) -> Result<Command, Misfit> {
    Ok(Command::Set { actuator, position })
}

#[test]
fn understands_requests_to_read() {
    for text in [
        "read temperature",
        "READ the Temperature!",
        "what is the temperature?",
        "What's the temperature, please",
        "temperature",
        "temp?",
        "please measure temperatures",
        "how warm is it? tell me the temperature",
        "hello, read temperature",
    ] {
        assert_eq!(words(text), read(0), "{text}");
    }
    assert_eq!(words("read humidity"), read(1));
    assert_eq!(words("Read CO2"), read(2));
    let fahrenheit = Ok(Command::Read { sensor: 0, scale: Some(Scale::Fahrenheit) });
    assert_eq!(words("what is the temperature in Fahrenheit?"), fahrenheit);
    assert_eq!(data(r#"{"skill":"read","sensor":"temperature","unit":"fahrenheit"}"#), fahrenheit);
    assert_eq!(data(r#"{"sensor":"Humidity","skill":"READ","other":[1]}"#), read(1));
}

#[test]
fn understands_requests_to_watch() {
    for (text, expected) in [
        ("watch temperature", watch(0, 10, 1000, None)),
        ("watch temperature 3 times", watch(0, 3, 1000, None)),
        ("watch the humidity 3x every 200ms", watch(1, 3, 200, None)),
        ("watch temperature for 5 seconds", watch(0, 10_000, 1000, Some(5_000))),
        ("for me, watch temperature for 5 seconds please", watch(0, 10_000, 1000, Some(5_000))),
        ("watch temperature for a minute", watch(0, 10_000, 1000, Some(60_000))),
        ("watch temperature for 20 times", watch(0, 20, 1000, None)),
        ("watch temperature every 0 ms", watch(0, 10, 0, None)),
        ("watch temperature every 0.5 s", watch(0, 10, 500, None)),
        ("watch temperature every second", watch(0, 10, 1000, None)),
        ("watch temperature every 2 minutes", watch(0, 10, 120_000, None)),
        ("watch temperature every 2, 5 times", watch(0, 5, 2_000, None)),
        ("monitor temperature every 100 ms for 2 s, 5 readings", watch(0, 5, 100, Some(2_000))),
        ("Could you track the temperature each 10s?", watch(0, 10, 10_000, None)),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
    assert_eq!(data(r#"{"skill":"watch","sensor":"temperature","times":10,"everyMs":0}"#), watch(0, 10, 0, None));
    assert_eq!(data(r#"{"skill":"watch","sensor":"temperature","times":"5","everyMs":2.0}"#), watch(0, 5, 2, None));
    assert_eq!(
        data(r#"{"skill":"watch","sensor":"co2","forMs":1000,"times":null}"#),
        watch(2, 10_000, 1000, Some(1000))
    );
}

#[test]
fn names_the_range_of_an_argument() {
    for text in [
        "watch temperature 0 times",
        "watch temperature 10001 times",
        "watch temperature 2.5 times",
        "watch temperature -1 times",
        "watch temperature 99999999999999999999 times",
        "watch temperature 1,000 times",
    ] {
        assert_eq!(words(text), Err(Misfit::Outside(Outside(&TIMES))), "{text}");
    }
    for text in ["watch temperature every -1 ms", "watch temperature every 2 hours", "watch temperature every 1,5 s"] {
        assert_eq!(words(text), Err(Misfit::Outside(Outside(&EVERY))), "{text}");
    }
    for text in ["watch temperature for 0 s", "watch temperature for 25 hours", "watch temperature for 999999999999 h"]
    {
        assert_eq!(words(text), Err(Misfit::Outside(Outside(&SPAN))), "{text}");
    }
    for (member, range) in [
        (r#""times":0"#, &TIMES),
        (r#""times":"many""#, &TIMES),
        (r#""times":[]"#, &TIMES),
        (r#""times":1e99"#, &TIMES),
        (r#""everyMs":3600001"#, &EVERY),
        (r#""everyMs":0.5"#, &EVERY),
        (r#""forMs":-1"#, &SPAN),
    ] {
        let json = format!(r#"{{"skill":"watch","sensor":"temperature",{member}}}"#);
        assert_eq!(data(&json), Err(Misfit::Outside(Outside(range))), "{json}");
    }
    assert!(matches!(words("watch temperature every other second"), Err(Misfit::Because(_))));
    assert!(matches!(words("watch temperature every 3 times"), Err(Misfit::Because(_))));
    assert_eq!(format!("{}", Outside(&TIMES)), "times (how many readings) must be a whole number from 1 to 10000");
}

#[test]
fn understands_requests_for_an_alert() {
    for (text, expected) in [
        ("alert when temperature above 30", alert(0, Bound::Above(Milli(30_000)))),
        ("alert me if the humidity drops below 40.5%", alert(1, Bound::Below(Milli(40_500)))),
        ("tell me when the temperature is more than -2", alert(0, Bound::Above(Milli(-2_000)))),
        ("notify when co2 > 1000", alert(2, Bound::Above(Milli(1_000_000)))),
        ("warn when temperature<0", alert(0, Bound::Below(Milli(0)))),
        ("alert when temperature above 86 °F", alert(0, Bound::Above(Milli(30_000)))),
        ("alert when humidity above 86 F", alert(1, Bound::Above(Milli(86_000)))),
        ("alert when wind above 30", Err(Misfit::Sensor)),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
    for text in ["alert when temperature above", "alert temperature 30", "alert when temperature above 1,5"] {
        assert!(matches!(words(text), Err(Misfit::Because(_))), "{text}");
    }
    let json = r#"{"skill":"alert","sensor":"temperature","above":30.5}"#;
    assert_eq!(data(json), alert(0, Bound::Above(Milli(30_500))));
    assert_eq!(data(r#"{"skill":"alert","sensor":"co2","below":"400"}"#), alert(2, Bound::Below(Milli(400_000))));
    assert!(matches!(data(r#"{"skill":"alert","sensor":"co2"}"#), Err(Misfit::Because(_))));
}

#[test]
fn understands_the_rest() {
    for (text, expected) in [
        ("calibrate temperature", Ok(Command::Calibrate { sensor: 0, reference: None })),
        ("calibrate temperature to 21.5", Ok(Command::Calibrate { sensor: 0, reference: Some(Milli(21_500)) })),
        ("calibrate temperature between 21 and 22", Ok(Command::Calibrate { sensor: 0, reference: None })),
        ("report humidity", Ok(Command::Report { sensor: 1 })),
        ("show me the history of the humidity", Ok(Command::Report { sensor: 1 })),
        ("temperature as csv", Ok(Command::Report { sensor: 0 })),
        ("set led on", set(0, Position::On)),
        ("turn the LED off, please", set(0, Position::Off)),
        ("turn on the relay", set(1, Position::On)),
        ("led off", set(0, Position::Off)),
        ("reboot", Ok(Command::Reboot)),
        ("Please restart the device now!", Ok(Command::Reboot)),
        ("forget wifi", Ok(Command::ForgetWifi)),
        ("forget the Wi-Fi network", Ok(Command::ForgetWifi)),
        ("again", Ok(Command::Again { scale: None })),
        ("do it again in fahrenheit", Ok(Command::Again { scale: Some(Scale::Fahrenheit) })),
        ("in fahrenheit", Ok(Command::Convert { scale: Scale::Fahrenheit })),
        ("and in °C?", Ok(Command::Convert { scale: Scale::Celsius })),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
    for (json, expected) in [
        (r#"{"skill":"calibrate","sensor":"temperature"}"#, Ok(Command::Calibrate { sensor: 0, reference: None })),
        (r#"{"skill":"report","sensor":"co2"}"#, Ok(Command::Report { sensor: 2 })),
        (r#"{"skill":"set","actuator":"led","state":"off"}"#, set(0, Position::Off)),
        (r#"{"skill":"reboot"}"#, Ok(Command::Reboot)),
        (r#"{"skill":"forget-wifi"}"#, Ok(Command::ForgetWifi)),
    ] {
        assert_eq!(data(json), expected, "{json}");
    }
}

#[test]
fn says_what_it_lacks() {
    for text in ["read wind", "watch", "calibrate the clock", "report", "alert me"] {
        assert_eq!(words(text), Err(Misfit::Sensor), "{text}");
    }
    for text in ["set fan on", "turn it off"] {
        assert_eq!(words(text), Err(Misfit::Actuator), "{text}");
    }
    assert!(matches!(words("set led"), Err(Misfit::Because(_))));
    assert_eq!(data(r#"{"skill":"read"}"#), Err(Misfit::Sensor));
    assert_eq!(data(r#"{"skill":"read","sensor":7}"#), Err(Misfit::Sensor));
    assert_eq!(data(r#"{"skill":"set","actuator":"fan","state":"on"}"#), Err(Misfit::Actuator));
    assert!(matches!(data(r#"{"skill":"set","actuator":"led"}"#), Err(Misfit::Because(_))));
}

#[test]
fn answers_everything_else_with_help() {
    for text in [
        "",
        "hello",
        "help",
        "Hi there!",
        "what can you do?",
        "tell me a joke",
        "do not reboot",
        "21.5",
        "🌡️",
        "forget it",
    ] {
        assert_eq!(words(text), Ok(Command::Help), "{text}");
    }
    assert_eq!(data(r#"{"skill":"dance"}"#), Ok(Command::Help));
    assert_eq!(data("[]"), Ok(Command::Help));
    assert_eq!(data(r#"{"skill":7}"#), Ok(Command::Help));
}

#[test]
fn finds_the_one_number_of_an_answer() {
    let amount = |text: &str| PLACE.amount(&Said { text: SkillText::try_from(text).ok(), data: None }, 0);
    for (text, expected) in [
        ("21.5", Some(21_500)),
        ("it's 21.5 °C, I think", Some(21_500)),
        ("-3", Some(-3_000)),
        ("70.7 F", Some(21_500)),
        ("between 21 and 22", None),
        ("21,5", None),
        ("warm", None),
        ("", None),
    ] {
        assert_eq!(amount(text), expected.map(Milli), "{text}");
    }
    let said = |json: &str| Said { text: None, data: SkillText::try_from(json).ok() };
    assert_eq!(PLACE.amount(&said(r#"{"reference":21.5}"#), 0), Some(Milli(21_500)));
    assert_eq!(PLACE.amount(&said(r#"{"value":"21.5"}"#), 0), Some(Milli(21_500)));
    assert_eq!(PLACE.amount(&said(r#"{"value":null}"#), 0), None);
}

/// Every order of a few words and pieces of words, cut anywhere: nothing panics.
#[test]
fn survives_any_sentence() {
    const PIECES: [&str; 24] = [
        "read",
        "watch ",
        " every",
        "for",
        "-",
        "+",
        ".",
        ",",
        "5",
        "99999999999999",
        "ms",
        "times",
        "temperature",
        "°",
        "alert when ",
        ">",
        "above",
        "\u{0}",
        "led",
        "on",
        "🌡",
        "calibrate ",
        "a",
        "s",
    ];
    let mut state = 7_u32;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(PIECES[(state >> 16) as usize % PIECES.len()]);
        }
        let understood = words(&text);
        assert_eq!(understood, words(&text.to_uppercase()), "{text}");
    }
}
