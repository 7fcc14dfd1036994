//! Checks whether two threads have a core each. The two processors of a guest may be hyperthreads
//! of one core, and the system inside the guest need not know.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Instant;

use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, NttPlan, Shape};

/// n = 2^9: row and table share a first-level cache with those of another thread.
const M: u64 = 1 << 10;
/// Transforms there and back, some ten milliseconds.
const PAIRS: usize = 10_000;
/// Rounds of one thread and of two in turn; the least time of each counts.
const ROUNDS: usize = 8;

/// How many times as fast as one thread two are at transforms that wait for no memory: 2 where each
/// has a core of its own, 1 where they share what one core can do. It takes 0.3 seconds.
pub fn side_by_side() -> f64 {
    let shape = Arc::new(Shape::new(M).expect("a power of two"));
    let q = find_primes(shape.root_order(), 50, 1, &[]).expect("a prime of this size")[0];
    let plan = NttPlan::new(&shape, q, Isa::best()).expect("the prime splits");
    let (mut one, mut two) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        one = seconds(&plan, 1).min(one);
        two = seconds(&plan, 2).min(two);
    }
    2.0 * one / two
}

/// Seconds until each of the threads has done its transforms, which are verified; they begin
/// together.
fn seconds(plan: &NttPlan, threads: usize) -> f64 {
    let barrier = Barrier::new(threads);
    let row: Vec<u64> = (0..plan.shape().n() as u64).collect();
    let transform = || {
        let mut image = row.clone();
        barrier.wait();
        let start = Instant::now();
        for _ in 0..PAIRS {
            plan.forward(&mut image);
            plan.inverse(&mut image);
        }
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(image, row, "transforms there and back");
        seconds
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(transform)).collect();
        threads.into_iter().map(|thread| thread.join().expect("transforms")).fold(0.0, f64::max)
    })
}
