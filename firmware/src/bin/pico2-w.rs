//! A Mote on a Raspberry Pi Pico 2 W.
#![no_std]
#![no_main]

#[cortex_m_rt::entry]
fn main() -> ! {
    firmware::board::pico2_w::run()
}
