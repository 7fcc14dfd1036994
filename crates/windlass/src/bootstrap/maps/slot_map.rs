//! The twisted group ring in slot coordinates: where sparse stages are built and merged without ring products.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;

use crate::circuits::LinearMap;
use crate::error::Result;
use crate::plaintext::Plaintext;

/// `Σ_t κ_t·θ_t` with every κ_t given by its slots, `[ℓ][d]`.
///
/// Slot j of θ_t(α) is `α(ζ^{u_j·t})`, u_j the exponent of slot j: so an entry at (row j, column j', Frobenius power f) belongs in slot j
/// of the constant of `t = u_{j'}·p^f/u_j`. A product of two maps costs one product in E for each slot and pair of terms.
#[derive(Debug, Clone)]
pub(crate) struct SlotMap {
    slots: Arc<SlotRing>,
    terms: BTreeMap<u64, Vec<u64>>,
}

impl SlotMap {
    /// The map with the given entries: `entries(row, put)` calls `put(column, f, value)` for `value·σ^f` at (row, column).
    pub fn from_rows(slots: &Arc<SlotRing>, entries: impl Fn(usize, &mut dyn FnMut(usize, usize, &[u64]))) -> Self {
        let (m, d) = (slots.m(), slots.degree());
        let (cube, modulus) = (slots.hypercube(), slots.modulus());
        let exponents: Vec<u64> = (0..slots.slots()).map(|j| cube.evaluation_exponent(j)).collect();
        let frobenius: Vec<u64> =
            std::iter::successors(Some(1 % m), |&t| Some(t * (cube.prime() % m) % m)).take(d).collect();
        let mut terms: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for row in 0..slots.slots() {
            let back = cube.element(row);
            entries(row, &mut |column, f, value| {
                if value.iter().any(|&x| x != 0) {
                    let t = exponents[column] * frobenius[f] % m * back % m;
                    let constant = terms.entry(t).or_insert_with(|| vec![0; exponents.len() * d]);
                    let place = &mut constant[row * d..(row + 1) * d];
                    place.iter_mut().zip(value).for_each(|(x, &y)| *x = modulus.add(*x, y));
                }
            });
        }
        Self { slots: Arc::clone(slots), terms }
    }

    /// Its automorphisms.
    pub fn support(&self) -> BTreeSet<u64> {
        self.terms.keys().copied().collect()
    }

    /// Equal to `self` on elements that σ^step fixes in every slot; and before a trace that sums over all σ^{step·j}, where σ^step fixes the constants.
    ///
    /// Either way θ_t may become θ_{t·p^step}: terms of one class of `fixed` are added up.
    pub fn modulo(&self, fixed: &Fixed) -> Self {
        let modulus = self.slots.modulus();
        let mut terms: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (&t, values) in &self.terms {
            let constant = terms.entry(fixed.representative(t)).or_insert_with(|| vec![0; values.len()]);
            constant.iter_mut().zip(values).for_each(|(x, &y)| *x = modulus.add(*x, y));
        }
        Self { slots: Arc::clone(&self.slots), terms }
    }

    /// `self ∘ first`.
    pub fn compose(&self, first: &Self) -> Self {
        let (m, d) = (self.slots.m(), self.slots.degree());
        let (cube, galois, modulus) = (self.slots.hypercube(), self.slots.galois(), self.slots.modulus());
        let products: Vec<Vec<(u64, Vec<u64>)>> = self
            .terms
            .par_iter()
            .map(|(&a, outer)| {
                let inverse = arith::inv_mod(a, m).expect("the support consists of units");
                // u_row·a = u_column·p^{−k}.
                let sources: Vec<(usize, usize)> = (0..self.slots.slots())
                    .map(|row| cube.locate(cube.element(row) * inverse % m).expect("units have a place"))
                    .collect();
                let times = |inner: &[u64]| {
                    let mut product = vec![0u64; outer.len()];
                    for (row, &(column, k)) in sources.iter().enumerate() {
                        let (x, y) = (&outer[row * d..(row + 1) * d], &inner[column * d..(column + 1) * d]);
                        let place = &mut product[row * d..(row + 1) * d];
                        match (x[1..].iter().all(|&c| c == 0), y[1..].iter().all(|&c| c == 0)) {
                            _ if y.iter().all(|&c| c == 0) || x.iter().all(|&c| c == 0) => {}
                            (true, true) => place[0] = modulus.mul(x[0], y[0]),
                            (false, true) => {
                                place.iter_mut().zip(x).for_each(|(out, &c)| *out = modulus.mul(c, y[0]));
                            }
                            _ => place.copy_from_slice(&galois.mul(x, &galois.frobenius(y, (d - k) % d))),
                        }
                    }
                    product
                };
                first.terms.iter().map(|(&b, inner)| (a * b % m, times(inner))).collect()
            })
            .collect();
        let mut terms: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (t, values) in products.into_iter().flatten() {
            match terms.entry(t) {
                std::collections::btree_map::Entry::Vacant(place) => drop(place.insert(values)),
                std::collections::btree_map::Entry::Occupied(mut place) => {
                    place.get_mut().iter_mut().zip(values).for_each(|(x, y)| *x = modulus.add(*x, y));
                }
            }
        }
        terms.retain(|_, values| values.iter().any(|&x| x != 0));
        Self { slots: Arc::clone(&self.slots), terms }
    }

    /// The same map with encoded constants.
    pub fn to_linear_map(&self) -> Result<LinearMap> {
        let terms: Vec<(u64, Plaintext)> = self
            .terms
            .par_iter()
            .map(|(&t, values)| Ok((t, Plaintext::from_slots(&self.slots, values)?)))
            .collect::<Result<_>>()?;
        LinearMap::from_terms(&self.slots, terms)
    }
}

/// The automorphisms of a power-of-two ring up to powers of σ^step, each class with one representative: `±5^i·σ^f` with i nearest to 0 and f < step.
#[derive(Debug, Clone)]
pub(crate) struct Fixed {
    slots: Arc<SlotRing>,
    step: usize,
}

impl Fixed {
    /// For a ring over [`super::evaluation_hypercube`], m a power of two, and a divisor of d.
    pub fn new(slots: &Arc<SlotRing>, step: usize) -> Self {
        Self { slots: Arc::clone(slots), step }
    }

    /// The representative of t.
    pub fn representative(&self, t: u64) -> u64 {
        let (cube, m) = (self.slots.hypercube(), self.slots.m());
        let inverse = |x| arith::inv_mod(x, m).expect("automorphisms are units");
        let (slot, _) = cube.locate(t).expect("units have a place");
        let mut base = cube.element(slot);
        for (dimension, coordinate) in cube.dimensions().iter().zip(cube.coordinates(slot)) {
            if dimension.generator == 5 && 2 * coordinate > dimension.size {
                base = base * inverse(arith::pow_mod(5, dimension.size as u64, m)) % m;
            }
        }
        let powers = std::iter::successors(Some(base), |&x| Some(x * (cube.prime() % m) % m)).take(self.step);
        let same = |x: &u64| cube.locate(t * inverse(*x) % m).is_some_and(|(_, k)| k % self.step == 0);
        powers.into_iter().find(same).expect("one of the powers below step is in the class")
    }
}
