//! Rings, devices and polynomials of the tests.

use std::sync::Arc;

use windlass_gpu::{Device, DeviceRing, Order};
use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, Modulus, Shape};
use windlass_ring::{Basis, Poly, Representation, Ring};

/// Both orders of threads: a race would show as a difference.
pub fn devices() -> [Device; 2] {
    [Order::Ascending, Order::Descending].map(|order| Device::emulated_with(order, usize::MAX))
}

/// A ring of dimension 2^log_n with primes of these sizes, all different.
pub fn ring(log_n: u32, bits: &[u32]) -> Arc<Ring> {
    let mut primes: Vec<Modulus> = Vec::new();
    for &bits in bits {
        let used: Vec<u64> = primes.iter().map(|q| q.value()).collect();
        primes.extend(find_primes(2 << log_n, bits, 1, &used).expect("a prime of this size"));
    }
    let shape = Arc::new(Shape::new(2 << log_n).expect("a power of two"));
    Ring::new(shape, &primes, Isa::best()).expect("primes of the ring")
}

/// All primes of a ring made with so many.
pub fn all(primes: usize) -> Basis {
    Basis::new(0..primes)
}

pub fn on(device: &Device, ring: &Arc<Ring>, primes: usize) -> Arc<DeviceRing> {
    DeviceRing::new(device, ring, &all(primes)).expect("room for the tables")
}

/// A polynomial of random residues.
pub fn random<R: Representation>(ring: &Arc<Ring>, basis: &Basis, seed: u64) -> Poly<R> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    };
    let rows = basis.indices().flat_map(|index| {
        let q = ring.modulus(index).value();
        (0..ring.n()).map(|_| next() % q).collect::<Vec<_>>()
    });
    Poly::from_rows(ring, basis, rows.collect()).expect("residues")
}

/// Polynomials whose residues are at the edges of their range, and random ones.
pub fn edges<R: Representation>(ring: &Arc<Ring>, basis: &Basis) -> Vec<Poly<R>> {
    let filled = |value: &dyn Fn(u64, usize) -> u64| {
        let rows = basis.indices().flat_map(|index| {
            let q = ring.modulus(index).value();
            (0..ring.n()).map(|j| value(q, j)).collect::<Vec<_>>()
        });
        Poly::from_rows(ring, basis, rows.collect()).expect("residues")
    };
    vec![
        filled(&|_, _| 0),
        filled(&|_, _| 1),
        filled(&|q, _| q - 1),
        filled(&|q, j| if j % 2 == 0 { q - 1 } else { 0 }),
        filled(&|q, j| q / 2 + (j / 8 % 2) as u64),
        random(ring, basis, 7),
    ]
}
