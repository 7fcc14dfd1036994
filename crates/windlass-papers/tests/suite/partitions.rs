//! The partitions of Ma et al. 2024.

use windlass::Error;
use windlass::bootstrap::{BootstrapError, BootstrapPlan, BootstrapPreset, BootstrapSpec, Mode, Transform};
use windlass_papers::ma_2024::Table3;

use crate::refresh::{params, plan};

/// Set III of Ma et al. by Bruun's stages, merged as in their Table 3, and what one map each way
/// would take in their place: nothing is made but the plan.
#[test]
fn set_3_by_bruuns_stages() {
    let preset = BootstrapPreset::named("paper_ma24_set3_p131071", Mode::Thin).unwrap();
    let spec = BootstrapSpec { transform: Transform::BRUUN, partition: Table3::PARTITION, ..preset.spec };
    let plan = BootstrapPlan::new(preset.params.rlwe(), (131_071, 1), spec).unwrap();
    // (1, 7, 12, 15) from either end.
    assert_eq!(plan.choices().to_slots, [6, 11, 14]);
    assert_eq!(plan.choices().to_coefficients, [3, 8, 14]);
    assert_eq!(plan.choices().transform, "bruun");
    let text = plan.explain();
    assert!(text.contains("bruun to coefficients 3,8,14, to slots 6,11,14"), "{text}");
    assert!(plan.output_bits() > plan.least_input_bits() + 300.0, "{text}");
    let both = plan.unfactored().unwrap();
    for one in both {
        assert!(one.automorphisms >= plan.message_ring().slots() && one.factored.1 == 3, "{one}");
        assert!(one.price > 10.0 * one.factored.0 && one.constant_bytes > 1e10, "{one}");
    }
}

/// Where the specification leaves the transform open, one that the table has is chosen.
#[test]
fn set_1_without_a_transform() {
    let preset = BootstrapPreset::named("paper_ma24_set1_p65537", Mode::Thin).unwrap();
    let spec = BootstrapSpec { partition: Table3::PARTITION, ..preset.spec };
    let plan = BootstrapPlan::new(preset.params.rlwe(), (65537, 1), spec).unwrap();
    assert_eq!(plan.choices().transform, "radix2");
    assert_eq!(
        (&plan.choices().to_coefficients[..], &plan.choices().to_slots[..]),
        (&[4, 10, 15][..], &[5, 11, 15][..])
    );
}

#[test]
fn other_rings_are_refused() {
    let spec = BootstrapSpec { partition: Table3::PARTITION, ephemeral_weight: 6, ..BootstrapSpec::default() };
    match plan(&params(64, 16), (7, 1), spec).map(|plan| plan.explain()) {
        Err(Error::Bootstrap(BootstrapError::Unsupported { what })) => {
            assert!(what.contains("the partition paper has none for"), "{what}");
        }
        other => panic!("{other:?}"),
    }
}
