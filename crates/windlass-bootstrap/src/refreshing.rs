//! One refresh on ciphertexts.

use windlass_ring::kernels::arith;
use windlass_schemes::error::{BootstrapError, Result};
use windlass_schemes::plaintext::{Content, Plaintext};
use windlass_schemes::schemes::engine::{Extended, Statement};
use windlass_schemes::schemes::{Ciphertext, Engine, Scheme};

use super::bootstrap_plan::BootstrapPlan;
use super::encapsulation::EncryptedSecret;
use super::interpreter::{Circuit, Machine};
use super::keys::BootstrapKeys;
use super::progress::Reports;
use super::stage::StageName;

/// One refresh at work.
pub(super) struct Refreshing<'a> {
    pub plan: &'a BootstrapPlan,
    pub keys: &'a BootstrapKeys,
    /// The ephemeral secret under the main one.
    pub encrypted_secret: &'a Extended,
    pub circuit: &'a Circuit<Engine>,
    pub reports: Reports<'a>,
    /// What multiplies the factors of results, one for each ciphertext that went through the front
    /// end: see [`Refreshing::unit_of`].
    pub units: Vec<u64>,
}

impl Machine for Refreshing<'_> {
    type On = Engine;

    fn circuit(&self) -> &Circuit<Engine> {
        self.circuit
    }

    fn lower(&mut self, batch: Vec<Ciphertext>, level: usize) -> Result<Vec<Ciphertext>> {
        let level = batch.iter().map(Ciphertext::level).fold(level, usize::min);
        batch.iter().map(|x| self.circuit.message.switch_modulus(x, level)).collect()
    }

    fn enter(&mut self, stage: StageName, x: Ciphertext) -> Result<Ciphertext> {
        let (engine, planned) = (&self.circuit.working, |stage| self.plan.schedule.level(stage));
        match stage {
            StageName::FrontEnd => self.arrive(x),
            // What has less noise than was forecast could begin higher. At the level of the plan,
            // which keys are made for, it is left with no less than was forecast.
            StageName::DigitRemoval => {
                let level = engine.level_with(&x, f64::INFINITY);
                engine.switch_modulus(&x, level.min(planned(stage)))
            }
            _ => engine.switch_modulus(&x, x.level().min(planned(stage))),
        }
    }

    fn begin(&mut self, stage: StageName, x: &Ciphertext) -> Result<()> {
        self.reports.next(stage, x, self.circuit.working.capacity(x))
    }

    /// One coefficient of every slot.
    fn integers(&self, x: Ciphertext) -> Ciphertext {
        x.assume_integers()
    }

    /// An encryption modulo p^e of the coefficients p^v·k + (a removable part): the ciphertext's
    /// own decryption up to rounding.
    fn front_end(&mut self, arrived: Ciphertext) -> Result<Ciphertext> {
        let Self { plan, keys, encrypted_secret, circuit, .. } = *self;
        let formula = plan.formula();
        // By coefficients there is room where canonical norms may find none.
        let low = circuit.message.switched(&arrived, plan.input().level);
        self.units.push(self.unit_of(&low));
        let parts = keys.encapsulation.switch(circuit.message.context(), low.to_scheme(Scheme::Bfv).parts());
        let modulus = plan.working_ring().modulus();
        let method = plan.spec().front_end.method();
        let [mut c0, c1] = method.constants(&plan.pipeline.formula_spec(), formula, parts);
        if modulus.prime() == 2 {
            // Digits 0 and 1 remove a part that is not negative.
            let half = modulus.value() >> (formula.message_exponent + 1);
            c0.iter_mut().for_each(|x| *x = modulus.add(*x, half));
        }
        let plaintext = |coefficients| Plaintext::new(plan.working_ring(), coefficients);
        circuit.working.decryption(encrypted_secret, [&plaintext(c0)?, &plaintext(c1)?])
    }
}

impl Refreshing<'_> {
    /// What bounds I holds from here on only: the check before any work was a forecast.
    fn arrive(&self, x: Ciphertext) -> Result<Ciphertext> {
        let (input, engine) = (self.plan.input(), &self.circuit.message);
        let arrived = engine.switch_modulus(&x, x.level().min(input.arrival))?;
        let missing_bits = input.needed_bits - engine.capacity(&arrived);
        if missing_bits > 0.0 {
            let (stage, left_bits) = (StageName::FrontEnd.to_string(), engine.capacity(&x));
            return Err(BootstrapError::CapacityTooLow { stage, left_bits, missing_bits }.into());
        }
        Ok(arrived)
    }

    /// g with `message = g·k`: the phase is Q·k/t + ε/t with ε ≡ factor·message, so k ≡
    /// −Q^{−1}·factor·message; the factor of the result takes −Q^{−1}·factor up.
    fn unit_of(&self, low: &Ciphertext) -> u64 {
        let engine = &self.circuit.message;
        let t = engine.modulus(low.exponent());
        let q = engine.context().levels().modulus(low.level(), t);
        let inverse = arith::inv_mod(t - q, t).expect("the primes are coprime to the plaintext modulus");
        arith::mul_mod(inverse, low.factor(), t)
    }
}

impl BootstrapPlan {
    /// The key's encryption of s̃ in the engine's form: P times a ciphertext of factor 1.
    pub(super) fn encrypted_secret(&self, working: &Engine, keys: &BootstrapKeys) -> Extended {
        let (params, modulus) = (self.params(), self.working_ring().modulus());
        let model = working.noise(modulus.exponent());
        let parts = keys.encrypted_secret.pair().map(Clone::clone).into();
        let statement = Statement {
            exponent: modulus.exponent(),
            factor: 1,
            noise: EncryptedSecret::noise(params, model, self.spec().ephemeral_weight, modulus.value()),
            content: Content::any(self.working_ring()),
        };
        let (pair, ring) = ((working.context(), keys.key_id()), (&**self.working_ring(), working.scheme()));
        Extended::of(Ciphertext::assembled(pair, ring, parts, statement), params.top_level())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;
    use windlass_rlwe::{
        Assurance, Bound, Context, EvaluationKeys, RlweParams, RlweSpec, SecretDistribution, SecretKey,
    };

    use super::*;
    use crate::forecast::{Expected, Forecast};
    use crate::pipeline::PipelineStep;
    use crate::spec::BootstrapSpec;
    use windlass_schemes::schemes::Decryptor;

    /// Thin, in primes of so many bits.
    fn plan(ring: (u64, u64, u32), bits: u32, count: usize) -> BootstrapPlan {
        plan_with(ring, bits, count, &[])
    }

    fn plan_with((m, p, r): (u64, u64, u32), bits: u32, count: usize, spare: &[u32]) -> BootstrapPlan {
        let params = RlweParams::new(&RlweSpec {
            m,
            q_prime_bits: [vec![50], vec![bits; count]].concat(),
            spare_prime_bits: spare.to_vec(),
            special_prime_bits: vec![50; 8],
            digits: 3,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_test".into() },
        });
        let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
        BootstrapPlan::new(&params.unwrap(), (p, r), spec).unwrap()
    }

    /// Digits are removed at the level of the plan at most: a fresh ciphertext has less noise than
    /// what the maps leave, and would lose by a switch to it.
    #[test]
    fn less_noise_than_forecast_begins_no_higher() {
        let (plan, rng) = (plan((64, 257, 1), 28, 28), &mut ChaCha20Rng::seed_from_u64(5));
        let secret = Arc::new(SecretKey::generate(&Context::new(plan.params().clone()).unwrap(), rng));
        let own = BootstrapKeys::generate(&plan, Scheme::Bgv, &secret, rng).unwrap();
        let keys = Arc::new(EvaluationKeys::of(&secret));
        let engines = [plan.message_ring(), plan.working_ring()]
            .map(|slots| Engine::new(Scheme::Bgv, slots, Arc::clone(&keys)).unwrap());
        let encrypted_secret = plan.encrypted_secret(&engines[1], &own);
        let circuit = Circuit::new(engines, &[], &|_| 1).unwrap();
        let mut refreshing = Refreshing {
            plan: &plan,
            keys: &own,
            encrypted_secret: &encrypted_secret,
            circuit: &circuit,
            reports: Reports::new(0, None),
            units: Vec::new(),
        };
        let decryptor = Decryptor::new(Scheme::Bgv, plan.working_ring(), secret);
        let one = Plaintext::one(plan.working_ring());
        let (fresh, _) = decryptor.encrypt(&one, plan.params().top_level(), rng).unwrap();
        let place = plan.schedule.places[&StageName::DigitRemoval];
        assert!(circuit.working.level_with(&fresh, f64::INFINITY) > place.level);
        let entered = refreshing.enter(StageName::DigitRemoval, fresh).unwrap();
        assert_eq!(entered.level(), place.level);
        assert!(circuit.working.capacity(&entered) >= place.capacity.0);
        assert_eq!(decryptor.decrypt(&entered).unwrap(), one);
    }

    /// Digit removal from every noise between rounding and what was forecast: none ends higher, or
    /// with primes that keys for that level have not, and one ends there.
    #[test]
    fn less_noise_ends_no_higher_than_rounding_noise() {
        let none: &[u32] = &[];
        let sets = [
            ((105, 2, 1), 26, 30, none),
            ((45, 2, 2), 31, 32, none),
            ((64, 257, 1), 28, 28, none),
            ((64, 7, 1), 40, 22, none),
            ((105, 2, 1), 48, 16, &[30]),
            ((45, 2, 2), 50, 20, &[30, 37]),
            ((64, 257, 1), 48, 16, &[33, 38]),
        ];
        for (ring, bits, count, spare) in sets {
            let plan = plan_with(ring, bits, count, spare);
            let (pipeline, schedule) = (&plan.pipeline, &plan.schedule);
            let Some(PipelineStep::Digits(removal)) = pipeline.steps.last() else { panic!("thin ends in digits") };
            let working = Forecast::new(&pipeline.params, &pipeline.working);
            let place = schedule.places[&StageName::DigitRemoval];
            let most = working.noise_of_capacity(place.level, place.capacity.0);
            let rounding = working.model(pipeline.formula.exponent).rounding(2);
            let step = (most.bits() - rounding.bits()) / 100.0;
            assert!(step > 0.0, "{step}");
            let levels: Vec<usize> = (0..=100)
                .map(|k| {
                    let noise = rounding * Bound::from_bits(step * f64::from(k));
                    let x = Expected { noise, ..working.floor(place.level, pipeline.formula.exponent) };
                    removal.apply(&working, &x).unwrap().level
                })
                .collect();
            let text = format!("{levels:?}, {}", plan.explain());
            let covered = |level: &usize| pipeline.params.levels().covers(schedule.highest_output, *level);
            assert!(levels.iter().all(covered), "{text}");
            assert!(levels.contains(&schedule.highest_output), "{text}");
            // Far below the level that digit removal begins at.
            assert!(schedule.highest_output < place.level, "{text}");
        }
    }
}
