//! Thousandths: what sensors measure, without a single float.

use core::fmt;

use serde::{Serialize, Serializer};

/// A number in thousandths of its unit: `Milli(21_500)` is 21.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Milli(pub i32);

impl Milli {
    /// Reads a number as people and JSON write it: `21`, `-0.5`, `+21.75`, `.5`. Digits beyond the third behind the
    /// point are rounded away. `None` for anything else and for what is out of range.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        i32::try_from(parse_wide(text)?).ok().map(Self)
    }

    /// The sum, or the last number there is.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or the last number there is.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// As [`Milli::parse`], for numbers that are no readings and may be larger.
pub(crate) fn parse_wide(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() > MOST_DIGITS
        || !is_digits(whole)
        || !is_digits(fraction)
        || (whole.is_empty() && fraction.is_empty())
    {
        return None;
    }
    let mut milli = 0;
    for digit in whole.bytes().chain(fraction.bytes().chain([b'0'; 3]).take(3)) {
        milli = milli * 10 + i64::from(digit - b'0');
    }
    if fraction.as_bytes().get(3).is_some_and(|digit| *digit >= b'5') {
        milli += 1;
    }
    Some(if negative { -milli } else { milli })
}

/// Digits before the point: far from where a sum could overflow.
const MOST_DIGITS: usize = 12;

impl Milli {
    /// The point, and no more digits behind it than it needs. Without a division: small processors have none.
    fn digits(self) -> heapless::String<12> {
        let mut digits = heapless::String::new();
        let mut put = |character| {
            // cannot fail: a sign, seven digits, the point and three more are twelve.
            let _ = digits.push(character);
        };
        if self.0 < 0 {
            put('-');
        }
        let mut rest = self.0.unsigned_abs();
        let mut begun = false;
        for power in [1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1] {
            if power < 1000 && rest == 0 {
                break;
            }
            if power == 100 {
                put('.');
            }
            let mut digit = b'0';
            while rest >= power {
                rest -= power;
                digit += 1;
            }
            begun |= digit > b'0' || power <= 1000;
            if begun {
                put(char::from(digit));
            }
        }
        digits
    }
}

impl fmt::Display for Milli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.digits())
    }
}

/// A JSON number. serde knows no decimals that are not floats; serde-json-core writes bytes as they are.
impl Serialize for Milli {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.digits().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::Milli;

    #[test]
    fn reads_and_prints_the_point() {
        for (text, milli, printed) in [
            ("21.5", 21_500, "21.5"),
            ("21", 21_000, "21"),
            ("+21.75", 21_750, "21.75"),
            ("-0.5", -500, "-0.5"),
            (".5", 500, "0.5"),
            ("5.", 5000, "5"),
            ("1013.25", 1_013_250, "1013.25"),
            ("0.005", 5, "0.005"),
            ("0.0049", 5, "0.005"),
            ("-0.0004", 0, "0"),
            ("2147483.647", i32::MAX, "2147483.647"),
            ("-2147483.648", i32::MIN, "-2147483.648"),
        ] {
            assert_eq!(Milli::parse(text), Some(Milli(milli)), "{text}");
            assert_eq!(Milli(milli).to_string(), printed);
        }
    }

    #[test]
    fn refuses_what_is_no_number_or_too_large() {
        for text in [
            "",
            "-",
            ".",
            "+.",
            "21,5",
            "1e3",
            "0x10",
            "1.2.3",
            "--1",
            "nan",
            "21.5C",
            "２",
            "2147483.648",
            "9223372036854775.999",
            "99999999999999999999",
        ] {
            assert_eq!(Milli::parse(text), None, "{text}");
        }
    }

    #[test]
    fn is_a_number_in_json() {
        let data = protocol_core::Data::<32>::of(&[Milli(-21_500), Milli(0)]).expect("it is JSON");
        let protocol_core::Piece::Data(json) = data.piece() else { panic!("it is data") };
        assert_eq!(json.raw(), "[-21.5,0]");
        assert!(protocol_core::Data::<32>::of(&Milli(i32::MIN)).is_some());
    }
}
