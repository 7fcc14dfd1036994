//! The softmax of a vector.
//!
//! The numbers are in [l, h], of width w = h − l. With e_i = exp(x_i − h) in [e^{−w}, 1] and their sum S in
//! [k·e^{−w}, k], the result is y_i = e_i/S. Nothing is larger than 1/S, and no maximum is needed:
//!
//! ```text
//! e ← P(x)            P near exp(x − h) up to ε; 0 beside the entries
//! S ← Σ e_i           in every slot
//! y ← e·Q(S)          Q near 1/S up to δ
//! ```
//!
//! *Distance.* e_i ≤ S, so an error of S acts on y_i by at most 1/S times, not by the slope 1/S² of the
//! inverse. The distance of y_i is at most (1 + ε)·δ + ε·(1 + k)/(k·(e^{−w} − ε)). The errors of ciphertexts
//! are weighted in the same way, so they grow with e^w: a wide interval costs w/ln 2 bits.

use std::collections::BTreeSet;

use windlass_rlwe::Limits;
#[cfg(doc)]
use windlass_schemes::error::Error;
use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext, Complex64, Engine, RefreshTerms};
use windlass_schemes::switching::Arithmetic;

use super::approximate::{check_interval, target};
use super::catalogue::Function;
use super::plan::FunctionPlan;
use super::route::{Route, Start};
use super::row::Row;
use super::run::Numbers;
use crate::trace::{TracePlan, TraceSpec};

/// `y_i = exp(x_i)/Σ_j exp(x_j)` over the entries of a vector.
#[derive(Debug, Clone)]
pub struct Softmax {
    interval: (f64, f64),
    row: Row,
    exponential: FunctionPlan,
    /// What the exponential of a slot beside the entries is.
    beside: f64,
    total: TracePlan,
    inverse: FunctionPlan,
    distance: f64,
}

impl Softmax {
    /// The softmax of `count` numbers of an interval, in ciphertexts of a context, within 2^−bits.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an interval that is empty or too wide for the precision (bits + w/ln 2
    /// above 47), or for fewer than 2 numbers or more than the slots; [`Error::SlotCount`]; [`Error::Unplannable`] if no
    /// polynomial suffices.
    pub fn new(context: &CkksContext, row: impl Into<Row>, interval: (f64, f64), bits: f64) -> Result<Self> {
        Self::of_row(context, row.into(), interval, bits)
    }

    fn of_row(context: &CkksContext, row: Row, interval: (f64, f64), bits: f64) -> Result<Self> {
        check_interval(interval)?;
        target(bits)?;
        row.check(context, usize::MAX)?;
        let (low, high) = interval;
        let width = high - low;
        let most = (47.0 - bits) * std::f64::consts::LN_2;
        Limits::at_most(most).with("or ask for fewer bits").check("the width of the interval", width)?;
        let exponent = bits + 3.0 + width / std::f64::consts::LN_2;
        let exponential = FunctionPlan::of("softmax", &|x| (x - high).exp(), interval, exponent)?;
        let (k, off) = (row.entries as f64, exponential.approximation_error());
        let least = k * ((-width).exp() - off);
        let inverse = FunctionPlan::named(Function::Inverse, (least, k * (1.0 + off)), bits + 1.0)?;
        let distance = (1.0 + off) * inverse.approximation_error() + off * (1.0 + k) / least;
        let total = TracePlan::new(&row.total(context)?, &TraceSpec::default())?;
        // Slots beside the entries hold what 0 goes to, or the middle of an interval without 0.
        let beside = exponential.value(if low <= 0.0 && high >= 0.0 { 0.0 } else { 0.5 * (low + high) });
        Ok(Self { interval, row, exponential, beside, total, inverse, distance })
    }

    /// The ends of the interval.
    pub fn interval(&self) -> (f64, f64) {
        self.interval
    }

    /// The entries and the slots of the vector.
    pub fn row(&self) -> Row {
        self.row
    }

    /// The degrees of the polynomials: of the exponential, then of the inverse.
    pub fn degrees(&self) -> Vec<usize> {
        [self.exponential.degrees(), self.inverse.degrees()].concat()
    }

    /// The number of rescalings, with that of the result.
    pub fn depth(&self) -> usize {
        self.exponential.depth() + self.inverse.depth() + 1
    }

    /// The largest number of products of ciphertexts.
    pub fn products(&self) -> usize {
        self.exponential.products() + self.inverse.products() + 1
    }

    /// The largest distance of a result from the softmax, without the errors of ciphertexts.
    pub fn approximation_error(&self) -> f64 {
        self.distance
    }

    /// Whether slots beside the entries that hold any values take no further depth
    /// ([`FunctionPlan::masks_in_passing`]).
    pub fn masks_in_passing(&self) -> bool {
        self.exponential.masks_in_passing()
    }

    /// The automorphisms that need Galois keys: those of the sum.
    pub fn required_keys(&self) -> BTreeSet<u64> {
        self.total.required_keys()
    }

    /// The result for numbers, without the errors of ciphertexts.
    pub fn value(&self, numbers: &[f64]) -> Vec<f64> {
        let powers: Vec<f64> = numbers.iter().map(|&x| self.exponential.value(x)).collect();
        let inverse = self.inverse.value(powers.iter().sum());
        powers.iter().map(|e| e * inverse).collect()
    }

    /// The contract in words.
    pub fn explain(&self) -> String {
        let ((low, high), distance) = (self.interval, self.distance);
        let depth = self.depth();
        format!(
            "softmax of {} numbers from {low} to {high}\n{:<22}{depth} rescalings\n{:<22}at most {distance:.2e}, 2^{:.1}\nits exponential:\n{}\nthe inverse of the sum:\n{}",
            self.row.entries,
            "depth",
            "distance",
            distance.log2(),
            self.exponential.explain(),
            self.inverse.explain()
        )
    }

    /// The softmax of the entries. The result states its distance from the softmax itself; slots beside
    /// the entries hold zeros. An engine that refreshes does so between the steps.
    ///
    /// **Warning.** As [`FunctionPlan::apply`]: that no entry lies outside of the interval is known as
    /// far as bounds of absolute values tell.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of entries; [`Error::OutsideInterval`];
    /// [`Error::LevelsExhausted`] with the depth of the whole, or [`Error::StepTooDeep`] in a context with refreshes,
    /// before any work; those of sums, products and refreshes.
    pub fn apply(&self, engine: &Engine, x: &Ciphertext) -> Result<Ciphertext> {
        engine.check_input("evaluate a softmax", x)?;
        self.row.check_ciphertext(x)?;
        self.exponential.check_bound(x)?;
        match engine.refresh_terms(x.slots()) {
            Some(terms) => self.run(engine, x, &self.ways(x, Some(terms))?),
            // A refresh that states nothing in advance refreshes the argument alone.
            None => engine.with_refreshes(x, &|engine, x| self.run(engine, x, &self.ways(x, None)?)),
        }
    }

    /// The way with the fewest refreshes: the powers have levels for the inverse and the product, or they are
    /// refreshed, or the inverse refreshes.
    fn ways(&self, x: &Ciphertext, terms: Option<RefreshTerms>) -> Result<Ways> {
        let context = x.context();
        let kept = terms.map_or(0, |terms| terms.input_level - context.base_level());
        let start = Start::of(&self.exponential, x);
        let (_, most) = self.inverse.interval();
        let way = |end: usize, refreshes_powers: bool| -> Result<Ways> {
            let exponential = self.exponential.route(context, start, end, terms)?;
            let left = if refreshes_powers { context.spec().depth } else { exponential.end() };
            let inverse = Start { left, clears: false, bound: most, entries: most };
            let inverse = self.inverse.route(context, inverse, 1, terms)?;
            let refreshes = exponential.refreshes() + usize::from(refreshes_powers) + inverse.refreshes();
            Ok(Ways { exponential, refreshes_powers, inverse, refreshes })
        };
        let direct = way(self.depth() - self.exponential.depth(), false);
        let Some(terms) = terms else { return direct };
        let refreshes_inside = way(1, false).ok();
        let is_small = terms.takes(self.exponential.bound()) && context.spec().depth > kept;
        let refreshes_powers =
            if is_small { way(0, true).ok().filter(|way| way.exponential.end() >= kept) } else { None };
        let others = [refreshes_powers, refreshes_inside].into_iter().flatten();
        match (direct, others.min_by_key(|way| way.refreshes)) {
            (Ok(direct), Some(other)) if direct.refreshes <= other.refreshes => Ok(direct),
            (_, Some(other)) => Ok(other),
            (direct, None) => direct,
        }
    }

    fn run(&self, engine: &Engine, x: &Ciphertext, ways: &Ways) -> Result<Ciphertext> {
        let plain = engine.plain();
        let x = self.exponential.arguments(engine, std::slice::from_ref(x), &ways.exponential, Numbers::Any)?;
        let stated = self.exponential.statements_on(&x[0], &ways.exponential)?.steps;
        let context = x[0].context().clone();
        let e = self.exponential.run_list(engine, (x, Numbers::Any), &ways.exponential, &[stated])?.remove(0);
        let e = plain.rescale(&plain.add_plain(&e, &self.correction())?)?.with_zeros_beside(self.row.entries);
        let e = if ways.refreshes_powers { engine.refresh_all(&[e])?.remove(0) } else { e };
        let (least, most) = self.inverse.interval();
        // Slots beside the entries hold other sums, perhaps 0. The first polynomial of the inverse clears them; products
        // with the sum itself meet them, within the bounds of its steps.
        let sum = plain.rescale(&self.total.apply(&plain, &e)?)?;
        let sum = sum.with_entries(self.row.entries).with_magnitude(most);
        let stated = self.inverse.statements_on(&sum, &ways.inverse)?.steps;
        let argument = (vec![sum.clone()], Numbers::Any);
        let inverse = self.inverse.run_list(engine, argument, &ways.inverse, &[stated])?.remove(0);
        let product = plain.multiply(&e, &inverse)?;
        let level = product.level();
        // y = e·Q(S): what S and Q are off by is multiplied by e, which is at most 1 and at most S.
        let weighted = self.inverse.weighted_errors(&sum, &ways.inverse, |s| s.min(1.0))?;
        let own = context
            .relinearisation_errors(level, self.row.slots)
            .plus(context.steering_errors(level, self.row.slots, self.row.slots, 1.0))
            .plus(context.steering_errors(level, self.row.slots, self.row.slots, 1.0 / least));
        let (of_e, of_inverse) = (e.slot_errors(), inverse.slot_errors());
        let errors = of_e.times(1.0 / least).plus(weighted).plus(of_e.product(of_inverse)).plus(own);
        Ok(product.analysed(1.0 + self.distance, errors).approximating(self.distance))
    }

    /// What brings the slots beside the entries to 0.
    fn correction(&self) -> Vec<Complex64> {
        let mut values = vec![Complex64::new(-self.beside, 0.0); self.row.slots];
        values[..self.row.entries].fill(Complex64::ZERO);
        values
    }
}

/// Where a softmax refreshes.
struct Ways {
    exponential: Route,
    refreshes_powers: bool,
    inverse: Route,
    refreshes: usize,
}
