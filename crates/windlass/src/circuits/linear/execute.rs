//! Running a plan.

use super::doubling::{Addend, Doubling};
use super::factoring::Layout;
use super::plan::{LinearPlan, Method};
use super::prepare::{Held, Packed, PreparedPlan};
use super::schedule::{Pattern, Schedule};
use super::spec::HoistMode;
use super::{narrow, wide};
use crate::error::{Error, Result};
use crate::evaluator::Evaluator;
use crate::switching::Switching;

/// A layout at work with one evaluator.
pub(super) struct Run<'a, E: Switching> {
    pub layout: &'a Layout,
    pub schedule: &'a Schedule,
    pub evaluator: &'a E,
    pub inputs: &'a [E::Ciphertext],
    pub mode: HoistMode,
    /// Prepares a constant that is held as coefficients.
    pub expand: &'a (dyn Fn(&Packed) -> Result<E::Constant> + Sync),
}

impl<E: Switching> Run<'_, E> {
    /// The outputs; `None` stands for zero.
    fn outputs(&self, prepared: &PreparedPlan<E>) -> Result<Vec<Option<E::Ciphertext>>> {
        match self.mode {
            HoistMode::Double if !self.layout.is_diagonal() => wide::apply(self, prepared),
            _ => narrow::apply(self, prepared),
        }
    }

    /// `constant · ciphertext` in base `Q`.
    pub(super) fn multiply(&self, ciphertext: &E::Ciphertext, constant: &Held<E::Constant>) -> Result<E::Ciphertext> {
        match constant {
            Held::One => Ok(ciphertext.clone()),
            Held::Ready(constant) => self.evaluator.multiply_constant(ciphertext, constant),
            Held::Packed(packed) => self.evaluator.multiply_constant(ciphertext, &(self.expand)(packed)?),
        }
    }

    /// Zeros where nothing came out.
    pub(super) fn fill(&self, outputs: Vec<Option<E::Ciphertext>>) -> Result<Vec<E::Ciphertext>> {
        let zero = || self.evaluator.zero_like(&self.inputs[0]);
        outputs.into_iter().map(|output| output.map_or_else(zero, Ok)).collect()
    }
}

/// Evaluates a layout with its constants on one ciphertext, in base `QP`: linear maps of schemes with other plaintexts.
pub(crate) fn run<E: Switching>(
    layout: &Layout,
    prepared: &PreparedPlan<E>,
    evaluator: &E,
    ciphertext: &E::Ciphertext,
) -> Result<E::Ciphertext> {
    if let Some(element) = layout.keys().into_iter().find(|&t| !evaluator.has_key(t)) {
        return Err(super::plan::missing_key(element));
    }
    let support = layout.rows.iter().flatten().map(|&(_, t)| t);
    let schedule = Schedule::new(&Pattern::single(support), layout);
    let expand = |_: &Packed| unreachable!("these constants are prepared");
    let inputs = std::slice::from_ref(ciphertext);
    let run = Run { layout, schedule: &schedule, evaluator, inputs, mode: HoistMode::Double, expand: &expand };
    let mut outputs = run.fill(run.outputs(prepared)?)?;
    Ok(outputs.swap_remove(0))
}

impl LinearPlan {
    /// Evaluates the map on a ciphertext, with constants that [`LinearPlan::prepare`] of this plan (or of its copy) converted.
    ///
    /// Cost: what [`LinearPlan::count`] says. Errors: [`Error::ContextMismatch`] for the constants of another plan,
    /// [`Error::MissingGaloisKey`], [`Error::ShapeMismatch`] for the plan of a grid
    /// with several inputs or outputs, and what the evaluator reports.
    pub fn apply<E: Evaluator>(
        &self,
        prepared: &PreparedPlan<E>,
        evaluator: &E,
        ciphertext: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        if self.grid.rows() != 1 {
            return Err(Error::ShapeMismatch { what: "outputs of the plan", expected: 1, got: self.grid.rows() });
        }
        let mut outputs = self.apply_grid(prepared, evaluator, std::slice::from_ref(ciphertext))?;
        Ok(outputs.pop().expect("one output"))
    }

    /// [`LinearPlan::prepare`] and [`LinearPlan::apply`] at once, for a map that is used a single time.
    pub fn apply_once<E: Evaluator>(&self, evaluator: &E, ciphertext: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.apply(&self.prepare(evaluator)?, evaluator, ciphertext)
    }

    /// Evaluates a grid on as many ciphertexts as it has columns; there is one result for each of its rows.
    ///
    /// Errors: as [`LinearPlan::apply`], with [`Error::ShapeMismatch`] for another number of ciphertexts.
    pub fn apply_grid<E: Evaluator>(
        &self,
        prepared: &PreparedPlan<E>,
        evaluator: &E,
        ciphertexts: &[E::Ciphertext],
    ) -> Result<Vec<E::Ciphertext>> {
        prepared.check(self.number)?;
        self.check(evaluator, ciphertexts)?;
        match &self.method {
            Method::Doubling(doubling) => {
                let sum = self.double(doubling, evaluator, &ciphertexts[0])?;
                Ok(vec![match &prepared.sums[0].terms[0].constant {
                    Held::One => sum,
                    Held::Ready(constant) => evaluator.multiply_constant(&sum, constant)?,
                    Held::Packed(packed) => {
                        evaluator.multiply_constant(&sum, &packed.prepare(evaluator, prepared.level)?)?
                    }
                }])
            }
            Method::Sums { layout, schedule } => {
                let (mode, expand) = (self.spec.hoisting, |packed: &Packed| packed.prepare(evaluator, prepared.level));
                let run = Run { layout, schedule, evaluator, inputs: ciphertexts, mode, expand: &expand };
                run.fill(run.outputs(prepared)?)
            }
        }
    }

    /// Refuses before any work is done if a key or a ciphertext is missing.
    pub(super) fn check<E: Evaluator>(&self, evaluator: &E, ciphertexts: &[E::Ciphertext]) -> Result<()> {
        if ciphertexts.len() != self.grid.columns() {
            let (expected, got) = (self.grid.columns(), ciphertexts.len());
            return Err(Error::ShapeMismatch { what: "ciphertexts for the plan", expected, got });
        }
        match self.required_keys().into_iter().find(|&t| !evaluator.has_key(t)) {
            Some(element) => Err(super::plan::missing_key(element)),
            None => Ok(()),
        }
    }

    fn double<E: Evaluator>(
        &self,
        doubling: &Doubling,
        evaluator: &E,
        ciphertext: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        if self.spec.hoisting != HoistMode::Double {
            let step = |sum: E::Ciphertext, &(step, addend): &(u64, Addend)| {
                let addend = if addend == Addend::Sum { &sum } else { ciphertext };
                evaluator.add(&evaluator.automorphism(&sum, step)?, addend)
            };
            return doubling.steps.iter().try_fold(ciphertext.clone(), step);
        }
        let input = evaluator.extend(ciphertext)?;
        let mut sum = input.clone();
        for (index, &(step, addend)) in doubling.steps.iter().enumerate() {
            let mut moved = match index {
                0 => evaluator.hoisted_automorphism(&evaluator.hoist(ciphertext)?, step)?,
                _ => evaluator.extended_automorphism(&sum, step)?,
            };
            evaluator.add_extended_assign(&mut moved, if addend == Addend::Sum { &sum } else { &input })?;
            sum = moved;
        }
        evaluator.mod_down(sum)
    }
}
