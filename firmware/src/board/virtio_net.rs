//! The virtio network card of a RISC-V `virt`, for embassy-net. The queues are virtio-drivers' work.

use core::{
    cell::UnsafeCell,
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering},
    task::Context,
};

use embassy_net_driver::{Capabilities, Driver, HardwareAddress, LinkState, RxToken, TxToken};
use embassy_sync::waitqueue::AtomicWaker;
use static_cell::{ConstStaticCell, StaticCell};
use virtio_drivers::{
    BufferDirection, Hal, PAGE_SIZE, PhysAddr,
    device::net::VirtIONetRaw,
    transport::{DeviceType, Transport, mmio::MmioTransport},
};

use super::{plic, registers::Registers};

/// Where the first virtio device would be; the others follow, and their interrupts count from 1.
const SLOTS: usize = 0x1000_1000;
const SLOT_BYTES: usize = 0x1000;
const SLOT_COUNT: usize = 8;
const INTERRUPT_STATUS: usize = 0x60;
const INTERRUPT_ACK: usize = 0x64;

/// Frames that can wait to be received.
const QUEUE: usize = 4;
/// The card's header and the longest frame.
const BUFFER_BYTES: usize = 1536;
/// Ethernet's header and what it carries.
const LONGEST: usize = 1514;

type Queues = VirtIONetRaw<Dma, MmioTransport<'static>, QUEUE>;

static WAKER: AtomicWaker = AtomicWaker::new();
/// The slot that the card is in; 0 before it is found.
static SLOT: AtomicUsize = AtomicUsize::new(0);

/// Something has come in, or something has left.
pub(super) fn on_interrupt() {
    let base = SLOT.load(Ordering::Relaxed);
    if base != 0 {
        // SAFETY: the card was found there. Its interrupt is all that these two words are about.
        let card = unsafe { Registers::new(base, SLOT_BYTES) };
        card.write(INTERRUPT_ACK, card.read(INTERRUPT_STATUS));
    }
    WAKER.wake();
}

/// The card, with frames that it may fill at any time and one to hand on.
pub(crate) struct VirtioNet {
    queues: Queues,
    tokens: [u16; QUEUE],
    frames: &'static mut Frames,
}

/// Apart from the card, and made where they stay: on its way there they would take most of the stack.
struct Frames {
    /// The card's, except those whose token it has given back.
    waiting: [[u8; BUFFER_BYTES]; QUEUE],
    received: [u8; BUFFER_BYTES],
    sent: [u8; BUFFER_BYTES],
}

impl VirtioNet {
    /// Looks for the card and starts it. It stays where it is for good: the card knows its buffers by address.
    pub(super) fn start() -> Option<&'static mut Self> {
        static CARD: StaticCell<VirtioNet> = StaticCell::new();
        static FRAMES: ConstStaticCell<Frames> = ConstStaticCell::new(Frames {
            waiting: [[0; BUFFER_BYTES]; QUEUE],
            received: [0; BUFFER_BYTES],
            sent: [0; BUFFER_BYTES],
        });
        let queues = find()?;
        let card = CARD.init_with(|| Self { queues, tokens: [0; QUEUE], frames: FRAMES.take() });
        for place in 0..QUEUE {
            card.lend(place);
        }
        Some(card)
    }

    /// Gives the card a buffer to fill.
    fn lend(&mut self, place: usize) {
        // SAFETY: the buffer is static, and nobody looks at it before the card has given its token back.
        let token = unsafe { self.queues.receive_begin(&mut self.frames.waiting[place]) };
        // cannot fail: there are as many buffers as places in the queue.
        self.tokens[place] = token.expect("a free place in the queue");
    }

    /// Copies a frame out, so that the card has its buffer back at once, and says how long it is.
    fn take(&mut self, cx: &Context<'_>) -> Option<usize> {
        WAKER.register(cx.waker());
        loop {
            let token = self.queues.poll_receive()?;
            let place = self.tokens.iter().position(|known| *known == token)?;
            // SAFETY: it is the buffer that was lent under this token.
            let frame = unsafe { self.queues.receive_complete(token, &mut self.frames.waiting[place]) };
            let frame = frame.ok().and_then(|(start, length)| self.frames.waiting[place].get(start..start + length));
            let length = frame.map(|frame| {
                self.frames.received[..frame.len()].copy_from_slice(frame);
                frame.len()
            });
            self.lend(place);
            if length.is_some() {
                return length;
            }
        }
    }
}

fn find() -> Option<Queues> {
    for place in 0..SLOT_COUNT {
        let base = SLOTS + place * SLOT_BYTES;
        let header = NonNull::new(base as *mut _)?;
        // SAFETY: `virt` has a virtio slot there, with or without a device in it, for as long as it runs.
        let Ok(transport) = (unsafe { MmioTransport::new(header, SLOT_BYTES) }) else { continue };
        if transport.device_type() != DeviceType::Network {
            // Dropping it would reset a device that is not ours.
            core::mem::forget(transport);
            continue;
        }
        plic::enable(place + 1);
        SLOT.store(base, Ordering::Relaxed);
        let mut queues = Queues::new(transport).ok()?;
        queues.enable_interrupts();
        return Some(queues);
    }
    None
}

/// Memory that the card may reach: all of it, under the addresses that we know, too.
struct Dma;

const PAGES: usize = 4;

#[repr(align(4096))]
struct Pages(UnsafeCell<[u8; PAGES * PAGE_SIZE]>);

// SAFETY: pages are handed out once each, by `dma_alloc`, and not looked at otherwise.
unsafe impl Sync for Pages {}

static POOL: Pages = Pages(UnsafeCell::new([0; PAGES * PAGE_SIZE]));
static HANDED_OUT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the memory is static, zero, aligned to pages and handed out once; addresses are the same on both sides.
unsafe impl Hal for Dma {
    fn dma_alloc(pages: usize, _: BufferDirection) -> (PhysAddr, NonNull<u8>) {
        // Only ever called at the start, so that nobody comes in between.
        let first = HANDED_OUT.load(Ordering::Relaxed);
        assert!(first + pages <= PAGES, "the card wants more memory than there is");
        HANDED_OUT.store(first + pages, Ordering::Relaxed);
        // SAFETY: within the pool, as was just checked.
        let start = unsafe { POOL.0.get().cast::<u8>().add(first * PAGE_SIZE) };
        (start as PhysAddr, NonNull::new(start).expect("memory is not at 0"))
    }

    unsafe fn dma_dealloc(_: PhysAddr, _: NonNull<u8>, _: usize) -> i32 {
        // The card is never given up.
        0
    }

    unsafe fn mmio_phys_to_virt(address: PhysAddr, _: usize) -> NonNull<u8> {
        NonNull::new(address as usize as *mut u8).expect("a device is not at 0")
    }

    unsafe fn share(buffer: NonNull<[u8]>, _: BufferDirection) -> PhysAddr {
        buffer.as_ptr().cast::<u8>() as PhysAddr
    }

    unsafe fn unshare(_: PhysAddr, _: NonNull<[u8]>, _: BufferDirection) {}
}

pub(crate) struct Received<'a>(&'a mut [u8]);

impl RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

pub(crate) struct Sending<'a> {
    queues: &'a mut Queues,
    frame: &'a mut [u8; BUFFER_BYTES],
}

impl TxToken for Sending<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let frame = &mut self.frame[..len];
        let made = f(frame);
        // Waits for QEMU to take it, which it does before it lets us go on. What it does not take is a lost frame.
        let _ = self.queues.send(frame);
        made
    }
}

impl Driver for VirtioNet {
    type RxToken<'a> = Received<'a>;
    type TxToken<'a> = Sending<'a>;

    fn receive(&mut self, cx: &mut Context<'_>) -> Option<(Received<'_>, Sending<'_>)> {
        let length = self.take(cx)?;
        Some((
            Received(&mut self.frames.received[..length]),
            Sending { queues: &mut self.queues, frame: &mut self.frames.sent },
        ))
    }

    fn transmit(&mut self, _: &mut Context<'_>) -> Option<Sending<'_>> {
        Some(Sending { queues: &mut self.queues, frame: &mut self.frames.sent })
    }

    fn link_state(&mut self, _: &mut Context<'_>) -> LinkState {
        // The emulated cable is always in.
        LinkState::Up
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.max_transmission_unit = LONGEST;
        capabilities.max_burst_size = Some(QUEUE);
        capabilities
    }

    fn hardware_address(&self) -> HardwareAddress {
        HardwareAddress::Ethernet(self.queues.mac_address())
    }
}
