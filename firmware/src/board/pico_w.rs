//! Raspberry Pi's Pico W: an RP2040 with a CYW43439, a radio.

use embassy_executor::Spawner;

use super::{cyw43, rp};
use crate::device::{self, Kit};

pub(crate) use super::{
    cyw43::{Nic, Radio},
    rp::{Flash, STACK, STORE, Watchdog, restart},
    usb_serial::Serial,
};

/// What the board calls itself.
pub(crate) const NAME: &str = "pico-w";

/// The thermometer on the chip, and a light.
pub(crate) type Instruments = rp::Instruments<cyw43::Led>;

/// Runs the board.
pub fn run() -> ! {
    // cannot fail: nothing else has spawned it.
    rp::run(|spawner| start(spawner).expect("the first task"))
}

#[embassy_executor::task]
async fn start(spawner: Spawner) {
    let p = embassy_rp::init(Default::default());
    let (watchdog, reason) = Watchdog::start(p.WATCHDOG);
    let wires = cyw43::Wires {
        power: p.PIN_23,
        select: p.PIN_25,
        data: p.PIN_24,
        clock: p.PIN_29,
        machine: p.PIO0,
        dma: p.DMA_CH0,
    };
    let (nic, radio, led) = cyw43::start(spawner, wires).await;
    let kit = Kit {
        instruments: Instruments::new(p.ADC, p.ADC_TEMP_SENSOR, led),
        nic,
        radio: Some(radio),
        flash: rp::flash(p.FLASH),
        entropy: rp::chance(rp::pot()),
        watchdog,
        serial: Serial::start(spawner, p.USB, NAME),
        reason,
    };
    device::start(spawner, kit);
}
