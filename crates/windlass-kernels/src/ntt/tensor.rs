//! Transforms along one axis of a row, eight columns at a time.

use super::odd::{self, Direction, Memory, OddAxis};
use super::tensor_pow2::ColumnPow2;
use crate::lanes::{Block, Kernel, LANES, Lanes};
use crate::modulus::Modulus;

/// The transform of a column.
#[derive(Debug, Clone)]
pub(crate) enum Column {
    /// An odd prime-power axis.
    Odd(Box<OddAxis>),
    /// The axis of two.
    Pow2(ColumnPow2),
}

/// One axis of a row-major tensor.
#[derive(Debug, Clone)]
pub(crate) struct TensorAxis {
    /// The transform.
    pub column: Column,
    /// Entries of a column.
    pub dim: usize,
    /// Distance of the entries of a column.
    pub inner: usize,
    /// Slot of entry j where the transform does not say otherwise: 0, 1, ..
    pub natural: Vec<usize>,
}

/// Blocks of scratch memory to use where possible: they stay in the first-level cache.
const SCRATCH: usize = 320;

/// Form of the row in memory before and after: canonical residues, or the stored form of the
/// backend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edges {
    /// Canonical on entry.
    pub first: bool,
    /// Canonical on return.
    pub last: bool,
}

/// Transforms all columns of a row along one axis.
pub(crate) struct AxisKernel<'a> {
    pub axis: &'a TensorAxis,
    pub modulus: Modulus,
    pub direction: Direction,
    pub edges: Edges,
    pub row: &'a mut [u64],
    pub scratch: &'a mut [Block],
}

/// Where the eight columns of a group lie.
#[derive(Clone, Copy)]
enum Group {
    /// `8 * width` neighbours from `start` on.
    Adjacent { start: usize, width: usize },
    /// Entry j of lane i at `starts[i] + j * inner`; the first `width` lanes count.
    Scattered { starts: [usize; LANES], width: usize },
}

impl TensorAxis {
    /// Blocks of scratch memory.
    pub fn scratch(&self) -> usize {
        self.positions() * self.width()
    }

    /// Blocks of scratch memory for eight columns.
    fn positions(&self) -> usize {
        match &self.column {
            Column::Odd(axis) => axis.size(),
            Column::Pow2(_) => self.dim,
        }
    }

    /// Groups of eight neighbouring columns that are transformed together.
    fn width(&self) -> usize {
        match &self.column {
            Column::Odd(_) => (SCRATCH / self.positions()).clamp(1, self.inner.div_ceil(LANES)),
            Column::Pow2(_) => 1,
        }
    }

    fn maps(&self, direction: Direction) -> (&[usize], &[usize], &[usize]) {
        match &self.column {
            Column::Odd(axis) => (axis.sources(direction), axis.targets(direction), axis.corrections(direction)),
            Column::Pow2(_) => (&self.natural, &self.natural, &[]),
        }
    }

    /// Start of a column in the row.
    fn start(&self, column: usize) -> usize {
        column / self.inner * self.inner * self.dim + column % self.inner
    }

    fn groups(&self, columns: usize) -> Vec<Group> {
        let mut groups = Vec::with_capacity(columns / LANES + 1);
        let mut column = 0;
        while column < columns {
            if self.inner >= LANES && column % self.inner + LANES <= self.inner {
                let width = ((self.inner - column % self.inner) / LANES).min(self.width());
                groups.push(Group::Adjacent { start: self.start(column), width });
                column += width * LANES;
                continue;
            }
            let left = if self.inner >= LANES { self.inner - column % self.inner } else { columns - column };
            let width = left.min(LANES);
            let starts = std::array::from_fn(|i| self.start(column + i.min(width - 1)));
            groups.push(Group::Scattered { starts, width });
            column += width;
        }
        groups
    }
}

impl Kernel for AxisKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { axis, modulus, direction, edges, row, scratch } = self;
        for group in axis.groups(row.len() / axis.dim) {
            if let (Column::Odd(odd), Group::Adjacent { start, width }) = (&axis.column, group) {
                let canonical = [edges.first, edges.last];
                let columns = odd::Columns { words: row, start, canonical };
                let mut memory = Memory { scratch, width, row: Some(columns) };
                odd::run(lanes, modulus, odd, direction, &mut memory);
                continue;
            }
            lanes.vectorize(LoadKernel { axis, direction, canonical: edges.first, group, row, scratch });
            match &axis.column {
                Column::Odd(odd) => {
                    odd.clear(direction, scratch);
                    odd::run(lanes, modulus, odd, direction, &mut Memory { scratch, width: 1, row: None });
                }
                Column::Pow2(pow2) => pow2.run(lanes, direction, scratch),
            }
            lanes.vectorize(StoreKernel { axis, direction, canonical: edges.last, group, row, scratch });
        }
    }
}

/// Brings eight columns into scratch memory.
struct LoadKernel<'a> {
    axis: &'a TensorAxis,
    direction: Direction,
    canonical: bool,
    group: Group,
    row: &'a [u64],
    scratch: &'a mut [Block],
}

/// Brings eight columns back from scratch memory.
struct StoreKernel<'a> {
    axis: &'a TensorAxis,
    direction: Direction,
    canonical: bool,
    group: Group,
    row: &'a mut [u64],
    scratch: &'a [Block],
}

#[inline(always)]
fn load<L: Lanes>(lanes: L, canonical: bool, words: &[u64; LANES]) -> L::Vector {
    if canonical { lanes.load(words) } else { lanes.load_raw(words) }
}

#[inline(always)]
fn store<L: Lanes>(lanes: L, canonical: bool, words: &mut [u64; LANES], x: L::Vector) {
    if canonical { lanes.store(words, x) } else { lanes.store_raw(words, x) }
}

/// Entry j of the result, from its slot, less its correction.
#[inline(always)]
fn value<L: Lanes>(lanes: L, scratch: &[Block], corrections: &[usize], j: usize, slot: usize) -> L::Vector {
    let x = lanes.load_raw(&scratch[slot].0);
    if corrections.is_empty() {
        return x;
    }
    let correction = if corrections.len() == 1 { corrections[0] } else { corrections[j % corrections.len()] };
    lanes.reduce(lanes.sub(x, lanes.load_raw(&scratch[correction].0)))
}

impl Kernel for LoadKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { axis, direction, canonical, group, row, scratch } = self;
        let (sources, _, _) = axis.maps(direction);
        match group {
            Group::Adjacent { start, .. } => {
                for (words, &slot) in row[start..].chunks(axis.inner).zip(sources) {
                    let words = words.first_chunk().expect("eight neighbours");
                    lanes.store_raw(&mut scratch[slot].0, load(lanes, canonical, words));
                }
            }
            Group::Scattered { starts, width: LANES } if axis.inner == 1 && axis.dim >= LANES => {
                let mut at = 0;
                while at < axis.dim {
                    at = at.min(axis.dim - LANES);
                    let mut rows = [lanes.zero(); LANES];
                    for i in 0..LANES {
                        let words = row[starts[i] + at..].first_chunk().expect("eight entries");
                        rows[i] = load(lanes, canonical, words);
                    }
                    let columns = lanes.transpose(rows);
                    for i in 0..LANES {
                        lanes.store_raw(&mut scratch[sources[at + i]].0, columns[i]);
                    }
                    at += LANES;
                }
            }
            Group::Scattered { starts, .. } => {
                for (j, &slot) in sources.iter().enumerate() {
                    let mut words = [0; LANES];
                    for i in 0..LANES {
                        words[i] = row[starts[i] + j * axis.inner];
                    }
                    lanes.store_raw(&mut scratch[slot].0, load(lanes, canonical, &words));
                }
            }
        }
    }
}

impl Kernel for StoreKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { axis, direction, canonical, group, row, scratch } = self;
        let (_, targets, corrections) = axis.maps(direction);
        match group {
            Group::Adjacent { start, .. } => {
                for (j, (words, &slot)) in row[start..].chunks_mut(axis.inner).zip(targets).enumerate() {
                    let x = value(lanes, scratch, corrections, j, slot);
                    store(lanes, canonical, words.first_chunk_mut().expect("eight neighbours"), x);
                }
            }
            Group::Scattered { starts, width: LANES } if axis.inner == 1 && axis.dim >= LANES => {
                let mut at = 0;
                while at < axis.dim {
                    at = at.min(axis.dim - LANES);
                    let mut columns = [lanes.zero(); LANES];
                    for i in 0..LANES {
                        columns[i] = value(lanes, scratch, corrections, at + i, targets[at + i]);
                    }
                    let rows = lanes.transpose(columns);
                    for i in 0..LANES {
                        let words = row[starts[i] + at..].first_chunk_mut().expect("eight entries");
                        store(lanes, canonical, words, rows[i]);
                    }
                    at += LANES;
                }
            }
            Group::Scattered { starts, width } => {
                let mut words = [0; LANES];
                for (j, &slot) in targets.iter().enumerate() {
                    store(lanes, canonical, &mut words, value(lanes, scratch, corrections, j, slot));
                    for (&word, &s) in words.iter().zip(&starts).take(width) {
                        row[s + j * axis.inner] = word;
                    }
                }
            }
        }
    }
}
