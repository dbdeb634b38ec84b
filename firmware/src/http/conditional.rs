//! Does the client have this version of the card, or of the page, already? (RFC 9110 §13)

use picoserve::request::Headers;

use super::service::CardVersion;

/// Is 304 the answer?
pub(super) fn is_current(headers: Headers<'_>, version: &CardVersion<'_>) -> bool {
    if let Some(is_named) = names(headers, version.etag) {
        return is_named;
    }
    // A date counts only where no tag is given.
    let since = headers.get("if-modified-since").and_then(|value| value.as_str().ok()).and_then(date_order);
    let modified = version.last_modified.and_then(date_order);
    matches!((modified, since), (Some(modified), Some(since)) if modified <= since)
}

/// Is that tag one of those which the client has? Nothing if it names none.
pub(super) fn names(headers: Headers<'_>, etag: &str) -> Option<bool> {
    let mut tags = headers.iter().filter(|(name, _)| *name == "if-none-match").peekable();
    tags.peek()?;
    Some(tags.any(|(_, value)| value.as_str().is_ok_and(|list| names_tag(list, etag))))
}

/// The weak comparison: `W/` makes no difference to a GET. A comma inside a tag would confuse it; ours have none.
fn names_tag(list: &str, etag: &str) -> bool {
    list.split(',').map(str::trim_ascii).any(|tag| {
        tag == "*"
            || tag.strip_prefix("W/").unwrap_or(tag).strip_prefix('"').and_then(|tag| tag.strip_suffix('"'))
                == Some(etag)
    })
}

/// Puts HTTP dates in order. Of the three forms only today's, `Sun, 06 Nov 1994 08:49:37 GMT`: a client that copies our
/// `Last-Modified` sends no other.
fn date_order(date: &str) -> Option<(u16, usize, u16, &str)> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = date.strip_suffix(" GMT")?.split(' ');
    words.next()?.strip_suffix(',')?;
    let day = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)?;
    let year = words.next()?.parse().ok()?;
    let time = words.next().filter(|time| time.len() == "08:49:37".len())?;
    Some((year, month, day, time))
}

#[cfg(test)]
mod tests {
    use super::{date_order, names_tag};

    #[test]
    fn a_tag_is_found_in_lists_weak_or_strong() {
        for list in ["\"a1\"", "W/\"a1\"", "\"x\", W/\"a1\"", "\"x\",\"a1\"", "*"] {
            assert!(names_tag(list, "a1"), "{list}");
        }
        for list in ["", "a1", "\"a\"", "\"a1", "w/\"a1\"", "\"a11\", \"x\""] {
            assert!(!names_tag(list, "a1"), "{list}");
        }
    }

    #[test]
    fn dates_have_an_order() {
        let order = |date| date_order(date).unwrap_or_else(|| panic!("{date}"));
        let dates = [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:38 GMT",
            "Mon, 07 Nov 1994 00:00:00 GMT",
            "Thu, 01 Dec 1994 00:00:00 GMT",
            "Sat, 01 Jan 2000 00:00:00 GMT",
        ];
        assert!(dates.is_sorted_by_key(|date| order(date)));
        for bad in [
            "",
            "yesterday",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Foo 1994 08:49:37 GMT",
        ] {
            assert_eq!(date_order(bad), None, "{bad}");
        }
    }
}
