//! Which elementary stages of a linear map to merge.

use std::collections::BTreeSet;

use super::spec::Partition;
use crate::circuits::CostModel;

/// Constants of one map may take this much memory.
const MAX_CONSTANT_BYTES: f64 = (4u64 << 30) as f64;

/// What a search needs to know: the automorphisms of each elementary stage, in order, modulo m; prices; bytes of one constant.
pub(super) struct Stages<'a> {
    pub supports: &'a [BTreeSet<u64>],
    pub m: u64,
    pub cost: CostModel,
    pub constant_bytes: f64,
}

/// A way to merge the first stages: the ends of merged ones, and what it costs.
#[derive(Debug, Clone)]
struct Way {
    ends: Vec<usize>,
    price: f64,
    bytes: f64,
}

impl Way {
    /// One merged stage more.
    fn then(&self, end: usize, price: f64, bytes: f64) -> Self {
        let ends = self.ends.iter().copied().chain([end]).collect();
        Self { ends, price: self.price + price, bytes: self.bytes + bytes }
    }

    /// Neither dearer nor larger.
    fn beats(&self, other: &Self) -> bool {
        self.price <= other.price && self.bytes <= other.bytes
    }
}

/// Adds a way, unless one of `ways` beats it, and drops those that it beats.
fn keep(ways: &mut Vec<Way>, next: Way) {
    if !ways.iter().any(|old| old.beats(&next)) {
        ways.retain(|old| !next.beats(old));
        ways.push(next);
    }
}

impl Stages<'_> {
    /// The ends of the merged stages of the best partition among those whose constants fit; if none does, no stages are merged.
    ///
    /// Exact: of each number of merged stages and end, every way is kept that no other one beats in both price and bytes.
    pub fn best(&self, partition: Partition) -> Vec<usize> {
        let count = self.supports.len();
        // table[k][stages merged so far]: the ways with k merged stages.
        let mut table: Vec<Vec<Vec<Way>>> = vec![vec![Vec::new(); count + 1]; count + 1];
        table[0][0].push(Way { ends: Vec::new(), price: 0.0, bytes: 0.0 });
        for from in 0..count {
            for (end, size) in self.runs(from) {
                let (price, bytes) = (self.price(size), size as f64 * self.constant_bytes);
                for merged in 0..count {
                    for way in table[merged][from].clone() {
                        let next = way.then(end, price, bytes);
                        if next.bytes <= MAX_CONSTANT_BYTES {
                            keep(&mut table[merged + 1][end], next);
                        }
                    }
                }
            }
        }
        let mut complete = table.iter().map(|row| &row[count]).filter(|ways| !ways.is_empty());
        let least = |a: &&Way, b: &&Way| a.price.total_cmp(&b.price);
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
            support = support.iter().flat_map(|a| stage.iter().map(move |b| a * b % self.m)).collect();
            if support.len() as f64 * self.constant_bytes > MAX_CONSTANT_BYTES {
                break;
            }
            runs.push((end + 1, support.len()));
        }
        runs
    }

    /// One map of `size` automorphisms by baby and giant steps, the best of powers of two.
    fn price(&self, size: usize) -> f64 {
        let cost = &self.cost;
        let with = |babies: usize| {
            let giants = size.div_ceil(babies);
            cost.hoist
                + (babies - 1) as f64 * cost.hoisted_automorphism
                + (giants - 1) as f64 * cost.extended_automorphism
                + size as f64 * cost.multiply_constant
                + cost.mod_down
        };
        let babies = std::iter::successors(Some(1), |b| Some(2 * b)).take_while(|&b| b <= 2 * size);
        babies.map(with).fold(f64::INFINITY, f64::min)
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
        let stages =
            |bytes| Stages { supports: &supports, m, cost: CostModel::hybrid(12, 4, 3), constant_bytes: bytes };
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
            let limited = stages(MAX_CONSTANT_BYTES / (room as f64 + 0.5));
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
