//! The radio of the Pico W and the Pico 2 W: a CYW43439 behind a serial bus of its own, with the board's light on it.

use core::{cell::Cell, task::Context};

use cyw43::{A4, Aligned, Control, JoinOptions, NetDriver, PowerManagementMode, Runner, SpiBus, State};
use cyw43_pio::{DEFAULT_CLOCK_DIVIDER, PioSpi, RM2_CLOCK_DIVIDER};
use embassy_executor::Spawner;
use embassy_net_driver::{Capabilities, Driver, HardwareAddress, LinkState};
use embassy_rp::{
    Peri, bind_interrupts, dma,
    gpio::{Level, Output},
    peripherals::{DMA_CH0, PIN_23, PIN_24, PIN_25, PIN_29, PIO0},
    pio::{self, Pio},
};
use embassy_sync::{blocking_mutex::raw::NoopRawMutex, mutex::Mutex, signal::Signal};
use embassy_time::{Duration, with_timeout};
use static_cell::StaticCell;

use super::{Position, rp};
use crate::wifi::{self, JoinError, Network};

/// What the radio runs: 226 KiB. Its licence allows it on Raspberry Pi's boards, and elsewhere for no profit.
static FIRMWARE: Aligned<A4, [u8; cyw43_firmware::CYW43_43439A0.len()]> = Aligned(*cyw43_firmware::CYW43_43439A0);

/// What the radio has to know about the board that it is on.
static PARAMETERS: Aligned<A4, [u8; parameters::NVRAM.len()]> = Aligned(parameters::BYTES);

#[allow(clippy::redundant_static_lifetimes, unreachable_pub, reason = "the file is another crate's")]
mod parameters {
    // build.rs knows where it comes from.
    include!(concat!(env!("OUT_DIR"), "/nvram.rs"));

    pub(super) const BYTES: [u8; NVRAM.len()] = match NVRAM.first_chunk() {
        Some(bytes) => *bytes,
        None => panic!("as many as there are"),
    };
}

bind_interrupts!(struct Irqs {
    PIO0_IRQ_0 => pio::InterruptHandler<PIO0>;
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>;
});

/// How the radio is wired, which is the same on both boards.
pub(super) struct Wires {
    pub(super) power: Peri<'static, PIN_23>,
    pub(super) select: Peri<'static, PIN_25>,
    pub(super) data: Peri<'static, PIN_24>,
    pub(super) clock: Peri<'static, PIN_29>,
    /// What makes a serial bus of these pins.
    pub(super) machine: Peri<'static, PIO0>,
    pub(super) dma: Peri<'static, DMA_CH0>,
}

/// How 224.0.0.251 is written on Ethernet (RFC 1112 §6.4).
const MDNS_GROUP: [u8; 6] = [0x01, 0x00, 0x5e, 0x00, 0x00, 0xfb];

/// The pin of the radio that the light is on.
const LIGHT: u8 = 0;

/// Starts the radio. It does not come back if there is none: the watchdog ends that.
pub(super) async fn start(spawner: Spawner, wires: Wires) -> (Nic, Radio, Led) {
    static STATE: StaticCell<State> = StaticCell::new();
    static CONTROL: StaticCell<Shared> = StaticCell::new();
    static WISH: StaticCell<Wish> = StaticCell::new();
    static LINK: StaticCell<Link> = StaticCell::new();

    let power = Output::new(wires.power, Level::Low);
    let select = Output::new(wires.select, Level::High);
    let dma = dma::Channel::new(wires.dma, Irqs);
    // An RP2350 is faster, and the radio's bus is not.
    let divider = if cfg!(feature = "rp2350") { RM2_CLOCK_DIVIDER } else { DEFAULT_CLOCK_DIVIDER };
    let Pio { mut common, sm0, irq0, .. } = Pio::new(wires.machine, Irqs);
    let bus = PioSpi::new(&mut common, sm0, divider, irq0, select, wires.data, wires.clock, dma);
    let (nic, mut control, runner) = cyw43::new(STATE.init_with(State::new), power, bus, &FIRMWARE, &PARAMETERS).await;
    // cannot fail: there is one radio.
    spawner.spawn(run_radio(runner).expect("it is spawned once"));
    control.init(cyw43_firmware::CYW43_43439A0_CLM).await;
    // It sleeps between beacons, from a fiftieth of a second after the last frame on: the first frame for a server that
    // nobody has talked to for a while takes a tenth of a second, and the next ones do not.
    control.set_power_management(PowerManagementMode::Performance).await;
    // What is for other groups stays outside.
    if control.add_multicast_address(MDNS_GROUP).await.is_err() {
        defmt::warn!("the radio lets no questions for our name through");
    }

    let control: &'static Shared = CONTROL.init_with(|| Mutex::new(control));
    let wish: &'static Wish = WISH.init_with(Signal::new);
    let link: &'static Link = LINK.init_with(Link::default);
    spawner.spawn(switch_light(control, wish).expect("it is spawned once"));
    (Nic { nic, link }, Radio { control, link }, Led(wish))
}

/// Whoever needs the radio waits for it: joining takes its time.
type Shared = Mutex<NoopRawMutex, Control<'static>>;

#[embassy_executor::task]
async fn run_radio(runner: Runner<'static, SpiBus<Output<'static>, PioSpi<'static, PIO0, 0>>>) -> ! {
    runner.run().await
}

/// The light, or rather the wish that it be on or off.
pub(crate) struct Led(&'static Wish);

type Wish = Signal<NoopRawMutex, Position>;

impl rp::Light for Led {
    fn set(&self, position: Position) {
        self.0.signal(position);
    }
}

/// Fulfils wishes. One that comes while a network is being joined is fulfilled behind that.
#[embassy_executor::task]
async fn switch_light(control: &'static Shared, wish: &'static Wish) -> ! {
    loop {
        let position = wish.wait().await;
        control.lock().await.gpio_set(LIGHT, position == Position::On).await;
    }
}

/// Is the network there? The network stack asks the driver all the time, and this listens.
#[derive(Default)]
struct Link {
    is_up: Cell<bool>,
    changed: Signal<NoopRawMutex, ()>,
}

impl Link {
    fn set(&self, is_up: bool) {
        if self.is_up.replace(is_up) != is_up {
            self.changed.signal(());
        }
    }

    async fn wait_until(&self, is_up: bool) {
        while self.is_up.get() != is_up {
            self.changed.wait().await;
        }
    }
}

/// The radio, as the network stack sees it.
pub(crate) struct Nic {
    nic: NetDriver<'static>,
    link: &'static Link,
}

impl Driver for Nic {
    type RxToken<'a> = <NetDriver<'static> as Driver>::RxToken<'a>;
    type TxToken<'a> = <NetDriver<'static> as Driver>::TxToken<'a>;

    fn receive(&mut self, cx: &mut Context<'_>) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        self.nic.receive(cx)
    }

    fn transmit(&mut self, cx: &mut Context<'_>) -> Option<Self::TxToken<'_>> {
        self.nic.transmit(cx)
    }

    fn link_state(&mut self, cx: &mut Context<'_>) -> LinkState {
        let state = self.nic.link_state(cx);
        self.link.set(state == LinkState::Up);
        state
    }

    fn capabilities(&self) -> Capabilities {
        self.nic.capabilities()
    }

    fn hardware_address(&self) -> HardwareAddress {
        self.nic.hardware_address()
    }
}

/// The radio, as whoever joins networks sees it.
pub(crate) struct Radio {
    control: &'static Shared,
    link: &'static Link,
}

/// Looking for a network on all channels takes a second or two, shaking hands and failing at it another few.
const JOIN_PATIENCE: Duration = Duration::from_secs(20);
/// The network stack hears of the link soon after we do.
const LINK_PATIENCE: Duration = Duration::from_secs(5);

impl wifi::Radio for Radio {
    async fn join(&mut self, network: &Network) -> Result<(), JoinError> {
        let options = match network.password() {
            "" => JoinOptions::new_open(),
            password => JoinOptions::new(password.as_bytes()),
        };
        let mut control = self.control.lock().await;
        match with_timeout(JOIN_PATIENCE, control.join(network.ssid(), options)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(cyw43::JoinError::NetworkNotFound)) => Err(JoinError::NoSuchNetwork),
            Ok(Err(cyw43::JoinError::AuthenticationFailure)) => Err(JoinError::WrongPassword),
            Ok(Err(cyw43::JoinError::JoinFailure(status))) => {
                defmt::debug!("the radio's own word for it: {=u8}", status);
                Err(refusal(status))
            }
            Err(_) => Err(JoinError::Timeout),
        }
    }

    async fn wait_until_lost(&mut self) {
        let _ = with_timeout(LINK_PATIENCE, self.link.wait_until(true)).await;
        self.link.wait_until(false).await;
    }
}

/// What the radio's answer to "join this network" means, where it is neither yes nor "there is none".
const fn refusal(status: u8) -> JoinError {
    const TIMEOUT: u8 = 2;
    const NO_ACKNOWLEDGEMENT: u8 = 5;
    match status {
        TIMEOUT | NO_ACKNOWLEDGEMENT => JoinError::Timeout,
        _ => JoinError::Refused,
    }
}
