//! The address of a webhook, taken apart strictly: what two parsers could understand in two ways is refused.

use core::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use crate::config::URL_MAX;

/// The parts of an `http` or `https` URL. Its host is a name or an IP address, its port is always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Url<'a> {
    /// Over TLS.
    pub is_https: bool,
    /// The name or the address, an IPv6 one without its brackets.
    pub host: &'a str,
    /// The port, the scheme's own if none is named.
    pub port: u16,
    /// Path and query as they go into the request line; begins with a slash, or is empty for the root.
    pub target: &'a str,
}

impl<'a> Url<'a> {
    /// Takes a URL apart.
    ///
    /// # Errors
    /// What is wrong with it, in words that continue "the URL ...".
    pub fn parse(text: &'a str) -> Result<Self, &'static str> {
        if text.len() > URL_MAX {
            return Err("is too long");
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("has a space, a control character or one that is not ASCII");
        }
        let (scheme, rest) = text.split_once(':').ok_or(NO_SCHEME)?;
        let is_https = scheme.eq_ignore_ascii_case("https");
        if !is_https && !scheme.eq_ignore_ascii_case("http") {
            return Err(NO_SCHEME);
        }
        let rest = rest.strip_prefix("//").ok_or(NO_SCHEME)?;
        let end = rest.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
        let (authority, target) = rest.split_at_checked(end).unwrap_or((rest, ""));
        check_target(target)?;
        if authority.bytes().any(|byte| byte == b'@') {
            return Err("has a user name or a password: credentials have a place of their own");
        }
        let (host, port) = split_authority(authority)?;
        let port = match port {
            Some(digits) => parse_port(digits).ok_or("has a port that is no number from 1 to 65535")?,
            None => default_port(is_https),
        };
        Ok(Self { is_https, host, port, target })
    }

    /// The address, if the host is one and not a name.
    pub fn address(&self) -> Option<IpAddr> {
        parse_address(self.host)
    }
}

/// The URL in its one common form: without the port that it has anyway.
impl fmt::Display for Url<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_https { "https://" } else { "http://" })?;
        let is_v6 = self.host.bytes().any(|byte| byte == b':');
        if is_v6 { write!(f, "[{}]", self.host) } else { f.write_str(self.host) }?;
        if self.port != default_port(self.is_https) {
            write!(f, ":{}", self.port)?;
        }
        f.write_str(self.target)
    }
}

const NO_SCHEME: &str = "must begin with https:// or http://";
const BAD_HOST: &str = "has a host that is neither a name nor an address in its common form";

const fn default_port(is_https: bool) -> u16 {
    if is_https { 443 } else { 80 }
}

/// A host without brackets, and a port if there is one: of URLs, and of what the owner allows.
pub(super) fn split_authority(authority: &str) -> Result<(&str, Option<&str>), &'static str> {
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (host, behind) = bracketed.split_once(']').ok_or(BAD_HOST)?;
        if host.parse::<Ipv6Addr>().is_err() {
            return Err("has an IPv6 address that is none; one with a zone is of no use to others");
        }
        return match behind.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if behind.is_empty() => Ok((host, None)),
            None => Err(BAD_HOST),
        };
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    if host.is_empty() {
        return Err("has no host");
    }
    if is_name(host) || host.parse::<Ipv4Addr>().is_ok() { Ok((host, port)) } else { Err(BAD_HOST) }
}

/// A number from 1 to 65535 in its one form.
pub(super) fn parse_port(digits: &str) -> Option<u16> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if is_plain { digits.parse().ok() } else { None }
}

/// The address that a host is, one of IPv6 without brackets.
pub(super) fn parse_address(host: &str) -> Option<IpAddr> {
    let v4 = host.parse().ok().map(IpAddr::V4);
    v4.or_else(|| host.parse().ok().map(IpAddr::V6))
}

/// Is it a name of the DNS (RFC 1123 §2.1), and to nobody a number? Some read `127.1`, `0x7f000001` and `2130706433` as
/// addresses: whatever ends in a number is none.
pub(super) fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = host.bytes().rposition(|byte| byte == b'.');
    let last = last.and_then(|dot| host.as_bytes().get(dot..)?.get(1..)).unwrap_or(host.as_bytes());
    let is_number = match last {
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        digits => digits.iter().all(u8::is_ascii_digit),
    };
    host.len() <= 253 && host.split('.').all(is_label) && !is_number
}

/// Path and query: what RFC 3986 §3.3 and §3.4 have there. It is sent as it stands.
fn check_target(target: &str) -> Result<(), &'static str> {
    if target.starts_with('?') {
        return Err("has no slash between its host and its query");
    }
    let mut rest = target.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = match (first, behind) {
            (b'%', [high, low, behind @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => behind,
            (b'%', _) => return Err("has a % that two hexadecimal digits do not follow"),
            (b'#', _) => return Err("has a fragment, which is never sent"),
            (byte, _) if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(byte) => behind,
            _ => return Err("has a character that must be written with a %"),
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{format, string::String, string::ToString};

    use super::*;

    #[test]
    fn a_url_has_parts() {
        for (text, is_https, host, port, target) in [
            ("https://a.example", true, "a.example", 443, ""),
            ("http://a.example/", false, "a.example", 80, "/"),
            ("HTTPS://A.Example/Hook", true, "A.Example", 443, "/Hook"),
            ("Http://a", false, "a", 80, ""),
            ("https://a.example:8443/hook?task=1&x=%2F%c3%A9", true, "a.example", 8443, "/hook?task=1&x=%2F%c3%A9"),
            ("https://a.example:443/", true, "a.example", 443, "/"),
            ("https://a:1/", true, "a", 1, "/"),
            ("https://a:65535/", true, "a", 65535, "/"),
            ("https://xn--mte-sna.example/", true, "xn--mte-sna.example", 443, "/"),
            ("https://1a.2b.3c/", true, "1a.2b.3c", 443, "/"),
            ("https://4.example/", true, "4.example", 443, "/"),
            ("https://a.0x7g/", true, "a.0x7g", 443, "/"),
            ("https://192.0.2.1:8080/x", true, "192.0.2.1", 8080, "/x"),
            ("https://[2001:db8::1]/x", true, "2001:db8::1", 443, "/x"),
            ("https://[::ffff:192.0.2.1]:80/", true, "::ffff:192.0.2.1", 80, "/"),
            ("https://a/b@c:d;e=(f)'!$&*+,-._~", true, "a", 443, "/b@c:d;e=(f)'!$&*+,-._~"),
            ("https://a//b/../c?d?e", true, "a", 443, "//b/../c?d?e"),
        ] {
            assert_eq!(Url::parse(text), Ok(Url { is_https, host, port, target }), "{text}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for (text, why) in [
            // Not a scheme of ours, or not in its form.
            ("", NO_SCHEME),
            ("a.example", NO_SCHEME),
            ("//a.example/", NO_SCHEME),
            ("ftp://a.example/", NO_SCHEME),
            ("file:///etc/passwd", NO_SCHEME),
            ("gopher://a.example:6379/_x", NO_SCHEME),
            ("javascript:alert(1)", NO_SCHEME),
            ("httpss://a/", NO_SCHEME),
            ("http:a.example/", NO_SCHEME),
            ("http:/a.example/", NO_SCHEME),
            ("http:\\\\a.example\\", NO_SCHEME),
            ("https:/\\a.example/", NO_SCHEME),
            ("url:http://a/", NO_SCHEME),
            // No host.
            ("http://", "has no host"),
            ("http:///a", "has no host"),
            ("http:///a.example/", "has no host"),
            ("http://:80/", "has no host"),
            // Who is the host?
            ("http://user@a.example/", "has a user name or a password: credentials have a place of their own"),
            ("http://user:pass@a.example/", "has a user name or a password: credentials have a place of their own"),
            ("http://a.example@127.0.0.1/", "has a user name or a password: credentials have a place of their own"),
            ("http://@a/", "has a user name or a password: credentials have a place of their own"),
            ("http://a.example\\@127.0.0.1/", "has a user name or a password: credentials have a place of their own"),
            ("http://1.1.1.1&@2.2.2.2#@3.3.3.3/", "has a fragment, which is never sent"),
            ("http://127.0.0.1#@a.example/", "has a fragment, which is never sent"),
            ("http://127.0.0.1\\.a.example/", BAD_HOST),
            ("http://a.example%40127.0.0.1/", BAD_HOST),
            ("http://a.example%2f@b/", "has a user name or a password: credentials have a place of their own"),
            ("http://a.example;127.0.0.1/", BAD_HOST),
            ("http://a.example,127.0.0.1/", BAD_HOST),
            ("http://127.0.0.1%00.a.example/", BAD_HOST),
            ("http://%6c%6fcalhost/", BAD_HOST),
            ("http://a?b", "has no slash between its host and its query"),
            ("http://a.example?@127.0.0.1/", "has no slash between its host and its query"),
            ("http://a#b", "has a fragment, which is never sent"),
            ("http://a/b#c", "has a fragment, which is never sent"),
            ("http://a/b#", "has a fragment, which is never sent"),
            // White space, control characters, and letters that some turn into others.
            (" http://a/", "has a space, a control character or one that is not ASCII"),
            ("http://a/ ", "has a space, a control character or one that is not ASCII"),
            ("http://a /", "has a space, a control character or one that is not ASCII"),
            ("http://a\t/", "has a space, a control character or one that is not ASCII"),
            ("ht\ntp://a/", "has a space, a control character or one that is not ASCII"),
            ("http://a/\r\nHost: b", "has a space, a control character or one that is not ASCII"),
            ("http://a/\0", "has a space, a control character or one that is not ASCII"),
            ("http://a/\u{7f}", "has a space, a control character or one that is not ASCII"),
            ("http://ⓐ.example/", "has a space, a control character or one that is not ASCII"),
            ("http://①②⑦.0.0.1/", "has a space, a control character or one that is not ASCII"),
            ("http://127。0。0。1/", "has a space, a control character or one that is not ASCII"),
            ("http://localhoſt/", "has a space, a control character or one that is not ASCII"),
            ("http://möte/", "has a space, a control character or one that is not ASCII"),
            // Names that are none.
            ("http://a..b/", BAD_HOST),
            ("http://.a/", BAD_HOST),
            ("http://a./", BAD_HOST),
            ("http://localhost./", BAD_HOST),
            ("http://127.0.0.1./", BAD_HOST),
            ("http://./", BAD_HOST),
            ("http://-a/", BAD_HOST),
            ("http://a-/", BAD_HOST),
            ("http://a.-b.c/", BAD_HOST),
            ("http://a_b/", BAD_HOST),
            ("http://a*b/", BAD_HOST),
            ("http://*.a/", BAD_HOST),
            ("http://{a}/", BAD_HOST),
            ("http://$HOME/", BAD_HOST),
            ("http://a'b/", BAD_HOST),
            // Addresses in the forms of inet_aton.
            ("http://127.1/", BAD_HOST),
            ("http://127.0.1/", BAD_HOST),
            ("http://0/", BAD_HOST),
            ("http://2130706433/", BAD_HOST),
            ("http://017700000001/", BAD_HOST),
            ("http://0x7f000001/", BAD_HOST),
            ("http://0X7F000001/", BAD_HOST),
            ("http://0x/", BAD_HOST),
            ("http://0x7f.1/", BAD_HOST),
            ("http://0x7f.0x0.0x0.0x1/", BAD_HOST),
            ("http://0177.0.0.1/", BAD_HOST),
            ("http://127.0.0.01/", BAD_HOST),
            ("http://127.0.0.001/", BAD_HOST),
            ("http://0127.0.0.1/", BAD_HOST),
            ("http://00.0.0.0/", BAD_HOST),
            ("http://127.0.0.0x1/", BAD_HOST),
            ("http://127.0.0.256/", BAD_HOST),
            ("http://383.0.0.1/", BAD_HOST),
            ("http://127.0.0.1.1/", BAD_HOST),
            ("http://127..1/", BAD_HOST),
            ("http://127.0.0.4294967297/", BAD_HOST),
            ("http://a.1/", BAD_HOST),
            ("http://a.example.0x7f/", BAD_HOST),
            ("http://+127.0.0.1/", BAD_HOST),
            // IPv6.
            ("http://::1/", "has no host"),
            ("http://[::1/", BAD_HOST),
            ("http://::1]/", "has no host"),
            ("http://[::1]x/", BAD_HOST),
            ("http://[::1]80/", BAD_HOST),
            ("http://[::1].a.example/", BAD_HOST),
            ("http://a[::1]/", BAD_HOST),
            ("http://[[::1]]/", V6),
            ("http://[]/", V6),
            ("http://[::1%25eth0]/", V6),
            ("http://[fe80::1%eth0]/", V6),
            ("http://[127.0.0.1]/", V6),
            ("http://[a.example]/", V6),
            ("http://[v1.a]/", V6),
            ("http://[::127.0.0.01]/", V6),
            ("http://[::127.1]/", V6),
            ("http://[0x0::1]/", V6),
            ("http://[1::2::3]/", V6),
            ("http://[00001::]/", V6),
            ("http://[::1", BAD_HOST),
            // Ports.
            ("http://a:/", PORT),
            ("http://[::1]:/", PORT),
            ("http://a:0/", PORT),
            ("http://a:080/", PORT),
            ("http://a:65536/", PORT),
            ("http://a:18446744073709551617/", PORT),
            ("http://a:+80/", PORT),
            ("http://a:-80/", PORT),
            ("http://a:8o/", PORT),
            ("http://a:http/", PORT),
            ("http://a:80:80/", PORT),
            ("http://127.0.0.1:11211:80/", PORT),
            ("http://a:%38%30/", PORT),
            // Paths and queries.
            ("http://a/%", ESCAPE),
            ("http://a/%1", ESCAPE),
            ("http://a/%g1", ESCAPE),
            ("http://a/%%31", ESCAPE),
            ("http://a/%u0041", ESCAPE),
            ("http://a/\\b", CHARACTER),
            ("http://a/\"", CHARACTER),
            ("http://a/<b>", CHARACTER),
            ("http://a/{b}", CHARACTER),
            ("http://a/b|c", CHARACTER),
            ("http://a/b^c", CHARACTER),
            ("http://a/`b`", CHARACTER),
            ("http://a/[b]", CHARACTER),
        ] {
            assert_eq!(Url::parse(text), Err(why), "{text}");
        }
    }

    const V6: &str = "has an IPv6 address that is none; one with a zone is of no use to others";
    const PORT: &str = "has a port that is no number from 1 to 65535";
    const ESCAPE: &str = "has a % that two hexadecimal digits do not follow";
    const CHARACTER: &str = "has a character that must be written with a %";

    #[test]
    fn lengths_have_limits() {
        let path = |bytes: usize| format!("https://a/{}", "x".repeat(bytes - "https://a/".len()));
        assert!(Url::parse(&path(URL_MAX)).is_ok());
        assert_eq!(Url::parse(&path(URL_MAX + 1)), Err("is too long"));
        let label = |bytes: usize| "a".repeat(bytes);
        assert!(is_name(&label(63)));
        assert!(!is_name(&label(64)));
        let name = |last: usize| [label(63), label(63), label(63), label(last)].join(".");
        assert!(is_name(&name(61)));
        assert!(!is_name(&name(62)));
    }

    #[test]
    fn an_address_is_told_from_a_name() {
        let address = |text| Url::parse(text).unwrap().address().map(|address| address.to_string());
        assert_eq!(address("http://192.0.2.1/"), Some(String::from("192.0.2.1")));
        assert_eq!(address("http://[2001:DB8:0::1]/"), Some(String::from("2001:db8::1")));
        assert_eq!(address("http://a.example/"), None);
    }

    #[test]
    fn it_is_written_in_one_form() {
        for (text, written) in [
            ("HTTPS://a.example:443/x?y", "https://a.example/x?y"),
            ("http://a.example:443", "http://a.example:443"),
            ("http://[::1]:80/", "http://[::1]/"),
            ("https://[::1]:80/", "https://[::1]:80/"),
        ] {
            assert_eq!(Url::parse(text).unwrap().to_string(), written);
            assert_eq!(Url::parse(written).unwrap().to_string(), written);
        }
    }
}
