//! Packets of any bytes to a device that has a name in the local network, or wants one: it goes on having one, answers
//! nobody with more than a packet, and tells everybody no more than it should.
#![no_main]

use core::net::{Ipv4Addr, SocketAddrV4};

use firmware::mdns::{GROUP, LocalName, PACKET_MAX, Place, Responder, Wanted};
use libfuzzer_sys::fuzz_target;
use protocol_core::time::Millis;

const HERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 7);
/// Packets that are looked at.
const MOST: usize = 32;

// Each packet has who sent it and how long before it nothing came in a byte, and its length in two.
fuzz_target!(|bytes: &[u8]| {
    let own = LocalName::new();
    let mut responder = Responder::new(Wanted::default(), 80, &own, 1);
    responder.set_place(Millis(0), Some(Place { address: HERE, prefix: 24 }));
    let (mut now, mut told) = (0, 0);
    let mut rest = bytes;
    for _ in 0..MOST {
        let [how, high, low, packet @ ..] = rest else { break };
        let (packet, behind) = packet.split_at(usize::from(u16::from_be_bytes([*high, *low])).min(packet.len()));
        rest = behind;
        let address = if how & 1 == 0 { HERE } else { Ipv4Addr::new(10, 0, 0, 8) };
        let from = SocketAddrV4::new(address, if how & 2 == 0 { GROUP.port() } else { 40_000 });
        told += pass(&mut responder, &mut now, u64::from(how >> 2) * 40);
        let mut out = [0; PACKET_MAX];
        let reply = responder.handle_packet(Millis(now), from, packet, &mut out);
        assert!(reply.is_none_or(|length| length <= PACKET_MAX && out[2] & 0x80 != 0), "it is no answer");
    }
    // Left alone, it has a name in a few seconds.
    told += pass(&mut responder, &mut now, 20_000);
    assert!(own.get().is_some_and(|name| name.starts_with("mote")), "it has no name");
    // Of each of six records one in a quarter of a second, at the very most.
    assert!(told <= 8 + now / 250 * 6, "{told} packets in {now} ms");
});

/// Lets time pass, and counts what is told to everybody.
fn pass(responder: &mut Responder<'_>, now: &mut u64, span: u64) -> u64 {
    let (end, mut told) = (*now + span, 0);
    while let Some(Millis(due)) = responder.poll_timeout().filter(|due| due.0 <= end) {
        *now = due.max(*now);
        let mut out = [0; PACKET_MAX];
        let before = told;
        while responder.poll_packet(Millis(*now), &mut out).is_some() {
            told += 1;
        }
        assert!(told > before, "it woke up for nothing");
    }
    *now = end;
    told
}
