//! Evaluates functions on ciphertexts.

use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, Complex64, Engine, LazyEngine, SlotErrors, evaluated};

use super::plan::{FunctionPlan, FunctionStep, summed};
use crate::complex::Polynomial;

impl FunctionPlan {
    /// The function of every entry. The result states its distance from the function itself: the
    /// distance of what is computed, the error of the input as it is passed on, and what the
    /// operations add.
    ///
    /// Slots beside the entries get unspecified values.
    ///
    /// **Warning.** The bound of a ciphertext limits the absolute value of its entries. It does not
    /// show that no entry lies below the lower end of an interval such as (0.5, 4). An entry outside
    /// gets an unspecified value; decryption refuses the result if that exceeds its bound
    /// ([`Error::NotDecryptable`]).
    ///
    /// **Warning.** The error that a sign or a comparison states holds for arguments outside its gap
    /// ([`Self::gap`]). In the gap the result lies between the values of both sides.
    ///
    /// Cost: [`Self::products`] and [`Self::depth`]; and the function on some thousand numbers.
    ///
    /// # Errors
    /// [`Error::OutsideInterval`] unless the bound on the entries is inside the interval, up to its
    /// sign; [`Error::LevelsExhausted`] with the depth that is missing, before any work; those of
    /// products.
    pub fn apply(&self, engine: &Engine, x: &Ciphertext) -> Result<Ciphertext> {
        self.check_with(x, 0)?;
        let x = self.cleared(engine, x)?;
        let statements = self.statements_of(&x)?;
        Ok(self.run(engine, &x, &statements.steps)?.approximating(self.approximation))
    }

    /// The argument, with zeros beside the entries if nothing else keeps these slots in the interval.
    pub(super) fn cleared(&self, engine: &Engine, x: &Ciphertext) -> Result<Ciphertext> {
        let x = engine.rescale(x)?;
        if !self.clears(&x) {
            return Ok(x);
        }
        engine.rescale(&engine.multiply_plain(&x, &ones(&x))?)
    }

    /// The result of the last of so many steps as errors are stated.
    pub(super) fn run(&self, engine: &Engine, x: &Ciphertext, stated: &[SlotErrors]) -> Result<Ciphertext> {
        let (machine, mut values) = (LazyEngine(engine), vec![x.clone()]);
        for (own, errors) in self.steps.iter().zip(stated) {
            let value = match &own.step {
                FunctionStep::Polynomial { of: 0, p } => engine.evaluate(p, &values[0])?,
                FunctionStep::Polynomial { of, p } => polynomial(engine, p, &values[*of])?,
                FunctionStep::Product(a, b) => engine.multiply(&values[*a], &values[*b])?,
                FunctionStep::Sum { terms, constant } => {
                    machine.relinearised(&summed(&machine, |k| values[k].clone().into(), terms, *constant)?)?
                }
            };
            // Beside the entries values are within the interval: it holds there, too.
            values.push(value.analysed(own.bound, *errors));
        }
        Ok(values.pop().expect("functions have steps"))
    }

    /// Refuses what cannot work, before any work. So many more levels are needed afterwards.
    pub(super) fn check_with(&self, x: &Ciphertext, more: usize) -> Result<()> {
        let ((low, high), bound) = (self.interval, x.magnitude());
        // Bounds are products of doubles.
        if bound > low.abs().max(high.abs()) * (1.0 + 1e-9) {
            return Err(Error::OutsideInterval { bound, low, high });
        }
        let (needed, left) = self.levels(x, more);
        if needed <= left { Ok(()) } else { Err(self.too_deep(x, more)) }
    }

    /// The levels that are needed, and those that are left.
    pub(super) fn levels(&self, x: &Ciphertext, more: usize) -> (usize, usize) {
        let left = x.depth_left().saturating_sub(usize::from(x.degree() > 1));
        (self.depth() + usize::from(self.clears(x)) + more, left)
    }

    /// The refusal of a ciphertext with too few levels.
    pub(super) fn too_deep(&self, x: &Ciphertext, more: usize) -> Error {
        let (needed, left) = self.levels(x, more);
        let depth = x.context().spec().depth;
        // Of a product that only its own rescaling needs the last level.
        let needed = needed.max(left + 1);
        Error::LevelsExhausted { operation: "evaluate a function", depth, needed, left }
    }

    /// Whether slots beside the entries are cleared first: nothing else keeps them in the interval.
    fn clears(&self, x: &Ciphertext) -> bool {
        x.rest_magnitude() > 0.0 && !self.masks_in_passing()
    }
}

/// 1 in the entries, 0 beside them.
fn ones(x: &Ciphertext) -> Vec<Complex64> {
    let mut values = vec![Complex64::ZERO; x.slots()];
    values[..x.entries()].fill(Complex64::new(1.0, 0.0));
    values
}

/// A polynomial of real numbers in −1..1, in every slot.
fn polynomial(engine: &Engine, p: &Polynomial, x: &Ciphertext) -> Result<Ciphertext> {
    match p.degree() {
        0 => engine.evaluate(p, x),
        _ => {
            let machine = LazyEngine(engine);
            machine.relinearised(&evaluated(&machine, p, engine.rescale(x)?.into())?)
        }
    }
}
