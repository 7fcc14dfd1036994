//! Chains of halvings that were found by search.

use windlass_schemes::evaluator::DividedProduct;

use super::halving::HalvingChain;

/// For p = 2: a chain that takes v low digits off integers modulo 2^{v+r}, if one was found.
///
/// `⌊x/2^v⌋` modulo 2^r is a polynomial of degree `2^v + (r − 1)·2^{v−1}` with integer values, and
/// of no smaller degree, so that it takes at least the logarithm of that in products: v for r = 1,
/// v + 1 for r = 2 and 3. The chains for r = 1 and 2 have no more, the others at most one more.
pub(super) fn halving(v: u32, r: u32) -> Option<HalvingChain> {
    if r == 1 { to_bit(v) } else { to_bits(v, r) }
}

/// v products for one bit (`examples/search_halving_chains.rs`). Each is y_i·(y_i + ..) with even
/// weights on the values before y_i: sums of even multiples do not disturb the division.
fn to_bit(v: u32) -> Option<HalvingChain> {
    // For each product the weights of its second factor (the first is the value before it), and
    // those of the sum on top.
    let steps: &[(&[i64], &[i64])] = match v {
        1 => &[(&[1], &[-1])],
        2 => &[(&[1], &[-3]), (&[0, 1], &[0, 1])],
        3 => &[(&[1], &[5]), (&[4, 1], &[-2, -3]), (&[0, 2, 1], &[0, 0, 1])],
        4 => &[(&[1], &[5]), (&[4, 1], &[6, 5]), (&[0, 2, 1], &[-2, 0, 1]), (&[0, 0, 2, 1], &[0, 0, 0, 1])],
        5 => &[
            (&[1], &[25]),
            (&[8, 1], &[12, 11]),
            (&[0, 0, 1], &[0, 6, 5]),
            (&[0, 0, 0, 1], &[0, 4, -2, -3]),
            (&[0, 0, 0, 0, 1], &[0, 0, 0, 0, -1]),
        ],
        6 => &[
            (&[1], &[9]),
            (&[-8, 1], &[4, 27]),
            (&[0, 0, 1], &[8, 14, -1]),
            (&[0, 0, 6, 1], &[0, 2, 2, -1]),
            (&[0, 0, 0, 0, 1], &[0, 4, -2, -2, -3]),
            (&[0, 0, 0, 0, 0, 1], &[0, 0, 0, 0, 0, -1]),
        ],
        7 => &[
            (&[1], &[21]),
            (&[-20, 1], &[2, 25]),
            (&[-4, -6, 1], &[0, 0, 9]),
            (&[4, 14, -2, 1], &[4, 2, 4, 1]),
            (&[-4, 2, 2, -2, 1], &[4, 4, 0, 2, -1]),
            (&[4, 4, 0, 4, 0, 1], &[2, 2, 2, 0, -2, -3]),
            (&[0, 2, 0, 0, 0, 0, 1], &[0, 0, 0, 0, 0, 0, -1]),
        ],
        _ => return None,
    };
    let product = |(k, (factor, rest)): (usize, &(&[i64], &[i64]))| {
        let before = (0..=k).map(|j| i64::from(j == k)).collect();
        DividedProduct { factors: [before, factor.to_vec()], rest: rest.to_vec(), divisions: 1 }
    };
    Some(HalvingChain { products: steps.iter().enumerate().map(product).collect() })
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
    use super::*;

    #[test]
    fn chains_take_every_residue_to_its_bit() {
        for v in 1..=7 {
            let chain = halving(v, 1).unwrap();
            assert_eq!((chain.products.len(), chain.depth()), (v as usize, v as usize));
            assert_eq!(chain.flaw(2, v + 1, v).unwrap(), None);
        }
    }

    /// Products and depth; where there is no chain, and the degree that each has to reach.
    #[test]
    fn chains_take_every_residue_to_its_bits() {
        let all = [
            [(2, 2, 3, 3), (3, 2, 4, 4), (4, 2, 5, 5), (5, 2, 6, 6), (6, 2, 7, 7), (2, 3, 4, 3)],
            [(3, 3, 5, 5), (4, 3, 6, 6), (2, 4, 4, 4), (3, 4, 6, 5), (2, 5, 5, 5), (2, 6, 5, 5)],
        ];
        for (v, r, products, depth) in all.into_iter().flatten() {
            let chain = halving(v, r).unwrap();
            assert_eq!((chain.products.len(), chain.depth()), (products, depth), "{v}, {r}");
            assert_eq!(chain.flaw(2, v + r, v).unwrap(), None, "{v}, {r}");
            assert!(1 << depth >= degree(v, r), "{v}, {r}: {}", degree(v, r));
        }
        assert!([(7, 2), (5, 3), (4, 4), (1, 2)].into_iter().all(|(v, r)| halving(v, r).is_none()));
    }

    #[test]
    fn flaws_are_found() {
        let whole = halving(4, 1).unwrap();
        let flaw = |chain: &HalvingChain| chain.flaw(2, 5, 4).unwrap().unwrap();
        let mut other = whole.clone();
        other.products[2].rest[0] += 2;
        assert!(flaw(&other).contains("does not remove the low digits of"));
        let mut odd = whole.clone();
        odd.products[2].rest[0] += 1;
        assert!(flaw(&odd).contains("not a multiple"));
        let mut later = whole.clone();
        later.products[0].rest = vec![0, 1];
        assert!(flaw(&later).contains("uses a later value"));
        // A product with nothing is 0, which no chain needs.
        let mut empty = whole.clone();
        empty.products[3].factors[0] = vec![0; 3];
        assert!(flaw(&empty).contains("uses no value"));
        // After a bit nothing is left to divide, though the last value does not take it.
        let bit = halving(1, 1).unwrap().products.remove(0);
        let below = DividedProduct { factors: [vec![0, 1], vec![0, 1]], rest: vec![0, -1], divisions: 1 };
        let often = HalvingChain { products: vec![bit.clone(), below, bit] };
        assert!(often.flaw(2, 2, 1).unwrap().unwrap().contains("divides too often"));
        let short = HalvingChain { products: whole.products[..3].to_vec() };
        assert!(flaw(&short).contains("not known modulo 2^1"));
        assert!(whole.flaw(2, 40, 39).is_err());
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

    /// In machine words, by nothing of the module.
    #[test]
    fn the_chain_of_seven_bits_by_hand() {
        let chain = halving(7, 1).unwrap();
        for x in 0..256_i64 {
            let mut y = vec![x];
            for (k, product) in chain.products.iter().enumerate() {
                let sum = |weights: &[i64]| weights.iter().zip(&y).map(|(c, y)| c * y).sum::<i64>();
                let next = y[k] * sum(&product.factors[1]) + sum(&product.rest);
                assert_eq!(next.rem_euclid(2), 0, "{x}");
                y.push((next / 2).rem_euclid(128 >> k));
            }
            assert_eq!(y[7], x >> 7, "{x}");
        }
    }
}
