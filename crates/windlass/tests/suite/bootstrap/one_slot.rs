//! Composite rings with one slot: no stages, but the dual of the basis and the trace.

use super::*;

/// (m, p, r, primes, weight)
const ONE_SLOT: [(u64, u64, u32, usize, u32); 2] = [(3, 2, 1, 12, 1), (9, 2, 2, 14, 2)];

fn specs() -> impl Iterator<Item = ((u64, u64, u32, usize), BootstrapSpec)> {
    ONE_SLOT.into_iter().flat_map(|(m, p, r, primes, weight)| {
        [Mode::Thin, Mode::Packed].map(|mode| {
            let spec = BootstrapSpec { mode, ephemeral_weight: weight, ..BootstrapSpec::default() };
            ((m, p, r, primes), spec)
        })
    })
}

#[test]
fn one_slot_on_the_mock() {
    for ((m, p, r, primes), spec) in specs() {
        let plan = Arc::new(plan(params(m, primes), (p, r), spec).unwrap());
        assert_eq!(plan.message_ring().slots(), 1);
        on_the_mock_with(&plan, 0..8);
    }
}

#[test]
fn one_slot_on_ciphertexts() {
    for ((m, p, r, primes), spec) in specs() {
        with_parameters(params(m, primes), (p, r), spec);
    }
}
