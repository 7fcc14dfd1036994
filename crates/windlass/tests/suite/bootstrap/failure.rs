//! With what probability a refresh fails: the random events that plans count, and what they say.

use super::*;
use windlass::bootstrap::StageName;

/// After one refresh: the plan counts no fewer events of any kind than there were, and not many
/// more.
///
/// Modulus switches are counted wherever there could be one. Products of digit removals that are
/// relinearised at once count one by one. Every other key switch and mod-down is the same.
pub fn check_events(bootstrapper: &Bootstrapper, plan: &BootstrapPlan, case: &str) {
    let (done, said) = (bootstrapper.random_events(), plan.random_events());
    let removal = plan.stages().iter().find(|stage| stage.name == StageName::DigitRemoval).unwrap();
    let digits = plan.digits();
    let at_once = removal.times * (digits.products() - digits.relinearisations());
    let more = said.inner_products.checked_sub(done.inner_products).unwrap();
    assert_eq!(more, at_once as u64, "{done:?}, {said:?}, {case}");
    assert_eq!(said.mod_downs.checked_sub(done.mod_downs), Some(more), "{done:?}, {said:?}, {case}");
    // The error of the encrypted ephemeral secret is one of its key.
    assert_eq!((done.encryptions, said.encryptions), (0, 1));
    assert!(done.modulus_switches <= said.modulus_switches, "{done:?}, {said:?}, {case}");
    assert!(said.total() <= 3 * done.total(), "{done:?}, {said:?}, {case}");
}

/// N events of 2^−128 and the bound of the front end: the rarer of the two is of no account.
#[test]
fn a_refresh_fails_with_the_sum_of_what_its_events_fail_with() {
    let with = |failure_bits| {
        let spec = BootstrapSpec { failure_bits, ephemeral_weight: 6, ..BootstrapSpec::default() };
        plan(params(105, 14), (2, 1), spec).unwrap()
    };
    for failure_bits in [0.5, 3.0, 10.0, 100.0, 121.0, 128.0, 300.0] {
        let plan = with(failure_bits);
        let events = plan.random_events().total() as f64;
        assert!(events > 40.0 && events < 200.0, "{events}");
        let front_end = (128.0 - failure_bits).exp2() * 259.0 / 256.0;
        let wanted = 128.0 - (events + front_end).log2();
        assert!((plan.failure_bits() - wanted).abs() < 1e-9, "{failure_bits}: {}", plan.failure_bits());
        // The whole is likelier than its parts.
        assert!(plan.failure_bits() < failure_bits.min(122.7), "{failure_bits}: {}", plan.failure_bits());
        let line = format!("fails with probability at most 2^-{:.1} ({events} events of 2^-128", wanted - 0.05);
        assert!(plan.explain().contains(&line), "{line}: {}", plan.explain());
    }
    // More than 1 says nothing.
    assert_eq!(with(0.01).failure_bits(), 0.0);
}

/// Every part of a ciphertext that comes apart has events of its own.
#[test]
fn parts_count_one_by_one() {
    let spec = |mode| BootstrapSpec { mode, ephemeral_weight: 6, ..BootstrapSpec::default() };
    let [thin, packed] = [Mode::Thin, Mode::Packed].map(|mode| plan(params(64, 16), (7, 1), spec(mode)).unwrap());
    let products = |plan: &BootstrapPlan| (plan.digits().products() * plan.message_ring().degree()) as u64;
    assert!(packed.random_events().inner_products > products(&packed));
    assert!(thin.random_events().inner_products < products(&packed));
}
