//! The page for whoever comes with a browser, and who that is.
//!
//! It is one file, put together and compressed by build/page.rs from src/page/. It has no state of the device in it and is
//! for everybody; what it shows it asks for like any other client, with a token where the door is shut.

use picoserve::request::Headers;

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The page, compressed.
pub(super) static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.gz"));

/// The version of the page, for caches.
pub(super) const TAG: &str = tag!();

/// What is chosen between by what the client can take; that it is not the page's address that changes, but the firmware,
/// is why a browser asks every time whether it has the right one.
macro_rules! shared_lines {
    () => {
        "Vary: Accept, Accept-Encoding\r\nX-Content-Type-Options: nosniff\r\n"
    };
}

/// The lines of the head that belong to the page.
pub(super) const LINES: &str = concat!(
    "Content-Encoding: gzip\r\n",
    "Content-Security-Policy: ",
    policy!(),
    "\r\nReferrer-Policy: no-referrer\r\n",
    shared_lines!(),
    "Cache-Control: no-cache\r\nETag: \"",
    tag!(),
    "\"\r\n"
);

/// Those that say that the client has it already.
pub(super) const CURRENT_LINES: &str =
    concat!("Vary: Accept, Accept-Encoding\r\nCache-Control: no-cache\r\nETag: \"", tag!(), "\"\r\n");

/// Those of the few words that others get.
pub(super) const WORDS_LINES: &str = concat!(shared_lines!(), "Cache-Control: no-store\r\n");

// Much of a board's flash, and the first thing that its radio carries. The head has 200 bytes beside these lines.
const _: () = assert!(BYTES.len() + LINES.len() + 200 <= 12 * 1024, "the page is larger than 12 KB on the wire");

/// Does the client ask for HTML, by name, and can it decompress? Those who take anything are programs: they get words.
pub(super) fn is_for(headers: Headers<'_>) -> bool {
    takes(headers, "accept", "text/html") && takes(headers, "accept-encoding", "gzip")
}

/// Is something in a list, and not with a weight of zero?
fn takes(headers: Headers<'_>, name: &str, wanted: &str) -> bool {
    let mut values = headers.iter().filter(|(key, _)| *key == name).filter_map(|(_, value)| value.as_str().ok());
    values.any(|list| lists(list, wanted))
}

fn lists(list: &str, wanted: &str) -> bool {
    list.split(',').any(|item| {
        let mut words = item.split(';').map(str::trim_ascii);
        words.next().is_some_and(|word| word.eq_ignore_ascii_case(wanted)) && !words.any(is_refusal)
    })
}

/// `q=0`, `q=0.0`: anything but that.
fn is_refusal(parameter: &str) -> bool {
    let weight = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
    weight.is_some_and(|weight| weight.starts_with('0') && weight.bytes().all(|byte| matches!(byte, b'0' | b'.')))
}

#[cfg(test)]
mod tests {
    use super::lists;

    #[test]
    fn a_list_is_searched_by_name_and_weight() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
        for list in [browser, "text/html", "a/b , Text/HTML ; q=0.1", "text/html;level=1", "text/html;q=1"] {
            assert!(lists(list, "text/html"), "{list}");
        }
        for list in ["", "*/*", "text/*", "text/htmlx", "text/html;q=0", "text/html; q=0.000", "application/json"] {
            assert!(!lists(list, "text/html"), "{list}");
        }
    }
}
