//! The transform of one odd prime-power axis on eight columns.
//!
//! With ℓ^k the index, B = ℓ^{k−1}, j = j_1·B + j_0 and e ≡ g^u mod ℓ, e = g^u + ℓt, the value at ω^e is
//! `Σ_{j_0} (ω^ℓ)^{t j_0} · ω^{g^u j_0} · Σ_{j_1} a_j (ω^B)^{g^u j_1}`: a Rader convolution of length ℓ − 1 for each j_0, twiddles,
//! and a transform of length B for each u. For a prime there is only the first step.

use super::build::{Builder, Convolution, Stage};
use super::design::{Design, Factor, factors};
use super::lazy::Arithmetic;
use super::run::{Block, Constant, Direction, Scratch, convolve, run_stage};
use crate::arith;
use crate::error::KernelError;
use crate::lanes::Lanes;
use crate::ntt::Axis;

/// How an odd axis is transformed, for any prime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AxisDesign {
    convolution: Design,
    tail: Vec<Factor>,
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
        self.tail.iter().fold(self.convolution.order, |order, factor| arith::lcm(order, factor.order()))
    }
}

/// Tables of one odd axis modulo one prime.
#[derive(Debug, Clone)]
pub(crate) struct OddAxis {
    block: usize,
    size: usize,
    directions: [Convolution; 2],
    tail: Vec<Stage>,
    /// Blocks between convolution and tail: (position, prepared twiddles of its entries).
    rows: Vec<usize>,
    twists: [Vec<u64>; 2],
    scale: Vec<u64>,
    coefficients: Vec<usize>,
    values: Vec<usize>,
    /// Slots that hold no coefficient (value) but are read.
    blanks: [Vec<usize>; 2],
    /// Slots of the coefficients of the top block, which reduction modulo Φ takes off.
    top: Vec<usize>,
}

impl OddAxis {
    /// Builds the tables for the root ω of order `axis.index`.
    pub fn new(axis: &Axis, design: &AxisDesign, builder: &Builder, omega: u64) -> Result<Self, KernelError> {
        let q = builder.q;
        let (prime, convolution) = (axis.prime, &design.convolution);
        let block = (axis.index / prime) as usize;
        let len = convolution.len;
        let generator = axis.points.get(1).map_or(1, |&g| g % prime);
        let powers: Vec<u64> =
            std::iter::successors(Some(1), |&e| Some(arith::mul_mod(e, generator, prime))).take(len).collect();
        let short = q.pow(omega, block as u64);
        let scale = q.inv(q.reduce(axis.index));
        let kernel = powers.iter().map(|&e| q.pow(short, e)).collect::<Vec<_>>();
        let back: Vec<u64> = (0..len).map(|c| q.mul(scale, q.pow(short, prime - powers[(len - c) % len]))).collect();
        let directions = [builder.convolution(convolution, &kernel)?, builder.convolution(convolution, &back)?];
        let tail_index = TailIndex::new(&design.tail, block);
        let layout = Layout { convolution, block, powers: &powers, tail: &tail_index };
        let rows: Vec<usize> = (0..len).map(|u| convolution.positions[u]).collect();
        let twists = [omega, q.inv(omega)].map(|w| match block {
            1 => vec![],
            _ => builder
                .table(powers.iter().flat_map(|&e| tail_index.input.iter().map(move |&j| q.pow(w, e * j as u64)))),
        });
        let mut root = q.pow(omega, prime);
        let mut tail = Vec::new();
        for factor in &design.tail {
            tail.push(builder.stage_with_root(factor, block, root)?);
            root = q.pow(root, factor.len as u64);
        }
        let coefficients = layout.coefficients(axis);
        let values = layout.values(axis);
        let blanks = [layout.blanks(&coefficients), layout.blanks(&values)];
        let top = (0..block).map(|j| layout.slot(layout.log_inverse(prime - 1), tail_index.position[j])).collect();
        let size = convolution.size;
        let scale = builder.table([scale]);
        Ok(Self { block, size, directions, tail, rows, twists, scale, coefficients, values, blanks, top })
    }

    /// Blocks of scratch memory for eight columns.
    pub fn scratch(&self) -> usize {
        (self.size + 1) * self.block
    }

    /// Slot in scratch memory of each entry of a column before the transform.
    pub fn sources(&self, direction: Direction) -> &[usize] {
        if direction == Direction::Forward { &self.coefficients } else { &self.values }
    }

    /// Slot in scratch memory of each entry of a column after the transform.
    pub fn targets(&self, direction: Direction) -> &[usize] {
        if direction == Direction::Forward { &self.values } else { &self.coefficients }
    }

    /// Slots that are to be subtracted from entry j of the result: entry j modulo their number; none going forward.
    pub fn corrections(&self, direction: Direction) -> &[usize] {
        if direction == Direction::Forward { &[] } else { &self.top }
    }

    /// Transforms eight columns in scratch memory, in the stored form of the backend.
    #[inline(always)]
    pub fn run<L: Lanes>(&self, lanes: L, direction: Direction, blocks: &mut [Block]) {
        let a = Arithmetic { lanes };
        let mut zero = [0; 8];
        lanes.store_raw(&mut zero, lanes.zero());
        self.blanks[direction.index()].iter().for_each(|&slot| blocks[slot].0 = zero);
        if direction == Direction::Inverse {
            self.run_tail(a, direction, blocks);
        }
        for start in 0..self.block {
            let at = self.size * self.block + start;
            let factor = if direction == Direction::Forward { &[] } else { &self.scale[..] };
            let scratch = Scratch { blocks: &mut *blocks, start, unit: self.block };
            convolve(lanes, &self.directions[direction.index()], Some(Constant { at, factor }), scratch);
        }
        if direction == Direction::Forward {
            self.run_tail(a, direction, blocks);
        }
    }

    /// The transforms of length B, and the twiddles between them and the convolutions.
    #[inline(always)]
    fn run_tail<L: Lanes>(&self, a: Arithmetic<L>, direction: Direction, blocks: &mut [Block]) {
        if self.block == 1 {
            return;
        }
        let twists = &self.twists[direction.index()];
        for (u, &row) in self.rows.iter().enumerate() {
            let mut scratch = Scratch { blocks: &mut *blocks, start: row * self.block, unit: 1 };
            if direction == Direction::Inverse {
                for stage in self.tail.iter().rev() {
                    run_stage(a.lanes, stage, direction, Scratch { blocks: &mut *scratch.blocks, ..scratch });
                }
            }
            for j in 0..self.block {
                let x = a.scale(scratch.load(a, j), twists, u * self.block + j);
                scratch.store(a, j, x);
            }
            if direction == Direction::Forward {
                for stage in &self.tail {
                    run_stage(a.lanes, stage, direction, Scratch { blocks: &mut *scratch.blocks, ..scratch });
                }
            }
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
    fn new(factors: &[Factor], block: usize) -> Self {
        let digits = |position: usize, f: &Factor| position / f.stride % f.len;
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

/// Where entries of a column lie in scratch memory: position of the convolution times B, plus position of the tail; then
/// the B constant coefficients of the convolutions.
struct Layout<'a> {
    convolution: &'a Design,
    block: usize,
    powers: &'a [u64],
    tail: &'a TailIndex,
}

impl Layout<'_> {
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
