//! Linear maps as elements of the twisted group ring.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::SlotRing;
use windlass_schemes::error::Result;
use windlass_schemes::plaintext::Plaintext;

use super::representation::Representation;

/// A linear map on the plaintexts of a scheme: `α ↦ Σ_t κ_t · θ_t(α)` with constants `κ_t` and
/// automorphisms `θ_t : X ↦ X^t`.
///
/// Every Z_{p^r}-linear map on `R/(p^r)` has exactly one such form (when p does not divide m), and
/// so has every R-linear map on complex slots; this one type holds one-dimensional, block and full
/// matrices, rotations, masks and traces alike. What the constants are written in is the type
/// parameter: a slot ring has powerful-basis coefficients, [`super::InSlots`] slots,
/// [`super::ComplexSlots`] complex vectors. Zero terms are never stored.
#[derive(Clone, Debug)]
pub struct LinearMap<R: Representation = Arc<SlotRing>> {
    representation: R,
    terms: BTreeMap<u64, R::Constant>,
}

impl<R: Representation> LinearMap<R> {
    /// The map that sends everything to 0.
    pub fn zero(representation: &R) -> Self {
        Self { representation: representation.clone(), terms: BTreeMap::new() }
    }

    /// The map that changes nothing.
    pub fn identity(representation: &R) -> Self {
        let mut map = Self::zero(representation);
        map.terms.insert(1, representation.one());
        map
    }

    /// `θ_t` itself.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::Ring`] if `t` is no unit modulo m.
    pub fn automorphism(representation: &R, t: u64) -> Result<Self> {
        Self::from_terms(representation, [(t, representation.one())])
    }

    /// `Σ κ_t·θ_t` from its terms; terms with the same `t` (modulo m) are added.
    ///
    /// # Errors
    /// A `t` that is no unit modulo m, or a constant of another ring.
    pub fn from_terms(representation: &R, terms: impl IntoIterator<Item = (u64, R::Constant)>) -> Result<Self> {
        let mut map = Self::zero(representation);
        for (t, constant) in terms {
            representation.check(&constant, "terms of a linear map")?;
            map.accumulate(representation.element(t)?, constant)?;
        }
        Ok(map)
    }

    /// What the constants are written in.
    pub fn representation(&self) -> &R {
        &self.representation
    }

    /// The automorphisms with a non-zero constant, increasing.
    pub fn support(&self) -> Vec<u64> {
        self.terms.keys().copied().collect()
    }

    /// The constant of `θ_t`, if it is not zero.
    pub fn constant(&self, t: u64) -> Option<&R::Constant> {
        self.terms.get(&t)
    }

    /// The terms `(t, κ_t)`, by increasing `t`.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = (u64, &R::Constant)> {
        self.terms.iter().map(|(&t, constant)| (t, constant))
    }

    /// The sum of two maps.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::ContextMismatch`], and what sums of constants report.
    pub fn add(&self, other: &Self) -> Result<Self> {
        self.representation.check_same(&other.representation, "sum of linear maps")?;
        let mut sum = self.clone();
        for (t, constant) in other.terms() {
            sum.accumulate(t, constant.clone())?;
        }
        Ok(sum)
    }

    /// `κ` times this map.
    ///
    /// # Errors
    /// A constant of another ring, and what products of constants report.
    pub fn multiplied_by(&self, constant: &R::Constant) -> Result<Self> {
        Self::from_terms(&self.representation, [(1, constant.clone())])?.compose(self)
    }

    /// `self ∘ first`: the product `(κ·θ_a)(κ'·θ_b) = κ·θ_a(κ')·θ_{ab}` of the twisted group ring.
    ///
    /// Cost: one product of constants for each pair of terms. Errors:
    /// [`windlass_schemes::Error::ContextMismatch`], and what sums and products of constants report.
    pub fn compose(&self, first: &Self) -> Result<Self> {
        self.representation.check_same(&first.representation, "composition of linear maps")?;
        let (representation, m) = (&self.representation, self.representation.conductor());
        let (right, inner): (Vec<u64>, Vec<&R::Constant>) = first.terms().unzip();
        let outer: Vec<(u64, &R::Constant)> = self.terms().collect();
        let mut map = Self::zero(representation);
        // As many terms at a time as there are threads: the products of all of them could be too
        // many to hold.
        for some in outer.chunks(rayon::current_num_threads()) {
            let rows = some.par_iter().map(|&(a, outer)| representation.twisted_products(outer, a, &inner));
            let rows: Vec<Vec<R::Constant>> = rows.collect::<Result<_>>()?;
            for (&(a, _), products) in some.iter().zip(rows) {
                for (&b, product) in right.iter().zip(products) {
                    map.accumulate(representation.element(a * b % m)?, product)?;
                }
            }
        }
        Ok(map)
    }

    /// The map in which `θ_{representative(t)}` stands for `θ_t`; terms that fall together are
    /// added.
    ///
    /// # Errors
    /// What sums of constants report.
    #[doc(hidden)]
    pub fn modulo(&self, representative: impl Fn(u64) -> u64) -> Result<Self> {
        let mut map = Self::zero(&self.representation);
        for (t, constant) in self.terms() {
            map.accumulate(representative(t), constant.clone())?;
        }
        Ok(map)
    }

    /// The image of a plaintext in this representation: the definition, term by term.
    ///
    /// # Errors
    /// A plaintext of another ring or length, and what sums and products report.
    pub fn apply(&self, plaintext: &R::Constant) -> Result<R::Constant> {
        self.representation.check(plaintext, "linear map of a plaintext")?;
        let terms: Vec<(u64, &R::Constant)> = self.terms().collect();
        let image = |&(t, constant): &(u64, &R::Constant)| {
            self.representation.multiply(constant, &self.representation.automorphism(plaintext, t)?)
        };
        let images: Vec<R::Constant> = terms.par_iter().map(image).collect::<Result<_>>()?;
        let mut sum = self.representation.zero();
        images.iter().try_for_each(|image| self.representation.add_assign(&mut sum, image))?;
        Ok(sum)
    }

    /// Adds `constant·θ_t`; both have been checked.
    pub(in crate::linear) fn accumulate(&mut self, t: u64, constant: R::Constant) -> Result<()> {
        let sum = match self.terms.remove(&t) {
            Some(mut present) => {
                self.representation.add_assign(&mut present, &constant)?;
                present
            }
            None => constant,
        };
        if !self.representation.is_zero(&sum) {
            self.terms.insert(t, sum);
        }
        Ok(())
    }
}

impl LinearMap {
    /// The plaintext ring.
    pub fn slot_ring(&self) -> &Arc<SlotRing> {
        &self.representation
    }

    /// [`Self::slot_ring`].
    #[deprecated(since = "0.3.0", note = "use slot_ring")]
    pub fn slots(&self) -> &Arc<SlotRing> {
        self.slot_ring()
    }

    /// `α ↦ κ · α`: a mask, or a diagonal matrix.
    pub fn diagonal(constant: &Plaintext) -> Self {
        let terms = [(1, constant.clone())];
        Self::from_terms(constant.slot_ring(), terms).expect("a constant belongs to its ring")
    }
}
