//! Whom the device may call. A client names a webhook, the owner of the device says which ones it may name.

use core::net::IpAddr;

use super::{
    Url,
    address::Place,
    url::{is_name, parse_address, parse_port, split_authority},
};

/// What the owner allows beside `https` to public addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules<'s> {
    /// Plain HTTP, too.
    pub plain_http: bool,
    /// Addresses that are not public, too.
    pub ranges: Ranges,
    /// These hosts and no others, if there are any: names or addresses as they stand in URLs, or `*.` and the end of
    /// names; then perhaps a port, which is the only one then and may be any. What is named by its full name may have an
    /// address of the device itself, the house or the wire; what is named as an address may be any that can be called.
    /// Behind `*.` only what [`ranges`](Self::ranges) allow: who makes names there may not be the owner.
    pub hosts: &'s [&'s str],
}

/// Ranges of addresses that are refused unless they are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    /// The device itself.
    pub loopback: bool,
    /// The house: RFC 1918, unique local addresses, and 100.64/10, where providers put houses.
    pub private: bool,
    /// The wire: 169.254/16 and fe80::/10. Never where clouds tell secrets (169.254.169.254): who wants that must name it.
    pub link_local: bool,
}

impl Rules<'_> {
    /// Nothing but `https` to public addresses.
    pub const STRICT: Self =
        Self { plain_http: false, ranges: Ranges { loopback: false, private: false, link_local: false }, hosts: &[] };

    /// Is it a host as [`Rules::hosts`] has it?
    pub fn is_host(text: &str) -> bool {
        Allowed::parse(text).is_some()
    }

    /// Whether a client may name this URL. An address in it is checked, too; where a name leads must be checked when it
    /// is known.
    ///
    /// # Errors
    /// Why not, in words that continue "the URL ...".
    pub fn check_url(&self, url: &Url<'_>) -> Result<(), &'static str> {
        if !url.is_https && !self.plain_http {
            return Err("must be https: the owner of the device can allow plain http");
        }
        let word = self.word(url);
        if !word.is_allowed && !self.hosts.is_empty() {
            return Err("has a host or a port that is none of those which the owner of the device has named");
        }
        let is_common = url.port >= 1024 || url.port == 80 || url.port == 443;
        if !is_common && !word.has_port {
            return Err(
                "has a port below 1024 that is neither 80 nor 443: the owner of the device can name it with its host",
            );
        }
        match url.address() {
            Some(address) => self.check_address(url, address),
            // Some resolvers know it without asking, and some ask.
            None if is_localhost(url.host) => self.check_place(Place::Loopback, word),
            None => Ok(()),
        }
    }

    /// Whether an address that the host of a URL has may be called. It must be the very address that is called then.
    ///
    /// # Errors
    /// Why not, in words that continue "the URL ...".
    pub fn check_address(&self, url: &Url<'_>, address: IpAddr) -> Result<(), &'static str> {
        self.check_place(Place::of(address), self.word(url))
    }

    fn check_place(&self, place: Place, word: Word) -> Result<(), &'static str> {
        let (is_allowed, why) = match place {
            Place::Public => (true, ""),
            Place::Loopback => (
                word.is_named || self.ranges.loopback,
                "leads to the device itself: the owner of the device can allow loopback or name the host",
            ),
            Place::Private => (
                word.is_named || self.ranges.private,
                "leads to a private address: the owner of the device can allow private ones or name the host",
            ),
            Place::LinkLocal => (
                word.is_named || self.ranges.link_local,
                "leads to a link-local address: the owner of the device can allow those or name the host",
            ),
            Place::Metadata => (
                word.is_named_address,
                "leads to where clouds tell secrets: the owner of the device can allow that by naming the address",
            ),
            Place::Special => (
                word.is_named_address,
                "leads to a reserved address: the owner of the device can allow that by naming the address",
            ),
            Place::Nobody => (false, "leads to an address that is nobody's"),
        };
        if is_allowed { Ok(()) } else { Err(why) }
    }

    /// What the owner has said about the host of a URL, by all of the hosts that are it.
    fn word(&self, url: &Url<'_>) -> Word {
        let mut word = Word::default();
        for allowed in self.hosts.iter().filter_map(|text| Allowed::parse(text)) {
            if allowed.is_for(url) {
                word.is_allowed = true;
                word.is_named |= !matches!(allowed.host, Host::Below(_));
                word.is_named_address |= matches!(allowed.host, Host::Address(_));
                word.has_port |= allowed.port.is_some();
            }
        }
        word
    }
}

/// What the owner has said about a host.
#[derive(Clone, Copy, Default)]
struct Word {
    is_allowed: bool,
    /// In full.
    is_named: bool,
    is_named_address: bool,
    has_port: bool,
}

/// One of the hosts that the owner has named.
#[derive(Clone, Copy)]
struct Allowed<'s> {
    host: Host<'s>,
    port: Option<u16>,
}

#[derive(Clone, Copy)]
enum Host<'s> {
    Name(&'s str),
    Address(IpAddr),
    /// All names that end in this and have something before it.
    Below(&'s str),
}

impl<'s> Allowed<'s> {
    fn parse(text: &'s str) -> Option<Self> {
        let below = text.strip_prefix("*.");
        let (host, port) = split_authority(below.unwrap_or(text)).ok()?;
        let host = match (below, parse_address(host)) {
            (None, Some(address)) => Host::Address(address),
            (None, None) => Host::Name(host),
            (Some(_), None) if is_name(host) => Host::Below(host),
            (Some(_), _) => return None,
        };
        let port = match port {
            Some(digits) => Some(parse_port(digits)?),
            None => None,
        };
        Some(Self { host, port })
    }

    fn is_for(&self, url: &Url<'_>) -> bool {
        let is_host = match self.host {
            Host::Name(name) => name.eq_ignore_ascii_case(url.host),
            Host::Address(address) => url.address() == Some(address),
            Host::Below(end) => is_below(url.host, end),
        };
        is_host && self.port.is_none_or(|port| port == url.port)
    }
}

/// Is it a name that ends in a dot and `end`?
fn is_below(name: &str, end: &str) -> bool {
    let Some(dot) = name.len().checked_sub(end.len()).and_then(|at| at.checked_sub(1)) else { return false };
    let Some((before, behind)) = name.split_at_checked(dot) else { return false };
    let behind = behind.strip_prefix('.');
    !before.is_empty() && behind.is_some_and(|behind| behind.eq_ignore_ascii_case(end))
}

fn is_localhost(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || is_below(name, "localhost")
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;

    use super::*;

    const HTTP: Rules<'static> = Rules { plain_http: true, ..Rules::STRICT };

    fn hosts<'s>(hosts: &'s [&'s str]) -> Rules<'s> {
        Rules { hosts, ..HTTP }
    }

    fn check(rules: Rules<'_>, url: &str) -> Result<(), &'static str> {
        rules.check_url(&Url::parse(url).unwrap_or_else(|bad| panic!("{url} {bad}")))
    }

    fn leads(rules: Rules<'_>, url: &str, address: &str) -> bool {
        rules.check_address(&Url::parse(url).unwrap(), address.parse().unwrap()).is_ok()
    }

    #[test]
    fn plain_http_must_be_allowed() {
        assert_eq!(check(Rules::STRICT, "https://a.example/"), Ok(()));
        assert!(check(Rules::STRICT, "http://a.example/").unwrap_err().contains("https"));
        assert_eq!(check(HTTP, "http://a.example/"), Ok(()));
        let named = Rules { plain_http: false, ..hosts(&["a.example"]) };
        assert!(check(named, "http://a.example/").is_err(), "a host that is named is no word about http");
    }

    #[test]
    fn low_ports_are_those_of_the_web_unless_they_are_named() {
        for port in [80, 443, 1024, 8080, 65535] {
            assert_eq!(check(HTTP, &format!("https://a.example:{port}/")), Ok(()), "{port}");
        }
        for port in [1, 22, 25, 53, 79, 81, 442, 444, 587, 1023] {
            let url = format!("https://a.example:{port}/");
            assert!(check(HTTP, &url).unwrap_err().contains("port"), "{port}");
            assert!(check(hosts(&["a.example"]), &url).unwrap_err().contains("port"), "{port}");
            assert!(check(hosts(&["a.example:24"]), &url).is_err(), "{port}");
            let named = format!("A.example:{port}");
            assert_eq!(check(hosts(&["a.example", &named]), &url), Ok(()), "{port}");
            let below = format!("*.example:{port}");
            assert_eq!(check(hosts(&[&below, "a.example"]), &url), Ok(()), "{port}");
            assert_eq!(check(hosts(&[&below]), &url), Ok(()), "{port}");
        }
    }

    #[test]
    fn hosts_that_are_named_are_the_only_ones() {
        let rules = hosts(&["a.example", "b.example:8443", "*.c.example", "*.d.example:444", "192.0.2.7", "[::1]:90"]);
        for url in [
            "https://a.example/",
            "http://A.EXAMPLE:9000/",
            "https://b.example:8443/",
            "https://x.c.example/",
            "https://x.y.C.example/",
            "https://x.d.example:444/",
            "https://192.0.2.7:9000/",
            "https://[0:0::1]:90/",
        ] {
            assert_eq!(check(rules, url), Ok(()), "{url}");
        }
        for url in [
            "https://e.example/",
            "https://a.example.e.example/",
            "https://xa.example/",
            "https://x.a.example/",
            "https://b.example/",
            "https://b.example:8444/",
            "https://c.example/",
            "https://xc.example/",
            "https://x.d.example/",
            "https://192.0.2.70/",
            "https://1.1.1.1/",
            "https://[::1]/",
            "https://[::ffff:192.0.2.7]/",
        ] {
            assert!(check(rules, url).unwrap_err().contains("none of those"), "{url}");
        }
    }

    #[test]
    fn hosts_are_names_addresses_and_ends_of_names() {
        for host in
            ["a", "a.example:1", "*.example", "*.example:8443", "192.0.2.7", "192.0.2.7:80", "[::1]", "[::1]:80"]
        {
            assert!(Rules::is_host(host), "{host}");
        }
        for bad in [
            "",
            "*",
            "*.",
            "*.*.a",
            "**.a",
            "a.*",
            "a*",
            ".a",
            "a.",
            "a:",
            "a:0",
            "a:65536",
            "a:x",
            "*.1.2.3.4",
            "*.[::1]",
            "::1",
            "[::1",
            "[::1]x",
            "http://a",
            "a/",
            "a b",
            "user@a",
            "127.1",
            "0x7f000001",
            "mö",
        ] {
            assert!(!Rules::is_host(bad), "{bad}");
            assert!(
                check(hosts(&[bad]), "https://a/").is_err(),
                "{bad}: it allows nothing, and nothing else is allowed"
            );
        }
    }

    #[test]
    fn addresses_in_a_url_are_checked_at_once() {
        for url in [
            "http://127.0.0.1/",
            "http://127.8.9.1:8080/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::127.0.0.1]/",
            "http://[2002:7f00:1::]/",
            "http://0.0.0.0/",
            "http://[::]/",
            "http://10.0.0.1/",
            "http://192.168.0.1/",
            "http://172.31.0.1/",
            "http://100.64.0.1/",
            "http://169.254.1.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://[fd00:ec2::254]/",
            "http://[fe80::1]/",
            "http://[fec0::1]/",
            "http://[fd00::1]/",
            "http://224.0.0.1/",
            "http://[ff02::1]/",
            "http://255.255.255.255/",
            "http://192.0.2.1/",
            "http://198.18.0.1/",
            "http://240.0.0.1/",
            "http://[2001:db8::1]/",
            "http://localhost/",
            "http://LOCALHOST:8080/",
            "http://a.localhost/",
        ] {
            assert!(check(HTTP, url).unwrap_err().starts_with("leads to"), "{url}");
        }
        for url in ["http://1.1.1.1/", "http://[2606:4700::1111]/", "http://localhost.example/", "http://xlocalhost/"] {
            assert_eq!(check(HTTP, url), Ok(()), "{url}");
        }
    }

    #[test]
    fn a_range_opens_itself_and_nothing_else() {
        let loopback = Rules { ranges: Ranges { loopback: true, ..Ranges::default() }, ..HTTP };
        let private = Rules { ranges: Ranges { private: true, ..Ranges::default() }, ..HTTP };
        let link_local = Rules { ranges: Ranges { link_local: true, ..Ranges::default() }, ..HTTP };
        for (url, allowed) in [
            ("http://127.0.0.1:8080/", [true, false, false]),
            ("http://[::1]/", [true, false, false]),
            ("http://[::ffff:127.0.0.1]/", [true, false, false]),
            ("http://localhost/", [true, false, false]),
            ("http://192.168.0.1/", [false, true, false]),
            ("http://[fd00::1]/", [false, true, false]),
            ("http://169.254.1.1/", [false, false, true]),
            ("http://[fe80::1]/", [false, false, true]),
            ("http://169.254.169.254/", [false; 3]),
            ("http://100.100.100.200/", [false; 3]),
            ("http://[fd00:ec2::254]/", [false; 3]),
            ("http://0.0.0.0/", [false; 3]),
            ("http://224.0.0.1/", [false; 3]),
            ("http://192.0.2.1/", [false; 3]),
        ] {
            assert_eq!([loopback, private, link_local].map(|rules| check(rules, url).is_ok()), allowed, "{url}");
        }
    }

    #[test]
    fn where_a_name_leads_is_checked_like_an_address() {
        let url = "http://a.b.example/";
        assert_eq!(check(HTTP, url), Ok(()), "nobody knows yet where it leads");
        assert!(leads(HTTP, url, "1.1.1.1"));
        for inside in ["127.0.0.1", "::1", "10.0.0.1", "fd00::1", "169.254.0.1", "fe80::1"] {
            assert!(!leads(HTTP, url, inside), "{inside}");
            assert!(leads(hosts(&["a.b.example"]), url, inside), "{inside}: its owner has named it");
            assert!(leads(hosts(&["*.example", "a.b.example:80"]), url, inside), "{inside}");
            assert!(!leads(hosts(&["*.b.example"]), url, inside), "{inside}: anybody may make names there");
            assert!(!leads(hosts(&["c.example"]), url, inside), "{inside}: another was named");
        }
        for never in ["169.254.169.254", "0.0.0.0", "255.255.255.255", "ff02::1", "192.0.2.1", "::ffff:0.0.0.0"] {
            assert!(!leads(hosts(&["a.b.example"]), url, never), "{never}");
        }
    }

    #[test]
    fn an_address_that_is_named_can_be_called_if_anybody_can() {
        for (host, is_allowed) in [
            ("127.0.0.1", true),
            ("169.254.169.254", true),
            ("192.0.2.1", true),
            ("198.18.0.1", true),
            ("[2001:db8::1]", true),
            ("0.0.0.0", false),
            ("224.0.0.1", false),
            ("[::]", false),
        ] {
            let url = format!("http://{host}/");
            assert_eq!(check(hosts(&[host]), &url).is_ok(), is_allowed, "{host}");
            assert!(check(HTTP, &url).is_err(), "{host}");
        }
    }
}
