//! R/(p^r) ≅ E^ℓ: encoding and decoding of slots.

use rayon::prelude::*;
use windlass_kernels::Isa;

use super::division::Divisor;
use super::factor::{lift_factor, recurrence};
use super::galois::{GaloisRing, dual_numerator};
use super::hypercube::Hypercube;
use super::quotient::{QuotientRing, check_canonical};
use super::tree::FactorTree;
use crate::error::RingError;

/// R/(p^r) with its ℓ slots in one Galois ring E = GR(p^r; d), indexed by a [`Hypercube`].
///
/// Slot i of α is `α(ζ^{1/t(i)})`, in the basis 1, ζ, .., ζ^{d−1} of E. Immutable: share it in an `Arc`.
#[derive(Debug)]
pub struct SlotRing {
    quotient: QuotientRing,
    galois: GaloisRing,
    hypercube: Hypercube,
    /// The exponents 1/t(i) mod m.
    points: Vec<u64>,
    tree: FactorTree,
}

impl SlotRing {
    /// With automatically chosen hypercube generators.
    ///
    /// # Errors
    /// Those of [`QuotientRing::new`].
    pub fn new(m: u64, p: u64, r: u32, isa: Isa) -> Result<Self, RingError> {
        Self::with_hypercube(Hypercube::automatic(m, p)?, r, isa)
    }

    /// With a given hypercube.
    ///
    /// # Errors
    /// Those of [`QuotientRing::new`].
    pub fn with_hypercube(hypercube: Hypercube, r: u32, isa: Isa) -> Result<Self, RingError> {
        let (m, degree) = (hypercube.m(), hypercube.slot_degree());
        let quotient = QuotientRing::new(m, hypercube.prime(), r, isa)?;
        let galois = GaloisRing::new(m, quotient.modulus(), degree)?;
        let points: Vec<u64> = (0..hypercube.slots()).map(|slot| hypercube.evaluation_exponent(slot)).collect();
        let field = quotient.modulus().with_exponent(1)?;
        let traces: Vec<u64> = galois.trace_table().iter().map(|&x| field.reduce(x)).collect();
        let factor = |&h: &u64| {
            let sequence: Vec<u64> = (0..2 * degree as u64).map(|u| traces[(h * u % m) as usize]).collect();
            let factor = lift_factor(quotient.convolver(), m, &recurrence(field, &sequence));
            Divisor::new(quotient.convolver(), factor)
        };
        let factors = points.par_iter().map(factor).collect();
        let tree = FactorTree::new(quotient.convolver(), factors);
        Ok(Self { quotient, galois, hypercube, points, tree })
    }

    /// R/(p^r).
    pub fn quotient(&self) -> &QuotientRing {
        &self.quotient
    }

    /// E.
    pub fn galois(&self) -> &GaloisRing {
        &self.galois
    }

    /// The hypercube.
    pub fn hypercube(&self) -> &Hypercube {
        &self.hypercube
    }

    /// ℓ.
    pub fn slots(&self) -> usize {
        self.points.len()
    }

    /// d.
    pub fn degree(&self) -> usize {
        self.galois.degree()
    }

    /// The factor F of Φ_m modulo p^r that belongs to a slot: `[d + 1]` coefficients from the constant term up.
    pub fn factor(&self, slot: usize) -> &[u64] {
        self.tree.factors()[slot].coefficients()
    }

    /// The element with the given slots: `[ℓ][d]` coefficients, row-major.
    ///
    /// # Errors
    /// [`RingError::WrongLength`], [`RingError::NotCanonical`].
    pub fn encode(&self, slots: &[u64]) -> Result<Vec<u64>, RingError> {
        self.check(slots, self.slots() * self.degree())?;
        Ok(self.encode_with(|slot| self.galois.traces_against(self.row(slots, slot), self.points[slot])))
    }

    /// The element with the given integers in its slots: `[ℓ]`.
    ///
    /// # Errors
    /// [`RingError::WrongLength`], [`RingError::NotCanonical`].
    pub fn encode_integers(&self, slots: &[u64]) -> Result<Vec<u64>, RingError> {
        self.check(slots, self.slots())?;
        let m = self.quotient.m();
        let (modulus, traces) = (self.quotient.modulus(), self.galois.trace_table());
        Ok(self.encode_with(|slot| {
            let h = self.points[slot];
            (0..self.degree() as u64).map(|k| modulus.mul(slots[slot], traces[(h * k % m) as usize])).collect()
        }))
    }

    /// From Tr(v·ζ^{hk}), k < d, of each slot value v: Lagrange interpolation in the dual bases (only Φ_m' is divided by).
    fn encode_with(&self, traces: impl Fn(usize) -> Vec<u64> + Sync) -> Vec<u64> {
        let convolver = self.quotient.convolver();
        let numerator = |slot| dual_numerator(convolver, &traces(slot), self.factor(slot));
        let numerators = (0..self.slots()).into_par_iter().map(numerator).collect();
        self.quotient.divide_by_different(self.tree.combine(convolver, numerators))
    }

    /// The slots of an element: `[ℓ][d]` coefficients, row-major.
    ///
    /// # Errors
    /// [`RingError::WrongLength`], [`RingError::NotCanonical`].
    pub fn decode(&self, a: &[u64]) -> Result<Vec<u64>, RingError> {
        self.quotient.check(a)?;
        let rests = self.tree.remainders(self.quotient.convolver(), &self.quotient.to_power_basis(a));
        let slot = |(rest, &h): (&Vec<u64>, &u64)| self.galois.substitute(rest, h);
        Ok(rests.par_iter().zip(&self.points).flat_map_iter(slot).collect())
    }

    /// The slots of an element whose slots are integers modulo p^r: `[ℓ]`.
    ///
    /// # Errors
    /// As [`SlotRing::decode`]; [`RingError::NotAnInteger`] when a slot is not in Z_{p^r}.
    pub fn decode_integers(&self, a: &[u64]) -> Result<Vec<u64>, RingError> {
        self.quotient.check(a)?;
        // A residue modulo F_h is an integer exactly when the slot is: no change of basis is needed.
        let rests = self.tree.remainders(self.quotient.convolver(), &self.quotient.to_power_basis(a));
        let integer = |(slot, rest): (usize, &Vec<u64>)| {
            let value = match rest.iter().skip(1).any(|&x| x != 0) {
                true => self.galois.substitute(rest, self.points[slot]),
                false => return Ok(rest[0]),
            };
            let degree = value.iter().rposition(|&x| x != 0).unwrap_or(0);
            Err(RingError::NotAnInteger { slot, degree })
        };
        rests.iter().enumerate().map(integer).collect()
    }

    /// The element that is 1 in the chosen slots and 0 in the others.
    pub fn mask(&self, chosen: impl Fn(usize) -> bool) -> Vec<u64> {
        let slots: Vec<u64> = (0..self.slots()).map(|slot| chosen(slot) as u64).collect();
        self.encode_integers(&slots).expect("zeros and ones, one for each slot")
    }

    /// The element with the same constant of E in every slot.
    ///
    /// # Errors
    /// [`RingError::WrongLength`], [`RingError::NotCanonical`].
    pub fn embed_constant(&self, constant: &[u64]) -> Result<Vec<u64>, RingError> {
        self.check(constant, self.degree())?;
        self.encode(&constant.repeat(self.slots()))
    }

    /// `a^{-1}` in R/(p^r), slot by slot.
    ///
    /// # Errors
    /// [`RingError::NotInvertible`] when a slot is divisible by p; as [`SlotRing::decode`].
    pub fn inverse(&self, a: &[u64]) -> Result<Vec<u64>, RingError> {
        let slots = self.decode(a)?;
        let rows: Vec<&[u64]> = slots.chunks_exact(self.degree()).collect();
        let inverses: Vec<Vec<u64>> =
            rows.par_iter().map(|row| self.galois.inverse(row)).collect::<Result<_, RingError>>()?;
        self.encode(&inverses.concat())
    }

    fn row<'a>(&self, slots: &'a [u64], slot: usize) -> &'a [u64] {
        &slots[slot * self.degree()..(slot + 1) * self.degree()]
    }

    fn check(&self, values: &[u64], expected: usize) -> Result<(), RingError> {
        if values.len() != expected {
            return Err(RingError::WrongLength { expected, found: values.len() });
        }
        check_canonical(self.quotient.modulus(), values)
    }
}
