//! Evaluates functions on ciphertexts.

use rayon::prelude::*;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, Complex64, Engine, LazyEngine, SlotErrors, evaluated};
use windlass_schemes::switching::Arithmetic;

use super::plan::{FunctionPlan, FunctionStep, summed};
use super::route::{Route, Start};
use crate::complex::Polynomial;

impl FunctionPlan {
    /// The function of every entry. The result states its distance from the function itself: the
    /// distance of what is computed, the error of the input as it is passed on, and what the
    /// operations add.
    ///
    /// An engine that refreshes does so between the steps of the function, where too few levels are left for the next
    /// one: as few ciphertexts as possible, as late as possible. What refreshes add is in the stated error.
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
    /// sign; [`Error::LevelsExhausted`] with the depth that is missing, or in a context with refreshes
    /// [`Error::StepTooDeep`] with the step, before any work; those of products and refreshes.
    pub fn apply(&self, engine: &Engine, x: &Ciphertext) -> Result<Ciphertext> {
        Ok(self.apply_list(engine, std::slice::from_ref(x))?.pop().expect("one result for each argument"))
    }

    /// [`Self::apply`] of each ciphertext of a list, in order. Those with the same levels are refreshed together
    /// between the steps, two in one refresh where the parameters allow it.
    ///
    /// **Warning.** Slots must be real. An imaginary part is then added to another ciphertext, or lost. No error is
    /// returned.
    ///
    /// # Errors
    /// As there, before any work if it is true of any ciphertext.
    pub fn apply_list(&self, engine: &Engine, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        let mut routes = Vec::with_capacity(list.len());
        for x in list {
            self.check_bound(x)?;
            // A refresh that states nothing in advance refreshes arguments alone.
            routes.push(match engine.refresh_terms(x.slots()) {
                Some(terms) => Some(self.route(x.context(), Start::of(self, x), 0, Some(terms))?),
                None => None,
            });
        }
        let mut results: Vec<Option<Ciphertext>> = vec![None; list.len()];
        while let Some(first) = results.iter().position(Option::is_none) {
            let Some(route) = &routes[first] else {
                let alone = |engine: &Engine, x: &Ciphertext| {
                    let route = self.route(x.context(), Start::of(self, x), 0, None)?;
                    Ok(self.run_group(engine, std::slice::from_ref(x), &route)?.remove(0))
                };
                results[first] = Some(engine.with_refreshes(&list[first], &alone)?);
                continue;
            };
            let is_like = |k: &usize| routes[*k].as_ref().is_some_and(|own| own.is_like(route));
            let alike: Vec<usize> = (first..list.len()).filter(is_like).collect();
            let group: Vec<Ciphertext> = alike.iter().map(|&k| list[k].clone()).collect();
            for (k, value) in alike.into_iter().zip(self.run_group(engine, &group, route)?) {
                results[k] = Some(value);
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// The function of ciphertexts that go the same way.
    fn run_group(&self, engine: &Engine, group: &[Ciphertext], route: &Route) -> Result<Vec<Ciphertext>> {
        let arguments = self.arguments(engine, group, route)?;
        let stated = arguments.par_iter().map(|x| Ok(self.statements_on(x, route)?.steps));
        let stated: Vec<Vec<SlotErrors>> = stated.collect::<Result<_>>()?;
        let results = self.run_list(engine, arguments, route, &stated)?;
        Ok(results.into_iter().map(|y| y.approximating(self.approximation)).collect())
    }

    /// The arguments as the steps take them: rescaled, with zeros beside the entries if nothing else keeps these slots
    /// in the interval.
    pub(super) fn arguments(&self, engine: &Engine, list: &[Ciphertext], route: &Route) -> Result<Vec<Ciphertext>> {
        let plain = engine.plain();
        let cleared = |x: &Ciphertext| self.cleared(&plain, x);
        match route.refreshes_before_clearing() {
            true => engine.refresh_real_all(list)?.par_iter().map(cleared).collect(),
            false => list.par_iter().map(cleared).collect(),
        }
    }

    fn cleared(&self, engine: &Engine, x: &Ciphertext) -> Result<Ciphertext> {
        let x = engine.rescale(x)?;
        if !self.clears(&x) {
            return Ok(x);
        }
        engine.rescale(&engine.multiply_plain(&x, &ones(&x))?)
    }

    /// The result of the last of so many steps as errors are stated, without refreshes.
    pub(super) fn run(&self, engine: &Engine, x: &Ciphertext, stated: &[SlotErrors]) -> Result<Ciphertext> {
        let stated = [stated.to_vec()];
        Ok(self.run_list(engine, vec![x.clone()], &Route::direct(), &stated)?.remove(0))
    }

    /// As [`Self::run`] for each argument, with the refreshes of a route: step by step for all of them, so that they
    /// are refreshed together.
    pub(super) fn run_list(
        &self,
        engine: &Engine,
        arguments: Vec<Ciphertext>,
        route: &Route,
        stated: &[Vec<SlotErrors>],
    ) -> Result<Vec<Ciphertext>> {
        let plain = engine.plain();
        let count = stated.first().map_or(0, Vec::len);
        let mut values = vec![arguments];
        for (place, own) in self.steps[..count].iter().enumerate() {
            for value in route.before(place + 1) {
                values[value] = engine.refresh_real_all(&values[value])?;
            }
            let next = stated.par_iter().enumerate().map(|(k, errors)| {
                let value = step(&plain, &own.step, |value| &values[value][k])?;
                // Beside the entries values are within the interval: it holds there, too.
                Ok(value.analysed(own.bound, errors[place]))
            });
            let next = next.collect::<Result<_>>()?;
            values.push(next);
            // Values that no later step uses are freed.
            for (value, list) in values.iter_mut().enumerate().take(place + 1) {
                if !self.steps[place + 1..count].iter().any(|later| later.step.uses(value)) {
                    list.clear();
                }
            }
        }
        Ok(values.pop().expect("functions have steps"))
    }

    /// Refuses values outside of the interval.
    ///
    /// # Errors
    /// [`Error::OutsideInterval`].
    pub(super) fn check_bound(&self, x: &Ciphertext) -> Result<()> {
        let ((low, high), bound) = (self.interval, x.magnitude());
        // Bounds are products of doubles.
        if bound > low.abs().max(high.abs()) * (1.0 + 1e-9) {
            return Err(Error::OutsideInterval { bound, low, high });
        }
        Ok(())
    }

    /// Whether slots beside the entries are cleared first: nothing else keeps them in the interval.
    pub(super) fn clears(&self, x: &Ciphertext) -> bool {
        x.rest_magnitude() > 0.0 && !self.masks_in_passing()
    }
}

/// One step of a function.
fn step<'a>(engine: &Engine, step: &FunctionStep, value: impl Fn(usize) -> &'a Ciphertext) -> Result<Ciphertext> {
    match step {
        FunctionStep::Polynomial { of: 0, p } => engine.evaluate(p, value(0)),
        FunctionStep::Polynomial { of, p } => polynomial(engine, p, value(*of)),
        FunctionStep::Product(a, b) => engine.multiply(value(*a), value(*b)),
        FunctionStep::Sum { terms, constant } => {
            let machine = LazyEngine(engine);
            machine.relinearised(&summed(&machine, |k| value(k).clone().into(), terms, *constant)?)
        }
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
