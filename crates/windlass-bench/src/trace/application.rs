//! A sum of slots inside an application: logistic regression on encrypted rows with encrypted
//! weights, once with rotate-and-add and once with the planned trace.

use std::collections::BTreeSet;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::Result;
use windlass::circuits::{Polynomial, SlotSums, TraceChain, TracePlan, TraceSpec};
use windlass::schemes::ckks::{Ciphertext, Complex64, Engine};
use windlass_kernels::Isa;
use windlass_papers::trace::parameters::{DEGREE, FEATURES, PRIMES};

use super::args::Trace;
use super::keep::keep;
use super::results::Results;
use super::setup::{Setup, TOP, context, key_bytes, spec};
use crate::threads::with_threads;
use crate::timing::subject;

/// Scores are within these bounds.
const LARGEST_SCORE: f64 = 8.0;

/// How a sum is taken.
type Sum<'a> = &'a (dyn Fn(&Ciphertext) -> Result<Ciphertext> + Sync);

/// Runs every k on the fastest instruction set.
pub fn run(args: &Trace, results: &mut Results) {
    let Some(isa) = args.isas().into_iter().last() else { return };
    for k in PRIMES {
        let chain = TraceChain::window(1 << 16, 1, FEATURES as u64).expect("5 is a unit");
        let plan = planned(args, &chain, k, isa);
        let elements: BTreeSet<u64> = plan.required_keys().into_iter().chain(chain.sequential_keys()).collect();
        println!("# application k={k}: {} groups, {} keys", plan.groups(), plan.required_keys().len());
        let setup = Setup::new(&spec(k), TOP, isa, &elements);
        let (engine, regression) = (setup.engine(), Regression::new(&setup));
        let sequential = |ct: &Ciphertext| chain.sequential(engine, ct);
        let unrolled = |ct: &Ciphertext| plan.apply(engine, ct);
        regression.check(&setup, &format!("sequential, k={k}"), &sequential);
        regression.check(&setup, &format!("planned, k={k}"), &unrolled);
        let products = regression.products(engine).expect("a key and a level");
        for &threads in &args.threads {
            let samples = with_threads(threads, || {
                args.compare(
                    &mut [
                        subject("sequential", || drop(regression.probabilities(engine, &sequential))),
                        subject("planned", || drop(regression.probabilities(engine, &unrolled))),
                        subject("sequential sum", || drop(sequential(&products))),
                        subject("planned sum", || drop(unrolled(&products))),
                    ],
                    threads,
                )
            });
            samples.iter().for_each(|sample| keep(results, "application", (k, TOP), sample, (isa, threads)));
        }
    }
}

/// The fastest plan by the prices of the level of the sum, within the memory for keys.
fn planned(args: &Trace, chain: &TraceChain, k: u32, isa: Isa) -> TracePlan {
    let most_keys = (args.memory * (1u64 << 30) as f64 / key_bytes(&spec(k), TOP)) as usize;
    let cost = context(&spec(k), isa).cost_model(TOP);
    let wanted = TraceSpec { cost, most_keys: Some(most_keys), ..TraceSpec::default() };
    TracePlan::new(chain, &wanted).expect("a key for each step is enough")
}

/// Encrypted rows, encrypted weights, and the polynomial near the logistic function.
struct Regression {
    rows: Ciphertext,
    weights: Ciphertext,
    sigmoid: Polynomial,
    /// Slot j: the polynomial at `Σ_{i<128} w_{j+i}·x_{j+i}`, the probability of a row where j is a
    /// multiple of 128.
    expected: Vec<f64>,
}

impl Regression {
    fn new(setup: &Setup) -> Self {
        let slots = setup.values.len();
        let largest_weight = LARGEST_SCORE / FEATURES as f64;
        let part = |j: usize, prime: usize| 2.0 * (j % prime) as f64 / prime as f64 - 1.0;
        let rows: Vec<f64> = (0..slots).map(|j| part(j * j, 1009)).collect();
        // Signs that agree with those of some rows, so that scores come near their ends.
        let weights: Vec<f64> = (0..slots).map(|j| largest_weight * part((j % FEATURES) * j, 1009)).collect();
        let sigmoid = Polynomial::sigmoid(LARGEST_SCORE, DEGREE).expect("an interval");
        let products: Vec<f64> = rows.iter().zip(&weights).map(|(x, w)| x * w).collect();
        let score = |j: usize| -> f64 { (0..FEATURES).map(|i| products[(j + i) % slots]).sum() };
        let expected = (0..slots).map(|j| sigmoid.value(score(j))).collect();
        let mut rng = ChaCha20Rng::from_seed([10; 32]);
        let mut encrypt = |values: &[f64], largest: f64| {
            let values: Vec<Complex64> = values.iter().map(|&x| Complex64::new(x, 0.0)).collect();
            setup.decryptor.encrypt(&values, largest, TOP + 1, &mut rng).expect("encrypts").0
        };
        Self { rows: encrypt(&rows, 1.0), weights: encrypt(&weights, largest_weight), sigmoid, expected }
    }

    /// Every feature times its weight.
    fn products(&self, engine: &Engine) -> Result<Ciphertext> {
        engine.rescale(&engine.multiply(&self.rows, &self.weights)?)
    }

    /// The probability of each row.
    fn probabilities(&self, engine: &Engine, sum: Sum<'_>) -> Result<Ciphertext> {
        let scores = sum(&self.products(engine)?)?.with_magnitude(LARGEST_SCORE);
        engine.evaluate(&self.sigmoid, &scores)
    }

    /// Panics unless every slot is what it should be.
    fn check(&self, setup: &Setup, what: &str, sum: Sum<'_>) {
        let got = self.probabilities(setup.engine(), sum).expect("keys and levels");
        setup.verify(what, &got, |j| Complex64::new(self.expected[j], 0.0));
    }
}
