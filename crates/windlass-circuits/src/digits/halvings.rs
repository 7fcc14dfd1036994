//! Chains of halvings that were found by search.

use windlass_schemes::evaluator::DividedProduct;

use super::halving::HalvingChain;

/// For p = 2: a chain that takes v low digits off integers modulo 2^{v+1}, if one was found
/// (`examples/search_halving_chains.rs`).
///
/// `⌊x/2^v⌋` modulo 2^r is a polynomial of degree `2^v + (r − 1)·2^{v−1}` with integer values, and of
/// no smaller degree, so that it takes at least the logarithm of that in products. For the one bit
/// that is left here, r = 1, that is v, and these chains have no more. Each product is y_i·(y_i + ..) with even
/// weights on the values before y_i: sums of even multiples do not disturb the division.
pub(super) fn to_bit(v: u32) -> Option<HalvingChain> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_take_every_residue_to_its_bit() {
        for v in 1..=7 {
            let chain = to_bit(v).unwrap();
            assert_eq!((chain.products.len(), chain.depth()), (v as usize, v as usize));
            assert_eq!(chain.flaw(2, v + 1, v).unwrap(), None);
        }
    }

    #[test]
    fn flaws_are_found() {
        let whole = to_bit(4).unwrap();
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
        let bit = to_bit(1).unwrap().products.remove(0);
        let below = DividedProduct { factors: [vec![0, 1], vec![0, 1]], rest: vec![0, -1], divisions: 1 };
        let often = HalvingChain { products: vec![bit.clone(), below, bit] };
        assert!(often.flaw(2, 2, 1).unwrap().unwrap().contains("divides too often"));
        let short = HalvingChain { products: whole.products[..3].to_vec() };
        assert!(flaw(&short).contains("not known modulo 2^1"));
        assert!(whole.flaw(2, 40, 39).is_err());
    }

    /// In machine words, by nothing of the module.
    #[test]
    fn the_chain_of_seven_bits_by_hand() {
        let chain = to_bit(7).unwrap();
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
