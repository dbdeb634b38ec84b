//! DER, as much of it as certificates need: what is not written in the one right way is not read.

/// Elements, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Der<'d>(pub(super) &'d [u8]);

pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT: u8 = 0x06;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;

/// An element.
pub(super) struct Element<'d> {
    pub(super) tag: u8,
    pub(super) value: &'d [u8],
    /// With its tag and length.
    pub(super) whole: &'d [u8],
}

impl<'d> Der<'d> {
    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The next element, whatever it is.
    pub(super) fn next(&mut self) -> Option<Element<'d>> {
        let (tag, header, length) = match *self.0 {
            // Tags of more than one byte are in no certificate.
            [tag, ..] if tag & 0x1f == 0x1f => return None,
            [tag, length @ 0..=0x7f, ..] => (tag, 2_usize, usize::from(length)),
            [tag, 0x81, length @ 0x80..=0xff, ..] => (tag, 3, usize::from(length)),
            [tag, 0x82, high @ 1..=0xff, low, ..] => (tag, 4, usize::from(u16::from_be_bytes([high, low]))),
            _ => return None,
        };
        let (whole, rest) = self.0.split_at_checked(header.checked_add(length)?)?;
        self.0 = rest;
        Some(Element { tag, value: whole.get(header..)?, whole })
    }

    /// The next element, if it is one of those.
    pub(super) fn next_if(&mut self, tag: u8) -> Option<&'d [u8]> {
        let mut ahead = *self;
        let element = ahead.next().filter(|element| element.tag == tag)?;
        *self = ahead;
        Some(element.value)
    }

    /// What is in the next element, which must be a sequence.
    pub(super) fn sequence(&mut self) -> Option<Self> {
        self.next_if(SEQUENCE).map(Self)
    }
}

/// A string of bits that are whole bytes.
pub(super) fn bytes_of(bits: &[u8]) -> Option<&[u8]> {
    match bits {
        [0, bytes @ ..] => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_way_to_write_a_length() {
        let mut long = [0; 200];
        long[..3].copy_from_slice(&[OCTET_STRING, 0x81, 197]);
        assert_eq!(Der(&long).next_if(OCTET_STRING).map(<[u8]>::len), Some(197));
        assert_eq!(Der(&[4, 1, 7, 9]).next_if(OCTET_STRING), Some(&[7][..]));
        for bad in [
            &[][..],
            &[4],
            &[4, 1],
            &[4, 0x80, 0, 0],
            &[4, 0x81, 1, 7],
            &[4, 0x82, 0, 1, 7],
            &[4, 0x83, 0, 0, 1, 7],
            &[0x1f, 1, 7],
            &[4, 0xff, 7],
        ] {
            assert!(Der(bad).next().is_none(), "{bad:?}");
        }
    }
}
