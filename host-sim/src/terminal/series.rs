//! A series of numbers, drawn in one line.

use std::collections::VecDeque;

use protocol_core::json::{Json, Kind, Text};

/// As many as are drawn.
const SHOWN: usize = 40;

/// The newest numbers of a series.
#[derive(Debug, Default)]
pub(super) struct Series(VecDeque<f64>);

impl Series {
    pub(super) fn push(&mut self, number: f64) {
        if self.0.len() == SHOWN {
            self.0.pop_front();
        }
        self.0.push_back(number);
    }

    /// A bar for each, between the least and the greatest.
    pub(super) fn drawn(&self) -> String {
        const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let least = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let bar = |number: &f64| {
            let height = (number - least) / (greatest - least) * (BARS.len() - 1) as f64;
            // All alike, or too far apart to be told: in the middle.
            let height = if height.is_finite() { height.round() as usize } else { BARS.len() / 2 };
            BARS[height.min(BARS.len() - 1)]
        };
        self.0.iter().map(bar).collect()
    }
}

/// The number in a data part: the part itself, its `value`, or the only number among its members.
pub(super) fn number_of_data(data: Json<'_>) -> Option<f64> {
    if let Some(number) = number(data).or_else(|| data.member("value").and_then(number)) {
        return Some(number);
    }
    let mut numbers = data.members().filter_map(|(_, value)| number(value));
    numbers.next().filter(|_| numbers.next().is_none())
}

/// The number that a text begins with, or that stands behind its last colon or equals sign.
pub(super) fn number_of_text(text: Text<'_>) -> Option<f64> {
    let text = text.chars().take(100).collect::<String>();
    let words = text.rsplit([':', '=']).next().unwrap_or_default().trim_start();
    let is_of_number = |character: char| character.is_ascii_digit() || matches!(character, '.' | '-' | '+');
    let end = words.find(|character| !is_of_number(character)).unwrap_or(words.len());
    words.get(..end)?.trim_end_matches('.').parse::<f64>().ok().filter(|number| number.is_finite())
}

fn number(value: Json<'_>) -> Option<f64> {
    (value.kind() == Kind::Number)
        .then(|| value.raw().parse::<f64>().ok())
        .flatten()
        .filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(numbers: &[f64]) -> String {
        let mut series = Series::default();
        numbers.iter().for_each(|number| series.push(*number));
        series.drawn()
    }

    #[test]
    fn bars_go_from_the_least_to_the_greatest() {
        assert_eq!(drawn(&[1.0, 2.0, 3.0, 8.0]), "▁▂▃█");
        assert_eq!(drawn(&[-7.0, -7.0]), "▅▅");
        assert_eq!(drawn(&[f64::MIN, f64::MAX]).chars().count(), 2);
        assert_eq!(drawn(&[]), "");
        let many = (0..1000).map(f64::from).collect::<Vec<_>>();
        assert_eq!(drawn(&many).chars().count(), SHOWN);
    }

    #[test]
    fn numbers_are_found_where_agents_put_them() {
        let parse = |text: &'static str| Json::parse(text.as_bytes()).unwrap();
        for (data, number) in [
            (r#"{"sensor":"t","value":21.5,"time":1}"#, Some(21.5)),
            (r#"{"celsius":-3e1}"#, Some(-30.0)),
            (r#"{"a":1,"b":2}"#, None),
            ("7", Some(7.0)),
            ("1e999", None),
            ("\"7\"", None),
        ] {
            assert_eq!(number_of_data(parse(data)), number, "{data}");
        }
        for (text, number) in [
            (r#""21.5 °C""#, Some(21.5)),
            (r#""temperature: -3.25°C""#, Some(-3.25)),
            (r#""done""#, None),
            (r#""1.2.3""#, None),
            (r#""reading 7""#, None),
        ] {
            assert_eq!(number_of_text(parse(text).text().unwrap()), number, "{text}");
        }
    }
}
