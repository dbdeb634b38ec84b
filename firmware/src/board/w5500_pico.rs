//! WIZnet's W5500-EVB-Pico: an RP2040 with a W5500, a network card on a serial bus.

use core::cell::RefCell;

use embassy_executor::Spawner;
use embassy_net_wiznet::{Runner, State, chip::W5500};
use embassy_rp::{
    Peri, bind_interrupts, dma,
    flash::{self, Flash as FlashChip},
    gpio::{Input, Level, Output, Pull},
    peripherals::{DMA_CH0, DMA_CH1, FLASH, PIN_25, SPI0},
    spi::{self, Spi},
};
use embassy_time::Delay;
use embedded_hal_bus::spi::ExclusiveDevice;
use static_cell::ConstStaticCell;

use super::{Position, rp};
use crate::{
    device::{self, Kit},
    wifi::NoRadio,
};

pub(crate) use super::{
    rp::{Flash, STACK, STORE, Watchdog, restart},
    usb_serial::Serial,
};

/// What the board calls itself.
pub(crate) const NAME: &str = "w5500-pico";

/// Its network card.
pub(crate) type Nic = embassy_net_wiznet::Device<'static>;

/// There is a cable.
pub(crate) type Radio = NoRadio;

/// The thermometer on the chip, and a light.
pub(crate) type Instruments = rp::Instruments<Led>;

/// Frames on their way in and out, 1.5 KiB each. The card itself holds 16 KiB of either.
static FRAMES: ConstStaticCell<State<2, 2>> = ConstStaticCell::new(State::new());

/// The fastest that the card is specified for.
const BUS_HZ: u32 = 33_300_000;

bind_interrupts!(struct Irqs {
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>, dma::InterruptHandler<DMA_CH1>;
});

/// Runs the board.
pub fn run() -> ! {
    // cannot fail: nothing else has spawned it.
    rp::run(|spawner| start(spawner).expect("the first task"))
}

#[embassy_executor::task]
async fn start(spawner: Spawner) {
    let mut p = embassy_rp::init(Default::default());
    let (watchdog, reason) = Watchdog::start(p.WATCHDOG);
    let address = ethernet_address(p.FLASH.reborrow());

    let mut config = spi::Config::default();
    config.frequency = BUS_HZ;
    let (clock, to_card, from_card) = (p.PIN_18, p.PIN_19, p.PIN_16);
    let bus = Spi::new(p.SPI0, clock, to_card, from_card, p.DMA_CH0, p.DMA_CH1, Irqs, config);
    let select = Output::new(p.PIN_17, Level::High);
    // cannot fail: a pin of the chip itself can be set.
    let bus = ExclusiveDevice::new(bus, select, Delay).expect("the card's select pin");
    let interrupt = Input::new(p.PIN_21, Pull::Up);
    let reset = Output::new(p.PIN_20, Level::High);
    let card = embassy_net_wiznet::new(address, FRAMES.take(), bus, interrupt, reset).await;
    let (nic, runner) = card.expect("the network card answers");
    spawner.spawn(run_card(runner).expect("it is spawned once"));

    let kit = Kit {
        instruments: Instruments::new(p.ADC, p.ADC_TEMP_SENSOR, Led::new(p.PIN_25)),
        nic,
        radio: None,
        flash: rp::flash(p.FLASH),
        entropy: rp::chance(rp::pot()),
        watchdog,
        serial: Serial::start(spawner, p.USB, NAME),
        reason,
    };
    device::start(spawner, kit);
}

type Bus = ExclusiveDevice<Spi<'static, SPI0, spi::Async>, Output<'static>, Delay>;

#[embassy_executor::task]
async fn run_card(runner: Runner<'static, W5500, Bus, Input<'static>, Output<'static>>) -> ! {
    runner.run().await
}

/// The card has no address of its own: of those that anybody may use, it gets the one that follows from the serial number
/// of this board's flash.
fn ethernet_address(flash: Peri<'_, FLASH>) -> [u8; 6] {
    let mut serial = [0; 8];
    let mut flash = FlashChip::<_, flash::Blocking, { rp::FLASH_BYTES }>::new_blocking(flash);
    // cannot fail: it does so on the second processor only.
    flash.blocking_unique_id(&mut serial).expect("the flash's serial number");
    let [.., a, b, c, d, e] = serial;
    [0x02, a, b, c, d, e]
}

/// The light beside the USB socket.
pub(crate) struct Led(RefCell<Output<'static>>);

impl Led {
    fn new(pin: Peri<'static, PIN_25>) -> Self {
        Self(RefCell::new(Output::new(pin, Level::Low)))
    }
}

impl rp::Light for Led {
    fn set(&self, position: Position) {
        self.0.borrow_mut().set_level(if position == Position::On { Level::High } else { Level::Low });
    }
}
