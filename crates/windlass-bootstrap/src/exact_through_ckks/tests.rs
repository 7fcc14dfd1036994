//! Refreshed ciphertexts, compared with the messages that they encrypt and with the noise that the plan
//! states.

use std::ops::ControlFlow;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_ring::Poly;
use windlass_rlwe::SecretKey;
use windlass_schemes::Plaintext;
use windlass_schemes::error::{BootstrapError, Error};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::schemes::engine::Statement;
use windlass_schemes::schemes::{Ciphertext, Decryptor, Engine, Scheme};

use super::*;

struct Parties {
    plan: Arc<ExactRefreshPlan>,
    decryptor: Decryptor,
    engine: Engine,
    refresher: ExactRefresher,
    rng: ChaCha20Rng,
}

impl Parties {
    fn new(name: &str, scheme: Scheme, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let plan = Arc::new(ExactRefreshPlan::preset(name).unwrap());
        let secret = Arc::new(SecretKey::generate(plan.context(), &mut rng));
        let (evaluation, keys) = plan.generate_keys(&secret, &mut rng).unwrap();
        let engine = Engine::new(scheme, plan.slot_ring(), evaluation).unwrap();
        let refresher = ExactRefresher::new(&plan, &engine, keys).unwrap();
        let decryptor = Decryptor::new(scheme, plan.slot_ring(), secret);
        Self { plan, decryptor, engine, refresher, rng }
    }

    fn message(&mut self) -> Plaintext {
        let t = self.plan.spec().plaintext_modulus();
        let coefficients = (0..self.plan.spec().refresh.n).map(|_| self.rng.next_u64() % t).collect();
        Plaintext::new(self.plan.slot_ring(), coefficients).unwrap()
    }

    /// A BFV ciphertext at the base whose error has these coefficients beside those of an encryption, and
    /// states just that.
    fn spent(&mut self, message: &Plaintext, error: impl Fn(usize) -> i64) -> Ciphertext {
        let level = self.plan.level_of(1);
        let (ct, _) = self.decryptor.encrypt(message, level, &mut self.rng).unwrap();
        let n = self.plan.spec().refresh.n;
        let coefficients: Vec<i64> = (0..n).map(error).collect();
        let mut parts = ct.parts().to_vec();
        let error = Poly::from_signed(parts[0].ring(), parts[0].basis(), &coefficients).into_eval();
        parts[0].add_assign(&error);
        let statement =
            Statement { exponent: ct.exponent(), factor: ct.factor(), noise: ct.noise(), content: ct.content() };
        let (context, slots) = ((self.plan.context(), ct.key_id()), (&**self.plan.slot_ring(), ct.scheme()));
        Ciphertext::assembled(context, slots, parts.into(), statement).assume_noise(self.plan.error().most.log2())
    }

    /// The largest coefficient that [`Self::spent`] can add to the error.
    fn largest(&mut self) -> i64 {
        let message = self.message();
        let (ct, _) = self.decryptor.encrypt(&message, self.plan.level_of(1), &mut self.rng).unwrap();
        let own = ct.log2_noise().exp2();
        ((self.plan.error().most - own) / self.plan.spec().plaintext_modulus() as f64).floor() as i64
    }

    fn measured(&self, ct: &Ciphertext) -> f64 {
        self.decryptor.exact_noise_leaks_the_secret_key(ct).unwrap()
    }
}

/// The names of the toys, each with a seed.
fn toys() -> impl Iterator<Item = (&'static str, u64)> {
    exact_refresh_preset_names().filter(|name| name.starts_with("insecure")).zip(1..)
}

/// Errors of any kind within the bound: all at the bound with one sign, at random signs, at random, none, and
/// one coefficient.
#[test]
fn refreshed_ciphertexts_hold_the_message_and_the_noise_that_is_stated() {
    for (name, seed) in toys() {
        let mut parties = Parties::new(name, Scheme::Bfv, seed);
        println!("{}", parties.plan.explain());
        let largest = parties.largest();
        let random: Vec<u64> = (0..parties.plan.spec().refresh.n).map(|_| parties.rng.next_u64()).collect();
        let kinds: [(&str, &dyn Fn(usize) -> i64); 5] = [
            ("one sign", &|_| largest),
            ("random signs", &|k| if random[k] & 1 == 0 { largest } else { -largest }),
            ("random", &|k| (random[k] % (2 * largest as u64 + 1)) as i64 - largest),
            ("none", &|_| 0),
            ("one coefficient", &|k| if k == 3 { largest } else { 0 }),
        ];
        for (kind, error) in kinds {
            let message = parties.message();
            let ct = parties.spent(&message, error);
            let fresh = parties.refresher.refresh(&ct).unwrap();
            let (stated, measured) = (fresh.log2_noise(), parties.measured(&fresh));
            println!(
                "{name}, {kind}: noise 2^{measured} of 2^{stated:.1}, capacity {:.1}",
                parties.engine.capacity(&fresh)
            );
            assert_eq!(parties.decryptor.decrypt(&fresh).unwrap().coefficients(), message.coefficients());
            assert_eq!(fresh.level(), parties.plan.output_level());
            assert!(measured <= stated && stated <= parties.plan.output_noise() + 1e-6);
            assert!(parties.engine.capacity(&fresh) >= parties.plan.output_bits() - 1e-6);
        }
    }
}
