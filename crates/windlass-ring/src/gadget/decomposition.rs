//! Cutting a polynomial into digits.

use std::sync::Arc;

use windlass_kernels::rows;

use crate::basis::Basis;
use crate::poly::{Coeff, Eval, Poly};
use crate::rns::{BaseConverter, PrimeRow};

/// The groups of primes that make up the digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gadget {
    groups: Vec<Basis>,
}

impl Gadget {
    /// Cuts the first `primes` primes of a ring into `digits` consecutive groups whose sizes differ
    /// by at most one.
    pub fn balanced(primes: usize, digits: usize) -> Self {
        assert!(digits >= 1 && digits <= primes, "between one digit and one for each prime");
        // Larger groups first: the last ones are the first to be dropped with the level.
        let start = |k: usize| k * (primes / digits) + k.min(primes % digits);
        Self { groups: (0..digits).map(|k| Basis::new(start(k)..start(k + 1))).collect() }
    }

    /// Groups in which the first `spare` primes share the first group. If a balanced group has no room for
    /// all of them, they form a group alone and the other primes are balanced over the remaining groups.
    pub fn with_spare(primes: usize, digits: usize, spare: usize) -> Self {
        let balanced = Self::balanced(primes, digits);
        if balanced.groups[0].len() >= spare || digits == 1 {
            return balanced;
        }
        let chain = Self::balanced(primes - spare, (digits - 1).min(primes - spare)).groups;
        let moved = chain.iter().map(|group| Basis::new(group.indices().map(|index| index + spare)));
        Self { groups: std::iter::once(Basis::new(0..spare)).chain(moved).collect() }
    }

    /// Up to `digits` groups of neighbours, for primes of these sizes in bits, the largest of which is
    /// as small as it can be.
    pub fn by_size(bits: &[f64], digits: usize) -> Self {
        let ends = |most: f64| {
            let (mut ends, mut sum) = (Vec::new(), 0.0);
            for (index, &size) in bits.iter().enumerate() {
                if sum + size > most && sum > 0.0 {
                    ends.push(index);
                    sum = 0.0;
                }
                sum += size;
            }
            ends.push(bits.len());
            ends
        };
        let largest = bits.iter().copied().fold(0.0, f64::max);
        let (mut low, mut high) = (largest, bits.iter().sum::<f64>());
        // Until nothing changes but the last bits of a double.
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if ends(middle).len() <= digits.max(1) { high = middle } else { low = middle }
        }
        let ends = ends(high);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        Self { groups: starts.zip(&ends).map(|(start, &end)| Basis::new(start..end)).collect() }
    }

    /// One group of these primes.
    pub fn whole(primes: &Basis) -> Self {
        Self { groups: vec![primes.clone()] }
    }

    /// The groups.
    pub fn groups(&self) -> &[Basis] {
        &self.groups
    }

    /// The part of each group that lies in `basis`, empty groups left out: the last ones of a
    /// chain, and the first [`Self::skipped`].
    pub fn active(&self, basis: &Basis) -> Vec<Basis> {
        self.groups
            .iter()
            .map(|group| Basis::new(group.indices().filter(|&index| basis.row_of(index).is_some())))
            .filter(|group| !group.is_empty())
            .collect()
    }

    /// How many groups without a prime of `basis` stand before the first that has one.
    pub fn skipped(&self, basis: &Basis) -> usize {
        let has_prime = |group: &Basis| group.indices().any(|index| basis.row_of(index).is_some());
        self.groups.iter().take_while(|group| !has_prime(group)).count()
    }

    /// Prepares the digits of `(multiplier·A)^{-1}·x`, A the product of the primes `divided`, each
    /// over the basis of x joined with `special`.
    ///
    /// Digit k is only determined up to small multiples of D_k (approximate base conversion, centred):
    /// |digit| ≤ |group|·D_k/2. Cost: one inverse transform for each prime of x.
    pub fn decomposition<'a>(
        &self,
        x: &'a Poly<Eval>,
        special: &Basis,
        (multiplier, divided): (u64, &Basis),
    ) -> Decomposition<'a> {
        let ring = Arc::clone(x.ring());
        let larger = x.basis().union(special);
        let groups = self.active(x.basis());
        let converters: Vec<_> = groups.iter().map(|group| ring.converter(group, &larger.without(group), 1)).collect();
        let unchanged = multiplier == 1 && divided.is_empty();
        let inverse = |index: usize| {
            let q = ring.modulus(index);
            q.inv(q.mul(q.reduce(multiplier), ring.product(divided, q)))
        };
        let inverses: Vec<u64> = x.basis().indices().map(|index| if unchanged { 1 } else { inverse(index) }).collect();
        let mut weighed = Poly::<Coeff>::unspecified(&ring, x.basis());
        weighed.fill(|index, q, row| {
            let group = groups.iter().position(|group| group.row_of(index).is_some()).expect("groups cover the basis");
            let inverse = inverses[x.basis().row_of(index).expect("a prime of the basis")];
            let factor = q.mul(converters[group].weight(index), inverse);
            rows::mul_scalar(ring.isa(), q, row, x.row_of(index), factor);
            ring.plan(index).inverse(row);
            converters[group].prepare_centred(index, row);
        });
        Decomposition { x, larger, unchanged, inverses, groups, converters, weighed }
    }

    /// The digits of `(multiplier·A)^{-1}·x` themselves: decompose-and-extend.
    ///
    /// Cost: that of [`Self::decomposition`] and of [`Decomposition::digits`].
    pub fn decompose(&self, x: &Poly<Eval>, special: &Basis, by: (u64, &Basis)) -> Vec<Poly<Eval>> {
        self.decomposition(x, special, by).digits()
    }
}

/// A polynomial ready to be cut into digits. The digits are made row by row, so that a row can be
/// used while it is in cache.
#[derive(Debug)]
pub struct Decomposition<'a> {
    x: &'a Poly<Eval>,
    larger: Basis,
    /// Whether the digits are those of x itself.
    unchanged: bool,
    /// (multiplier·A)^{-1} modulo the primes of x.
    inverses: Vec<u64>,
    groups: Vec<Basis>,
    converters: Vec<Arc<BaseConverter>>,
    /// The coefficients modulo the primes of x, weighed for the conversion of their group, in source
    /// form.
    weighed: Poly<Coeff>,
}

impl Decomposition<'_> {
    /// Number of digits.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are no digits.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The basis of the digits.
    pub fn basis(&self) -> &Basis {
        &self.larger
    }

    /// How many rows of a digit are best made together.
    pub(crate) fn together(&self) -> usize {
        let sources = self.groups.iter().map(Basis::len).max().unwrap_or(0);
        self.x.ring().rows_together(sources, self.larger.len())
    }

    /// The rows of digit `k` modulo some primes, in `rows` or where they are already.
    pub(crate) fn rows<'b>(&'b self, k: usize, indices: &[usize], mut rows: Vec<&'b mut [u64]>) -> Vec<&'b [u64]> {
        let is_there = |index: usize| self.unchanged && self.groups[k].row_of(index).is_some();
        let all = indices.iter().copied().zip(rows.iter_mut().map(|row| &mut **row));
        self.write_rows(k, all.filter(|&(index, _)| !is_there(index)));
        let there = |(&index, row): (&usize, &'b mut [u64])| if is_there(index) { self.x.row_of(index) } else { &*row };
        indices.iter().zip(rows).map(there).collect()
    }

    /// Writes rows of digit `k`: outside its group a conversion and a forward transform, inside it x
    /// itself.
    fn write_rows<'b>(&self, k: usize, rows: impl Iterator<Item = PrimeRow<'b>>) {
        let (ring, group) = (self.x.ring(), &self.groups[k]);
        let (own, mut others): (Vec<_>, Vec<_>) = rows.partition(|&(index, _)| group.row_of(index).is_some());
        for (index, row) in own {
            let source = self.x.basis().row_of(index).expect("a prime of the basis");
            rows::mul_scalar(ring.isa(), ring.modulus(index), row, self.x.row(source), self.inverses[source]);
        }
        let weighed: Vec<&[u64]> = group.indices().map(|source| self.weighed.row_of(source)).collect();
        self.converters[k].convert_centred_rows(&weighed, &mut others);
        others.into_iter().for_each(|(index, row)| ring.plan(index).forward(row));
    }

    /// The digits, to be used more than once. Cost: for each digit one forward transform for each
    /// prime outside its group.
    pub fn digits(&self) -> Vec<Poly<Eval>> {
        let ring = self.x.ring();
        let mut digits: Vec<_> = (0..self.len()).map(|_| Poly::<Coeff>::unspecified(ring, &self.larger)).collect();
        let buffers = digits.iter_mut().map(Poly::rows_mut).collect();
        ring.for_each_block(buffers, self.together(), |first, mut blocks| {
            for k in 0..self.len() {
                let rows = blocks.iter_mut().enumerate();
                self.write_rows(k, rows.map(|(i, digits)| (self.larger.index(first + i), &mut *digits[k])));
            }
        });
        digits.into_iter().map(Poly::assume_eval).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_balanced_and_cover_every_prime_once() {
        for primes in 1..=20 {
            for digits in 1..=primes {
                let gadget = Gadget::balanced(primes, digits);
                let sizes: Vec<usize> = gadget.groups().iter().map(Basis::len).collect();
                let all: Vec<usize> = gadget.groups().iter().flat_map(Basis::indices).collect();
                assert_eq!(all, (0..primes).collect::<Vec<_>>(), "{primes} primes, {digits} digits");
                assert_eq!(sizes.len(), digits);
                assert!(sizes[0] - sizes[digits - 1] <= 1, "{sizes:?}");
                assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}: the larger ones first");
            }
        }
    }
}
