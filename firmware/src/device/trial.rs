//! What an emulated board does to itself so that somebody can see what becomes of it.

use core::{fmt::Write as _, hint::black_box};

use embedded_io_async::Write as _;
use protocol_core::{Inbound, Node, time::UnixMillis};

use super::console::Room;
use crate::{
    board::here,
    console::Trial,
    signing::{Claims, Signer},
};

/// Does it, and says what came of it where something is left to say.
pub(super) async fn run(trial: Trial, room: &Room, serial: &mut here::Serial) {
    let mut answer = Answer::new();
    match trial {
        Trial::Panic => panic!("somebody asked for a \"panic\""),
        Trial::Overflow => drop(black_box(overflow(0))),
        Trial::Hang => hang(),
        Trial::Stall => room.guard.stall(),
        Trial::Bench => answer = bench(room.node, room.signer).await,
        // cannot fail: a number is shorter.
        Trial::Count => drop(write!(answer.as_mut_view(), "{}", here::busy_instructions())),
    }
    let _ = serial.write_all(answer.as_bytes()).await;
    let _ = serial.write_all(b"\r\n").await;
}

type Answer = heapless::String<160>;

/// Goes deeper than there is stack.
#[inline(never)]
fn overflow(depth: u32) -> u32 {
    let room = black_box([depth; 64]);
    if depth == u32::MAX { 0 } else { overflow(depth + 1) ^ room[depth as usize % 64] }
}

/// Does nothing, for ever, and lets nobody else do anything.
fn hang() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

const CALLS: u32 = 20;

/// What a notification has in its token.
const CLAIMS: Claims<'static> = Claims {
    iat: Some(UnixMillis(1_767_225_600_000)),
    jti: "3b241101-e2bb-4255-8caf-4136c566a962.17",
    task: "3b241101-e2bb-4255-8caf-4136c566a962",
    audience: "https://receiver.example/hooks/mote",
    body_digest: &[0x5a; 32],
};

/// Counts what `read temperature` takes from the bytes of the request to the bytes of the answer, without the network.
///
/// Only an emulator that counts time in instructions gives a number that means something.
async fn bench(node: &'static Node<'static>, signer: Option<&'static Signer>) -> Answer {
    const SEND: &str = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"b","role":"ROLE_USER","parts":[{"text":"read temperature"}]}}}"#;
    const CARD: &str = "mote.local";

    // Whoever counts has no token: the door is open for as long as it takes.
    let was_open = node.door().is_open();
    node.change_door(|door| door.set_open(true));
    let mut piece = [0; 512];
    let begun = here::busy_instructions();
    let mut bytes = 0;
    for _ in 0..CALLS {
        let mut reply = node.call(&Inbound { body: SEND.as_bytes(), ..Inbound::GUEST });
        while let Ok(filled @ 1..) = reply.fill(&mut piece).await {
            bytes += filled;
        }
    }
    let sent = here::busy_instructions() - begun;
    let begun = here::busy_instructions();
    for _ in 0..CALLS {
        let mut reply = node.card(CARD);
        while let Ok(1..) = reply.fill(&mut piece).await {}
    }
    let card = here::busy_instructions() - begun;
    node.change_door(|door| door.set_open(was_open));
    let begun = here::busy_instructions();
    let mut token = 0;
    if let Some(seal) = signer.and_then(|signer| signer.seal(&CLAIMS)) {
        seal.write_token(&mut |text: &str| token += text.len(), &CLAIMS);
    }
    let signed = here::busy_instructions() - begun;
    let calls = u64::from(CALLS);
    let mut answer = Answer::new();
    // cannot fail: five numbers and their names are shorter.
    let _ = write!(
        answer.as_mut_view(),
        "{{\"instructionsPerSend\":{},\"instructionsPerCard\":{},\"bytesPerSend\":{},\"instructionsPerToken\":{signed},\"bytesPerToken\":{}}}",
        sent / calls,
        card / calls,
        bytes / CALLS as usize,
        token
    );
    answer
}
