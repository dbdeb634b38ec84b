//! Where webhooks may lead: what we take another reader of URLs understands the same, and nothing that the owner has not
//! allowed gets past the rules.
#![no_main]

use core::net::IpAddr;

use libfuzzer_sys::fuzz_target;
use protocol_core::push::{Ranges, Rules, Url};
use url::Host;

const HTTP: Rules<'static> = Rules { plain_http: true, ..Rules::STRICT };
const WIDE: Rules<'static> = Rules { ranges: Ranges { loopback: true, private: true, link_local: true }, ..HTTP };

// A URL, perhaps with a line before it that is a host which the owner has named.
fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let (named, text) = match text.split_once('\n') {
        Some((named, text)) => (Some(named), text),
        None => (None, text),
    };
    let theirs = url::Url::parse(text);
    let Ok(ours) = Url::parse(text) else { return };
    let written = ours.to_string();
    assert_eq!(Url::parse(&written).map(|again| again.to_string()), Ok(written));
    let address = ours.address();
    // They also refuse labels that decode to no letters.
    if let Ok(theirs) = theirs {
        assert_eq!(theirs.scheme(), if ours.is_https { "https" } else { "http" });
        assert!(theirs.username().is_empty() && theirs.password().is_none() && theirs.fragment().is_none());
        assert_eq!(theirs.port_or_known_default(), Some(ours.port));
        match theirs.host() {
            Some(Host::Domain(name)) => {
                assert!(address.is_none() && name.eq_ignore_ascii_case(ours.host), "{name}");
            }
            Some(Host::Ipv4(theirs)) => assert_eq!(address, Some(IpAddr::V4(theirs))),
            Some(Host::Ipv6(theirs)) => assert_eq!(address, Some(IpAddr::V6(theirs))),
            None => panic!("no host"),
        }
    } else {
        assert!(ours.host.to_ascii_lowercase().contains("xn--"), "they refuse it: {text}");
    }
    check(&ours, named);
});

fn check(url: &Url<'_>, named: Option<&str>) {
    if !url.is_https {
        assert!(Rules::STRICT.check_url(url).is_err());
    }
    let hosts = named.as_ref().map(core::slice::from_ref).unwrap_or_default();
    for rules in [Rules::STRICT, HTTP, WIDE, Rules { hosts, ..HTTP }, Rules { hosts, ..WIDE }] {
        let is_allowed = rules.check_url(url).is_ok();
        if let Some(named) = rules.hosts.first().filter(|_| is_allowed) {
            let end = named.trim_start_matches('*').trim_end_matches(|byte: char| byte.is_ascii_digit());
            let host = format!("{}:", url.host).to_ascii_lowercase();
            let is_it = host.trim_end_matches(':').ends_with(&end.trim_end_matches(':').to_ascii_lowercase());
            assert!(is_it || url.address().is_some(), "{named} is not {url}");
        }
        if let Some(IpAddr::V4(address)) = url.address().map(|address| address.to_canonical()) {
            let is_never = address.octets()[0] == 0 || address.is_multicast() || address.is_broadcast();
            assert!(!(is_allowed && is_never), "{address}");
            let is_inside = address.is_loopback() || address.is_private() || address.is_link_local();
            assert!(!(is_allowed && is_inside && rules.hosts.is_empty() && rules.ranges == Ranges::default()));
        }
        // Where it leads may be anywhere: an address is all that the rules ask then.
        for address in [[127, 0, 0, 1], [0, 0, 0, 0], [169, 254, 169, 254], [10, 0, 0, 1]].map(IpAddr::from) {
            let leads = rules.check_address(url, address).is_ok();
            assert!(!leads || rules.ranges.loopback || !rules.hosts.is_empty(), "{url} at {address}");
        }
    }
}
