//! Boards with an ESP32-C3: one RISC-V core, 400 KiB of RAM, Wi-Fi. What they share with the C6 is in esp.rs.

use esp_hal::gpio::Level;

use super::esp::{self, Led, Parts};

pub(crate) use super::esp::{Flash, Instruments, Nic, Radio, STACK, STORE, Serial, Watchdog, restart};

/// What the board calls itself.
pub(crate) const NAME: &str = "esp32c3";

/// What lights the LED: the "super mini" boards have one between GPIO8 and the supply. Other boards want another pin in
/// [`run`] or the other level here; a WS2812, as on Espressif's own kits, is not lit by a level.
const LED_ON: Level = Level::Low;

/// Runs the board.
pub fn run() -> ! {
    let chip = esp::wake();
    esp::run(Parts {
        led: Led::new(chip.GPIO8.into(), LED_ON),
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
