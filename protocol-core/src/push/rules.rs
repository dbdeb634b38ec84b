//! Whom the device may call. A client names a webhook, the owner of the device says which ones it may name.

use core::net::IpAddr;

use super::Url;

/// What the owner allows beside `https` to public addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules<'s> {
    /// Plain HTTP, too.
    pub plain_http: bool,
    /// Addresses that are not public, too.
    pub ranges: Ranges,
    /// These hosts and no others, if there are any: names as they stand in URLs. Their addresses may be of any range.
    pub hosts: &'s [&'s str],
}

/// Ranges of addresses that are refused unless they are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranges {
    /// The device itself.
    pub loopback: bool,
    /// The house: RFC 1918 and unique local addresses.
    pub private: bool,
    /// The wire: 169.254/16 and fe80::/10.
    pub link_local: bool,
}

impl Rules<'_> {
    /// Nothing but `https` to public addresses.
    pub const STRICT: Self =
        Self { plain_http: false, ranges: Ranges { loopback: false, private: false, link_local: false }, hosts: &[] };

    /// Whether a client may name this URL.
    ///
    /// # Errors
    /// Why not, in words that continue "the URL ...".
    pub fn check_url(&self, url: &Url<'_>) -> Result<(), &'static str> {
        if !url.is_https && !self.plain_http {
            return Err("must be https: plain http is not allowed here");
        }
        Ok(())
    }

    /// Whether an address that the host of a URL has may be called.
    ///
    /// # Errors
    /// Why not, in words that continue "the URL ...".
    pub fn check_address(&self, _url: &Url<'_>, address: IpAddr) -> Result<(), &'static str> {
        if address.is_loopback() && !self.ranges.loopback {
            return Err("leads to the device itself");
        }
        Ok(())
    }
}
