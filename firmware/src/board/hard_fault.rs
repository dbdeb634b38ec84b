//! What becomes of a Cortex-M that cannot go on: it writes down why, and starts anew.

use core::arch::naked_asm;

use crate::{device::memo, reset::Reason};

/// The stack may have run out, so the first thing is a new one: the old one is lost anyway.
///
/// # Safety
/// Only for the processor to call.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn HardFault() -> ! {
    naked_asm!("mov r0, sp", "ldr r1, =_stack_start", "mov sp, r1", "bl {}", sym hard_fault)
}

extern "C" fn hard_fault(stack_pointer: usize) -> ! {
    /// Where the processor has put the address that it was at, in the frame that it leaves on the stack.
    const PROGRAM_COUNTER: usize = 6;
    unsafe extern "C" {
        /// The bottom of the stack, from the board's memory map.
        static _stack_end: u8;
    }
    // A processor that watches the limit by itself stops right there; the others run on below it.
    if stack_pointer <= &raw const _stack_end as usize {
        memo::restart(Reason::StackOverflow, format_args!("stack pointer {stack_pointer:#010x}"));
    }
    // SAFETY: the frame is there, within the stack, which is memory.
    let address = unsafe { (stack_pointer as *const usize).add(PROGRAM_COUNTER).read_volatile() };
    memo::restart(Reason::Fault, format_args!("hard fault at {address:#010x}"))
}
