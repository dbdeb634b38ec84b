//! The name in the local network, on the device's own socket.

use core::{
    net::SocketAddrV4,
    task::{Context, Poll, Waker},
};

use embassy_futures::{
    poll_once,
    select::{Either4, select4},
};
use embassy_net::{
    IpAddress, IpEndpoint, Stack,
    udp::{PacketMetadata, UdpSocket},
};
use embassy_time::{Duration, Instant, Timer, with_timeout};
use protocol_core::time::Millis;

use super::{PORT, desk::Desk};
use crate::{
    board::{Key, here},
    mdns::{self, GROUP, HOPS, LocalName, PACKET_MAX, Responder},
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
    let (mut received, mut sent) = ([0; FRAME_MAX], [0; PACKET_MAX]);
    let (mut receiving, mut sending) = ([PacketMetadata::EMPTY; 4], [PacketMetadata::EMPTY; 1]);
    let mut socket = UdpSocket::new(stack, &mut receiving, &mut received, &mut sending, &mut sent);
    // cannot fail: nobody else here has that port, and there is room for a group.
    let _ = socket.bind(GROUP.port());
    let _ = stack.join_multicast_group(*GROUP.ip());
    socket.set_hop_limit(Some(HOPS));
    let mut responder = Responder::new(mdns::recall(&desk.store), PORT, own, seed);
    let mut presence = desk.presence.listener();
    loop {
        responder.set_place(now(), presence.try_get().flatten());
        if say(&mut socket, |_, out| Some((responder.poll_packet(now(), out)?, GROUP))) {
            let_go(&mut socket).await;
            continue;
        }
        if let Some(name) = responder.poll_news() {
            defmt::info!("at http://{=str}.local/", name);
        }
        // Once in a hundred days something is due for nothing.
        let due = responder.poll_timeout().unwrap_or(Millis(u64::from(u32::MAX) * 2));
        let timer = Timer::at(Instant::from_millis(due.0));
        let is_said = match select4(socket.wait_recv_ready(), timer, presence.changed(), desk.name.wait()).await {
            Either4::First(()) => say(&mut socket, |socket, out| hear(socket, &mut responder, out)),
            Either4::Second(()) | Either4::Third(_) => false,
            Either4::Fourth(wanted) => {
                let is_said = say(&mut socket, |_, out| Some((responder.goodbye(now(), out)?, GROUP)));
                responder.rename(now(), wanted);
                is_said
            }
        };
        if is_said {
            let_go(&mut socket).await;
        }
    }
}

/// Takes in the packet that is there. There may be an answer to it: then `out` is filled, and it says how long it is and for
/// whom.
fn hear(socket: &mut UdpSocket<'_>, responder: &mut Responder<'_>, out: &mut [u8]) -> Option<(usize, SocketAddrV4)> {
    let heard = poll_once(socket.recv_from_with(|packet, meta| {
        let IpAddress::Ipv4(address) = meta.endpoint.addr;
        let from = SocketAddrV4::new(address, meta.endpoint.port);
        Some((responder.handle_packet(now(), from, packet, out)?, from))
    }));
    if let Poll::Ready(reply) = heard { reply } else { None }
}

/// Makes a packet, if there is one to make, and leaves it with the socket: no other memory has to hold it while it goes out.
fn say<'s>(
    socket: &mut UdpSocket<'s>,
    make: impl FnOnce(&mut UdpSocket<'s>, &mut [u8]) -> Option<(usize, SocketAddrV4)>,
) -> bool {
    let mut out = [0; PACKET_MAX];
    let Some((length, to)) = make(socket, &mut out) else { return false };
    let packet = out.get(..length).unwrap_or_default();
    // There is room: the one before is out, or was given up.
    let _ =
        socket.poll_send_to(packet, IpEndpoint::from((*to.ip(), to.port())), &mut Context::from_waker(Waker::noop()));
    true
}

fn now() -> Millis {
    Millis(Instant::now().as_millis())
}

/// Waits until it is out, or gives it up: what gets lost is asked for again. A packet for somebody who is not there, or
/// never was, would wait for them for ever, and all others behind it.
async fn let_go(socket: &mut UdpSocket<'_>) {
    const PATIENCE: Duration = Duration::from_millis(200);
    if with_timeout(PATIENCE, socket.flush()).await.is_err() {
        socket.close();
        // cannot fail: it was ours a moment ago.
        let _ = socket.bind(GROUP.port());
    }
}
