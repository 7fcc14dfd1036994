//! Constants of a plan, converted for an evaluator.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::SlotRing;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::switching::Switching;

use super::prepares::{MapNorms, Prepares};
use crate::linear::map::Plannable;
use crate::linear::plan::{ConstantForm, LinearPlan, Method, Source};

/// The constants of a plan, converted for one evaluator. Those that the map holds once are held
/// once.
pub struct PreparedPlan<E: Switching, R: Plannable = Arc<SlotRing>> {
    /// The number of the plan.
    plan: u64,
    /// What the constants are prepared for.
    pub(super) level: usize,
    /// One for each entry of `Schedule::sums`, in its order; for doubling the one constant.
    pub(super) sums: Vec<PreparedSum>,
    pub(super) ready: Vec<E::Constant>,
    pub(super) packed: Vec<R::Packed>,
    /// The bounds follow these if the evaluator knows norms.
    pub(super) norms: Option<MapNorms>,
    bytes: usize,
}

/// One sum of products.
pub(super) struct PreparedSum {
    pub row: usize,
    pub output: usize,
    pub terms: Vec<PreparedTerm>,
}

/// One product.
pub(super) struct PreparedTerm {
    pub column: usize,
    pub input: usize,
    pub constant: TermConstant,
}

/// The constant of a product.
#[derive(Debug, Clone, Copy)]
pub(super) enum TermConstant {
    /// The constant 1.
    One,
    /// The constant of this number, ready for products.
    Ready(usize),
    /// The constant of this number, to be prepared whenever it is used.
    Packed(usize),
}

impl<E: Switching, R: Plannable> PreparedPlan<E, R> {
    /// # Errors
    /// [`Error::ContextMismatch`] unless these are the constants of the plan with this number.
    #[doc(hidden)]
    pub fn check(&self, plan: u64) -> Result<()> {
        if self.plan == plan {
            return Ok(());
        }
        let (left, right) = (format!("plan {plan}"), format!("constants of plan {}", self.plan));
        Err(Error::ContextMismatch { operation: "linear map", left, right })
    }

    /// Bytes of all constants.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The constants that are ready for products, in the order of their first use: all, or the
    /// first ones.
    #[doc(hidden)]
    pub fn ready(&self) -> &[E::Constant] {
        &self.ready
    }

    /// How many constants are held.
    pub fn constants(&self) -> usize {
        self.ready.len() + self.packed.len()
    }

    /// How many of them are held as coefficients, and expanded on each use.
    pub fn expanded(&self) -> usize {
        self.packed.len()
    }

    /// The level that the constants are prepared for.
    pub fn level(&self) -> usize {
        self.level
    }
}

impl<R: Plannable> LinearPlan<R> {
    /// Converts the constants for an evaluator and ciphertexts of every level, in parallel; done
    /// once for any number of [`LinearPlan::apply`].
    ///
    /// Those in evaluation form are laid out in the order of their use. Errors:
    /// [`Error::ContextMismatch`] for an evaluator of another plaintext ring or context.
    pub fn prepare<E: Prepares<R>>(&self, evaluator: &E) -> Result<PreparedPlan<E, R>> {
        self.prepare_at(evaluator, evaluator.any_level())
    }

    /// [`LinearPlan::prepare`] for ciphertexts of levels up to `level` only. The constants are
    /// smaller accordingly. CKKS constants are for this one level, to which [`LinearPlan::apply`]
    /// lowers a ciphertext.
    ///
    /// # Errors
    /// As there, with [`Error::OutOfRange`] if there is no such level.
    pub fn prepare_at<E: Prepares<R>>(&self, evaluator: &E, level: usize) -> Result<PreparedPlan<E, R>> {
        let representation = self.grid().representation();
        evaluator.check_constants(representation, "constants of a linear map")?;
        let sources = self.sources();
        let count = self.held_ready(evaluator, (sources.len(), level))?;
        let mut ready = evaluator.prepare_constants(count, level, &|k| self.moved_constant(&sources[k]))?;
        if self.spec().constants == ConstantForm::Automatic {
            // A few constants were looked at beforehand: the others may repeat less.
            let mut left = self.spec().constant_bytes;
            let mut fits = |constant: &E::Constant| {
                let rest = left.checked_sub(evaluator.held_bytes(constant));
                rest.inspect(|&rest| left = rest).is_some()
            };
            ready.truncate(ready.iter().take_while(|constant| fits(constant)).count());
        }
        self.assembled(evaluator, level, &sources, ready)
    }

    /// How many of the constants, in the order of their use, are held ready for products, and not
    /// as coefficients.
    ///
    /// # Errors
    /// Those of constants.
    fn held_ready<E: Prepares<R>>(&self, evaluator: &E, (count, level): (usize, usize)) -> Result<usize> {
        match self.spec().constants {
            ConstantForm::Evaluation => Ok(count),
            ConstantForm::Coefficients => Ok(0),
            ConstantForm::Automatic => {
                let most = |bytes: usize| count.min(self.spec().constant_bytes / bytes.max(1));
                let whole = most(evaluator.bytes_of_constant(level));
                if whole == count || !evaluator.keeps_periodic_values() {
                    return Ok(whole);
                }
                Ok(most(self.largest_sample(evaluator, level)?))
            }
        }
    }

    /// Bytes of the largest of a few constants: values that repeat take less than
    /// [`Prepares::bytes_of_constant`].
    fn largest_sample<E: Prepares<R>>(&self, evaluator: &E, level: usize) -> Result<usize> {
        let sources = self.sources();
        let mut largest = 0;
        for number in [0, sources.len() / 2, sources.len() - 1] {
            let sample = evaluator.prepare_constants(1, level, &|_| self.moved_constant(&sources[number]))?;
            largest = largest.max(sample.iter().map(|constant| evaluator.held_bytes(constant)).sum());
        }
        Ok(largest)
    }

    /// [`LinearPlan::prepare_at`] with constants that are ready already: the first ones in the order
    /// of their use, all of them or fewer.
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    pub fn prepared_from<E: Prepares<R>>(
        &self,
        evaluator: &E,
        level: usize,
        ready: Vec<E::Constant>,
    ) -> Result<PreparedPlan<E, R>> {
        evaluator.check_constants(self.grid().representation(), "constants of a linear map")?;
        self.assembled(evaluator, level, &self.sources(), ready)
    }

    /// The constant that a product is with.
    fn moved_constant(&self, source: &Source<'_, R>) -> Result<R::Constant> {
        match source.back {
            1 => Ok(source.constant.clone()),
            back => self.grid().representation().automorphism(source.constant, back),
        }
    }

    /// Puts constants in their places; those behind the ones that are ready are packed.
    fn assembled<E: Prepares<R>>(
        &self,
        evaluator: &E,
        level: usize,
        sources: &[Source<'_, R>],
        ready: Vec<E::Constant>,
    ) -> Result<PreparedPlan<E, R>> {
        let representation = self.grid().representation();
        let pack = |source| Ok(representation.pack(self.moved_constant(source)?));
        let packed: Vec<R::Packed> = sources[ready.len()..].par_iter().map(pack).collect::<Result<_>>()?;
        let mut sums = self.sums_of_ones();
        for (number, source) in sources.iter().enumerate() {
            for &(sum, position) in &source.uses {
                sums[sum].terms[position].constant = match number.checked_sub(ready.len()) {
                    None => TermConstant::Ready(number),
                    Some(number) => TermConstant::Packed(number),
                };
            }
        }
        let packed_bytes: usize = packed.iter().map(|packed| representation.packed_bytes(packed)).sum();
        let ready_bytes: usize = ready.iter().map(|constant| evaluator.held_bytes(constant)).sum();
        let bytes = ready_bytes + packed_bytes;
        let norms = match self.method() {
            Method::Sums { .. } => evaluator.norms(self.grid()),
            Method::Doubling(_) => None,
        };
        Ok(PreparedPlan { plan: self.number(), level, sums, ready, packed, norms, bytes })
    }

    /// The sums with the constant 1 everywhere.
    fn sums_of_ones(&self) -> Vec<PreparedSum> {
        let one = |column, input| PreparedTerm { column, input, constant: TermConstant::One };
        match self.method() {
            Method::Sums { schedule, .. } => schedule
                .sums
                .iter()
                .map(|(&(row, output), terms)| PreparedSum {
                    row,
                    output,
                    terms: terms.iter().map(|t| one(t.column, t.input)).collect(),
                })
                .collect(),
            Method::Doubling(_) => vec![PreparedSum { row: 0, output: 0, terms: vec![one(0, 0)] }],
        }
    }
}
