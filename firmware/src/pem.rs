//! Certificates as text: what is between `-----BEGIN CERTIFICATE-----` and `-----END CERTIFICATE-----` (RFC 7468).
//!
//! Read line by line, because that is how they are typed. What is around them is nobody's business here.

use base64ct::{Base64, Encoding as _};

use crate::board::Trouble;

/// The longest line that is read: the usual ones have 64 characters, some 76.
pub const LINE_MAX: usize = 128;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read<'p> {
    /// Nothing of a certificate.
    Other,
    /// The line before it.
    Begin,
    /// The next bytes of it.
    Bytes(&'p [u8]),
    /// The line behind it.
    End,
}

/// Where in a certificate the next line is.
#[derive(Debug, Default)]
pub struct Pem {
    is_inside: bool,
    /// Of what is inside nothing more may come.
    is_padded: bool,
    bytes: Bytes,
}

#[derive(Debug)]
struct Bytes([u8; LINE_MAX / 4 * 3]);

impl Default for Bytes {
    fn default() -> Self {
        Self([0; _])
    }
}

impl Pem {
    /// Reads a line, without its end.
    ///
    /// # Errors
    /// Says what is wrong with it. The certificate has ended then.
    pub fn read(&mut self, line: &str) -> Result<Read<'_>, Trouble> {
        let was_inside = core::mem::take(&mut self.is_inside);
        let was_padded = core::mem::take(&mut self.is_padded);
        let line = line.trim_ascii_end();
        match (was_inside, line) {
            (false, BEGIN) => {
                self.is_inside = true;
                Ok(Read::Begin)
            }
            (false, _) if line.starts_with("-----") => {
                Err(Trouble("that is no certificate, and nothing else is taken"))
            }
            (false, _) => Ok(Read::Other),
            (true, END) => Ok(Read::End),
            (true, _) if was_padded || line.is_empty() => Err(BROKEN),
            (true, _) => {
                let bytes = Base64::decode(line, &mut self.bytes.0).map_err(|_| BROKEN)?;
                self.is_inside = true;
                self.is_padded = line.ends_with('=');
                Ok(Read::Bytes(bytes))
            }
        }
    }
}

/// Whether a certificate of so many bytes that begins like this is whole: its outermost length says how long it is.
pub fn is_whole(begins: [u8; 4], length: usize) -> bool {
    let [0x30, 0x82, high, low] = begins else { return false };
    length == 4 + usize::from(u16::from_be_bytes([high, low]))
}

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";
const BROKEN: Trouble = Trouble("the certificate is broken: its lines must be base64, and nothing may be left out");

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::String;

    use super::*;

    #[test]
    fn lines_are_a_certificate_or_nothing_of_one() {
        let mut pem = Pem::default();
        assert_eq!(pem.read("subject=CN = a"), Ok(Read::Other));
        assert_eq!(pem.read("AAEC"), Ok(Read::Other));
        assert_eq!(pem.read("-----BEGIN CERTIFICATE----- "), Ok(Read::Begin));
        assert_eq!(pem.read("AAEC"), Ok(Read::Bytes(&[0, 1, 2])));
        assert_eq!(pem.read("AwQ=\r"), Ok(Read::Bytes(&[3, 4])));
        assert_eq!(pem.read("-----END CERTIFICATE-----"), Ok(Read::End));
        assert_eq!(pem.read(""), Ok(Read::Other));
        assert_eq!(pem.read("-----BEGIN CERTIFICATE-----"), Ok(Read::Begin));
        let long: String = "A".repeat(LINE_MAX);
        assert_eq!(pem.read(&long), Ok(Read::Bytes(&[0; LINE_MAX / 4 * 3])));
    }

    #[test]
    fn what_is_broken_ends_the_certificate() {
        let long: String = "A".repeat(LINE_MAX + 4);
        for bad in ["AAE", "A-_C", "AA EC", "=", "", &long, "-----BEGIN CERTIFICATE-----", "-----END X-----", "status"]
        {
            let mut pem = Pem::default();
            pem.read(BEGIN).expect("it begins");
            assert_eq!(pem.read(bad), Err(BROKEN), "{bad}");
            assert_eq!(pem.read("AAEC"), Ok(Read::Other), "{bad}");
        }
        let mut pem = Pem::default();
        for line in [BEGIN, "AA=="] {
            pem.read(line).expect("it is good");
        }
        assert_eq!(pem.read("AAEC"), Err(BROKEN), "behind the padding");
        for other in ["-----BEGIN PRIVATE KEY-----", "-----BEGIN TRUSTED CERTIFICATE-----", END, "-----"] {
            assert!(Pem::default().read(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_certificate_says_how_long_it_is() {
        assert!(is_whole([0x30, 0x82, 0x01, 0x02], 4 + 0x102));
        for (begins, length) in [
            ([0x30, 0x82, 1, 2], 4 + 0x101),
            ([0x30, 0x82, 1, 2], 4 + 0x103),
            ([0x31, 0x82, 1, 2], 0x106),
            ([0x30, 0x80, 0, 0], 4),
        ] {
            assert!(!is_whole(begins, length), "{begins:?} {length}");
        }
    }
}
