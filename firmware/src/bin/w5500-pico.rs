//! A Mote on WIZnet's W5500-EVB-Pico.
#![no_std]
#![no_main]

#[cortex_m_rt::entry]
fn main() -> ! {
    firmware::board::w5500_pico::run()
}
