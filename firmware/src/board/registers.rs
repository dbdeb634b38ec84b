//! Memory-mapped registers: the one place where an address becomes a word.

/// The 32-bit registers of one device.
#[derive(Clone, Copy)]
pub(super) struct Registers {
    base: usize,
    bytes: usize,
}

impl Registers {
    /// The registers from `base` on, `bytes` of them.
    ///
    /// # Safety
    /// All of them must be registers of a device that is always there, and reading or writing any of them must not
    /// change memory that the program uses.
    pub(super) const unsafe fn new(base: usize, bytes: usize) -> Self {
        assert!(base.is_multiple_of(4));
        Self { base, bytes }
    }

    pub(super) fn read(self, offset: usize) -> u32 {
        // SAFETY: the word is one of the device's, as `new` was promised and `address` has checked.
        unsafe { self.address(offset).read_volatile() }
    }

    pub(super) fn write(self, offset: usize, value: u32) {
        // SAFETY: as in `read`.
        unsafe { self.address(offset).write_volatile(value) }
    }

    #[cfg(feature = "qemu-riscv")]
    pub(super) fn read_byte(self, offset: usize) -> u8 {
        assert!(offset < self.bytes);
        // SAFETY: as in `read`.
        unsafe { ((self.base + offset) as *mut u8).read_volatile() }
    }

    #[cfg(feature = "qemu-riscv")]
    pub(super) fn write_byte(self, offset: usize, value: u8) {
        assert!(offset < self.bytes);
        // SAFETY: as in `read`.
        unsafe { ((self.base + offset) as *mut u8).write_volatile(value) }
    }

    /// Offsets are constants nearly everywhere, so that nothing of the check is left.
    #[inline(always)]
    fn address(self, offset: usize) -> *mut u32 {
        assert!(offset.is_multiple_of(4) && offset < self.bytes);
        (self.base + offset) as *mut u32
    }
}
