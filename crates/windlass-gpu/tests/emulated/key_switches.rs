//! Whole key switches at every level against the processor's.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass_gpu::{DeviceError, DeviceKey, DevicePoly, KeySwitch, ring_of};
use windlass_ring::{Eval, Poly};
use windlass_rlwe::switching::{Epilogue, switch};
use windlass_rlwe::{Assurance, Context, EvaluationKeys, RlweParams, RlweSpec, SecretDistribution, SecretKey};

use crate::common::{devices, random};

/// A toy: small primes, spare ones at the front if any.
fn context(m: u64, digits: usize, spare: &[u32]) -> std::sync::Arc<Context> {
    let params = RlweParams::new(&RlweSpec {
        m,
        q_prime_bits: vec![45, 40, 38, 40, 36],
        spare_prime_bits: spare.to_vec(),
        special_prime_bits: vec![45; 3],
        digits,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    });
    Context::new(params.expect("a toy")).expect("a toy")
}

#[test]
fn rotations_have_the_bits_of_the_processor_at_every_level() {
    for (m, digits, spare) in [(256, 2, &[][..]), (64, 5, &[]), (64, 3, &[30, 34]), (8192, 2, &[])] {
        let context = context(m, digits, spare);
        let secret = SecretKey::generate(&context, &mut ChaCha20Rng::from_seed([7; 32]));
        let mut keys = EvaluationKeys::of(&secret);
        let element = 5;
        keys.add_galois(&secret, element, context.top_level(), &mut ChaCha20Rng::from_seed([8; 32])).unwrap();
        let key = keys.galois(element).expect("the key was made");
        let theta = context.ring().automorphism(element).unwrap();
        for device in devices() {
            let ring = ring_of(&device, &context).unwrap();
            let on_device = DeviceKey::upload(&ring, key.pairs()).unwrap();
            // The plaintext modulus of BGV; BFV and CKKS have 1.
            for (level, multiplier) in (1..=context.top_level()).flat_map(|level| [(level, 257), (level, 1)]) {
                let basis = context.basis(level);
                let [c0, c1] = [1, 2].map(|seed| random::<Eval>(context.ring(), &basis, seed));
                let epilogue = Epilogue { addends: [Some(&c0), None], automorphism: Some(&*theta) };
                let expected = switch(&context, &c1, multiplier, key, &epilogue).unwrap();
                let up = |poly: &Poly<Eval>| DevicePoly::upload(&ring, poly).unwrap();
                let rotation = KeySwitch::new(&ring, &context, level, multiplier).unwrap();
                let found = rotation.switch(&up(&c1), &on_device, [Some(&up(&c0)), None], element).unwrap();
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(found.download().unwrap() == *expected, "m = {m}, level {level}, {digits} digits");
                }
            }
        }
    }
}

#[test]
fn levels_and_contexts_that_do_not_fit_are_refused() {
    let (first, second) = (context(64, 2, &[]), context(128, 2, &[]));
    let [device, _] = devices();
    let ring = ring_of(&device, &first).unwrap();
    assert_eq!(KeySwitch::new(&ring, &second, 1, 1).unwrap_err(), DeviceError::OtherRing);
    let top = first.top_level();
    assert_eq!(KeySwitch::new(&ring, &first, 0, 1).unwrap_err(), DeviceError::NoSuchLevel { level: 0, top });
    assert_eq!(
        KeySwitch::new(&ring, &first, top + 1, 1).unwrap_err(),
        DeviceError::NoSuchLevel { level: top + 1, top }
    );
}
