//! The rings that the maps are made for.

use std::sync::Arc;

use windlass_ring::kernels::Isa;
use windlass_ring::slots::{Hypercube, SlotRing};

use super::factors::Factors;
use super::radix2;
use crate::error::Result;

/// The hypercube that the evaluation maps are made for: dimensions for each factor of m, one where
/// its group is cyclic; ⟨5⟩ and ⟨−1⟩ for powers of two.
///
/// # Errors
/// [`crate::Error::Ring`] for an m that is no index of a ring, and a p that is no prime or divides
/// m. There are no others: every ring with slots has evaluation maps.
pub fn evaluation_hypercube(m: u64, p: u64) -> Result<Hypercube> {
    if m.is_power_of_two() { radix2::hypercube(m, p) } else { Factors::choose(m, p)?.hypercube(p) }
}

/// R/(p^r) over [`evaluation_hypercube`].
pub(crate) fn evaluation_ring(m: u64, p: u64, r: u32) -> Result<Arc<SlotRing>> {
    Ok(Arc::new(SlotRing::with_hypercube(evaluation_hypercube(m, p)?, r, Isa::best())?))
}
