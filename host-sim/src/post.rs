//! Who sends notifications on the laptop.

use core::net::SocketAddr;

use firmware::{
    outbound::Rooms,
    push::{Attempt, Post},
    reach::Reach,
    signing::Signer,
};
use protocol_core::{
    Engine, Node,
    push::{Outcome, PushStorage, Webhooks},
};
use static_cell::ConstStaticCell;
use tokio::task::spawn_local;

use crate::{args::Preset, board::say, outbound::Outside};

/// Senders of a laptop: so many webhooks may be slow at a time before others notice.
const HOST_SENDERS: usize = 16;
/// Senders of a board.
const PICO_SENDERS: usize = 2;

static HOST: ConstStaticCell<PushStorage<1024, HOST_SENDERS>> = ConstStaticCell::new(PushStorage::new());
static PICO: ConstStaticCell<PushStorage<8, PICO_SENDERS>> = ConstStaticCell::new(PushStorage::new());

/// Makes room for those who are to be notified.
pub(crate) fn prepare(engine: &mut Engine<'static>, preset: Preset, webhooks: Webhooks<'static>) {
    match preset {
        Preset::Host => engine.set_push(HOST.take(), webhooks),
        Preset::Pico => engine.set_push(PICO.take(), webhooks),
    }
}

/// Lets senders send until the process ends.
pub(crate) fn employ(
    node: &'static Node<'static>,
    own: SocketAddr,
    preset: Preset,
    reach: &Reach<'static>,
    signer: Option<&'static Signer>,
    issuer: Option<&'static str>,
) {
    let (network, rules) = (Box::leak(Box::new(Outside { own })), Box::leak(Box::new(reach.webhooks.rules)));
    let roots = reach.roots;
    let post: &'static Post<'_, '_, _> = Box::leak(Box::new(Post { node, network, rules, roots, signer, issuer }));
    let senders = match preset {
        Preset::Host => HOST_SENDERS,
        Preset::Pico => PICO_SENDERS,
    };
    for sender in 0..senders {
        spawn_local(async move {
            // A TLS record has up to 16 KiB.
            let (mut pieces, mut received, mut sent) = (vec![0; 2048], vec![0; 16_640 + 256], vec![0; 4096]);
            let mut rooms = Rooms { pieces: &mut pieces, received: &mut received, sent: &mut sent };
            post.run(sender, &mut rooms, tell).await;
        });
    }
}

/// Says what went wrong; what went well is counted.
fn tell(attempt: &Attempt<'_>) {
    let what = attempt.event.unwrap_or("the question if it is meant");
    let next = match attempt.outcome {
        Outcome::Delivered => return,
        Outcome::Failed { .. } => "it is tried again",
        Outcome::Refused => "it is not tried again until there is something new",
    };
    match attempt.result {
        Ok(status) => say(format_args!("webhook {}: {what}: answered {status}, {next}", attempt.host)),
        Err(miss) => say(format_args!("webhook {}: {what}: {}, {next}", attempt.host, miss.as_str())),
    }
}
