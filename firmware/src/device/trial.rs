//! What an emulated board does to itself so that somebody can see what becomes of it.

use core::{fmt::Write as _, hint::black_box};

use protocol_core::{Inbound, Node};

use crate::board::here;

/// Goes deeper than there is stack.
#[inline(never)]
pub(super) fn overflow(depth: u32) -> u32 {
    let room = black_box([depth; 64]);
    if depth == u32::MAX { 0 } else { overflow(depth + 1) ^ room[depth as usize % 64] }
}

/// Does nothing, for ever, and lets nobody else do anything.
pub(super) fn hang() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

const CALLS: u32 = 20;

/// Counts what `read temperature` takes from the bytes of the request to the bytes of the answer, without the network.
///
/// Only an emulator that counts time in instructions gives a number that means something.
pub(super) async fn bench(node: &'static Node<'static>) -> heapless::String<{ crate::console::HELP.len() }> {
    const SEND: &str = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"b","role":"ROLE_USER","parts":[{"text":"read temperature"}]}}}"#;
    const CARD: &str = "mote.local";

    let mut piece = [0; 512];
    let begun = here::busy_instructions();
    let mut bytes = 0;
    for _ in 0..CALLS {
        let mut reply = node.call(&Inbound { body: SEND.as_bytes(), ..Inbound::default() });
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
    let calls = u64::from(CALLS);
    let mut answer = heapless::String::new();
    // cannot fail: it is shorter than help.
    let _ = write!(
        answer,
        "{{\"instructionsPerSend\":{},\"instructionsPerCard\":{},\"bytesPerSend\":{}}}\r\n",
        sent / calls,
        card / calls,
        bytes / CALLS as usize
    );
    answer
}
