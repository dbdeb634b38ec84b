//! The light of a board: one that a level switches, or a WS2812, which is told its colour.

use esp_hal::{
    Blocking,
    gpio::{AnyPin, Level, Output, OutputConfig},
    peripherals::RMT,
    rmt::{Channel, PulseCode, Rmt, Tx, TxChannelConfig, TxChannelCreator as _},
    time::Rate,
};

use crate::board::{Position, Trouble};

/// The light.
pub(in crate::board) enum Light {
    /// A plain one, and the level at which it is on.
    Plain(Output<'static>, Level),
    /// A WS2812, and the chip's transmitter of pulses, if that works.
    Pixel(Option<Channel<'static, Blocking, Tx>>),
}

#[allow(dead_code, reason = "a board has one of the two")]
impl Light {
    /// A plain one at `pin`.
    pub(in crate::board) fn plain(pin: AnyPin<'static>, on: Level) -> Self {
        Self::Plain(Output::new(pin, !on, OutputConfig::default()), on)
    }

    /// A WS2812 at `pin`.
    pub(in crate::board) fn pixel(pulses: RMT<'static>, pin: AnyPin<'static>) -> Self {
        // Low between frames: that is how it knows where one begins.
        let config = TxChannelConfig::default().with_clk_divider(1).with_idle_output(true);
        let channel = Rmt::new(pulses, TICK).and_then(|pulses| pulses.channel0.configure_tx(&config));
        let mut light = Self::Pixel(channel.ok().map(|channel| channel.with_pin(pin)));
        // What it shows when power comes on is its own choice. If it does not work now, it will say so when it is used.
        let _ = light.set(Position::Off);
        light
    }
}

impl Light {
    pub(super) fn set(&mut self, position: Position) -> Result<(), Trouble> {
        let is_on = position == Position::On;
        match self {
            Self::Plain(pin, on) => pin.set_level(if is_on { *on } else { !*on }),
            Self::Pixel(channel) => {
                let idle = channel.take().ok_or(NO_PULSES)?;
                // All of it fits into the transmitter: nobody has to be in time to give it more.
                let sent = idle.transmit(&frame(if is_on { WHITE } else { 0 })).and_then(|sending| sending.wait());
                let (idle, sent) = sent.map_or_else(|(_, idle)| (idle, Err(NO_PULSES)), |idle| (idle, Ok(())));
                *channel = Some(idle);
                sent?;
            }
        }
        Ok(())
    }
}

const NO_PULSES: Trouble = Trouble("the transmitter of pulses does not work");

/// Green, red and blue, a byte each: bright enough to be seen, and not to hurt.
const WHITE: u32 = 0x0018_1818;
const BITS: usize = 24;

/// 12.5 ns, the clock that the transmitter is fed with.
const TICK: Rate = Rate::from_mhz(80);
/// 400 ns and 800 ns; 800 ns and 450 ns.
const ZERO: PulseCode = PulseCode::new(Level::High, 32, Level::Low, 64);
const ONE: PulseCode = PulseCode::new(Level::High, 64, Level::Low, 36);

/// A colour as pulses, the highest bit first.
fn frame(colour: u32) -> [PulseCode; BITS + 1] {
    let mut pulses = [PulseCode::end_marker(); BITS + 1];
    for (bit, pulse) in pulses[..BITS].iter_mut().enumerate() {
        *pulse = if colour >> (BITS - 1 - bit) & 1 == 1 { ONE } else { ZERO };
    }
    pulses
}
