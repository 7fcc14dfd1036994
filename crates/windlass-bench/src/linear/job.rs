//! One cell of the tables: a plan that fits into memory, run and timed.

use std::io;

use windlass::Plaintext;
use windlass::circuits::{ConstantForm, LinearMap, LinearPlan, PlanSpec, PreparedPlan};
use windlass::schemes::{Ciphertext, Decryptor, Engine};
use windlass_papers::linear::columns::Column;

use super::measured::{Measured, Product};
use crate::machine;
use crate::process_time::Stopwatch;
use crate::threads::pool;
use crate::yardstick;

/// How much memory there is, and what one key and one constant take.
pub struct Room {
    /// For everything.
    pub bytes: usize,
    /// One key.
    pub key: usize,
    /// One constant in evaluation form.
    pub constant: usize,
    /// One constant as coefficients.
    pub packed: usize,
}

impl Room {
    /// A plan that fits in; with as few constants as coefficients as it must, if `pack` allows.
    pub fn plan(&self, map: &LinearMap, mut spec: PlanSpec, pack: bool) -> Result<LinearPlan, String> {
        let plan = |spec: &PlanSpec| LinearPlan::new(map, spec).map_err(|error| error.to_string());
        let bytes = |plan: &LinearPlan, constant: usize| {
            plan.count().keys * self.key + plan.count().constant_products * constant
        };
        let evaluated = plan(&spec)?;
        if bytes(&evaluated, self.constant) <= self.bytes {
            return Ok(evaluated);
        }
        let rest = self.bytes.saturating_sub(bytes(&evaluated, self.packed));
        if pack && rest > 0 {
            (spec.constants, spec.constant_bytes) = (ConstantForm::Automatic, rest);
            return plan(&spec);
        }
        Err(format!("left out, it takes {:.1} GB", bytes(&evaluated, self.constant) as f64 / 1e9))
    }
}

/// Runs of one plan continue for at most this many seconds, except a single run.
const MOST_SECONDS: f64 = 20.0;

/// One plan to measure.
pub struct Job<'a> {
    /// Which map on which ring; what the plan takes is filled in.
    pub product: Product,
    /// The column.
    pub column: &'a Column,
    /// The plan.
    pub plan: &'a LinearPlan,
    /// An evaluator with its keys.
    pub engine: &'a Engine,
}

impl Job<'_> {
    /// All numbers of threads.
    pub fn run(
        &self,
        input: &Ciphertext,
        decryptor: &Decryptor,
        expected: &Plaintext,
        threads: &[usize],
        rounds: usize,
        keep: &mut impl FnMut(Measured) -> io::Result<()>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let single = pool(1);
        if self.column.threaded {
            // Once more, so that memory is there: the first time the system hands it out, which a
            // guest may pay dearly for.
            drop(single.install(|| self.plan.prepare(self.engine))?);
        }
        let watch = Stopwatch::start();
        let prepared = single.install(|| self.plan.prepare(self.engine))?;
        let convert = watch.processor_seconds();
        for &threads in if self.column.threaded { threads } else { &[1] } {
            let pool = pool(threads);
            let apply = || pool.install(|| self.plan.apply(&prepared, self.engine, input));
            let watch = Stopwatch::start();
            let output = apply()?;
            let rounds = rounds.min((MOST_SECONDS / watch.seconds()) as usize).max(1);
            assert!(decryptor.decrypt(&output)? == *expected, "{} is wrong", self.column.name);
            let samples = Samples::take(|| drop(apply()), threads, rounds);
            let spent = self.engine.capacity(input) - self.engine.capacity(&output);
            keep(self.record(&prepared, &samples, threads, convert, spent))?;
        }
        Ok(())
    }

    fn record(
        &self,
        prepared: &PreparedPlan<Engine>,
        samples: &Samples,
        threads: usize,
        convert_s: f64,
        capacity_bits: f64,
    ) -> Measured {
        let count = self.plan.count();
        Measured {
            cpu: machine::cpu(),
            threads,
            median_s: samples.seconds[samples.seconds.len() / 2],
            min_s: samples.seconds[0],
            yardsticks: samples.yardsticks.get(samples.yardsticks.len() / 2).copied(),
            rounds: Some(samples.seconds.len()),
            of: Product {
                column: self.column.name.clone(),
                strategy: self.plan.strategy().to_string() + if prepared.expanded() > 0 { "+coefficients" } else { "" },
                predicted_s: self.plan.price() / 1e3,
                keys: count.keys,
                key_bytes: self.engine.keys().bytes(),
                constants: count.constant_products,
                constant_bytes: prepared.bytes(),
                convert_s,
                capacity_bits,
                ..self.product.clone()
            },
        }
    }
}

/// Times of several runs, ascending: in seconds, and in those of a yardstick taken before each.
struct Samples {
    seconds: Vec<f64>,
    yardsticks: Vec<f64>,
}

impl Samples {
    fn take(apply: impl Fn(), threads: usize, rounds: usize) -> Self {
        let (mut seconds, mut yardsticks) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let yardstick = yardstick::beside();
            let watch = Stopwatch::start();
            apply();
            let run = if threads == 1 { watch.processor_seconds() } else { watch.seconds() };
            seconds.push(run);
            yardsticks.extend(yardstick.map(|t| run / t));
        }
        seconds.sort_by(f64::total_cmp);
        yardsticks.sort_by(f64::total_cmp);
        Self { seconds, yardsticks }
    }
}
