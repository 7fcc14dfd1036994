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
pub(crate) fn trace_stages(slots: &Arc<SlotRing>) -> Result<Vec<LinearMap>> {
    trace_in_groups(slots, GROUP)
}

/// The same by groups of another largest product, or a prime.
pub(crate) fn trace_in_groups(slots: &Arc<SlotRing>, most: u64) -> Result<Vec<LinearMap>> {
    let (m, p) = (slots.m(), slots.prime());
    let mut groups: Vec<u64> = Vec::new();
    for (prime, exponent) in arith::factor(slots.degree() as u64) {
        for _ in 0..exponent {
            match groups.last_mut() {
                Some(group) if *group * prime <= most => *group *= prime,
                _ => groups.push(prime),
            }
        }
    }
    let one = Plaintext::one(slots);
    let mut step = 1u64;
    groups
        .into_iter()
        .map(|size| {
            let terms = (0..size).map(|i| (arith::pow_mod(p % m, i * step, m), one.clone()));
            let map = LinearMap::from_terms(slots, terms);
            step *= size;
            map
        })
        .collect()
}
