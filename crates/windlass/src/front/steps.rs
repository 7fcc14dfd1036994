//! The multiplicative depth of a computation, from its steps, so that parameters can be chosen for
//! it.
//!
//! Circuits report their depth ([`PolynomialPlan::depth`] and others), and depths of successive
//! steps add. This module adds two rules. First, exact schemes count products with matrices
//! separately ([`ParamSpec::linear_maps`]); in CKKS each one is a rescaling. Second, steps leave
//! values in the slots beside the entries: a folded matrix and a sum leave parts of sums, a
//! polynomial its value at 0. A sum, a matrix that lays copies of the vector, and in CKKS a
//! polynomial that does not bring its argument to −1..1 ([`Polynomial::masks_in_passing`]) then
//! need a mask, which is one more product with constants. Which of these a matrix does is known only
//! when it is planned; the largest depth over all ways is stated.

use crate::circuits::complex::Polynomial;
use crate::circuits::{
    Comparison, ComplexSlots, Extremum, FunctionPlan, LinearPlan, MatrixPlan, MatrixProduct, PolynomialPlan, Power,
    SlotFunction, Softmax, Sorting, TracePlan,
};
use crate::error::Result;
use crate::params::ParamSpec;
use crate::schemes::ckks::CkksSpec;

use super::context::Context;
use super::family::{Approximate, Exact, Family};

/// Products of ciphertexts, and with constants where these are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts {
    products: usize,
    linear_maps: usize,
}

impl Counts {
    /// These and products with constants in sequence.
    fn and_constants<F: Family>(self, count: usize) -> Self {
        if F::RESCALES {
            self.and_products(count)
        } else {
            Self { linear_maps: self.linear_maps.saturating_add(count), ..self }
        }
    }

    /// These and products of ciphertexts in sequence.
    fn and_products(self, count: usize) -> Self {
        Self { products: self.products.saturating_add(count), ..self }
    }

    fn max(self, other: Self) -> Self {
        Self { products: self.products.max(other.products), linear_maps: self.linear_maps.max(other.linear_maps) }
    }
}

/// The depth of successive steps.
///
/// How a matrix is folded is known only when it is planned. So two depths are counted: of the ways after
/// which the slots beside the entries hold zeros, and of those after which they may hold anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// With zeros beside the entries; `None` if no way leaves them.
    clean: Option<Counts>,
    /// With anything beside the entries.
    littered: Option<Counts>,
    /// Whether there is one entry, which is its own sum.
    single: bool,
}

impl Default for Depth {
    /// That of no steps.
    fn default() -> Self {
        Self { clean: Some(Counts::default()), littered: None, single: false }
    }
}

/// The larger of two depths, if there are any.
fn larger(a: Option<Counts>, b: Option<Counts>) -> Option<Counts> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (one, other) => one.or(other),
    }
}

impl Depth {
    /// The depth of these steps, in order.
    pub fn of<F: Family>(steps: &[&dyn Step<F>]) -> Self {
        let mut depth = Self::default();
        steps.iter().for_each(|step| step.add_to(&mut depth));
        depth
    }

    /// Products of ciphertexts in sequence ([`ParamSpec::depth`]); for CKKS, rescalings.
    pub fn products(&self) -> usize {
        self.counts().products
    }

    /// Products with matrices in sequence, for exact schemes ([`ParamSpec::linear_maps`]).
    pub fn linear_maps(&self) -> usize {
        self.counts().linear_maps
    }

    fn counts(&self) -> Counts {
        larger(self.clean, self.littered).unwrap_or_default()
    }

    /// Adds the same to all ways.
    fn add(&mut self, add: impl Fn(Counts) -> Counts) {
        (self.clean, self.littered) = (self.clean.map(&add), self.littered.map(&add));
    }

    /// Adds a mask on the entries, unless the slots beside them hold zeros.
    fn mask<F: Family>(&mut self) {
        let masked = self.littered.take().map(|counts| counts.and_constants::<F>(1));
        self.clean = larger(self.clean, masked);
    }

    /// Leaves anything beside the entries.
    fn litter(&mut self) {
        self.littered = larger(self.littered, self.clean.take());
    }

    /// Leaves zeros beside the entries.
    fn clear(&mut self) {
        self.clean = larger(self.clean, self.littered.take());
    }

    /// Adds products of ciphertexts in sequence.
    fn multiply(&mut self, products: usize) {
        self.add(|counts| counts.and_products(products));
    }

    /// Adds a matrix of one of these forms; `single` for a matrix of one row.
    fn multiply_matrix<F: Family>(&mut self, products: usize, single: bool, forms: &[Form]) {
        let way = |form: &Form| {
            let mut own = *self;
            if *form == Form::Copies {
                own.mask::<F>();
            }
            own.add(|counts| counts.and_constants::<F>(products));
            if *form == Form::Sums {
                own.litter()
            } else {
                own.clear()
            }
            own
        };
        let ways: Vec<Self> = forms.iter().map(way).collect();
        self.clean = ways.iter().fold(None, |depth, way| larger(depth, way.clean));
        self.littered = ways.iter().fold(None, |depth, way| larger(depth, way.littered));
        self.single = single;
    }
}

/// How a matrix treats the slots beside the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// It leaves zeros there, whatever they held.
    Plain,
    /// It lays copies of the vector there, so they must hold zeros.
    Copies,
    /// It leaves parts of sums there.
    Sums,
}

impl Form {
    /// That of a plan.
    fn of(copies: bool, sums: bool) -> Self {
        match (copies, sums) {
            (true, _) => Self::Copies,
            (false, true) => Self::Sums,
            (false, false) => Self::Plain,
        }
    }
}

/// One step of a computation, on contexts of a family.
///
/// A step is a number of products (`usize`), a circuit, or a matrix (`Vec<Vec<T>>`, [`MatrixShape`],
/// or [`AnyMatrix`] for any size).
pub trait Step<F: Family> {
    /// Adds the depth of this step.
    fn add_to(&self, depth: &mut Depth);
}

/// Products of ciphertexts in sequence. For CKKS, products with vectors and with numbers that are
/// not integers count as well.
impl<F: Family> Step<F> for usize {
    fn add_to(&self, depth: &mut Depth) {
        depth.multiply(*self);
    }
}

/// A dense matrix of any size, which may be folded either way.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnyMatrix;

impl<F: Family> Step<F> for AnyMatrix {
    fn add_to(&self, depth: &mut Depth) {
        depth.multiply_matrix::<F>(1, false, &[Form::Copies, Form::Sums]);
    }
}

/// A dense matrix of a size. One with at least twice as many columns as rows is not folded by
/// columns, and leaves parts of sums in the slots beside the entries if it is folded by rows. One
/// with at least twice as many rows as columns is not folded by rows, and needs zeros in those slots
/// if it is folded by columns. Between these it may be either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixShape {
    /// R.
    pub rows: usize,
    /// C.
    pub columns: usize,
}

impl<F: Family> Step<F> for MatrixShape {
    fn add_to(&self, depth: &mut Depth) {
        let is_twice = |a: usize, b: usize| a >= b.saturating_mul(2);
        let forms: &[Form] = match (is_twice(self.columns, self.rows), is_twice(self.rows, self.columns)) {
            (true, false) => &[Form::Sums],
            (false, true) => &[Form::Copies],
            _ => &[Form::Copies, Form::Sums],
        };
        depth.multiply_matrix::<F>(1, self.rows == 1, forms);
    }
}

impl<F: Family, T> Step<F> for Vec<Vec<T>> {
    fn add_to(&self, depth: &mut Depth) {
        let shape = MatrixShape { rows: self.len(), columns: self.first().map_or(0, Vec::len) };
        Step::<F>::add_to(&shape, depth);
    }
}

impl Step<Exact> for LinearPlan {
    fn add_to(&self, depth: &mut Depth) {
        depth.multiply_matrix::<Exact>(1, false, &[Form::Plain]);
    }
}

impl Step<Approximate> for LinearPlan<ComplexSlots> {
    fn add_to(&self, depth: &mut Depth) {
        depth.multiply_matrix::<Approximate>(self.depth(), false, &[Form::Plain]);
    }
}

impl Step<Exact> for MatrixPlan {
    fn add_to(&self, depth: &mut Depth) {
        let form = Form::of(self.copies().is_some(), self.sum().is_some());
        depth.multiply_matrix::<Exact>(1, self.rows() == 1, &[form]);
    }
}

impl Step<Approximate> for MatrixPlan<ComplexSlots> {
    fn add_to(&self, depth: &mut Depth) {
        let form = Form::of(self.copies().is_some(), self.sum().is_some());
        depth.multiply_matrix::<Approximate>(self.depth(), self.rows() == 1, &[form]);
    }
}

impl Step<Approximate> for Polynomial {
    fn add_to(&self, depth: &mut Depth) {
        if !self.masks_in_passing() {
            depth.mask::<Approximate>();
        }
        depth.multiply(self.depth());
        if !self.keeps_zero() {
            depth.litter();
        }
    }
}

impl Step<Approximate> for FunctionPlan {
    fn add_to(&self, depth: &mut Depth) {
        if !self.masks_in_passing() {
            depth.mask::<Approximate>();
        }
        depth.multiply(self.depth());
        if !self.keeps_zero() {
            depth.litter();
        }
    }
}

/// It leaves zeros beside the entries.
impl Step<Approximate> for Softmax {
    fn add_to(&self, depth: &mut Depth) {
        if !self.masks_in_passing() {
            depth.mask::<Approximate>();
        }
        depth.multiply(self.depth());
        depth.clear();
    }
}

/// Its maps clear what is beside the entries.
impl Step<Approximate> for MatrixProduct {
    fn add_to(&self, depth: &mut Depth) {
        depth.multiply(self.depth());
        depth.clear();
    }
}

/// Its masks clear what is beside the entries. Entries that were not asked for become such slots.
impl Step<Approximate> for Sorting {
    fn add_to(&self, depth: &mut Depth) {
        depth.multiply(self.depth());
        if self.results() < self.row().entries {
            depth.litter()
        } else {
            depth.clear()
        }
        depth.single = self.results() == 1;
    }
}

/// The other operand is counted like the first.
impl Step<Approximate> for Extremum {
    fn add_to(&self, depth: &mut Depth) {
        Step::<Approximate>::add_to(self.of_difference(), depth);
    }
}

/// A sum has depth 0. It needs zeros beside the entries, and leaves other sums there. One entry is its own
/// sum.
impl<F: Family> Step<F> for TracePlan {
    fn add_to(&self, depth: &mut Depth) {
        if !depth.single {
            depth.mask::<F>();
        }
        depth.litter();
        depth.single = true;
    }
}

/// Circuits of exact schemes, slot by slot: the depth they report, and whether 0 goes to 0.
macro_rules! of_circuits {
    ($($circuit:ty, $keeps_zero:expr);*) => {
        $(impl Step<Exact> for $circuit {
            fn add_to(&self, depth: &mut Depth) {
                depth.multiply(self.depth());
                let keeps_zero: fn(&$circuit) -> bool = $keeps_zero;
                if !keeps_zero(self) {
                    depth.litter();
                }
            }
        })*
    };
}

// What stands beside the entries of the other operand of a comparison is not known.
of_circuits!(PolynomialPlan, Self::keeps_zero; SlotFunction, Self::keeps_zero; Power, |_| true; Comparison, |_| false);

impl Context {
    /// The smallest parameter set for successive steps. `spec` gives everything else; its `depth`
    /// and `linear_maps` are ignored. See [`Self::plan`].
    ///
    /// ```
    /// use windlass::circuits::PolynomialPlan;
    /// use windlass::{Context, ParamSpec};
    ///
    /// let (layer, square) = (vec![vec![1i64; 100]; 2], PolynomialPlan::new(&[0, 0, 1]));
    /// let context = Context::plan_for(&ParamSpec { slots: 100, ..ParamSpec::default() }, &[&layer, &square])?;
    /// assert!(context.params().depth() >= 1);
    /// # Ok::<(), windlass::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::plan`].
    pub fn plan_for(spec: &ParamSpec, steps: &[&dyn Step<Exact>]) -> Result<Self> {
        let (depth, number) = (Depth::of(steps), |count: usize| u32::try_from(count).unwrap_or(u32::MAX));
        let (products, linear_maps) = (number(depth.products()), number(depth.linear_maps()));
        Self::plan(&ParamSpec { depth: products, linear_maps, ..spec.clone() })
    }
}

impl Context<Approximate> {
    /// The smallest context for real and complex numbers (CKKS) with 128 bits of security for
    /// successive steps. Scale, values and slots are as in [`CkksSpec::secure`].
    ///
    /// ```
    /// use windlass::Context;
    /// use windlass::circuits::{MatrixPlan, MatrixSpec, Polynomial};
    ///
    /// let (weights, sigmoid) = (vec![vec![0.01; 100]], Polynomial::sigmoid(8.0, 7)?);
    /// let context = Context::approximate_for(&[&weights, &sigmoid], 40, 16, 100)?;
    /// assert_eq!(context.ckks().spec().depth, 1 + sigmoid.depth());
    /// # Ok::<(), windlass::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CkksSpec::secure`].
    pub fn approximate_for(
        steps: &[&dyn Step<Approximate>],
        scale_bits: u32,
        value_bits: u32,
        slots: usize,
    ) -> Result<Self> {
        Self::approximate(&CkksSpec::secure(Depth::of(steps).products(), scale_bits, value_bits, slots)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuits::{TraceChain, TraceSpec};

    fn depth(steps: &[&dyn Step<Approximate>]) -> usize {
        Depth::of(steps).products()
    }

    fn exact(steps: &[&dyn Step<Exact>]) -> (usize, usize) {
        let depth = Depth::of(steps);
        (depth.products(), depth.linear_maps())
    }

    fn sum() -> TracePlan {
        let context = Context::preset("insecure_toy_256").unwrap();
        TracePlan::new(&TraceChain::total(context.slot_ring()).unwrap(), &TraceSpec::default()).unwrap()
    }

    /// Values beside the entries are cleared where no interval does it, and only once.
    #[test]
    fn depths_add_and_what_is_left_beside_entries_is_cleared() {
        let (moved, powers) = (Polynomial::sigmoid(8.0, 7).unwrap(), Polynomial::monomial(&[0.0, 1.0, 1.0]).unwrap());
        assert_eq!(depth(&[]), 0);
        assert_eq!(depth(&[&AnyMatrix, &moved]), 1 + moved.depth());
        assert_eq!(depth(&[&AnyMatrix, &powers]), 2 + powers.depth());
        assert_eq!(depth(&[&AnyMatrix, &3usize, &powers, &powers]), 5 + 2 * powers.depth());
        assert_eq!(depth(&[&powers, &AnyMatrix]), 1 + powers.depth());
        assert_eq!(depth(&[&usize::MAX, &powers]), usize::MAX);
        let square = PolynomialPlan::new(&[0, 0, 1]);
        assert_eq!(exact(&[&AnyMatrix, &square, &vec![vec![1]; 2], &2usize]), (3, 3));
    }

    /// A polynomial with p(0) ≠ 0 leaves that beside the entries.
    #[test]
    fn what_a_polynomial_leaves_is_cleared_before_sums_copies_and_polynomials() {
        let (tall, wide) = (MatrixShape { rows: 1000, columns: 10 }, MatrixShape { rows: 10, columns: 1000 });
        let p = Polynomial::monomial(&[0.5, 1.0, 1.0]).unwrap();
        let moved = Polynomial::sigmoid(4.0, 7).unwrap();
        let [odd, even, both] = [[0.0, 1.0, 0.0, 0.5], [0.5, 0.0, 0.5, 0.0], [0.0, 0.5, 0.2, 0.1]]
            .map(|coefficients| Polynomial::chebyshev(&coefficients, -1.0, 1.0).unwrap());
        let aside = Polynomial::chebyshev(odd.coefficients(), -1.0, 2.0).unwrap();
        assert_eq!([&odd, &even, &both, &aside].map(Polynomial::keeps_zero), [true, false, false, false]);
        let sum = sum();
        for first in [&p, &moved, &even, &both, &aside] {
            assert_eq!(depth(&[first, &sum]), first.depth() + 1);
            assert_eq!(depth(&[first, &tall]), first.depth() + 2);
            assert_eq!(depth(&[first, &wide]), first.depth() + 1);
            assert_eq!(depth(&[first, &AnyMatrix]), first.depth() + 2);
            assert_eq!(depth(&[first, &even]), first.depth() + 1 + even.depth());
            assert_eq!(depth(&[first, &moved]), first.depth() + moved.depth());
        }
        assert_eq!(depth(&[&sum]), 0);
        assert_eq!(depth(&[&odd, &odd, &sum]), 2 * odd.depth());
        assert_eq!(depth(&[&wide, &sum, &sum]), 2);
        assert_eq!(depth(&[&tall, &sum]), 1);
        assert_eq!(depth(&[&wide, &odd, &sum]), 2 + odd.depth());
        // One entry is its own sum.
        let one = MatrixShape { rows: 1, columns: 100 };
        assert_eq!((depth(&[&sum, &sum]), depth(&[&one, &sum]), depth(&[&sum, &odd, &sum])), (0, 1, 1 + odd.depth()));
        assert_eq!(depth(&[&sum, &tall, &sum]), 2);
        // A matrix lays copies or leaves sums, and does not do both.
        let square = MatrixShape { rows: 10, columns: 12 };
        assert_eq!((depth(&[&sum, &square]), depth(&[&square, &sum]), depth(&[&sum, &square, &sum])), (2, 2, 2));
        assert_eq!(depth(&[&p, &square, &square, &square, &sum]), p.depth() + 5);
        // In exact schemes a mask counts as a linear map.
        let context = Context::preset("insecure_toy_256").unwrap();
        let negative = SlotFunction::is_negative(context.slot_ring(), 3).unwrap();
        let is_zero = SlotFunction::is_zero(context.slot_ring()).unwrap();
        for (circuit, masks) in [(&negative, 0), (&is_zero, 1)] {
            assert_eq!(exact(&[circuit, &sum]), (circuit.depth(), masks));
        }
        let [cubic, shifted] = [0, 5].map(|c| PolynomialPlan::new(&[c, 1, 0, 2]));
        let power = Power::new(3).unwrap();
        assert_eq!(exact(&[&cubic, &power, &sum]), (4, 0));
        assert_eq!(exact(&[&shifted, &power, &sum]), (4, 1));
        assert_eq!(exact(&[&shifted, &tall, &wide, &tall]), (2, 5));
        assert_eq!(exact(&[&Comparison::equals(context.slot_ring()).unwrap(), &sum]).1, 1);
    }
}
