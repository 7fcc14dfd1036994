//! The decryption formula of 2015: with our digits, and with e, e', α and t by its authors' rule.

use std::sync::Arc;

use windlass::bootstrap::{
    BootstrapError, BootstrapPlan, BootstrapPreset, BootstrapSpec, Encapsulation, Mode, Unpacking,
};
use windlass::{Error, Result};
use windlass_papers::halevi_shoup_2015::{AppendixA, AppendixASpec, NearPrimePower};

use crate::refresh::{on_ciphertexts, on_the_mock, params, plan};

/// (m, p, r, primes, weight)
const OWN: [(u64, u64, u32, usize, u32); 6] = [
    (105, 2, 1, 14, 6),
    (1023, 2, 1, 16, 8),
    (64, 257, 1, 14, 6),
    (64, 7, 1, 16, 6),
    (45, 2, 2, 16, 4),
    (128, 193, 1, 14, 6),
];

fn own(mode: Mode, ephemeral_weight: u32) -> BootstrapSpec {
    BootstrapSpec { mode, front_end: NearPrimePower::FRONT_END, ephemeral_weight, ..BootstrapSpec::default() }
}

#[test]
fn our_digits_thin() {
    for (m, p, r, primes, weight) in OWN {
        on_ciphertexts(&params(m, primes), (p, r), &own(Mode::Thin, weight));
    }
}

#[test]
fn our_digits_packed() {
    for (m, p, r, primes, weight) in [OWN[0], OWN[2], OWN[3], OWN[4]] {
        on_ciphertexts(&params(m, primes), (p, r), &own(Mode::Packed, weight));
    }
    let monomials = BootstrapSpec { unpacking: Unpacking::Monomials, ..own(Mode::Packed, 6) };
    on_ciphertexts(&params(64, 16), (7, 1), &monomials);
}

#[test]
fn our_digits_under_an_ephemeral_key_in_digits() {
    let spec = BootstrapSpec { encapsulation: Encapsulation::Digits, ..own(Mode::Thin, 6) };
    on_ciphertexts(&params(64, 16), (7, 1), &spec);
}

/// m, p^r, primes, t: the removed part fits its digits for certain.
const SETS: [(u64, (u64, u32), usize, u32); 4] =
    [(64, (3, 1), 20, 6), (64, (7, 1), 16, 6), (128, (193, 1), 14, 6), (16, (3, 2), 20, 5)];

fn solved(m: u64, modulus: (u64, u32), weight: u32) -> Result<(AppendixA, BootstrapSpec)> {
    let spec = AppendixASpec { m, modulus, weight: weight.into(), level_bits: 25, conservative: false };
    let found = AppendixA::solve(spec)?;
    // The solver may find a larger t.
    Ok((found, BootstrapSpec { ephemeral_weight: weight, ..NearPrimePower::spec(found) }))
}

#[test]
fn the_rule_of_appendix_a_on_the_mock() {
    for ((m, modulus, primes, weight), mode) in SETS.iter().flat_map(|&set| [(set, Mode::Thin), (set, Mode::Packed)]) {
        let (found, spec) = solved(m, modulus, weight).unwrap();
        let plan = plan(&params(m, primes), modulus, BootstrapSpec { mode, ..spec }).unwrap();
        let formula = plan.formula();
        assert_eq!(formula.removed + found.cleared, found.exponent);
        assert!(formula.failure_bits > 128.0, "{formula:?}");
        let AppendixA { exponent, cleared, alpha, .. } = found;
        let line = format!("to modulus {}^{exponent} + 1, {cleared} digits cleared with α = {alpha:.5}", modulus.0);
        assert!(plan.explain().contains(&line), "{}", plan.explain());
        on_the_mock(&Arc::new(plan), 0..2);
    }
    // The first has a share of its own.
    let (found, _) = solved(64, (3, 1), 6).unwrap();
    assert!(found.alpha > 0.3 && found.alpha < 0.5, "{found:?}");
}

#[test]
fn the_rule_of_appendix_a_on_ciphertexts() {
    for (m, modulus, primes, weight) in SETS {
        on_ciphertexts(&params(m, primes), modulus, &solved(m, modulus, weight).unwrap().1);
    }
    let (m, modulus, primes, weight) = SETS[0];
    let (found, spec) = solved(m, modulus, weight).unwrap();
    // Any share does.
    for alpha in [0.0, 1.0] {
        let front_end = NearPrimePower::spec(AppendixA { alpha, ..found }).front_end;
        on_ciphertexts(&params(m, primes), modulus, &BootstrapSpec { front_end, ..spec.clone() });
    }
    on_ciphertexts(&params(m, primes), modulus, &BootstrapSpec { mode: Mode::Packed, ..spec });
}

/// If digits fail to hold the removed part with some probability, secure parameters refuse it.
#[test]
fn what_the_rule_does_not_promise_secure_parameters_refuse() {
    let (found, spec) = solved(28679, (2, 1), 56).unwrap();
    let preset = BootstrapPreset::named("boot_m28679_p2", Mode::Thin).unwrap();
    let spec = BootstrapSpec { ephemeral_weight: 56, encapsulation: Encapsulation::Digits, ..spec };
    let refused = BootstrapPlan::new(preset.params.rlwe(), (2, 1), spec).map(|plan| plan.explain());
    assert!(matches!(refused, Err(Error::Bootstrap(BootstrapError::TooLikelyToFail { .. }))), "{found:?}: {refused:?}");
}
