//! Exact constants by their slots: where sparse maps are built and merged without ring products.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::plaintext::{Plaintext, check_same_ring};

use super::linear_map::LinearMap;
use super::representation::Representation;

/// Constants by their slots, `[ℓ][d]` residues modulo `p^r`.
///
/// A product of two maps costs one product in E for each slot and pair of terms, less where slots
/// are zero or integers.
#[derive(Debug, Clone)]
pub struct InSlots(pub Arc<SlotRing>);

impl InSlots {
    /// For each slot j the `(j', k)` with `u_j·t = u_{j'}·p^{−k}`: slot j of `θ_t(a)` is `σ^{d−k}`
    /// of slot j' of a.
    fn sources(&self, t: u64) -> Result<Vec<(usize, usize)>> {
        let t = self.element(t)?;
        let cube = self.0.hypercube();
        let inverse = arith::inv_mod(t, self.0.m()).expect("units have inverses");
        let source = |slot| cube.locate(cube.element(slot) * inverse % self.0.m()).expect("units have a place");
        Ok((0..self.0.slots()).map(source).collect())
    }

    /// `outer · θ_t(a)`, given where the slots of `θ_t(a)` come from.
    fn twisted_product(&self, outer: &[u64], sources: &[(usize, usize)], a: &[u64]) -> Vec<u64> {
        let (d, galois, modulus) = (self.0.degree(), self.0.galois(), self.0.modulus());
        let zero = |slot: &[u64]| slot.iter().all(|&c| c == 0);
        let mut product = vec![0u64; outer.len()];
        for (row, &(column, k)) in sources.iter().enumerate() {
            let (x, y) = (&outer[row * d..(row + 1) * d], &a[column * d..(column + 1) * d]);
            if zero(x) || zero(y) {
                continue;
            }
            let place = &mut product[row * d..(row + 1) * d];
            match (zero(&x[1..]), zero(&y[1..])) {
                (true, true) => place[0] = modulus.mul(x[0], y[0]),
                (false, true) => place.iter_mut().zip(x).for_each(|(out, &c)| *out = modulus.mul(c, y[0])),
                _ => place.copy_from_slice(&galois.mul(x, &galois.frobenius(y, (d - k) % d))),
            }
        }
        product
    }
}

impl Representation for InSlots {
    type Constant = Vec<u64>;

    fn conductor(&self) -> u64 {
        self.0.m()
    }

    fn check_same(&self, other: &Self, operation: &'static str) -> Result<()> {
        check_same_ring(&self.0, &other.0, operation)
    }

    fn check(&self, constant: &Vec<u64>, _: &'static str) -> Result<()> {
        let (expected, most) = (self.0.slots() * self.0.degree(), self.0.modulus().value() - 1);
        if constant.len() != expected {
            return Err(Error::ShapeMismatch { what: "slot coefficients", expected, got: constant.len() });
        }
        Ok(Limits::at_most(most).check("a residue", constant.iter().copied().max().unwrap_or(0))?)
    }

    fn zero(&self) -> Vec<u64> {
        vec![0; self.0.slots() * self.0.degree()]
    }

    fn one(&self) -> Vec<u64> {
        let mut one = self.zero();
        one.iter_mut().step_by(self.0.degree()).for_each(|x| *x = 1);
        one
    }

    fn is_zero(&self, constant: &Vec<u64>) -> bool {
        constant.iter().all(|&x| x == 0)
    }

    fn add_assign(&self, a: &mut Vec<u64>, b: &Vec<u64>) -> Result<()> {
        let modulus = self.0.modulus();
        a.iter_mut().zip(b).for_each(|(x, &y)| *x = modulus.add(*x, y));
        Ok(())
    }

    fn multiply(&self, a: &Vec<u64>, b: &Vec<u64>) -> Result<Vec<u64>> {
        Ok(self.twisted_product(a, &self.sources(1)?, b))
    }

    fn automorphism(&self, a: &Vec<u64>, t: u64) -> Result<Vec<u64>> {
        self.0.check_slots()?;
        Ok(self.twisted_product(&self.one(), &self.sources(t)?, a))
    }

    fn twisted_products(&self, outer: &Vec<u64>, t: u64, inner: &[&Vec<u64>]) -> Result<Vec<Vec<u64>>> {
        self.0.check_slots()?;
        let sources = self.sources(t)?;
        Ok(inner.par_iter().map(|a| self.twisted_product(outer, &sources, a)).collect())
    }
}

impl LinearMap<InSlots> {
    /// The map with the given entries: `entries(row, put)` calls `put(column, f, value)` for
    /// `value·σ^f` at (row, column).
    ///
    /// Slot j of θ_t(α) is `α(ζ^{u_j·t})`, u_j the exponent of slot j: so an entry at (row j,
    /// column j', Frobenius power f) belongs in slot j of the constant of `t = u_{j'}·p^f/u_j`.
    #[doc(hidden)]
    pub fn from_rows(slot_ring: &Arc<SlotRing>, entries: impl Fn(usize, &mut dyn FnMut(usize, usize, &[u64]))) -> Self {
        let (m, d) = (slot_ring.m(), slot_ring.degree());
        let (cube, modulus) = (slot_ring.hypercube(), slot_ring.modulus());
        let exponents: Vec<u64> = (0..slot_ring.slots()).map(|j| cube.evaluation_exponent(j)).collect();
        let frobenius: Vec<u64> =
            std::iter::successors(Some(1 % m), |&t| Some(t * (cube.prime() % m) % m)).take(d).collect();
        let mut terms: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for row in 0..slot_ring.slots() {
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
        Self::from_terms(&InSlots(Arc::clone(slot_ring)), terms).expect("slots of residues, and units")
    }

    /// The E-linear map with this matrix: `entry(row, column)` gives the coefficients of an element
    /// of E, taken modulo p^r; zeros follow if there are fewer than d, so that none are 0.
    ///
    /// Cost: a constant of all slots for each automorphism; of sparse matrices few.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for more than d coefficients; [`Error::Ring`] for a ring without slots.
    pub fn from_matrix(slot_ring: &Arc<SlotRing>, entry: impl Fn(usize, usize) -> Vec<u64>) -> Result<Self> {
        slot_ring.check_slots()?;
        let (count, d, modulus) = (slot_ring.slots(), slot_ring.degree(), slot_ring.modulus());
        let mut rows: Vec<Vec<(usize, Vec<u64>)>> = Vec::with_capacity(count);
        for row in 0..count {
            let mut filled = Vec::new();
            for column in 0..count {
                let mut value = entry(row, column);
                if value.len() > d {
                    return Err(Error::ShapeMismatch { what: "coefficients (at most)", expected: d, got: value.len() });
                }
                value.iter_mut().for_each(|x| *x = modulus.reduce(*x));
                if value.iter().any(|&x| x != 0) {
                    filled.push((column, value));
                }
            }
            rows.push(filled);
        }
        Ok(Self::from_rows(slot_ring, |row, put| rows[row].iter().for_each(|(column, value)| put(*column, 0, value))))
    }

    /// The same map with encoded constants.
    ///
    /// # Errors
    /// What encoding reports.
    pub fn to_linear_map(&self) -> Result<LinearMap> {
        let slots = &self.representation().0;
        let (automorphisms, values): (Vec<u64>, Vec<&[u64]>) =
            self.terms().map(|(t, values)| (t, values.as_slice())).unzip();
        let encoded = automorphisms.into_iter().zip(Plaintext::public_from_slots(slots, &values)?);
        LinearMap::from_terms(slots, encoded)
    }
}
