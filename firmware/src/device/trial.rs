//! What an emulated board does to itself so that somebody can see what becomes of it.

use core::{fmt::Write as _, hint::black_box};

use embedded_io_async::Write as _;
use protocol_core::{Inbound, Node};

use super::console::Room;
use crate::{board::here, console::Trial};

/// Does it, and says what came of it where something is left to say.
pub(super) async fn run(trial: Trial, room: &Room, serial: &mut here::Serial) {
    let mut answer = Answer::new();
    match trial {
        Trial::Panic => panic!("somebody asked for a \"panic\""),
        Trial::Overflow => drop(black_box(overflow(0))),
        Trial::Hang => hang(),
        Trial::Stall => room.guard.stall(),
        Trial::Bench => answer = bench(room.node).await,
        // cannot fail: a number is shorter.
        Trial::Count => drop(write!(answer, "{}", here::busy_instructions())),
    }
    let _ = serial.write_all(answer.as_bytes()).await;
    let _ = serial.write_all(b"\r\n").await;
}

type Answer = heapless::String<128>;

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

/// Counts what `read temperature` takes from the bytes of the request to the bytes of the answer, without the network.
///
/// Only an emulator that counts time in instructions gives a number that means something.
async fn bench(node: &'static Node<'static>) -> Answer {
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
    let calls = u64::from(CALLS);
    let mut answer = Answer::new();
    // cannot fail: three numbers and their names are shorter.
    let _ = write!(
        answer,
        "{{\"instructionsPerSend\":{},\"instructionsPerCard\":{},\"bytesPerSend\":{}}}",
        sent / calls,
        card / calls,
        bytes / CALLS as usize
    );
    answer
}
