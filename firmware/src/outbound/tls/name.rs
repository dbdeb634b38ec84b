//! Is it the host that was asked for? Only what the certificate says on purpose counts: `subjectAltName`, never the name
//! of its subject.

use core::net::IpAddr;

use super::der::Der;

/// The host of a URL.
#[derive(Clone, Copy)]
pub(super) enum Host<'h> {
    Name(&'h str),
    Address(IpAddr),
}

impl<'h> Host<'h> {
    pub(super) fn new(host: &'h str) -> Self {
        host.parse().map_or(Self::Name(host.strip_suffix('.').unwrap_or(host)), Self::Address)
    }

    /// Is it one of these names, the content of a `subjectAltName`?
    pub(super) fn is_among(self, mut names: Der<'_>) -> bool {
        const DNS_NAME: u8 = 0x82;
        const IP_ADDRESS: u8 = 0x87;
        while let Some(element) = names.next() {
            let is_it = match (self, element.tag) {
                (Self::Name(name), DNS_NAME) => is_name(name.as_bytes(), element.value),
                (Self::Address(IpAddr::V4(address)), IP_ADDRESS) => element.value == address.octets(),
                (Self::Address(IpAddr::V6(address)), IP_ADDRESS) => element.value == address.octets(),
                _ => false,
            };
            if is_it {
                return true;
            }
        }
        false
    }
}

/// `*.example.org` is every name with one more label, and no other star means anything (RFC 9525 §6.3).
fn is_name(host: &[u8], pattern: &[u8]) -> bool {
    let Some(parent) = pattern.strip_prefix(b"*.") else { return host.eq_ignore_ascii_case(pattern) };
    let Some(dot) = host.iter().position(|byte| *byte == b'.') else { return false };
    let above = host.get(dot.saturating_add(1)..).unwrap_or_default();
    // Not everybody's: there is no certificate for `*.org`.
    dot > 0 && parent.contains(&b'.') && above.eq_ignore_ascii_case(parent)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    fn is_among(host: &str, names: &[(u8, &[u8])]) -> bool {
        let der: Vec<u8> =
            names.iter().flat_map(|(tag, value)| [&[*tag, value.len() as u8], *value].concat()).collect();
        Host::new(host).is_among(Der(&der))
    }

    #[test]
    fn names_are_compared_by_labels() {
        for (host, name, is_it) in [
            ("hook.example", "hook.example", true),
            ("hook.example", "HOOK.Example", true),
            ("hook.example.", "hook.example", true),
            ("hook.example", "example", false),
            ("a.hook.example", "hook.example", false),
            ("a.hook.example", "*.hook.example", true),
            ("A.hook.example", "*.HOOK.example", true),
            ("a.b.hook.example", "*.hook.example", false),
            ("hook.example", "*.hook.example", false),
            (".hook.example", "*.hook.example", false),
            ("hook.example", "*.example", false),
            ("hook.example", "h*.example", false),
            ("hook.example", "*", false),
            ("hook.example", "hook.example\0.evil", false),
            ("hook.example", "", false),
        ] {
            assert_eq!(is_among(host, &[(0x82, b"other.example"), (0x82, name.as_bytes())]), is_it, "{host} {name}");
        }
    }

    #[test]
    fn an_address_is_an_address_and_a_name_is_a_name() {
        assert!(is_among("192.0.2.1", &[(0x87, &[192, 0, 2, 1])]));
        assert!(!is_among("192.0.2.2", &[(0x87, &[192, 0, 2, 1])]));
        assert!(!is_among("192.0.2.1", &[(0x82, b"192.0.2.1")]));
        assert!(!is_among("192.0.2.1", &[(0x82, b"*.0.2.1")]));
        assert!(is_among("::1", &[(0x87, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])]));
        assert!(!is_among("a.example", &[(0x86, b"a.example"), (0x81, b"a.example")]));
    }
}
