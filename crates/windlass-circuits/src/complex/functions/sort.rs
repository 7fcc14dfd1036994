//! Sorting the entries of a vector, and the largest of them.
//!
//! A sorting network compares fixed pairs, so it does not depend on the values. Batcher's odd-even
//! merge sort (1968) takes L(L + 1)/2 stages for up to 2^L entries, and all pairs of a stage have the
//! same distance d. So a stage is three products with vectors of public numbers and rotations by d and
//! −d, and one sign for all pairs together. With p the partner of each entry, and s = 1 where the
//! larger number of the pair belongs and −1 where the smaller one does,
//!
//! ```text
//! t = (x − p)/w          w the width of the interval, so |t| ≤ 1
//! x ← (x + p)/2 + s·(x − p)/2·sign(t)
//! ```
//!
//! A stage passes the errors of its input on as they are: the larger of two numbers changes by no more
//! than the numbers do.

use std::collections::BTreeSet;

use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext, Complex64, Engine, SlotErrors};
use windlass_schemes::switching::Arithmetic;

use super::approximate::{check_interval, target};
use super::plan::FunctionPlan;
use super::row::Row;

/// Sorts the entries of a vector in descending order, or finds the largest ones.
///
/// ```text
/// y_0 ≥ y_1 ≥ ..    the entries of x
/// ```
///
/// Entries beyond those that were asked for get unspecified values of the interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Sorting {
    keys: BTreeSet<u64>,
    row: Row,
    interval: (f64, f64),
    largest: usize,
    stages: Vec<SortStage>,
    /// |t| for t in −1..1, as it is planned.
    absolute: FunctionPlan,
}

/// Pairs of one distance: the lower index of each gets the larger number.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SortStage {
    distance: usize,
    lower: Vec<usize>,
}

/// The most entries: beyond, no parameters have the levels, and errors add up.
const MOST_ENTRIES: usize = 1 << 10;

impl Sorting {
    /// Sorts the numbers of a row, in ciphertexts of a context. Each result is within 2^−bits of the true one.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an empty interval, for fewer than 2 or more than 1024 entries,
    /// and as [`FunctionPlan::absolute`].
    pub fn all(context: &CkksContext, row: impl Into<Row>, interval: (f64, f64), bits: f64) -> Result<Self> {
        let row = row.into();
        Self::of_row(context, (row.entries, row), interval, bits)
    }

    /// The `largest` largest numbers of a row, all in an interval, in descending order. Stages that the
    /// results do not depend on are left out: one number of k takes ⌈log2 k⌉ of them.
    ///
    /// # Errors
    /// As [`Self::all`]; [`Error::OutOfRange`] unless `largest` is from 1 to the number of entries.
    pub fn largest(
        context: &CkksContext,
        largest: usize,
        row: impl Into<Row>,
        interval: (f64, f64),
        bits: f64,
    ) -> Result<Self> {
        Self::of_row(context, (largest, row.into()), interval, bits)
    }

    fn of_row(context: &CkksContext, (largest, row): (usize, Row), interval: (f64, f64), bits: f64) -> Result<Self> {
        check_interval(interval)?;
        row.check(context, MOST_ENTRIES)?;
        let (count, slots) = (row.entries, row.slots);
        Limits::between(1, count).check("the number of the largest entries", largest)?;
        let stages = needed(network(count), largest);
        // Every stage adds the error of one absolute value, times half of the width, which the stages
        // before it have made wider.
        let half = 0.5 * (interval.1 - interval.0) + target(bits)?;
        let share = bits + (stages.len() as f64 * half).log2();
        let absolute = FunctionPlan::absolute_times("sorting", 1.0, share, 1.0)?;
        let distances = stages.iter().flat_map(|stage| [stage.distance, slots - stage.distance]);
        let keys = distances.map(|distance| context.rotation_element(distance as i64)).collect();
        Ok(Self { keys, row, interval, largest, stages, absolute })
    }

    /// The ends of the interval.
    pub fn interval(&self) -> (f64, f64) {
        self.interval
    }

    /// The entries and the slots of the vector.
    pub fn row(&self) -> Row {
        self.row
    }

    /// The number of results.
    pub fn results(&self) -> usize {
        self.largest
    }

    /// The number of stages.
    pub fn stages(&self) -> usize {
        self.stages.len()
    }

    /// The number of rescalings of one stage.
    pub fn stage_depth(&self) -> usize {
        1 + self.absolute.depth()
    }

    /// The number of rescalings, with that of the result.
    pub fn depth(&self) -> usize {
        self.stages.len() * self.stage_depth()
    }

    /// The degrees of the sign in every stage.
    pub fn degrees(&self) -> Vec<usize> {
        self.absolute.degrees()
    }

    /// The largest number of products of ciphertexts.
    pub fn products(&self) -> usize {
        self.stages.len() * self.absolute.products()
    }

    /// The largest distance of a result from the true one, without the errors of ciphertexts.
    pub fn approximation_error(&self) -> f64 {
        self.stages.len() as f64 * self.stage_error()
    }

    /// The automorphisms that need Galois keys, in increasing order: rotations both ways by the
    /// distances of the pairs.
    pub fn required_keys(&self) -> BTreeSet<u64> {
        self.keys.clone()
    }

    fn stage_error(&self) -> f64 {
        self.absolute.approximation_error() * self.width() / 2.0
    }

    /// The width of the interval, with what the results of stages may be off by at both ends.
    fn width(&self) -> f64 {
        let off = self.stages.len() as f64 * self.absolute.approximation_error();
        (self.interval.1 - self.interval.0) / (1.0 - off)
    }

    /// The results for numbers, without the errors of ciphertexts.
    pub fn value(&self, numbers: &[f64]) -> Vec<f64> {
        let width = self.width();
        let mut x = numbers.to_vec();
        for stage in &self.stages {
            for &i in &stage.lower {
                let (a, b) = (x[i], x[i + stage.distance]);
                let half = self.absolute.value((a - b) / width) * width / 2.0;
                (x[i], x[i + stage.distance]) = ((a + b) / 2.0 + half, (a + b) / 2.0 - half);
            }
        }
        x.truncate(self.largest);
        x
    }

    /// The contract in words.
    pub fn explain(&self) -> String {
        let (low, high) = self.interval;
        let (stages, each) = (self.stages.len(), self.stage_depth());
        format!(
            "the {} largest of {} numbers from {low} to {high}, in descending order\n{:<22}{stages}, each of {each} rescalings\n{:<22}at most {:.2e}\nin every stage\n{}",
            self.largest,
            self.row.entries,
            "stages",
            "distance",
            self.approximation_error(),
            self.absolute.explain()
        )
    }

    /// The entries in descending order. The result states its distance from the true one.
    ///
    /// An engine that refreshes does so before a stage for which levels are missing. The results of stages exceed the
    /// interval by as much as they may be off: the interval must leave room for that below the largest value that is
    /// refreshed, which is 1 for most sets.
    ///
    /// # Errors
    /// As [`Self::apply_stage`]; [`Error::LevelsExhausted`] with the depth of all stages, before any
    /// work, unless the engine refreshes, a stage fits between two refreshes, and refreshes take values as large as
    /// those of stages may be; those of refreshes.
    pub fn apply(&self, engine: &Engine, x: &Ciphertext) -> Result<Ciphertext> {
        engine.check_input("sort", x)?;
        self.check(x)?;
        let plain = engine.plain();
        let terms = engine.refresh_terms(x.slots());
        let kept = terms.map_or(0, |terms| terms.input_level - x.context().base_level());
        let is_deep = self.check_levels(x, self.depth() + kept).is_err();
        let is_taken = terms.is_none_or(|terms| terms.takes(self.most() + self.approximation_error()));
        let refreshes = is_deep && is_taken && engine.refreshes_for(self.stage_depth());
        if !refreshes {
            self.check_levels(x, self.depth())?;
        }
        (0..self.stages.len()).try_fold(x.clone(), |x, stage| match refreshes {
            true => self.apply_stage(&plain, stage, &*engine.ready_for(&x, self.stage_depth())?),
            false => self.apply_stage(&plain, stage, &x),
        })
    }

    /// The stage with this number of the vector that the stages before it give. After the last one,
    /// the first [`Self::results`] entries hold the results.
    ///
    /// **Warning.** As [`FunctionPlan::apply`]: that no entry lies outside of the interval is known as
    /// far as bounds of absolute values tell.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of entries; [`Error::OutsideInterval`];
    /// [`Error::LevelsExhausted`] before any work; those of rotations and products.
    pub fn apply_stage(&self, engine: &Engine, stage: usize, x: &Ciphertext) -> Result<Ciphertext> {
        Limits::below(self.stages.len()).check("the stage", stage)?;
        self.check(x)?;
        self.check_levels(x, self.stage_depth())?;
        let own = &self.stages[stage];
        let x = engine.rescale(x)?;
        let (slots, width) = (x.slots(), self.width());
        let distance = own.distance as i64;
        let moved = [engine.rotate(&x, distance)?, engine.rotate(&x, -distance)?];
        let sum = |weights: [Vec<f64>; 3], bound: f64| -> Result<Ciphertext> {
            let mut sum: Option<Ciphertext> = None;
            for (part, weights) in [&x, &moved[0], &moved[1]].into_iter().zip(&weights) {
                let term = engine.multiply_plain(part, &complex(weights))?;
                sum = Some(match sum {
                    Some(sum) => engine.add(&sum, &term)?,
                    None => term,
                });
            }
            let sum = engine.rescale(&sum.expect("three terms"))?;
            Ok(sum.with_zeros_beside(self.row.entries).with_magnitude(bound))
        };
        let most = self.most();
        let t = sum(own.difference(slots, 1.0 / width, [1.0, 1.0]), 1.0)?;
        let signed = sum(own.difference(slots, 0.5, [1.0, -1.0]), width / 2.0)?;
        let mean = sum(own.mean(slots, self.row.entries), most + self.approximation_error())?;
        let half = self.half(engine, &t, &signed)?;
        // A number of the interval, and what the polynomials are off by.
        let result = engine.add(&mean, &half)?.with_magnitude(most + self.approximation_error());
        match stage + 1 == self.stages.len() {
            // All stages together: each passes on what those before it are off by.
            true => Ok(result.with_entries(self.largest).approximating(self.approximation_error())),
            false => Ok(result),
        }
    }

    /// `signed·sign(t)`, which is s·|x − p|/2.
    fn half(&self, engine: &Engine, t: &Ciphertext, signed: &Ciphertext) -> Result<Ciphertext> {
        let width = self.width();
        let (product, errors) = self.absolute.apply_with_factor(engine, t, signed)?;
        // What the absolute value states of t·sign(t), and the errors of both linear maps, whose
        // factor is a sign.
        let (own, other) = (errors.plus(t.slot_errors()).times(width / 2.0), signed.slot_errors());
        Ok(product.analysed(width / 2.0 + self.stage_error(), own.plus(other)))
    }

    fn most(&self) -> f64 {
        self.interval.0.abs().max(self.interval.1.abs())
    }

    fn check(&self, x: &Ciphertext) -> Result<()> {
        self.row.check_ciphertext(x)?;
        let (low, high) = self.interval;
        if x.magnitude() > (self.most() + self.approximation_error()) * (1.0 + 1e-9) {
            return Err(Error::OutsideInterval { bound: x.magnitude(), low, high });
        }
        Ok(())
    }

    fn check_levels(&self, x: &Ciphertext, needed: usize) -> Result<()> {
        let left = x.depth_left().saturating_sub(usize::from(x.degree() > 1));
        if needed <= left {
            return Ok(());
        }
        Err(Error::LevelsExhausted { operation: "sort", depth: x.context().spec().depth, needed, left })
    }
}

impl SortStage {
    /// Of x, of x moved to lower indices and to higher ones: scale·(x − p), times a sign for the lower
    /// and for the higher index of each pair.
    fn difference(&self, slots: usize, scale: f64, signs: [f64; 2]) -> [Vec<f64>; 3] {
        let mut weights = [vec![0.0; slots], vec![0.0; slots], vec![0.0; slots]];
        for &i in &self.lower {
            let j = i + self.distance;
            (weights[0][i], weights[1][i]) = (signs[0] * scale, -signs[0] * scale);
            (weights[0][j], weights[2][j]) = (signs[1] * scale, -signs[1] * scale);
        }
        weights
    }

    /// The mean of a pair; x in the other entries.
    fn mean(&self, slots: usize, count: usize) -> [Vec<f64>; 3] {
        let mut weights = [vec![0.0; slots], vec![0.0; slots], vec![0.0; slots]];
        weights[0][..count].fill(1.0);
        for &i in &self.lower {
            let j = i + self.distance;
            (weights[0][i], weights[1][i]) = (0.5, 0.5);
            (weights[0][j], weights[2][j]) = (0.5, 0.5);
        }
        weights
    }
}

fn complex(values: &[f64]) -> Vec<Complex64> {
    values.iter().map(|&x| Complex64::new(x, 0.0)).collect()
}

/// Batcher's odd-even merge sort, pairs outside of the vector left out.
fn network(count: usize) -> Vec<SortStage> {
    let mut stages = Vec::new();
    let mut p = 1;
    while p < count {
        let mut k = p;
        while k >= 1 {
            let starts = (k % p..count.saturating_sub(k)).step_by(2 * k);
            let pairs = starts.flat_map(|j| (0..k.min(count - j - k)).map(move |i| i + j));
            let lower: Vec<usize> = pairs.filter(|&i| i / (2 * p) == (i + k) / (2 * p)).collect();
            stages.push(SortStage { distance: k, lower });
            k /= 2;
        }
        p *= 2;
    }
    stages
}

/// Without the pairs that none of the first results depends on.
fn needed(stages: Vec<SortStage>, results: usize) -> Vec<SortStage> {
    let mut wanted: Vec<bool> = Vec::new();
    let mut kept: Vec<SortStage> = Vec::new();
    for SortStage { distance, lower } in stages.into_iter().rev() {
        let size = lower.iter().map(|i| i + distance + 1).max().unwrap_or(0);
        if wanted.len() < size {
            let known = wanted.len();
            wanted.extend((known..size).map(|i| i < results));
        }
        let lower: Vec<usize> = lower.into_iter().filter(|&i| wanted[i] || wanted[i + distance]).collect();
        lower.iter().for_each(|&i| {
            wanted[i] = true;
            wanted[i + distance] = true;
        });
        if !lower.is_empty() {
            kept.push(SortStage { distance, lower });
        }
    }
    kept.reverse();
    kept
}

impl FunctionPlan {
    /// The steps of an absolute value with another factor for the sign, and what is stated of the
    /// product of the argument and the sign.
    fn apply_with_factor(
        &self,
        engine: &Engine,
        x: &Ciphertext,
        factor: &Ciphertext,
    ) -> Result<(Ciphertext, SlotErrors)> {
        let statements = self.statements_of(x)?;
        let signs = self.run(engine, x, &statements.steps[..self.steps.len() - 1])?;
        Ok((engine.multiply(factor, &signs)?, statements.steps[self.steps.len() - 1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 0-1 principle: a network that sorts all vectors of zeros and ones sorts all vectors.
    #[test]
    fn networks_sort() {
        for count in 2..=11 {
            for results in [1, 2, count / 2, count].into_iter().filter(|&r| r >= 1) {
                let stages = needed(network(count), results);
                for bits in 0..1u32 << count {
                    let mut x: Vec<u32> = (0..count).map(|i| bits >> i & 1).collect();
                    let ones = x.iter().sum::<u32>() as usize;
                    for stage in &stages {
                        for &i in &stage.lower {
                            let j = i + stage.distance;
                            (x[i], x[j]) = (x[i].max(x[j]), x[i].min(x[j]));
                        }
                    }
                    let expected: Vec<u32> = (0..results).map(|i| u32::from(i < ones)).collect();
                    assert_eq!(x[..results], expected, "{results} of {count}: {bits:b}");
                }
            }
        }
    }

    #[test]
    fn one_number_takes_a_stage_for_each_bit() {
        for (count, stages) in [(2, 1), (3, 2), (4, 2), (8, 3), (13, 4), (64, 6)] {
            assert_eq!(needed(network(count), 1).len(), stages, "{count}");
        }
        assert_eq!([4, 8, 16].map(|count| network(count).len()), [3, 6, 10]);
    }

    #[test]
    fn pairs_of_a_stage_are_disjoint() {
        for count in 2..40 {
            for stage in network(count) {
                let mut all: Vec<usize> = stage.lower.iter().flat_map(|&i| [i, i + stage.distance]).collect();
                all.sort_unstable();
                assert!(all.windows(2).all(|pair| pair[0] < pair[1]) && all.iter().all(|&i| i < count), "{count}");
            }
        }
    }
}
