//! Packets that are none.

use super::*;

/// Packets as others may send them, to begin with.
fn packets() -> Vec<Vec<u8>> {
    let told = other("mote", HIGHER);
    let names = [("mote.local", Rtype::A, IN), ("mote._a2a._tcp.local", Rtype::ANY, IN_ALONE)];
    vec![
        ask(&names),
        ask_knowing(&[("_a2a._tcp.local", Rtype::PTR, IN)], Records::ALL, 0x0200),
        probe(&told),
        probe(&other("mote", HERE)),
        answer(&told, Records::ALL, Tone::ToAll),
        answer(&other("mote", HERE), Records::ALL, Tone::ToAll),
        // A name that points to itself, to one that points back, and to the head.
        [&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &[0xc0, 12, 0, 1, 0, 1]].concat(),
        [&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &[0xc0, 14, 0xc0, 12, 0, 1, 0, 1]].concat(),
        [&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &[1, b'a', 0xc0, 12, 0, 1, 0, 1]].concat(),
        [&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &[0xc0, 0, 0, 1, 0, 1]].concat(),
        // As many records as can be said, and none of them there.
        vec![0xff; 12],
        [&[0, 0, 0x84, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..], &[0; 1400]].concat(),
        [&[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0][..], &[0; 1400]].concat(),
        // Each name points to the one before.
        (0..700_u16).fold(vec![0, 0, 0, 0, 0, 120, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1], |mut packet, n| {
            packet.extend((0xc000 | (12 + 2 * n)).to_be_bytes());
            packet
        }),
        vec![],
        vec![0; 11],
    ]
}

/// Gives a packet to a device in each of its stages, from whoever could have sent it, and looks what becomes of it.
fn endure(packet: &[u8]) {
    for wait in [0, 300, 1200, 50_000] {
        for from in [mdns(HIGHER), mdns(HERE), SocketAddrV4::new(HIGHER, 40_000)] {
            let own = LocalName::new();
            let mut device = Device::new(&own, 1);
            device.until(wait);
            let told = device.hear(from, packet);
            // At most one answer to one, and at most one of each record to all.
            assert!(told.is_none_or(|told| told.is_answer));
            let told = device.until(wait + 20_000);
            assert!(told.len() <= 14, "{}", told.len());
            let name = device.own().expect("nobody keeps it from having one");
            assert!(name == "mote" || name == "mote-2", "{name}");
        }
    }
}

#[test]
fn a_packet_that_ends_anywhere_does_no_harm() {
    for packet in packets() {
        for end in 0..packet.len().min(400) {
            endure(&packet[..end]);
        }
        endure(&packet);
    }
}

#[test]
fn packets_that_chance_has_changed_do_no_harm() {
    let mut chance = SplitMix::new(7);
    let mut below = |most: usize| (chance.next() % most as u64) as usize;
    let packets = packets();
    for _ in 0..3000 {
        let mut packet = packets[below(packets.len())].clone();
        for _ in 0..=below(4) {
            if packet.is_empty() {
                break;
            }
            let place = below(packet.len());
            match below(4) {
                0 => packet[place] = below(256) as u8,
                1 => packet[place] ^= 1 << below(8),
                2 => packet.truncate(place),
                _ => {
                    let more = packets[below(packets.len())].clone();
                    packet.extend_from_slice(&more);
                    packet.truncate(1472);
                }
            }
        }
        endure(&packet);
    }
}
