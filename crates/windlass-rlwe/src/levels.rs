//! The moduli that ciphertexts can have.
//!
//! Q is a product of primes of two kinds. The primes of the *chain* are dropped one after another,
//! the last first. An extra (*spare*) prime may be present or absent at every length of the chain.
//! So between the moduli Q_k and Q_{k+1} of the chain there are products of Q_k, or of a shorter
//! part of the chain, with spare primes (the small primes of Halevi–Shoup 2020/1481). After a
//! product a ciphertext can then drop about as many bits as the product cost, not only whole
//! primes.

use num_bigint::BigUint;
use windlass_ring::Basis;
use windlass_ring::kernels::{Modulus, arith};

/// log2 of a product of primes.
pub(crate) fn log2_product(primes: &[Modulus]) -> f64 {
    primes.iter().map(|q| (q.value() as f64).log2()).sum()
}

/// log2 of the product of the primes of a basis.
pub(crate) fn log2_of(primes: &[Modulus], basis: &Basis) -> f64 {
    basis.indices().map(|index| (primes[index].value() as f64).log2()).sum()
}

/// log2 of the largest product of one of these groups of primes: of the largest digit.
pub(crate) fn log2_largest(primes: &[Modulus], groups: &[Basis]) -> f64 {
    groups.iter().map(|group| log2_of(primes, group)).fold(0.0, f64::max)
}

/// All moduli of a parameter set. *Level* l is the l-th smallest, from 1 on; without spare primes
/// it is the product of the first l primes of the chain.
#[derive(Debug)]
pub struct Levels {
    primes: Vec<Modulus>,
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    basis: Basis,
    /// The primes of all levels up to this one.
    covering: Basis,
    log2: f64,
}

impl Levels {
    /// The levels over these primes, `spare` spare ones first, then those of the chain.
    pub(crate) fn new(primes: &[Modulus], spare: usize) -> Self {
        let chosen = |subset: usize| (0..spare).filter(move |i| subset >> i & 1 == 1);
        let lengths = spare + 1..=primes.len();
        let bases = lengths.flat_map(|end| (0..1 << spare).map(move |subset| (end, subset)));
        let level = |(end, subset)| {
            let basis = Basis::new(chosen(subset).chain(spare..end));
            let log2 = log2_of(primes, &basis);
            Level { covering: basis.clone(), basis, log2 }
        };
        let mut levels: Vec<Level> = bases.map(level).collect();
        // Levels are numbers in files: their order may not depend on how logarithms are rounded.
        let product = |level: &Level| -> BigUint { level.basis.indices().map(|index| primes[index].value()).product() };
        levels.sort_by_cached_key(product);
        for l in 1..levels.len() {
            levels[l].covering = levels[l].basis.union(&levels[l - 1].covering);
        }
        Self { primes: primes.to_vec(), levels }
    }

    /// The number of levels: the highest one, which has all primes.
    pub fn top(&self) -> usize {
        self.levels.len()
    }

    fn at(&self, level: usize) -> &Level {
        assert!((1..=self.top()).contains(&level), "levels run from 1 to {}", self.top());
        &self.levels[level - 1]
    }

    /// The primes of a level.
    pub fn basis(&self, level: usize) -> &Basis {
        &self.at(level).basis
    }

    /// The primes of all levels up to this one: what keys and constants are made over that serve
    /// every one of them.
    pub fn covering(&self, level: usize) -> &Basis {
        &self.at(level).covering
    }

    /// Whether what was made for levels up to `made` serves `wanted`: a level up to it, or one with
    /// the primes of several such levels, as sums have.
    pub fn covers(&self, made: usize, wanted: usize) -> bool {
        wanted <= made || self.basis(wanted).without(self.covering(made)).is_empty()
    }

    /// log2 of the modulus of a level.
    pub fn log2(&self, level: usize) -> f64 {
        self.at(level).log2
    }

    /// The level with exactly these primes.
    pub fn of(&self, basis: &Basis) -> Option<usize> {
        self.levels.iter().position(|level| level.basis == *basis).map(|index| index + 1)
    }

    /// The level whose primes are those of either.
    pub fn join(&self, a: usize, b: usize) -> usize {
        let (high, low) = (a.max(b), a.min(b));
        let joined = self.basis(high).union(self.basis(low));
        if joined == *self.basis(high) { high } else { self.of(&joined).expect("spare primes come in every choice") }
    }

    /// [`Self::join`] of all; none for no levels.
    pub fn join_all(&self, levels: impl IntoIterator<Item = usize>) -> Option<usize> {
        levels.into_iter().reduce(|a, b| self.join(a, b))
    }

    /// The highest level of at most `most` primes; the lowest level if there is no such level.
    pub fn of_primes(&self, most: usize) -> usize {
        (1..=self.top()).rev().find(|&level| self.basis(level).len() <= most).unwrap_or(1)
    }

    fn product(&self, primes: &Basis, t: u64) -> u64 {
        primes.indices().fold(1 % t, |x, index| arith::mul_mod(x, self.primes[index].value() % t, t))
    }

    /// The modulus of a level modulo t.
    pub fn modulus(&self, level: usize, t: u64) -> u64 {
        self.product(self.basis(level), t)
    }

    /// `Q_high/Q_low` modulo t, coprime to all primes of Q.
    pub fn ratio(&self, low: usize, high: usize, t: u64) -> u64 {
        let [low, high] = [low, high].map(|level| self.basis(level));
        let more = self.product(&high.without(low), t);
        match low.without(high) {
            fewer if fewer.is_empty() => more,
            fewer => {
                let inverse = arith::inv_mod(self.product(&fewer, t), t).expect("t is coprime to all primes of Q");
                arith::mul_mod(more, inverse, t)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use windlass_ring::kernels::modulus::find_primes;

    /// Primes of these sizes, all distinct.
    fn primes(sizes: &[u32]) -> Vec<Modulus> {
        let mut taken = Vec::new();
        for &bits in sizes {
            let found = find_primes(64, bits, 1, &taken).unwrap()[0];
            taken.push(found.value());
        }
        taken.iter().map(|&q| Modulus::new(q).unwrap()).collect()
    }

    #[test]
    fn without_spare_primes_levels_are_prefixes() {
        let primes = primes(&[50, 30, 40, 25]);
        let levels = Levels::new(&primes, 0);
        assert_eq!(levels.top(), 4);
        for level in 1..=4 {
            let prefix = Basis::new(0..level);
            assert_eq!((levels.basis(level), levels.covering(level)), (&prefix, &prefix));
            assert_eq!((levels.of(&prefix), levels.of_primes(level)), (Some(level), level));
            assert_eq!(levels.join(level, 2), level.max(2));
        }
        assert_eq!(levels.ratio(1, 3, 257), primes[1].value() % 257 * (primes[2].value() % 257) % 257);
    }

    /// Every choice of spare primes at every length, in order of size; of a modulus to another and
    /// back the ratios cancel.
    #[test]
    fn spare_primes_come_in_every_choice() {
        let primes = primes(&[25, 37, 50, 50, 50]);
        let levels = Levels::new(&primes, 2);
        assert_eq!(levels.top(), 12);
        let sizes: Vec<f64> = (1..=12).map(|level| levels.log2(level)).collect();
        assert!(sizes.is_sorted() && sizes.windows(2).all(|pair| pair[1] - pair[0] < 26.0), "{sizes:?}");
        assert_eq!(levels.basis(1), &Basis::new([2]));
        assert_eq!(levels.basis(12), &Basis::new(0..5));
        for a in 1..=12 {
            assert_eq!(levels.of(levels.basis(a)), Some(a));
            let exact: f64 = levels.basis(a).indices().map(|index| (primes[index].value() as f64).log2()).sum();
            assert!((levels.log2(a) - exact).abs() < 1e-9);
            for b in 1..=12 {
                let join = levels.join(a, b);
                assert_eq!(levels.basis(join), &levels.basis(a).union(levels.basis(b)));
                assert_eq!(levels.modulus(a, 127) * levels.ratio(a, b, 127) % 127, levels.modulus(b, 127));
                assert_eq!(levels.ratio(a, b, 127) * levels.ratio(b, a, 127) % 127, 1);
                assert!(b > a || levels.basis(b).without(levels.covering(a)).is_empty());
                assert!(levels.covers(a.max(b), join) && levels.covers(a, b) >= (b <= a));
            }
        }
        assert!(!levels.covers(1, 2) && !levels.covers(6, 12));
        assert_eq!(levels.of(&Basis::new([0, 1])), None);
    }
}
