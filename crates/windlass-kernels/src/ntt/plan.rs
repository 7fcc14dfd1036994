//! The transform of one ring modulo one prime.

use std::cell::RefCell;
use std::sync::Arc;

use super::odd::{Builder, Direction, OddAxis};
use super::pow2::Pow2Plan;
use super::tensor::{AxisKernel, Column, Edges, TensorAxis};
use super::tensor_pow2::ColumnPow2;
use crate::error::KernelError;
use crate::isa::Isa;
use crate::lanes::{self, Block, Kernel, LANES, Lanes};
use crate::modulus::Modulus;
use crate::ntt::{Axis, Shape};
use crate::work;

/// Precomputed tables of the transform of a [`Shape`] modulo one prime.
///
/// Cost: one transform per axis, `O(n log n)` for axes whose ℓ − 1 has small prime factors; see
/// `docs/design/0003-odd-axes.md` for counts. The tables hold a few words per entry of an axis.
#[derive(Debug, Clone)]
pub struct NttPlan {
    shape: Arc<Shape>,
    modulus: Modulus,
    /// ζ, of order m.
    root: u64,
    isa: Isa,
    steps: Vec<AxisTransform>,
}

/// Shortest row of a power of two that is transformed in vectors.
const VECTOR_ROW: usize = 64;

/// The transform along one axis.
#[derive(Debug, Clone)]
enum AxisTransform {
    /// Contiguous rows of a power of two.
    Rows(Box<Pow2Plan>, usize),
    /// Columns, eight at a time.
    Columns(TensorAxis),
}

impl NttPlan {
    /// Builds the tables.
    ///
    /// # Errors
    /// [`KernelError::NoRootOfUnity`] when the prime is not 1 modulo [`Shape::root_order`].
    pub fn new(shape: &Arc<Shape>, modulus: Modulus, isa: Isa) -> Result<Self, KernelError> {
        Self::with_root(shape, modulus, isa, modulus.root_of_unity(shape.m())?)
    }

    /// The transform to the values at the powers of `root`, which has order m modulo the prime.
    ///
    /// # Errors
    /// [`KernelError::NoRootOfUnity`] when the prime is not 1 modulo [`Shape::root_order`].
    pub fn with_root(shape: &Arc<Shape>, modulus: Modulus, isa: Isa, root: u64) -> Result<Self, KernelError> {
        debug_assert_eq!(modulus.pow(root, shape.m()), 1, "the order of the root");
        let mut steps = Vec::with_capacity(shape.axes().len());
        let mut inner = shape.n();
        for (index, axis) in shape.axes().iter().enumerate() {
            inner /= axis.dim;
            let root_of_axis = modulus.pow(root, shape.m() / axis.index);
            steps.push(AxisTransform::new(shape, index, inner, modulus, isa, root_of_axis)?);
        }
        Ok(Self { shape: Arc::clone(shape), modulus, root, isa, steps })
    }

    /// The shape.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// The prime.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// The instruction set.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// ζ, of order m modulo the prime.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// Powerful-basis coefficients to values, in place. Canonical in and out.
    pub fn forward(&self, row: &mut [u64]) {
        self.run(Direction::Forward, self.steps.iter(), row);
    }

    /// Values to powerful-basis coefficients, in place. Canonical in and out.
    pub fn inverse(&self, row: &mut [u64]) {
        self.run(Direction::Inverse, self.steps.iter().rev(), row);
    }

    fn run<'a>(&self, direction: Direction, steps: impl ExactSizeIterator<Item = &'a AxisTransform>, row: &mut [u64]) {
        assert_eq!(row.len(), self.shape.n());
        work::add(work::Kind::Transformed, row.len());
        let steps: Vec<&AxisTransform> = steps.collect();
        for (index, step) in steps.iter().enumerate() {
            let is_rows =
                |step: Option<&&AxisTransform>| step.is_none_or(|step| matches!(step, AxisTransform::Rows(..)));
            match step {
                AxisTransform::Rows(plan, dim) => row.chunks_exact_mut(*dim).for_each(|row| match direction {
                    Direction::Forward => plan.forward(row),
                    Direction::Inverse => plan.inverse(row),
                }),
                AxisTransform::Columns(axis) => {
                    let first = index == 0 || is_rows(steps.get(index - 1));
                    let edges = Edges { first, last: is_rows(steps.get(index + 1)) };
                    with_scratch(axis.scratch(), |scratch| {
                        let modulus = self.modulus;
                        let kernel = AxisKernel { axis, modulus, direction, edges, row, scratch };
                        lanes::dispatch_transform(self.isa, modulus, kernel);
                    });
                }
            }
        }
    }
}

impl AxisTransform {
    fn new(
        shape: &Shape,
        index: usize,
        inner: usize,
        modulus: Modulus,
        isa: Isa,
        root: u64,
    ) -> Result<Self, KernelError> {
        let axis: &Axis = &shape.axes()[index];
        // Shorter rows of several are better done as columns, eight rows at a time.
        let is_long = axis.dim >= VECTOR_ROW || shape.axes().len() == 1;
        if axis.prime == 2 && inner == 1 && is_long && axis.dim >= LANES {
            let plan = Pow2Plan::new(axis.dim.trailing_zeros(), modulus, root, isa);
            return Ok(AxisTransform::Rows(Box::new(plan), axis.dim));
        }
        let prepare = |constant: u64| lanes::dispatch(isa, modulus, Prepare(constant));
        let column = match shape.design(index) {
            None => Column::Pow2(ColumnPow2::new(axis.dim, modulus, root, &prepare)),
            Some(design) => {
                let builder = Builder { q: modulus, prepare: &prepare };
                Column::Odd(Box::new(OddAxis::new(axis, design, &builder, root, inner)?))
            }
        };
        Ok(AxisTransform::Columns(TensorAxis { column, dim: axis.dim, inner, natural: (0..axis.dim).collect() }))
    }
}

/// Prepares one constant for the backend.
struct Prepare(u64);

impl Kernel for Prepare {
    type Output = Vec<u64>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Vec<u64> {
        lanes.prepare(self.0)[..L::WORDS].to_vec()
    }
}

thread_local! {
    /// Scratch memory of the transforms of this thread.
    static SCRATCH: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
}

/// Wipes the scratch memory of this thread, in which columns of the row stay that was transformed
/// last. To be called on the thread that transformed a secret. Cost: a pass through as much memory
/// as the largest transform of this thread used.
pub fn wipe_scratch() {
    SCRATCH.with_borrow_mut(|scratch| scratch.fill(Block([0; LANES])));
}

/// Whether nothing is in the scratch memory of this thread, for tests of those who wipe it.
pub fn scratch_is_wiped() -> bool {
    SCRATCH.with_borrow(|scratch| scratch.iter().all(|block| block.0 == [0; LANES]))
}

/// Lends scratch memory of this thread. Its content is unspecified.
fn with_scratch<T>(len: usize, f: impl FnOnce(&mut [Block]) -> T) -> T {
    SCRATCH.with_borrow_mut(|scratch| {
        if scratch.len() < len {
            scratch.resize(len, Block([0; LANES]));
        }
        f(&mut scratch[..len])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modulus::find_primes;

    #[test]
    fn nothing_of_a_row_stays_in_wiped_scratch_memory() {
        let shape = Arc::new(Shape::new(45).unwrap());
        let modulus = find_primes(shape.root_order(), 40, 1, &[]).unwrap()[0];
        let plan = NttPlan::new(&shape, modulus, Isa::best()).unwrap();
        let mut row: Vec<u64> = (0..shape.n() as u64).map(|j| j * j + 7).collect();
        plan.forward(&mut row);
        assert!(!scratch_is_wiped());
        wipe_scratch();
        assert!(scratch_is_wiped());
    }
}
