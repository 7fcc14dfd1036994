//! Every backend's sums at their extremes.

use super::dispatch_u32;
use super::u32_lanes::{U32Kernel, U32Lanes, U32Modulus, WIDTH};
use crate::isa::Isa;
use crate::modulus::find_primes;

struct Extremes<'a>(&'a U32Modulus, i32);

impl U32Kernel for Extremes<'_> {
    type Output = [u32; WIDTH];

    /// Folded sums of as many products of `self.1` as there is room for, again and again.
    #[inline(always)]
    fn run<N: U32Lanes>(self, lanes: N) -> Self::Output {
        let Self(m, x) = self;
        let x = lanes.load(&[x, x, -x, x, -x, x, x, -x]);
        let y = lanes.load(&[m.q / 2, -(m.q / 2), m.q / 2, 1, 1, 0, -1, m.q / 2]);
        let mut sums = lanes.zero();
        for _ in 0..3 {
            for _ in 0..m.terms {
                sums = lanes.add_product(sums, x, y);
            }
            sums = lanes.reduce_partly(m, sums);
        }
        let mut words = [0; WIDTH];
        lanes.store(m, &mut words, sums);
        words
    }
}

#[test]
fn no_sum_overflows_and_all_backends_agree() {
    for bits in [25, 27, 30, 31] {
        let modulus = find_primes(8192, bits, 1, &[]).unwrap()[0];
        let m = U32Modulus::new(modulus);
        let q = modulus.value();
        assert_eq!((m.q as u32).wrapping_mul(m.inverse as u32), 1);
        assert!(m.terms >= 5, "{bits} bits: {} terms", m.terms);
        let half = m.q / 2;
        for x in [half, half - 1, 1, 0] {
            let count = 3 * m.terms as i128;
            let expected =
                [(x, half), (x, -half), (-x, half), (x, 1), (-x, 1), (x, 0), (x, -1), (-x, half)].map(|(x, y)| {
                    let sum = (count * x as i128 * y as i128).rem_euclid(q as i128) as u64;
                    modulus.mul(sum, modulus.inv((1u64 << 32) % q)) as u32
                });
            for isa in Isa::available() {
                assert_eq!(dispatch_u32(isa, Extremes(&m, x)), expected, "{} at {bits} bits", isa.name());
            }
        }
    }
}
