//! The one memo of the device, in memory that a restart leaves alone, and the end of everything: the panic.

use core::{
    cell::UnsafeCell,
    fmt,
    mem::MaybeUninit,
    panic::PanicInfo,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    board::here,
    reset::{Memo, Past, Reason},
};

#[repr(transparent)]
struct Surviving(UnsafeCell<MaybeUninit<Memo>>);

// SAFETY: only `with_memo` looks at it, in a critical section.
unsafe impl Sync for Surviving {}

// Start-up code leaves these sections as they are.
#[cfg(not(feature = "emulated"))]
#[cfg_attr(feature = "esp", unsafe(link_section = ".rtc_fast.persistent"))]
#[cfg_attr(not(feature = "esp"), unsafe(link_section = ".uninit.memo"))]
static MEMO: Surviving = Surviving(UnsafeCell::new(MaybeUninit::uninit()));

// QEMU clears all that is a section when it restarts a machine: this is memory beside them.
#[cfg(feature = "emulated")]
unsafe extern "C" {
    #[link_name = "_memo"]
    static MEMO: Surviving;
}

fn with_memo<R>(look: impl FnOnce(&mut Memo) -> R) -> R {
    critical_section::with(|_| {
        let place = (&raw const MEMO).cast_mut().cast::<Memo>();
        let mut memo = Memo::EMPTY;
        // SAFETY: the critical section keeps everybody else away. What is read is memory that this program may not have
        // written, as a device's register is: plain numbers, of which any are a memo, and a check tells whether it is one.
        unsafe { copy(place, &mut memo) };
        let seen = look(&mut memo);
        // SAFETY: as above.
        unsafe { copy(&memo, place) };
        seen
    })
}

/// Word by word, so that nothing is left out even if a reset is next.
///
/// # Safety
/// `from` can be read and `to` can be written.
#[inline(never)]
unsafe fn copy(from: *const Memo, to: *mut Memo) {
    const WORDS: usize = size_of::<Memo>() / size_of::<u32>();
    const { assert!(WORDS * size_of::<u32>() == size_of::<Memo>() && align_of::<Memo>() == align_of::<u32>()) };
    for word in 0..WORDS {
        // SAFETY: within a memo, which is made of words.
        unsafe { to.cast::<u32>().add(word).write_volatile(from.cast::<u32>().add(word).read_volatile()) };
    }
}

/// Why the device started. Once: what was written down is gone then.
pub(crate) fn past(chip: Reason) -> Past {
    with_memo(|memo| Past::of(chip, memo))
}

/// Restarts the device, which will know why.
pub(crate) fn restart(reason: Reason, detail: fmt::Arguments<'_>) -> ! {
    with_memo(|memo| memo.write(reason, detail));
    here::restart()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    static IS_PANICKING: AtomicBool = AtomicBool::new(false);
    // A panic in the middle of a line of the log cannot be logged, and to try is the next panic. The first one is written
    // down by then.
    if IS_PANICKING.load(Ordering::Relaxed) {
        here::restart();
    }
    IS_PANICKING.store(true, Ordering::Relaxed);
    with_memo(|memo| match info.location() {
        Some(at) => {
            // The path has no end that says more than its beginning: the last part of it is what people look for.
            let path = at.file();
            let file = path.rfind('/').and_then(|slash| path.get(slash + 1..)).unwrap_or(path);
            memo.write(Reason::Panic, format_args!("{} ({file}:{})", info.message(), at.line()));
        }
        None => memo.write(Reason::Panic, format_args!("{}", info.message())),
    });
    defmt::error!("{}", defmt::Display2Format(info));
    here::restart()
}
