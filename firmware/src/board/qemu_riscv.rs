//! QEMU's 32-bit RISC-V `virt`: the instructions of an ESP32-C3, with a virtio network card.

use core::arch::global_asm;

use embassy_executor::{Executor, Spawner};
use riscv::register::{Permission, Range, mcause, mepc, mie, mtval, pmpaddr0, pmpcfg0};
use static_cell::StaticCell;

use super::{
    clint,
    emulated::{self, Emulated},
    registers::Registers,
    virtio_net::VirtioNet,
};
use crate::{
    device::{self, Kit},
    simulated::SplitMix,
};

/// What the board calls itself.
pub(crate) const NAME: &str = "qemu-riscv";

/// Its sensors and actuators.
pub(crate) type Here = Emulated;

/// Its network card.
pub(crate) type Nic = &'static mut VirtioNet;

// SAFETY: the device that ends or restarts the machine, where `virt` has it.
const FINISHER: Registers = unsafe { Registers::new(0x10_0000, 4) };
const RESET: u32 = 0x7777;

/// Runs the board.
pub fn run() -> ! {
    static EXECUTOR: StaticCell<Executor> = StaticCell::new();
    guard_stack();
    clint::start();
    // cannot fail: nothing else has spawned it.
    EXECUTOR.init_with(Executor::new).run(|spawner| spawner.spawn(start(spawner).expect("the first task")))
}

#[embassy_executor::task]
async fn start(spawner: Spawner) {
    static BOARD: StaticCell<Emulated> = StaticCell::new();
    static CHANCE: StaticCell<SplitMix> = StaticCell::new();

    let nic = VirtioNet::start().expect("the network card answers");
    // SAFETY: whom they interrupt shares memory with them in critical sections only.
    unsafe {
        mie::set_mtimer();
        mie::set_mext();
        riscv::interrupt::enable();
    }
    device::start(
        spawner,
        Kit { board: BOARD.init_with(Emulated::new), nic, entropy: CHANCE.init(emulated::chance()) },
    );
    emulated::wait_for_restart().await;
    FINISHER.write(0, RESET);
}

/// Takes the right to write what is below the stack, even from ourselves: a stack that is too deep faults.
fn guard_stack() {
    // A block whose size is a power of two, the way that physical memory protection writes it.
    const FLASH: usize = FLASH_START >> 2 | (FLASH_BYTES / 8 - 1);
    // SAFETY: nothing is ever written there: it is code and constants.
    unsafe {
        pmpaddr0::write(FLASH);
        pmpcfg0::set_pmp(0, Range::NAPOT, Permission::RX, true);
    }
}

// Where every trap begins. If the stack has run out it gets a new one: the old one is lost anyway, and to save registers
// on it would trap again, for ever.
global_asm!(
    ".section .trap.start, \"ax\"",
    ".balign 4",
    ".global _start_trap",
    "_start_trap:",
    "csrw mscratch, t0",
    "la t0, _stack_limit",
    "bgeu sp, t0, 1f",
    "la sp, _stack_start",
    "1: csrr t0, mscratch",
    "j _default_start_trap",
);

/// Called by the runtime for everything that should not happen.
#[unsafe(export_name = "ExceptionHandler")]
extern "C" fn on_exception(_: &riscv_rt::TrapFrame) -> ! {
    let (cause, at, address) = (mcause::read().code(), mepc::read(), mtval::read());
    if cause == STORE_FAULT && (FLASH_START..FLASH_START + FLASH_BYTES).contains(&address) {
        panic!("the stack was too small, at {at:#010x}");
    }
    panic!("exception {cause} at {at:#010x}, address {address:#010x}");
}

const STORE_FAULT: usize = 7;

// As in memory/qemu-riscv.x.
const FLASH_START: usize = 0x8000_0000;
const FLASH_BYTES: usize = 0x10_0000;
