//! The trace of the slots.

use std::sync::Arc;

use windlass_circuits::LinearMap;
use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;
use windlass_schemes::error::Result;
use windlass_schemes::plaintext::Plaintext;

/// The largest group of prime factors of d that [`trace_stages`] takes together, unless it is a
/// prime.
const GROUP: u64 = 4;

/// The trace E → Z_{p^e} as maps with all constants 1: for each group of prime factors of d of
/// product at most 4 `Σ_{i<k} σ^{i·step}`.
pub(crate) fn trace_stages(slot_ring: &Arc<SlotRing>) -> Result<Vec<LinearMap>> {
    trace_in_groups(slot_ring, GROUP)
}

/// The same by groups of another largest product, or a prime.
pub(crate) fn trace_in_groups(slot_ring: &Arc<SlotRing>, most: u64) -> Result<Vec<LinearMap>> {
    let (m, p) = (slot_ring.m(), slot_ring.prime());
    let mut groups: Vec<u64> = Vec::new();
    for (prime, exponent) in arith::factor(slot_ring.degree() as u64) {
        for _ in 0..exponent {
            match groups.last_mut() {
                Some(group) if *group * prime <= most => *group *= prime,
                _ => groups.push(prime),
            }
        }
    }
    let one = Plaintext::one(slot_ring);
    let mut step = 1u64;
    groups
        .into_iter()
        .map(|size| {
            let terms = (0..size).map(|i| (arith::pow_mod(p % m, i * step, m), one.clone()));
            let map = LinearMap::from_terms(slot_ring, terms);
            step *= size;
            map
        })
        .collect()
}
