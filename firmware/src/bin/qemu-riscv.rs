//! A Mote on QEMU's 32-bit RISC-V `virt`: tests/emulate.sh riscv PORT.
#![no_std]
#![no_main]

/// Where the runtime goes on.
#[riscv_rt::entry]
fn main() -> ! {
    firmware::board::qemu_riscv::run()
}
