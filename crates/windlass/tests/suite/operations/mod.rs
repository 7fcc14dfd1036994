//! Every operation, written once over the evaluator, on the exact mock at full breadth and on BGV
//! and BFV at toy sizes.

mod cases;
mod content;
mod encrypted;
mod model;

use std::sync::Arc;

use rayon::prelude::*;
use windlass::schemes::clear::Clear;
use windlass_ring::kernels::Isa;
use windlass_ring::slots::{Hypercube, SlotRing};

use cases::Inputs;

const PRIMES: [u64; 5] = [2, 3, 7, 17, 127];

/// Every (m, p, r) with p not dividing m and r ≤ 3.
fn triples(indices: &[u64]) -> Vec<(u64, u64, u32)> {
    let pairs = indices.iter().flat_map(|&m| PRIMES.map(|p| (m, p))).filter(|(m, p)| m % p != 0);
    pairs.flat_map(|(m, p)| (1..=3).map(move |r| (m, p, r))).collect()
}

fn check_on_clear(ring: &Arc<SlotRing>, label: &str) {
    let inputs = Inputs::new(ring);
    let clear = Clear::with_keys(ring, inputs.keys());
    let encrypt = |values| clear.encrypt(&inputs.plaintext(values)).unwrap();
    let cases = inputs.run(&clear, &encrypt(&inputs.x), &encrypt(&inputs.y)).unwrap_or_else(|e| panic!("{label}: {e}"));
    for case in cases {
        let slots: Vec<u64> = case.ciphertext.plaintext().to_slots().iter().map(|x| x % case.modulus).collect();
        assert_eq!(slots, case.expected, "{label}: {}", case.name);
    }
}

/// Composite, two large primes, prime power, odd × power of two, primes, powers of two: every p and
/// r.
#[test]
fn operations_on_the_mock_for_every_kind_of_ring() {
    let indices = [105, 1023, 4369, 4095, 3, 31, 127, 27, 125, 45, 12, 60, 84, 240, 16, 32, 64, 128, 256, 1024, 4096];
    let all = triples(&indices);
    assert!(all.len() > 200, "{}", all.len());
    all.into_par_iter().for_each(|(m, p, r)| {
        let ring = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
        check_on_clear(&ring, &format!("m = {m}, p = {p}, r = {r}"));
    });
}

/// Generators times p have the same sizes, but bad dimensions where the automatic choice found good
/// ones.
fn turned((m, p, r): (u64, u64, u32)) -> Arc<SlotRing> {
    let automatic = Hypercube::automatic(m, p).unwrap();
    let generators: Vec<u64> = automatic.dimensions().iter().map(|s| s.generator * p % m).collect();
    let cube = Hypercube::with_generators(m, p, &generators).unwrap();
    Arc::new(SlotRing::with_hypercube(cube, r, Isa::best()).unwrap())
}

#[test]
fn operations_on_the_mock_with_given_generators() {
    let mut bad = 0;
    for triple in [(105, 2, 3), (1023, 2, 1), (255, 2, 2), (64, 3, 2), (91, 3, 2), (84, 5, 1)] {
        let ring = turned(triple);
        bad += ring.hypercube().dimensions().iter().filter(|dimension| !dimension.good).count();
        check_on_clear(&ring, &format!("{triple:?} with other generators"));
    }
    assert!(bad >= 3, "{bad} bad dimensions");
}
