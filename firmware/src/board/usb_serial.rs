//! The console of RP boards: a serial port on the USB cable, which is all that people without a probe have.

use embassy_executor::Spawner;
use embassy_rp::{
    Peri, bind_interrupts,
    peripherals::USB,
    usb::{Driver, InterruptHandler},
};
use embassy_time::{Duration, with_timeout};
use embassy_usb::{
    Builder, Config, UsbDevice,
    class::cdc_acm::{CdcAcmClass, Receiver, Sender, State},
};
use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use static_cell::{ConstStaticCell, StaticCell};

bind_interrupts!(struct Irqs {
    USBCTRL_IRQ => InterruptHandler<USB>;
});

/// pid.codes gives these numbers to everybody who tries something out. Whoever sells a device asks for a number of their
/// own, at pid.codes or at Raspberry Pi.
const VENDOR: u16 = 0x1209;
const PRODUCT: u16 = 0x0001;

/// The largest packet of a serial port on a cable of this speed.
const PACKET_BYTES: usize = 64;
/// A packet that is full says that more will follow: so none is.
const PIECE_BYTES: usize = PACKET_BYTES - 1;

/// A terminal that takes longer to read does not read.
const PATIENCE: Duration = Duration::from_millis(500);

/// What the other side is told about us: 75 bytes of it are there.
const DESCRIPTOR_BYTES: usize = 96;

/// The console.
pub(crate) struct Serial {
    sender: Sender<'static, Driver<'static, USB>>,
    receiver: Receiver<'static, Driver<'static, USB>>,
    packet: [u8; PACKET_BYTES],
    /// What of the packet has been received and not read.
    unread: core::ops::Range<usize>,
    /// Nobody has read what was written: until somebody types, nothing is.
    is_deaf: bool,
}

impl Serial {
    /// Starts it: it is there as soon as the cable is in.
    pub(super) fn start(spawner: Spawner, usb: Peri<'static, USB>, name: &'static str) -> Self {
        static DESCRIPTOR: ConstStaticCell<[u8; DESCRIPTOR_BYTES]> = ConstStaticCell::new([0; _]);
        static OBJECTS: ConstStaticCell<[u8; 16]> = ConstStaticCell::new([0; _]);
        static CONTROL: ConstStaticCell<[u8; 64]> = ConstStaticCell::new([0; _]);
        static STATE: StaticCell<State<'static>> = StaticCell::new();

        let mut config = Config::new(VENDOR, PRODUCT);
        config.manufacturer = Some("Mote");
        config.product = Some(name);
        let driver = Driver::new(usb, Irqs);
        let mut builder = Builder::new(driver, config, DESCRIPTOR.take(), OBJECTS.take(), &mut [], CONTROL.take());
        let port = CdcAcmClass::new(&mut builder, STATE.init_with(State::new), PACKET_BYTES as u16);
        let (sender, receiver) = port.split();
        // cannot fail: there is one console.
        spawner.spawn(run_usb(builder.build()).expect("it is spawned once"));
        Self { sender, receiver, packet: [0; _], unread: 0..0, is_deaf: false }
    }
}

#[embassy_executor::task]
async fn run_usb(mut device: UsbDevice<'static, Driver<'static, USB>>) -> ! {
    device.run().await
}

impl ErrorType for Serial {
    type Error = ErrorKind;
}

impl Read for Serial {
    /// Waits for as long as there is nobody, or nobody types.
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ErrorKind> {
        while self.unread.is_empty() {
            self.receiver.wait_connection().await;
            // An error is a cable that was pulled: it may come back.
            if let Ok(length) = self.receiver.read_packet(&mut self.packet).await {
                self.unread = 0..length;
                self.is_deaf = false;
            }
        }
        let length = buffer.len().min(self.unread.len());
        buffer[..length].copy_from_slice(&self.packet[self.unread.start..][..length]);
        self.unread.start += length;
        Ok(length)
    }
}

impl Write for Serial {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        if self.is_deaf {
            return Err(ErrorKind::TimedOut);
        }
        let piece = &bytes[..bytes.len().min(PIECE_BYTES)];
        match with_timeout(PATIENCE, self.sender.write_packet(piece)).await {
            Ok(Ok(())) => Ok(piece.len()),
            Ok(Err(_)) => Err(ErrorKind::NotConnected),
            Err(_) => {
                self.is_deaf = true;
                Err(ErrorKind::TimedOut)
            }
        }
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}
