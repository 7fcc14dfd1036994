//! Inner products of vectors in slots: a product, then the sum of all slots.

use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_schemes::Integer;
use windlass_schemes::error::Result;
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::plaintext::Plaintext;

use super::linear::{LinearMap, LinearPlan, PreparedPlan};
use super::slot_function::check_integers;
use super::trace::{TraceChain, TracePlan, TraceSpec};

/// `Σ_j a_j·b_j` in every slot, for two encrypted vectors.
///
#[cfg_attr(not(doctest), doc = include_str!("examples/inner_product.md"))]
#[derive(Debug, Clone)]
pub struct InnerProduct {
    total: TracePlan,
}

impl InnerProduct {
    /// With the fastest sum of slots, by the default prices.
    ///
    /// # Errors
    /// As [`TracePlan::new`].
    pub fn new(ring: &SlotRing) -> Result<Self> {
        Self::with_spec(ring, &TraceSpec::default())
    }

    /// With a sum of slots as the specification says: fewer keys, say.
    ///
    /// # Errors
    /// As [`TracePlan::new`].
    pub fn with_spec(ring: &SlotRing, spec: &TraceSpec) -> Result<Self> {
        Ok(Self { total: plan_total(ring, spec)? })
    }

    /// The sum of all slots.
    pub fn total(&self) -> &TracePlan {
        &self.total
    }

    /// `Σ_j a_j·b_j` in every slot.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::NotIntegers`] for slots with elements where the ring has bad dimensions;
    /// errors of the evaluator.
    pub fn apply<E: Evaluator>(&self, evaluator: &E, a: &E::Ciphertext, b: &E::Ciphertext) -> Result<E::Ciphertext> {
        check_inputs(&self.total, evaluator, [a, b])?;
        let product = evaluator.multiply(a, b)?;
        evaluator.with_refreshes(&product, &|evaluator, product| self.total.apply(evaluator, product))
    }
}

/// `Σ_j w_j·x_j` in every slot, for a public vector w and an encrypted one.
#[derive(Debug, Clone)]
pub struct PublicInnerProduct {
    weights: LinearPlan,
    total: TracePlan,
}

impl PublicInnerProduct {
    /// With these integers; zeros follow if there are fewer than slots.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::ShapeMismatch`] for more integers than slots; as [`TracePlan::new`].
    pub fn new<T: Integer>(ring: &Arc<SlotRing>, weights: &[T]) -> Result<Self> {
        let weights = LinearMap::diagonal(&Plaintext::from_integers(ring, weights)?).plan()?;
        Ok(Self { weights, total: plan_total(ring, &TraceSpec::default())? })
    }

    /// The products with the vector: a map without automorphisms, which needs no keys.
    pub fn weights(&self) -> &LinearPlan {
        &self.weights
    }

    /// The sum of all slots.
    pub fn total(&self) -> &TracePlan {
        &self.total
    }

    /// `Σ_j w_j·x_j` in every slot, with what [`LinearPlan::prepare`] made of [`Self::weights`].
    ///
    /// # Errors
    /// As [`InnerProduct::apply`].
    pub fn apply<E: Evaluator>(
        &self,
        prepared: &PreparedPlan<E>,
        evaluator: &E,
        x: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        check_inputs(&self.total, evaluator, [x])?;
        self.total.apply(evaluator, &self.weights.apply(prepared, evaluator, x)?)
    }
}

/// The plan of the sum of all slots.
fn plan_total(ring: &SlotRing, spec: &TraceSpec) -> Result<TracePlan> {
    TracePlan::new(&TraceChain::total(ring)?, spec)
}

/// Refuses, before the products are made, ring elements if the sum is correct only for integers.
fn check_inputs<'a, E: Evaluator + 'a>(
    total: &TracePlan,
    evaluator: &E,
    inputs: impl IntoIterator<Item = &'a E::Ciphertext>,
) -> Result<()> {
    if total.chain().needs_integers() { check_integers("an inner product", evaluator, inputs) } else { Ok(()) }
}
