//! A Mote on a Raspberry Pi Pico W.
#![no_std]
#![no_main]

#[cortex_m_rt::entry]
fn main() -> ! {
    firmware::board::pico_w::run()
}
