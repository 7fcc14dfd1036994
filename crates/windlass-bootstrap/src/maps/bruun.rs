//! Powers of two and p ≡ 3 mod 4: Bruun's stages, which split trinomials into trinomials with
//! coefficients in Z_{p^r} (Ma et al. 2024).
//!
//! With Z = X^d, Z^ℓ = −1. Before stage s the slots hold, for each of P = 2^s trinomials
//! `Z^{2K} − aZ^K + 1`, K = ℓ/2P, the 2K coefficients of a residue. With w = Z^{K/2}:
//! `w⁴ − aw² + 1 = (w² − cw + 1)(w² + cw + 1)`, c² = a + 2. The coefficient of Z^j starts at
//! position j with its bits reversed.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::kernels::arith;
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_schemes::error::Result;

use super::radix2::{fixed_step, positions, stage_count};
use super::slot_map::SlotMap;
use super::transform::{SlotTransform, StageSupports, Stages, supports};

/// Bruun's stages on the slots of a ring over [`super::radix2::hypercube`] with p ≡ 3 mod 4 and at
/// least two slots.
pub(crate) struct Trinomials {
    slot_ring: Arc<SlotRing>,
    /// The position of every slot, and back.
    position: Vec<usize>,
    slot_of: Vec<usize>,
}

/// A pair of trinomials with the parts A_0 + A_1·w + A_2·w² + A_3·w³ of a residue.
struct Quadruple {
    /// The slots of A_0, A_2, A_1, A_3; afterwards of the residues u_1, u_2 and, at w, v_1, v_2
    /// modulo both.
    columns: [usize; 4],
    /// Which of them a row is.
    place: usize,
    /// c of the first of the two.
    c: u64,
}

impl Trinomials {
    /// Cost: none beside tables of positions.
    pub fn new(slot_ring: &Arc<SlotRing>) -> Self {
        let position: Vec<usize> =
            positions(slot_ring, Some(0), None).into_iter().map(|(_, position)| position).collect();
        let mut slot_of = vec![0; position.len()];
        position.iter().enumerate().for_each(|(slot, &at)| slot_of[at] = slot);
        Self { slot_ring: Arc::clone(slot_ring), position, slot_of }
    }

    /// The number of stages over Z_{p^r}: log2 ℓ − 1.
    pub fn count(&self) -> usize {
        self.slot_of.len().trailing_zeros() as usize - 1
    }

    /// Stage s: `u = A_0 − A_2 ∓ c·A_3` and `v = A_1 ± c·A_2 + (c² − 1)·A_3`, applied from s = 0
    /// up. Diagonals P·{0, ±1, ±2, 3}.
    pub fn split(&self, s: usize) -> SlotMap {
        let (modulus, constant) = (self.slot_ring.modulus(), |x| self.slot_ring.galois().constant(x));
        SlotMap::from_rows(&self.slot_ring, |row, put| {
            let Quadruple { columns: [a0, a2, a1, a3], place, c } = self.quadruple(s, row);
            let signed = if place % 2 == 0 { c } else { modulus.neg(c) };
            if place < 2 {
                put(a0, 0, &constant(1));
                put(a2, 0, &constant(modulus.neg(1)));
                put(a3, 0, &constant(modulus.neg(signed)));
            } else {
                put(a1, 0, &constant(1));
                put(a2, 0, &constant(signed));
                put(a3, 0, &constant(modulus.sub(modulus.mul(c, c), 1)));
            }
        })
    }

    /// The inverse of stage s, applied from the last down: with x = (u_2 − u_1)/2c and y = (v_1 −
    /// v_2)/2c `A_0 = (u_1 + u_2)/2 + y`, `A_1 = (v_1 + v_2)/2 − (c² − 1)·x`, `A_2 = y`, `A_3 = x`.
    /// Diagonals P·{0, ±1, ±2, ±3}.
    pub fn join(&self, s: usize) -> SlotMap {
        let (modulus, constant) = (self.slot_ring.modulus(), |x| self.slot_ring.galois().constant(x));
        let half = modulus.inv(2).expect("p is odd");
        SlotMap::from_rows(&self.slot_ring, |row, put| {
            let Quadruple { columns: [u1, u2, v1, v2], place, c } = self.quadruple(s, row);
            let root = modulus.mul(half, modulus.inv(c).expect("the factors are coprime"));
            let product = modulus.mul(root, modulus.sub(modulus.mul(c, c), 1));
            let mut pair = |first, second, x, y| {
                put(first, 0, &constant(x));
                put(second, 0, &constant(y));
            };
            match place {
                0 => {
                    pair(u1, u2, half, half);
                    pair(v1, v2, root, modulus.neg(root));
                }
                1 => pair(v1, v2, root, modulus.neg(root)),
                2 => {
                    pair(v1, v2, half, half);
                    pair(u1, u2, product, modulus.neg(product));
                }
                _ => pair(u1, u2, modulus.neg(root), root),
            }
        })
    }

    /// What comes after all splits, for integers: U and V modulo `Z² − aZ + 1` become U + V·z in
    /// both slots where Z is z or 1/z.
    pub fn values(&self) -> SlotMap {
        let one = self.slot_ring.galois().constant(1);
        SlotMap::from_rows(&self.slot_ring, |row, put| {
            let (first, second) = self.halves(row);
            put(first, 0, &one);
            put(second, 0, &self.slot_ring.galois().zeta_power(self.exponent(row)));
        })
    }

    /// U and V, before the trace: `U = Tr_E((β_1 + β_2)·z̄/(z̄ − z))/d` and `V = Tr_E((β_1 +
    /// β_2)/(z − z̄))/d`, z̄ = 1/z, for any other elements of β.
    pub fn residues(&self) -> SlotMap {
        SlotMap::from_rows(&self.slot_ring, |row, put| {
            let (first, second) = self.halves(row);
            let constant = &self.duals(row)[usize::from(row == second)];
            put(first, 0, constant);
            put(second, 0, constant);
        })
    }

    /// As [`Self::values`] for `Σ_k u_k·ζ^k` and `Σ_k v_k·ζ^k` in the slots:
    /// `Σ_k (u_k + v_k·X^d)·X^k` at the points of both. d Frobenius powers of each.
    pub fn packed_values(&self) -> SlotMap {
        let (galois, m, d) = (self.slot_ring.galois(), self.slot_ring.m(), self.slot_ring.degree() as u64);
        let lambdas: Vec<Vec<Vec<u64>>> = (0..self.slot_of.len())
            .into_par_iter()
            .map(|slot| {
                let u = self.slot_ring.hypercube().evaluation_exponent(slot);
                galois.linearised_polynomial(&(0..d).map(|k| galois.zeta_power(u * k % m)).collect::<Vec<_>>())
            })
            .collect();
        SlotMap::from_rows(&self.slot_ring, |row, put| {
            let ((first, second), z) = (self.halves(row), galois.zeta_power(self.exponent(row)));
            for (f, value) in lambdas[row].iter().enumerate() {
                put(first, f, value);
                put(second, f, &galois.mul(value, &z));
            }
        })
    }

    /// Its inverse, into the given basis η: `U = Σ_k η_k·Tr(Σ β·X^{−k}·z̄/((z̄ − z)·d))` and V
    /// accordingly, the sum over both slots (Euler's dual basis of X^k and X^{d+k} modulo
    /// `X^{2d} − aX^d + 1`).
    pub fn packed_residues(&self, basis: &[Vec<u64>]) -> SlotMap {
        let (galois, cube, m) = (self.slot_ring.galois(), self.slot_ring.hypercube(), self.slot_ring.m());
        let powers: Vec<u64> =
            (0..self.slot_ring.degree() as u64).map(|f| arith::pow_mod(cube.prime() % m, f, m)).collect();
        // [slot][f]: Σ_k η_k·σ^f(ζ^{−uk}).
        let sums: Vec<Vec<Vec<u64>>> = (0..self.slot_of.len())
            .into_par_iter()
            .map(|slot| {
                let sum = |power: &u64| {
                    let back = m - cube.evaluation_exponent(slot) * power % m;
                    let terms = basis.iter().enumerate().map(|(k, eta)| (galois.zeta_power(back * k as u64 % m), eta));
                    terms.fold(vec![0; basis.len()], |sum, (x, eta)| galois.add(&sum, &galois.mul(&x, eta)))
                };
                powers.iter().map(sum).collect()
            })
            .collect();
        SlotMap::from_rows(&self.slot_ring, |row, put| {
            let (first, second) = self.halves(row);
            for column in [first, second] {
                let dual = &self.duals(column)[usize::from(row == second)];
                for (f, sum) in sums[column].iter().enumerate() {
                    put(column, f, &galois.mul(sum, &galois.frobenius(dual, f)));
                }
            }
        })
    }

    /// The automorphisms of [`Self::packed_values`] and [`Self::packed_residues`].
    pub fn packed_support(&self) -> BTreeSet<u64> {
        let (cube, m) = (self.slot_ring.hypercube(), self.slot_ring.m());
        let powers = (0..self.slot_ring.degree() as u64).map(|f| arith::pow_mod(cube.prime() % m, f, m));
        powers.flat_map(|power| self.values().support().into_iter().map(move |t| t * power % m)).collect()
    }

    /// u·d: the exponent of Z at a slot.
    fn exponent(&self, slot: usize) -> u64 {
        let m = self.slot_ring.m();
        self.slot_ring.hypercube().evaluation_exponent(slot) * self.slot_ring.degree() as u64 % m
    }

    /// `z̄/((z̄ − z)·d)` and `1/((z − z̄)·d)`, z the value of Z at a slot.
    fn duals(&self, slot: usize) -> [Vec<u64>; 2] {
        let (galois, m, exponent) = (self.slot_ring.galois(), self.slot_ring.m(), self.exponent(slot));
        let modulus = self.slot_ring.modulus();
        let (z, conjugate) = (galois.zeta_power(exponent), galois.zeta_power(m - exponent));
        let inverse = galois.inverse(&galois.sub(&z, &conjugate)).expect("the roots of a factor differ modulo p");
        let degree = modulus.inv(modulus.reduce(self.slot_ring.degree() as u64)).expect("d is a power of two");
        let second: Vec<u64> = inverse.iter().map(|&x| modulus.mul(x, degree)).collect();
        let first = galois.mul(&second, &conjugate).iter().map(|&x| modulus.neg(x)).collect();
        [first, second]
    }

    /// The slots of U and V of the trinomial that a slot's point is a root of.
    fn halves(&self, slot: usize) -> (usize, usize) {
        let half = self.slot_of.len() / 2;
        let at = self.position[slot] % half;
        (self.slot_of[at], self.slot_of[at + half])
    }

    fn quadruple(&self, s: usize, row: usize) -> Quadruple {
        let (groups, position) = (1usize << s, self.position[row]);
        let base = position & !(3 * groups);
        let (order, m) = (8 * groups as u64, self.slot_ring.m());
        // c = w + 1/w for w of order 8P.
        let exponent = m / order * arith::pow_mod(5, (position % groups) as u64 + 1, order);
        let galois = self.slot_ring.galois();
        let c = galois.add(&galois.zeta_power(exponent), &galois.zeta_power(m - exponent));
        debug_assert!(c[1..].iter().all(|&x| x == 0), "the conjugate of w is 1/w");
        let columns = [0, 1, 2, 3].map(|i| self.slot_of[base + i * groups]);
        Quadruple { columns, place: position / groups % 4, c: c[0] }
    }
}

/// Powers of two and p ≡ 3 mod 4: log2 ℓ − 1 stages over Z_{p^r}, six or seven diagonals each, and
/// one over its extension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bruun;

impl Bruun {
    fn splits(trinomials: &Trinomials) -> Vec<SlotMap> {
        (0..trinomials.count()).map(|s| trinomials.split(s)).collect()
    }

    fn joins(trinomials: &Trinomials) -> Vec<SlotMap> {
        (0..trinomials.count()).rev().map(|s| trinomials.join(s)).collect()
    }
}

impl SlotTransform for Bruun {
    fn name(&self) -> &'static str {
        "bruun"
    }

    fn citation(&self) -> &'static str {
        "Ma–Huang–Wang–Wang, eprint 2024/164"
    }

    fn refusal(&self, m: u64, p: u64) -> Option<&'static str> {
        let suits = m.is_power_of_two() && p % 4 == 3 && stage_count(m, p) > 0;
        (!suits).then_some("m a power of two, p = 3 modulo 4 and two slots")
    }

    fn fixed_step(&self, slot_ring: &SlotRing) -> Option<usize> {
        Some(fixed_step(slot_ring))
    }

    fn stage_count(&self, slots: &Hypercube) -> Result<usize> {
        Ok(stage_count(slots.m(), slots.prime()))
    }

    fn evaluation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        let trinomials = Trinomials::new(slot_ring);
        let values = trinomials.values();
        Ok(Stages::of(Self::splits(&trinomials).into_iter().chain([values]).collect()))
    }

    fn interpolation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        let trinomials = Trinomials::new(slot_ring);
        let residues = trinomials.residues();
        Ok(Stages::of([residues].into_iter().chain(Self::joins(&trinomials)).collect()))
    }

    fn packed_stage_count(&self, slots: &Hypercube) -> Result<usize> {
        Ok(self.stage_count(slots)? - 1)
    }

    fn packed_evaluation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        let trinomials = Trinomials::new(slot_ring);
        Ok(Stages { first: None, merged: Self::splits(&trinomials), last: Some(trinomials.packed_values()) })
    }

    fn packed_interpolation(&self, slot_ring: &Arc<SlotRing>, basis: &[Vec<u64>]) -> Result<Stages> {
        let trinomials = Trinomials::new(slot_ring);
        Ok(Stages { first: Some(trinomials.packed_residues(basis)), merged: Self::joins(&trinomials), last: None })
    }

    fn packed_supports(&self, slot_ring: &Arc<SlotRing>) -> Result<[StageSupports; 2]> {
        let trinomials = Trinomials::new(slot_ring);
        let [forth, back] = [Self::splits(&trinomials), Self::joins(&trinomials)].map(|stages| supports(&stages));
        let values = Some(trinomials.packed_support());
        Ok([
            StageSupports { first: None, merged: forth, last: values.clone() },
            StageSupports { first: values, merged: back, last: None },
        ])
    }
}
