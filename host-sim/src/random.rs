//! Chance as the operating system gives it.

use protocol_core::time::Entropy;

/// The operating system's chance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct System;

impl System {
    /// A seed that nobody knows.
    ///
    /// # Errors
    /// If the operating system has no randomness to give: nothing should be started then.
    pub(crate) fn seed() -> Result<u64, getrandom::Error> {
        getrandom::u64()
    }
}

impl Entropy for System {
    fn fill(&mut self, bytes: &mut [u8]) {
        // cannot fail: it gave a seed at the start, and a system that has given randomness goes on doing so.
        getrandom::fill(bytes).expect("the operating system gives randomness");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_gives_other_bytes_every_time() {
        let (mut one, mut two) = ([0; 16], [0; 16]);
        System.fill(&mut one);
        System.fill(&mut two);
        assert_ne!(one, two);
    }
}
