//! The cheapest way to merge elementary stages, among those whose constants fit into memory.
//!
//! A merged stage is one linear map. Its automorphisms are the products of those of its parts, so it
//! costs more than each part, and a chain of fewer maps spends less capacity. A table over (maps so
//! far, stages so far) keeps each way that no other one beats in both price and bytes.

use std::collections::BTreeSet;

use windlass_circuits::CostModel;
use windlass_rlwe::RlweParams;

use crate::maps::{Fixed, StageSupports};
use crate::spec::{MAX_CHOSEN_BYTES, Partition};

/// Bytes of a constant whose values all differ, for levels up to this one.
pub(crate) fn constant_bytes(params: &RlweParams, level: usize) -> usize {
    8 * (params.levels().covering(level).len() + params.special_primes().len()) * params.n()
}

/// The price of a map of `count` automorphisms by so many hoisted baby steps, and giant steps.
pub(crate) fn baby_giant(cost: &CostModel, count: usize, babies: usize) -> f64 {
    let giants = count.div_ceil(babies) - 1;
    cost.hoist
        + (babies - 1) as f64 * cost.hoisted_automorphism
        + giants as f64 * cost.extended_automorphism
        + count as f64 * cost.multiply_constant
        + cost.mod_down
}

/// One map of `size` automorphisms by baby and giant steps, the best of powers of two.
pub(crate) fn price_of_one(cost: &CostModel, size: usize) -> f64 {
    let babies = std::iter::successors(Some(1), |b| Some(2 * b)).take_while(|&b| b <= 2 * size);
    babies.map(|babies| baby_giant(cost, size, babies)).fold(f64::INFINITY, f64::min)
}

/// What a search needs to know: the automorphisms of each elementary stage, in order, modulo m and
/// up to those that make no difference; prices; bytes of one constant.
pub(super) struct Stages<'a> {
    pub supports: &'a [BTreeSet<u64>],
    pub m: u64,
    pub fixed: Option<&'a Fixed>,
    pub cost: CostModel,
    pub constant_bytes: f64,
}

/// A way to merge the first stages: the ends of merged ones, and what it costs.
#[derive(Debug, Clone)]
pub(super) struct Merged {
    pub ends: Vec<usize>,
    pub price: f64,
    pub bytes: f64,
}

impl Merged {
    /// One merged stage more.
    fn then(&self, end: usize, price: f64, bytes: f64) -> Self {
        let ends = self.ends.iter().copied().chain([end]).collect();
        Self { ends, price: self.price + price, bytes: self.bytes + bytes }
    }

    /// Neither slower nor larger.
    fn beats(&self, other: &Self) -> bool {
        self.price <= other.price && self.bytes <= other.bytes
    }
}

/// Adds a way, unless one of `ways` beats it, and drops those that it beats.
fn keep(ways: &mut Vec<Merged>, next: Merged) {
    if !ways.iter().any(|old| old.beats(&next)) {
        ways.retain(|old| !next.beats(old));
        ways.push(next);
    }
}

impl Stages<'_> {
    /// The merged stages with these ends, or the best, with the price and bytes of the whole map: of
    /// the stages beside them too.
    pub fn merged(&self, ends: Option<Vec<usize>>, partition: Partition, all: &StageSupports) -> Merged {
        let ends = ends.unwrap_or_else(|| self.best(partition));
        let [price, bytes] = self.price_of(&ends);
        let price_beside: f64 = all.beside().map(|size| self.price(size)).sum();
        let bytes_beside: f64 = all.beside().map(|size| size as f64 * self.constant_bytes).sum();
        Merged { ends, price: price + price_beside, bytes: bytes + bytes_beside }
    }

    /// The ends of the merged stages of the best partition among those whose constants fit; if none
    /// does, no stages are merged.
    ///
    /// Exact: of each number of merged stages and end, every way is kept that no other one beats in
    /// both price and bytes.
    fn best(&self, partition: Partition) -> Vec<usize> {
        let count = self.supports.len();
        // table[k][stages merged so far]: the ways with k merged stages.
        let mut table: Vec<Vec<Vec<Merged>>> = vec![vec![Vec::new(); count + 1]; count + 1];
        table[0][0].push(Merged { ends: Vec::new(), price: 0.0, bytes: 0.0 });
        for from in 0..count {
            for (end, size) in self.runs(from) {
                let (price, bytes) = (self.price(size), size as f64 * self.constant_bytes);
                for merged in 0..count {
                    for way in table[merged][from].clone() {
                        let next = way.then(end, price, bytes);
                        if next.bytes <= MAX_CHOSEN_BYTES as f64 {
                            keep(&mut table[merged + 1][end], next);
                        }
                    }
                }
            }
        }
        let mut complete = table.iter().map(|row| &row[count]).filter(|ways| !ways.is_empty());
        let least = |a: &&Merged, b: &&Merged| a.price.total_cmp(&b.price);
        let best = match partition {
            Partition::MostCapacity => complete.next().and_then(|ways| ways.iter().min_by(least)),
            _ => complete.flatten().min_by(least),
        };
        best.map_or_else(|| (1..=count).collect(), |way| way.ends.clone())
    }

    /// The runs from one stage on, with their numbers of automorphisms.
    fn runs(&self, from: usize) -> Vec<(usize, usize)> {
        let mut support: BTreeSet<u64> = BTreeSet::from([1 % self.m]);
        let mut runs = Vec::new();
        for end in from..self.supports.len() {
            let stage = &self.supports[end];
            support = support
                .iter()
                .flat_map(|a| stage.iter().map(move |b| a * b % self.m))
                .map(|t| self.fixed.map_or(t, |fixed| fixed.representative(t)))
                .collect();
            if support.len() as f64 * self.constant_bytes > MAX_CHOSEN_BYTES as f64 {
                break;
            }
            runs.push((end + 1, support.len()));
        }
        runs
    }

    /// The price of all merged stages with these ends, and the bytes of their constants; infinite
    /// where they do not fit, which merging will refuse.
    fn price_of(&self, ends: &[usize]) -> [f64; 2] {
        const UNFIT: [f64; 2] = [f64::INFINITY; 2];
        let mut from = 0;
        let [mut price, mut bytes] = [0.0; 2];
        for &end in ends {
            match (from..end.max(from)).last().and_then(|_| self.runs(from).into_iter().find(|run| run.0 == end)) {
                Some((_, size)) => {
                    price += self.price(size);
                    bytes += size as f64 * self.constant_bytes;
                }
                None => return UNFIT,
            }
            from = end;
        }
        if from == self.supports.len() { [price, bytes] } else { UNFIT }
    }

    fn price(&self, size: usize) -> f64 {
        price_of_one(&self.cost, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_the_best_of_all_partitions() {
        let m = 1 << 12;
        let power = |k: u64| windlass_ring::kernels::arith::pow_mod(5, k, m);
        let order = 1 << 10;
        let supports: Vec<BTreeSet<u64>> =
            (0..8).map(|k| [0, 1 << k, order - (1 << k)].into_iter().map(power).collect()).collect();
        let stages = |bytes| Stages {
            supports: &supports,
            m,
            fixed: None,
            cost: CostModel::hybrid(12, 4, 3),
            constant_bytes: bytes,
        };
        let runs = stages(1.0).runs(0);
        assert_eq!(runs[..4].iter().map(|run| run.1).collect::<Vec<_>>(), [3, 7, 15, 31]);
        // Every partition of eight stages, by the bits of a number.
        let small = stages(1.0);
        let measure = |ends: &[usize]| {
            let (mut from, mut price, mut constants) = (0, 0.0, 0);
            for &end in ends {
                let size = small.runs(from).iter().find(|run| run.0 == end).unwrap().1;
                (price, constants) = (price + small.price(size), constants + size);
                from = end;
            }
            (price, constants)
        };
        let all: Vec<Vec<usize>> =
            (0..1u32 << 7).map(|cut| (1..=8).filter(|&end| end == 8 || cut >> (end - 1) & 1 == 1).collect()).collect();
        // Memory for so many constants; all of the elementary stages together have 24.
        for room in (24..120).chain([1 << 20]) {
            let limited = stages(MAX_CHOSEN_BYTES as f64 / (room as f64 + 0.5));
            let fitting: Vec<&Vec<usize>> = all.iter().filter(|ends| measure(ends).1 <= room).collect();
            let fewest = fitting.iter().map(|ends| ends.len()).min().unwrap();
            for (partition, count) in [(Partition::LeastTime, 0), (Partition::MostCapacity, fewest)] {
                let among = fitting.iter().filter(|ends| count == 0 || ends.len() == count);
                let least = among.map(|ends| measure(ends).0).fold(f64::INFINITY, f64::min);
                let found = limited.best(partition);
                assert!((measure(&found).0 - least).abs() < 1e-9 * least, "{room} constants: {found:?}");
                assert!(measure(&found).1 <= room && (count == 0 || found.len() == count), "{room}: {found:?}");
            }
        }
        assert_eq!(small.best(Partition::MostCapacity), [8]);
        // Memory for about 40 constants: runs of at most four stages.
        let ends = stages((4u64 << 30) as f64 / 70.0).best(Partition::MostCapacity);
        assert_eq!(ends.len(), 2, "{ends:?}");
    }
}
