//! The automorphisms of a power-of-two ring, modulo powers of Frobenius that have no effect.

use std::sync::Arc;

use windlass_circuits::linear::{InSlots, LinearMap};
use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;

/// Stages are built and merged with their constants in slots.
pub type SlotMap = LinearMap<InSlots>;

/// The automorphisms of a power-of-two ring up to powers of σ^step, each class with one
/// representative: `±5^i·σ^f` with i nearest to 0 and f < step.
#[derive(Debug, Clone)]
pub(crate) struct Fixed {
    slot_ring: Arc<SlotRing>,
    step: usize,
}

impl Fixed {
    /// For a ring over [`super::evaluation_hypercube`], m a power of two, and a divisor of d.
    pub fn new(slot_ring: &Arc<SlotRing>, step: usize) -> Self {
        Self { slot_ring: Arc::clone(slot_ring), step }
    }

    /// The representative of t.
    pub fn representative(&self, t: u64) -> u64 {
        let (cube, m) = (self.slot_ring.hypercube(), self.slot_ring.m());
        let inverse = |x| arith::inv_mod(x, m).expect("automorphisms are units");
        let (slot, _) = cube.locate(t).expect("units have a place");
        let mut base = cube.element(slot);
        for (dimension, coordinate) in cube.dimensions().iter().zip(cube.coordinates(slot)) {
            if dimension.generator == 5 && 2 * coordinate > dimension.size {
                base = base * inverse(arith::pow_mod(5, dimension.size as u64, m)) % m;
            }
        }
        let powers = std::iter::successors(Some(base), |&x| Some(x * (cube.prime() % m) % m)).take(self.step);
        let same = |x: &u64| cube.locate(t * inverse(*x) % m).is_some_and(|(_, k)| k % self.step == 0);
        powers.into_iter().find(same).expect("one of the powers below step is in the class")
    }
}
