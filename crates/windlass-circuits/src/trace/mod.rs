//! Trace-type functions: sums of a ciphertext over automorphisms.
//!
//! Total and partial sums of slots, sums along a dimension or over the rows and columns of a
//! matrix, replication and the field trace are all products of sums `Σ_{j<c}
//! θ_t^j`: a [`TraceChain`]. The classical way applies the factors one after the other, one key
//! switch each ([`TraceChain::sequential`], Halevi–Shoup 2014). *Unrolled* into h groups, each
//! group is one sum over all products of its factors: hoisted once, accumulated in base `QP`, one
//! mod-down (Ishimaki–Yamana 2021; Inoue–Suzuki–Yamana 2022, Algorithms 3.1 and 3.2). Fewer groups
//! save decompositions and mod-downs and cost keys: [`TracePlan`] weighs them.
//!
//! Everything here runs on every scheme that is [`windlass_schemes::Switching`].

mod chain;
mod plan;
mod sums;

#[expect(deprecated, reason = "the old name of PowerSum")]
pub use chain::Factor;
pub use chain::{PowerSum, TraceChain};
pub use plan::{Objective, TracePlan, TraceSpec};
pub use sums::{complex_running_sum_maps, replicate, running_sum_maps};
