//! The rings for which the maps are made.

use std::sync::Arc;

use windlass_ring::kernels::Isa;
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_schemes::error::Result;

use super::factor_order::FactorOrder;
use super::factors::Factors;
use super::radix2;

/// The hypercube that the evaluation maps are made for: dimensions for each factor of m, one where
/// its group is cyclic; ⟨5⟩ and ⟨−1⟩ for powers of two.
///
/// # Errors
/// [`windlass_schemes::Error::Ring`] for an m that is no index of a ring, and a p that is not a prime or divides
/// m. There are no others: every ring with slots has evaluation maps.
pub fn evaluation_hypercube(m: u64, p: u64) -> Result<Hypercube> {
    ordered_hypercube(m, p, &FactorOrder::Standard)
}

/// The same with the factors of a composite m in another order; [`FactorOrder::LeastPrice`] stands
/// for [`FactorOrder::Standard`], as prices are of parameters.
///
/// # Errors
/// As [`evaluation_hypercube`]; [`crate::BootstrapError::Factors`] if the numbers are not factors
/// of m.
pub fn ordered_hypercube(m: u64, p: u64, factors: &FactorOrder) -> Result<Hypercube> {
    if m.is_power_of_two() { radix2::hypercube(m, p) } else { Factors::of_order(m, p, factors)?.hypercube(p) }
}

/// All orders of the factors of a composite m that differ in the first: what
/// [`FactorOrder::LeastPrice`] chooses from.
///
/// # Errors
/// As [`evaluation_hypercube`].
pub(crate) fn factor_orders(m: u64, p: u64) -> Result<Vec<FactorOrder>> {
    Ok(Factors::candidates(m, p)?.into_iter().map(FactorOrder::Given).collect())
}

/// R/(p^r) over [`ordered_hypercube`].
pub(crate) fn ordered_ring((m, p, r): (u64, u64, u32), factors: &FactorOrder) -> Result<Arc<SlotRing>> {
    Ok(Arc::new(SlotRing::with_hypercube(ordered_hypercube(m, p, factors)?, r, Isa::best())?))
}

/// R/(p^r) over [`evaluation_hypercube`].
#[cfg(test)]
pub(crate) fn evaluation_ring(m: u64, p: u64, r: u32) -> Result<Arc<SlotRing>> {
    ordered_ring((m, p, r), &FactorOrder::Standard)
}
