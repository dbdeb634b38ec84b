//! Which trace a request belongs to: W3C Trace Context's `traceparent`.
//!
//! A trace is taken over and passed on, never begun: who does not trace is not traced. `tracestate` is not kept, which the
//! specification allows to whoever changes nothing in a trace but its parent.

use core::fmt;

use crate::json::hex;

/// A `traceparent`, as far as it is passed on: the trace, and whether it is recorded. All zero where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    id: [u8; 16],
    is_sampled: bool,
}

/// A `traceparent` of the version that we speak.
const TRACEPARENT_BYTES: usize = 55;

/// A `traceparent` of ours.
pub type TraceParent = heapless::String<TRACEPARENT_BYTES>;

impl Trace {
    /// No trace.
    pub(crate) const NONE: Self = Self { id: [0; 16], is_sampled: false };

    /// Reads a `traceparent` of any version. `None` for one that is not to be used: then there is no trace.
    #[must_use]
    pub fn parse(header: &str) -> Option<Self> {
        let header = header.as_bytes();
        let (known, rest) = header.split_at_checked(TRACEPARENT_BYTES)?;
        let (id, parent) = (known.get(3..35)?, known.get(36..52)?);
        let is_split = [2, 35, 52].iter().all(|at| known.get(*at) == Some(&b'-'));
        let [version] = bytes(known.get(..2)?)?;
        // Later versions may say more behind another dash; ours ends here.
        let is_whole = if version == 0 { rest.is_empty() } else { rest.first().is_none_or(|byte| *byte == b'-') };
        if !is_split || !is_whole || version == 0xff {
            return None;
        }
        let id = bytes::<16>(id)?;
        let parent = bytes::<8>(parent)?;
        let [flags] = bytes(known.get(53..)?)?;
        (id != [0; 16] && parent != [0; 8]).then_some(Self { id, is_sampled: flags & SAMPLED != 0 })
    }

    /// The trace's own id, in hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> heapless::String<32> {
        let mut text = heapless::String::new();
        put(&self.id, &mut text);
        text
    }

    /// The trace of that id, all zero for none.
    pub(crate) const fn of(id: [u8; 16]) -> Self {
        Self { id, is_sampled: false }
    }

    pub(crate) const fn bytes(&self) -> [u8; 16] {
        self.id
    }

    /// The trace, if there is one.
    pub(crate) fn known(self) -> Option<Self> {
        (self.id != [0; 16]).then_some(self)
    }

    /// What is sent on, with the id of a span of ours. One that is all zero is none.
    #[must_use]
    pub fn parent(&self, mut span: [u8; 8]) -> TraceParent {
        if span == [0; 8] {
            span = [0, 0, 0, 0, 0, 0, 0, 1];
        }
        let mut text = TraceParent::new();
        // cannot fail: 2 digits, 32, 16 and 2, with a dash between them.
        let _ = text.push_str("00-");
        put(&self.id, &mut text);
        let _ = text.push('-');
        put(&span, &mut text);
        let _ = text.push_str(if self.is_sampled { "-01" } else { "-00" });
        text
    }
}

/// The other bits are set to zero, as the specification wants it.
const SAMPLED: u8 = 1;

/// Reads so many bytes in lower case; upper case is not allowed.
fn bytes<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let mut all = [0; N];
    if pairs.len() != N {
        return None;
    }
    for (byte, [high, low]) in all.iter_mut().zip(pairs) {
        *byte = nibble(*high)?.wrapping_shl(4) | nibble(*low)?;
    }
    Some(all)
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(digit.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    }
}

fn put(bytes: &[u8], text: &mut dyn fmt::Write) {
    for byte in bytes {
        for nibble in [byte.wrapping_shr(4), byte & 0xf] {
            // cannot fail: whoever asks has room.
            let _ = text.write_char(char::from(hex(nibble)));
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{format, string::String};

    use super::*;

    const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_comes_in_goes_out_under_another_span() {
        let trace = Trace::parse(GOOD).expect("it is good");
        assert_eq!(trace.id(), ID);
        assert_eq!(*trace.parent([1, 2, 3, 4, 5, 6, 7, 0xff]), *format!("00-{ID}-01020304050607ff-01"));
        let unsampled = Trace::parse(&GOOD.replace("-01", "-00")).expect("it is good");
        assert_eq!(*unsampled.parent([0; 8]), *format!("00-{ID}-0000000000000001-00"));
    }

    #[test]
    fn bits_that_nobody_knows_are_set_to_zero() {
        for (flags, sent) in [("ff", "-01"), ("fe", "-00"), ("03", "-01"), ("02", "-00")] {
            let trace = Trace::parse(&GOOD.replace("-01", &format!("-{flags}"))).expect("any flags are good");
            assert!(trace.parent([9; 8]).ends_with(sent), "{flags}");
        }
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_ours() {
        for later in ["cc-", "01-", "fe-"] {
            let header = GOOD.replacen("00-", later, 1);
            assert_eq!(Trace::parse(&header), Trace::parse(GOOD), "{header}");
            assert_eq!(Trace::parse(&format!("{header}-what-the-future-will-be")), Trace::parse(GOOD));
            assert_eq!(Trace::parse(&format!("{header}.what")), None);
        }
    }

    #[test]
    fn what_is_wrong_is_no_trace() {
        let mut bad: std::vec::Vec<String> = std::vec![
            String::new(),
            GOOD.to_uppercase(),
            GOOD.replace('-', "_"),
            format!("{GOOD}-00"),
            format!("{GOOD} "),
            format!(" {GOOD}"),
            GOOD.replacen("00-", "ff-", 1),
            GOOD.replacen("00-", "0g-", 1),
            GOOD.replacen("00-", "FE-", 1),
            GOOD.replace(ID, &"0".repeat(32)),
            GOOD.replace(ID, &ID.to_uppercase()),
            GOOD.replace("00f067aa0ba902b7", "0000000000000000"),
            GOOD.replace("00f067aa0ba902b7", "00F067aa0ba902b7"),
            GOOD.replace("-01", "-0x"),
            GOOD.replace("4bf9", "4bf\u{e4}"),
            "00\u{e4}".repeat(20),
        ];
        bad.extend((0..GOOD.len()).map(|len| GOOD[..len].into()));
        // Nor is anything that is not where it should be.
        bad.extend((0..GOOD.len()).map(|at| format!("{}{}", &GOOD[..at], &GOOD[at + 1..])));
        for header in bad {
            assert_eq!(Trace::parse(&header), None, "{header}");
        }
    }
}
