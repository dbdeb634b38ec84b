//! A Mote on an ESP32-C3: `cargo c3`.
#![no_std]
#![no_main]

#[esp_hal::main]
fn main() -> ! {
    firmware::board::esp32c3::run()
}
