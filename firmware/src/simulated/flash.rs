//! Flash that is memory: for boards that have none, and for tests that cut the power.

use embedded_storage_async::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, NorFlashErrorKind, ReadNorFlash};

/// Memory that behaves like flash: it is erased in pages, and written only where it is erased.
pub struct RamFlash<M> {
    memory: M,
    /// Words that may still be written, and pages erased, before the power goes.
    power: Option<u32>,
}

/// Bytes of a page: the smallest part that can be erased.
pub const PAGE_BYTES: usize = 4096;

const WORD_BYTES: usize = 4;

impl<M: AsMut<[u8]>> RamFlash<M> {
    /// Takes memory as it is: what was in it before is still there.
    pub const fn new(memory: M) -> Self {
        Self { memory, power: None }
    }

    /// Lets the power go after so many more words and pages: from then on everything fails.
    pub const fn cut_after(&mut self, steps: u32) {
        self.power = Some(steps);
    }

    /// Gives the memory back, as it is.
    pub fn into_memory(self) -> M {
        self.memory
    }

    fn spend(&mut self) -> Result<(), NorFlashErrorKind> {
        match &mut self.power {
            Some(0) => Err(NorFlashErrorKind::Other),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn part(&mut self, offset: u32, length: usize) -> Result<&mut [u8], NorFlashErrorKind> {
        let start = offset as usize;
        self.memory.as_mut().get_mut(start..start + length).ok_or(NorFlashErrorKind::OutOfBounds)
    }
}

impl<M> ErrorType for RamFlash<M> {
    type Error = NorFlashErrorKind;
}

impl<M: AsMut<[u8]> + AsRef<[u8]>> ReadNorFlash for RamFlash<M> {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        bytes.copy_from_slice(self.part(offset, bytes.len())?);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.memory.as_ref().len()
    }
}

impl<M: AsMut<[u8]> + AsRef<[u8]>> NorFlash for RamFlash<M> {
    const WRITE_SIZE: usize = WORD_BYTES;
    const ERASE_SIZE: usize = PAGE_BYTES;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        for page in (from..to).step_by(PAGE_BYTES) {
            self.spend()?;
            self.part(page, PAGE_BYTES)?.fill(0xff);
        }
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        if !(offset as usize).is_multiple_of(WORD_BYTES) || !bytes.len().is_multiple_of(WORD_BYTES) {
            return Err(NorFlashErrorKind::NotAligned);
        }
        for (place, word) in (offset..).step_by(WORD_BYTES).zip(bytes.chunks(WORD_BYTES)) {
            self.spend()?;
            // A bit can be taken away, but only erasing gives it back.
            for (kept, new) in self.part(place, WORD_BYTES)?.iter_mut().zip(word) {
                *kept &= new;
            }
        }
        Ok(())
    }
}

impl<M: AsMut<[u8]> + AsRef<[u8]>> MultiwriteNorFlash for RamFlash<M> {}

/// As much as the smallest store takes, for the tests of what is kept there.
#[cfg(test)]
pub(crate) mod two_pages {
    extern crate std;

    use std::{vec, vec::Vec};

    use super::{PAGE_BYTES, RamFlash};
    use crate::store::Store;

    pub(crate) const FLASH_BYTES: usize = 2 * PAGE_BYTES;

    /// Memory that nothing was ever written to.
    pub(crate) fn blank() -> Vec<u8> {
        vec![0xff; FLASH_BYTES]
    }

    /// A store in it, as after a start.
    pub(crate) fn open(memory: &mut [u8]) -> Store<RamFlash<&mut [u8]>> {
        Store::new(RamFlash::new(memory), 0..FLASH_BYTES as u32)
    }
}
