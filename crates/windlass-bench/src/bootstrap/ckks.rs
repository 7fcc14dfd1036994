//! `windlass-bench bootstrap --family ckks`: refreshes of real and complex numbers, by stage, each compared
//! with the message.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use windlass::bootstrap::approximate::{RefreshPlan, RefreshSpec, refresh_preset_names};
use windlass::bootstrap::{Progress, stage_times};
use windlass::schemes::ckks::{Ciphertext, Complex64};
use windlass::{Approximate, Client, Context, Error, Server};
use windlass_papers::bootstrap::figures::StageFigure;
use windlass_papers::record::{self, Record};

use super::reach::{Build, Outcome};
use super::request::Bootstrap;
use crate::machine;
use crate::process_time::Stopwatch;
use crate::threads::with_threads;

/// What is refreshed in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Input {
    /// One ciphertext of complex slots.
    Complex,
    /// Two ciphertexts of real slots.
    RealPair,
}

/// A measured refresh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Measured {
    preset: String,
    input: Input,
    slots: usize,
    security_bits: f64,
    ephemeral_security_bits: f64,
    log2_qp: f64,
    /// Bits of the modulus that products may drop after a refresh.
    bits_left: f64,
    /// −log2 of the mean and of the largest error of a slot, in all runs.
    mean_bits: f64,
    worst_bits: f64,
    /// What the result states.
    stated_bits: f64,
    key_bytes: usize,
    constant_bytes: usize,
    plan_seconds: f64,
    key_seconds: f64,
    constant_seconds: f64,
    /// Of the median run.
    stages: Vec<StageFigure>,
    /// By the clock.
    total_seconds: f64,
    peak_mebibytes: f64,
    date: String,
    build: Option<String>,
}

/// Measures a set, or prints the names of all.
///
/// # Errors
/// A set that is not known; a record that cannot be written, before anything is measured; errors of plans,
/// keys and refreshes.
pub fn run(args: &Bootstrap) -> Outcome {
    if args.preset == "list" {
        refresh_preset_names().for_each(|name| println!("{name}"));
        return Ok(());
    }
    let spec = spec(&args.preset)?;
    println!("{}", machine::describe());
    if args.explain {
        println!("{}", RefreshPlan::new(&spec)?.explain());
        return Ok(());
    }
    args.record.iter().try_for_each(|path| record::open(path).map(drop))?;
    machine::reset_peak();
    let rows = with_threads(args.threads, || measure(args, &spec))?;
    args.record.iter().try_for_each(|path| record::append(path, &rows))?;
    Ok(())
}

/// A named set, or that of a file.
fn spec(name: &str) -> Outcome<RefreshSpec> {
    if Path::new(name).extension().is_none_or(|extension| extension != "json") {
        return Ok(RefreshSpec::preset(name)?);
    }
    let text = std::fs::read_to_string(name).map_err(|error| record::named(Path::new(name), &error))?;
    Ok(RefreshSpec::from_json(&text)?)
}

/// Who takes part, and what it took to make them ready.
struct Ready {
    client: Client<Approximate>,
    server: Server<Approximate>,
    plan: std::sync::Arc<RefreshPlan>,
    plan_seconds: f64,
    key_seconds: f64,
    constant_seconds: f64,
}

impl Ready {
    fn new(spec: &RefreshSpec, seed: u64) -> Result<Self, Error> {
        let start = Instant::now();
        let context = Context::refreshing(spec)?;
        let plan = context.refresh()?;
        let plan_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let (client, server) = context.generate_keys_from_seed([&plan], seed)?;
        let key_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        server.refresher(spec.slots)?;
        let constant_seconds = start.elapsed().as_secs_f64();
        println!("plan {plan_seconds:.1} s, keys {key_seconds:.1} s, constants {constant_seconds:.1} s");
        Ok(Self { client, server, plan, plan_seconds, key_seconds, constant_seconds })
    }
}

fn measure(args: &Bootstrap, spec: &RefreshSpec) -> Result<Vec<Record<Measured>>, Error> {
    let ready = Ready::new(spec, args.seed)?;
    let mut inputs = vec![Input::Complex];
    inputs.extend(ready.plan.takes_real_pairs().then_some(Input::RealPair));
    inputs.into_iter().map(|input| row(args, &ready, input)).collect()
}

/// Refreshes as often as was asked for, each compared with the message.
fn row(args: &Bootstrap, ready: &Ready, input: Input) -> Result<Record<Measured>, Error> {
    let Ready { client, server, plan, .. } = ready;
    let list = spent(ready, input, args.seed)?;
    let before: Vec<Vec<Complex64>> = list.iter().map(|ct| client.decrypt_complex(ct)).collect::<Result<_, _>>()?;
    let mut errors = Errors::default();
    let mut runs = Vec::new();
    for _ in 0..args.runs {
        let run = Run::new(server, input, &list)?;
        for (before, after) in before.iter().zip(&run.refreshed) {
            errors.add(input, before, &client.decrypt_complex(after)?);
        }
        runs.push(run);
    }
    let stated_bits = runs[0].refreshed.iter().map(Ciphertext::precision_bits).fold(f64::INFINITY, f64::min);
    assert!(errors.worst_bits() >= stated_bits, "the error is below what the result states");
    // On one thread by processor time, which other work beside it disturbs less.
    let seconds = |run: &Run| if args.threads == 1 { run.processor_seconds } else { run.seconds };
    runs.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    let (least, count) = (seconds(&runs[0]), runs.len());
    let median = runs.swap_remove(count / 2);
    let (mean, worst) = (errors.mean_bits(), errors.worst_bits());
    println!(
        "{input:?}: {:.2} s, least {least:.2} s, {mean:.1} bits in the mean, {worst:.1} worst, {stated_bits:.1} stated",
        seconds(&median),
    );
    median.stages.iter().for_each(|stage| println!("  {:<40} {:>7.3} s", stage.name, stage.seconds));
    let params = plan.context().rlwe().params();
    let refresher = server.refresher(plan.spec().slots)?;
    let of = Measured {
        preset: args.preset.clone(),
        input,
        slots: plan.spec().slots,
        security_bits: params.security().bits,
        ephemeral_security_bits: plan.ephemeral_security().bits,
        log2_qp: params.log2_qp(),
        bits_left: plan.output_bits(),
        mean_bits: mean,
        worst_bits: worst,
        stated_bits,
        key_bytes: refresher.key_bytes(),
        constant_bytes: refresher.constant_bytes(),
        plan_seconds: ready.plan_seconds,
        key_seconds: ready.key_seconds,
        constant_seconds: ready.constant_seconds,
        stages: median.stages.clone(),
        total_seconds: median.seconds,
        peak_mebibytes: machine::peak_mebibytes(),
        date: machine::today(),
        build: Build::this().and_then(|build| build.name()).ok(),
    };
    Ok(Record {
        cpu: machine::cpu(),
        threads: args.threads,
        median_s: seconds(&median),
        min_s: least,
        yardsticks: None,
        rounds: Some(count),
        of,
    })
}

/// Random numbers of absolute value at most 1 in all slots, at the lowest level that can be refreshed.
fn spent(ready: &Ready, input: Input, seed: u64) -> Result<Vec<Ciphertext>, Error> {
    use rand_core::{RngCore, SeedableRng};
    let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(seed);
    let mut part = || f64::from(rng.next_u32()) / 2f64.powi(31) - 1.0;
    let mut message = |real: bool| -> Vec<Complex64> {
        let one = |_| if real { Complex64::new(part(), 0.0) } else { Complex64::new(part(), part()) / 2f64.sqrt() };
        (0..ready.plan.spec().slots).map(one).collect()
    };
    let messages = match input {
        Input::Complex => vec![message(false)],
        Input::RealPair => vec![message(true), message(true)],
    };
    let level = ready.plan.input_level();
    let lowered =
        |message: Vec<Complex64>| ready.server.engine().lower(&ready.client.encrypt_complex(&message, 1.0)?, level);
    messages.into_iter().map(lowered).collect()
}

/// One call.
struct Run {
    refreshed: Vec<Ciphertext>,
    seconds: f64,
    processor_seconds: f64,
    stages: Vec<StageFigure>,
}

impl Run {
    fn new(server: &Server<Approximate>, input: Input, list: &[Ciphertext]) -> Result<Self, Error> {
        let mut reports: Vec<(Progress, Instant)> = Vec::new();
        let watch = Stopwatch::start();
        let observe = |progress: &Progress| {
            reports.push((progress.clone(), Instant::now()));
            ControlFlow::Continue(())
        };
        let refreshed = match input {
            Input::Complex => server.refresh_list(list, observe)?,
            Input::RealPair => server.refresh_real_list(list, observe)?,
        };
        let (seconds, processor_seconds) = (watch.seconds(), watch.processor_seconds());
        let stages = stage_times(&reports).into_iter().map(super::measure::figure).collect();
        Ok(Self { refreshed, seconds, processor_seconds, stages })
    }
}

/// Of all slots of all runs.
#[derive(Default)]
struct Errors {
    sum: f64,
    count: usize,
    largest: f64,
}

impl Errors {
    fn add(&mut self, input: Input, before: &[Complex64], after: &[Complex64]) {
        for (a, b) in before.iter().zip(after) {
            let error = if input == Input::RealPair { (a.re - b.re).abs() } else { (a - b).norm() };
            (self.sum, self.count, self.largest) = (self.sum + error, self.count + 1, self.largest.max(error));
        }
    }

    fn mean_bits(&self) -> f64 {
        -(self.sum / self.count as f64).log2()
    }

    fn worst_bits(&self) -> f64 {
        -self.largest.log2()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Bootstrap,
    }

    /// The toy set in a release of its own: a row for complex slots, and one for pairs where there are any.
    #[test]
    fn the_toy_is_measured_and_recorded() {
        let toy = "insecure_toy_refresh_1024";
        let line = Line::parse_from(["bootstrap", "--family", "ckks", "--preset", toy, "--runs", "2"]);
        let first = RefreshSpec::preset(toy).unwrap();
        let rows = measure(&line.args, &first).unwrap();
        assert_eq!(rows.iter().map(|row| row.of.input).collect::<Vec<_>>(), [Input::Complex]);
        assert_eq!(rows[0].rounds, Some(2));
        assert_eq!(rows[0].of.stages.len(), 9);
        assert!(rows[0].of.worst_bits > 20.0 && rows[0].of.mean_bits > rows[0].of.worst_bits);
    }

    #[test]
    fn unknown_sets_are_refused() {
        assert!(spec("refresh_n99").unwrap_err().to_string().contains("refresh_n65536"));
        assert!(spec("missing.json").unwrap_err().to_string().starts_with("missing.json"));
    }
}
