//! What is asked for, and the head that says so.

use embedded_io_async::{Read, Write};
use protocol_core::push::Url;

use super::{Failure, line::Line};

/// What is asked for: a POST if there is something to send, else a GET.
#[derive(Clone, Copy, Debug)]
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
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// The pieces of its value, such as a scheme and a credential.
    pub value: &'a [&'a str],
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
        let is_field = |field: &Field<'_>| is_token(field.name) && field.value.iter().all(|piece| is_value(piece));
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
    pub(super) async fn write_head<S: Read + Write>(&self, line: &mut Line<'_, '_, S>) -> Result<(), Failure> {
        let Url { is_https, host, port, target } = *self.url;
        let method = if self.content.is_some() { "POST " } else { "GET " };
        let root = if target.starts_with('/') { "" } else { "/" };
        line.write_texts(&[method, root, target]).await?;
        if let Some((name, value)) = self.query {
            let joint = if target.contains('?') { "&" } else { "?" };
            line.write_texts(&[joint, name, "=", value]).await?;
        }
        let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
        line.write_texts(&[" HTTP/1.1\r\nHost: ", open, host, close]).await?;
        if port != if is_https { 443 } else { 80 } {
            line.write_texts(&[":", Decimal::new(port.into()).as_str()]).await?;
        }
        line.write_texts(&[AGENT]).await?;
        for field in self.fields {
            line.write_texts(&[field.name, ": "]).await?;
            line.write_texts(field.value).await?;
            line.write_texts(&["\r\n"]).await?;
        }
        if let Some(Content { media_type, bytes }) = self.content {
            line.write_texts(&["Content-Type: ", media_type, "\r\nContent-Length: "]).await?;
            line.write_texts(&[Decimal::new(bytes).as_str(), "\r\n"]).await?;
        }
        line.write_texts(&["\r\n"]).await
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
