//! How deep the stack has been: it is painted at the start, and the paint that is left tells.

use core::ptr;

use crate::status::Stack;

const PAINT: u32 = 0xdead_beef;

/// What is in use when it is painted, and what interrupts may need meanwhile.
const SPARE_BYTES: usize = 512;

unsafe extern "C" {
    /// The bottom of the stack, from the board's memory map.
    static _stack_end: u32;
    /// Its top.
    static _stack_start: u32;
}

fn bounds() -> (*mut u32, *mut u32) {
    ((&raw const _stack_end).cast_mut(), (&raw const _stack_start).cast_mut())
}

/// Paints all of the stack that is not in use. As early as possible, so that the paint covers whatever comes.
#[inline(never)]
pub(crate) fn paint() {
    let here = 0_u32;
    let top = (&raw const here as usize).saturating_sub(SPARE_BYTES);
    let (mut word, _) = bounds();
    while (word as usize) < top {
        // SAFETY: below everything that is in use, and above the end: nobody's memory but the stack's.
        unsafe { ptr::write_volatile(word, PAINT) };
        word = word.wrapping_add(1);
    }
}

/// How deep it has been since it was painted.
pub(crate) fn measure() -> Stack {
    let (end, start) = bounds();
    let mut word = end;
    // SAFETY: within the stack; what is read is looked at and thrown away.
    while word < start && unsafe { ptr::read_volatile(word) } == PAINT {
        word = word.wrapping_add(1);
    }
    Stack { deepest_bytes: start as usize - word as usize, all_bytes: start as usize - end as usize }
}
