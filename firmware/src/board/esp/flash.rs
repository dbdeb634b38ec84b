//! The flash of an Espressif chip: the part of it that its partition table sets aside for settings.

use core::ops::Range;

use embedded_storage_async::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};
use esp_bootloader_esp_idf::partitions::{
    DataPartitionSubType, PARTITION_TABLE_MAX_LEN, PartitionType, read_partition_table,
};
use esp_hal::peripherals::FLASH;
use esp_storage::FlashStorage;

/// All of the partition: the table that espflash writes unless it is told otherwise has 24 KiB of it, from 0x9000 on.
/// The radio's driver is told to keep nothing there.
pub(crate) const STORE: Range<u32> = 0..24 * 1024;

/// The partition. Everything waits while it is written: code comes from the same flash.
pub(crate) struct Flash {
    storage: FlashStorage<'static>,
    /// Where the partition starts, if there is one.
    start: Option<u32>,
}

impl Flash {
    pub(super) fn start(flash: FLASH<'static>) -> Self {
        let mut storage = FlashStorage::new(flash);
        let start = find(&mut storage);
        if start.is_none() {
            defmt::warn!("no `nvs` partition of {=u32} bytes in the flash: nothing outlives a restart", STORE.end);
        }
        Self { storage, start }
    }

    /// Where in all of the flash something is, if all of it is ours.
    fn place(&self, offset: u32, length: usize) -> Result<u32, FlashError> {
        let end = u32::try_from(length).ok().and_then(|length| offset.checked_add(length));
        if end.is_none_or(|end| end > STORE.end) {
            return Err(FlashError(NorFlashErrorKind::OutOfBounds));
        }
        Ok(self.start.ok_or(FlashError(NorFlashErrorKind::Other))? + offset)
    }
}

/// Looks for a partition that is as large as the store, plain, and ours to write.
fn find(storage: &mut FlashStorage<'static>) -> Option<u32> {
    let mut table = [0; PARTITION_TABLE_MAX_LEN];
    let table = read_partition_table(storage, &mut table).ok()?;
    let settings = table.find_partition(PartitionType::Data(DataPartitionSubType::Nvs)).ok()??;
    let is_ours = settings.len() >= STORE.end && !settings.is_encrypted() && !settings.is_read_only();
    is_ours.then(|| settings.offset())
}

/// Why the flash did not do as it was told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlashError(NorFlashErrorKind);

impl NorFlashError for FlashError {
    fn kind(&self) -> NorFlashErrorKind {
        self.0
    }
}

impl From<esp_storage::FlashStorageError> for FlashError {
    fn from(error: esp_storage::FlashStorageError) -> Self {
        Self(match error {
            esp_storage::FlashStorageError::NotAligned => NorFlashErrorKind::NotAligned,
            esp_storage::FlashStorageError::OutOfBounds => NorFlashErrorKind::OutOfBounds,
            _ => NorFlashErrorKind::Other,
        })
    }
}

impl ErrorType for Flash {
    type Error = FlashError;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = FlashStorage::READ_SIZE;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), FlashError> {
        let place = self.place(offset, bytes.len())?;
        Ok(self.storage.read_nor(place, bytes)?)
    }

    fn capacity(&self) -> usize {
        STORE.end as usize
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = FlashStorage::WRITE_SIZE;
    const ERASE_SIZE: usize = FlashStorage::ERASE_SIZE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), FlashError> {
        let length = to.checked_sub(from).ok_or(FlashError(NorFlashErrorKind::OutOfBounds))?;
        let place = self.place(from, length as usize)?;
        Ok(self.storage.erase(place, place + length)?)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), FlashError> {
        let place = self.place(offset, bytes.len())?;
        Ok(self.storage.write_nor(place, bytes)?)
    }
}
