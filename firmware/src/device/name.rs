//! The name in the local network, on the device's own socket.

use core::net::SocketAddrV4;

use embassy_futures::select::{Either4, select4};
use embassy_net::{
    IpAddress, IpEndpoint, Stack,
    udp::{PacketMetadata, UdpSocket},
};
use embassy_time::{Duration, Instant, Timer, with_timeout};
use protocol_core::time::Millis;

use super::{PORT, desk::Desk};
use crate::{
    board::{Key, here},
    mdns::{self, GROUP, HOPS, LocalName, PACKET_MAX, Place, Responder},
    store::Store,
};

/// The largest packet that comes in one frame. Others are cut by whoever sends them.
const FRAME_MAX: usize = 1472;

/// May it be found by a name? It may, unless somebody typed otherwise.
pub(super) fn is_findable(store: &Store<here::Flash>) -> bool {
    let mut byte = [1];
    store.load(Key::FINDABLE, &mut byte).is_none() || byte != [0]
}

/// Answers to the name, and to another one as soon as somebody types it.
#[embassy_executor::task]
pub(super) async fn answer_to_name(
    stack: Stack<'static>,
    desk: &'static Desk,
    own: &'static LocalName,
    seed: u64,
) -> ! {
    let (mut received, mut sent, mut out) = ([0; FRAME_MAX], [0; PACKET_MAX], [0; PACKET_MAX]);
    let (mut receiving, mut sending) = ([PacketMetadata::EMPTY; 4], [PacketMetadata::EMPTY; 1]);
    let mut socket = UdpSocket::new(stack, &mut receiving, &mut received, &mut sending, &mut sent);
    // cannot fail: nobody else here has that port, and there is room for a group.
    let _ = socket.bind(GROUP.port());
    let _ = stack.join_multicast_group(*GROUP.ip());
    socket.set_hop_limit(Some(HOPS));
    let mut responder = Responder::new(mdns::recall(&desk.store), PORT, own, seed);
    // What is in `out` for somebody.
    let mut next: Option<(usize, SocketAddrV4)> = None;
    loop {
        let place = whereabouts(stack);
        responder.set_place(now(), place);
        let due = next.take().or_else(|| responder.poll_packet(now(), &mut out).map(|length| (length, GROUP)));
        if let Some((length, to)) = due {
            send(&mut socket, &out[..length], to).await;
            continue;
        }
        if let Some(name) = responder.poll_news() {
            defmt::info!("at http://{=str}.local/", name);
        }
        // Once in a hundred days something is due for nothing.
        let due = responder.poll_timeout().unwrap_or(Millis(u64::from(u32::MAX) * 2));
        let timer = Timer::at(Instant::from_millis(due.0));
        let moved =
            async { if place.is_some() { stack.wait_config_down().await } else { stack.wait_config_up().await } };
        match select4(socket.wait_recv_ready(), timer, moved, desk.name.wait()).await {
            Either4::First(()) => {
                let reply = socket.recv_from_with(|packet, meta| {
                    let IpAddress::Ipv4(address) = meta.endpoint.addr;
                    let from = SocketAddrV4::new(address, meta.endpoint.port);
                    Some((responder.handle_packet(now(), from, packet, &mut out)?, from))
                });
                next = reply.await;
            }
            Either4::Second(()) | Either4::Third(()) => {}
            Either4::Fourth(wanted) => {
                next = responder.goodbye(now(), &mut out).map(|length| (length, GROUP));
                responder.rename(now(), wanted);
            }
        }
    }
}

/// Where the device is, if it is anywhere.
fn whereabouts(stack: Stack<'static>) -> Option<Place> {
    let config = stack.config_v4().filter(|_| stack.is_config_up())?;
    Some(Place { address: config.address.address(), prefix: config.address.prefix_len() })
}

fn now() -> Millis {
    Millis(Instant::now().as_millis())
}

/// Sends, or gives it up: what gets lost is asked for again. A packet for somebody who is not there, or never was, would
/// wait for them for ever, and all others behind it.
async fn send(socket: &mut UdpSocket<'_>, packet: &[u8], to: SocketAddrV4) {
    const PATIENCE: Duration = Duration::from_millis(200);
    let sent = async {
        let _ = socket.send_to(packet, IpEndpoint::from((*to.ip(), to.port()))).await;
        socket.flush().await;
    };
    if with_timeout(PATIENCE, sent).await.is_err() {
        socket.close();
        // cannot fail: it was ours a moment ago.
        let _ = socket.bind(GROUP.port());
    }
}
