//! Randomness that can be had again: a small generator, and a loop that names the seed of a failure.

use core::panic::AssertUnwindSafe;
use std::panic::{catch_unwind, resume_unwind};

/// SplitMix64: one addition and three mixings a number, good enough to pick test cases.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The same numbers for the same seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.number() % end as u64) as usize }
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Runs a test with many seeds. A failure says with which one; `MOTE_SEED=N` runs that one alone, `MOTE_TIMES=N` runs N
/// times as many.
pub fn with_seeds(count: u64, test: impl Fn(&mut Random)) {
    let number = |name| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let seeds = number("MOTE_SEED").map_or(0..count * number("MOTE_TIMES").unwrap_or(1), |seed| seed..seed + 1);
    for seed in seeds {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(&mut Random::new(seed)))) {
            eprintln!("failed with MOTE_SEED={seed}");
            resume_unwind(panic);
        }
    }
}
