//! Boards with an ESP32-C3: one RISC-V core, 400 KiB of RAM, Wi-Fi. What they share with the C6 is in esp.rs.

use esp_hal::gpio::Level;

use super::esp::{self, Light, Parts};

pub(crate) use super::esp::{Flash, Instruments, Nic, Radio, STACK, STORE, Serial, Watchdog, restart};

/// What the board calls itself.
pub(crate) const NAME: &str = "esp32c3";

/// Runs the board.
pub fn run() -> ! {
    let chip = esp::wake();
    esp::run(Parts {
        // The "super mini" boards have a plain LED between this pin and the supply. Espressif's own kits have a WS2812:
        // Light::pixel(chip.RMT, chip.GPIO8.into()).
        led: Light::plain(chip.GPIO8.into(), Level::Low),
        thermometer: chip.TSENS,
        wifi: chip.WIFI,
        flash: chip.FLASH,
        // The chip's own USB, and the pin to which a board's USB bridge sends, if it has one.
        usb: chip.USB_DEVICE,
        uart: chip.UART0,
        uart_receive: chip.GPIO20.into(),
        timers: chip.TIMG0,
        scheduler: chip.FROM_CPU_INTR0,
        rtc: chip.RTC_TIMER,
    })
}
