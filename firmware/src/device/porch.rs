//! Who comes while all sockets are taken waits a moment, instead of hearing that there is nothing here.
//!
//! A handful of sockets listen, and below them nothing queues: the network's stack refuses whoever knocks next with a
//! reset. To a client that means that no device is there. Unanswered it knocks again after a second, and by then
//! somebody is free to serve it, or to say that there is no room. So these resets stay here.

use core::task::Context;

use embassy_net::driver::{Capabilities, Driver, HardwareAddress, LinkState, TxToken};

use super::PORT;

/// A network card that does not send refusals.
pub(super) struct Porch<D>(pub(super) D);

impl<D: Driver> Driver for Porch<D> {
    type RxToken<'a>
        = D::RxToken<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = Quiet<D::TxToken<'a>>
    where
        Self: 'a;

    fn receive(&mut self, cx: &mut Context<'_>) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        self.0.receive(cx).map(|(received, reply)| (received, Quiet(reply)))
    }

    fn transmit(&mut self, cx: &mut Context<'_>) -> Option<Self::TxToken<'_>> {
        self.0.transmit(cx).map(Quiet)
    }

    fn link_state(&mut self, cx: &mut Context<'_>) -> LinkState {
        self.0.link_state(cx)
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn hardware_address(&self) -> HardwareAddress {
        self.0.hardware_address()
    }
}

/// Room for one frame to be sent.
pub(super) struct Quiet<T>(T);

impl<T: TxToken> TxToken for Quiet<T> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, fill: F) -> R {
        if len != BARE {
            return self.0.consume(len, fill);
        }
        let mut frame = [0; BARE];
        let filled = fill(&mut frame);
        if !is_refusal(&frame) {
            self.0.consume(len, |out| out.iter_mut().zip(frame).for_each(|(out, byte)| *out = byte));
        }
        filled
    }
}

/// Headers of Ethernet, IPv4 and TCP, and nothing else.
const BARE: usize = 14 + 20 + 20;

/// Does it refuse a connection to our port? Resets that end one have a sequence number.
fn is_refusal(frame: &[u8; BARE]) -> bool {
    const IPV4: [u8; 3] = [0x08, 0x00, 0x45];
    const TCP: u8 = 6;
    const RESET: u8 = 0x04;
    const NEVER_BEGUN: [u8; 4] = [0; 4];
    frame[12..15] == IPV4
        && frame[23] == TCP
        && frame[34..36] == PORT.to_be_bytes()
        && frame[38..42] == NEVER_BEGUN
        && frame[47] & RESET != 0
}
