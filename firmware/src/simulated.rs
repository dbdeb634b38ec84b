//! What is simulated where there is no sensor: on a laptop and on emulated boards.

pub mod flash;

use protocol_core::time::Entropy;

use crate::milli::Milli;

/// Numbers that look random and follow from the seed: Vigna's SplitMix64.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// Starts from a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
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

/// How a sensor behaves, in thousandths of its unit.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// What it drifts around.
    pub middle: i32,
    /// How far it drifts from the middle.
    pub swing: i32,
    /// How far one reading is from the next by chance.
    pub noise: i32,
    /// The smallest difference that it shows.
    pub step: i32,
}

impl Model {
    /// A thermometer in a room.
    pub const TEMPERATURE: Self = Self { middle: 21_500, swing: 2_000, noise: 40, step: 10 };
}

/// Where a sensor is. The same seed gives the same readings.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    chance: SplitMix,
    phase: u32,
    readings: u32,
}

impl Signal {
    /// Readings from one end of the drift to the other.
    const SLOPE: u32 = 300;

    /// Starts from a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        let mut chance = SplitMix::new(seed);
        let phase = (chance.next() % (2 * Self::SLOPE) as u64) as u32;
        Self { chance, phase, readings: 0 }
    }

    /// How often it was read.
    #[must_use]
    pub const fn readings(&self) -> u32 {
        self.readings
    }

    /// Measures once.
    pub fn next(&mut self, model: Model) -> Milli {
        let at = (self.phase + self.readings % (2 * Self::SLOPE)) % (2 * Self::SLOPE);
        self.readings = self.readings.saturating_add(1);
        // Up the slope and down again, from -1 to 1 in parts of `SLOPE`.
        let place = i64::from(if at < Self::SLOPE { at } else { 2 * Self::SLOPE - at }) * 2 - i64::from(Self::SLOPE);
        let drift = i64::from(model.swing) * place / i64::from(Self::SLOPE);
        let width = u64::from(model.noise.unsigned_abs()) * 2 + 1;
        let noise = (self.chance.next() % width) as i64 - i64::from(model.noise);
        let step = i64::from(model.step);
        let value = (i64::from(model.middle) + drift + noise) / step * step;
        // cannot fail: a middle, a swing and a noise are far from the end of the numbers.
        Milli(i32::try_from(value).unwrap_or(i32::MAX))
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
}
