//! Galois automorphisms θ_t: X ↦ X^t on transformed rows: a permutation of positions.
//!
//! On an odd axis θ_t is a cyclic shift, so an innermost odd axis gives long runs of consecutive
//! positions. On the axis of 2, in bit-reversed order, an aligned group of eight positions comes
//! from an aligned group of eight: one load, one permutation of lanes, one store.

use std::collections::HashMap;

use crate::arith;
use crate::isa::Isa;
use crate::lanes::{Kernel, LANES, Lanes, dispatch};
use crate::modulus::Modulus;
use crate::ntt::Shape;
use crate::rows;

/// The permutation of transformed rows that θ_t induces: `out[i] = in[source(i)]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automorphism {
    element: u64,
    n: usize,
    moves: Moves,
}

/// The permutation in the form that is fastest for it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Moves {
    /// Group g of eight positions comes from group `source`, its lanes in the order
    /// `patterns[pattern]`.
    Groups { groups: Vec<(u32, u32)>, patterns: Vec<[u64; LANES]>, u32_patterns: Vec<[u32; LANES]> },
    /// Consecutive positions that come from consecutive positions: (start, source, length),
    /// covering all positions in order.
    Runs(Vec<(u32, u32, u32)>),
}

impl Automorphism {
    /// The permutation of θ_t; `None` when gcd(t, m) > 1.
    pub fn new(shape: &Shape, element: u64) -> Option<Self> {
        shape.position(element)?;
        let source: Vec<u32> = shape
            .exponents()
            .iter()
            .map(|&e| {
                let image = arith::mul_mod(e as u64, element, shape.m());
                shape.position(image).expect("units are closed under multiplication") as u32
            })
            .collect();
        let moves = groups(&source).unwrap_or_else(|| Moves::Runs(runs(&source)));
        Some(Self { element: element % shape.m(), n: source.len(), moves })
    }

    /// The group element t.
    pub fn element(&self) -> u64 {
        self.element
    }

    /// For each group of eight positions the group that it comes from and the pattern of its lanes,
    /// and the patterns; none where the permutation has not that form.
    pub(crate) fn groups_of_eight(&self) -> Option<(&[(u32, u32)], &[[u32; LANES]])> {
        match &self.moves {
            Moves::Groups { groups, u32_patterns, .. } => Some((groups, u32_patterns)),
            Moves::Runs(_) => None,
        }
    }

    /// `out = θ_t(x)` on one transformed row.
    pub fn apply(&self, isa: Isa, out: &mut [u64], x: &[u64]) {
        assert!(out.len() == self.n && x.len() == self.n, "rows of the ring's dimension");
        match &self.moves {
            // Lanes are moved, not computed with: any modulus will do.
            Moves::Groups { groups, patterns, .. } => {
                let any = Modulus::new(3).expect("3 is an odd prime");
                dispatch(isa, any, Gather { out, x, groups, patterns, accumulate: false });
            }
            Moves::Runs(runs) => runs.iter().for_each(|&run| {
                let (to, from) = spans(run);
                out[to].copy_from_slice(&x[from]);
            }),
        }
    }

    /// `acc += θ_t(x)` on one transformed row.
    pub fn add_assign(&self, isa: Isa, q: Modulus, acc: &mut [u64], x: &[u64]) {
        assert!(acc.len() == self.n && x.len() == self.n, "rows of the ring's dimension");
        match &self.moves {
            Moves::Groups { groups, patterns, .. } => {
                dispatch(isa, q, Gather { out: acc, x, groups, patterns, accumulate: true });
            }
            Moves::Runs(runs) => runs.iter().for_each(|&run| {
                let (to, from) = spans(run);
                rows::add_assign(isa, q, &mut acc[to], &x[from]);
            }),
        }
    }
}

fn spans((start, source, length): (u32, u32, u32)) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let [start, source, length] = [start, source, length].map(|x| x as usize);
    (start..start + length, source..source + length)
}

/// The permutation by groups of eight, if it has that form.
fn groups(source: &[u32]) -> Option<Moves> {
    let (whole, rest) = source.as_chunks::<LANES>();
    if !rest.is_empty() {
        return None;
    }
    let mut patterns = Vec::new();
    let mut known: HashMap<[u64; LANES], u32> = HashMap::new();
    let mut groups = Vec::with_capacity(whole.len());
    for block in whole {
        let group = block[0] / LANES as u32;
        if block.iter().any(|&position| position / LANES as u32 != group) {
            return None;
        }
        let pattern = block.map(|position| (position % LANES as u32) as u64);
        let index = *known.entry(pattern).or_insert_with(|| {
            patterns.push(pattern);
            patterns.len() as u32 - 1
        });
        groups.push((group, index));
    }
    let u32_patterns = patterns.iter().map(|pattern| pattern.map(|lane| lane as u32)).collect();
    Some(Moves::Groups { groups, patterns, u32_patterns })
}

fn runs(source: &[u32]) -> Vec<(u32, u32, u32)> {
    let mut runs: Vec<(u32, u32, u32)> = Vec::new();
    for (start, &from) in source.iter().enumerate() {
        match runs.last_mut() {
            Some((_, first, length)) if *first + *length == from => *length += 1,
            _ => runs.push((start as u32, from, 1)),
        }
    }
    runs
}

struct Gather<'a> {
    out: &'a mut [u64],
    x: &'a [u64],
    groups: &'a [(u32, u32)],
    patterns: &'a [[u64; LANES]],
    accumulate: bool,
}

impl Kernel for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (out, _) = self.out.as_chunks_mut::<LANES>();
        let (x, _) = self.x.as_chunks::<LANES>();
        for (out, &(group, pattern)) in out.iter_mut().zip(self.groups) {
            let (words, pattern) = (&x[group as usize], &self.patterns[pattern as usize]);
            if self.accumulate {
                let moved = l.permute(l.load(words), pattern);
                let sum = l.add(l.load(out), moved);
                l.store(out, sum);
            } else {
                l.permute_words(out, words, pattern);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modulus::find_primes;

    #[test]
    fn every_form_is_the_permutation_of_exponents() {
        for m in [15u64, 16, 64, 1024, 45, 60, 105, 136, 23 * 31, 5 * 17, 3 * 64] {
            let shape = Shape::new(m).unwrap();
            let q = find_primes(shape.root_order(), 40, 1, &[]).unwrap()[0];
            let x: Vec<u64> = (0..shape.n() as u64).map(|j| q.value() - 1 - j * j % 1000).collect();
            let acc: Vec<u64> = (0..shape.n() as u64).map(|j| q.value() - 1 - 3 * j).collect();
            for t in (1..m).filter(|&t| arith::gcd(t, m) == 1) {
                let theta = Automorphism::new(&shape, t).unwrap();
                let expected: Vec<u64> = shape
                    .exponents()
                    .iter()
                    .map(|&e| x[shape.position(arith::mul_mod(e as u64, t, m)).unwrap()])
                    .collect();
                for isa in Isa::available() {
                    let mut out = vec![0; shape.n()];
                    theta.apply(isa, &mut out, &x);
                    assert_eq!(out, expected, "m = {m}, t = {t}, {}", isa.name());
                    let mut sum = acc.clone();
                    theta.add_assign(isa, q, &mut sum, &x);
                    let right: Vec<u64> = acc.iter().zip(&expected).map(|(&a, &b)| q.add(a, b)).collect();
                    assert_eq!(sum, right, "m = {m}, t = {t}, {}", isa.name());
                }
            }
            assert_eq!(Automorphism::new(&shape, m), None);
        }
    }

    #[test]
    fn the_fast_forms_are_met() {
        let form = |m: u64, t: u64| Automorphism::new(&Shape::new(m).unwrap(), t).unwrap().moves;
        assert!(matches!(form(1 << 12, 5), Moves::Groups { .. }));
        let Moves::Runs(runs) = form(15709, 2) else { panic!("an odd ring has runs") };
        assert!(runs.len() <= 2 * 22, "{} runs", runs.len());
    }
}
