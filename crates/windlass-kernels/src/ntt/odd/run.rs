//! The steps of a transform, on eight columns at once.

use super::build::{Convolution, Stage};
use super::codelets::{Codelet, Eight, Five, Four, Seven, Six, Ten, Three, Two};
use super::lazy::{Arithmetic, Lazy, stored};
use crate::lanes::{Kernel, LANES, Lanes};

/// Eight residues, one of each column, in the internal form of a backend.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Block(pub [u64; LANES]);

/// Scratch memory: position i of a transform is at `start + i * unit`.
pub(super) struct Scratch<'a> {
    pub blocks: &'a mut [Block],
    pub start: usize,
    pub unit: usize,
}

impl Scratch<'_> {
    #[inline(always)]
    fn part(&mut self, start: usize, unit: usize) -> Scratch<'_> {
        Scratch { start: self.start + start * self.unit, unit: self.unit * unit, blocks: self.blocks }
    }

    #[inline(always)]
    pub fn load<L: Lanes>(&self, a: Arithmetic<L>, position: usize) -> Lazy<L::Vector> {
        a.stored(a.lanes.load_raw(&self.blocks[self.start + position * self.unit].0))
    }

    #[inline(always)]
    pub fn store<L: Lanes>(&mut self, a: Arithmetic<L>, position: usize, x: Lazy<L::Vector>) {
        let x = a.fit(x, stored::<L>());
        a.lanes.store_raw(&mut self.blocks[self.start + position * self.unit].0, x.value);
    }
}

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

/// What happens to the sum of all inputs, which a convolution meets on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constant<'a> {
    /// Where the constant coefficient x_0 is, in blocks; all outputs get it added. After that it holds `factor · (x_0 + Σ x)`.
    pub at: usize,
    /// Prepared factor; empty for 1.
    pub factor: &'a [u64],
}

/// One stage in one direction.
struct StageKernel<'a, 'b> {
    stage: &'a Stage,
    direction: Direction,
    scratch: Scratch<'b>,
}

/// The last factor of a convolution, its products and the way back.
struct LeafKernel<'a, 'b> {
    convolution: &'a Convolution,
    constant: Option<Constant<'a>>,
    scratch: Scratch<'b>,
}

macro_rules! with_codelet {
    ($len:expr, $call:ident($($argument:expr),*), $otherwise:expr) => {
        match $len {
            2 => $call::<L, Two, 2>($($argument),*),
            3 => $call::<L, Three, 3>($($argument),*),
            4 => $call::<L, Four, 4>($($argument),*),
            5 => $call::<L, Five, 5>($($argument),*),
            6 => $call::<L, Six, 6>($($argument),*),
            7 => $call::<L, Seven, 7>($($argument),*),
            8 => $call::<L, Eight, 8>($($argument),*),
            10 => $call::<L, Ten, 10>($($argument),*),
            _ => $otherwise,
        }
    };
}

impl Kernel for StageKernel<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { stage, direction, mut scratch } = self;
        match &stage.rader {
            Some(pair) => rader(lanes, stage, &pair[direction.index()], direction, &mut scratch),
            None => with_codelet!(
                stage.len,
                butterflies(lanes, stage, direction, &mut scratch),
                unreachable!("stage of a length without a codelet")
            ),
        }
    }
}

impl Kernel for LeafKernel<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { convolution, constant, mut scratch } = self;
        with_codelet!(
            convolution.leaf.len,
            products(lanes, convolution, constant, &mut scratch),
            unreachable!("leaf of a length without a codelet")
        );
    }
}

#[inline(always)]
fn butterflies<L: Lanes, K: Codelet<R>, const R: usize>(
    lanes: L,
    stage: &Stage,
    direction: Direction,
    scratch: &mut Scratch,
) {
    let a = Arithmetic { lanes };
    let (table, twiddles) = (&stage.tables[direction.index()][..], &stage.twiddles[direction.index()][..]);
    let groups = stage.stride / stage.inner;
    for block in 0..stage.blocks {
        for group in 0..groups {
            let start = block * R * stage.stride + group * stage.inner;
            let twiddles = if group == 0 { &[] } else { &twiddles[(group - 1) * (R - 1) * L::WORDS..] };
            for position in start..start + stage.inner {
                // Loops, not closures: a call that stays a call is compiled without the backend's instructions.
                let mut x = [scratch.load(a, position); R];
                for j in 1..R {
                    x[j] = scratch.load(a, position + j * stage.stride);
                }
                if group != 0 && direction == Direction::Inverse {
                    for j in 1..R {
                        x[j] = a.scale(x[j], twiddles, j - 1);
                    }
                }
                let mut y = K::transform(a, table, x);
                if group != 0 && direction == Direction::Forward {
                    for j in 1..R {
                        y[j] = a.scale(y[j], twiddles, j - 1);
                    }
                }
                for j in 0..R {
                    scratch.store(a, position + j * stage.stride, y[j]);
                }
            }
        }
    }
}

#[inline(always)]
fn products<L: Lanes, K: Codelet<R>, const R: usize>(
    lanes: L,
    convolution: &Convolution,
    constant: Option<Constant>,
    scratch: &mut Scratch,
) {
    let a = Arithmetic { lanes };
    let [forward, inverse] = &convolution.leaf.tables;
    for block in 0..convolution.leaf.blocks {
        let position = block * R;
        let mut x = [scratch.load(a, position); R];
        for j in 1..R {
            x[j] = scratch.load(a, position + j);
        }
        let x = K::transform(a, forward, x);
        let kernel = &convolution.kernel[position * L::WORDS..];
        let mut y = [a.scale(x[0], kernel, 0); R];
        for j in 1..R {
            y[j] = a.scale(x[j], kernel, j);
        }
        if let (0, Some(constant)) = (block, constant) {
            let here = &mut scratch.blocks[constant.at].0;
            let first = a.stored(lanes.load_raw(here));
            y[0] = a.fit(a.add(y[0], first), y[1].bound);
            let sum = a.add(first, x[0]);
            let sum = if constant.factor.is_empty() { sum } else { a.scale(sum, constant.factor, 0) };
            lanes.store_raw(here, a.fit(sum, stored::<L>()).value);
        }
        let y = K::transform(a, inverse, y);
        for j in 0..R {
            scratch.store(a, position + j, y[j]);
        }
    }
}

/// Columns of a prime length by Rader's convolution.
#[inline(always)]
fn rader<L: Lanes>(lanes: L, stage: &Stage, inner: &Convolution, direction: Direction, scratch: &mut Scratch) {
    let a = Arithmetic { lanes };
    let twiddles = &stage.twiddles[direction.index()][..];
    for block in 0..stage.blocks {
        for column in 0..stage.stride {
            let start = block * stage.len * stage.stride + column;
            let group = column / stage.inner;
            if direction == Direction::Inverse && group != 0 {
                twist(a, stage, &twiddles[(group - 1) * (stage.len - 1) * L::WORDS..], start, scratch);
            }
            let at = scratch.start + start * scratch.unit;
            let part = scratch.part(start + stage.stride, stage.stride);
            convolve(lanes, inner, Some(Constant { at, factor: &[] }), part);
            if direction == Direction::Forward && group != 0 {
                twist(a, stage, &twiddles[(group - 1) * (stage.len - 1) * L::WORDS..], start, scratch);
            }
        }
    }
}

/// Multiplies the entries of a column but the first by their twiddles.
#[inline(always)]
fn twist<L: Lanes>(a: Arithmetic<L>, stage: &Stage, twiddles: &[u64], start: usize, scratch: &mut Scratch) {
    for j in 1..stage.len {
        let x = scratch.load(a, start + j * stage.stride);
        scratch.store(a, start + j * stage.stride, a.scale(x, twiddles, j - 1));
    }
}

/// The convolution in place: each step is compiled on its own, with the backend's instructions.
#[inline(always)]
pub(super) fn convolve<L: Lanes>(
    lanes: L,
    convolution: &Convolution,
    constant: Option<Constant>,
    mut scratch: Scratch,
) {
    for stage in &convolution.stages {
        run_stage(lanes, stage, Direction::Forward, scratch.part(0, 1));
    }
    lanes.vectorize(LeafKernel { convolution, constant, scratch: scratch.part(0, 1) });
    for stage in convolution.stages.iter().rev() {
        run_stage(lanes, stage, Direction::Inverse, scratch.part(0, 1));
    }
}

/// One stage of a transform.
#[inline(always)]
pub(super) fn run_stage<L: Lanes>(lanes: L, stage: &Stage, direction: Direction, scratch: Scratch) {
    lanes.vectorize(StageKernel { stage, direction, scratch });
}
