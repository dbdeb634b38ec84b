//! What a board gives to the agents: things to measure, things to switch, and a little memory.

/// Every pair of boards is one too many.
macro_rules! one_board {
    () => {};
    ($first:literal $($other:literal)*) => {
        #[cfg(all(feature = $first, any($(feature = $other),*)))]
        compile_error!(concat!("an image is for one board: leave out `", $first, "`, or all others"));
        one_board!($($other)*);
    };
}
one_board!("qemu-arm" "qemu-riscv" "w5500-pico" "pico-w" "pico2-w" "esp32c3" "esp32c6");

#[cfg(feature = "emulated")]
mod emulated;
#[cfg(feature = "emulated")]
mod registers;

#[cfg(feature = "qemu-arm")]
mod cmsdk_timer;
#[cfg(feature = "qemu-arm")]
mod cmsdk_uart;
#[cfg(feature = "qemu-arm")]
mod cmsdk_watchdog;
#[cfg(feature = "qemu-arm")]
mod lan9118;
#[cfg(feature = "qemu-arm")]
pub mod qemu_arm;
#[cfg(feature = "qemu-arm")]
pub(crate) use qemu_arm as here;

#[cfg(feature = "qemu-riscv")]
mod clint;
#[cfg(feature = "qemu-riscv")]
mod ns16550;
#[cfg(feature = "qemu-riscv")]
mod plic;
#[cfg(feature = "qemu-riscv")]
pub mod qemu_riscv;
#[cfg(feature = "qemu-riscv")]
mod virtio_net;
#[cfg(feature = "qemu-riscv")]
pub(crate) use qemu_riscv as here;

#[cfg(feature = "esp")]
mod esp;
#[cfg(feature = "esp32c3")]
pub mod esp32c3;
#[cfg(feature = "esp32c3")]
pub(crate) use esp32c3 as here;
#[cfg(feature = "esp32c6")]
pub mod esp32c6;
#[cfg(feature = "esp32c6")]
pub(crate) use esp32c6 as here;

#[cfg(any(feature = "qemu-arm", feature = "rp"))]
mod hard_fault;
#[cfg(feature = "rp")]
mod rp;
#[cfg(feature = "rp")]
mod usb_serial;

#[cfg(feature = "w5500-pico")]
pub mod w5500_pico;
#[cfg(feature = "w5500-pico")]
pub(crate) use w5500_pico as here;

#[cfg(feature = "cyw43")]
mod cyw43;

#[cfg(feature = "pico-w")]
pub mod pico_w;
#[cfg(feature = "pico-w")]
pub(crate) use pico_w as here;

#[cfg(feature = "pico2-w")]
pub mod pico2_w;
#[cfg(feature = "rp2350")]
mod trng;
#[cfg(feature = "pico2-w")]
pub(crate) use pico2_w as here;

use core::fmt;

use crate::milli::Milli;

/// A board, as the agents see it. One executor runs all of them, so `&self` is shared: keep state in cells.
///
/// Sensors and actuators go by their place in the lists; a place that is not in the list is [`Trouble`].
#[expect(async_fn_in_trait, reason = "one executor, one thread: no future of ours is Send")]
pub trait Board {
    /// What it can measure. The same list every time.
    fn sensors(&self) -> &[Sensor];

    /// Measures once.
    ///
    /// Several tasks may ask at a time: a board whose bus takes one at a time lets the others wait.
    ///
    /// # Errors
    /// Says why there is no reading.
    ///
    /// # Cancellation
    /// The future may be dropped wherever it waits; the next measurement works all the same.
    async fn read(&self, sensor: usize) -> Result<Milli, Trouble>;

    /// What it can switch, by name. The same list every time.
    fn actuators(&self) -> &[&'static str];

    /// Switches something.
    ///
    /// # Errors
    /// Says why it stayed as it was.
    fn set(&self, actuator: usize, position: Position) -> Result<(), Trouble>;

    /// Restarts the device in a moment: it returns first, and whoever asked gets to hear the answer.
    fn reboot(&self);

    /// Forgets the network that it joined, and asks for another one at the next start: until then it can be reached.
    ///
    /// # Errors
    /// Says why it did not; most often because there is no radio.
    fn forget_wifi(&self) -> Result<(), Trouble>;

    /// Copies what was kept under `key` into `value` and says how long it is. `None` if there is nothing, or if it is
    /// longer than `value`.
    fn load(&self, key: Key, value: &mut [u8]) -> Option<usize>;

    /// Keeps a value under `key` beyond a restart, instead of the one before.
    ///
    /// # Errors
    /// Says why it is not kept. The value before is kept then.
    fn save(&self, key: Key, value: &[u8]) -> Result<(), Trouble>;
}

/// What a microcontroller's board measures and switches; everything else that agents ask of a [`Board`] is the same on all
/// of them. The methods are the board's own.
#[expect(async_fn_in_trait, reason = "one executor, one thread: no future of ours is Send")]
pub trait Instruments {
    /// See [`Board::sensors`].
    fn sensors(&self) -> &[Sensor];

    /// See [`Board::read`].
    ///
    /// # Errors
    /// Says why there is no reading.
    async fn read(&self, sensor: usize) -> Result<Milli, Trouble>;

    /// See [`Board::actuators`].
    fn actuators(&self) -> &[&'static str];

    /// See [`Board::set`].
    ///
    /// # Errors
    /// Says why it stayed as it was.
    fn set(&self, actuator: usize, position: Position) -> Result<(), Trouble>;
}

/// Something that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensor {
    /// What people call it: one word in lower case.
    pub name: &'static str,
    /// The unit of its readings.
    pub unit: &'static str,
}

/// The two ways a switch can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// On.
    On,
    /// Off.
    Off,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::On => "on",
            Self::Off => "off",
        })
    }
}

/// Why a board could not do something, in words that continue "temperature: ...".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble(pub &'static str);

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for Trouble {}

impl Trouble {
    /// Somebody asked for a sensor or an actuator by a place that is not in the list.
    pub const NOT_HERE: Self = Self("is not on this board");
}

/// A number under which something is kept beyond a restart. All of them are here; a number is never used again for
/// something else, because devices in the field have the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u16);

impl Key {
    /// The wireless network to join, as [`Network`](crate::wifi::Network) writes it.
    pub const WIFI: Self = Self(1);
    /// Whom to ask for the time: `ADDRESS` or `ADDRESS:PORT` as text.
    pub const TIME_SERVER: Self = Self(2);
    /// Whether guests come in: one byte, 1 if they do.
    pub const GUESTS: Self = Self(3);
    /// The names it goes by, with a space between them: [`List::Hosts`](crate::naming::List::Hosts).
    pub const HOSTS: Self = Self(4);
    /// The origins whose pages may ask, with a space between them: [`List::Origins`](crate::naming::List::Origins).
    pub const ORIGINS: Self = Self(5);
    /// Whom it may call, as [`Allowed`](crate::reach::Allowed) writes it.
    pub const WEBHOOKS: Self = Self(6);
    /// What it is called in the local network: [`mdns`](crate::mdns).
    pub const NAME: Self = Self(7);
    /// Whether it can be found there by that name: one byte, 0 if it cannot.
    pub const FINDABLE: Self = Self(8);

    /// The secret with which notifications are signed: 32 bytes, high byte first.
    pub const SIGNING: Self = Self(0x10);
    /// The public half of the secret before that one: both coordinates.
    pub const SIGNED_BEFORE: Self = Self(0x11);

    /// Somebody who is known, as [`Principal::to_bytes`](protocol_core::door::Principal::to_bytes) writes it. Keys 0x20 to
    /// 0x3f.
    ///
    /// # Panics
    /// Where a board knows more than 32.
    #[must_use]
    pub const fn principal(place: usize) -> Self {
        assert!(place < 0x20);
        Self(0x20 + place as u16)
    }

    /// The length and the SHA-256 of a root certificate ([`roots`](crate::roots)). Keys 0x40 to 0x5f are those of roots and
    /// their pieces.
    ///
    /// # Panics
    /// Where a board trusts more than 4.
    #[must_use]
    pub const fn root(place: usize) -> Self {
        assert!(place < 4);
        Self(0x40 + 8 * place as u16)
    }

    /// A piece of a root certificate.
    ///
    /// # Panics
    /// Where it has more than 7.
    #[must_use]
    pub const fn root_piece(place: usize, piece: usize) -> Self {
        assert!(piece < 7);
        Self(Self::root(place).0 + 1 + piece as u16)
    }

    /// What is added to the readings of a sensor: an `i32` in thousandths, low byte first. Keys 0x100 to 0x1ff.
    ///
    /// # Panics
    /// Where a board has more than 256 sensors.
    #[must_use]
    pub const fn calibration(sensor: usize) -> Self {
        assert!(sensor < 0x100);
        Self(0x100 + sensor as u16)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }
}
