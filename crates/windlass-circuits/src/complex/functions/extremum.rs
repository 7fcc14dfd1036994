//! The larger and the smaller of two numbers.

use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, Complex64, Engine, RefreshTerms};
use windlass_schemes::switching::Arithmetic;

use super::approximate::check_interval;
use super::plan::FunctionPlan;
use super::route::Start;

/// max(a, b) = (a + b)/2 + |a − b|/2, or min(a, b) = (a + b)/2 − |a − b|/2, slot by slot, for numbers
/// of an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Extremum {
    interval: (f64, f64),
    is_largest: bool,
    /// ±|d|/2 of the difference.
    half: FunctionPlan,
}

impl Extremum {
    /// The maximum, within 2^−bits for a and b in the interval.
    ///
    /// # Errors
    /// As [`FunctionPlan::absolute`]; [`Error::OutOfRange`] for an empty interval.
    pub fn largest(interval: (f64, f64), bits: f64) -> Result<Self> {
        Self::new(interval, bits, true)
    }

    /// The minimum, within 2^−bits for a and b in the interval.
    ///
    /// # Errors
    /// As [`Self::largest`].
    pub fn smallest(interval: (f64, f64), bits: f64) -> Result<Self> {
        Self::new(interval, bits, false)
    }

    fn new(interval: (f64, f64), bits: f64, is_largest: bool) -> Result<Self> {
        check_interval(interval)?;
        let (name, factor) = if is_largest { ("maximum", 0.5) } else { ("minimum", -0.5) };
        let half = FunctionPlan::absolute_times(name, interval.1 - interval.0, bits, factor)?;
        Ok(Self { interval, is_largest, half })
    }

    /// The ends of the interval.
    pub fn interval(&self) -> (f64, f64) {
        self.interval
    }

    /// "maximum" or "minimum".
    pub fn name(&self) -> &str {
        self.half.name()
    }

    /// The number of rescalings, with that of the result. Operands whose slots beside the entries must
    /// be cleared first take one more.
    pub fn depth(&self) -> usize {
        self.half.depth()
    }

    /// The largest number of products of ciphertexts.
    pub fn products(&self) -> usize {
        self.half.products()
    }

    /// The largest distance from the true value, without the errors of ciphertexts.
    pub fn approximation_error(&self) -> f64 {
        self.half.approximation_error()
    }

    /// Half the absolute value of the difference, as it is planned; negative for the minimum.
    pub fn of_difference(&self) -> &FunctionPlan {
        &self.half
    }

    /// The value for numbers, without the errors of ciphertexts.
    pub fn value(&self, a: f64, b: f64) -> f64 {
        (a + b) / 2.0 + self.half.value(a - b)
    }

    /// The contract in words.
    pub fn explain(&self) -> String {
        let (low, high) = self.interval;
        let which = if self.is_largest { "the larger of two" } else { "the smaller of two" };
        format!("{which} numbers from {low} to {high}, by their difference:\n{}", self.half.explain())
    }

    /// The extremum of the entries of two vectors. The result states its distance from the true value.
    /// An engine that refreshes does so between the steps, and first refreshes the operands if they have no level for the
    /// mean, or if their difference has too few levels for its steps and is too large to be refreshed itself.
    ///
    /// **Warning.** As [`FunctionPlan::apply`]: that no entry lies outside of the interval is known as
    /// far as bounds of absolute values tell.
    ///
    /// # Errors
    /// [`Error::OutsideInterval`]; as [`FunctionPlan::apply`].
    pub fn apply(&self, engine: &Engine, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        let (low, high) = self.interval;
        let most = low.abs().max(high.abs());
        for x in [a, b] {
            engine.check_input("find the larger or the smaller", x)?;
            if x.magnitude() > most * (1.0 + 1e-9) {
                return Err(Error::OutsideInterval { bound: x.magnitude(), low, high });
            }
        }
        // The mean takes one level of both.
        let both;
        let (a, b) = match engine.refresh_terms(a.slots().max(b.slots())) {
            Some(terms) if [a, b].iter().all(|x| is_taken(x, &terms)) && self.is_short(engine, [a, b], &terms)? => {
                both = engine.refresh_all(&[a.clone(), b.clone()])?;
                (&both[0], &both[1])
            }
            _ => (a, b),
        };
        let difference = self.difference(engine, [a, b])?;
        let half = self.half.apply(engine, &difference)?;
        let mean = engine.multiply_scalar(&engine.add(a, b)?, Complex64::new(0.5, 0.0))?;
        Ok(engine.add(&mean, &half)?.with_magnitude(most))
    }

    fn difference(&self, engine: &Engine, [a, b]: [&Ciphertext; 2]) -> Result<Ciphertext> {
        Ok(engine.sub(a, b)?.with_magnitude(self.interval.1 - self.interval.0))
    }

    /// Whether operands lack a level for the mean, or their difference has no way through its steps.
    fn is_short(&self, engine: &Engine, both: [&Ciphertext; 2], terms: &RefreshTerms) -> Result<bool> {
        if both.iter().any(|x| is_spent(x, terms)) {
            return Ok(true);
        }
        let difference = self.difference(&engine.plain(), both)?;
        let start = Start::of(&self.half, &difference);
        Ok(self.half.route(difference.context(), start, 0, Some(*terms)).is_err())
    }
}

/// Whether a ciphertext has no level beside those that the next refresh takes.
fn is_spent(x: &Ciphertext, terms: &RefreshTerms) -> bool {
    x.products_left() <= terms.input_level - x.context().base_level()
}

/// Whether a refresh takes a ciphertext.
fn is_taken(x: &Ciphertext, terms: &RefreshTerms) -> bool {
    let kept = terms.input_level - x.context().base_level();
    x.products_left() >= kept && terms.takes(x.magnitude().max(x.rest_magnitude()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extrema_are_as_near_as_stated() {
        for (low, high, bits) in [(0.0, 1.0, 8.0), (-4.0, 4.0, 6.0)] {
            let largest = Extremum::largest((low, high), bits).unwrap();
            let smallest = Extremum::smallest((low, high), bits).unwrap();
            assert!(largest.approximation_error() <= (-bits).exp2());
            for j in 0..=200 {
                for k in 0..=200 {
                    let at = |j: i32| low + (high - low) * f64::from(j) / 200.0;
                    let (a, b) = (at(j), at(k));
                    assert!((largest.value(a, b) - a.max(b)).abs() <= largest.approximation_error());
                    assert!((smallest.value(a, b) - a.min(b)).abs() <= smallest.approximation_error());
                }
            }
        }
        assert!(matches!(Extremum::largest((1.0, 1.0), 8.0), Err(Error::OutOfRange(_))));
    }
}
