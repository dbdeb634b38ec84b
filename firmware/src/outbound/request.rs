//! What is asked for, and the head that says so.

use protocol_core::{json::Sink, push::Url};

use super::Failure;

/// What is asked for: a POST if there is something to send, else a GET.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Whom, and where.
    pub url: &'a Url<'a>,
    /// A parameter for the end of the query: its name and its value, which needs no escaping.
    pub query: Option<(&'a str, &'a str)>,
    /// More fields of the head. `Host`, `User-Agent`, `Accept`, `Connection` and those of the content are there already.
    pub fields: &'a [Field<'a>],
    /// What is sent.
    pub content: Option<Content<'a>>,
}

/// A field of a head.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it says.
    pub value: &'a dyn Value,
}

/// What a field says. It is never in memory as a whole, so it is written more than once, and must be the same every time.
pub trait Value {
    /// Writes it.
    fn write(&self, out: &mut dyn Sink);
}

impl<F: Fn(&mut dyn Sink)> Value for F {
    fn write(&self, out: &mut dyn Sink) {
        self(out);
    }
}

/// Pieces, such as a scheme and a credential.
impl<const PIECES: usize> Value for [&str; PIECES] {
    fn write(&self, out: &mut dyn Sink) {
        self.iter().for_each(|piece| out.put(piece));
    }
}

/// What is sent; its bytes come from a [`Source`](crate::http::Source).
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// `Content-Type`.
    pub media_type: &'a str,
    /// `Content-Length`: it must be right.
    pub bytes: u64,
}

const AGENT: &str =
    concat!("\r\nUser-Agent: mote/", env!("CARGO_PKG_VERSION"), "\r\nAccept: */*\r\nConnection: close\r\n");

impl Request<'_> {
    /// Checks that what is put into the head stays where it is put. Whoever configured it was told already.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let is_field = |field: &Field<'_>| {
            let mut is_good = is_token(field.name);
            field.value.write(&mut |piece: &str| is_good &= is_value(piece));
            is_good
        };
        let is_query = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
        if !is_visible(self.url.host) || self.url.host.is_empty() || !is_visible(self.url.target) {
            return Err(Failure::Refused("has a character in its URL that must not be there"));
        }
        if !self.query.is_none_or(|(name, value)| is_query(name) && is_query(value)) {
            return Err(Failure::Refused("has a parameter that would have to be escaped"));
        }
        if !self.fields.iter().all(is_field) || !self.content.is_none_or(|content| is_value(content.media_type)) {
            return Err(Failure::Refused("has a header field with a character that must not be there"));
        }
        Ok(())
    }

    /// Writes the head.
    pub(super) fn write_head(&self, out: &mut dyn Sink) {
        let Url { is_https, host, port, target } = *self.url;
        out.put(if self.content.is_some() { "POST " } else { "GET " });
        if !target.starts_with('/') {
            out.put("/");
        }
        out.put(target);
        if let Some((name, value)) = self.query {
            let joint = if target.contains('?') { "&" } else { "?" };
            [joint, name, "=", value].write(out);
        }
        let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
        [" HTTP/1.1\r\nHost: ", open, host, close].write(out);
        if port != if is_https { 443 } else { 80 } {
            [":", Decimal::new(port.into()).as_str()].write(out);
        }
        out.put(AGENT);
        for field in self.fields {
            [field.name, ": "].write(out);
            field.value.write(out);
            out.put("\r\n");
        }
        if let Some(Content { media_type, bytes }) = self.content {
            let bytes = Decimal::new(bytes);
            ["Content-Type: ", media_type, "\r\nContent-Length: ", bytes.as_str(), "\r\n"].write(out);
        }
        out.put("\r\n");
    }
}

/// A number as text.
struct Decimal(heapless::String<20>);

impl Decimal {
    fn new(mut number: u64) -> Self {
        let mut digits = heapless::Vec::<u8, 20>::new();
        loop {
            // cannot fail: the largest number has 20 digits.
            let _ = digits.push(b'0' + (number % 10) as u8);
            number /= 10;
            if number == 0 {
                break;
            }
        }
        Self(digits.iter().rev().map(|digit| char::from(*digit)).collect())
    }

    fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_visible(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_value(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
