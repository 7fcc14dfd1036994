//! What the stages of a run share: the layout with its inputs, and the prepared constants.

use windlass_schemes::error::Result;
use windlass_schemes::switching::Switching;

use super::prepare::{PreparedSum, TermConstant};
use crate::linear::plan::{HoistMode, PlanLayout, Schedule};

/// A layout at work with one evaluator.
pub(super) struct LayoutRun<'a, E: Switching> {
    pub layout: &'a PlanLayout,
    pub schedule: &'a Schedule,
    pub evaluator: &'a E,
    pub inputs: &'a [&'a E::Ciphertext],
    pub mode: HoistMode,
}

/// Constants in the order of their numbers.
type Expand<'a, C> = dyn Fn(&[usize]) -> Result<Vec<C>> + Sync + 'a;

/// The sums of products that a run takes, with their constants.
pub(super) struct Products<'a, C> {
    pub sums: &'a [PreparedSum],
    pub ready: &'a [C],
    /// Prepares constants that are held as coefficients, by their numbers.
    pub expand: &'a Expand<'a, C>,
}

impl<C> Products<'_, C> {
    /// `factor · ciphertext` in base `Q`.
    pub fn multiply<E: Switching<Constant = C>>(
        &self,
        evaluator: &E,
        ciphertext: &E::Ciphertext,
        factor: TermConstant,
    ) -> Result<E::Ciphertext> {
        match factor {
            TermConstant::One => Ok(ciphertext.clone()),
            TermConstant::Ready(number) => evaluator.multiply_constant(ciphertext, &self.ready[number]),
            TermConstant::Packed(number) => evaluator.multiply_constant(ciphertext, &(self.expand)(&[number])?[0]),
        }
    }
}

impl<E: Switching> LayoutRun<'_, E> {
    /// Zeros where nothing came out.
    pub fn fill(&self, outputs: Vec<Option<E::Ciphertext>>) -> Result<Vec<E::Ciphertext>> {
        let zero = || self.evaluator.zero_like(self.inputs[0]);
        outputs.into_iter().map(|output| output.map_or_else(zero, Ok)).collect()
    }
}
