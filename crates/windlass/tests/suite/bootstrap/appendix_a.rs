//! The formula of 2015 with e, e', α and t by its authors' rule.

use super::*;
use windlass::bootstrap::{AppendixA, AppendixASpec};

/// m, p^r, primes, t: the removed part fits its digits for certain.
const SETS: [(u64, (u64, u32), usize, u32); 4] =
    [(64, (3, 1), 20, 6), (64, (7, 1), 16, 6), (128, (193, 1), 14, 6), (16, (3, 2), 20, 5)];

fn solved(m: u64, modulus: (u64, u32), weight: u32) -> (AppendixA, BootstrapSpec) {
    let found =
        AppendixA::solve(AppendixASpec { m, modulus, weight: weight.into(), level_bits: 25, conservative: false })
            .unwrap();
    // The solver may find a larger t.
    (found, BootstrapSpec { ephemeral_weight: weight, ..BootstrapSpec::by_appendix_a(found) })
}

#[test]
fn the_rule_of_appendix_a_on_the_mock() {
    for ((m, modulus, primes, weight), mode) in SETS.iter().flat_map(|&set| [(set, Mode::Thin), (set, Mode::Packed)]) {
        let (found, spec) = solved(m, modulus, weight);
        let plan = plan(params(m, primes), modulus, BootstrapSpec { mode, ..spec }).unwrap();
        let formula = plan.formula();
        assert_eq!(formula.removed + formula.cleared, found.exponent);
        assert_eq!((formula.cleared, formula.alpha.to_bits()), (found.cleared, found.alpha.to_bits()));
        assert!(formula.failure_bits > 128.0, "{formula:?}");
        assert!(plan.explain().contains(&format!("α = {:.5}", found.alpha)), "{}", plan.explain());
        on_the_mock_with(&Arc::new(plan), 0..2);
    }
    // The first has a share of its own.
    let (found, _) = solved(64, (3, 1), 6);
    assert!(found.alpha > 0.3 && found.alpha < 0.5, "{found:?}");
}

#[test]
fn the_rule_of_appendix_a_on_ciphertexts() {
    for (m, modulus, primes, weight) in SETS {
        with_parameters(params(m, primes), modulus, solved(m, modulus, weight).1);
    }
    let (m, modulus, primes, weight) = SETS[0];
    let (_, spec) = solved(m, modulus, weight);
    // Any share does.
    for alpha in [0.0, 1.0] {
        let appendix_a = spec.appendix_a.map(|found| AppendixA { alpha, ..found });
        with_parameters(params(m, primes), modulus, BootstrapSpec { appendix_a, ..spec.clone() });
    }
    with_parameters(params(m, primes), modulus, BootstrapSpec { mode: Mode::Packed, ..spec });
}

/// Where digits hold the removed part but with a probability, secure parameters refuse it.
#[test]
fn what_the_rule_does_not_promise_secure_parameters_refuse() {
    let (found, spec) = solved(28679, (2, 1), 56);
    let preset = windlass::bootstrap::BootstrapPreset::named("boot_m28679_p2", Mode::Thin).unwrap();
    let encapsulation = Encapsulation::Digits;
    let spec = BootstrapSpec { ephemeral_weight: 56, encapsulation, ..spec };
    let refused = BootstrapPlan::new(preset.params.rlwe(), (2, 1), spec).map(|plan| plan.explain());
    assert!(matches!(refused, Err(Error::Bootstrap(BootstrapError::TooLikelyToFail { .. }))), "{found:?}: {refused:?}");
}
