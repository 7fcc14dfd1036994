//! Published partitions, by parameter set.

use windlass_schemes::error::{BootstrapError, Result};

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

/// Whether the table has a row for this transform, thin or packed.
pub(super) fn has(ring: (u64, u64), transform: &str, packed: bool) -> bool {
    row(ring, transform, packed).is_some()
}

fn row((m, p): (u64, u64), transform: &str, packed: bool) -> Option<&'static [usize; 4]> {
    let fits = |row: &&(u64, &str, Option<bool>, [usize; 4])| {
        (m, p, transform) == (1 << 16, row.0, row.1) && row.2.is_none_or(|general| general == packed)
    };
    MA_2024.iter().find(fits).map(|(.., bounds)| bounds)
}

/// Where merged stages end: those to the coefficients, and those to the slots, which come in the
/// opposite order.
///
/// `count` is the number of stages that may be merged: all stages of the transform, or all except
/// the one on the side of the slots that is separate in packed mode and that the paper merges with
/// the others.
///
/// # Errors
/// [`BootstrapError::Unsupported`] for a ring or a transform that the table has not.
pub(super) fn partition(ring: (u64, u64), transform: &str, packed: bool, count: usize) -> Result<[Vec<usize>; 2]> {
    let Some(bounds) = row(ring, transform, packed) else {
        let (m, p) = ring;
        let what = format!(
            "there is no published partition for {transform} stages, m = {m}, p = {p}; use Partition::Standard"
        );
        return Err(BootstrapError::Unsupported { what }.into());
    };
    let [first, .., last] = *bounds;
    let by_itself = last - first - count;
    let to_slots = bounds[1..].iter().map(|bound| bound - first - by_itself).collect();
    let from_the_end = bounds[..3].iter().rev().map(|bound| (last - bound).min(count)).collect();
    Ok([from_the_end, to_slots])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_3_is_read_both_ways() {
        let of = |p, transform, packed, count| partition((1 << 16, p), transform, packed, count).unwrap();
        // (1, 6, 12, 16): stages 1 to 5, 6 to 11, 12 to 15; back 15 to 12, 11 to 6, 5 to 1.
        assert_eq!(of(65537, "radix2", false, 15), [vec![4, 10, 15], vec![5, 11, 15]]);
        assert_eq!(of(65537, "radix2", true, 15), of(65537, "radix2", false, 15));
        assert_eq!(of(8191, "bruun", false, 12), [vec![3, 7, 12], vec![5, 9, 12]]);
        // One of the 12 stands by itself, next to the slots.
        assert_eq!(of(8191, "bruun", true, 11), [vec![3, 8, 11], vec![3, 8, 11]]);
        assert_eq!(of(131_071, "radix2", true, 14), [vec![5, 9, 14], vec![5, 9, 14]]);
        assert!(partition((1 << 16, 257), "radix2", false, 7).is_err());
        assert!(partition((1 << 15, 8191), "radix2", false, 11).is_err());
        assert!(partition((1 << 16, 65537), "bruun", false, 15).is_err());
    }
}
