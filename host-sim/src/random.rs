//! Chance: the operating system's, or the same every time.

use protocol_core::time::Entropy;

/// Numbers that look random and follow from the seed: Vigna's SplitMix64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitMix(u64);

impl SplitMix {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Entropy for SplitMix {
    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

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
    fn the_seed_decides() {
        // The reference implementation's first numbers for this seed.
        let mut chance = SplitMix::new(1_234_567);
        assert_eq!([chance.next(), chance.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
        let mut bytes = [0; 11];
        SplitMix::new(1_234_567).fill(&mut bytes);
        assert_eq!(bytes[..8], 6_457_827_717_110_365_317_u64.to_le_bytes());
        assert_eq!(bytes[8..], 3_203_168_211_198_807_973_u64.to_le_bytes()[..3]);
    }

    #[test]
    fn the_system_gives_other_bytes_every_time() {
        let (mut one, mut two) = ([0; 16], [0; 16]);
        System.fill(&mut one);
        System.fill(&mut two);
        assert_ne!(one, two);
    }
}
