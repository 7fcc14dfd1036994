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
    /// one: with the fewest refreshes, and among these the latest. What refreshes add is in the stated error.
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
        Ok(self.apply_each(engine, std::slice::from_ref(x), Numbers::Any)?.remove(0))
    }

    /// [`Self::apply`] of each ciphertext of a list, in order. Those that are refreshed before the same steps are
    /// refreshed together, two in one refresh where the parameters allow it. Each of the two then has the error of both,
    /// which their results state: the result of a precise ciphertext may state more than it would alone. A list of one
    /// ciphertext takes one sine where that suffices for real numbers, and [`Self::apply`] takes two.
    ///
    /// **Warning.** Slots must be real, also those of a single ciphertext. An imaginary part is added to another
    /// ciphertext, or lost. No error is returned.
    ///
    /// # Errors
    /// As there, before any work if it is true of any ciphertext.
    pub fn apply_list(&self, engine: &Engine, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        self.apply_each(engine, list, Numbers::Real)
    }

    fn apply_each(&self, engine: &Engine, list: &[Ciphertext], numbers: Numbers) -> Result<Vec<Ciphertext>> {
        let mut routes = Vec::with_capacity(list.len());
        for x in list {
            engine.check_input("evaluate a function", x)?;
            self.check_bound(x)?;
            let (context, start) = (x.context(), Start::of(self, x));
            // A refresh that states nothing in advance refreshes arguments alone.
            let Some(terms) = engine.refresh_terms(x.slots()) else {
                let own = self.route(context, start, 0, None);
                let fresh = Start { left: context.spec().depth, ..start };
                let refreshes = || engine.refreshes_for(0) && self.route(context, fresh, 0, None).is_ok();
                own.map(drop).or_else(|error| if refreshes() { Ok(()) } else { Err(error) })?;
                routes.push(None);
                continue;
            };
            routes.push(Some(self.route(context, start, 0, Some(terms))?));
        }
        let mut results: Vec<Option<Ciphertext>> = vec![None; list.len()];
        while let Some(first) = results.iter().position(Option::is_none) {
            let Some(route) = &routes[first] else {
                let alone = |engine: &Engine, x: &Ciphertext| {
                    let route = self.route(x.context(), Start::of(self, x), 0, None)?;
                    Ok(self.run_group(engine, std::slice::from_ref(x), &[&route], numbers)?.remove(0))
                };
                results[first] = Some(engine.with_refreshes(&list[first], &alone)?);
                continue;
            };
            let is_like = |k: &usize| routes[*k].as_ref().is_some_and(|own| own.is_like(route));
            let alike: Vec<usize> = (first..list.len()).filter(is_like).collect();
            let group: Vec<Ciphertext> = alike.iter().map(|&k| list[k].clone()).collect();
            let own: Vec<&Route> = alike.iter().filter_map(|&k| routes[k].as_ref()).collect();
            for (k, value) in alike.into_iter().zip(self.run_group(engine, &group, &own, numbers)?) {
                results[k] = Some(value);
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// The function of ciphertexts that go the same way, each with its own bound.
    fn run_group(
        &self,
        engine: &Engine,
        group: &[Ciphertext],
        routes: &[&Route],
        numbers: Numbers,
    ) -> Result<Vec<Ciphertext>> {
        let arguments = self.arguments(engine, group, routes[0], numbers)?;
        let stated = self.statements_together(&arguments, routes)?;
        let results = self.run_list(engine, (arguments, numbers), routes[0], &stated)?;
        Ok(results.into_iter().map(|y| y.approximating(self.approximation)).collect())
    }

    /// The arguments as the steps take them: rescaled, with zeros beside the entries if nothing else keeps these slots
    /// in the interval.
    pub(super) fn arguments(
        &self,
        engine: &Engine,
        list: &[Ciphertext],
        route: &Route,
        numbers: Numbers,
    ) -> Result<Vec<Ciphertext>> {
        let plain = engine.plain();
        let cleared = |x: &Ciphertext| self.cleared(&plain, x);
        match route.refreshes_before_clearing() {
            true => numbers.refreshed(engine, list)?.par_iter().map(cleared).collect(),
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
        Ok(self.run_list(engine, (vec![x.clone()], Numbers::Any), &Route::direct(), &stated)?.remove(0))
    }

    /// As [`Self::run`] for each argument, with the refreshes of a route: step by step for all of them, so that they
    /// are refreshed together.
    pub(super) fn run_list(
        &self,
        engine: &Engine,
        (arguments, numbers): (Vec<Ciphertext>, Numbers),
        route: &Route,
        stated: &[Vec<SlotErrors>],
    ) -> Result<Vec<Ciphertext>> {
        let plain = engine.plain();
        let count = stated.first().map_or(0, Vec::len);
        let mut values = vec![arguments];
        for (place, own) in self.steps[..count].iter().enumerate() {
            for value in route.before(place + 1) {
                values[value] = numbers.refreshed(engine, &values[value])?;
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

/// What slots hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Real numbers: two ciphertexts may take one refresh.
    Real,
    /// Perhaps complex ones: each ciphertext is refreshed by itself, with its imaginary part.
    Any,
}

impl Numbers {
    fn refreshed(self, engine: &Engine, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        match self {
            Self::Real => engine.refresh_real_all(list),
            Self::Any => engine.refresh_all(list),
        }
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
