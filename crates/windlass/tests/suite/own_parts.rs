//! Custom parts: the examples run, and invalid transforms are refused.

use std::sync::Arc;

use windlass::bootstrap::maps::{SlotMap, Stages};
use windlass::bootstrap::{BootstrapError, BootstrapSpec, Mode, SlotTransform, Transform};
use windlass::ring::slots::{Hypercube, SlotRing};
use windlass::{Context, Error, Result};

#[path = "../../examples/own_digit_polynomial.rs"]
mod own_digit_polynomial;
#[path = "../../examples/own_slot_transform.rs"]
mod own_slot_transform;
#[path = "../../examples/own_strategy.rs"]
mod own_strategy;

#[test]
fn the_examples_run() {
    own_digit_polynomial::main().unwrap();
    own_slot_transform::main().unwrap();
    own_strategy::main().unwrap();
}

/// A transform whose maps are `factor` times the identity of slots, and the inverse.
#[derive(Debug)]
struct Scaled {
    factor: u64,
}

impl SlotTransform for Scaled {
    fn name(&self) -> &'static str {
        "scaled"
    }

    fn citation(&self) -> &'static str {
        "none"
    }

    fn refusal(&self, m: u64, _: u64) -> Option<&'static str> {
        (m == 64).then_some("another m")
    }

    fn stage_count(&self, _: &Hypercube) -> Result<usize> {
        Ok(1)
    }

    fn evaluation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        let entry = |row, column| if row == column { vec![self.factor] } else { Vec::new() };
        Ok(Stages::of(vec![SlotMap::from_matrix(slot_ring, entry)?]))
    }

    fn interpolation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        self.evaluation(slot_ring)
    }
}

#[test]
fn a_transform_that_is_none_is_refused() {
    static SAME: Scaled = Scaled { factor: 1 };
    static NEGATIVE: Scaled = Scaled { factor: 256 };
    let context = Context::preset("insecure_boot_256_p257").unwrap();
    for transform in [Transform::own(&SAME), Transform::own(&NEGATIVE)] {
        let refused = |mode| {
            let spec = BootstrapSpec { transform, mode, ephemeral_weight: 8, ..BootstrapSpec::default() };
            match context.bootstrapping_with(spec) {
                Err(Error::Bootstrap(BootstrapError::Unsupported { what })) => what,
                other => panic!("{other:?}"),
            }
        };
        assert!(refused(Mode::Thin).contains("coefficient"), "{}", refused(Mode::Thin));
        assert!(refused(Mode::Packed).contains("only in thin mode"), "{}", refused(Mode::Packed));
    }
}
