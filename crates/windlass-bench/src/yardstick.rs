//! T: one forward transform of 2^15 points by tfhe-ntt at 59 bits, measured beside Windlass. Only
//! built with the feature `peers`.

#[cfg(feature = "peers")]
mod peer {
    use std::sync::OnceLock;
    use std::time::Instant;

    use tfhe_ntt::prime64::Plan;
    use windlass_kernels::arith;

    use crate::timing::{Subject, compare_processor, subject};

    const N: usize = 1 << 15;
    const BITS: u32 = 59;

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

    /// The code path that version 0.7.1 takes for a prime of this size on this machine: IFMA up to
    /// 51 bits where the CPU has it, else AVX-512 or AVX2 with 64-bit integers, one path for all
    /// primes up to 62 bits.
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
        let plan = Plan::try_new(n, q).expect("the peer takes this prime");
        let entry = |j: u64| j.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) % q;
        let mut row: Vec<u64> = (0..n as u64).map(entry).collect();
        let mut image = row.clone();
        plan.fwd(&mut image);
        assert_ne!(image, row);
        plan.inv(&mut image);
        let scaled = |&x: &u64| arith::mul_mod(x, n as u64, q);
        let same = image.iter().zip(&row).all(|(&x, y)| x == scaled(y));
        assert!(same, "the peer's round trip at n = {n}, {bits} bits");
        let id = format!("tfhe-ntt-0.7.1/forward/n={n},{bits}bit/{}/1", path(bits));
        subject(id, move || plan.fwd(&mut row))
    }

    /// Seconds of T by processor time, the median of this many rounds and at least 15.
    pub fn seconds(rounds: usize) -> Option<f64> {
        Some(compare_processor(&mut [forward(N, BITS)], rounds.max(15))[0].median)
    }

    /// Seconds of T by the clock, the median of some in a row: quick enough to accompany every run.
    pub fn beside() -> Option<f64> {
        static PLAN: OnceLock<Plan> = OnceLock::new();
        let plan = PLAN.get_or_init(|| Plan::try_new(N, prime(N, BITS)).expect("the peer takes this prime"));
        let mut row: Vec<u64> = (0..N as u64).collect();
        let mut samples = [0.0; 25].map(|_| {
            let start = Instant::now();
            plan.fwd(&mut row);
            start.elapsed().as_secs_f64()
        });
        samples.sort_by(f64::total_cmp);
        Some(samples[samples.len() / 2])
    }
}

#[cfg(feature = "peers")]
pub use peer::{beside, forward, path, seconds};

/// T is only measured with the feature `peers`.
#[cfg(not(feature = "peers"))]
pub fn seconds(_: usize) -> Option<f64> {
    None
}

/// T is only measured with the feature `peers`.
#[cfg(not(feature = "peers"))]
pub fn beside() -> Option<f64> {
    None
}
