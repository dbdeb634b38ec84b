//! Boards with an ESP32-C6: one RISC-V core, 512 KiB of RAM, Wi-Fi. What they share with the C3 is in esp.rs.

use super::esp::{self, Light, Parts};

pub(crate) use super::esp::{Flash, Instruments, Nic, Radio, STACK, STORE, Serial, Watchdog, restart};

/// What the board calls itself.
pub(crate) const NAME: &str = "esp32c6";

/// Runs the board.
pub fn run() -> ! {
    let chip = esp::wake();
    esp::run(Parts {
        // Espressif's own kits and most others have a WS2812 at this pin. A XIAO has a plain LED between another one and
        // the supply: Light::plain(chip.GPIO15.into(), Level::Low).
        led: Light::pixel(chip.RMT, chip.GPIO8.into()),
        thermometer: chip.TSENS,
        wifi: chip.WIFI,
        flash: chip.FLASH,
        // The chip's own USB, and the pin to which a board's USB bridge sends, if it has one.
        usb: chip.USB_DEVICE,
        uart: chip.UART0,
        uart_receive: chip.GPIO17.into(),
        timers: chip.TIMG0,
        scheduler: chip.FROM_CPU_INTR0,
        rtc: chip.RTC_TIMER,
    })
}
