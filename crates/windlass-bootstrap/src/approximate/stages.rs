//! What every step of a refresh adds to the error, seen with the secret key, beside what the estimate adds.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_rlwe::{Assurance, EvaluationKeys, SecretKey};
use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::{
    Ciphertext, Complex64, Decryptor, Engine, LazyCiphertext, LazyEngine, RealArithmetic, Stated,
};

use super::estimate::Signal;
use super::plan::MapStage;
use super::raise::raised;
use super::samples::{Errors, Numbers, Samples};
use super::spec::tests::{back_first, toy};
use super::*;

/// Who holds the secret key, and the server's keys.
struct Party {
    plan: RefreshPlan,
    decryptor: Decryptor,
    engine: Engine,
    keys: RefreshKeys,
}

impl Party {
    fn new(spec: &RefreshSpec, rng: &mut ChaCha20Rng) -> Self {
        let plan = RefreshPlan::new(spec).unwrap();
        let context = plan.context();
        let secret = Arc::new(SecretKey::generate(context.rlwe(), rng));
        let keys = RefreshKeys::generate(&plan, &secret, rng).unwrap();
        let mut evaluation = EvaluationKeys::of(&secret);
        RefreshKeys::add_evaluation_keys(&plan, &mut evaluation, &secret, rng).unwrap();
        let engine = Engine::new(context, Arc::new(evaluation)).unwrap();
        let decryptor = Decryptor::new(context, secret).unwrap();
        Self { plan, decryptor, engine, keys }
    }

    fn stated(&self, magnitude: f64) -> Stated {
        Stated { slots: self.plan.spec().sine_slots(), magnitude, deviation: 1e-6 * magnitude }
    }

    fn slots(&self, ct: &Ciphertext, magnitude: f64) -> Vec<Complex64> {
        self.decryptor.decrypt(&ct.clone().restated(self.stated(magnitude))).unwrap()
    }

    /// Applies maps. What each adds is the difference between the slots after it and the map of the slots before.
    fn mapped(&self, mut ct: Ciphertext, stages: &[MapStage], magnitude: f64) -> Ciphertext {
        for stage in stages {
            let before = self.slots(&ct, magnitude);
            let prepared = stage.plan.prepare_at(&self.engine, stage.level).unwrap();
            let image = stage.plan.apply(&prepared, &self.engine, &ct.restated(self.stated(1e-12))).unwrap();
            ct = self.engine.rescale(&image).unwrap();
            let expected = stage.plan.grid().block(0, 0).unwrap().apply(&before).unwrap();
            let alone = Signal { error: 0.0, size: rms(before.iter().copied()) };
            let estimate = alone.through(self.plan.context(), std::slice::from_ref(stage)).error;
            check(&format!("a map at {}", stage.level), distance(&self.slots(&ct, magnitude), &expected), estimate);
        }
        ct
    }

    /// At the highest level.
    fn raised(&self, base: &Ciphertext) -> Ciphertext {
        let parts = raised(self.plan.context().rlwe(), &self.keys, base.parts());
        let stated = Stated { slots: self.plan.spec().slots, ..self.stated(1e-12) };
        let whole = self.engine.assembled(base.key_id(), parts, stated).unwrap();
        self.plan.sums.apply(&self.engine, &whole).unwrap()
    }
}

fn rms(values: impl ExactSizeIterator<Item = Complex64>) -> f64 {
    let count = values.len() as f64;
    (values.map(|z| z.norm_sqr()).sum::<f64>() / count).sqrt()
}

fn distance(x: &[Complex64], y: &[Complex64]) -> f64 {
    rms(x.iter().zip(y).map(|(x, y)| x - y))
}

/// The estimate may not be below what is seen, but for the spread of some hundred slots, nor far above: constants that
/// repeat are rounded in fewer coefficients than it counts.
fn check(what: &str, seen: f64, estimate: f64) {
    println!("{what}: {seen:.2e} seen, {estimate:.2e} estimated: {:.2}", seen / estimate);
    assert!(seen < 1.2 * estimate && seen > 0.5 * estimate, "{what}: {seen:e} seen, {estimate:e} estimated");
}

/// A sine on ciphertexts, on the same numbers without errors, and on the same with sampled ones: compared after
/// every rescaling.
struct Compared<'a> {
    party: &'a Party,
    engine: LazyEngine<'a>,
    exact: Samples<'a>,
    sampled: Samples<'a>,
}

#[derive(Clone)]
struct Together {
    ciphertext: LazyCiphertext,
    exact: Numbers,
    sampled: Numbers,
}

impl Compared<'_> {
    fn all(
        &self,
        ciphertext: Result<LazyCiphertext>,
        exact: Result<Numbers>,
        sampled: Result<Numbers>,
    ) -> Result<Together> {
        Ok(Together { ciphertext: ciphertext?, exact: exact?, sampled: sampled? })
    }
}

impl RealArithmetic for Compared<'_> {
    type Value = Together;

    fn multiply(&self, a: &Together, b: &Together) -> Result<Together> {
        self.all(
            self.engine.multiply(&a.ciphertext, &b.ciphertext),
            self.exact.multiply(&a.exact, &b.exact),
            self.sampled.multiply(&a.sampled, &b.sampled),
        )
    }

    fn square(&self, a: &Together) -> Result<Together> {
        self.all(self.engine.square(&a.ciphertext), self.exact.square(&a.exact), self.sampled.square(&a.sampled))
    }

    fn multiply_number(&self, a: &Together, c: f64) -> Result<Together> {
        self.all(
            self.engine.multiply_number(&a.ciphertext, c),
            self.exact.multiply_number(&a.exact, c),
            self.sampled.multiply_number(&a.sampled, c),
        )
    }

    fn combination(&self, terms: &[(&Together, f64)], constant: f64) -> Result<Together> {
        let ciphertexts: Vec<_> = terms.iter().map(|(x, c)| (&x.ciphertext, *c)).collect();
        let exact: Vec<_> = terms.iter().map(|(x, c)| (&x.exact, *c)).collect();
        let sampled: Vec<_> = terms.iter().map(|(x, c)| (&x.sampled, *c)).collect();
        self.all(
            self.engine.combination(&ciphertexts, constant),
            self.exact.combination(&exact, constant),
            self.sampled.combination(&sampled, constant),
        )
    }

    fn times(&self, a: Together, k: i64) -> Result<Together> {
        self.all(self.engine.times(a.ciphertext, k), self.exact.times(a.exact, k), self.sampled.times(a.sampled, k))
    }

    fn add(&self, a: Together, b: &Together) -> Result<Together> {
        self.all(
            self.engine.add(a.ciphertext, &b.ciphertext),
            self.exact.add(a.exact, &b.exact),
            self.sampled.add(a.sampled, &b.sampled),
        )
    }

    fn sub(&self, a: Together, b: &Together) -> Result<Together> {
        self.all(
            self.engine.sub(a.ciphertext, &b.ciphertext),
            self.exact.sub(a.exact, &b.exact),
            self.sampled.sub(a.sampled, &b.sampled),
        )
    }

    fn add_number(&self, a: Together, c: f64) -> Result<Together> {
        self.all(
            self.engine.add_number(a.ciphertext, c),
            self.exact.add_number(a.exact, c),
            self.sampled.add_number(a.sampled, c),
        )
    }

    fn zero(&self, a: &Together) -> Result<Together> {
        self.all(self.engine.zero(&a.ciphertext), self.exact.zero(&a.exact), self.sampled.zero(&a.sampled))
    }

    fn rescale(&self, a: &Together) -> Result<Together> {
        let result = self.all(
            self.engine.rescale(&a.ciphertext),
            self.exact.rescale(&a.exact),
            self.sampled.rescale(&a.sampled),
        )?;
        let ciphertext = self.engine.relinearised(&result.ciphertext)?;
        let seen = distance(&self.party.slots(&ciphertext, 30.0), &result.exact.values);
        let estimate = distance(&result.sampled.values, &result.exact.values);
        check(&format!("the sine at {}", ciphertext.level()), seen, estimate);
        Ok(result)
    }

    fn lowered(&self, a: &Together, like: &Together, rescalings: usize) -> Result<Together> {
        self.all(
            self.engine.lowered(&a.ciphertext, &like.ciphertext, rescalings),
            self.exact.lowered(&a.exact, &like.exact, rescalings),
            self.sampled.lowered(&a.sampled, &like.sampled, rescalings),
        )
    }

    fn bounded(&self, a: Together, bound: f64) -> Together {
        Together { ciphertext: self.engine.bounded(a.ciphertext, bound), ..a }
    }
}

/// The levels of `refresh_n32768`, and those of toys.
#[test]
fn every_step_adds_the_error_of_the_estimate() {
    let half = RefreshSpec {
        n: 2048,
        slots: 1024,
        to_slots: vec![5, 5],
        to_coefficients: vec![5, 5],
        assurance: Assurance::Insecure { name: "insecure_stages".into() },
        ..RefreshSpec::preset("refresh_n32768").unwrap()
    };
    for spec in [half.with_sine_precision(17.0).unwrap(), back_first(1024), toy(1024)] {
        println!("n = {}, {:?}, {:?}", spec.n, spec.order, spec.sine_scale_bits);
        compare(&spec);
    }
}

fn compare(spec: &RefreshSpec) {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let party = Party::new(spec, &mut rng);
    let Party { plan, decryptor, engine, .. } = &party;
    let context = plan.context();
    let mut part = || (rng.next_u32() as f64 / 2f64.powi(31) - 1.0) * std::f64::consts::FRAC_1_SQRT_2;
    let message: Vec<Complex64> = (0..spec.slots).map(|_| Complex64::new(part(), part())).collect();
    let (mut x, _) = decryptor.encrypt(&message, 1.0, plan.input_level(), &mut rng).unwrap();
    let back = |x, magnitude| party.mapped(x, &plan.to_coefficients, magnitude);
    if spec.order == MapOrder::BackFirst {
        x = back(x, 60.0);
    }
    let largest = plan.base_modulus() * plan.sine.range() * spec.n as f64 / context.scale(context.raised_level());
    let z = party.mapped(party.raised(&x), &plan.to_slots, largest);
    let z = z.restated(party.stated(1.0));
    let real = engine.add(&z, &engine.conjugate(&z).unwrap()).unwrap();
    let values = party.slots(&real, 1.0);
    let expected: Vec<Complex64> = party.slots(&z, 1.0).iter().map(|z| z + z.conj()).collect();
    check("the conjugate", distance(&values, &expected), plan.argument_error(Signal { size: 1.0, error: 0.0 }));
    let numbers = Numbers { values, level: 0, is_product: false };
    let errors = Errors::of(context, spec.sine_slots(), plan.relinearisation_level());
    let compared = Compared {
        party: &party,
        engine: LazyEngine(engine),
        exact: Samples::new(spec, errors.none()),
        sampled: Samples::new(spec, errors),
    };
    let ciphertext = real.restated(Stated { deviation: 1e-12, ..party.stated(0.9) }).into();
    let start = Together { ciphertext, exact: numbers.clone(), sampled: numbers };
    let result = plan.sine.evaluate(&compared, start).unwrap();
    if spec.order == MapOrder::BackLast {
        back(compared.engine.relinearised(&result.ciphertext).unwrap(), 60.0);
    }
}
