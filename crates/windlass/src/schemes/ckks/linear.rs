//! Linear maps on complex slots: the same sums of automorphisms with constants, planned and run by the same code as over exact slots.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use num_complex::Complex64;
use rayon::prelude::*;

use super::automorphism::Constant;
use super::ciphertext::Ciphertext;
use super::context::CkksContext;
use super::engine::Engine;
use crate::circuits::linear::axes::{Axes, Axis};
use crate::circuits::linear::execute;
use crate::circuits::linear::factoring::Layout;
use crate::circuits::linear::plan::choose;
use crate::circuits::linear::prepare::PreparedRow;
use crate::circuits::linear::{OperationCount, PlanSpec, PreparedPlan, Strategy};
use crate::error::{Error, Result};

/// A map `z ↦ Σ_t κ_t · θ_t(z)` on vectors of s complex slots: rotations (t = 5^r), conjugation (t = −1), and their products. Every
/// R-linear map on C^s has exactly one such form with r < s.
#[derive(Debug, Clone)]
pub struct ComplexMap {
    context: Arc<CkksContext>,
    slots: usize,
    /// (r, conjugated) ↦ κ; zero terms are never stored.
    terms: BTreeMap<(usize, bool), Vec<Complex64>>,
}

impl ComplexMap {
    /// The map that sends everything to 0, on `slots` slots.
    ///
    /// # Errors
    /// [`Error::SlotCount`].
    pub fn zero(context: &Arc<CkksContext>, slots: usize) -> Result<Self> {
        context.check_slots(slots)?;
        Ok(Self { context: Arc::clone(context), slots, terms: BTreeMap::new() })
    }

    /// One term: rotation by `amount` (slot j takes slot j + amount), then conjugation if asked for, then the constant.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for a constant of another length; [`Error::NotFinite`]; [`Error::SlotCount`].
    pub fn term(context: &Arc<CkksContext>, amount: i64, conjugate: bool, constant: &[Complex64]) -> Result<Self> {
        let mut map = Self::zero(context, constant.len())?;
        context.check_values(constant, f64::INFINITY)?;
        map.accumulate((amount.rem_euclid(constant.len() as i64) as usize, conjugate), constant.to_vec())?;
        Ok(map)
    }

    /// The rotation by `amount`.
    ///
    /// # Errors
    /// [`Error::SlotCount`].
    pub fn rotation(context: &Arc<CkksContext>, slots: usize, amount: i64) -> Result<Self> {
        context.check_slots(slots)?;
        Self::term(context, amount, false, &vec![Complex64::new(1.0, 0.0); slots])
    }

    /// An s × s matrix: slot i of the result is `Σ_k entry(i, k)·z_k`.
    ///
    /// # Errors
    /// [`Error::SlotCount`]; [`Error::NotFinite`] for an entry that is none (by row).
    pub fn matrix(
        context: &Arc<CkksContext>,
        slots: usize,
        entry: impl Fn(usize, usize) -> Complex64 + Sync,
    ) -> Result<Self> {
        let mut map = Self::zero(context, slots)?;
        let diagonal = |r: usize| (0..slots).map(|j| entry(j, (j + r) % slots)).collect::<Vec<_>>();
        let diagonals: Vec<Vec<Complex64>> = (0..slots).into_par_iter().map(diagonal).collect();
        for (r, constant) in diagonals.into_iter().enumerate() {
            context.check_values(&constant, f64::INFINITY)?;
            map.accumulate((r, false), constant)?;
        }
        Ok(map)
    }

    /// Running sums, slot i becoming `Σ_{k≤i} z_k`, as a product of `groups` maps (see [`crate::circuits::trace::running_sum_maps`]).
    ///
    /// # Errors
    /// [`Error::SlotCount`]; [`Error::OutOfRange`] for a number of groups outside 1..=log2(slots).
    pub fn running_sums(context: &Arc<CkksContext>, slots: usize, groups: usize) -> Result<Vec<Self>> {
        context.check_slots(slots)?;
        let radices = crate::circuits::trace::shift_radices(slots, groups)?;
        let maps = radices.into_iter().map(|(stride, radix)| {
            let mut map = Self::zero(context, slots)?;
            for shift in (0..radix).map(|k| k * stride) {
                let kept = |j: usize| Complex64::new(if j >= shift { 1.0 } else { 0.0 }, 0.0);
                map.accumulate(((slots - shift) % slots, false), (0..slots).map(kept).collect())?;
            }
            Ok(map)
        });
        maps.collect()
    }

    /// Errors: [`Error::NotFinite`] where the sum overflows.
    fn accumulate(&mut self, place: (usize, bool), constant: Vec<Complex64>) -> Result<()> {
        let sum: Vec<Complex64> = match self.terms.remove(&place) {
            Some(present) => present.iter().zip(&constant).map(|(a, b)| a + b).collect(),
            None => constant,
        };
        self.context.check_values(&sum, f64::INFINITY)?;
        if sum.iter().any(|&z| z != Complex64::ZERO) {
            self.terms.insert(place, sum);
        }
        Ok(())
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether this is the zero map.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    fn check(&self, other: &Self, operation: &'static str) -> Result<()> {
        if Arc::ptr_eq(&self.context, &other.context) && self.slots == other.slots {
            return Ok(());
        }
        let name = |map: &Self| format!("{} slots of CKKS {}", map.slots, map.context.rlwe().params().id());
        Err(Error::ContextMismatch { operation, left: name(self), right: name(other) })
    }

    /// The sum of two maps.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`]; [`Error::NotFinite`] when a constant overflows.
    pub fn add(&self, other: &Self) -> Result<Self> {
        self.check(other, "ComplexMap::add")?;
        let mut sum = self.clone();
        other.terms.iter().try_for_each(|(&place, constant)| sum.accumulate(place, constant.clone()))?;
        Ok(sum)
    }

    /// `self ∘ first`: `(κ·θ_a)(κ'·θ_b) = κ·θ_a(κ')·θ_{ab}`.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`]; [`Error::NotFinite`] when a constant overflows.
    pub fn compose(&self, first: &Self) -> Result<Self> {
        self.check(first, "ComplexMap::compose")?;
        let mut map = Self::zero(&self.context, self.slots)?;
        for (&(r, conjugate), outer) in &self.terms {
            for (&(r2, conjugate2), inner) in &first.terms {
                let moved = moved(inner, r, conjugate);
                let product = outer.iter().zip(&moved).map(|(a, b)| a * b).collect();
                map.accumulate(((r + r2) % self.slots, conjugate ^ conjugate2), product)?;
            }
        }
        Ok(map)
    }

    /// The image of a vector: the definition, term by term.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub fn apply(&self, values: &[Complex64]) -> Result<Vec<Complex64>> {
        if values.len() != self.slots {
            return Err(Error::ShapeMismatch { what: "slots", expected: self.slots, got: values.len() });
        }
        let mut image = vec![Complex64::ZERO; self.slots];
        for (&(r, conjugate), constant) in &self.terms {
            let moved = moved(values, r, conjugate);
            image.iter_mut().zip(constant.iter().zip(&moved)).for_each(|(sum, (a, b))| *sum += a * b);
        }
        Ok(image)
    }

    fn element(&self, (r, conjugate): (usize, bool)) -> u64 {
        let m = 2 * self.context.spec().n as u64;
        let rotation = self.context.rotation_element(r as i64);
        if conjugate { m - rotation } else { rotation }
    }
}

/// Slot j becomes slot j + r, conjugated if asked for.
fn moved(values: &[Complex64], r: usize, conjugate: bool) -> Vec<Complex64> {
    let at = |j: usize| values[(j + r) % values.len()];
    (0..values.len()).map(|j| if conjugate { at(j).conj() } else { at(j) }).collect()
}

/// A way to evaluate a [`ComplexMap`]: any strategy of the exact schemes.
#[derive(Debug, Clone)]
pub struct ComplexPlan {
    map: ComplexMap,
    layout: Layout,
    /// Where the element t of the support stands in the map.
    places: BTreeMap<u64, (usize, bool)>,
    strategy: Strategy,
    count: OperationCount,
    price: f64,
}

/// The constants of a plan, prepared for one level.
pub struct PreparedMap {
    level: usize,
    rows: PreparedPlan<Engine>,
}

impl ComplexPlan {
    /// The cheapest plan that the strategy offers and the keys allow.
    ///
    /// # Errors
    /// [`Error::MissingGaloisKey`], [`Error::Unplannable`] as for the exact schemes.
    pub fn new(map: &ComplexMap, spec: &PlanSpec) -> Result<Self> {
        let n = map.context.spec().n;
        let m = 2 * n as u64;
        let rotations = Axis { generator: 5, size: n / 2, frobenius: false };
        let axes = Axes::new(m, vec![rotations, Axis { generator: m - 1, size: 2, frobenius: true }]);
        let places: BTreeMap<u64, (usize, bool)> = map.terms.keys().map(|&place| (map.element(place), place)).collect();
        let support: Vec<u64> = places.keys().copied().collect();
        let chosen = choose(&axes, m, &support, 0, spec)?;
        let (layout, count, price) = (chosen.layout, chosen.count, chosen.price);
        Ok(Self { map: map.clone(), layout, places, strategy: spec.strategy, count, price })
    }

    /// The automorphisms that need keys.
    pub fn required_keys(&self) -> BTreeSet<u64> {
        self.layout.keys()
    }

    /// How often each operation is used.
    pub fn count(&self) -> OperationCount {
        self.count
    }

    /// The predicted time, in the unit of the prices.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// The plan in words.
    pub fn explain(&self) -> String {
        format!(
            "linear map on {} complex slots, n = {}: {} automorphisms, strategy {}\n  uses:  {}\n  price: {:.1}",
            self.map.slots,
            self.map.context.spec().n,
            self.map.len(),
            self.strategy,
            self.count,
            self.price
        )
    }

    /// Encodes the constants at the scale of one level; done once for any number of [`Self::apply`].
    ///
    /// # Errors
    /// [`Error::ContextMismatch`]; [`Error::OutOfRange`] for the level.
    pub fn prepare(&self, engine: &Engine, level: usize) -> Result<PreparedMap> {
        let m = 2 * self.map.context.spec().n as u64;
        if !Arc::ptr_eq(engine.context(), &self.map.context) {
            let id = |context: &CkksContext| context.rlwe().params().id().to_string();
            let (left, right) = (id(engine.context()), id(&self.map.context));
            return Err(Error::ContextMismatch { operation: "ComplexPlan::prepare", left, right });
        }
        let rows = self.layout.rows.par_iter().zip(self.layout.outputs.nodes()).map(|(row, node)| {
            // θ_o^{-1} of the constants: the rotation and conjugation of the output, undone.
            let conjugate = node.element % 4 == 3;
            let rotation = if conjugate { m - node.element } else { node.element };
            let back = self.map.slots - self.logarithm(rotation) % self.map.slots;
            let constant = |&(input, t): &(usize, u64)| -> Result<(usize, Constant)> {
                let moved = moved(&self.map.terms[&self.places[&t]], back, conjugate);
                Ok((input, engine.prepare(&moved, level)?))
            };
            Ok(PreparedRow { weighted: row.iter().map(constant).collect::<Result<_>>()?, plain: Vec::new() })
        });
        let rows = PreparedPlan::from_rows(rows.collect::<Result<_>>()?);
        Ok(PreparedMap { level, rows })
    }

    /// r with 5^r ≡ element.
    fn logarithm(&self, element: u64) -> usize {
        let m = 2 * self.map.context.spec().n as u64;
        let mut power = 1;
        (0..self.map.context.most_slots())
            .find(|_| {
                let found = power == element;
                power = power * 5 % m;
                found
            })
            .expect("elements that are 1 modulo 4 are powers of 5")
    }

    /// Evaluates the map, with constants that [`Self::prepare`] encoded; a ciphertext above their level is lowered first. The image is a
    /// product of degree 2.
    ///
    /// # Errors
    /// [`Error::MissingGaloisKey`]; [`Error::OutOfRange`] for a ciphertext below the level of the constants; [`Error::ShapeMismatch`] for one
    /// with another number of slots; what the evaluator reports.
    pub fn apply(&self, prepared: &PreparedMap, engine: &Engine, ciphertext: &Ciphertext) -> Result<Ciphertext> {
        if self.map.slots % ciphertext.slots() != 0 {
            let (expected, got) = (self.map.slots, ciphertext.slots());
            return Err(Error::ShapeMismatch { what: "slots of the ciphertext", expected, got });
        }
        execute::run(&self.layout, &prepared.rows, engine, &*engine.lowered(ciphertext, prepared.level)?)
    }

    /// [`Self::prepare`] at the level of the ciphertext and [`Self::apply`].
    ///
    /// # Errors
    /// As there.
    pub fn apply_once(&self, engine: &Engine, ciphertext: &Ciphertext) -> Result<Ciphertext> {
        let ciphertext = engine.rescaled(ciphertext)?;
        self.apply(&self.prepare(engine, ciphertext.level())?, engine, &ciphertext)
    }
}
