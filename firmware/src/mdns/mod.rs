//! A name to find the device by: `mote.local`, and `_a2a._tcp` among the services of the local network (mDNS, RFC 6762, and
//! DNS-SD, RFC 6763).
//!
//! edge-mdns knows how names and texts are written and how packets are read; what it leaves to others is here: which
//! records there are, asking whether a name is free, defending it, giving way, and saying goodbye. There is no socket in
//! here and no clock: packets go in and come out, and whoever has both says what time it is.

mod heard;
mod name;
mod records;
mod responder;

use core::net::{Ipv4Addr, SocketAddrV4};

pub use self::{
    name::{DEFAULT_NAME, LABEL_MAX, LocalName, NAME_MAX, Wanted, is_name, keep, recall},
    responder::{Place, Responder},
};

/// Where everybody who speaks mDNS listens.
pub const GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(224, 0, 0, 251), PORT);

const PORT: u16 = 5353;

/// How far packets go: nobody forwards them, and whoever looks can see that nobody did (RFC 6762 §11).
pub const HOPS: u8 = 255;

/// The longest packet of ours, with the questions of somebody who wants to have them back.
pub const PACKET_MAX: usize = 640;
