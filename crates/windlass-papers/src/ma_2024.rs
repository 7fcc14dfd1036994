//! How Ma et al. 2024 merge elementary stages.

use windlass::bootstrap::{ElementaryStages, Partition, StagePartition};

/// Table 3 of Ma et al. 2024, all with m = 2^16: p, the transform, whether packed ("general"), and
/// where merged stages begin, counted from 1 in the order of the map to the slots, and end.
const MA_2024: [(u64, &str, Option<bool>, [usize; 4]); 6] = [
    (65537, "radix2", None, [1, 6, 12, 16]),
    (8191, "radix2", None, [1, 5, 9, 13]),
    (8191, "bruun", Some(false), [1, 6, 10, 13]),
    (8191, "bruun", Some(true), [1, 5, 10, 13]),
    (131_071, "radix2", None, [1, 6, 10, 15]),
    (131_071, "bruun", None, [1, 7, 12, 15]),
];

/// The partitions of Table 3, for the three sets of that paper.
#[derive(Debug, Clone, Copy)]
pub struct Table3;

impl Table3 {
    /// It as a choice of a specification.
    pub const PARTITION: Partition = Partition::Of(&Self);
}

impl StagePartition for Table3 {
    fn name(&self) -> &'static str {
        "paper"
    }

    fn citation(&self) -> &'static str {
        "Ma–Huang–Wang–Wang 2024, Table 3"
    }

    /// The stage on the side of the slots that packed mode has by itself is one that the paper merges
    /// with the others.
    fn ends(&self, stages: &ElementaryStages) -> Option<[Vec<usize>; 2]> {
        let &ElementaryStages { m, p, transform, packed, count } = stages;
        let fits = |row: &&(u64, &str, Option<bool>, [usize; 4])| {
            (m, p, transform) == (1 << 16, row.0, row.1) && row.2.is_none_or(|general| general == packed)
        };
        let (.., bounds) = MA_2024.iter().find(fits)?;
        let [first, .., last] = *bounds;
        let by_itself = (last - first).checked_sub(count)?;
        let to_slots = bounds[1..].iter().map(|bound| bound - first - by_itself).collect();
        let from_the_end = bounds[..3].iter().rev().map(|bound| (last - bound).min(count)).collect();
        Some([from_the_end, to_slots])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_3_is_read_both_ways() {
        let ends = |m, p, transform, packed, count| Table3.ends(&ElementaryStages { m, p, transform, packed, count });
        let of = |p, transform, packed, count| ends(1 << 16, p, transform, packed, count).unwrap();
        // (1, 6, 12, 16): stages 1 to 5, 6 to 11, 12 to 15; back 15 to 12, 11 to 6, 5 to 1.
        assert_eq!(of(65537, "radix2", false, 15), [vec![4, 10, 15], vec![5, 11, 15]]);
        assert_eq!(of(65537, "radix2", true, 15), of(65537, "radix2", false, 15));
        assert_eq!(of(8191, "bruun", false, 12), [vec![3, 7, 12], vec![5, 9, 12]]);
        // One of the 12 stands by itself, next to the slots.
        assert_eq!(of(8191, "bruun", true, 11), [vec![3, 8, 11], vec![3, 8, 11]]);
        assert_eq!(of(131_071, "radix2", true, 14), [vec![5, 9, 14], vec![5, 9, 14]]);
        assert_eq!(ends(1 << 16, 257, "radix2", false, 7), None);
        assert_eq!(ends(1 << 15, 8191, "radix2", false, 11), None);
        assert_eq!(ends(1 << 16, 65537, "bruun", false, 15), None);
    }
}
