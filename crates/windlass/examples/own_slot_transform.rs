//! A custom slot transform, in addition to the published ones: for powers of two with p ≡ 1 modulo
//! 4 the values of `Σ_j a_j·Y^j`, Y = X^d, at all slots by one dense matrix, without stages that
//! could be merged otherwise.

use std::sync::Arc;

use windlass::bootstrap::maps::{SlotMap, Stages};
use windlass::bootstrap::{BootstrapPreset, BootstrapSpec, Mode, SlotTransform, Transform};
use windlass::ring::slots::{Hypercube, SlotRing};
use windlass::{Context, Result};

#[derive(Debug)]
struct Vandermonde;

/// `factor·ζ^{±u_i·d·j}` in row i and column j, u_i the exponent of slot i; of the inverse in row j
/// and column i.
fn matrix(slot_ring: &Arc<SlotRing>, factor: u64, inverse: bool) -> Result<Stages> {
    let (m, d, galois) = (slot_ring.m(), slot_ring.degree() as u64, slot_ring.galois());
    let exponent = |i: usize, j: usize| slot_ring.hypercube().evaluation_exponent(i) * d % m * j as u64 % m;
    let factor = galois.constant(factor);
    let entry = |row, column| match inverse {
        false => galois.mul(&factor, &galois.zeta_power(exponent(row, column))),
        true => galois.mul(&factor, &galois.zeta_power(m - exponent(column, row))),
    };
    Ok(Stages::of(vec![SlotMap::from_matrix(slot_ring, entry)?]))
}

impl SlotTransform for Vandermonde {
    fn name(&self) -> &'static str {
        "vandermonde"
    }
    fn citation(&self) -> &'static str {
        "the definition; as one stage in Chen–Han 2018, A.2"
    }
    fn refusal(&self, m: u64, p: u64) -> Option<&'static str> {
        (!m.is_power_of_two() || p % 4 != 1).then_some("m a power of two and p = 1 modulo 4")
    }
    fn stage_count(&self, _: &Hypercube) -> Result<usize> {
        Ok(1)
    }
    fn evaluation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        matrix(slot_ring, 1, false)
    }
    fn interpolation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        // 1/ℓ for the inverse, and 1/d for the trace that follows.
        let n = slot_ring.modulus().reduce(slot_ring.n() as u64);
        matrix(slot_ring, slot_ring.modulus().inv(n).expect("p is odd"), true)
    }
}

/// Refreshes with it.
pub fn main() -> Result<()> {
    let preset = BootstrapPreset::named("insecure_boot_256_p257", Mode::Thin)?; // a toy
    let context = Context::for_bootstrapping(preset.params, preset.spec.clone())?;
    let plan = context.bootstrapping_with(BootstrapSpec { transform: Transform::own(&Vandermonde), ..preset.spec })?;
    println!("{}", plan.explain());
    let (client, server) = context.generate_keys([&plan])?;
    let refreshed = server.refresh(&client.encrypt(&[2, 3, 256])?)?;
    assert_eq!(client.decrypt(&refreshed)?[..4], [2, 3, 256, 0]);
    Ok(())
}
