//! The address of a webhook, taken apart strictly: what two parsers could understand in two ways is refused.

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
        let (is_https, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => return Err("must begin with https:// or http://"),
        };
        let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| "has a port that is no number")?),
            None => (authority, if is_https { 443 } else { 80 }),
        };
        Ok(Self { is_https, host, port, target })
    }
}
