//! The multiplicative depth of a computation, from its steps, so that parameters can be chosen for
//! it.
//!
//! Circuits report their depth ([`PolynomialPlan::depth`] and others), and depths of successive
//! steps add. This module adds two rules. First, exact schemes count products with matrices
//! separately ([`ParamSpec::linear_maps`]); in CKKS each one is a rescaling. Second, a folded
//! matrix or a sum leaves values in the slots beside the entries. These may have to be cleared
//! before a polynomial, which costs one more rescaling ([`Polynomial::masks_in_passing`]).

use crate::circuits::complex::Polynomial;
use crate::circuits::{
    Comparison, ComplexSlots, LinearPlan, MatrixPlan, PolynomialPlan, Power, SlotFunction, TracePlan,
};
use crate::error::Result;
use crate::params::ParamSpec;
use crate::schemes::ckks::CkksSpec;

use super::context::Context;
use super::family::{Approximate, Exact, Family};

/// The depth of successive steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Depth {
    products: usize,
    linear_maps: usize,
    /// Whether slots beside the entries may hold other values.
    littered: bool,
}

impl Depth {
    /// The depth of these steps, in order.
    pub fn of<F: Family>(steps: &[&dyn Step<F>]) -> Self {
        let mut depth = Self::default();
        steps.iter().for_each(|step| step.add_to(&mut depth));
        depth
    }

    /// Products of ciphertexts in sequence ([`ParamSpec::depth`]); for CKKS, rescalings.
    pub fn products(&self) -> usize {
        self.products
    }

    /// Products with matrices in sequence, for exact schemes ([`ParamSpec::linear_maps`]).
    pub fn linear_maps(&self) -> usize {
        self.linear_maps
    }

    /// Adds this number of products; `littered` says whether other values remain beside the
    /// entries.
    fn add(&mut self, products: usize, littered: bool) {
        self.products = self.products.saturating_add(products);
        self.littered = littered;
    }
}

/// One step of a computation, on contexts of a family.
///
/// A step is a number of products (`usize`), a circuit, or a matrix (`Vec<Vec<T>>`, or
/// [`AnyMatrix`] for any size).
pub trait Step<F: Family> {
    /// Adds the depth of this step.
    fn add_to(&self, depth: &mut Depth);
}

/// Products of ciphertexts in sequence. For CKKS, products with vectors and with numbers that are
/// not integers count as well.
impl<F: Family> Step<F> for usize {
    fn add_to(&self, depth: &mut Depth) {
        depth.add(*self, depth.littered);
    }
}

/// A dense matrix of any size. A matrix with few rows is folded and leaves parts of sums in the
/// slots beside the entries.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnyMatrix;

impl Step<Exact> for AnyMatrix {
    fn add_to(&self, depth: &mut Depth) {
        depth.linear_maps += 1;
        depth.add(0, true);
    }
}

impl Step<Approximate> for AnyMatrix {
    fn add_to(&self, depth: &mut Depth) {
        depth.add(1, true);
    }
}

impl<F: Family, T> Step<F> for Vec<Vec<T>>
where
    AnyMatrix: Step<F>,
{
    fn add_to(&self, depth: &mut Depth) {
        <AnyMatrix as Step<F>>::add_to(&AnyMatrix, depth);
    }
}

impl Step<Exact> for LinearPlan {
    fn add_to(&self, depth: &mut Depth) {
        depth.linear_maps += 1;
        depth.add(0, false);
    }
}

impl Step<Approximate> for LinearPlan<ComplexSlots> {
    fn add_to(&self, depth: &mut Depth) {
        depth.add(self.depth(), false);
    }
}

impl Step<Exact> for MatrixPlan {
    fn add_to(&self, depth: &mut Depth) {
        depth.linear_maps += 1;
        depth.add(0, self.is_folded());
    }
}

impl Step<Approximate> for MatrixPlan<ComplexSlots> {
    fn add_to(&self, depth: &mut Depth) {
        depth.add(self.depth(), self.is_folded());
    }
}

impl Step<Approximate> for Polynomial {
    fn add_to(&self, depth: &mut Depth) {
        let clears = depth.littered && !self.masks_in_passing();
        depth.add(self.depth() + usize::from(clears), false);
    }
}

/// A sum has depth 0 and leaves other sums in the slots beside the entries.
impl<F: Family> Step<F> for TracePlan {
    fn add_to(&self, depth: &mut Depth) {
        depth.add(0, true);
    }
}

/// Circuits of exact schemes that report their depth.
macro_rules! of_circuits {
    ($($circuit:ty),*) => {
        $(impl Step<Exact> for $circuit {
            fn add_to(&self, depth: &mut Depth) {
                depth.add(self.depth(), false);
            }
        })*
    };
}

of_circuits!(PolynomialPlan, SlotFunction, Power, Comparison);

impl Context {
    /// The smallest parameter set for successive steps. `spec` gives everything else; its `depth`
    /// and `linear_maps` are ignored. See [`Self::plan`].
    ///
    /// ```
    /// use windlass::circuits::PolynomialPlan;
    /// use windlass::{Context, ParamSpec};
    ///
    /// let (layer, square) = (vec![vec![1i64; 100]; 2], PolynomialPlan::new(&[0, 0, 1]));
    /// let context = Context::plan_for(&ParamSpec { slots: 100, ..ParamSpec::default() }, &[&layer, &square])?;
    /// assert!(context.params().depth() >= 1);
    /// # Ok::<(), windlass::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::plan`].
    pub fn plan_for(spec: &ParamSpec, steps: &[&dyn Step<Exact>]) -> Result<Self> {
        let (depth, number) = (Depth::of(steps), |count: usize| u32::try_from(count).unwrap_or(u32::MAX));
        let (products, linear_maps) = (number(depth.products), number(depth.linear_maps));
        Self::plan(&ParamSpec { depth: products, linear_maps, ..spec.clone() })
    }
}

impl Context<Approximate> {
    /// The smallest context for real and complex numbers (CKKS) with 128 bits of security for
    /// successive steps. Scale, values and slots are as in [`CkksSpec::secure`].
    ///
    /// ```
    /// use windlass::Context;
    /// use windlass::circuits::{MatrixPlan, MatrixSpec, Polynomial};
    ///
    /// let (weights, sigmoid) = (vec![vec![0.01; 100]], Polynomial::sigmoid(8.0, 7)?);
    /// let context = Context::approximate_for(&[&weights, &sigmoid], 40, 16, 100)?;
    /// assert_eq!(context.ckks().spec().depth, 1 + sigmoid.depth());
    /// # Ok::<(), windlass::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CkksSpec::secure`].
    pub fn approximate_for(
        steps: &[&dyn Step<Approximate>],
        scale_bits: u32,
        value_bits: u32,
        slots: usize,
    ) -> Result<Self> {
        Self::approximate(&CkksSpec::secure(Depth::of(steps).products, scale_bits, value_bits, slots)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values beside the entries are cleared where no interval does it, and only once.
    #[test]
    fn depths_add_and_what_is_left_beside_entries_is_cleared() {
        let (moved, powers) = (Polynomial::sigmoid(8.0, 7).unwrap(), Polynomial::monomial(&[0.0, 1.0, 1.0]).unwrap());
        let depth = |steps: &[&dyn Step<Approximate>]| Depth::of(steps).products();
        assert_eq!(depth(&[]), 0);
        assert_eq!(depth(&[&AnyMatrix, &moved]), 1 + moved.depth());
        assert_eq!(depth(&[&AnyMatrix, &powers]), 2 + powers.depth());
        assert_eq!(depth(&[&AnyMatrix, &3usize, &powers, &powers]), 5 + 2 * powers.depth());
        assert_eq!(depth(&[&powers, &AnyMatrix]), 1 + powers.depth());
        assert_eq!(depth(&[&usize::MAX, &powers]), usize::MAX);
        let square = PolynomialPlan::new(&[0, 0, 1]);
        let exact = Depth::of::<Exact>(&[&AnyMatrix, &square, &vec![vec![1]; 2], &2usize]);
        assert_eq!((exact.products(), exact.linear_maps()), (3, 2));
    }
}
