//! Refreshed ciphertexts, compared with the messages that they encrypt and with the error that is stated.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_rlwe::{Assurance, EvaluationKeys, SecretKey};
use windlass_schemes::error::{BootstrapError, Error};
use windlass_schemes::schemes::ckks::{Ciphertext, Decryptor, Engine, Wide, WideComplex};

use super::*;
use crate::approximate::RefreshKeys;

struct Parties {
    plan: Arc<PreciseRefreshPlan>,
    decryptor: Decryptor,
    engine: Engine,
    refresher: PreciseRefresher,
    rng: ChaCha20Rng,
}

fn toy((n, slots): (usize, usize), passes: (usize, u32), depth: usize) -> PreciseRefreshSpec {
    let assurance = Assurance::Insecure { name: "insecure_precise".into() };
    PreciseRefreshSpec::new((n, slots), passes, depth, assurance).unwrap()
}

impl Parties {
    fn new(spec: &PreciseRefreshSpec, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let plan = Arc::new(PreciseRefreshPlan::of_shape(spec).unwrap());
        let secret = Arc::new(SecretKey::generate(plan.context().rlwe(), &mut rng));
        let keys = RefreshKeys::generate(plan.pass(), &secret, &mut rng).unwrap();
        let mut evaluation = EvaluationKeys::of(&secret);
        RefreshKeys::add_evaluation_keys(plan.pass(), &mut evaluation, &secret, &mut rng).unwrap();
        let engine = Engine::new(plan.context(), Arc::new(evaluation)).unwrap();
        let refresher = PreciseRefresher::new(&plan, &engine, keys).unwrap();
        let decryptor = Decryptor::new(plan.context(), secret).unwrap();
        Self { plan, decryptor, engine, refresher, rng }
    }

    /// Numbers of absolute value at most 1, with more bits than doubles have.
    fn values(&mut self, count: usize) -> Vec<WideComplex> {
        let mut part = || {
            let mut word = || (self.rng.next_u64() >> 12) as f64 / 2f64.powi(51) - 1.0;
            Wide::sum(word(), word() * 2f64.powi(-54)) * Wide::from(std::f64::consts::FRAC_1_SQRT_2)
        };
        (0..count).map(|_| WideComplex { re: part(), im: part() }).collect()
    }

    fn encrypt(&mut self, values: &[WideComplex], level: usize) -> Ciphertext {
        self.decryptor.encrypt_wide(values, 1.0, level, &mut self.rng).unwrap().0
    }

    /// The largest error of a slot.
    fn worst(&self, ct: &Ciphertext, wanted: &[WideComplex]) -> f64 {
        let seen = self.decryptor.decrypt_wide(ct).unwrap();
        seen.iter().zip(wanted).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max)
    }
}

/// −log2 of the largest error: seen, and as stated in the mean and at worst.
fn compare(parties: &Parties, ct: &Ciphertext, wanted: &[WideComplex]) -> (f64, f64, f64) {
    let worst = parties.worst(ct, wanted);
    assert!(worst <= ct.error_bound(), "2^{:.1} of 2^{:.1}", worst.log2(), ct.error_bound().log2());
    (-worst.log2(), ct.precision_bits(), -ct.error_bound().log2())
}

#[test]
fn every_pass_adds_its_bits() {
    for (passes, least) in [((1, 26), 18.0), ((2, 26), 46.0), ((3, 26), 70.0), ((2, 30), 54.0)] {
        let mut parties = Parties::new(&toy((1 << 10, 1 << 9), passes, 1), 1);
        let values = parties.values(1 << 9);
        let base = parties.plan.context().base_level();
        let ct = parties.encrypt(&values, base);
        let before = compare(&parties, &ct, &values);
        let fresh = parties.refresher.refresh(&ct).unwrap();
        assert_eq!(fresh.level(), parties.plan.context().top_level());
        let (seen, stated, bound) = compare(&parties, &fresh, &values);
        println!(
            "{passes:?}: before {before:.1?}, seen {seen:.1}, stated {stated:.1}, worst {bound:.1}, {:.1?}",
            parties.plan.bits()
        );
        assert!(seen > least && seen < stated + 4.0 && seen > stated - 0.5);
    }
}
