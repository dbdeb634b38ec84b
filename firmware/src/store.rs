//! What is kept beyond a restart: small values under numbers, in a few pages of flash.
//!
//! sequential-storage does the work: every value is appended with a checksum, and a cut in the middle of a write leaves
//! the value before.

use core::{
    cell::RefCell,
    ops::Range,
    pin::pin,
    task::{Context, Poll, Waker},
};

use embedded_storage_async::nor_flash::NorFlash;
use sequential_storage::{
    cache::{Cache, Uncached},
    map::{MapConfig, MapStorage},
};

use crate::board::{Key, Trouble};

/// The longest value: a list of origins.
pub const VALUE_MAX: usize = 160;

/// A value, its key and what flash wants to be aligned to.
const BUFFER_BYTES: usize = VALUE_MAX + 28;

/// Values in flash.
///
/// The flash of a board lets everything wait while it writes, itself included. So nothing here is asynchronous: the
/// futures of sequential-storage take half a kilobyte in everybody who may want to keep something.
pub struct Store<F: NorFlash> {
    map: RefCell<MapStorage<u16, F, Pages>>,
}

type Pages = Cache<Uncached, Uncached, Uncached, u16>;

impl<F: NorFlash> Store<F> {
    /// Keeps values in these pages of flash: two at least, and nobody else's.
    ///
    /// # Panics
    /// Where the range is not one of whole pages. It is a constant: it does so on every start or never.
    pub fn new(flash: F, pages: Range<u32>) -> Self {
        Self { map: RefCell::new(MapStorage::new(flash, MapConfig::new(pages), Cache::new_uncached())) }
    }

    /// Copies what was kept under `key` into `value` and says how long it is. `None` if there is nothing, or if it is
    /// longer than `value`.
    pub fn load(&self, key: Key, value: &mut [u8]) -> Option<usize> {
        let mut buffer = Aligned([0; BUFFER_BYTES]);
        let mut map = self.map.borrow_mut();
        let kept: &[u8] = at_once(map.fetch_item(&mut buffer.0, &key.number()))?.ok()??;
        value.get_mut(..kept.len())?.copy_from_slice(kept);
        // Not every flash can take a value away: an empty one stands for none.
        (!kept.is_empty()).then_some(kept.len())
    }

    /// Keeps a value under `key`, instead of the one before.
    ///
    /// # Errors
    /// Says why it is not kept. The value before is kept then.
    pub fn save(&self, key: Key, value: &[u8]) -> Result<(), Trouble> {
        if value.len() > VALUE_MAX {
            return Err(Trouble("it is too long to be kept"));
        }
        let mut map = self.map.borrow_mut();
        at_once(async {
            let mut buffer = Aligned([0; BUFFER_BYTES]);
            for is_second in [false, true] {
                match map.store_item(&mut buffer.0, &key.number(), &value).await {
                    Ok(()) => return Ok(()),
                    Err(sequential_storage::Error::FullStorage) => return Err(Trouble("there is no room to keep it")),
                    // Pages that were never ours, or that a cut has left beyond repair: what was in them cannot be read
                    // anyway.
                    Err(sequential_storage::Error::Corrupted { .. }) if !is_second => {
                        map.erase_all().await.map_err(|_| BROKEN)?;
                    }
                    Err(_) => break,
                }
            }
            Err(BROKEN)
        })
        .unwrap_or(Err(BROKEN))
    }

    /// Keeps nothing under `key` any more.
    ///
    /// # Errors
    /// Says why the value is still there.
    pub fn forget(&self, key: Key) -> Result<(), Trouble> {
        if self.load(key, &mut [0; VALUE_MAX]).is_none() {
            return Ok(());
        }
        self.save(key, &[])
    }
}

const BROKEN: Trouble = Trouble("the flash does not take it");

/// What a future gives that waits for nothing; one that waits gives nothing.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Flash that is written in words wants to be given words.
#[repr(align(4))]
struct Aligned([u8; BUFFER_BYTES]);

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{vec, vec::Vec};

    use super::*;
    use crate::simulated::flash::{PAGE_BYTES, RamFlash};

    const PAGES: u32 = 2;
    const RANGE: Range<u32> = 0..PAGES * PAGE_BYTES as u32;
    const KEY: Key = Key::calibration(0);
    const OTHER: Key = Key::calibration(1);

    fn blank() -> Vec<u8> {
        vec![0xff; PAGES as usize * PAGE_BYTES]
    }

    fn open(memory: Vec<u8>) -> Store<RamFlash<Vec<u8>>> {
        Store::new(RamFlash::new(memory), RANGE)
    }

    fn close(store: Store<RamFlash<Vec<u8>>>) -> Vec<u8> {
        store.map.into_inner().destroy().0.into_memory()
    }

    fn load(store: &Store<RamFlash<Vec<u8>>>, key: Key) -> Option<Vec<u8>> {
        let mut value = [0; VALUE_MAX];
        store.load(key, &mut value).map(|length| value[..length].to_vec())
    }

    #[test]
    fn a_value_outlives_a_restart_and_can_be_forgotten() {
        let store = open(blank());
        assert_eq!(load(&store, KEY), None);
        store.save(KEY, b"one").expect("there is room");
        store.save(OTHER, &[7; VALUE_MAX]).expect("there is room");
        store.save(KEY, b"two").expect("there is room");
        let store = open(close(store));
        assert_eq!(load(&store, KEY), Some(b"two".to_vec()));
        assert_eq!(store.load(KEY, &mut [0; 2]), None, "it is longer than that");
        store.forget(KEY).expect("there is room");
        assert_eq!(load(&open(close(store)), KEY), None);
    }

    #[test]
    fn what_is_too_long_is_refused_and_changes_nothing() {
        let store = open(blank());
        store.save(KEY, b"one").expect("there is room");
        assert!(store.save(KEY, &[0; VALUE_MAX + 1]).is_err());
        assert_eq!(load(&store, KEY), Some(b"one".to_vec()));
    }

    #[test]
    fn a_thousand_changes_fit_because_pages_are_used_again() {
        let store = open(blank());
        store.save(OTHER, b"stays").expect("there is room");
        for n in 0..1_000_u32 {
            store.save(KEY, &n.to_le_bytes()).expect("there is room");
        }
        let store = open(close(store));
        assert_eq!(load(&store, KEY), Some(999_u32.to_le_bytes().to_vec()));
        assert_eq!(load(&store, OTHER), Some(b"stays".to_vec()));
    }

    #[test]
    fn pages_that_were_never_ours_are_taken_over() {
        let store = open(vec![0x5a; PAGES as usize * PAGE_BYTES]);
        assert_eq!(load(&store, KEY), None);
        store.save(KEY, b"one").expect("they are erased");
        assert_eq!(load(&open(close(store)), KEY), Some(b"one".to_vec()));
    }

    #[test]
    fn wherever_the_power_goes_a_value_is_the_old_one_or_the_new_one() {
        // Full enough that some of the writes have to make room first.
        let store = open(blank());
        store.save(OTHER, b"stays").expect("there is room");
        for n in 0..400_u32 {
            store.save(KEY, &n.to_le_bytes()).expect("there is room");
        }
        let mut memory = close(store);
        let mut cuts = 0;
        for n in 400..600_u32 {
            for steps in 0.. {
                let mut flash = RamFlash::new(memory.clone());
                flash.cut_after(steps);
                let store = Store::new(flash, RANGE);
                let done = store.save(KEY, &n.to_le_bytes()).is_ok();
                let store = open(close(store));
                let found = load(&store, KEY).expect("there is one");
                let found = u32::from_le_bytes(found.try_into().expect("four bytes"));
                assert!(found == n || found == n - 1, "cut after {steps} of value {n}: {found}");
                assert_eq!(load(&store, OTHER), Some(b"stays".to_vec()), "cut after {steps} of value {n}");
                if done {
                    assert_eq!(found, n);
                    memory = close(store);
                    break;
                }
                store.save(KEY, &n.to_le_bytes()).expect("there is room after a cut");
                cuts += 1;
            }
        }
        assert!(cuts > 200, "{cuts}");
    }
}
