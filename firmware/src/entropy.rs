//! Chance for a board whose own source is weak: much of it is stirred together, and a generator goes on from there.

use chacha20::{
    ChaCha20Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use protocol_core::time::Entropy;

/// Bytes of a key, and of what is stirred in at a time.
pub(crate) const BYTES: usize = 32;

/// Gathers what a source gives, however little chance there is in a byte of it.
///
/// Every piece is added to the key of a ChaCha20 generator, and what that generator gives is the next key. So what is
/// known of one piece takes nothing away from the others.
pub(crate) struct Pot {
    key: [u8; BYTES],
}

impl Pot {
    /// An empty one: without anything stirred in, everybody knows what comes out.
    pub(crate) const fn new() -> Self {
        Self { key: [0; BYTES] }
    }

    /// Stirs in a piece.
    pub(crate) fn stir(&mut self, piece: &[u8; BYTES]) {
        for (key, byte) in self.key.iter_mut().zip(piece) {
            *key ^= byte;
        }
        ChaCha20Rng::from_seed(self.key).fill_bytes(&mut self.key);
    }

    /// A generator that nobody can calculate who does not know all of what was stirred in.
    pub(crate) fn serve(self) -> Chance {
        Chance(ChaCha20Rng::from_seed(self.key))
    }
}

/// A ChaCha20 generator.
pub(crate) struct Chance(ChaCha20Rng);

impl Entropy for Chance {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(pieces: &[[u8; BYTES]]) -> [u8; 40] {
        let mut pot = Pot::new();
        pieces.iter().for_each(|piece| pot.stir(piece));
        let mut bytes = [0; 40];
        pot.serve().fill(&mut bytes);
        bytes
    }

    #[test]
    fn every_piece_counts_and_so_does_their_order() {
        let (quiet, loud) = ([0; BYTES], [7; BYTES]);
        let all = [served(&[]), served(&[quiet]), served(&[loud]), served(&[loud, quiet]), served(&[quiet, loud])];
        for (place, one) in all.iter().enumerate() {
            assert!(all[place + 1..].iter().all(|other| other != one), "{place}");
        }
        assert_eq!(served(&[loud]), served(&[loud]));
    }

    #[test]
    fn a_piece_that_is_the_key_does_not_empty_the_pot() {
        let mut pot = Pot::new();
        pot.stir(&[7; BYTES]);
        let key = pot.key;
        pot.stir(&key);
        assert_ne!(pot.key, [0; BYTES]);
    }

    #[test]
    fn what_was_given_does_not_come_again() {
        let mut chance = Pot::new().serve();
        let (mut one, mut other) = ([0; 16], [0; 16]);
        chance.fill(&mut one);
        chance.fill(&mut other);
        assert_ne!(one, other);
    }
}
