//! A Mote on an ESP32-C6: `cargo c6`.
#![no_std]
#![no_main]

#[esp_hal::main]
fn main() -> ! {
    firmware::board::esp32c6::run()
}
