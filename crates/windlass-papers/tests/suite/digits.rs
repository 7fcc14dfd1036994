//! Chains of halvings that leave more than one bit, on every residue and on ciphertexts.

use std::sync::Arc;

use windlass::circuits::{DigitRemoval, DigitSpec, Method};
use windlass::ring::kernels::Isa;
use windlass::ring::slots::SlotRing;
use windlass::schemes::Scheme;
use windlass::schemes::clear::Clear;
use windlass::{Context, Error, Evaluator, Params, Plaintext};
use windlass_papers::integer_valued::IntegerValued;

use crate::refresh::params;

/// v of v + r bits go.
fn spec(v: u32, r: u32) -> DigitSpec {
    DigitSpec { method: Method::Of(&IntegerValued), ..DigitSpec::new(2, v + r, v) }
}

/// Every residue, modulo 2^{v+r} and modulo every smaller power that has a bit left.
#[test]
fn halvings_leave_more_than_one_bit() {
    for (v, r, products) in [(2, 2, 3), (4, 2, 5), (6, 2, 7), (3, 3, 5), (4, 3, 6), (2, 4, 4), (3, 4, 6), (2, 6, 5)] {
        let removal = DigitRemoval::new(spec(v, r)).unwrap();
        assert_eq!(removal.products(), products, "{}", removal.explain());
        let slots = Arc::new(SlotRing::new(1023, 2, v + r, Isa::best()).unwrap());
        let clear = Clear::new(&slots);
        for exponent in v + 1..=v + r {
            let all: Vec<u64> = (0..1 << exponent).collect();
            for batch in all.chunks(slots.slots()) {
                let whole = clear.encrypt(&Plaintext::from_integers(&slots, batch).unwrap()).unwrap();
                let image = removal.apply(&clear, &clear.reduce_exponent(&whole, exponent).unwrap()).unwrap();
                let got = image.plaintext().to_integers().unwrap();
                let wanted: Vec<u64> = batch.iter().map(|&x| x >> v).collect();
                assert_eq!(got[..batch.len()], wanted, "modulo 2^{exponent}: {}", removal.explain());
            }
        }
        // The planner takes another method.
        assert_ne!(DigitRemoval::new(DigitSpec::new(2, v + r, v)).unwrap().spec().method.name(), "integer-valued");
    }
}

#[test]
fn other_digits_and_primes_are_refused() {
    let other_prime = DigitSpec { method: Method::Of(&IntegerValued), ..DigitSpec::new(3, 4, 2) };
    for refused in [spec(7, 2), spec(5, 3), other_prime] {
        match DigitRemoval::new(refused).unwrap_err() {
            Error::Unplannable { strategy, reason } => {
                assert!(strategy == "integer-valued" && reason.contains("no chain is known"), "{reason}");
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn digits_of_ciphertexts() {
    let removal = DigitRemoval::new(spec(4, 2)).unwrap();
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let params = Params::new("insecure_test", scheme, (2, 6), None, params(105, 9)).unwrap();
        let context = Context::from_params(params).unwrap();
        let (client, server) = context.generate_keys_from_seed([&removal], 5).unwrap();
        let inputs: Vec<u64> = (0..context.slots() as u64).map(|i| (11 * i + 5) % 64).collect();
        let image = removal.apply(server.engine(), &client.encrypt(&inputs).unwrap()).unwrap();
        let wanted: Vec<u64> = inputs.iter().map(|x| x >> 4).collect();
        assert_eq!(client.decrypt(&image).unwrap(), wanted, "{scheme}");
    }
}
