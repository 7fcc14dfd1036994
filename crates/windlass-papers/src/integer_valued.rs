//! Chains of halvings for more than one bit, which were found by search.
//!
//! `⌊x/2^v⌋` modulo 2^r is a polynomial of degree `2^v + (r − 1)·2^{v−1}` with integer values, and of no
//! smaller degree, so that it takes at least the logarithm of that in products: v for r = 1, v + 1
//! for r = 2 and 3. The chains for r = 1 and 2 have no more, the others at most one more.

use windlass::circuits::{DigitMethod, DigitRoute, DigitSpec, HalvingChain, Searched};
use windlass::evaluator::DividedProduct;

/// Chains of halvings that leave two to six bits ([`HalvingChain`]), for p = 2 and few digits.
///
/// Half of the products of [`Searched`] or less. Never chosen by the planner: the
/// last product is raised to the level of the argument, which stands in the sum on top of it, so
/// that what comes after works on more primes than its noise asks for.
#[derive(Debug, Clone, Copy)]
pub struct IntegerValued;

impl DigitMethod for IntegerValued {
    fn name(&self) -> &'static str {
        "integer-valued"
    }

    fn citation(&self) -> &'static str {
        "found by this library's search"
    }

    fn refusal(&self, spec: &DigitSpec) -> Option<&'static str> {
        let known = spec.prime == 2 && chain(spec).is_some();
        (!known).then_some("no chain is known for so many digits and bits, or p is not 2")
    }

    fn routes(&self, _: &DigitSpec) -> Vec<DigitRoute> {
        Vec::new()
    }

    fn halving(&self, spec: &DigitSpec) -> Option<HalvingChain> {
        chain(spec)
    }
}

/// The chain for so many digits and bits; for one bit that of [`Searched`].
fn chain(spec: &DigitSpec) -> Option<HalvingChain> {
    match spec.exponent - spec.removed {
        1 => Searched.halving(spec),
        bits => to_bits(spec.removed, bits),
    }
}

/// First v products that are divided, then those that make the result precise
/// (`examples/search_integer_valued.rs`).
fn to_bits(v: u32, r: u32) -> Option<HalvingChain> {
    // For each product the weights of both factors and of the sum on top.
    let steps: &[[&[i64]; 3]] = match (v, r) {
        (2, 2) => &[[&[1], &[1], &[7]], [&[2, 1], &[-4, 1], &[-4, -1]], [&[0, -2], &[0, 0, 1], &[0, -2, -1]]],
        (3, 2) => &[
            [&[1], &[1], &[-5]],
            [&[0, 1], &[-2, 1], &[0, -3]],
            [&[0, 0, 1], &[2, -4, 1], &[-4, -4, 3]],
            [&[0, 0, 1, -1], &[-2, -2, -2], &[-2, 1, 0, -1]],
        ],
        (4, 2) => &[
            [&[1], &[1], &[11]],
            [&[0, 1], &[6, -15], &[-2, 9]],
            [&[-8, 0, 1], &[-8, 4, -7], &[-6, -8, 7]],
            [&[-4, 0, 0, 1], &[-4, 0, 2, -3], &[0, 0, 2, 1]],
            [&[-1, 1, 0, 1, 1], &[-2, 0, 0, 0, -2], &[0, 0, 0, -2, 1]],
        ],
        (5, 2) => &[
            [&[1], &[1], &[7]],
            [&[-32, 1], &[26, 1], &[-10, 29]],
            [&[-16, 0, 1], &[-6, -16, 1], &[-16, -8, 9]],
            [&[-8, -8, 0, 1], &[0, 0, -4, -7], &[-2, 0, 0, 1]],
            [&[-4, 2, 0, -4, 1], &[0, -2, 0, 0, -3], &[0, 2, -4, -2, -1]],
            [&[0, 0, -1, 0, 1, 1], &[-2, -2, 0, -2, 0, -2], &[-1, 0, 0, -2, -2, 1]],
        ],
        (6, 2) => &[
            [&[1], &[1], &[17]],
            [&[0, 1], &[-16, -47], &[-4, -21]],
            [&[-32, 0, 1], &[12, 16, 1], &[30, -18, 19]],
            [&[0, 0, 0, 1], &[12, -8, -14, 1], &[12, 14, 14, 15]],
            [&[0, 0, -8, 0, 1], &[4, 0, -2, 0, -7], &[0, 2, 4, 4, -5]],
            [&[-4, 0, -4, 0, 2, 1], &[0, 0, 2, 0, -4, 1], &[-2, 2, 2, -4, 0, 1]],
            [&[0, 0, -1, 0, 0, -1, 1], &[-2, -2, -2, -2, 0, 0, -2], &[0, 0, -2, -2, 0, 0, 1]],
        ],
        (2, 3) => &[
            [&[1], &[-7], &[-3]],
            [&[4, 1], &[-4, -3], &[0, 1]],
            [&[-1, 1], &[-1], &[]],
            [&[1, 1, 1, -2], &[0, -4, 2], &[2, 2, -3]],
        ],
        (3, 3) => &[
            [&[1], &[-31], &[-5]],
            [&[-8, 1], &[6, 1], &[0, 11]],
            [&[4, -8, 1], &[2, 2, -3], &[0, -6, 1]],
            [&[0, 0, -1], &[0, 0, 0, -1], &[]],
            [&[-1, -1, -1, 1, 2], &[-4, 2, 0, -2], &[0, 0, 2, 1, -4]],
        ],
        (4, 3) => &[
            [&[1], &[-63], &[51]],
            [&[-16, 1], &[-18, -31], &[14, -23]],
            [&[-8, -8, 1], &[-12, 12, 1], &[-2, -12, -15]],
            [&[-4, 4, 0, 1], &[-6, 4, 0, -7], &[6, 0, -2, -5]],
            [&[-2, 1, 1, 1, -2], &[0, -1, -1, -1, -2], &[]],
            [&[0, 1, 2, 0, 1, 2], &[-2, 2, 0, 0, 2, -2], &[-4, -2, -4, 0, 1, -2]],
        ],
        (2, 4) => &[
            [&[1], &[1], &[7]],
            [&[8, 1], &[-2, 5], &[0, 11]],
            [&[0, 1], &[-1, 1, -1], &[]],
            [&[-4, 1, 3, -2], &[-4, 0, -6, -8], &[6, -6, 1, 4]],
        ],
        (3, 4) => &[
            [&[1], &[1], &[-1]],
            [&[16, 1], &[-22, 25], &[-14, -17]],
            [&[-4, 14, 1], &[10, -8, -7], &[-16, -16, 1]],
            [&[2, 0, 2], &[2, -2, 0, -2], &[]],
            [&[0, 0, 1], &[0, 2, -4], &[]],
            [&[3, 1, -2, 1, 0, -1], &[-4, -6, -2, -2, 1], &[-6, -6, -4, 5, 1]],
        ],
        (2, 5) => &[
            [&[1], &[9], &[55]],
            [&[-20, 1], &[-14, -31], &[4, 11]],
            [&[-2, 4, -4], &[4, 0, 3], &[]],
            [&[-2, -1, -3, 1], &[8, 0, -2, 4], &[]],
            [&[6, 0, 3, -1, -1], &[-4, -2, 6, -6, -2], &[2, 0, -11, 2, 6]],
        ],
        (2, 6) => &[
            [&[1], &[-39], &[45]],
            [&[-48, 1], &[52, 21], &[16, 53]],
            [&[12, -4, -28], &[-2, 1, -6], &[]],
            [&[-7, 2, 0, 1], &[12, 12, 4, -2], &[]],
            [&[12, 10, 30, 3, -1], &[-11, -2, 13, 3, -1], &[6, -8, -7, 6, 6]],
        ],
        _ => return None,
    };
    let product = |(k, step): (usize, &[&[i64]; 3])| {
        let [left, right, rest] = step.map(<[i64]>::to_vec);
        DividedProduct { factors: [left, right], rest, divisions: u32::from(k < v as usize) }
    };
    Some(HalvingChain { products: steps.iter().enumerate().map(product).collect() })
}

#[cfg(test)]
mod tests {
    use windlass::circuits::{DigitRemoval, Method};

    use super::*;

    /// Products and depth; where there is no chain, and the degree that each has to reach. Making a plan
    /// proves a chain on every residue.
    #[test]
    fn chains_take_every_residue_to_its_bits() {
        let all = [
            [(2, 2, 3, 3), (3, 2, 4, 4), (4, 2, 5, 5), (5, 2, 6, 6), (6, 2, 7, 7), (2, 3, 4, 3)],
            [(3, 3, 5, 5), (4, 3, 6, 6), (2, 4, 4, 4), (3, 4, 6, 5), (2, 5, 5, 5), (2, 6, 5, 5)],
        ];
        for (v, r, products, depth) in all.into_iter().flatten() {
            let spec = DigitSpec { method: Method::Of(&IntegerValued), ..DigitSpec::new(2, v + r, v) };
            let removal = DigitRemoval::new(spec).unwrap();
            assert_eq!((removal.products(), removal.depth()), (products, depth), "{v}, {r}");
            assert!(1 << depth >= degree(v, r), "{v}, {r}: {}", degree(v, r));
        }
        assert!([(7, 2), (5, 3), (4, 4), (1, 2)].into_iter().all(|(v, r)| to_bits(v, r).is_none()));
    }

    /// The degree of ⌊x/2^v⌋ modulo 2^r: its last difference at 0 that is not 0.
    fn degree(v: u32, r: u32) -> usize {
        let modulus = 1i64 << r;
        let mut values: Vec<i64> = (0..4 << (v + 2)).map(|x| x >> v).collect();
        let mut last = 0;
        for order in 0..values.len() {
            if values[0] % modulus != 0 {
                last = order;
            }
            values = values.windows(2).map(|pair| (pair[1] - pair[0]) % modulus).collect();
        }
        last
    }

    #[test]
    fn degrees_are_as_derived() {
        for (v, r) in [(1, 1), (1, 5), (2, 2), (2, 6), (3, 4), (4, 3), (6, 2)] {
            assert_eq!(degree(v, r), (1 << v) + (r as usize - 1) * (1 << (v - 1)), "{v}, {r}");
        }
    }
}
