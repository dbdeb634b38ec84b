//! The console of an Espressif chip, over the cable that the log takes.
//!
//! esp-println writes a frame of the log between 0xff 0x00 and 0x00, with interrupts off. `espflash monitor` decodes what
//! is between these and shows everything else as it is. So answers go through esp-println, too: it lets no frame be torn,
//! waits for room in the hardware, gives up when nobody reads, and knows whether the cable is in the chip's own USB or in
//! a bridge at its first UART. Whatever is typed may come from either.

use core::convert::Infallible;

use embassy_futures::{
    select::{Either, select},
    yield_now,
};
use embedded_io_async::{ErrorType, Read, Write};
use esp_hal::{
    Async,
    gpio::AnyPin,
    peripherals::{UART0, USB_DEVICE},
    uart::{self, UartRx},
    usb::usb_serial_jtag::{UsbSerialJtag, UsbSerialJtagRx},
};
use esp_println::Printer;

/// What USB carries at once. Interrupts are off for as long as that takes, a millisecond or less.
const PIECE_BYTES: usize = 64;

/// The console.
pub(crate) struct Serial {
    usb: UsbSerialJtagRx<'static, Async>,
    bridge: UartRx<'static, Async>,
}

impl Serial {
    pub(super) fn start(usb: USB_DEVICE<'static>, uart: UART0<'static>, receive: AnyPin<'static>) -> Self {
        let (usb, _) = UsbSerialJtag::new(usb).into_async().split();
        // cannot fail: 115,200 bits a second, as the boot loader and the log have it, is what it starts with.
        let bridge = UartRx::new(uart, uart::Config::default()).expect("a usual speed");
        Self { usb, bridge: bridge.with_rx(receive).into_async() }
    }
}

impl ErrorType for Serial {
    type Error = Infallible;
}

impl Read for Serial {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let Some(first) = buffer.first_mut() else { return Ok(0) };
        let (mut from_usb, mut from_bridge) = ([0], [0]);
        loop {
            match select(self.usb.read(&mut from_usb), self.bridge.read_async(&mut from_bridge)).await {
                Either::First(Ok(1)) => *first = from_usb[0],
                Either::Second(Ok(1)) => *first = from_bridge[0],
                // Noise at a pin where no bridge is. It must not keep everybody else from working.
                _ => {
                    yield_now().await;
                    continue;
                }
            }
            return Ok(1);
        }
    }
}

impl Write for Serial {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        let piece = &bytes[..bytes.len().min(PIECE_BYTES)];
        Printer::write_bytes(piece);
        yield_now().await;
        Ok(piece.len())
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
