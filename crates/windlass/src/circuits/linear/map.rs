//! Linear maps as elements of the twisted group ring.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::RingError;
use windlass_ring::slots::SlotRing;

use crate::error::Result;
use crate::plaintext::Plaintext;

/// A Z_{p^r}-linear map on the plaintext ring: `α ↦ Σ_t κ_t · θ_t(α)` with `κ_t ∈ R/(p^r)` and `θ_t : X ↦ X^t`.
///
/// Every Z_{p^r}-linear map on `R/(p^r)` has exactly one such form (when p does not divide m), so this one type holds
/// one-dimensional, block and full matrices, rotations, masks and traces alike. Zero terms are never stored.
#[derive(Clone, Debug)]
pub struct LinearMap {
    slots: Arc<SlotRing>,
    terms: BTreeMap<u64, Plaintext>,
}

impl LinearMap {
    /// The map that sends everything to 0.
    pub fn zero(slots: &Arc<SlotRing>) -> Self {
        Self { slots: Arc::clone(slots), terms: BTreeMap::new() }
    }

    /// The map that changes nothing.
    pub fn identity(slots: &Arc<SlotRing>) -> Self {
        Self::diagonal(&Plaintext::one(slots))
    }

    /// `α ↦ κ · α`: a mask, or a diagonal matrix.
    pub fn diagonal(constant: &Plaintext) -> Self {
        let mut map = Self::zero(constant.slots());
        map.insert(1, constant.clone());
        map
    }

    /// `θ_t` itself. Errors: [`crate::Error::Ring`] if `t` is no unit modulo m.
    pub fn automorphism(slots: &Arc<SlotRing>, t: u64) -> Result<Self> {
        Self::from_terms(slots, [(t, Plaintext::one(slots))])
    }

    /// `Σ κ_t·θ_t` from its terms; terms with the same `t` (modulo m) are added.
    ///
    /// Errors: a `t` that is no unit modulo m, or a constant of another ring.
    pub fn from_terms(slots: &Arc<SlotRing>, terms: impl IntoIterator<Item = (u64, Plaintext)>) -> Result<Self> {
        let mut map = Self::zero(slots);
        for (t, constant) in terms {
            constant.check_ring(slots, "LinearMap::from_terms")?;
            let t = t % slots.m();
            if super::axes::greatest_common_divisor(t, slots.m()) != 1 {
                return Err(RingError::NotAnAutomorphism { element: t, m: slots.m() }.into());
            }
            map.accumulate(t, constant);
        }
        Ok(map)
    }

    /// The plaintext ring.
    pub fn slots(&self) -> &Arc<SlotRing> {
        &self.slots
    }

    /// The automorphisms with a non-zero constant, increasing.
    pub fn support(&self) -> Vec<u64> {
        self.terms.keys().copied().collect()
    }

    /// The constant of `θ_t`, if it is not zero.
    pub fn constant(&self, t: u64) -> Option<&Plaintext> {
        self.terms.get(&t)
    }

    /// The terms `(t, κ_t)`, by increasing `t`.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = (u64, &Plaintext)> {
        self.terms.iter().map(|(&t, constant)| (t, constant))
    }

    /// The sum of two maps. Errors: [`crate::Error::ContextMismatch`].
    pub fn add(&self, other: &Self) -> Result<Self> {
        self.check_ring(other, "LinearMap::add")?;
        let mut sum = self.clone();
        for (t, constant) in other.terms() {
            sum.accumulate(t, constant.clone());
        }
        Ok(sum)
    }

    /// `κ` times this map.
    pub fn multiplied_by(&self, constant: &Plaintext) -> Result<Self> {
        Self::diagonal(constant).compose(self)
    }

    /// `self ∘ first`: the product `(κ·θ_a)(κ'·θ_b) = κ·θ_a(κ')·θ_{ab}` of the twisted group ring.
    ///
    /// Cost: one ring product for each pair of terms. Errors: [`crate::Error::ContextMismatch`].
    pub fn compose(&self, first: &Self) -> Result<Self> {
        self.check_ring(first, "LinearMap::compose")?;
        let m = self.slots.m();
        let mut map = Self::zero(&self.slots);
        for (a, outer) in self.terms() {
            let products: Vec<(u64, Plaintext)> = first
                .terms
                .par_iter()
                .map(|(&b, inner)| Ok((a * b % m, outer.multiply(&inner.automorphism(a)?)?)))
                .collect::<Result<_>>()?;
            products.into_iter().for_each(|(t, constant)| map.accumulate(t, constant));
        }
        Ok(map)
    }

    /// The image of a plaintext: the definition, term by term.
    pub fn apply(&self, plaintext: &Plaintext) -> Result<Plaintext> {
        plaintext.check_ring(&self.slots, "LinearMap::apply")?;
        let images: Vec<Plaintext> = self
            .terms
            .par_iter()
            .map(|(&t, constant)| constant.multiply(&plaintext.automorphism(t)?))
            .collect::<Result<_>>()?;
        images.iter().try_fold(Plaintext::zero(&self.slots), |sum, image| sum.add(image))
    }

    fn check_ring(&self, other: &Self, operation: &'static str) -> Result<()> {
        crate::plaintext::check_same_ring(&self.slots, &other.slots, operation)
    }

    fn insert(&mut self, t: u64, constant: Plaintext) {
        if !constant.is_zero() {
            self.terms.insert(t, constant);
        }
    }

    /// Adds `constant·θ_t`; the ring has been checked.
    pub(super) fn accumulate(&mut self, t: u64, constant: Plaintext) {
        let sum = match self.terms.remove(&t) {
            Some(present) => present.add(&constant).expect("both are elements of this map's ring"),
            None => constant,
        };
        self.insert(t, sum);
    }
}
