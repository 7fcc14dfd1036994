//! Bootstrapping with spare primes: levels end close to what each step costs.

use super::*;

fn with_spare(m: u64, primes: usize, spare: &[u32], digits: usize) -> RlweSpec {
    RlweSpec { spare_prime_bits: spare.to_vec(), digits, ..params(m, primes) }
}

#[test]
fn refreshes_with_spare_primes() {
    for (encapsulation, mode) in [Encapsulation::SpecialPrimes, Encapsulation::Digits]
        .into_iter()
        .flat_map(|encapsulation| [Mode::Thin, Mode::Packed].map(|mode| (encapsulation, mode)))
    {
        let spec = BootstrapSpec { mode, encapsulation, ephemeral_weight: 6, ..BootstrapSpec::default() };
        with_parameters(with_spare(105, 13, &[30], 3), (2, 1), spec.clone());
        with_parameters(with_spare(64, 13, &[28, 37], 7), (257, 1), spec);
    }
}

#[test]
fn spare_primes_leave_more_of_the_same_modulus() {
    for ((m, p), gained) in [((1023, 2), 20.0), ((256, 257), 10.0)] {
        let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
        let left = |rlwe| {
            let plan = plan(rlwe, (p, 1), spec.clone()).unwrap();
            plan.output_bits() - plan.least_input_bits()
        };
        let [chained, spared] = [params(m, 15), with_spare(m, 14, &[25, 25], 3)].map(left);
        assert!(spared > chained + gained, "m = {m}: {spared} for {chained}");
    }
}
