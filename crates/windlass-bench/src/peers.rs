//! tfhe-ntt from the package registry, measured beside Windlass.

use windlass_kernels::arith;

use crate::timing::{Subject, subject};

/// The largest prime of exactly `bits` bits that is 1 modulo 2n.
fn prime(n: usize, bits: u32) -> u64 {
    let step = 2 * n as u64;
    let mut q = ((1u64 << bits) - 2) / step * step + 1;
    while !arith::is_prime(q) {
        q -= step;
    }
    assert_eq!(64 - q.leading_zeros(), bits);
    q
}

/// The code path that version 0.7.1 takes for a prime of this size on this machine: IFMA up to 51 bits where the CPU has it, else AVX-512
/// or AVX2 with 64-bit integers, one path for all primes up to 62 bits.
pub fn path(bits: u32) -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        if avx512 && bits <= 51 && is_x86_feature_detected!("avx512ifma") {
            return "ifma";
        }
        if avx512 {
            return "avx512";
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return "avx2";
        }
    }
    let _ = bits;
    "portable"
}

/// Its forward transform; the round trip is checked first.
pub fn forward(n: usize, bits: u32) -> Subject<'static> {
    let q = prime(n, bits);
    let plan = tfhe_ntt::prime64::Plan::try_new(n, q).expect("the peer takes this prime");
    let row: Vec<u64> = (0..n as u64).map(|j| j.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) % q).collect();
    let mut image = row.clone();
    plan.fwd(&mut image);
    assert_ne!(image, row);
    plan.inv(&mut image);
    let scaled = |&x: &u64| arith::mul_mod(x, n as u64, q);
    assert!(image.iter().zip(&row).all(|(&x, y)| x == scaled(y)), "the peer's round trip at n = {n}, {bits} bits");
    let mut row = row;
    subject(format!("tfhe-ntt-0.7.1/forward/n={n},{bits}bit/{}/1", path(bits)), move || plan.fwd(&mut row))
}
