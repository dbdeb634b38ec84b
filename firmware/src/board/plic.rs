//! The interrupt controller of a RISC-V `virt`: which device rings.

use super::{ns16550, registers::Registers, virtio_net};

// SAFETY: the platform-level interrupt controller, where `virt` has it. It touches no memory.
const PLIC: Registers = unsafe { Registers::new(0x0c00_0000, 0x40_0000) };

const ENABLE: usize = 0x2000;
const THRESHOLD: usize = 0x20_0000;
const CLAIM: usize = 0x20_0004;

/// Lets a device ring.
pub(super) fn enable(interrupt: usize) {
    PLIC.write(4 * interrupt, 1);
    PLIC.write(ENABLE, PLIC.read(ENABLE) | 1 << interrupt);
    PLIC.write(THRESHOLD, 0);
}

#[riscv_rt::core_interrupt(riscv::interrupt::Interrupt::MachineExternal)]
fn on_interrupt() {
    let interrupt = PLIC.read(CLAIM);
    match interrupt as usize {
        0 => return,
        ns16550::INTERRUPT => ns16550::on_interrupt(),
        _ => virtio_net::on_interrupt(),
    }
    PLIC.write(CLAIM, interrupt);
}
