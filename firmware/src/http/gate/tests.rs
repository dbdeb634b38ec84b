extern crate std;

use std::{format, string::String, vec::Vec};

use super::{Bounds, Flaw, Gate, Verdict};

const BOUNDS: Bounds = Bounds { head_bytes: 200, target_bytes: 40, body_bytes: 1000 };

const HOST: &str = "Host: mote.local\r\n";

/// What is behind the gate, the tail included, and what was refused.
fn pass(input: &[u8], cuts: &[usize]) -> (Vec<u8>, Option<(u32, Verdict)>) {
    let mut gate = Gate::new(BOUNDS);
    let mut behind = Vec::new();
    let mut from = 0;
    for to in cuts.iter().copied().chain([input.len()]) {
        let mut piece = input[from..to].to_vec();
        from = to;
        match gate.pass(&mut piece) {
            Ok(passed) => behind.extend_from_slice(&piece[..passed]),
            Err((passed, refused)) => {
                behind.extend_from_slice(&piece[..passed]);
                behind.extend_from_slice(refused.tail);
                assert!(gate.is_shut());
                return (behind, Some((refused.request, refused.verdict)));
            }
        }
    }
    match gate.end() {
        Ok(()) => (behind, None),
        Err(refused) => {
            behind.extend_from_slice(refused.tail);
            (behind, Some((refused.request, refused.verdict)))
        }
    }
}

fn verdict(request: &str) -> Option<Verdict> {
    let (behind, refused) = pass(request.as_bytes(), &[]);
    let (_, verdict) = refused?;
    assert_is_a_head(&behind, request);
    Some(verdict)
}

/// Whatever was refused, picoserve finds a request line of three words, header lines with a colon and an empty line.
fn assert_is_a_head(behind: &[u8], request: &str) {
    let text = core::str::from_utf8(behind).unwrap_or_else(|_| panic!("not UTF-8 behind {request:?}"));
    let head = text.strip_suffix("\r\n\r\n").unwrap_or_else(|| panic!("no end of head in {text:?} behind {request:?}"));
    let mut lines = head.split("\r\n");
    assert_eq!(lines.next().map(|line| line.split_whitespace().count()), Some(3), "{text:?} behind {request:?}");
    assert!(lines.all(|line| line.contains(':')), "{text:?} behind {request:?}");
    assert!(behind.len() <= BOUNDS.head_bytes + Gate::RESERVE, "{text:?} behind {request:?}");
}

fn malformed(flaw: Flaw) -> Option<Verdict> {
    Some(Verdict::Malformed(flaw))
}

#[test]
fn good_requests_pass_as_they_are() {
    for request in [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "POST /a?b=c HTTP/1.1\r\nhost:a\r\ncontent-length:3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \t 003 \t\r\nX: \u{e4}\t!\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nX:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n\r\nGET / HTTP/1.0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\ncut",
        "G / HTTP/1.1\r\nHost: a\r\nContent-Lengt: x\r\nContent-Lengths: x\r\nHos: b\r\nXHost: b\r\n\r\n",
        "",
    ] {
        let (behind, refused) = pass(request.as_bytes(), &[]);
        assert_eq!(refused, None, "{request:?}");
        assert_eq!(String::from_utf8_lossy(&behind), request);
    }
}

#[test]
fn empty_lines_before_a_request_are_dropped() {
    let (behind, refused) = pass(b"\r\n\r\nGET / HTTP/1.0\r\n\r\n\r\nGET /2 HTTP/1.0\r\n\r\n\r\n", &[]);
    assert_eq!(refused, None);
    assert_eq!(behind, b"GET / HTTP/1.0\r\n\r\nGET /2 HTTP/1.0\r\n\r\n");
}

#[test]
fn a_request_line_has_three_words_and_a_version_we_know() {
    for line in [
        " GET / HTTP/1.1",
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET /",
        "GET",
        "G(T / HTTP/1.1",
        "GET /\t HTTP/1.1",
        "GET /# HTTP/1.1",
        "GET /\u{e4} HTTP/1.1",
        "GET /#/ HTTP/1.1",
        "GET # HTTP/1.1",
        "GET / http/1.1",
        "GET / HTTP/x.1",
        "GET / HTTP/1.x",
        "GET / HTTP/1.10",
        "GET / HTTP/1",
        "\u{16}\u{3}\u{1}",
        "GET /\0 HTTP/1.1",
    ] {
        assert_eq!(verdict(&format!("{line}\r\n{HOST}\r\n")), malformed(Flaw::RequestLine), "{line:?}");
    }
    assert_eq!(verdict("GET / HTTP/1.1\nHost: a\n\n"), malformed(Flaw::RequestLine));
    for version in ["HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "HTTP/3"] {
        assert_eq!(verdict(&format!("GET / {version}\r\n{HOST}\r\n")), Some(Verdict::Version), "{version}");
    }
}

#[test]
fn a_header_line_has_a_name_a_colon_and_no_surprises() {
    for line in [
        " folded: x",
        "\tfolded: x",
        "Name : x",
        ": x",
        "Name",
        "N\u{e4}me: x",
        "Name: a\rb",
        "Name: a\0b",
        "Name: a\nb: c",
        "Name: \u{7f}",
        "\u{b}Name: x",
        "Name\r: x",
    ] {
        assert_eq!(verdict(&format!("GET / HTTP/1.1\r\n{HOST}{line}\r\n\r\n")), malformed(Flaw::Header), "{line:?}");
    }
    assert_eq!(verdict(&format!("GET / HTTP/1.1\r\n{HOST}\rX\r\n")), malformed(Flaw::Header));
}

#[test]
fn a_length_is_one_plain_number() {
    for length in ["", " ", "abc", "-1", "+1", "1,1", "1, 1", "1 1", "0x10", "1.0", "1e3", "\"1\"", "1;"] {
        let request = format!("POST / HTTP/1.1\r\n{HOST}Content-Length: {length}\r\n\r\n");
        assert_eq!(verdict(&request), malformed(Flaw::ContentLength), "{length:?}");
    }
    for twice in ["Content-Length: 1\r\nContent-Length: 1\r\n", "content-length: 1\r\nX: y\r\nCONTENT-LENGTH: 2\r\n"] {
        let request = format!("POST / HTTP/1.1\r\n{HOST}{twice}\r\nx");
        assert_eq!(verdict(&request), malformed(Flaw::ContentLength), "{twice:?}");
    }
    for large in ["1001", "99999", "18446744073709551615", "18446744073709551616", "9999999999999999999999999999999"] {
        let request = format!("POST / HTTP/1.1\r\n{HOST}Content-Length: {large}\r\n\r\n");
        assert_eq!(verdict(&request), Some(Verdict::BodyTooLarge), "{large}");
    }
    let fits = format!("POST / HTTP/1.1\r\n{HOST}Content-Length: 1000\r\n\r\n");
    assert_eq!(verdict(&fits), None);
}

#[test]
fn a_length_that_is_too_large_stays_outside() {
    let (behind, _) = pass(b"POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n", &[]);
    assert_eq!(behind, b"POST / HTTP/1.1\r\nContent-Length: 184\r\n\r\n");
}

#[test]
fn transfer_codings_are_refused_in_any_form() {
    for coding in [
        "Transfer-Encoding: chunked",
        "transfer-encoding:identity",
        "TRANSFER-ENCODING: gzip, chunked",
        "Transfer-Encoding:",
    ] {
        let request = format!("POST / HTTP/1.1\r\n{HOST}{coding}\r\n\r\n");
        assert_eq!(verdict(&request), Some(Verdict::LengthRequired), "{coding}");
        for both in [format!("{coding}\r\nContent-Length: 5\r\n"), format!("Content-Length: 5\r\n{coding}\r\n")] {
            let request = format!("POST / HTTP/1.1\r\n{HOST}{both}\r\n0\r\n\r\n");
            assert_eq!(verdict(&request), malformed(Flaw::TwoLengths), "{both}");
        }
    }
}

#[test]
fn there_is_one_host() {
    assert_eq!(verdict("GET / HTTP/1.1\r\n\r\n"), malformed(Flaw::Host));
    assert_eq!(verdict("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"), malformed(Flaw::Host));
    assert_eq!(verdict("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"), malformed(Flaw::Host));
}

#[test]
fn head_and_target_have_a_size() {
    let target = "/".repeat(BOUNDS.target_bytes);
    assert_eq!(verdict(&format!("GET {target} HTTP/1.0\r\n\r\n")), None);
    assert_eq!(verdict(&format!("GET {target}x HTTP/1.0\r\n\r\n")), Some(Verdict::TargetTooLong));
    let frame = "GET / HTTP/1.0\r\nX: \r\n\r\n".len();
    let fits = "x".repeat(BOUNDS.head_bytes - frame);
    assert_eq!(verdict(&format!("GET / HTTP/1.0\r\nX: {fits}\r\n\r\n")), None);
    assert_eq!(verdict(&format!("GET / HTTP/1.0\r\nX: {fits}x\r\n\r\n")), Some(Verdict::HeadTooLarge));
    let method = "M".repeat(300);
    assert_eq!(verdict(&method), Some(Verdict::HeadTooLarge));
    let line_ends = "GET / HTTP/1.0\r\n\r\n".repeat(100);
    assert_eq!(verdict(&line_ends), None);
}

#[test]
fn a_head_that_ends_early_is_refused_wherever_it_ends() {
    let request = format!("POST /x HTTP/1.1\r\n{HOST}Content-Length: 5\r\n\r\n");
    for end in 1..request.len() {
        assert_eq!(verdict(&request[..end]), malformed(Flaw::Ended), "{:?}", &request[..end]);
    }
}

#[test]
fn a_bad_byte_anywhere_leaves_a_head_behind() {
    let request = format!("POST /x HTTP/1.1\r\n{HOST}Content-Length: 5\r\n\r\n");
    for place in 0..request.len() {
        let mut bytes = request.clone().into_bytes();
        bytes[place] = 0;
        let (behind, refused) = pass(&bytes, &[]);
        assert!(refused.is_some(), "{place}");
        assert_is_a_head(&behind, &request[..place]);
    }
}

#[test]
fn nothing_behind_a_refused_request_passes() {
    let good = "GET /good HTTP/1.0\r\n\r\n";
    let (behind, refused) = pass(format!("{good}{good}BAD\r\n\r\n{good}").as_bytes(), &[]);
    assert_eq!(refused, Some((3, Verdict::Malformed(Flaw::RequestLine))));
    assert_eq!(behind, format!("{good}{good}BADX / HTTP/1.1\r\n\r\n").as_bytes());
}

#[test]
fn every_way_to_cut_the_bytes_gives_the_same() {
    let requests: [&[u8]; 10] = [
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.0\r\n\r\n",
        b"\r\n\r\nGET / HTTP/1.0\r\n\r\n\r\n\r\nGET /2 HTTP/1.0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxyBAD\0 / HTTP/1.1\r\n\r\nGET / HTTP/1.0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        b"POST / HTTP/1.1\r\nContent-Length: 123456\r\n\r\n",
        b"GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHo",
    ];
    for request in requests {
        let whole = pass(request, &[]);
        let single: Vec<_> = (1..request.len()).collect();
        assert_eq!(pass(request, &single), whole);
        for first in 0..=request.len() {
            for second in first..=request.len() {
                assert_eq!(pass(request, &[first, second]), whole, "{first} {second}");
            }
        }
    }
}

#[test]
fn a_head_is_known_by_its_method_as_far_as_that_has_come() {
    for (begun, is_head) in [
        ("", false),
        ("H", true),
        ("HEAD", true),
        ("HEAD ", true),
        ("HEAD / HTTP/1.1\r\nX: y", true),
        ("HEA /", false),
        ("HEADX /", false),
        ("XHEAD /", false),
        ("HEADX", false),
        ("head /", false),
        ("GET /", false),
        ("HEAD / HTTP/1.0\r\n\r\n", false),
        ("HEAD / HTTP/1.0\r\n\r\nGET /", false),
        ("GET / HTTP/1.0\r\n\r\nHEAD /", true),
    ] {
        let mut gate = Gate::new(BOUNDS);
        assert!(gate.pass(&mut begun.as_bytes().to_vec()).is_ok());
        assert_eq!(gate.may_be_head(), is_head, "{begun:?}");
    }
}

#[test]
fn random_bytes_never_pass_as_more_than_they_are() {
    // What passed once passes again, unchanged: the gate lets through nothing it would refuse itself.
    let words: [&[u8]; 16] = [
        b"GET ",
        b"POST ",
        b"/ ",
        b"HTTP/1.1",
        b"HTTP/1.0",
        b"\r\n",
        b"\r",
        b"\n",
        b"Host: a\r\n",
        b"Content-Length: ",
        b"7",
        b"3\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"X: y\r\n",
        b"\0",
        b" ",
    ];
    let mut state = 0x2545_f491_u32;
    for _ in 0..20_000 {
        let mut input = Vec::new();
        for _ in 0..12 {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            input.extend_from_slice(words[state as usize % words.len()]);
        }
        let (behind, refused) = pass(&input, &[]);
        let (again, second) = pass(&behind, &[]);
        if refused.is_none() {
            assert_eq!((&again, second), (&behind, None), "{}", String::from_utf8_lossy(&input));
        }
    }
}
