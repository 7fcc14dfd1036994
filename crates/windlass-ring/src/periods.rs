//! Where values that repeat are kept once.
//!
//! The constants of a linear map often have few distinct values at the n roots of unity: they repeat
//! along an axis of the ring, or lie in a ring of smaller index m'. A row then keeps the distinct
//! values only. `Pattern` says which column of the full row has which kept value. `Smaller` is the
//! ring of index m'. Its transforms, with the root ζ^{m/m'}, give the kept values
//! (`docs/design/0026-values-that-repeat.md`).

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use windlass_kernels::{Axis, NttPlan, Shape, arith};

use crate::subring::axes_with_distances;

/// Where each column finds its value among those that are kept: columns in groups of `repeat` equal
/// ones, groups in runs of `run` neighbours.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// Values that are kept.
    pub width: usize,
    repeat: usize,
    run: usize,
    /// Where each run begins.
    starts: Vec<u32>,
}

impl Pattern {
    /// `kept` values that differ along each axis.
    fn new(shape: &Shape, kept: &[usize]) -> Self {
        let axes = axes_with_distances(shape);
        let place = |column: usize| {
            let coordinate = |(axis, distance): &(&Axis, usize), kept: usize| {
                let u = column / distance % axis.dim;
                if axis.prime == 2 { u / (axis.dim / kept) } else { u % kept }
            };
            axes.iter().zip(kept).fold(0, |place, (axis, &kept)| place * kept + coordinate(axis, kept))
        };
        let places: Vec<usize> = (0..shape.n()).map(place).collect();
        let between = |breaks: &dyn Fn(usize, usize) -> bool, places: &[usize]| {
            let ends = (1..places.len()).filter(|&i| breaks(places[i - 1], places[i]));
            ends.fold(places.len(), greatest_common_divisor)
        };
        let repeat = between(&|before, here| here != before, &places);
        let groups: Vec<usize> = places.into_iter().step_by(repeat).collect();
        let run = between(&|before, here| here != before + 1, &groups);
        let starts = groups.iter().step_by(run).map(|&place| place as u32).collect();
        Self { width: kept.iter().product(), repeat, run, starts }
    }

    /// The columns from `start`.
    pub fn expand(&self, row: &[u64], start: usize, out: &mut [u64]) {
        let (mut at, mut rest) = (start, out);
        while !rest.is_empty() {
            let (group, inside) = (at / self.repeat, at % self.repeat);
            let (run, offset) = (group / self.run, group % self.run);
            let source = &row[self.starts[run] as usize + offset..][..self.run - offset];
            let length = (source.len() * self.repeat - inside).min(rest.len());
            let (now, later) = rest.split_at_mut(length);
            match self.repeat {
                1 => now.copy_from_slice(&source[..length]),
                _ => spread(source, self.repeat, inside, now),
            }
            (at, rest) = (at + length, later);
        }
    }
}

/// Each word `repeat` times, without the first `inside` columns.
fn spread(source: &[u64], repeat: usize, inside: usize, out: &mut [u64]) {
    let (head, whole) = out.split_at_mut(((repeat - inside) % repeat).min(out.len()));
    let first = usize::from(inside > 0);
    head.fill(source[0]);
    for (out, &word) in whole.chunks_mut(repeat).zip(&source[first.min(source.len())..]) {
        out.fill(word);
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    arith::gcd(a as u64, b as u64) as usize
}

/// A ring of index m' with a transform modulo each prime of the large one; integers have none.
#[derive(Debug)]
pub(crate) struct Smaller {
    pub shape: Option<Arc<Shape>>,
    pub plans: Vec<NttPlan>,
}

/// What periodic values of one ring share.
#[derive(Debug, Default)]
pub(crate) struct PeriodCache {
    smaller: RwLock<HashMap<u64, Option<Arc<Smaller>>>>,
    patterns: RwLock<HashMap<Vec<usize>, Arc<Pattern>>>,
}

impl PeriodCache {
    /// The ring of index m'; `None` where a prime has no roots for its transform.
    pub fn smaller(&self, large: &[NttPlan], index: u64) -> Option<Arc<Smaller>> {
        if let Some(found) = self.smaller.read().expect("no panic while caching").get(&index) {
            return found.clone();
        }
        let built = build_smaller(large, index).map(Arc::new);
        self.smaller.write().expect("no panic while caching").insert(index, built.clone());
        built
    }

    pub fn pattern(&self, shape: &Shape, kept: &[usize]) -> Arc<Pattern> {
        if let Some(found) = self.patterns.read().expect("no panic while caching").get(kept) {
            return Arc::clone(found);
        }
        let built = Arc::new(Pattern::new(shape, kept));
        self.patterns.write().expect("no panic while caching").insert(kept.to_vec(), Arc::clone(&built));
        built
    }
}

/// Values modulo each prime are those of the large ring: its transform has the root ζ^{m/m'}.
fn build_smaller(large: &[NttPlan], index: u64) -> Option<Smaller> {
    if index == 1 {
        return Some(Smaller { shape: None, plans: Vec::new() });
    }
    let shape = Arc::new(Shape::new(index).ok()?);
    let plan = |large: &NttPlan| {
        let root = large.modulus().pow(large.root(), large.shape().m() / index);
        NttPlan::with_root(&shape, large.modulus(), large.isa(), root).ok()
    };
    let plans = large.iter().map(plan).collect::<Option<Vec<_>>>()?;
    Some(Smaller { shape: Some(shape), plans })
}
