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

impl Stages<'_> {
    /// The ends of the merged stages of the best partition; a run is merged only as far as its constants fit.
    pub fn best(&self, partition: Partition) -> Vec<usize> {
        let count = self.supports.len();
        // best[k][stages merged so far]: the cheapest way with k merged stages.
        let mut table: Vec<Vec<Option<Way>>> = vec![vec![None; count + 1]; count + 1];
        table[0][0] = Some(Way { ends: Vec::new(), price: 0.0, bytes: 0.0 });
        for from in 0..count {
            for (end, size) in self.runs(from) {
                for merged in 0..count {
                    let Some(way) = table[merged][from].clone() else { continue };
                    let next = Way {
                        ends: way.ends.iter().copied().chain([end]).collect(),
                        price: way.price + self.price(size),
                        bytes: way.bytes + size as f64 * self.constant_bytes,
                    };
                    let place = &mut table[merged + 1][end];
                    if next.bytes <= MAX_CONSTANT_BYTES && place.as_ref().is_none_or(|old| next.price < old.price) {
                        *place = Some(next);
                    }
                }
            }
        }
        let mut ways = table.iter().filter_map(|row| row[count].as_ref());
        let best = match partition {
            Partition::MostCapacity => ways.next(),
            _ => ways.min_by(|a, b| a.price.total_cmp(&b.price)),
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
        let price = |ends: &[usize]| {
            let mut from = 0;
            let mut sum = 0.0;
            for &end in ends {
                let size = small.runs(from).iter().find(|run| run.0 == end).unwrap().1;
                sum += small.price(size);
                from = end;
            }
            sum
        };
        let all = (0..1u32 << 7)
            .map(|cut| (1..=8).filter(|&end| end == 8 || cut >> (end - 1) & 1 == 1).collect::<Vec<usize>>());
        let least = all.map(|ends| price(&ends)).fold(f64::INFINITY, f64::min);
        assert!((price(&small.best(Partition::LeastTime)) - least).abs() < 1e-9);
        assert_eq!(small.best(Partition::MostCapacity), [8]);
        // Memory for about 40 constants: runs of at most four stages.
        let ends = stages((4u64 << 30) as f64 / 70.0).best(Partition::MostCapacity);
        assert_eq!(ends.len(), 2, "{ends:?}");
    }
}
