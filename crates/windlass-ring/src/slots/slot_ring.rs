//! R/(p^r) ≅ E^ℓ: encoding and decoding of slots.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use windlass_kernels::{Isa, Shape};

use super::division::Divisor;
use super::factor::{lift_factor, recurrence};
use super::galois::{GaloisRing, dual_numerator};
use super::hypercube::Hypercube;
use super::prime_power::PrimePower;
use super::quotient::{QuotientRing, check_canonical};
use super::radix2::RadixTwo;
use super::tree::FactorTree;
use crate::error::RingError;

/// R/(p^r) with its ℓ slots in one Galois ring E = GR(p^r; d), indexed by a [`Hypercube`].
///
/// Slot i of α is `α(ζ^{1/t(i)})`, in the basis 1, ζ, .., ζ^{d−1} of E. Immutable: share it in an
/// `Arc`.
///
/// If p divides m there are no slots: see [`SlotRing::of_coefficients`].
pub struct SlotRing {
    quotient: QuotientRing,
    /// None if p divides m.
    galois: Option<GaloisRing>,
    hypercube: Arc<Hypercube>,
    /// The exponents 1/t(i) mod m.
    points: Vec<u64>,
    method: Method,
    /// The rings modulo p, .., p^{r−1}, made when they are first asked for.
    lower: Vec<OnceLock<Arc<SlotRing>>>,
}

/// How elements and slots are converted into each other.
#[derive(Debug)]
enum Method {
    /// Remainders modulo the factors of Φ_m and interpolation: any m.
    Tree(FactorTree),
    /// m a power of two and p ≡ 1 mod 4.
    RadixTwo(RadixTwo),
    /// The one slot is the element itself: p divides m.
    Whole,
}

impl fmt::Debug for SlotRing {
    /// What it is, not what it holds: tables would fill pages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modulus = self.modulus();
        write!(f, "SlotRing(m = {}, {}^{}, ", self.m(), modulus.prime(), modulus.exponent())?;
        write!(f, "{} slots of degree {})", self.slots(), self.degree())
    }
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
    pub fn with_hypercube(hypercube: impl Into<Arc<Hypercube>>, r: u32, isa: Isa) -> Result<Self, RingError> {
        let hypercube = hypercube.into();
        let quotient = QuotientRing::new(hypercube.m(), hypercube.prime(), r, isa)?;
        let galois = GaloisRing::new(hypercube.m(), quotient.modulus(), hypercube.slot_degree())?;
        Self::from_rings(hypercube, quotient, galois)
    }

    /// R/(2^r) for a power of two m, whose elements are known by their coefficients.
    ///
    /// Modulo 2 the polynomial X^n + 1 is (X + 1)^n, so the ring does not come apart into slots. It is
    /// one slot of degree n here, with ζ = X: the slot is the element itself.
    ///
    /// # Errors
    /// [`RingError::Kernel`] for an unsupported m; [`RingError::BadPrimePower`] for r = 0 or r ≥ 45;
    /// [`RingError::NotAPowerOfTwo`].
    pub fn of_coefficients(m: u64, r: u32, isa: Isa) -> Result<Self, RingError> {
        let hypercube = Arc::new(Hypercube::of_one_slot(m)?);
        let quotient = QuotientRing::of_coefficients(m, r, isa)?;
        Ok(Self::whole(hypercube, quotient))
    }

    fn whole(hypercube: Arc<Hypercube>, quotient: QuotientRing) -> Self {
        let lower = (1..quotient.modulus().exponent()).map(|_| OnceLock::new()).collect();
        Self { quotient, galois: None, hypercube, points: vec![1], method: Method::Whole, lower }
    }

    /// Whether the ring comes apart into slots over a Galois ring: p does not divide m.
    pub fn has_slots(&self) -> bool {
        self.galois.is_some()
    }

    /// Refuses a ring without slots.
    ///
    /// # Errors
    /// [`RingError::NoSlots`].
    pub fn check_slots(&self) -> Result<(), RingError> {
        if self.has_slots() { Ok(()) } else { Err(RingError::NoSlots { m: self.m() }) }
    }

    /// The same ring, hypercube and roots modulo p^exponent: slots of this one reduce to, or lift
    /// to, slots of that one.
    ///
    /// # Errors
    /// [`RingError::BadPrimePower`].
    pub fn with_exponent(&self, exponent: u32, isa: Isa) -> Result<Self, RingError> {
        let Some(galois) = &self.galois else {
            return Self::of_coefficients(self.m(), exponent, isa);
        };
        let quotient = QuotientRing::new(self.hypercube.m(), self.hypercube.prime(), exponent, isa)?;
        Self::from_rings(Arc::clone(&self.hypercube), quotient, galois.with_exponent(exponent)?)
    }

    /// This ring modulo p^exponent, 1 ≤ exponent ≤ r, the same object for every caller:
    /// [`Self::with_exponent`] once.
    ///
    /// # Errors
    /// [`RingError::BadPrimePower`] for another exponent.
    pub fn lower(self: &Arc<Self>, exponent: u32) -> Result<Arc<Self>, RingError> {
        if exponent == self.modulus().exponent() {
            return Ok(Arc::clone(self));
        }
        const REASON: &str = "the exponent is 0, or above that of the ring";
        let Some(place) = self.lower.get((exponent as usize).wrapping_sub(1)) else {
            return Err(RingError::BadPrimePower { prime: self.prime(), exponent, reason: REASON });
        };
        if let Some(ring) = place.get() {
            return Ok(Arc::clone(ring));
        }
        let ring = Arc::new(self.with_exponent(exponent, self.quotient.isa())?);
        Ok(Arc::clone(place.get_or_init(|| ring)))
    }

    fn from_rings(hypercube: Arc<Hypercube>, quotient: QuotientRing, galois: GaloisRing) -> Result<Self, RingError> {
        let (m, degree) = (hypercube.m(), hypercube.slot_degree());
        let points: Vec<u64> = (0..hypercube.slots()).map(|slot| hypercube.evaluation_exponent(slot)).collect();
        let method = if m.is_power_of_two() && hypercube.prime() % 4 == 1 {
            let zeta = quotient.modulus().neg(galois.defining_polynomial()[0]);
            Method::RadixTwo(RadixTwo::new(quotient.modulus(), m, degree, zeta, &points))
        } else {
            let factors = points.par_iter().map(|&h| factor(&quotient, &galois, h)).collect::<Result<_, _>>()?;
            Method::Tree(FactorTree::new(quotient.convolver(), factors))
        };
        let lower = (1..quotient.modulus().exponent()).map(|_| OnceLock::new()).collect();
        Ok(Self { quotient, galois: Some(galois), hypercube, points, method, lower })
    }

    /// R/(p^r).
    pub fn quotient(&self) -> &QuotientRing {
        &self.quotient
    }

    /// The cyclotomic index m.
    pub fn m(&self) -> u64 {
        self.quotient.m()
    }

    /// φ(m): the number of coefficients of an element.
    pub fn n(&self) -> usize {
        self.quotient.n()
    }

    /// p.
    pub fn prime(&self) -> u64 {
        self.hypercube.prime()
    }

    /// p^r, with its arithmetic.
    pub fn modulus(&self) -> PrimePower {
        self.quotient.modulus()
    }

    /// The axes of the powerful basis.
    pub fn shape(&self) -> &Arc<Shape> {
        self.quotient.shape()
    }

    /// E. Panics in a ring without slots ([`Self::has_slots`]).
    pub fn galois(&self) -> &GaloisRing {
        self.galois.as_ref().expect("a ring modulo a power of two over a power-of-two m has no slots")
    }

    /// The hypercube.
    pub fn hypercube(&self) -> &Arc<Hypercube> {
        &self.hypercube
    }

    /// ℓ.
    pub fn slots(&self) -> usize {
        self.points.len()
    }

    /// d.
    pub fn degree(&self) -> usize {
        self.hypercube.slot_degree()
    }

    /// The factor F of Φ_m modulo p^r that belongs to a slot: `[d + 1]` coefficients from the
    /// constant term up.
    pub fn factor(&self, slot: usize) -> Vec<u64> {
        match &self.method {
            Method::Tree(tree) => tree.factors()[slot].coefficients().to_vec(),
            Method::RadixTwo(_) => {
                // x^d − ζ_0^h, ζ_0^h = ζ^{dh}.
                let root = self.galois().zeta_power(self.points[slot] * self.degree() as u64)[0];
                let mut factor = vec![0; self.degree() + 1];
                (factor[0], factor[self.degree()]) = (self.quotient.modulus().neg(root), 1);
                factor
            }
            Method::Whole => {
                // X^n + 1.
                let mut factor = vec![0; self.n() + 1];
                (factor[0], factor[self.n()]) = (1, 1);
                factor
            }
        }
    }

    /// The element with the given slots: `[ℓ][d]` coefficients, row-major.
    ///
    /// # Errors
    /// [`RingError::WrongLength`], [`RingError::NotCanonical`].
    pub fn encode(&self, slots: &[u64]) -> Result<Vec<u64>, RingError> {
        self.check(slots, self.slots() * self.degree())?;
        Ok(match &self.method {
            Method::RadixTwo(radix) => radix.encode(slots),
            Method::Whole => slots.to_vec(),
            Method::Tree(tree) => {
                self.interpolate(tree, |slot| self.galois().traces_against(self.row(slots, slot), self.points[slot]))
            }
        })
    }

    /// The element with the given integers in its slots: `[ℓ]`.
    ///
    /// # Errors
    /// [`RingError::WrongLength`], [`RingError::NotCanonical`].
    pub fn encode_integers(&self, slots: &[u64]) -> Result<Vec<u64>, RingError> {
        self.check(slots, self.slots())?;
        let (m, degree, modulus) = (self.quotient.m(), self.degree(), self.quotient.modulus());
        Ok(match &self.method {
            Method::RadixTwo(radix) if degree == 1 => radix.encode(slots),
            Method::RadixTwo(radix) => {
                let mut padded = vec![0; slots.len() * degree];
                padded.iter_mut().step_by(degree).zip(slots).for_each(|(x, &slot)| *x = slot);
                radix.encode(&padded)
            }
            Method::Whole => self.quotient.constant(slots[0]),
            Method::Tree(tree) => self.interpolate(tree, |slot| {
                let (h, traces) = (self.points[slot], self.galois().trace_table());
                (0..degree as u64).map(|k| modulus.mul(slots[slot], traces[(h * k % m) as usize])).collect()
            }),
        })
    }

    /// From Tr(v·ζ^{hk}), k < d, of each slot value v: Lagrange interpolation in the dual bases
    /// (only Φ_m' is divided by).
    fn interpolate(&self, tree: &FactorTree, traces: impl Fn(usize) -> Vec<u64> + Sync) -> Vec<u64> {
        let convolver = self.quotient.convolver();
        let numerator =
            |(slot, factor): (usize, &Divisor)| dual_numerator(convolver, &traces(slot), factor.coefficients());
        let numerators = tree.factors().par_iter().enumerate().map(numerator).collect();
        self.quotient.divide_by_different(tree.combine(convolver, numerators))
    }

    /// The slots of an element: `[ℓ][d]` coefficients, row-major.
    ///
    /// # Errors
    /// [`RingError::WrongLength`], [`RingError::NotCanonical`].
    pub fn decode(&self, a: &[u64]) -> Result<Vec<u64>, RingError> {
        self.quotient.check(a)?;
        Ok(match &self.method {
            Method::RadixTwo(radix) => radix.decode(a),
            Method::Whole => a.to_vec(),
            Method::Tree(tree) => {
                let rests = tree.remainders(self.quotient.convolver(), &self.quotient.to_power_basis(a));
                let slot = |(rest, &h): (&Vec<u64>, &u64)| self.galois().substitute(rest, h);
                rests.par_iter().zip(&self.points).flat_map_iter(slot).collect()
            }
        })
    }

    /// The slots of an element whose slots are integers modulo p^r: `[ℓ]`.
    ///
    /// # Errors
    /// As [`SlotRing::decode`]; [`RingError::NotAnInteger`] when a slot is not in Z_{p^r}.
    pub fn decode_integers(&self, a: &[u64]) -> Result<Vec<u64>, RingError> {
        self.quotient.check(a)?;
        let integer = |slot: usize, value: &[u64]| match value[1..].iter().rposition(|&x| x != 0) {
            None => Ok(value[0]),
            Some(index) => Err(RingError::NotAnInteger { slot, degree: index + 1 }),
        };
        match &self.method {
            Method::RadixTwo(radix) => radix
                .decode(a)
                .chunks_exact(self.degree())
                .enumerate()
                .map(|(slot, value)| integer(slot, value))
                .collect(),
            Method::Whole => Ok(vec![integer(0, a)?]),
            Method::Tree(tree) => {
                let rests = tree.remainders(self.quotient.convolver(), &self.quotient.to_power_basis(a));
                // A residue modulo F_h is an integer exactly when the slot is: no change of basis
                // is needed then.
                let entry = |(slot, rest): (usize, &Vec<u64>)| {
                    integer(slot, rest).or_else(|_| integer(slot, &self.galois().substitute(rest, self.points[slot])))
                };
                rests.iter().enumerate().map(entry).collect()
            }
        }
    }

    /// The element that is 1 in the chosen slots and 0 in the others.
    pub fn mask(&self, chosen: impl Fn(usize) -> bool) -> Vec<u64> {
        let slots: Vec<u64> = (0..self.slots()).map(|slot| chosen(slot) as u64).collect();
        self.encode_integers(&slots).expect("zeros and ones, one for each slot")
    }

    /// `a^{-1}` in R/(p^r), slot by slot.
    ///
    /// # Errors
    /// [`RingError::NotInvertible`] when a slot is divisible by p; as [`SlotRing::decode`].
    pub fn inverse(&self, a: &[u64]) -> Result<Vec<u64>, RingError> {
        let Some(galois) = &self.galois else {
            self.quotient.check(a)?;
            return self.quotient.inverse_of_local(a);
        };
        let slots = self.decode(a)?;
        let rows: Vec<&[u64]> = slots.chunks_exact(self.degree()).collect();
        let inverses: Vec<Vec<u64>> =
            rows.par_iter().map(|row| galois.inverse(row)).collect::<Result<_, RingError>>()?;
        self.encode(&inverses.concat())
    }

    fn row<'a>(&self, slots: &'a [u64], slot: usize) -> &'a [u64] {
        &slots[slot * self.degree()..(slot + 1) * self.degree()]
    }

    /// Whether encoding goes through a tree of remainders, not a transform modulo p^r.
    pub(super) fn has_tree(&self) -> bool {
        matches!(self.method, Method::Tree(_))
    }

    pub(super) fn check(&self, values: &[u64], expected: usize) -> Result<(), RingError> {
        if values.len() != expected {
            return Err(RingError::WrongLength { expected, found: values.len() });
        }
        check_canonical(self.quotient.modulus(), values)
    }
}

/// The minimal polynomial of ζ^h: the shortest recurrence of the traces of its powers modulo p,
/// lifted.
fn factor(quotient: &QuotientRing, galois: &GaloisRing, h: u64) -> Result<Divisor, RingError> {
    let (m, field) = (quotient.m(), quotient.modulus().with_exponent(1)?);
    let trace = |u: u64| field.reduce(galois.trace_table()[(h * u % m) as usize]);
    let sequence: Vec<u64> = (0..2 * galois.degree() as u64).map(trace).collect();
    let factor = lift_factor(quotient.convolver(), m, &recurrence(field, &sequence));
    Ok(Divisor::new(quotient.convolver(), factor))
}
