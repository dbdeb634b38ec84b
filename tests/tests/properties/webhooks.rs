//! Where webhooks may lead: no spelling of an address gets past the rules, and what is taken has one meaning.

use core::net::IpAddr;

use mote_tests::random::{Random, with_seeds};
use protocol_core::push::{Ranges, Rules, Url};

/// All that can be allowed without naming a host.
const WIDE: Rules<'static> =
    Rules { plain_http: true, ranges: Ranges { loopback: true, private: true, link_local: true }, hosts: &[] };
const HTTP: Rules<'static> = Rules { plain_http: true, ..Rules::STRICT };

/// Pieces that URLs are made of, and what gets in between them.
const PIECES: [&str; 40] = [
    "http://",
    "https://",
    "HTTP://",
    "a",
    "a.example",
    "localhost",
    "127.0.0.1",
    "127.1",
    "0x7f",
    "0177",
    "[::1]",
    "[",
    "]",
    "::",
    "1",
    "0",
    "255",
    "256",
    ".",
    "..",
    ":",
    ":80",
    ":443",
    ":8080",
    ":0",
    "/",
    "//",
    "\\",
    "?",
    "#",
    "@",
    "user@",
    "%2e",
    "%",
    "%00",
    " ",
    "-",
    "é",
    "x=1&y",
    "*",
];

fn text(random: &mut Random) -> String {
    let mut text = if random.once_in(8) { String::new() } else { (*random.pick(&["http://", "https://"])).to_owned() };
    for _ in 0..=random.below(7) {
        let piece: &&str = random.pick(&PIECES);
        text.push_str(piece);
    }
    text
}

#[test]
fn what_is_taken_is_written_as_it_came() {
    let mut taken = 0;
    let mut random = Random::new(5);
    for _ in 0..200_000 {
        let text = text(&mut random);
        let Ok(url) = Url::parse(&text) else { continue };
        taken += 1;
        let scheme = if url.is_https { "https" } else { "http" };
        let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.to_owned() };
        let (default, port) = (if url.is_https { 443 } else { 80 }, url.port);
        let explicit = format!("{scheme}://{host}:{port}{}", url.target);
        let implicit = format!("{scheme}://{host}{}", url.target);
        let rest = text.split_once(':').map(|(given, rest)| format!("{}:{rest}", given.to_lowercase())).unwrap();
        assert!(rest == explicit || (port == default && rest == implicit), "{text} {url:?}");
        assert_eq!(url.to_string(), if port == default { implicit } else { explicit });
        let written = url.to_string();
        assert_eq!(Url::parse(&written), Ok(url), "{text}");
    }
    assert!(taken > 5_000, "{taken}");
}

/// An address as other programs read it, too: other bases, fewer parts, zeros in front.
fn spell(random: &mut Random, octets: [u8; 4]) -> String {
    let mut number = |value: u64| match random.below(6) {
        0 => format!("{value}"),
        1 => format!("0x{value:x}"),
        2 => format!("0X{value:02X}"),
        3 => format!("0{value:o}"),
        4 => format!("{value:04}"),
        _ => format!("00{value:o}"),
    };
    let octets = octets.map(u64::from);
    let parts = [
        vec![octets[0], octets[1], octets[2], octets[3]],
        vec![octets[0], octets[1], octets[2] << 8 | octets[3]],
        vec![octets[0], octets[1] << 16 | octets[2] << 8 | octets[3]],
        vec![octets[0] << 24 | octets[1] << 16 | octets[2] << 8 | octets[3]],
    ];
    let parts: Vec<String> = parts[(octets[3] % 4) as usize].iter().map(|part| number(*part)).collect();
    let end = if random.once_in(8) { "." } else { "" };
    parts.join(".") + end
}

#[test]
fn an_address_passes_in_its_common_form_only() {
    with_seeds(20_000, |random| {
        let octets = (random.number() as u32).to_be_bytes();
        let common = IpAddr::from(octets).to_string();
        let spelled = spell(random, octets);
        let parsed = Url::parse(&format!("http://{spelled}/")).map(|url| url.host.to_owned());
        if spelled == common {
            assert_eq!(parsed, Ok(common));
        } else {
            assert!(parsed.is_err(), "{spelled} is {common}");
        }
    });
}

#[test]
fn every_way_to_write_an_address_gets_the_same_answer() {
    with_seeds(20_000, |random| {
        let mut octets = (random.number() as u32).to_be_bytes();
        octets[0] = *random.pick(&[0, 10, 100, 127, 169, 172, 192, 198, 203, 224, 240, 255, octets[0]]);
        octets[1] = *random.pick(&[0, 16, 18, 51, 64, 168, 254, octets[1]]);
        let [a, b, c, d] = octets;
        let plain = format!("http://{a}.{b}.{c}.{d}/");
        for rules in [HTTP, WIDE] {
            let verdict = |text: &str| {
                let url = Url::parse(text).expect(text);
                let verdict = rules.check_url(&url);
                assert_eq!(verdict, rules.check_address(&url, url.address().expect(text)), "{text}");
                verdict
            };
            let expected = verdict(&plain);
            for text in [
                format!("http://[::ffff:{a}.{b}.{c}.{d}]/"),
                format!("http://[0:0:0:0:0:FFFF:{a:x}{b:02x}:{c:x}{d:02X}]/"),
                format!("http://[64:ff9b::{a}.{b}.{c}.{d}]/"),
                format!("http://[2002:{a:02x}{b:02x}:{c:02x}{d:02x}::]/"),
            ] {
                assert_eq!(verdict(&text), expected, "{text}");
            }
            // The same that the standard library says, where it says something.
            let address = core::net::Ipv4Addr::from(octets);
            let is_bad = address.is_unspecified() || address.is_multicast() || address.is_broadcast();
            let is_inside = address.is_loopback() || address.is_private() || address.is_link_local();
            assert!(!(is_bad || address.is_documentation()) || expected.is_err(), "{plain}");
            assert!(!is_inside || rules == WIDE || expected.is_err(), "{plain}");
        }
    });
}
