//! Running a plan.

use std::borrow::Cow;

use windlass_schemes::error::{Error, Result};
use windlass_schemes::switching::Switching;

use super::batch::Batched;
use super::prepare::{PreparedPlan, TermConstant};
use super::prepares::Prepares;
use super::work::{LayoutRun, Products};
use super::{base_q, base_qp};
use crate::linear::map::Plannable;
use crate::linear::plan::{Addend, Doubling, DoublingStep, HoistMode, LinearPlan, Method, missing_key};

/// The most ciphertexts in a pass. Each then bears an eighth of the cost of reading a key.
const PASS: usize = 8;
/// The most bytes that a pass holds beside its ciphertexts, about.
const PASS_BYTES: usize = 1 << 30;

impl<R: Plannable> LinearPlan<R> {
    /// Evaluates the map on a ciphertext, with constants that [`LinearPlan::prepare`] of this plan
    /// (or of its copy) converted. A CKKS ciphertext above the level of the constants is lowered
    /// first, and its image is a product of degree 2.
    ///
    /// Cost: what [`LinearPlan::count`] says.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] for the constants of another plan or an evaluator of another plaintext
    /// ring or slot order, [`Error::OtherSlotOrder`] for constants of an engine of another one,
    /// [`Error::MissingGaloisKey`], [`Error::ShapeMismatch`] for the plan of a grid with several inputs or
    /// outputs, and what the evaluator reports.
    pub fn apply<E: Prepares<R>>(
        &self,
        prepared: &PreparedPlan<E, R>,
        evaluator: &E,
        ciphertext: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        if self.grid().rows() != 1 {
            return Err(Error::ShapeMismatch { what: "outputs of the plan", expected: 1, got: self.grid().rows() });
        }
        let mut outputs = self.apply_grid(prepared, evaluator, std::slice::from_ref(ciphertext))?;
        Ok(outputs.pop().expect("one output"))
    }

    /// [`LinearPlan::apply`] to each of several ciphertexts, which go through the map in passes of
    /// up to eight: keys and constants are read from memory once for those of a pass that are at
    /// one level.
    ///
    /// Cost: as many operations as one by one. Memory: the intermediate values of up to eight
    /// ciphertexts, fewer if these would exceed about 1 GiB.
    ///
    /// # Errors
    /// As there.
    pub fn apply_each<E: Prepares<R>>(
        &self,
        prepared: &PreparedPlan<E, R>,
        evaluator: &E,
        ciphertexts: &[E::Ciphertext],
    ) -> Result<Vec<E::Ciphertext>> {
        for (what, got) in [("outputs of the plan", self.grid().rows()), ("inputs of the plan", self.grid().columns())]
        {
            if got != 1 {
                return Err(Error::ShapeMismatch { what, expected: 1, got });
            }
        }
        let representation = self.checked(prepared, evaluator)?;
        ciphertexts.iter().try_for_each(|input| evaluator.check_input("linear map", input))?;
        self.check_held_keys(evaluator)?;
        // A polynomial in base QP takes as much as a constant, and a ciphertext is two.
        let bytes = 2 * evaluator.bytes_of_constant(prepared.level) * self.held();
        let pass = (PASS_BYTES / bytes.max(1)).clamp(1, PASS);
        let mut images = Vec::with_capacity(ciphertexts.len());
        for pass in ciphertexts.chunks(pass) {
            match pass {
                [one] => images.push(self.apply(prepared, evaluator, one)?),
                _ => {
                    let lowered = |ct| evaluator.at_level(representation, ct, prepared.level).map(Cow::into_owned);
                    let pass = pass.iter().map(lowered).collect::<Result<_>>()?;
                    images.extend(self.apply_pass(prepared, evaluator, pass)?);
                }
            }
        }
        Ok(images)
    }

    /// The image of each ciphertext of one pass, all at the level of the constants.
    fn apply_pass<E: Prepares<R>>(
        &self,
        prepared: &PreparedPlan<E, R>,
        evaluator: &E,
        pass: Vec<E::Ciphertext>,
    ) -> Result<Vec<E::Ciphertext>> {
        let batched = Batched(evaluator);
        let expand = |numbers: &[usize]| self.expanded(prepared, evaluator, numbers);
        let products = Products { sums: &prepared.sums, ready: &prepared.ready, expand: &expand };
        let Some(norms) = &prepared.norms else {
            return Ok(self.outputs(&batched, &products, &[&pass])?.swap_remove(0));
        };
        let entered = pass.iter().flat_map(|input| evaluator.enter(norms, &[input])).collect();
        let outputs = self.outputs(&batched, &products, &[&entered])?.swap_remove(0);
        let pairs = pass.iter().zip(outputs);
        pairs.map(|(input, output)| evaluator.leave(norms, 0, &[input], output)).collect()
    }

    /// [`LinearPlan::prepare_at`] for the level of the ciphertext and [`LinearPlan::apply`] at
    /// once, for a map that is used a single time.
    ///
    /// # Errors
    /// As there.
    pub fn apply_once<E: Prepares<R>>(&self, evaluator: &E, ciphertext: &E::Ciphertext) -> Result<E::Ciphertext> {
        let level = evaluator.level_for(ciphertext)?;
        self.apply(&self.prepare_at(evaluator, level)?, evaluator, ciphertext)
    }

    /// Evaluates a grid on as many ciphertexts as it has columns; there is one result for each of
    /// its rows.
    ///
    /// # Errors
    /// As [`LinearPlan::apply`], with [`Error::ShapeMismatch`] for another number of ciphertexts.
    pub fn apply_grid<E: Prepares<R>>(
        &self,
        prepared: &PreparedPlan<E, R>,
        evaluator: &E,
        ciphertexts: &[E::Ciphertext],
    ) -> Result<Vec<E::Ciphertext>> {
        let representation = self.checked(prepared, evaluator)?;
        self.check(evaluator, ciphertexts)?;
        let at_level = |ct| evaluator.at_level(representation, ct, prepared.level);
        let lowered: Vec<Cow<'_, E::Ciphertext>> = ciphertexts.iter().map(at_level).collect::<Result<_>>()?;
        let inputs: Vec<&E::Ciphertext> = lowered.iter().map(Cow::as_ref).collect();
        let expand = |numbers: &[usize]| self.expanded(prepared, evaluator, numbers);
        let products = Products { sums: &prepared.sums, ready: &prepared.ready, expand: &expand };
        let Some(norms) = &prepared.norms else { return self.outputs(evaluator, &products, &inputs) };
        let entered = evaluator.enter(norms, &inputs);
        let outputs = self.outputs(evaluator, &products, &entered.iter().collect::<Vec<_>>())?;
        let left = outputs.into_iter().enumerate();
        left.map(|(row, output)| evaluator.leave(norms, row, &inputs, output)).collect()
    }

    /// Refuses constants of another plan, or of another ring than the evaluator's.
    fn checked<E: Prepares<R>>(&self, prepared: &PreparedPlan<E, R>, evaluator: &E) -> Result<&R> {
        prepared.check(self.number())?;
        let representation = self.grid().representation();
        evaluator.check_constants(representation, "linear map")?;
        Ok(representation)
    }

    /// The constants of these numbers, which are held as coefficients.
    fn expanded<E: Prepares<R>>(
        &self,
        prepared: &PreparedPlan<E, R>,
        evaluator: &E,
        numbers: &[usize],
    ) -> Result<Vec<E::Constant>> {
        let constant = |k: usize| self.grid().representation().unpack(&prepared.packed[numbers[k]]);
        evaluator.prepare_constants(numbers.len(), prepared.level, &constant)
    }

    /// The outputs, one for each row of the grid: by doubling, or by sums in base `Q` or `QP`.
    fn outputs<E: Switching>(
        &self,
        evaluator: &E,
        products: &Products<'_, E::Constant>,
        inputs: &[&E::Ciphertext],
    ) -> Result<Vec<E::Ciphertext>> {
        match self.method() {
            Method::Doubling(doubling) => {
                let sum = doubled(doubling, self.spec().hoisting, evaluator, inputs[0])?;
                match products.sums[0].terms[0].constant {
                    TermConstant::One => Ok(vec![sum]),
                    factor => Ok(vec![products.multiply(evaluator, &sum, factor)?]),
                }
            }
            Method::Sums { layout, schedule } => {
                let run = LayoutRun { layout, schedule, evaluator, inputs, mode: self.spec().hoisting };
                let in_qp = run.mode == HoistMode::Double && !layout.is_diagonal();
                run.fill(if in_qp { base_qp::outputs(&run, products)? } else { base_q::outputs(&run, products)? })
            }
        }
    }

    /// Refuses before any work is done if a key or a ciphertext is missing, or a ciphertext is of
    /// another context or key pair.
    pub(super) fn check<E: Switching>(&self, evaluator: &E, ciphertexts: &[E::Ciphertext]) -> Result<()> {
        if ciphertexts.len() != self.grid().columns() {
            let (expected, got) = (self.grid().columns(), ciphertexts.len());
            return Err(Error::ShapeMismatch { what: "ciphertexts for the plan", expected, got });
        }
        ciphertexts.iter().try_for_each(|input| evaluator.check_input("linear map", input))?;
        self.check_held_keys(evaluator)
    }

    fn check_held_keys<E: Switching>(&self, evaluator: &E) -> Result<()> {
        match self.required_keys().into_iter().find(|&t| !evaluator.has_key(t)) {
            Some(element) => Err(missing_key(element)),
            None => Ok(()),
        }
    }
}

/// `Σ_{e<N} θ^e(v)` by doubling, without the constant.
fn doubled<E: Switching>(
    doubling: &Doubling,
    hoisting: HoistMode,
    evaluator: &E,
    ciphertext: &E::Ciphertext,
) -> Result<E::Ciphertext> {
    if hoisting != HoistMode::Double {
        let step = |sum: E::Ciphertext, step: &DoublingStep| {
            let mut moved = evaluator.automorphism(&sum, step.path[0])?;
            for &t in &step.path[1..] {
                moved = evaluator.automorphism(&moved, t)?;
            }
            evaluator.add(&moved, if step.addend == Addend::Sum { &sum } else { ciphertext })
        };
        return doubling.steps.iter().try_fold(ciphertext.clone(), step);
    }
    let input = evaluator.extend(ciphertext)?;
    let mut sum = input.clone();
    for (index, step) in doubling.steps.iter().enumerate() {
        let mut moved = match index {
            0 => evaluator.hoisted_automorphism(&evaluator.hoist(ciphertext)?, step.path[0])?,
            _ => evaluator.extended_automorphism(&sum, step.path[0])?,
        };
        for &t in &step.path[1..] {
            moved = evaluator.extended_automorphism(&moved, t)?;
        }
        evaluator.add_extended_assign(&mut moved, if step.addend == Addend::Sum { &sum } else { &input })?;
        sum = moved;
    }
    evaluator.mod_down(sum)
}
