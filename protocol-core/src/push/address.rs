//! What is behind an IP address: the public, the house, the device itself, or nothing that could be called.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where an address leads, by the registries of special addresses (RFC 6890 and what came after it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Anybody on the Internet.
    Public,
    /// The machine that calls.
    Loopback,
    /// The house, or the provider's side of it.
    Private,
    /// The wire.
    LinkLocal,
    /// What clouds tell their machines, secrets included.
    Metadata,
    /// Documentation, benchmarks, tunnels, the future.
    Special,
    /// Many, or nobody: nothing that a connection could be made to.
    Nobody,
}

impl Place {
    /// Where an address leads.
    pub(super) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        match address.octets() {
            // Amazon's and nearly everybody's, Amazon's for containers, Alibaba's, Azure's.
            [169, 254, 169, 254] | [169, 254, 170, 2 | 23] | [100, 100, 100, 200] | [168, 63, 129, 16] => {
                Self::Metadata
            }
            [0, ..] | [224..=239, ..] | [255, 255, 255, 255] => Self::Nobody,
            [127, ..] => Self::Loopback,
            [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => Self::Private,
            [169, 254, ..] => Self::LinkLocal,
            // The IETF's own, documentation three times, what was the relay of 6to4, benchmarks, the future.
            [192, 0, 0 | 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [192, 88, 99, _] | [198, 18..=19, ..] => {
                Self::Special
            }
            [240..=255, ..] => Self::Special,
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        match address.segments() {
            [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254] => Self::Metadata,
            [0, 0, 0, 0, 0, 0, 0, 1] => Self::Loopback,
            [0, 0, 0, 0, 0, 0, 0, 0] | [0xff00..=0xffff, ..] => Self::Nobody,
            // Another spelling of an IPv4 address: mapped, by NAT64, by 6to4.
            [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
                Self::of_v4(embedded(high, low))
            }
            [0xfc00..=0xfdff, ..] => Self::Private,
            [0xfe80..=0xfebf, ..] => Self::LinkLocal,
            // What was site-local before there were unique local addresses.
            [0xfec0..=0xfeff, ..] => Self::Private,
            // The IETF's own with Teredo in it, and documentation twice.
            [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Self::Special,
            [0x2000..=0x3fff, ..] => Self::Public,
            // IPv4-compatible ones are here, too.
            _ => Self::Special,
        }
    }
}

fn embedded(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;

    use super::*;

    #[test]
    fn every_address_leads_somewhere() {
        for (place, addresses) in [
            (Place::Public, "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0"),
            (Place::Public, "169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.88.98.255"),
            (Place::Public, "192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0"),
            (Place::Public, "203.0.112.255 203.0.114.0 223.255.255.255 168.63.129.15"),
            (Place::Public, "2000:: 2001:200:: 2001:db7:: 2001:db9:: 2606:4700::1111 3ffe:: 3fff:1000::"),
            (Place::Public, "::ffff:1.1.1.1 64:ff9b::1.1.1.1 2002:101:101::1"),
            (Place::Loopback, "127.0.0.0 127.0.0.1 127.255.255.255 ::1"),
            (Place::Loopback, "::ffff:127.0.0.1 ::ffff:7f00:1 64:ff9b::127.0.0.1 2002:7f00:1:: 2002:7f00:1::1"),
            (Place::Private, "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255"),
            (Place::Private, "100.64.0.0 100.127.255.255 fc00:: fdff:ffff:: fec0::1 feff:ffff::"),
            (Place::Private, "::ffff:192.168.0.1 64:ff9b::10.0.0.1 2002:c0a8:1::1"),
            (Place::LinkLocal, "169.254.0.0 169.254.255.255 169.254.169.253 fe80:: febf:ffff:: ::ffff:169.254.0.1"),
            (Place::Metadata, "169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 168.63.129.16"),
            (Place::Metadata, "fd00:ec2::254 fd20:ce::254 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe"),
            (Place::Metadata, "2002:a9fe:a9fe::1"),
            (Place::Special, "192.0.0.0 192.0.0.192 192.0.0.255 192.0.2.0 192.0.2.255 192.88.99.1"),
            (Place::Special, "198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255"),
            (Place::Special, "240.0.0.0 255.255.255.254"),
            (Place::Special, "2001:: 2001:0:1::1 2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff:: 2001:db8::1"),
            (Place::Special, "3fff:: 3fff:fff:ffff:: 5f00::1 64:ff9b:1::1 100::1 1fff:: 4000:: fe00:: fbff::"),
            (Place::Special, "::2 ::127.0.0.1 ::7f00:1 ::1.1.1.1 ::ffff:0:127.0.0.1 64:ff9b::1:7f00:1 200::1"),
            (Place::Nobody, "0.0.0.0 0.255.255.255 224.0.0.1 239.255.255.255 255.255.255.255"),
            (Place::Nobody, ":: ff00:: ff02::1 ffff:ffff:: ::ffff:0.0.0.0 ::ffff:224.0.0.1 64:ff9b::255.255.255.255"),
        ] {
            for text in addresses.split(' ') {
                assert_eq!(Place::of(text.parse().unwrap()), place, "{text}");
            }
        }
    }

    #[test]
    fn every_spelling_of_an_ipv4_address_leads_to_the_same_place() {
        for octets in (0..=u16::MAX).map(|n| {
            let [a, b] = n.to_be_bytes();
            [a, b, b ^ a, 254]
        }) {
            let [a, b, c, d] = octets;
            let place = Place::of(IpAddr::from(octets));
            for text in [
                format!("::ffff:{a}.{b}.{c}.{d}"),
                format!("64:ff9b::{a}.{b}.{c}.{d}"),
                format!("2002:{a:x}{b:02x}:{c:x}{d:02x}::1"),
            ] {
                assert_eq!(Place::of(text.parse().unwrap()), place, "{text}");
            }
        }
    }
}
