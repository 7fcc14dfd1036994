//! Transforms of one row, on every instruction set, beside the yardstick.

use std::sync::Arc;

use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, NttPlan, Shape};

use crate::Standard;
use crate::report::Report;
use crate::timing::{Subject, compare, subject};

/// Powers of two, then the indices of the papers.
const POWERS: [u64; 4] = [1 << 14, 1 << 15, 1 << 16, 1 << 17];
const GENERAL: [u64; 5] = [15709, 18631, 21845, 24295, 49981];

fn pseudorandom(length: usize, q: u64) -> Vec<u64> {
    (0..length as u64).map(|j| j.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) % q).collect()
}

/// Seconds of the yardstick T: a transform of 2^15 points by tfhe-ntt at 59 bits. Only built with the feature `peers`.
pub fn yardstick(rounds: usize) -> Option<f64> {
    #[cfg(feature = "peers")]
    return Some(crate::timing::compare_processor(&mut [peer(15, 59)], rounds.max(15))[0].median);
    #[cfg(not(feature = "peers"))]
    {
        let _ = rounds;
        None
    }
}

/// Forward and inverse of one shape on one instruction set; the round trip is checked first.
fn own(m: u64, bits: u32, isa: Isa) -> Vec<Subject<'static>> {
    let shape = Arc::new(Shape::new(m).expect("a supported index"));
    let q = find_primes(shape.root_order(), bits, 1, &[]).expect("a prime of this size")[0];
    let plan = Arc::new(NttPlan::new(&shape, q, isa).expect("the prime splits"));
    let row = pseudorandom(shape.n(), q.value());
    let mut image = row.clone();
    plan.forward(&mut image);
    // The product law with the constant 2, and the round trip.
    let mut doubled: Vec<u64> = row.iter().map(|&x| q.add(x, x)).collect();
    plan.forward(&mut doubled);
    assert!(image.iter().zip(&doubled).all(|(&x, &y)| q.add(x, x) == y), "the transform of m = {m} is linear");
    plan.inverse(&mut image);
    assert_eq!(image, row, "round trip of m = {m} on {}", isa.name());
    let (mut forward, mut inverse, other) = (row.clone(), row, Arc::clone(&plan));
    let id = |op: &str| format!("kernels/{op}/m={m},n={},{bits}bit/{}/1", shape.n(), isa.name());
    vec![
        subject(id("forward"), move || plan.forward(&mut forward)),
        subject(id("inverse"), move || other.inverse(&mut inverse)),
    ]
}

#[cfg(feature = "peers")]
fn peer(log_n: u32, bits: u32) -> Subject<'static> {
    let n = 1usize << log_n;
    let step = 2 * n as u64;
    let is_prime = windlass_kernels::arith::is_prime;
    let mut q = ((1u64 << bits) - 1) / step * step + 1;
    while q >> bits != 0 || !is_prime(q) {
        q -= step;
    }
    let plan = tfhe_ntt::prime64::Plan::try_new(n, q).expect("the peer takes this prime");
    let mut row = pseudorandom(n, q);
    subject(format!("tfhe-ntt-0.7.1/forward/n={n},{bits}bit/best/1"), move || plan.fwd(&mut row))
}

/// Runs the layer.
pub fn run(report: &mut Report, _: &Standard) {
    let mut seconds: Vec<(u64, Isa, f64)> = Vec::new();
    #[cfg(feature = "peers")]
    let mut peers: Vec<(u64, f64)> = Vec::new();
    for m in POWERS.into_iter().chain(GENERAL) {
        #[allow(unused_mut)]
        let mut subjects: Vec<Subject<'_>> = Isa::available().into_iter().flat_map(|isa| own(m, 50, isa)).collect();
        #[cfg(feature = "peers")]
        if m.is_power_of_two() {
            subjects.push(peer(m.trailing_zeros() - 1, 50));
            subjects.push(peer(m.trailing_zeros() - 1, 59));
        }
        let samples = compare(&mut subjects, report.rounds);
        #[cfg(feature = "peers")]
        if m.is_power_of_two() {
            let [.., at_50, at_59] = &samples[..] else { unreachable!("two peers were added") };
            peers.push((m, at_50.median));
            if m == 1 << 16 {
                report.yardstick = Some(at_59.median);
            }
        }
        for (index, isa) in Isa::available().into_iter().enumerate() {
            seconds.push((m, isa, samples[2 * index].median));
        }
        report.add(&samples);
    }
    let time = |m: u64, isa: Isa| seconds.iter().find(|x| x.0 == m && x.1 == isa).map_or(f64::NAN, |x| x.2);
    let per_coefficient = |m: u64, isa| time(m, isa) / windlass_kernels::arith::totient(m) as f64;
    for isa in Isa::available() {
        #[cfg(feature = "peers")]
        for &(m, peer) in peers.iter().filter(|(m, _)| [1 << 16, 1 << 17].contains(m)) {
            let name = format!("transform n = {}: times as fast as tfhe-ntt at 50 bits, {}", m / 2, isa.name());
            report.at_least(&name, peer / time(m, isa), 3.0);
        }
        for m in GENERAL {
            let wanted = if m == 21845 { 2.5 } else { 4.0 };
            let ratio = per_coefficient(m, isa) / per_coefficient(1 << 15, isa);
            report.at_most(&format!("transform m = {m}, per coefficient of n = 2^14, {}", isa.name()), ratio, wanted);
        }
    }
}
