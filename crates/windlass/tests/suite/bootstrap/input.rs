//! Where a ciphertext meets the ephemeral key.

use super::*;
use windlass::bootstrap::StageName;

/// A first prime of 42 bits for p^e = 65537²: what rounding to it leaves is too much for a
/// canonical norm, not for coefficients.
#[test]
fn a_first_prime_that_only_coefficients_fit() {
    let bits = || std::iter::once(42).chain([50; 15]).collect::<Vec<u32>>();
    let spec = BootstrapSpec { ephemeral_weight: 8, ..BootstrapSpec::default() };
    let plan = plan(chain(256, bits()), (65537, 1), spec.clone()).unwrap();
    let front_end = plan.stages().iter().find(|stage| stage.name == StageName::FrontEnd).unwrap();
    assert_eq!(front_end.level, 2);
    assert!(front_end.work.contains("at 42 bits"), "{}", front_end.work);
    with_parameters(chain(256, bits()), (65537, 1), spec);
}

/// First primes so small that what rounding to them leaves exceeds half of them by canonical norm.
#[test]
fn a_first_prime_below_the_canonical_norm_of_rounding() {
    let bits: Vec<u32> = [26].into_iter().chain([50; 4]).chain([40; 12]).collect();
    let spec = BootstrapSpec { ephemeral_weight: 30, ..BootstrapSpec::default() };
    with_parameters(chain(1 << 14, bits), (127, 1), spec);
}
