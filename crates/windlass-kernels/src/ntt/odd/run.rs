//! Carries out the steps of a program on eight columns, or several times eight.

use super::axis::OddAxis;
use super::build::Direction;
use super::cell::{Cell, OneLane, Vectors};
use super::codelets::{Codelet, Eight, Five, Four, One, Seven, Six, Sixteen, Ten, Three, Two};
use super::lazy::{Arithmetic, Lazy, stored};
use super::program::{Correction, NONE, Placement, SmallTransform};
use crate::lanes::{Block, Kernel, LANES, Lanes, Points, Strided};
use crate::modulus::Modulus;

/// Where the columns are. Position p of eight columns is at block `p * width + w`, w < width.
pub(crate) struct Memory<'a> {
    /// Scratch memory.
    pub scratch: &'a mut [Block],
    /// Groups of eight columns.
    pub width: usize,
    /// The row, if its columns are neighbours there; else they are in scratch memory.
    pub row: Option<Columns<'a>>,
}

/// Neighbouring columns of a row: what is at offset j is at `start + 8w + j` for group w.
pub(crate) struct Columns<'a> {
    /// The row.
    pub words: &'a mut [u64],
    /// First column.
    pub start: usize,
    /// Whether entries are canonical before and after; else in the stored form of the backend.
    pub canonical: [bool; 2],
}

impl Columns<'_> {
    /// Where the columns of an offset begin. In 64 bits, whatever a `usize` has: in 32 bits [`NONE`] would lead back
    /// into the row.
    #[inline(always)]
    fn place(&self, offset: u32, w: usize) -> Option<usize> {
        usize::try_from((self.start + LANES * w) as u64 + offset as u64).ok()
    }

    /// Eight columns, or zero for the offset [`NONE`], which is beyond every row.
    #[inline(always)]
    fn load<C: Cell>(&self, cell: C, offset: u32, w: usize) -> C::Value {
        if let Some(place) = self.place(offset, w)
            && let Some(rest) = self.words.get(place..)
            && let Some(words) = rest.first_chunk()
        {
            return if self.canonical[0] { cell.load(words) } else { cell.load_raw(words) };
        }
        cell.zero()
    }

    /// Eight columns, unless the offset is [`NONE`].
    #[inline(always)]
    fn store<C: Cell>(&mut self, a: Arithmetic<C>, offset: u32, w: usize, x: Lazy<C::Value>) {
        if let Some(place) = self.place(offset, w)
            && let Some(rest) = self.words.get_mut(place..)
            && let Some(words) = rest.first_chunk_mut()
        {
            let x = a.fit(x, stored::<C>());
            if self.canonical[1] {
                a.cell.store(words, x.value);
            } else {
                a.cell.store_raw(words, x.value);
            }
        }
    }
}

/// Transforms the columns.
#[inline(always)]
pub(crate) fn run<L: Lanes>(lanes: L, q: Modulus, axis: &OddAxis, direction: Direction, memory: &mut Memory) {
    let direct = memory.row.is_some();
    for step in axis.program(direction).iter().filter(|step| direct || !step.edge) {
        if L::ONE_BY_ONE {
            one_by_one(OneLane::new(q), step, memory);
        } else {
            vectors(lanes, step, memory);
        }
    }
}

/// The loop `for j in first..R { .. }` written out, R ≤ 16: so that arrays become registers and
/// bounds constants at once, for every decision of the compiler about unrolling.
macro_rules! each {
    ($j:ident in $first:literal..$end:ident $body:block) => {
        each!(@ $j, $first, $end, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $j:ident, $first:literal, $end:ident, $body:block, $($index:literal)*) => {
        $(
            // A constant: what is not needed is not even generated.
            if const { $index >= $first && $index < $end } {
                let $j: usize = $index;
                $body
            }
        )*
    };
}

macro_rules! with_codelet {
    ($len:expr, $call:ident($($argument:expr),*)) => {
        match $len {
            1 => $call::<_, One, 1>($($argument),*),
            2 => $call::<_, Two, 2>($($argument),*),
            3 => $call::<_, Three, 3>($($argument),*),
            4 => $call::<_, Four, 4>($($argument),*),
            5 => $call::<_, Five, 5>($($argument),*),
            6 => $call::<_, Six, 6>($($argument),*),
            7 => $call::<_, Seven, 7>($($argument),*),
            8 => $call::<_, Eight, 8>($($argument),*),
            10 => $call::<_, Ten, 10>($($argument),*),
            16 => $call::<_, Sixteen, 16>($($argument),*),
            other => unreachable!("no codelet of length {other}"),
        }
    };
}

#[inline(always)]
fn vectors<L: Lanes>(lanes: L, step: &SmallTransform, memory: &mut Memory) {
    with_codelet!(step.len, vectorized(lanes, step, memory));
}

fn one_by_one(cell: OneLane, step: &SmallTransform, memory: &mut Memory) {
    with_codelet!(step.len, execute(cell, step, memory));
}

#[inline(always)]
fn vectorized<L: Lanes, K: Codelet<R>, const R: usize>(lanes: L, step: &SmallTransform, memory: &mut Memory) {
    lanes.vectorize(StepKernel::<K, R> { step, memory, codelet: std::marker::PhantomData });
}

/// One step, compiled for one codelet.
struct StepKernel<'a, 'b, K, const R: usize> {
    step: &'a SmallTransform,
    memory: &'a mut Memory<'b>,
    codelet: std::marker::PhantomData<K>,
}

impl<K: Codelet<R>, const R: usize> Kernel for StepKernel<'_, '_, K, R> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        execute::<_, K, R>(Vectors(lanes), self.step, self.memory);
    }
}

/// One small transform: where its points are.
struct Sites<'a, const R: usize> {
    /// Offsets in the row to read and to write, then that of the constant; empty for scratch
    /// memory.
    input: &'a [u32],
    output: &'a [u32],
    /// The points in scratch memory.
    scratch: Strided<R>,
    /// Position of the constant, in blocks.
    constant: usize,
    /// Block to be subtracted from the results.
    correction: usize,
}

/// The tables of a run, cut to their lengths.
struct Tables<'a> {
    codelet: [&'a [u64]; 2],
    /// What the leaf multiplies by.
    kernel: &'a [u64],
    twiddles: Option<&'a [u64]>,
}

impl<'a> Tables<'a> {
    #[inline(always)]
    fn new<C: Cell, K: Codelet<R>, const R: usize>(step: &'a SmallTransform, run: &Placement) -> Self {
        let row = |table: &'a [u64], index: u32| &table[index as usize * R * C::WORDS..][..R * C::WORDS];
        let second = if step.passes > 1 { &step.tables[1][..K::CONSTANTS * C::WORDS] } else { &[] };
        Self {
            codelet: [&step.tables[0][..K::CONSTANTS * C::WORDS], second],
            kernel: if step.passes > 1 { row(&step.kernel, run.kernel) } else { &[] },
            twiddles: (run.twiddle != NONE).then(|| row(&step.twiddles, run.twiddle)),
        }
    }
}

#[inline(always)]
fn execute<C: Cell, K: Codelet<R>, const R: usize>(cell: C, step: &SmallTransform, memory: &mut Memory) {
    let (width, direct) = (memory.width, memory.row.is_some());
    let (reads, writes) = (direct && !step.input.is_empty(), direct && !step.output.is_empty());
    let per_entry = reads || writes;
    let (outer, inner) = if per_entry { (step.batch, width) } else { (1, step.batch * width) };
    for (index, run) in step.runs.iter().enumerate() {
        let writes = writes && index >= step.deferred;
        let tables = Tables::new::<C, K, R>(step, run);
        for k in 0..outer {
            let row = |list| if per_entry { entries::<R>(list, index * step.batch + k) } else { &[][..] };
            let position = run.start as usize + k;
            let correction = match step.correction {
                Correction::Memory { start, period } => start + position % period,
                _ => 0,
            };
            let sites = Sites {
                input: if reads { row(&step.input) } else { &[] },
                output: if writes { row(&step.output) } else { &[] },
                scratch: Strided::new(LANES * position * width, LANES * step.stride * width),
                constant: (run.constant as usize).wrapping_add(k).wrapping_mul(width),
                correction: correction * width,
            };
            for w in 0..inner {
                for part in 0..C::PARTS {
                    transform::<C, K, R>(cell.part(part), step, run, &tables, &sites, w, memory);
                }
            }
        }
    }
}

/// The items of one small transform and its constant.
#[inline(always)]
fn entries<const R: usize>(list: &[u32], index: usize) -> &[u32] {
    &list[index * (R + 1)..(index + 1) * (R + 1)]
}

#[inline(always)]
fn transform<C: Cell, K: Codelet<R>, const R: usize>(
    cell: C,
    step: &SmallTransform,
    run: &Placement,
    tables: &Tables,
    sites: &Sites<R>,
    w: usize,
    memory: &mut Memory,
) {
    let a = Arithmetic { cell };
    let mut x = [a.stored(cell.zero()); R];
    // Loops, not closures: a call that stays a call is compiled without the backend's instructions.
    match &memory.row {
        Some(row) if !sites.input.is_empty() => {
            each!(j in 0..R {
                x[j] = a.stored(row.load(cell, sites.input[j], w));
            });
        }
        _ => {
            let points = Points::new(Block::words(memory.scratch), &sites.scratch, LANES * w);
            each!(j in 0..R {
                x[j] = a.stored(cell.load_raw(points.at(j)));
            });
        }
    }
    let (y, total) = if K::LEAF {
        leaf::<C, K, R>(a, step, run, tables, sites, w, memory, x)
    } else {
        (K::transform(a, tables.codelet[0], x), a.stored(cell.zero()))
    };
    let y = finish::<C, K, R>(a, step, tables, y, sites.output.is_empty());
    put::<C, K, R>(a, step, run, sites, w, memory, y, total);
}

/// One or two transforms; between them the products with the kernel, and what happens to the
/// constant.
#[inline(always)]
fn leaf<C: Cell, K: Codelet<R>, const R: usize>(
    a: Arithmetic<C>,
    step: &SmallTransform,
    run: &Placement,
    tables: &Tables,
    sites: &Sites<R>,
    w: usize,
    memory: &Memory,
    mut x: [Lazy<C::Value>; R],
) -> ([Lazy<C::Value>; R], Lazy<C::Value>) {
    let mut total = a.stored(a.cell.zero());
    let mut pass = 0;
    loop {
        let y = K::transform(a, tables.codelet[pass], x);
        pass += 1;
        if pass == step.passes {
            return (y, total);
        }
        each!(j in 0..R {
            x[j] = a.stored(a.fit(a.scale(y[j], tables.kernel, j), stored::<C>()).value);
        });
        if run.constant != NONE {
            let constant = match &memory.row {
                Some(row) if !sites.input.is_empty() => row.load(a.cell, sites.input[R], w),
                _ => a.cell.load_raw(&memory.scratch[sites.constant + w].0),
            };
            let constant = a.stored(constant);
            x[0] = a.stored(a.fit(a.add(x[0], constant), stored::<C>()).value);
            let sum = a.reduce(a.add(constant, y[0]));
            let sum = if step.factor.is_empty() { sum.value } else { a.scale(sum, &step.factor, 0).value };
            total = a.stored(sum);
        }
    }
}

/// Multiplies the results of a small transform by their twiddles, and gives scratch memory values
/// of the stored form.
#[inline(always)]
fn finish<C: Cell, K: Codelet<R>, const R: usize>(
    a: Arithmetic<C>,
    step: &SmallTransform,
    tables: &Tables,
    y: [Lazy<C::Value>; R],
    to_scratch: bool,
) -> [Lazy<C::Value>; R] {
    let mut z = y;
    if K::TWIDDLED {
        if let Some(twiddles) = tables.twiddles {
            z[0].value = if step.twiddle_first { a.scale(y[0], twiddles, 0).value } else { a.reduce(y[0]).value };
            each!(j in 1..R {
                z[j].value = a.scale(y[j], twiddles, j).value;
            });
        } else if to_scratch {
            each!(j in 0..R {
                z[j].value = a.fit(y[j], stored::<C>()).value;
            });
        }
        each!(j in 0..R {
            // Not a branch: so that the bound is known when this is compiled.
            let bound = C::FORM.product_of(y[j].bound);
            z[j].bound = if y[j].bound > bound { y[j].bound } else { bound };
        });
    }
    z
}

/// Stores the results.
#[inline(always)]
fn put<C: Cell, K: Codelet<R>, const R: usize>(
    a: Arithmetic<C>,
    step: &SmallTransform,
    run: &Placement,
    sites: &Sites<R>,
    w: usize,
    memory: &mut Memory,
    y: [Lazy<C::Value>; R],
    total: Lazy<C::Value>,
) {
    match &mut memory.row {
        Some(row) if !sites.output.is_empty() => {
            let correction = a.stored(match step.correction {
                Correction::None => a.cell.zero(),
                Correction::Middle => a.fit(y[R / 2], stored::<C>()).value,
                Correction::Memory { .. } => a.cell.load_raw(&memory.scratch[sites.correction + w].0),
            });
            each!(j in 0..R {
                row.store(a, sites.output[j], w, a.sub(y[j], correction));
            });
            if K::LEAF && run.constant != NONE {
                row.store(a, sites.output[R], w, a.sub(total, correction));
            }
        }
        _ => {
            let mut points = Points::new(Block::words(memory.scratch), &sites.scratch, LANES * w);
            each!(j in 0..R {
                let y = if K::TWIDDLED { y[j] } else { a.fit(y[j], stored::<C>()) };
                a.cell.store_raw(points.at_mut(j), y.value);
            });
            if K::LEAF && run.constant != NONE {
                a.cell.store_raw(&mut memory.scratch[sites.constant + w].0, total.value);
            }
        }
    }
}
