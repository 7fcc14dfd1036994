//! Random choices from one seed: every circuit can be made again from its own.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

/// What all choices of a circuit are drawn from.
pub struct Dice(ChaCha20Rng);

impl Dice {
    /// The choices that belong to a seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }

    /// The generator itself, for encryption.
    pub fn rng(&mut self) -> &mut ChaCha20Rng {
        &mut self.0
    }

    /// Any 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// An integer in `0..end`; the bias is of no account.
    pub fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    /// An index of a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// An integer in `low..=high`.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of a list.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.index(list.len())]
    }

    /// A real number in [−1, 1].
    pub fn real(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Residues modulo t: mostly uniform, sometimes all zero, all the largest, or nearly all zero.
    pub fn residues(&mut self, count: usize, t: u64) -> Vec<u64> {
        match self.below(12) {
            0 => vec![0; count],
            1 => vec![t - 1; count],
            2 => vec![t / 2; count],
            3 => {
                let mut sparse = vec![0; count];
                sparse[self.index(count)] = self.below(t);
                sparse
            }
            _ => (0..count).map(|_| self.below(t)).collect(),
        }
    }
}
