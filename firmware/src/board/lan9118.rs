//! The SMSC LAN9118 network card of `mps2-an385`, for embassy-net.
//!
//! Frames go word by word through its FIFOs. Register names are those of the data sheet.

use core::task::Context;

use embassy_net_driver::{Capabilities, Driver, HardwareAddress, LinkState, RxToken, TxToken};
use embassy_sync::waitqueue::AtomicWaker;

use super::registers::Registers;

// SAFETY: the card's registers, as AN385 places them. The card has no DMA: it touches no memory.
const CARD: Registers = unsafe { Registers::new(0x4020_0000, 0x100) };

/// The card's interrupt.
pub(super) const IRQ: u16 = 13;

const RX_DATA: usize = 0x00;
const TX_DATA: usize = 0x20;
const RX_STATUS: usize = 0x40;
const TX_STATUS: usize = 0x48;
const IRQ_CFG: usize = 0x54;
const INT_STS: usize = 0x58;
const INT_EN: usize = 0x5c;
const BYTE_TEST: usize = 0x64;
const FIFO_INT: usize = 0x68;
const RX_CFG: usize = 0x6c;
const TX_CFG: usize = 0x70;
const HW_CFG: usize = 0x74;
const RX_DP_CTRL: usize = 0x78;
const RX_FIFO_INF: usize = 0x7c;
const TX_FIFO_INF: usize = 0x80;
const MAC_CSR_CMD: usize = 0xa4;
const MAC_CSR_DATA: usize = 0xa8;

const MAC_CR: u32 = 1;
const MAC_ADDRH: u32 = 2;
const MAC_ADDRL: u32 = 3;

const BUSY: u32 = 1 << 31;
/// There are received frames.
const RSFL_INT: u32 = 1 << 3;
const RX_ERROR: u32 = 1 << 15;

/// The longest frame with its check sequence, in whole words.
const FRAME_BYTES: usize = 1520;
const CHECK_BYTES: usize = 4;
/// Header and frame without check sequence.
const LONGEST: usize = 1514;

/// Looks at a register that should change at once before the card counts as broken.
const PATIENCE: u32 = 100_000;

static WAKER: AtomicWaker = AtomicWaker::new();

/// Something has come in: whoever receives looks for it, and asks for the next interrupt when it has all.
pub(super) fn on_interrupt() {
    CARD.write(INT_EN, 0);
    WAKER.wake();
}

/// The card, and room for one frame in each direction.
pub(crate) struct Lan9118 {
    address: [u8; 6],
    received: [u8; FRAME_BYTES],
    sent: [u8; FRAME_BYTES],
}

/// The card is not there or does not answer.
#[derive(Debug)]
pub(super) struct Broken;

impl Lan9118 {
    pub(super) const fn new(address: [u8; 6]) -> Self {
        Self { address, received: [0; FRAME_BYTES], sent: [0; FRAME_BYTES] }
    }

    /// Resets the card and lets it send and receive.
    pub(super) fn start(&mut self) -> Result<(), Broken> {
        const RESET: u32 = 1;
        // "Must be one", and 2 KiB for sending: the rest is for receiving.
        const FIFO_SIZES: u32 = 1 << 20 | 2 << 16;
        // Enabled, active high, push-pull.
        const IRQ_ON: u32 = 1 << 8 | 1 << 4 | 1;
        const TX_ON: u32 = 1 << 1;
        const FULL_DUPLEX_TX_RX: u32 = 1 << 20 | 1 << 3 | 1 << 2;
        // What is for groups, too: the stack knows which of them are ours.
        const ALL_MULTICAST: u32 = 1 << 19;

        CARD.write(HW_CFG, RESET);
        wait_until_clear(HW_CFG, RESET)?;
        if CARD.read(BYTE_TEST) != 0x8765_4321 {
            return Err(Broken);
        }
        CARD.write(HW_CFG, FIFO_SIZES);
        CARD.write(INT_EN, 0);
        CARD.write(INT_STS, u32::MAX);
        CARD.write(IRQ_CFG, IRQ_ON);
        // An interrupt for the first frame.
        CARD.write(FIFO_INT, 0);
        let [a, b, c, d, e, f] = self.address;
        set_mac(MAC_ADDRL, u32::from_le_bytes([a, b, c, d]))?;
        set_mac(MAC_ADDRH, u32::from_le_bytes([e, f, 0, 0]))?;
        CARD.write(RX_CFG, 0);
        CARD.write(TX_CFG, TX_ON);
        set_mac(MAC_CR, FULL_DUPLEX_TX_RX | ALL_MULTICAST)
    }

    /// Takes one good frame out of the FIFO and says how long it is.
    fn take(&mut self, cx: &Context<'_>) -> Option<usize> {
        loop {
            if waiting_frames() == 0 {
                WAKER.register(cx.waker());
                CARD.write(INT_STS, RSFL_INT);
                CARD.write(INT_EN, RSFL_INT);
                // One that came in between has not rung.
                if waiting_frames() == 0 {
                    return None;
                }
            }
            let status = CARD.read(RX_STATUS);
            let length = (status >> 16 & 0x3fff) as usize;
            let words = length.div_ceil(4);
            let is_good = status & RX_ERROR == 0 && length > CHECK_BYTES;
            match self.received.get_mut(..words * 4).filter(|_| is_good) {
                Some(room) => {
                    for word in room.chunks_exact_mut(4) {
                        word.copy_from_slice(&CARD.read(RX_DATA).to_le_bytes());
                    }
                    return Some(length - CHECK_BYTES);
                }
                None => skip(words),
            }
        }
    }
}

fn wait_until_clear(register: usize, bits: u32) -> Result<(), Broken> {
    (0..PATIENCE).any(|_| CARD.read(register) & bits == 0).then_some(()).ok_or(Broken)
}

fn set_mac(register: u32, value: u32) -> Result<(), Broken> {
    wait_until_clear(MAC_CSR_CMD, BUSY)?;
    CARD.write(MAC_CSR_DATA, value);
    CARD.write(MAC_CSR_CMD, BUSY | register);
    wait_until_clear(MAC_CSR_CMD, BUSY)
}

fn waiting_frames() -> u32 {
    CARD.read(RX_FIFO_INF) >> 16 & 0xff
}

/// Is there room for another frame to send? If not, the network looks again: a frame is gone within a millisecond.
fn has_room(cx: &Context<'_>) -> bool {
    let has_room = (CARD.read(TX_FIFO_INF) & 0xffff) as usize >= ROOM_TO_SEND;
    if !has_room {
        cx.waker().wake_by_ref();
    }
    has_room
}

/// Drops a frame. Fast forward wants four words at least.
fn skip(words: usize) {
    if words < 4 {
        for _ in 0..words {
            CARD.read(RX_DATA);
        }
    } else {
        CARD.write(RX_DP_CTRL, BUSY);
        // If it never ends there is nothing to do here; the next frame is found to be bad.
        let _ = wait_until_clear(RX_DP_CTRL, BUSY);
    }
}

pub(crate) struct Received<'a>(&'a mut [u8]);

impl RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

pub(crate) struct Sending<'a>(&'a mut [u8; FRAME_BYTES]);

impl TxToken for Sending<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        const FIRST_AND_LAST: u32 = 1 << 13 | 1 << 12;
        let made = f(&mut self.0[..len]);
        CARD.write(TX_DATA, FIRST_AND_LAST | len as u32);
        CARD.write(TX_DATA, (len as u32) << 16 | len as u32);
        for word in self.0[..len.next_multiple_of(4)].chunks_exact(4) {
            CARD.write(TX_DATA, word.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte)));
        }
        // Nobody asks what became of a frame, but a full list of answers would stop the card.
        while CARD.read(TX_FIFO_INF) >> 16 & 0xff != 0 {
            CARD.read(TX_STATUS);
        }
        made
    }
}

/// A frame, its two command words, and some to spare.
const ROOM_TO_SEND: usize = FRAME_BYTES + 16;

impl Driver for Lan9118 {
    type RxToken<'a> = Received<'a>;
    type TxToken<'a> = Sending<'a>;

    fn receive(&mut self, cx: &mut Context<'_>) -> Option<(Received<'_>, Sending<'_>)> {
        // What comes in may want an answer at once.
        if !has_room(cx) {
            return None;
        }
        let length = self.take(cx)?;
        Some((Received(&mut self.received[..length]), Sending(&mut self.sent)))
    }

    fn transmit(&mut self, cx: &mut Context<'_>) -> Option<Sending<'_>> {
        has_room(cx).then_some(Sending(&mut self.sent))
    }

    fn link_state(&mut self, _: &mut Context<'_>) -> LinkState {
        // The emulated cable is always in.
        LinkState::Up
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.max_transmission_unit = LONGEST;
        capabilities.max_burst_size = Some(4);
        capabilities
    }

    fn hardware_address(&self) -> HardwareAddress {
        HardwareAddress::Ethernet(self.address)
    }
}
