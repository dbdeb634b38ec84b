//! The CMSDK watchdog of `mps2-an385`: it interrupts what cannot be interrupted otherwise.

use super::registers::Registers;
use crate::{reset::Reason, watchdog};

// SAFETY: the CMSDK APB watchdog, as AN385 places it. It touches no memory.
const DOG: Registers = unsafe { Registers::new(0x4000_8000, 0x1000) };

const LOAD: usize = 0x0;
const CONTROL: usize = 0x8;
const CLEAR: usize = 0xc;
const LOCK: usize = 0xc00;

const UNLOCK: u32 = 0x1acc_e551;
/// Interrupts at the first time, resets at the second.
const ON: u32 = 1 << 0 | 1 << 1;
const HZ: u64 = 25_000_000;

/// The watchdog, which runs.
pub(crate) struct Watchdog;

impl Watchdog {
    pub(super) fn start() -> Self {
        DOG.write(LOCK, UNLOCK);
        DOG.write(LOAD, (watchdog::BITE.0 * HZ / 1000) as u32);
        DOG.write(CONTROL, ON);
        Self
    }
}

impl watchdog::Watchdog for Watchdog {
    fn feed(&mut self) {
        // That loads it again, too.
        DOG.write(CLEAR, 1);
    }
}

/// Nobody has fed it. There is just enough time to write that down.
#[cortex_m_rt::exception]
unsafe fn NonMaskableInt() -> ! {
    crate::device::memo::restart(
        Reason::Watchdog,
        format_args!("the executor did not run for {} s", watchdog::BITE.0 / 1000),
    )
}
