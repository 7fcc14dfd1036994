//! Processor time of this process, and the yardstick beside it: what a shared machine does not disturb.

use std::time::Instant;

use cpu_time::ProcessTime;

/// Measures from its start.
pub struct Stopwatch {
    clock: Instant,
    processor: ProcessTime,
}

impl Stopwatch {
    /// Starts.
    pub fn start() -> Self {
        Self { clock: Instant::now(), processor: ProcessTime::now() }
    }

    /// Seconds by the clock.
    pub fn seconds(&self) -> f64 {
        self.clock.elapsed().as_secs_f64()
    }

    /// Seconds of processor time of all threads.
    pub fn processor_seconds(&self) -> f64 {
        self.processor.elapsed().as_secs_f64()
    }
}

/// T: seconds of a forward transform of tfhe-ntt, n = 2^15, 59 bits, the median of some in a row.
#[cfg(feature = "peers")]
pub fn yardstick() -> Option<f64> {
    use std::sync::OnceLock;
    static PLAN: OnceLock<tfhe_ntt::prime64::Plan> = OnceLock::new();
    const N: usize = 1 << 15;
    let plan = PLAN.get_or_init(|| {
        let step = 2 * N as u64;
        let mut q = ((1u64 << 59) - 1) / step * step + 1;
        while q >> 59 != 0 || !windlass_kernels::arith::is_prime(q) {
            q -= step;
        }
        tfhe_ntt::prime64::Plan::try_new(N, q).expect("the peer takes this prime")
    });
    let mut row: Vec<u64> = (0..N as u64).collect();
    let mut samples: Vec<f64> = (0..25)
        .map(|_| {
            let start = Instant::now();
            plan.fwd(&mut row);
            start.elapsed().as_secs_f64()
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    Some(samples[samples.len() / 2])
}

/// T is only measured with the feature `peers`.
#[cfg(not(feature = "peers"))]
pub fn yardstick() -> Option<f64> {
    None
}
