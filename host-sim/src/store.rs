//! What outlives a restart of the simulated device: memory that behaves like flash, and a file behind it if one is named.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use embedded_storage_async::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, NorFlashErrorKind, ReadNorFlash};
use firmware::{
    simulated::flash::{PAGE_BYTES, RamFlash},
    store::Store,
};

/// Two pages: the least that a store takes.
const STORE_BYTES: u32 = 2 * PAGE_BYTES as u32;

/// Opens the store in a file, which is made where there is none; without a file it lasts as long as the process.
///
/// # Errors
/// If the file cannot be read or written, or is something else.
pub(crate) fn open(path: Option<&Path>) -> io::Result<Store<SimFlash>> {
    let mut memory = Vec::new();
    let mut file = path.map(open_file).transpose()?;
    if let Some(file) = &mut file {
        // One more than it may have: whatever else it is, it is left alone.
        file.take(u64::from(STORE_BYTES) + 1).read_to_end(&mut memory)?;
    }
    if memory.is_empty() {
        memory.resize(STORE_BYTES as usize, 0xff);
        if let Some(file) = &mut file {
            file.write_all(&memory)?;
        }
    }
    if memory.len() != STORE_BYTES as usize {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not one that host-sim has made"));
    }
    Ok(Store::new(SimFlash { memory: RamFlash::new(memory), file }, 0..STORE_BYTES))
}

/// There is a secret in it: nobody else may read it.
fn open_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Memory, and the file that has the same bytes.
pub(crate) struct SimFlash {
    memory: RamFlash<Vec<u8>>,
    file: Option<File>,
}

impl SimFlash {
    fn copy(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let copied = file.seek(SeekFrom::Start(offset.into())).and_then(|_| file.write_all(bytes));
        copied.map_err(|_| NorFlashErrorKind::Other)
    }
}

impl ErrorType for SimFlash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for SimFlash {
    const READ_SIZE: usize = RamFlash::<Vec<u8>>::READ_SIZE;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        self.memory.read(offset, bytes).await
    }

    fn capacity(&self) -> usize {
        self.memory.capacity()
    }
}

impl NorFlash for SimFlash {
    const WRITE_SIZE: usize = RamFlash::<Vec<u8>>::WRITE_SIZE;
    const ERASE_SIZE: usize = RamFlash::<Vec<u8>>::ERASE_SIZE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.memory.erase(from, to).await?;
        self.copy(from, &vec![0xff; to.saturating_sub(from) as usize])
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        self.memory.write(offset, bytes).await?;
        // What is there now: writing again only takes bits away.
        let mut now = vec![0; bytes.len()];
        self.memory.read(offset, &mut now).await?;
        self.copy(offset, &now)
    }
}

impl MultiwriteNorFlash for SimFlash {}

#[cfg(test)]
mod tests {
    use std::fs;

    use firmware::board::Key;

    use super::*;

    const KEY: Key = Key::calibration(0);

    fn path(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("mote-store-{}-{name}", std::process::id()))
    }

    #[test]
    fn a_file_keeps_what_it_was_told_and_is_for_its_owner_alone() {
        let path = path("kept");
        let mut value = [0; 8];
        let store = open(Some(&path)).expect("a new file");
        assert_eq!(store.load(KEY, &mut value), None);
        // More than fits into a page: some of it has to be erased.
        for n in 0..1_000_u32 {
            store.save(KEY, &n.to_le_bytes()).expect("there is room");
        }
        drop(store);
        assert_eq!(open(Some(&path)).expect("the same file").load(KEY, &mut value), Some(4));
        assert_eq!(value[..4], 999_u32.to_le_bytes());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&path).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::remove_file(&path).expect("it is there");
    }

    #[test]
    fn a_file_of_somebody_else_is_left_alone() {
        let path = path("other");
        for content in [vec![b'x'; 100], vec![b'x'; STORE_BYTES as usize + 1]] {
            fs::write(&path, &content).expect("a file");
            assert!(open(Some(&path)).is_err());
            assert!(fs::read(&path).expect("a file") == content);
        }
        fs::remove_file(&path).expect("it is there");
    }

    #[test]
    fn without_a_file_it_lasts_as_long_as_the_process() {
        open(None).expect("memory").save(KEY, b"one").expect("there is room");
        assert_eq!(open(None).expect("memory").load(KEY, &mut [0; 8]), None);
    }
}
