//! The console of `mps2-an385`: the first of its CMSDK UARTs.

use core::{convert::Infallible, future::poll_fn, task::Poll};

use embassy_sync::waitqueue::AtomicWaker;
use embedded_io_async::{ErrorType, Read, Write};

use super::registers::Registers;

// SAFETY: CMSDK APB UART 0, as AN385 places it. It touches no memory.
const UART: Registers = unsafe { Registers::new(0x4000_4000, 0x14) };

/// Its interrupt, when something was received.
pub(super) const IRQ: u16 = 0;

const DATA: usize = 0x0;
const STATE: usize = 0x4;
const CONTROL: usize = 0x8;
/// Reads what rings; any write of 1 clears that.
const INTERRUPT: usize = 0xc;
const BAUD_DIVISOR: usize = 0x10;

const SEND_FULL: u32 = 1 << 0;
const RECEIVE_FULL: u32 = 1 << 1;
/// Sends and receives.
const ON: u32 = 1 << 0 | 1 << 1;
const RECEIVE_INTERRUPT: u32 = 1 << 3;
const RECEIVED: u32 = 1 << 1;

static WAKER: AtomicWaker = AtomicWaker::new();

/// Something has been typed: whoever reads asks for the next interrupt when it has all.
pub(super) fn on_interrupt() {
    UART.write(CONTROL, ON);
    UART.write(INTERRUPT, RECEIVED);
    WAKER.wake();
}

/// The console.
pub(crate) struct Serial;

impl Serial {
    pub(super) fn start() -> Self {
        // The smallest that it takes; QEMU has no wire that could be too slow.
        UART.write(BAUD_DIVISOR, 16);
        UART.write(CONTROL, ON);
        Self
    }
}

impl ErrorType for Serial {
    type Error = Infallible;
}

impl Read for Serial {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let Some(first) = buffer.first_mut() else { return Ok(0) };
        poll_fn(|cx| {
            if UART.read(STATE) & RECEIVE_FULL == 0 {
                WAKER.register(cx.waker());
                UART.write(CONTROL, ON | RECEIVE_INTERRUPT);
                // One that came in between has not rung.
                if UART.read(STATE) & RECEIVE_FULL == 0 {
                    return Poll::Pending;
                }
            }
            *first = UART.read(DATA) as u8;
            Poll::Ready(Ok(1))
        })
        .await
    }
}

impl Write for Serial {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        for byte in bytes {
            // QEMU takes a byte as soon as it is written, or drops it.
            while UART.read(STATE) & SEND_FULL != 0 {}
            UART.write(DATA, u32::from(*byte));
        }
        Ok(bytes.len())
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
