//! QEMU's 32-bit RISC-V `virt`: the instructions of an ESP32-C3, with a virtio network card.

use core::arch::global_asm;

use embassy_executor::{Executor, Spawner};
use embassy_time::Instant;
use riscv::register::{Permission, Range, mcause, mepc, mie, mtval, pmpaddr0, pmpcfg0};
use static_cell::StaticCell;

use super::{clint, emulated, registers::Registers, virtio_net::VirtioNet};
use crate::{
    device::{self, Kit, memo, stack},
    reset::Reason,
    simulated::SplitMix,
    status::Stack,
    wifi::NoRadio,
};

pub(crate) use super::{
    clint::Watchdog,
    emulated::{Flash, Instruments, STORE},
    ns16550::Serial,
};

/// What the board calls itself.
pub(crate) const NAME: &str = "qemu-riscv";

/// Its network card.
pub(crate) type Nic = &'static mut VirtioNet;

/// There is a cable.
pub(crate) type Radio = NoRadio;

/// Its stack is painted.
pub(crate) const STACK: Option<fn() -> Stack> = Some(stack::measure);

// SAFETY: the device that ends or restarts the machine, where `virt` has it.
const FINISHER: Registers = unsafe { Registers::new(0x10_0000, 4) };
const RESET: u32 = 0x7777;

/// Starts anew.
pub(crate) fn restart() -> ! {
    FINISHER.write(0, RESET);
    loop {
        riscv::asm::nop();
    }
}

/// Instructions since the start, if QEMU counts time in them (`-icount shift=0`: one a nanosecond) and nobody sleeps.
pub(crate) fn busy_instructions() -> u64 {
    Instant::now().as_ticks() * (1_000_000_000 / embassy_time::TICK_HZ)
}

/// Runs the board.
pub fn run() -> ! {
    static EXECUTOR: StaticCell<Executor> = StaticCell::new();
    guard_stack();
    stack::paint();
    clint::start();
    // cannot fail: nothing else has spawned it.
    EXECUTOR.init_with(Executor::new).run(|spawner| spawner.spawn(start(spawner).expect("the first task")))
}

#[embassy_executor::task]
async fn start(spawner: Spawner) {
    static CHANCE: StaticCell<SplitMix> = StaticCell::new();

    let kit = Kit {
        instruments: Instruments::new(),
        nic: VirtioNet::start().expect("the network card answers"),
        radio: None,
        // SAFETY: this task is spawned once.
        flash: unsafe { emulated::flash() },
        entropy: CHANCE.init(emulated::chance()),
        watchdog: Watchdog,
        serial: Serial::start(),
        // The machine does not say; what it wrote down does.
        reason: Reason::PowerOn,
    };
    // SAFETY: whom they interrupt shares memory with them in critical sections only.
    unsafe {
        mie::set_mtimer();
        mie::set_mext();
        riscv::interrupt::enable();
    }
    device::start(spawner, kit);
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
        memo::restart(Reason::StackOverflow, format_args!("at {at:#010x}"));
    }
    memo::restart(Reason::Fault, format_args!("exception {cause} at {at:#010x}, address {address:#010x}"))
}

const STORE_FAULT: usize = 7;

// As in memory/qemu-riscv.x.
const FLASH_START: usize = 0x8000_0000;
const FLASH_BYTES: usize = 0x10_0000;
