//! Evaluators, and the constants that each can multiply with.

use std::borrow::Cow;
use std::sync::Arc;

use num_complex::Complex64;
use rayon::prelude::*;
use windlass_ring::slots::SlotRing;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::plaintext::{Plaintext, check_same_ring};
use windlass_schemes::schemes::ckks;
use windlass_schemes::switching::Switching;

use crate::linear::map::{ComplexSlots, LinearGrid, Plannable};

/// An evaluator that multiplies by constants of a representation.
///
/// Every exact evaluator does so for plaintexts of its slot ring, the CKKS engine for vectors of
/// complex slots.
pub trait Prepares<R: Plannable>: Switching {
    /// # Errors
    /// [`Error::ContextMismatch`] for constants of another ring or context.
    fn check_constants(&self, representation: &R, operation: &'static str) -> Result<()>;

    /// The level for constants that must fit any ciphertext.
    fn any_level(&self) -> usize;

    /// The level to prepare constants for that meet this ciphertext.
    fn level_for(&self, ciphertext: &Self::Ciphertext) -> Result<usize>;

    /// The ciphertext as it can meet constants that were prepared for a level.
    ///
    /// # Errors
    /// One of another shape, or below them.
    fn at_level<'a>(
        &self,
        representation: &R,
        ciphertext: &'a Self::Ciphertext,
        level: usize,
    ) -> Result<Cow<'a, Self::Ciphertext>>;

    /// A ciphertext whose values are known to be within the bound on those of `like`. Where a scheme
    /// keeps no bound on values, nothing changes.
    fn bounded_as(&self, ciphertext: Self::Ciphertext, _like: &Self::Ciphertext) -> Self::Ciphertext {
        ciphertext
    }

    /// Prepares `count` constants for a level, in parallel, and in memory in this order;
    /// `constant(k)` gives number k.
    fn prepare_constants(
        &self,
        count: usize,
        level: usize,
        constant: &(dyn Fn(usize) -> Result<R::Constant> + Sync),
    ) -> Result<Vec<Self::Constant>>;

    /// The most bytes that one constant takes when it is prepared for a level.
    fn bytes_of_constant(&self, level: usize) -> usize;

    /// Bytes that this constant takes.
    fn held_bytes(&self, constant: &Self::Constant) -> usize;

    /// Whether constants may take less than [`Prepares::bytes_of_constant`].
    fn keeps_periodic_values(&self) -> bool {
        false
    }

    /// Norms of the outputs of a grid as operators, if this evaluator bounds values by norms (CKKS).
    /// Bounds added diagonal by diagonal would be larger.
    fn norms(&self, _: &LinearGrid<R>) -> Option<MapNorms> {
        None
    }

    /// The inputs for the products of a map with known norms. CKKS removes their errors here;
    /// [`Self::leave`] adds the error of the whole map.
    fn enter(&self, _: &MapNorms, inputs: &[&Self::Ciphertext]) -> Vec<Self::Ciphertext> {
        inputs.iter().map(|&input| input.clone()).collect()
    }

    /// Output number `row`, with the bound and the error that the norms give.
    ///
    /// # Errors
    /// [`Error::ModulusExhausted`] if the values no longer fit.
    fn leave(
        &self,
        _: &MapNorms,
        _row: usize,
        _inputs: &[&Self::Ciphertext],
        output: Self::Ciphertext,
    ) -> Result<Self::Ciphertext> {
        Ok(output)
    }

    /// The output of a matrix that has `rows` rows in it: the slots beside them hold 0 or, for a
    /// folded matrix, parts of sums, which are bounded by the norms of the matrix.
    fn with_rows(&self, output: Self::Ciphertext, _rows: usize, _folded: Option<Folded<'_, Self>>) -> Self::Ciphertext {
        output
    }
}

/// What a folded matrix multiplies.
pub struct Folded<'a, E: Switching + ?Sized> {
    /// The largest sum of absolute values of a row, and a bound on the spectral norm.
    pub norms: (f64, f64),
    /// The number of entries of a vector.
    pub columns: usize,
    /// The number of slots.
    pub slots: usize,
    /// Its ciphertexts.
    pub inputs: &'a [E::Ciphertext],
}

/// What is known of a map beside its constants: for each output, as an operator on all inputs.
#[derive(Debug, Clone)]
pub struct MapNorms(Vec<ckks::Operator>);

impl<E: Evaluator> Prepares<Arc<SlotRing>> for E {
    fn check_constants(&self, slot_ring: &Arc<SlotRing>, operation: &'static str) -> Result<()> {
        check_same_ring(slot_ring, self.slot_ring(), operation)
    }

    fn any_level(&self) -> usize {
        self.top_level()
    }

    fn level_for(&self, _: &E::Ciphertext) -> Result<usize> {
        Ok(self.top_level())
    }

    fn at_level<'a>(
        &self,
        _: &Arc<SlotRing>,
        ciphertext: &'a E::Ciphertext,
        _: usize,
    ) -> Result<Cow<'a, E::Ciphertext>> {
        Ok(Cow::Borrowed(ciphertext))
    }

    fn prepare_constants(
        &self,
        count: usize,
        level: usize,
        constant: &(dyn Fn(usize) -> Result<Plaintext> + Sync),
    ) -> Result<Vec<E::Constant>> {
        self.prepare_many(count, level, constant)
    }

    fn bytes_of_constant(&self, level: usize) -> usize {
        self.constant_bytes(level)
    }

    fn held_bytes(&self, constant: &E::Constant) -> usize {
        Evaluator::held_bytes(self, constant)
    }

    fn keeps_periodic_values(&self) -> bool {
        Evaluator::keeps_periodic_values(self)
    }
}

impl Prepares<ComplexSlots> for ckks::Engine {
    fn check_constants(&self, slots: &ComplexSlots, operation: &'static str) -> Result<()> {
        if Arc::ptr_eq(self.context(), slots.context()) || self.context().spec() == slots.context().spec() {
            return Ok(());
        }
        let id = |context: &ckks::CkksContext| context.rlwe().params().id().to_string();
        Err(Error::ContextMismatch { operation, left: id(self.context()), right: id(slots.context()) })
    }

    fn any_level(&self) -> usize {
        self.context().top_level()
    }

    /// The level of the ciphertext after rescaling.
    fn level_for(&self, ciphertext: &ckks::Ciphertext) -> Result<usize> {
        self.rescaled_level(ciphertext)
    }

    /// One above the level is lowered.
    fn at_level<'a>(
        &self,
        slots: &ComplexSlots,
        ciphertext: &'a ckks::Ciphertext,
        level: usize,
    ) -> Result<Cow<'a, ckks::Ciphertext>> {
        if !slots.count().is_multiple_of(ciphertext.slots()) {
            let (expected, got) = (slots.count(), ciphertext.slots());
            return Err(Error::ShapeMismatch { what: "slots of the ciphertext", expected, got });
        }
        self.lowered(ciphertext, level)
    }

    fn bounded_as(&self, ciphertext: ckks::Ciphertext, like: &ckks::Ciphertext) -> ckks::Ciphertext {
        ciphertext.with_magnitude(like.magnitude())
    }

    fn prepare_constants(
        &self,
        count: usize,
        level: usize,
        constant: &(dyn Fn(usize) -> Result<Vec<Complex64>> + Sync),
    ) -> Result<Vec<ckks::Constant>> {
        (0..count).into_par_iter().map(|k| self.prepare(&constant(k)?, level)).collect()
    }

    fn bytes_of_constant(&self, level: usize) -> usize {
        let rlwe = self.context().rlwe();
        8 * (level.min(rlwe.top_level()) + rlwe.special().len()) * rlwe.params().n()
    }

    fn held_bytes(&self, constant: &ckks::Constant) -> usize {
        constant.values().bytes()
    }

    fn keeps_periodic_values(&self) -> bool {
        true
    }

    fn norms(&self, grid: &LinearGrid<ComplexSlots>) -> Option<MapNorms> {
        Some(MapNorms(grid.operators()))
    }

    fn enter(&self, norms: &MapNorms, inputs: &[&ckks::Ciphertext]) -> Vec<ckks::Ciphertext> {
        // One bound for the sums of all outputs.
        let largest = norms.0.iter().max_by(|a, b| a.absolute.total_cmp(&b.absolute));
        largest.map_or_else(Vec::new, |operator| operator.enter(inputs))
    }

    fn leave(
        &self,
        norms: &MapNorms,
        row: usize,
        inputs: &[&ckks::Ciphertext],
        output: ckks::Ciphertext,
    ) -> Result<ckks::Ciphertext> {
        ckks::Engine::leave(self, &norms.0[row], inputs, output)
    }

    fn with_rows(&self, output: ckks::Ciphertext, rows: usize, folded: Option<Folded<'_, Self>>) -> ckks::Ciphertext {
        let Some(Folded { norms: (row_sum, spectral), columns, slots, inputs }) = folded else {
            return output.with_zeros_beside(rows);
        };
        let known =
            |(block, x): (usize, &ckks::Ciphertext)| x.magnitude_below((columns - block * slots).min(slots), slots);
        let join = |(largest, norm): (f64, f64), (one, other): (f64, f64)| (largest.max(one), norm.hypot(other));
        let (largest, norm) = inputs.iter().enumerate().map(known).fold((0.0, 0.0), join);
        output.with_entries(rows).with_magnitude(row_sum * largest).with_norm(spectral * norm)
    }
}
