//! Steps and tables of a [`Design`] modulo one prime.

use super::codelets;
use super::design::{Design, TransformFactor};
use super::program::{NONE, Placement, SmallTransform};
use crate::arith;
use crate::error::KernelError;
use crate::modulus::Modulus;

/// Which way a transform goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Coefficients to values.
    Forward,
    /// Values to coefficients.
    Inverse,
}

impl Direction {
    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

/// Transforms of equal kind that are done together: position i of each is at `start + i * unit`,
/// `unit` of them side by side.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// First positions.
    pub starts: &'a [usize],
    /// Distance of positions.
    pub unit: usize,
}

/// Constant coefficients of convolutions, and the factor that multiplies the sum of all
/// coefficients.
pub(super) struct Constants<'a> {
    /// Where they are, for each start of a [`Place`].
    pub positions: &'a [usize],
    /// 1 or another.
    pub factor: u64,
}

/// A factor with its root of order `group`.
#[derive(Clone, Copy)]
pub(super) struct Rooted<'a> {
    factor: &'a TransformFactor,
    root: u64,
    /// The factor before it, if of the same prime: going back, its twiddles come after this factor.
    previous: Option<(&'a TransformFactor, u64)>,
}

/// Prepares constants for a backend.
pub(crate) struct Builder<'a> {
    /// The prime.
    pub q: Modulus,
    /// Words per constant and how to make them.
    pub prepare: &'a dyn Fn(u64) -> Vec<u64>,
}

impl Builder<'_> {
    /// Prepared constants, one after the other.
    pub fn table(&self, constants: impl IntoIterator<Item = u64>) -> Vec<u64> {
        constants.into_iter().flat_map(|c| (self.prepare)(c)).collect()
    }

    /// Roots for the factors of a transform; factors of one prime use powers of one root. `given`
    /// is the first one.
    pub(super) fn rooted<'f>(
        &self,
        factors: &'f [TransformFactor],
        given: Option<u64>,
    ) -> Result<Vec<Rooted<'f>>, KernelError> {
        let mut rooted: Vec<Rooted> = Vec::with_capacity(factors.len());
        for factor in factors {
            let previous = rooted.last().filter(|previous| is_continued(previous.factor, factor));
            let (root, previous) = match (previous, given) {
                (Some(p), _) => (self.q.pow(p.root, p.factor.len as u64), Some((p.factor, p.root))),
                (None, Some(root)) => (root, None),
                (None, None) => (self.q.root_of_unity(factor.group as u64)?, None),
            };
            rooted.push(Rooted { factor, root, previous });
        }
        Ok(rooted)
    }

    /// The constants of the codelet of a factor in one direction.
    fn codelet(&self, rooted: &Rooted, direction: Direction) -> Vec<u64> {
        let w = self.q.pow(rooted.root, rooted.factor.rest as u64);
        let w = if direction == Direction::Forward { w } else { self.q.inv(w) };
        self.table(codelets::constants(self.q, rooted.factor.len, w))
    }

    /// Steps of one factor of a transform over `size` positions, twiddles included.
    pub(super) fn stage(
        &self,
        rooted: &Rooted,
        size: usize,
        direction: Direction,
        place: Place,
        steps: &mut Vec<SmallTransform>,
    ) -> Result<(), KernelError> {
        let factor = rooted.factor;
        let twiddles = match direction {
            Direction::Forward => Twiddles::after(self, factor, rooted.root),
            Direction::Inverse => Twiddles::before(self, rooted),
        };
        let blocks = size / (factor.len * factor.stride);
        let starts = |block: usize| {
            let offset = block * factor.len * factor.stride * place.unit;
            place.starts.iter().map(move |start| start + offset)
        };
        if let Some(design) = &factor.rader {
            let positions: Vec<usize> = (0..blocks).flat_map(starts).collect();
            let unit = factor.stride * place.unit;
            let inner: Vec<usize> = positions.iter().map(|p| p + unit).collect();
            let kernel = self.rader_kernel(factor.len, self.q.pow(rooted.root, factor.rest as u64), direction);
            let constants = Constants { positions: &positions, factor: 1 };
            self.convolution(design, &kernel, constants, Place { starts: &inner, unit }, steps)?;
            self.twist(rooted, &twiddles, blocks, place, steps);
            return Ok(());
        }
        let mut step = SmallTransform {
            len: factor.len,
            stride: factor.stride * place.unit,
            batch: factor.inner * place.unit,
            tables: [self.codelet(rooted, direction), vec![]],
            twiddle_first: direction == Direction::Inverse,
            passes: 1,
            ..SmallTransform::default()
        };
        for block in 0..blocks {
            for start in starts(block) {
                for group in 0..factor.rest {
                    let start = (start + group * step.batch) as u32;
                    let twiddle = twiddles.row(block, group);
                    step.runs.push(Placement { start, kernel: NONE, twiddle, constant: NONE });
                }
            }
        }
        step.twiddles = twiddles.table;
        steps.push(step);
        Ok(())
    }

    /// The twiddles of a prime without a codelet, in a step of their own.
    fn twist(
        &self,
        rooted: &Rooted,
        twiddles: &Twiddles,
        blocks: usize,
        place: Place,
        steps: &mut Vec<SmallTransform>,
    ) {
        let factor = rooted.factor;
        let batch = factor.inner * place.unit;
        let mut step =
            SmallTransform { len: 1, stride: 1, batch, twiddle_first: true, passes: 1, ..SmallTransform::default() };
        for block in 0..blocks {
            for group in 0..factor.rest {
                let row = twiddles.row(block, group);
                for j in (0..factor.len).filter(|_| row != NONE) {
                    let offset = ((block * factor.len + j) * factor.stride + group * factor.inner) * place.unit;
                    let run = |start: &usize| Placement {
                        start: (start + offset) as u32,
                        kernel: NONE,
                        twiddle: row * factor.len as u32 + j as u32,
                        constant: NONE,
                    };
                    step.runs.extend(place.starts.iter().map(run));
                }
            }
        }
        step.twiddles.clone_from(&twiddles.table);
        if !step.runs.is_empty() {
            steps.push(step);
        }
    }

    /// Steps for `y_u = x_0 + Σ_a x_a kernel[(u − a) mod N]`, and `factor · (x_0 + Σ_a x_a)`
    /// instead of x_0.
    pub(super) fn convolution(
        &self,
        design: &Design,
        kernel: &[u64],
        constants: Constants,
        place: Place,
        steps: &mut Vec<SmallTransform>,
    ) -> Result<(), KernelError> {
        let size = design.size;
        let rooted = self.rooted(&design.factors, None)?;
        let (leaf, stages) = rooted.split_last().expect("a design has factors");
        for stage in stages {
            self.stage(stage, size, Direction::Forward, place, steps)?;
        }
        steps.push(self.leaf(leaf, self.spectrum(design, &rooted, kernel), constants, place));
        for stage in stages.iter().rev() {
            self.stage(stage, size, Direction::Inverse, place, steps)?;
        }
        Ok(())
    }

    /// The last factor, the products with the spectrum of the kernel, the last factor back.
    fn leaf(&self, leaf: &Rooted, spectrum: Vec<u64>, constants: Constants, place: Place) -> SmallTransform {
        let factor = leaf.factor;
        let twiddles = Twiddles::before(self, leaf);
        let mut step = SmallTransform {
            len: factor.len,
            stride: place.unit,
            batch: place.unit,
            tables: [Direction::Forward, Direction::Inverse].map(|direction| self.codelet(leaf, direction)),
            twiddle_first: true,
            passes: 2,
            factor: if constants.factor == 1 { vec![] } else { self.table([constants.factor]) },
            ..SmallTransform::default()
        };
        for block in 0..spectrum.len() / factor.len {
            for (&start, &constant) in place.starts.iter().zip(constants.positions) {
                step.runs.push(Placement {
                    start: (start + block * factor.len * place.unit) as u32,
                    kernel: block as u32,
                    twiddle: twiddles.row(block, 0),
                    constant: if block == 0 { constant as u32 } else { NONE },
                });
            }
        }
        step.kernel = self.table(spectrum);
        step.twiddles = twiddles.table;
        step
    }

    /// Transform of the kernel, divided by the size.
    fn spectrum(&self, design: &Design, rooted: &[Rooted], kernel: &[u64]) -> Vec<u64> {
        let (q, len, size) = (self.q, design.len, design.size);
        let mut spectrum = vec![0; size];
        for c in 0..len {
            spectrum[design.positions[c]] = kernel[c];
            if size > len && c > 0 {
                spectrum[design.positions[size - c]] = kernel[len - c];
            }
        }
        rooted.iter().for_each(|rooted| transform(q, rooted.factor, rooted.root, &mut spectrum));
        let scale = q.inv(q.reduce(size as u64));
        spectrum.into_iter().map(|x| q.mul(x, scale)).collect()
    }

    /// Rader's kernel for a prime p and root w: `X_{g^b} − x_0 = Σ_a x_{g^−a} w^{g^{b−a}}`, or its
    /// inverse.
    fn rader_kernel(&self, p: usize, w: u64, direction: Direction) -> Vec<u64> {
        let q = self.q;
        let generator = arith::least_generator(p as u64);
        let powers: Vec<u64> =
            std::iter::successors(Some(1), |&e| Some(arith::mul_mod(e, generator, p as u64))).take(p - 1).collect();
        match direction {
            Direction::Forward => powers.iter().map(|&e| q.pow(w, e)).collect(),
            Direction::Inverse => (0..p - 1).map(|c| q.pow(w, p as u64 - powers[(p - 1 - c) % (p - 1)])).collect(),
        }
    }
}

/// Twiddles that follow a small transform, in rows.
struct Twiddles {
    table: Vec<u64>,
    /// Number of blocks and of groups that have rows of their own; rows of block 0 or group 0 may
    /// be trivial.
    blocks: usize,
    groups: usize,
    /// The first block and the first group with a row.
    first: (usize, usize),
}

impl Twiddles {
    /// Going forward: frequency k of this factor, index of the rest.
    fn after(builder: &Builder, factor: &TransformFactor, root: u64) -> Self {
        let powers = powers(builder.q, root, factor.group);
        let rest = rest_inputs(factor);
        let exponents = rest[1..].iter().flat_map(|&j| factor.output.iter().map(move |&k| j * k));
        let table = builder.table(exponents.map(|e| powers[e % factor.group]));
        Self { table, blocks: 1, groups: factor.rest, first: (0, 1) }
    }

    /// Going back: those of the factor before, whose frequency is the last digit of the block.
    fn before(builder: &Builder, rooted: &Rooted) -> Self {
        let factor = rooted.factor;
        let Some((previous, root)) = rooted.previous else {
            return Self { table: vec![], blocks: 1, groups: factor.rest, first: (1, 0) };
        };
        let powers = powers(builder.q, builder.q.inv(root), previous.group);
        let rest = rest_inputs(previous);
        let exponents = previous.output[1..].iter().flat_map(|&k| {
            let rest = &rest;
            (0..factor.rest).flat_map(move |group| (0..factor.len).map(move |j| k * rest[j * factor.rest + group]))
        });
        let table = builder.table(exponents.map(|e| powers[e % previous.group]));
        Self { table, blocks: previous.len, groups: factor.rest, first: (1, 0) }
    }

    /// The row for a block and a group of columns, or [`NONE`] where all are 1.
    fn row(&self, block: usize, group: usize) -> u32 {
        let block = block % self.blocks;
        if self.table.is_empty() || block < self.first.0 || group < self.first.1 {
            return NONE;
        }
        ((block - self.first.0) * (self.groups - self.first.1) + group - self.first.1) as u32
    }
}

fn powers(q: Modulus, root: u64, order: usize) -> Vec<u64> {
    std::iter::successors(Some(1), |&p| Some(q.mul(p, root))).take(order).collect()
}

fn is_continued(previous: &TransformFactor, factor: &TransformFactor) -> bool {
    previous.rest > 1 && previous.rest == factor.group
}

/// The index within the rest of the group at each of its positions.
fn rest_inputs(factor: &TransformFactor) -> Vec<usize> {
    match &factor.rader {
        // Codelets that are cut further keep natural order; primes without one are mixed radix in
        // their own order.
        None => (0..factor.rest).collect(),
        Some(_) => {
            let mut inputs = vec![0];
            let mut rest = factor.rest;
            let mut tail = 1;
            while rest > 1 {
                let lower = inputs;
                inputs = factor.input.iter().flat_map(|&n| lower.iter().map(move |&j| n * tail + j)).collect();
                tail *= factor.len;
                rest /= factor.len;
            }
            inputs
        }
    }
}

/// The transform of one factor, by the definition, on plain residues.
fn transform(q: Modulus, factor: &TransformFactor, root: u64, x: &mut [u64]) {
    let powers = powers(q, root, factor.group);
    let rest_inputs = rest_inputs(factor);
    let (len, stride) = (factor.len, factor.stride);
    let mut y = vec![0; len];
    for start in (0..x.len()).filter(|position| position / stride % len == 0) {
        let j = rest_inputs[start % stride / factor.inner];
        for (y, &k) in y.iter_mut().zip(&factor.output) {
            let sum = factor.input.iter().enumerate().fold(0u128, |sum, (i, &n)| {
                sum + x[start + i * stride] as u128 * powers[(n * factor.rest + j) * k % factor.group] as u128
            });
            *y = q.reduce_u128(sum);
        }
        y.iter().enumerate().for_each(|(i, &y)| x[start + i * stride] = y);
    }
}
