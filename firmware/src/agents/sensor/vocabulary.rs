//! The words that the node knows, and what they mean.

use super::reading::Scale;
use crate::board::Position;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
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
pub(super) enum Side {
    Above,
    Below,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// So many milliseconds.
    Millis(i64),
    Times,
}

/// The skills by their ids, for data parts.
pub(super) const SKILLS: &[(&str, Verb)] = &[
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
pub(super) const VERBS: &[(&str, Verb)] = &[
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

pub(super) const AGAIN: &[(&str, ())] = &[("again", ()), ("repeat", ())];

pub(super) const BOUNDS: &[(&str, Side)] = &[
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

pub(super) const SCALES: &[(&str, Scale)] = &[
    ("celsius", Scale::Celsius),
    ("centigrade", Scale::Celsius),
    ("c", Scale::Celsius),
    ("°c", Scale::Celsius),
    ("fahrenheit", Scale::Fahrenheit),
    ("f", Scale::Fahrenheit),
    ("°f", Scale::Fahrenheit),
];

pub(super) const POSITIONS: &[(&str, Position)] = &[("on", Position::On), ("off", Position::Off)];

pub(super) const EVERY_WORDS: &[(&str, ())] = &[("every", ()), ("each", ())];
pub(super) const FOR_WORDS: &[(&str, ())] = &[("for", ())];
pub(super) const ARTICLES: &[(&str, ())] = &[("a", ()), ("an", ()), ("one", ())];

pub(super) const UNITS: &[(&str, Unit)] = &[
    ("ms", Unit::Millis(1)),
    ("msec", Unit::Millis(1)),
    ("millisecond", Unit::Millis(1)),
    ("milliseconds", Unit::Millis(1)),
    ("s", Unit::Millis(1000)),
    ("sec", Unit::Millis(1000)),
    ("secs", Unit::Millis(1000)),
    ("second", Unit::Millis(1000)),
    ("seconds", Unit::Millis(1000)),
    ("min", Unit::Millis(60_000)),
    ("mins", Unit::Millis(60_000)),
    ("minute", Unit::Millis(60_000)),
    ("minutes", Unit::Millis(60_000)),
    ("h", Unit::Millis(3_600_000)),
    ("hour", Unit::Millis(3_600_000)),
    ("hours", Unit::Millis(3_600_000)),
    ("times", Unit::Times),
    ("time", Unit::Times),
    ("x", Unit::Times),
    ("readings", Unit::Times),
    ("samples", Unit::Times),
    ("values", Unit::Times),
    ("measurements", Unit::Times),
];

/// What may stand beside a word that must not be misunderstood.
pub(super) const FILLERS: &[&str] = &[
    "please", "now", "the", "your", "device", "board", "node", "yourself", "itself", "wifi", "wi", "fi", "wlan",
    "network", "can", "could", "you", "and", "thanks",
];
