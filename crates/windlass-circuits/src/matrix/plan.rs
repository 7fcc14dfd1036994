//! Plans: a matrix with the cheapest layout for its product.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_schemes::error::Result;
use windlass_schemes::switching::Switching;

use super::fold::Side;
use crate::linear::{
    ComplexSlots, CostModel, Folded, LinearPlan, OperationCount, PlanSpec, Plannable, Planned, PreparedPlan, Prepares,
    impl_plan,
};
use crate::trace::TracePlan;

/// Whether a matrix is folded: its entries laid in blocks of few slots, which are added after the
/// products, or meet copies of the vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Folding {
    /// Where that costs less.
    #[default]
    Automatic,
    /// Never: slots beyond the rows become 0.
    Never,
    /// Always, or no plan at all.
    Always,
}

/// What the plan of a matrix may use and what it should prefer.
#[derive(Debug, Clone, Default)]
pub struct MatrixSpec {
    /// For the products, and as far as keys and prices go for the sums.
    pub linear: PlanSpec,
    /// Whether to fold.
    pub folding: Folding,
    /// That all slots beyond the vector hold zeros, as those of a fresh encryption do. Then a
    /// matrix with many more rows than columns may be folded too: copies of the vector are laid
    /// beside it first.
    ///
    /// **Warning.** If such a slot holds anything else, the product is wrong. No error is returned:
    /// a server cannot see what slots hold.
    pub zeros_beyond: bool,
}

impl MatrixSpec {
    /// The cheapest plan of this folding.
    pub fn with_folding(folding: Folding) -> Self {
        Self { folding, ..Self::default() }
    }
}

/// How a folded plan uses its sum.
#[derive(Debug, Clone)]
pub(super) struct FoldedSum {
    pub side: Side,
    /// Of the blocks of the product, or of shifts of the vector: its copies.
    pub sum: TracePlan,
}

/// The product of an R × C matrix with an encrypted vector: row i in slot i. In CKKS it takes one
/// rescaling.
///
/// There are three ways (Juvekar, Vaikuntanathan, Chandrakasan, "Gazelle", 2018, §4.2, and its
/// transpose):
/// - *direct*: one [`LinearPlan`] of R + C − 1 diagonals. Slots beyond the rows become 0.
/// - *folded by rows*: products with w ≥ R diagonals, then a sum over about (R + C)/w blocks by a
///   [`TracePlan`]. **Warning.** Slots beyond the rows hold parts of other sums. If they must be
///   zero, multiply by a mask, or plan with [`Folding::Never`].
/// - *folded by columns*: a sum of shifts that lays about (R + C)/w copies of the vector beside it,
///   then products with w ≥ C diagonals. Only if [`MatrixSpec::zeros_beyond`] promises that slots
///   beyond the vector hold zeros. Slots beyond the rows become 0.
///
/// Vectors longer than the slots are several ciphertexts, as a [`crate::LinearGrid`] has
/// them.
///
#[cfg_attr(not(doctest), doc = include_str!("../examples/matrix.md"))]
#[derive(Debug, Clone)]
pub struct MatrixPlan<R: Plannable = Arc<SlotRing>> {
    products: LinearPlan<R>,
    folded: Option<FoldedSum>,
    rows: usize,
    columns: usize,
    /// The largest Σ_k|a_ik| and a bound on the spectral norm, for complex slots.
    norms: (f64, f64),
    /// The number of slots.
    slots: usize,
}

impl MatrixPlan<ComplexSlots> {
    /// The number of rescalings that a product takes.
    pub fn depth(&self) -> usize {
        self.products.depth()
    }
}

impl<R: Planned> MatrixPlan<R> {
    /// The plan in words, by the prices that chose it. See [`Self::explain_at`].
    pub fn explain(&self) -> String {
        self.explain_at(&self.products.spec().cost)
    }

    /// As [`Self::explain`], with times and sizes by other prices: `context.prices()`,
    /// [`CostModel::measure`].
    pub fn explain_at(&self, prices: &CostModel) -> String {
        let way = match &self.folded {
            None => "direct".to_owned(),
            Some(FoldedSum { side, sum }) => {
                let blocks: u64 = sum.chain().factors().iter().map(|factor| factor.count).product();
                match side {
                    Side::Rows => format!("folded, {blocks} blocks to add"),
                    Side::Columns => format!("folded, {blocks} copies of the vector"),
                }
            }
        };
        let sum = self.any_sum().map_or(String::new(), |sum| format!("\n{}", sum.explain_at(prices)));
        let (rows, columns) = (self.rows, self.columns);
        format!("matrix of {rows} x {columns}, {way}\n{}{sum}", self.products.explain_at(prices))
    }
}

impl_plan!([<R: Planned>] MatrixPlan<R>, |plan| {
    format!("a matrix of {} rows and {} columns", plan.rows(), plan.columns())
});

impl<R: Plannable> MatrixPlan<R> {
    pub(super) fn new(
        products: LinearPlan<R>,
        folded: Option<FoldedSum>,
        (rows, columns): (usize, usize),
        (norms, slots): ((f64, f64), usize),
    ) -> Self {
        Self { products, folded, rows, columns, norms, slots }
    }

    /// The products with the diagonals.
    pub fn products(&self) -> &LinearPlan<R> {
        &self.products
    }

    /// Whether the matrix is folded by rows ([`Self::sum`]) or by columns ([`Self::copies`]).
    pub fn is_folded(&self) -> bool {
        self.sum().is_some() || self.copies().is_some()
    }

    /// The sum of the blocks that follows them, if the matrix is folded by rows.
    pub fn sum(&self) -> Option<&TracePlan> {
        self.on(Side::Rows)
    }

    /// The sum of shifts before them that makes copies of the vector, if the matrix is folded by
    /// columns.
    pub fn copies(&self) -> Option<&TracePlan> {
        self.on(Side::Columns)
    }

    fn on(&self, side: Side) -> Option<&TracePlan> {
        self.folded.as_ref().filter(|folded| folded.side == side).map(|folded| &folded.sum)
    }

    fn any_sum(&self) -> Option<&TracePlan> {
        self.folded.as_ref().map(|folded| &folded.sum)
    }

    /// R, the length of the result.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// C: the length of the vector.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The automorphisms that need keys: with just these the plan runs.
    pub fn required_keys(&self) -> BTreeSet<u64> {
        let mut keys = self.products.required_keys();
        keys.extend(self.any_sum().into_iter().flat_map(TracePlan::required_keys));
        keys
    }

    /// How often each operation is used.
    pub fn count(&self) -> OperationCount {
        let sum = self.any_sum().map(TracePlan::count).unwrap_or_default();
        OperationCount { keys: self.required_keys().len(), ..self.products.count() + sum }
    }

    /// The predicted time, in the unit of the prices.
    pub fn price(&self) -> f64 {
        self.products.price() + self.any_sum().map_or(0.0, TracePlan::price)
    }

    /// By this number, which only its copies share, constants are tied to the plan.
    pub fn number(&self) -> u64 {
        self.products.number()
    }

    /// Converts the constants: see [`LinearPlan::prepare`].
    ///
    /// # Errors
    /// As there.
    pub fn prepare<E: Prepares<R>>(&self, evaluator: &E) -> Result<PreparedPlan<E, R>> {
        self.products.prepare(evaluator)
    }

    /// Converts the constants for ciphertexts of levels up to `level` only: see
    /// [`LinearPlan::prepare_at`].
    ///
    /// # Errors
    /// As there.
    pub fn prepare_at<E: Prepares<R>>(&self, evaluator: &E, level: usize) -> Result<PreparedPlan<E, R>> {
        self.products.prepare_at(evaluator, level)
    }

    /// The product with one encrypted vector.
    ///
    /// Cost: what [`Self::count`] says.
    ///
    /// # Errors
    /// Those of [`LinearPlan::apply`] and of [`TracePlan::apply`], before any work.
    pub fn apply<E: Prepares<R>>(
        &self,
        prepared: &PreparedPlan<E, R>,
        evaluator: &E,
        ciphertext: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        self.check_sum(evaluator, ciphertext)?;
        let product = self.products.apply(prepared, evaluator, &*self.with_copies(evaluator, ciphertext)?)?;
        let output = self.add_blocks(evaluator, product)?;
        Ok(self.known(evaluator, 0, std::slice::from_ref(ciphertext), output))
    }

    /// The product with a vector of several ciphertexts: see [`LinearPlan::apply_grid`].
    ///
    /// # Errors
    /// As [`Self::apply`]; [`windlass_schemes::Error::ShapeMismatch`] for another number of ciphertexts.
    pub fn apply_grid<E: Prepares<R>>(
        &self,
        prepared: &PreparedPlan<E, R>,
        evaluator: &E,
        ciphertexts: &[E::Ciphertext],
    ) -> Result<Vec<E::Ciphertext>> {
        if let Some(first) = ciphertexts.first() {
            self.check_sum(evaluator, first)?;
        }
        let outputs = match ciphertexts {
            [only] => {
                let input = self.with_copies(evaluator, only)?;
                self.products.apply_grid(prepared, evaluator, std::slice::from_ref(&*input))?
            }
            several => self.products.apply_grid(prepared, evaluator, several)?,
        };
        let all = outputs.into_iter().enumerate();
        all.map(|(block, output)| {
            let output = self.add_blocks(evaluator, output)?;
            Ok(self.known(evaluator, block, ciphertexts, output))
        })
        .collect()
    }

    /// The output, with its rows marked as entries for the evaluator.
    fn known<E: Prepares<R>>(
        &self,
        evaluator: &E,
        block: usize,
        inputs: &[E::Ciphertext],
        output: E::Ciphertext,
    ) -> E::Ciphertext {
        let rows = (self.rows - block * self.slots).min(self.slots);
        let (norms, columns, slots) = (self.norms, self.columns, self.slots);
        let known = match &self.folded {
            Some(_) => evaluator.with_rows(output, rows, Some(Folded { norms, columns, slots, inputs })),
            None => output,
        };
        match self.sum() {
            Some(_) => known,
            None => evaluator.with_rows(known, rows, None),
        }
    }

    fn check_sum<E: Switching>(&self, evaluator: &E, input: &E::Ciphertext) -> Result<()> {
        match self.any_sum() {
            Some(sum) => sum.check("product with a matrix", evaluator, input),
            None => Ok(()),
        }
    }

    /// The vector, with its copies where the products want them. Each slot of them holds one value
    /// of the vector or none, so that its bound on values stays.
    fn with_copies<'a, E: Prepares<R>>(
        &self,
        evaluator: &E,
        vector: &'a E::Ciphertext,
    ) -> Result<Cow<'a, E::Ciphertext>> {
        match self.copies() {
            Some(copies) => Ok(Cow::Owned(evaluator.bounded_as(copies.apply(evaluator, vector)?, vector))),
            None => Ok(Cow::Borrowed(vector)),
        }
    }

    fn add_blocks<E: Switching>(&self, evaluator: &E, products: E::Ciphertext) -> Result<E::Ciphertext> {
        match self.sum() {
            Some(sum) => sum.apply(evaluator, &products),
            None => Ok(products),
        }
    }
}
