//! The transform of one odd prime-power axis on eight columns.
//!
//! With ℓ^k the index, B = ℓ^{k−1}, j = j_1·B + j_0 and e ≡ g^u mod ℓ, e = g^u + ℓt, the value at
//! ω^e is `Σ_{j_0} (ω^ℓ)^{t j_0} · ω^{g^u j_0} · Σ_{j_1} a_j (ω^B)^{g^u j_1}`: a Rader convolution
//! of length ℓ − 1 for each j_0, twiddles, and a transform of length B for each u. For a prime
//! there is only the first step.

use super::build::{Builder, Constants, Direction, Place};
use super::design::{Design, TransformFactor, factors, joint_order};
use super::program::{Links, NONE, Placement, SmallTransform, link};
use crate::arith;
use crate::error::KernelError;
use crate::lanes::{Block, LANES};
use crate::ntt::axis::Axis;

/// How an odd axis is transformed, for any prime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AxisDesign {
    convolution: Design,
    tail: Vec<TransformFactor>,
}

impl AxisDesign {
    /// The cheapest design; with `thrifty` the one that needs roots of small order.
    pub fn new(axis: &Axis, thrifty: bool) -> Self {
        let len = axis.prime as usize - 1;
        let convolution = if thrifty { Design::thrifty(len) } else { Design::cheapest(len) };
        let block = (axis.index / axis.prime) as usize;
        Self { convolution, tail: if block > 1 { factors(block) } else { vec![] } }
    }

    /// Order of the roots of unity that the transform needs besides the index.
    pub fn order(&self) -> u64 {
        self.tail.iter().fold(self.convolution.order, |order, factor| joint_order(order, factor.order()))
    }
}

/// Tables of one odd axis modulo one prime.
#[derive(Debug, Clone)]
pub(crate) struct OddAxis {
    /// Positions in scratch memory.
    size: usize,
    programs: [Vec<SmallTransform>; 2],
    coefficients: Vec<usize>,
    values: Vec<usize>,
    /// Positions that hold no coefficient (value) but are read.
    blanks: [Vec<usize>; 2],
    /// Positions of the coefficients of the top block, which reduction modulo Φ takes off.
    top: Vec<usize>,
}

impl OddAxis {
    /// Builds the tables for the root ω of order `axis.index`; the entries of a column are
    /// `distance` apart.
    pub fn new(
        axis: &Axis,
        design: &AxisDesign,
        builder: &Builder,
        omega: u64,
        distance: usize,
    ) -> Result<Self, KernelError> {
        let (prime, convolution) = (axis.prime, &design.convolution);
        let block = (axis.index / prime) as usize;
        let generator = axis.points.get(1).map_or(1, |&g| g % prime);
        let powers: Vec<u64> = std::iter::successors(Some(1), |&e| Some(arith::mul_mod(e, generator, prime)))
            .take(convolution.len)
            .collect();
        let tail = TailIndex::new(&design.tail, block);
        let layout = ScratchLayout { convolution, block, powers: &powers, tail: &tail };
        let (coefficients, values) = (layout.coefficients(axis), layout.values(axis));
        let blanks = [layout.blanks(&coefficients), layout.blanks(&values)];
        let top: Vec<usize> =
            (0..block).map(|j| layout.slot(layout.log_inverse(prime - 1), tail.position[j])).collect();
        debug_assert!(top.iter().min().is_some_and(|&least| top.iter().all(|&t| (t - least) < block)));
        let size = (convolution.size + 1) * block;
        let steps = Steps { axis, design, builder, omega, layout };
        let (mut forward, mut inverse) = (steps.forward()?, steps.inverse()?);
        let sorted = sorted(&top);
        link(&mut forward, &Links { size, distance, sources: &coefficients, targets: &values, top: &[] });
        link(&mut inverse, &Links { size, distance, sources: &values, targets: &coefficients, top: &sorted });
        Ok(Self { size, programs: [forward, inverse], coefficients, values, blanks, top })
    }

    /// Positions in scratch memory.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The steps of the transform.
    pub(super) fn program(&self, direction: Direction) -> &[SmallTransform] {
        &self.programs[direction.index()]
    }

    /// Position in scratch memory of each entry of a column before the transform.
    pub fn sources(&self, direction: Direction) -> &[usize] {
        if direction == Direction::Forward { &self.coefficients } else { &self.values }
    }

    /// Position in scratch memory of each entry of a column after the transform.
    pub fn targets(&self, direction: Direction) -> &[usize] {
        if direction == Direction::Forward { &self.values } else { &self.coefficients }
    }

    /// Positions that are to be subtracted from entry j of the result: entry j modulo their number;
    /// none going forward.
    pub fn corrections(&self, direction: Direction) -> &[usize] {
        if direction == Direction::Forward { &[] } else { &self.top }
    }

    /// Puts zeros where the first steps read and no entry is.
    pub fn clear(&self, direction: Direction, scratch: &mut [Block]) {
        // Zero is zero in the internal form of every backend.
        self.blanks[direction.index()].iter().for_each(|&position| scratch[position] = Block([0; LANES]));
    }
}

fn sorted(positions: &[usize]) -> Vec<usize> {
    let mut sorted = positions.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Makes the steps of an axis.
struct Steps<'a> {
    axis: &'a Axis,
    design: &'a AxisDesign,
    builder: &'a Builder<'a>,
    omega: u64,
    layout: ScratchLayout<'a>,
}

impl Steps<'_> {
    fn forward(&self) -> Result<Vec<SmallTransform>, KernelError> {
        let q = self.builder.q;
        let short = q.pow(self.omega, self.layout.block as u64);
        let kernel: Vec<u64> = self.layout.powers.iter().map(|&e| q.pow(short, e)).collect();
        let mut steps = Vec::new();
        self.convolution(&kernel, 1, &mut steps)?;
        if self.layout.block > 1 {
            steps.push(self.twist(self.omega));
            self.tail(Direction::Forward, &mut steps)?;
        }
        Ok(steps)
    }

    fn inverse(&self) -> Result<Vec<SmallTransform>, KernelError> {
        let (q, powers, prime) = (self.builder.q, self.layout.powers, self.axis.prime);
        let len = powers.len();
        let short = q.pow(self.omega, self.layout.block as u64);
        let scale = q.inv(q.reduce(self.axis.index));
        let kernel: Vec<u64> = (0..len).map(|c| q.mul(scale, q.pow(short, prime - powers[(len - c) % len]))).collect();
        let mut steps = Vec::new();
        if self.layout.block > 1 {
            self.tail(Direction::Inverse, &mut steps)?;
            steps.push(self.twist(q.inv(self.omega)));
        }
        self.convolution(&kernel, scale, &mut steps)?;
        Ok(steps)
    }

    fn convolution(&self, kernel: &[u64], factor: u64, steps: &mut Vec<SmallTransform>) -> Result<(), KernelError> {
        let (convolution, unit) = (&self.design.convolution, self.layout.block);
        let constants = Constants { positions: &[convolution.size * unit], factor };
        self.builder.convolution(convolution, kernel, constants, Place { starts: &[0], unit }, steps)
    }

    /// The transforms of length B, one for each u.
    fn tail(&self, direction: Direction, steps: &mut Vec<SmallTransform>) -> Result<(), KernelError> {
        let block = self.layout.block;
        let rooted = self.builder.rooted(&self.design.tail, Some(self.builder.q.pow(self.omega, self.axis.prime)))?;
        let starts = self.rows();
        let place = Place { starts: &starts, unit: 1 };
        match direction {
            Direction::Forward => {
                rooted.iter().try_for_each(|stage| self.builder.stage(stage, block, direction, place, steps))
            }
            Direction::Inverse => {
                rooted.iter().rev().try_for_each(|stage| self.builder.stage(stage, block, direction, place, steps))
            }
        }
    }

    /// The first position of each u.
    fn rows(&self) -> Vec<usize> {
        let convolution = &self.design.convolution;
        (0..convolution.len).map(|u| convolution.positions[u] * self.layout.block).collect()
    }

    /// The twiddles between convolutions and tail.
    fn twist(&self, w: u64) -> SmallTransform {
        let (q, tail) = (self.builder.q, self.layout.tail);
        let exponents = self.layout.powers.iter().flat_map(|&e| tail.input.iter().map(move |&j| e * j as u64));
        let twiddles = self.builder.table(exponents.map(|e| q.pow(w, e)));
        let positions = self.rows().into_iter().flat_map(|start| start..start + self.layout.block);
        let run = |(row, position): (usize, usize)| Placement {
            start: position as u32,
            kernel: NONE,
            twiddle: row as u32,
            constant: NONE,
        };
        let runs = positions.enumerate().map(run).collect();
        SmallTransform {
            len: 1,
            stride: 1,
            batch: 1,
            runs,
            twiddles,
            twiddle_first: true,
            passes: 1,
            ..SmallTransform::default()
        }
    }
}

/// Positions of the indices and frequencies of the transform of length B.
struct TailIndex {
    /// Index at each position.
    input: Vec<usize>,
    /// Position of each index.
    position: Vec<usize>,
    /// Position of each frequency.
    frequency: Vec<usize>,
}

impl TailIndex {
    fn new(factors: &[TransformFactor], block: usize) -> Self {
        let digits = |position: usize, f: &TransformFactor| position / f.stride % f.len;
        let index = |p: usize| factors.iter().map(|f| f.input[digits(p, f)] * f.rest).sum::<usize>();
        let frequency = |p: usize| {
            let (mut k, mut weight) = (0, 1);
            for f in factors {
                k += f.output[digits(p, f)] * weight;
                weight *= f.len;
            }
            k
        };
        let input: Vec<usize> = (0..block).map(index).collect();
        let invert = |map: &dyn Fn(usize) -> usize| {
            let mut inverse = vec![0; block];
            (0..block).for_each(|p| inverse[map(p)] = p);
            inverse
        };
        Self { position: invert(&index), frequency: invert(&frequency), input }
    }
}

/// Where entries of a column lie in scratch memory: position of the convolution times B, plus
/// position of the tail; then the B constant coefficients of the convolutions.
struct ScratchLayout<'a> {
    convolution: &'a Design,
    block: usize,
    powers: &'a [u64],
    tail: &'a TailIndex,
}

impl ScratchLayout<'_> {
    fn slot(&self, index: usize, tail: usize) -> usize {
        self.convolution.positions[index] * self.block + tail
    }

    /// The a with g^{−a} = j.
    fn log_inverse(&self, j: u64) -> usize {
        let log = self.powers.iter().position(|&power| power == j).expect("a generator reaches every residue");
        (self.powers.len() - log) % self.powers.len()
    }

    fn coefficients(&self, axis: &Axis) -> Vec<usize> {
        let mut logs = vec![0; axis.prime as usize];
        self.powers
            .iter()
            .enumerate()
            .for_each(|(a, &j)| logs[j as usize] = (self.powers.len() - a) % self.powers.len());
        (0..axis.dim)
            .map(|j| match (j / self.block, self.tail.position[j % self.block]) {
                (0, tail) => self.convolution.size * self.block + tail,
                (high, tail) => self.slot(logs[high], tail),
            })
            .collect()
    }

    fn values(&self, axis: &Axis) -> Vec<usize> {
        let value = |(u, &point): (usize, &u64)| {
            let u = u % self.powers.len();
            let t = (point + axis.index - self.powers[u]) % axis.index / axis.prime;
            self.slot(u, self.tail.frequency[t as usize])
        };
        axis.points.iter().enumerate().map(value).collect()
    }

    fn blanks(&self, used: &[usize]) -> Vec<usize> {
        let mut blank = vec![true; (self.convolution.size + 1) * self.block];
        used.iter().for_each(|&slot| blank[slot] = false);
        (0..blank.len()).filter(|&slot| blank[slot]).collect()
    }
}
