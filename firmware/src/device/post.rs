//! Who sends notifications on a board.

use core::cell::RefCell;

use embassy_executor::Spawner;
use embassy_net::{Stack, tcp::TcpSocket};
use protocol_core::{
    Engine, Node,
    push::{Outcome, PushStorage, Rules},
};
use static_cell::{ConstStaticCell, StaticCell};

use super::{ONCE, outbound::Outside, presence::Presence};
use crate::{
    outbound::Rooms,
    push::{Attempt, Post},
    reach::Reach,
    signing::Signer,
};

/// Those who send at the same time: while one waits for a webhook that does not answer the other one has time for the rest.
pub(super) const SENDERS: usize = 2;
/// Configurations that there is room for, of all tasks together.
pub(super) const CONFIGS: usize = 8;

/// The memory of one who sends.
struct Desk {
    /// What TCP has received and nobody has read.
    receive: [u8; 1024],
    /// What TCP has sent and the webhook has not acknowledged.
    send: [u8; 1024],
    pieces: [u8; 512],
    /// A TLS record that comes: a certificate and those that it rests on, mostly.
    received: [u8; if HAS_TLS { 4608 } else { 0 }],
    sent: [u8; if HAS_TLS { 1024 } else { 0 }],
}

const HAS_TLS: bool = cfg!(feature = "tls");

impl Desk {
    const NEW: Self = Self { receive: [0; _], send: [0; _], pieces: [0; _], received: [0; _], sent: [0; _] };
}

type Board = Post<'static, 'static, Outside<SENDERS>>;

static DESKS: ConstStaticCell<[Desk; SENDERS]> = ConstStaticCell::new([Desk::NEW; SENDERS]);
static CONFIGURED: ConstStaticCell<PushStorage<CONFIGS, SENDERS>> = ConstStaticCell::new(PushStorage::new());

/// Makes room for those who are to be notified, if the owner wants that.
pub(super) fn prepare(engine: &mut Engine<'static>, reach: &Reach<'static>) {
    if reach.is_on {
        engine.set_push(CONFIGURED.take(), reach.webhooks);
    }
}

/// Lets senders send.
pub(super) fn employ(
    spawner: Spawner,
    (stack, presence): (Stack<'static>, &'static Presence),
    node: &'static Node<'static>,
    reach: &Reach<'static>,
    signer: Option<&'static Signer>,
) {
    static NETWORK: StaticCell<Outside<SENDERS>> = StaticCell::new();
    static RULES: StaticCell<Rules<'static>> = StaticCell::new();
    static POST: StaticCell<Board> = StaticCell::new();

    if !reach.is_on {
        return;
    }
    let mut rooms = heapless::Vec::<Rooms<'static>, SENDERS>::new();
    let sockets = DESKS.take().each_mut().map(|desk| {
        // cannot fail: there is room for each.
        let _ = rooms.push(Rooms { pieces: &mut desk.pieces, received: &mut desk.received, sent: &mut desk.sent });
        RefCell::new(TcpSocket::new(stack, &mut desk.receive, &mut desk.send))
    });
    let post = POST.init(Post {
        node,
        network: NETWORK.init(Outside { stack, presence, sockets }),
        rules: RULES.init(reach.webhooks.rules),
        roots: reach.roots,
        signer,
        issuer: None,
    });
    for (rooms, sender) in rooms.into_iter().zip(0..) {
        spawner.spawn(send(sender, post, rooms).expect(ONCE));
    }
}

#[embassy_executor::task(pool_size = SENDERS)]
async fn send(sender: usize, post: &'static Board, mut rooms: Rooms<'static>) -> ! {
    post.run(sender, &mut rooms, tell).await
}

/// Says what went wrong; what went well is counted.
fn tell(attempt: &Attempt<'_>) {
    let what = attempt.event.unwrap_or("the question if it is meant");
    let next = match attempt.outcome {
        Outcome::Delivered => return defmt::debug!("webhook {=str}: {=str}", attempt.host, what),
        Outcome::Failed { .. } => "tried again",
        Outcome::Refused => "not tried again until there is something new",
    };
    match attempt.result {
        Ok(status) => defmt::warn!("webhook {=str}: {=str}: answered {=u16}; {=str}", attempt.host, what, status, next),
        Err(miss) => defmt::warn!("webhook {=str}: {=str}: {=str}; {=str}", attempt.host, what, miss.as_str(), next),
    }
}
