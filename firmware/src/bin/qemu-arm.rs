//! A Mote on QEMU's `mps2-an385`: tests/emulate.sh arm PORT.
#![no_std]
#![no_main]

#[cortex_m_rt::entry]
fn main() -> ! {
    firmware::board::qemu_arm::run()
}
