//! Random choices from one seed: every circuit can be made again from its own.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

/// What all choices of a circuit are drawn from.
pub struct Dice {
    rng: ChaCha20Rng,
    /// Whether values are at the ends of what they may be.
    adversarial: bool,
}

impl Dice {
    /// The choices that belong to a seed.
    pub fn new(seed: u64) -> Self {
        Self { rng: ChaCha20Rng::seed_from_u64(seed), adversarial: false }
    }

    /// Values at the ends of what they may be, from here on.
    pub fn adversarial(self) -> Self {
        Self { adversarial: true, ..self }
    }

    /// Whether values are at the ends of what they may be.
    pub fn is_adversarial(&self) -> bool {
        self.adversarial
    }

    /// The generator itself, for encryption.
    pub fn rng(&mut self) -> &mut ChaCha20Rng {
        &mut self.rng
    }

    /// Any 64 bits.
    pub fn word(&mut self) -> u64 {
        self.rng.next_u64()
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
    /// Of an adversary those of largest absolute value with signs in some order, or nearly all zero.
    pub fn residues(&mut self, count: usize, t: u64) -> Vec<u64> {
        let ends = [t / 2, t.div_ceil(2) % t];
        if self.adversarial && !self.once_in(4) {
            let (run, last) = (1 + self.index(count), self.index(count));
            return match self.below(4) {
                0 => (0..count).map(|j| ends[j / run % 2]).collect(),
                1 => (0..count).map(|_| self.pick(&ends)).collect(),
                2 => (0..count).map(|j| if j == last { ends[0] } else { 0 }).collect(),
                _ => (0..count).map(|j| if j == last { 0 } else { ends[0] }).collect(),
            };
        }
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
