//! Which name a request was sent to, and which page sent it: what keeps strange web pages out.
//!
//! A page can have its own name lead to this device (DNS rebinding); then a browser takes the device for the page's own
//! server. But it still says that name in `Host`, and with most requests in `Origin` which page asks.

use picoserve::request::RequestParts;

use super::{
    answer::Cors,
    routes::{self, Problem},
    service::BaseUrl,
};
use crate::mdns::LocalName;

/// Whom browsers may take this device for, and whose pages may ask it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Names<'e> {
    /// The host names that lead here, without ports. Addresses and `localhost` need not be named: no page can have them.
    pub hosts: &'e [&'e str],
    /// The origins, such as `https://panel.example:8443`, whose pages may ask; a page of the device itself always may.
    pub origins: &'e [&'e str],
    /// The name in the local network, where there is one: it may change while we run.
    pub local: Option<&'e LocalName>,
}

impl<'e> Names<'e> {
    /// The host of a URL, as [`Names::hosts`] has it.
    pub fn host_of(url: &str) -> Option<&str> {
        let (authority, _) = routes::absolute_form(url)?;
        Some(Authority::of(BaseUrl::from_host(authority)?).host)
    }

    /// Is it a host as [`Names::hosts`] has it?
    pub fn is_host(text: &str) -> bool {
        BaseUrl::from_host(text).is_some_and(|base| Authority::of(base).host.len() == text.len())
    }

    /// Is it an origin as [`Names::origins`] has it and browsers write it: in lower case, with nothing behind its host and
    /// port?
    pub fn is_origin(text: &str) -> bool {
        let authority = routes::without_scheme(text).map(|(authority, _)| authority);
        authority.is_some_and(|authority| BaseUrl::from_host(authority).is_some())
            && !text.bytes().any(|byte| byte.is_ascii_uppercase())
    }

    /// Checks where a request was sent and where it comes from. Says where the client reached us, if it told, and what to
    /// tell a browser about who may read the answer.
    pub(super) fn check<'r>(&self, parts: &RequestParts<'r>) -> Result<(Option<BaseUrl<'r>>, Cors<'e>), Problem> {
        let host = parts.headers().get("host").map(|host| host.as_str().unwrap_or_default());
        let base = reached(host, parts.path().encoded())?;
        if base.is_some_and(|base| !self.has(Authority::of(base).host)) {
            return Err(Problem::MISDIRECTED);
        }
        let mut origins = parts.headers().iter().filter(|(name, _)| *name == "origin");
        let cors = match (origins.next(), origins.next()) {
            (None, _) => None,
            (Some((_, origin)), None) => self.judge(origin.as_str().unwrap_or_default(), base)?,
            (Some(_), Some(_)) => return Err(Problem::STRANGE_ORIGIN),
        };
        Ok((base, cors.unwrap_or(if self.origins.is_empty() { Cors::Silent } else { Cors::Varies })))
    }

    /// Is it one of our names?
    fn has(&self, host: &str) -> bool {
        let mut names = self.hosts.iter().copied().chain(["localhost"]);
        is_address(host)
            || names.any(|name| is_same(name, host))
            || self.local.is_some_and(|local| local.is(without_dot(host)))
    }

    /// What a page of that origin may do; nothing special for one of ours.
    fn judge(&self, origin: &str, base: Option<BaseUrl<'_>>) -> Result<Option<Cors<'e>>, Problem> {
        let page = routes::without_scheme(origin).and_then(|(authority, default)| {
            Some(Authority { default, ..Authority::of(BaseUrl::from_host(authority)?) })
        });
        if let (Some(page), Some(base)) = (page, base)
            && page.is(Authority::of(base))
        {
            return Ok(None);
        }
        // What is sent back is our own writing, whatever the client's looked like.
        let allowed = self.origins.iter().find(|allowed| allowed.eq_ignore_ascii_case(origin));
        allowed.map(|allowed| Some(Cors::Origin(allowed))).ok_or(Problem::STRANGE_ORIGIN)
    }
}

/// Where the client reached us: what the target says and what `Host` says, which must be the same (RFC 9112 §3.2.2).
fn reached<'r>(host: Option<&'r str>, target: &'r str) -> Result<Option<BaseUrl<'r>>, Problem> {
    let host = host.map(|host| BaseUrl::from_host(host).ok_or(Problem::BAD_HOST)).transpose()?;
    let Some((authority, default)) = routes::absolute_form(target) else { return Ok(host) };
    let base = BaseUrl::from_host(authority).ok_or(Problem::BAD_HOST)?;
    let named = Authority { default, ..Authority::of(base) };
    if host.is_none_or(|host| named.is(Authority::of(host))) { Ok(Some(base)) } else { Err(Problem::TWO_HOSTS) }
}

/// A host and a port, to be compared.
#[derive(Clone, Copy)]
struct Authority<'r> {
    host: &'r str,
    port: Option<u16>,
    /// The port where none is named.
    default: u16,
}

impl<'r> Authority<'r> {
    fn of(base: BaseUrl<'r>) -> Self {
        let authority = base.authority();
        // Behind the colons of an IPv6 address there is a bracket.
        let end = authority.bytes().rposition(|byte| matches!(byte, b':' | b']')).unwrap_or_default();
        let (host, port) = match authority.split_at_checked(end) {
            Some((host, rest)) if rest.starts_with(':') => (host, rest.trim_start_matches(':').parse().ok()),
            _ => (authority, None),
        };
        Self { host, port, default: 80 }
    }

    /// Is it the same place as that one, of which nobody knows the scheme?
    fn is(self, other: Self) -> bool {
        let ports = [self.port, other.port].map(|port| port.unwrap_or(self.default));
        is_same(self.host, other.host) && ports[0] == ports[1]
    }
}

/// Is it an address, in its one common form? A browser takes nothing that looks like this for a name.
fn is_address(host: &str) -> bool {
    let is_number = |part: &str| part.parse::<u8>().is_ok() && (part.len() == 1 || !part.starts_with('0'));
    let mut parts = host.split('.');
    let is_dotted = (0..4).all(|_| parts.next().is_some_and(is_number)) && parts.next().is_none();
    host.starts_with('[') || is_dotted
}

/// Is it the same name? One may end in the dot of the root.
fn is_same(one: &str, other: &str) -> bool {
    without_dot(one).eq_ignore_ascii_case(without_dot(other))
}

fn without_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Names<'static> =
        Names { hosts: &["mote.local", "Mote."], origins: &["https://panel.example:8443"], local: None };

    fn reach(host: &str) -> bool {
        let base = BaseUrl::from_host(host).unwrap_or_else(|| panic!("{host}"));
        NAMES.has(Authority::of(base).host)
    }

    #[test]
    fn addresses_and_our_names_are_ours() {
        for host in [
            "192.168.0.7",
            "192.168.0.7:8080",
            "[::1]",
            "[fe80::1]:80",
            "localhost",
            "LocalHost.:8080",
            "mote.local",
            "MOTE.local.:80",
            "mote",
        ] {
            assert!(reach(host), "{host}");
        }
        for host in [
            "evil.example",
            "mote.local.evil.example",
            "xmote.local",
            "mote.local..",
            "local",
            "localhost.evil.example",
            "1.2.3",
            "1.2.3.4.evil.example",
            "1.2.3.256",
            "1.2.3.4.5",
            "0x7f.0.0.1",
            "127.1",
            "127.0.0.1.",
            "127.0.0.01",
            "0177.0.0.1",
            "2130706433",
            "_",
        ] {
            assert!(!reach(host), "{host}");
        }
    }

    #[test]
    fn the_name_in_the_local_network_is_ours_while_it_is() {
        let local = LocalName::new();
        let names = Names { local: Some(&local), ..Names::default() };
        let reach = |host| names.has(Authority::of(BaseUrl::from_host(host).expect(host)).host);
        assert!(!reach("mote.local"));
        local.set("mote");
        assert!(reach("mote.local") && reach("Mote.local.:8080") && !reach("mote") && !reach("mote-2.local"));
        local.set("mote-2");
        assert!(reach("mote-2.local") && !reach("mote.local") && !reach("mote-2.local.evil.example"));
        assert!(!Names::default().has("mote-2.local"));
    }

    #[test]
    fn a_url_has_a_host() {
        for (url, host) in [
            ("http://mote.example", Some("mote.example")),
            ("https://mote.example:8443/a2a", Some("mote.example")),
            ("http://[::1]:80/", Some("[::1]")),
            ("mote.example", None),
            ("http://a b/", None),
        ] {
            assert_eq!(Names::host_of(url), host, "{url}");
        }
    }

    #[test]
    fn hosts_and_origins_are_told_from_what_never_matches() {
        for host in ["mote", "mote.lan", "Mote.lan.", "my_host", "192.168.0.7", "[::1]"] {
            assert!(Names::is_host(host), "{host}");
        }
        for bad in ["", "mote:80", "[::1]:80", "[mote]", "http://mote", "mote/", "a b", "*", "möte"] {
            assert!(!Names::is_host(bad), "{bad}");
        }
        for origin in ["http://mote", "https://panel.example:8443", "http://[::1]:80", "http://192.168.0.7"] {
            assert!(Names::is_origin(origin), "{origin}");
        }
        for bad in [
            "",
            "panel.example",
            "https://",
            "https://Panel.example",
            "HTTPS://panel.example",
            "https://panel.example/",
            "https://panel.example/page",
            "https://panel.example:https",
            "https://panel.example:65536",
            "https://user@panel.example",
            "ftp://panel.example",
            "http://a http://b",
            "null",
            "*",
        ] {
            assert!(!Names::is_origin(bad), "{bad}");
        }
    }

    #[test]
    fn an_absolute_target_agrees_with_host() {
        let base = |host, target| reached(host, target).map(|base| base.map(|base| base.authority()));
        assert_eq!(base(Some("a:80"), "/x"), Ok(Some("a:80")));
        assert_eq!(base(None, "/x"), Ok(None));
        assert_eq!(base(None, "http://b/x"), Ok(Some("b")));
        assert_eq!(base(Some("A.:80"), "http://a/x"), Ok(Some("a")));
        assert_eq!(base(Some("a"), "https://a:443"), Ok(Some("a:443")));
        assert_eq!(base(Some("[::1]"), "http://[::1]:80/"), Ok(Some("[::1]:80")));
        for (host, target) in [("a", "http://b/"), ("a", "http://a:81/"), ("a:443", "http://a/"), ("a", "https://a:80")]
        {
            assert_eq!(base(Some(host), target), Err(Problem::TWO_HOSTS), "{host} {target}");
        }
        for (host, target) in [("", "/"), ("a b", "/"), ("a", "http:///x"), ("a", "http://a@a/"), ("a", "http://a:/")] {
            assert_eq!(base(Some(host), target), Err(Problem::BAD_HOST), "{host} {target}");
        }
    }

    #[test]
    fn a_page_is_ours_if_its_origin_is_where_it_asks() {
        let judge = |origin, host: &'static str| NAMES.judge(origin, BaseUrl::from_host(host));
        for (origin, host) in [
            ("http://mote.local", "mote.local"),
            ("http://mote.local:80", "mote.local"),
            ("http://mote.local", "MOTE.local.:80"),
            ("https://mote.local", "mote.local"),
            ("https://mote.local", "mote.local:443"),
            ("http://[::1]:8080", "[::1]:8080"),
        ] {
            assert_eq!(judge(origin, host), Ok(None), "{origin} {host}");
        }
        for origin in ["https://panel.example:8443", "HTTPS://Panel.example:8443"] {
            assert_eq!(judge(origin, "mote.local"), Ok(Some(Cors::Origin("https://panel.example:8443"))));
        }
        for (origin, host) in [
            ("null", "mote.local"),
            ("", "mote.local"),
            ("mote.local", "mote.local"),
            ("http://mote.local:8080", "mote.local"),
            ("http://mote.local", "mote.local:8080"),
            ("https://mote.local", "mote.local:80"),
            ("http://mote.local.evil.example", "mote.local"),
            ("http://evil.example", "mote.local"),
            ("ftp://mote.local", "mote.local"),
            ("file://", "mote.local"),
            ("http://mote.local/path", "mote.local"),
            ("http://mote.local http://evil.example", "mote.local"),
            ("https://panel.example", "mote.local"),
            ("http://panel.example:8443", "mote.local"),
            ("*", "mote.local"),
        ] {
            assert_eq!(judge(origin, host), Err(Problem::STRANGE_ORIGIN), "{origin} {host}");
        }
        assert_eq!(NAMES.judge("http://mote.local", None), Err(Problem::STRANGE_ORIGIN));
    }
}
