//! The console of a RISC-V `virt`: an NS16550.

use core::{convert::Infallible, future::poll_fn, task::Poll};

use embassy_sync::waitqueue::AtomicWaker;
use embedded_io_async::{ErrorType, Read, Write};

use super::{plic, registers::Registers};

// SAFETY: the UART, where `virt` has it. It touches no memory.
const UART: Registers = unsafe { Registers::new(0x1000_0000, 8) };

/// Its interrupt.
pub(super) const INTERRUPT: usize = 10;

const DATA: usize = 0;
const INTERRUPT_ENABLE: usize = 1;
const LINE_STATUS: usize = 5;

const RECEIVED: u8 = 1 << 0;
const SEND_EMPTY: u8 = 1 << 5;

static WAKER: AtomicWaker = AtomicWaker::new();

/// Something has been typed: whoever reads asks for the next interrupt when it has all.
pub(super) fn on_interrupt() {
    UART.write_byte(INTERRUPT_ENABLE, 0);
    WAKER.wake();
}

/// The console.
pub(crate) struct Serial;

impl Serial {
    pub(super) fn start() -> Self {
        UART.write_byte(INTERRUPT_ENABLE, 0);
        plic::enable(INTERRUPT);
        Self
    }
}

fn is_received() -> bool {
    UART.read_byte(LINE_STATUS) & RECEIVED != 0
}

impl ErrorType for Serial {
    type Error = Infallible;
}

impl Read for Serial {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let Some(first) = buffer.first_mut() else { return Ok(0) };
        poll_fn(|cx| {
            if !is_received() {
                WAKER.register(cx.waker());
                // What came in between rings right away.
                UART.write_byte(INTERRUPT_ENABLE, RECEIVED);
                return Poll::Pending;
            }
            *first = UART.read_byte(DATA);
            Poll::Ready(Ok(1))
        })
        .await
    }
}

impl Write for Serial {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        for byte in bytes {
            // QEMU takes a byte as soon as it is written, or drops it.
            while UART.read_byte(LINE_STATUS) & SEND_EMPTY == 0 {}
            UART.write_byte(DATA, *byte);
        }
        Ok(bytes.len())
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
