//! Products of two words. WebAssembly multiplies words of 64 bits to 64 bits only: there products are
//! made of halves. The compiler's own routine for 128 bits is a call, which takes 3.6 times as long
//! as [`high`] (`docs/design/0041-products-in-webassembly.md`).

/// Whether this processor's products are made of halves.
pub(crate) const BY_HALVES: bool = cfg!(target_arch = "wasm32");

/// How much too small [`high`] may be: of the three sums of lower halves, each below 2^32, no carry is
/// added.
pub(crate) const fn shortfall(by_halves: bool) -> u32 {
    if by_halves { 2 } else { 0 }
}

const LOWER: u64 = u32::MAX as u64;

/// ⌊x·y / 2^64⌋, or up to [`shortfall`] less.
#[inline(always)]
pub(crate) fn high<const BY_HALVES: bool>(x: u64, y: u64) -> u64 {
    if !BY_HALVES {
        return ((x as u128 * y as u128) >> 64) as u64;
    }
    let (first, second) = ((x >> 32) * (y & LOWER), (x & LOWER) * (y >> 32));
    (x >> 32) * (y >> 32) + (first >> 32) + (second >> 32)
}

/// x·y.
///
/// By halves: x·y = 2^64·upper + 2^32·(first + second) + lowest. The carry from bit 64 on is that of
/// the lower halves of `first` and `second` and the upper half of `lowest`. This upper half needs no
/// product of its own: modulo 2^32 it is the upper half of x·y mod 2^64, less the other two. (What
/// computes it directly is recognised as a product of 128 bits, and becomes the call again.)
#[inline(always)]
pub(crate) fn product<const BY_HALVES: bool>(x: u64, y: u64) -> u128 {
    if !BY_HALVES {
        return x as u128 * y as u128;
    }
    let (first, second) = ((x >> 32) * (y & LOWER), (x & LOWER) * (y >> 32));
    let low = x.wrapping_mul(y);
    let sum = (first & LOWER) + (second & LOWER);
    let lowest = (low >> 32).wrapping_sub(sum) & LOWER;
    let high = (x >> 32) * (y >> 32) + (first >> 32) + (second >> 32) + ((sum + lowest) >> 32);
    (high as u128) << 64 | low as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(x: u64, y: u64) -> u64 {
        let exact = x as u128 * y as u128;
        assert_eq!(product::<true>(x, y), exact, "{x} · {y}");
        assert_eq!(product::<false>(x, y), exact);
        assert_eq!(high::<false>(x, y), (exact >> 64) as u64);
        let short = (exact >> 64) as u64 - high::<true>(x, y);
        assert!(short <= shortfall(true) as u64, "{x} · {y} is {short} short");
        short
    }

    #[test]
    fn products_by_halves_are_those_of_the_processor() {
        let edges = [0, 1, 2, LOWER - 1, LOWER, LOWER + 1, LOWER << 32, u64::MAX - LOWER, u64::MAX - 1, u64::MAX];
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ (state >> 29)
        };
        let random: Vec<(u64, u64)> = (0..10_000).map(|_| (next(), next())).collect();
        let pairs = edges.iter().flat_map(|&x| edges.map(|y| (x, y))).chain(random);
        let short: Vec<u64> = pairs.map(|(x, y)| check(x, y)).collect();
        assert_eq!((short.iter().min(), short.iter().max()), (Some(&0), Some(&2)), "the bound is met");
    }
}
