//! `windlass-bench bootstrap --family precise`: refreshes of CKKS in several passes, each compared with the message.

use std::sync::Arc;
use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};
use windlass::Error;
use windlass::bootstrap::approximate::precise::{PreciseRefreshPlan, PreciseRefresher, precise_refresh_preset_names};
use windlass::rlwe::{EvaluationKeys, SecretKey};
use windlass::schemes::ckks::{Decryptor, Engine, Wide, WideComplex};
use windlass_papers::record::{self, Record};

use super::reach::{Build, Outcome};
use super::request::Bootstrap;
use crate::machine;
use crate::process_time::Stopwatch;
use crate::threads::with_threads;

/// A measured refresh with all its passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Measured {
    precise_preset: String,
    slots: usize,
    security_bits: f64,
    ephemeral_security_bits: f64,
    log2_qp: f64,
    passes: usize,
    /// What each of them gains.
    pass_bits: u32,
    /// Products in sequence that a refreshed ciphertext has room for.
    products: usize,
    /// −log2 of the mean and of the largest error of a slot, in all runs.
    mean_bits: f64,
    worst_bits: f64,
    /// What the result states: as expected, and as a bound.
    stated_bits: f64,
    bound_bits: f64,
    key_bytes: usize,
    constant_bytes: usize,
    plan_seconds: f64,
    /// Of keys and constants.
    set_up_seconds: f64,
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
        precise_refresh_preset_names().for_each(|name| println!("{name}"));
        return Ok(());
    }
    let start = Instant::now();
    let plan = Arc::new(PreciseRefreshPlan::preset(&args.preset)?);
    println!("{}", machine::describe());
    println!("{}", plan.explain());
    if args.explain {
        return Ok(());
    }
    args.record.iter().try_for_each(|path| record::open(path).map(drop))?;
    machine::reset_peak();
    let plan_seconds = start.elapsed().as_secs_f64();
    let row = with_threads(args.threads, || measure(args, &plan, plan_seconds))?;
    args.record.iter().try_for_each(|path| record::append(path, std::slice::from_ref(&row)))?;
    Ok(())
}

fn measure(args: &Bootstrap, plan: &Arc<PreciseRefreshPlan>, plan_seconds: f64) -> Result<Record<Measured>, Error> {
    let mut rng = ChaCha20Rng::seed_from_u64(args.seed);
    let start = Instant::now();
    let context = plan.context();
    let secret = Arc::new(SecretKey::generate(context.rlwe(), &mut rng));
    let mut evaluation = EvaluationKeys::of(&secret);
    let keys = plan.add_keys(&mut evaluation, &secret, &mut rng)?;
    let engine = Engine::new(context, Arc::new(evaluation))?;
    let refresher = PreciseRefresher::new(plan, &engine, keys)?;
    let client = Decryptor::new(context, secret)?;
    let set_up_seconds = start.elapsed().as_secs_f64();
    println!("plan {plan_seconds:.1} s, keys and constants {set_up_seconds:.1} s");
    let spec = plan.spec();
    let message = random(spec.refresh.slots, &mut rng);
    let (input, _) = client.encrypt_wide(&message, 1.0, context.base_level(), &mut rng)?;
    let (mut runs, mut errors) = (Vec::new(), Vec::new());
    for _ in 0..args.runs {
        let watch = Stopwatch::start();
        let refreshed = refresher.refresh(&input)?;
        let times = (watch.processor_seconds(), watch.seconds());
        let decrypted = client.decrypt_wide(&refreshed)?;
        errors.extend(decrypted.iter().zip(&message).map(|(a, b)| (*a - *b).norm()));
        runs.push((times, (refreshed.precision_bits(), -refreshed.error_bound().log2())));
    }
    let worst_bits = -errors.iter().copied().fold(0.0, f64::max).log2();
    let mean_bits = -(errors.iter().sum::<f64>() / errors.len() as f64).log2();
    let (stated_bits, bound_bits) = runs[0].1;
    assert!(worst_bits >= stated_bits, "the error is below what the result states");
    // On one thread by processor time, which other work beside it disturbs less.
    let seconds = |run: &((f64, f64), (f64, f64))| if args.threads == 1 { run.0.0 } else { run.0.1 };
    runs.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    let (least, median) = (seconds(&runs[0]), runs[runs.len() / 2]);
    println!(
        "{}: {:.2} s, least {least:.2} s, {mean_bits:.1} bits in the mean, {worst_bits:.1} worst, {stated_bits:.1} stated, {bound_bits:.1} as a bound",
        args.preset,
        seconds(&median)
    );
    let params = context.rlwe().params();
    let of = Measured {
        precise_preset: args.preset.clone(),
        slots: spec.refresh.slots,
        security_bits: params.security().bits,
        ephemeral_security_bits: plan.pass().ephemeral_security().bits,
        log2_qp: params.log2_qp(),
        passes: spec.passes,
        pass_bits: spec.pass_bits,
        products: spec.depth,
        mean_bits,
        worst_bits,
        stated_bits,
        bound_bits,
        key_bytes: refresher.key_bytes(),
        constant_bytes: refresher.constant_bytes(),
        plan_seconds,
        set_up_seconds,
        total_seconds: median.0.1,
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
        rounds: Some(runs.len()),
        of,
    })
}

/// Numbers of absolute value at most 1 with more bits than doubles have.
fn random(count: usize, rng: &mut ChaCha20Rng) -> Vec<WideComplex> {
    let mut part = || {
        let mut word = || (rng.next_u64() >> 12) as f64 / 2f64.powi(51) - 1.0;
        Wide::sum(word(), word() * 2f64.powi(-54)) * Wide::from(std::f64::consts::FRAC_1_SQRT_2)
    };
    (0..count).map(|_| WideComplex { re: part(), im: part() }).collect()
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

    /// The toy set is measured with all its passes, and what it states is near what is seen.
    #[test]
    fn the_toy_is_measured() {
        let toy = "insecure_toy_precise_1024";
        let line = Line::parse_from(["bootstrap", "--family", "precise", "--preset", toy, "--runs", "2"]);
        let plan = Arc::new(PreciseRefreshPlan::preset(toy).unwrap());
        let row = measure(&line.args, &plan, 0.0).unwrap();
        assert_eq!((row.of.passes, row.of.slots, row.rounds), (3, 512, Some(2)));
        assert!(row.of.worst_bits > 70.0 && row.of.worst_bits < row.of.stated_bits + 4.0);
        assert!(row.of.bound_bits < row.of.stated_bits && row.of.mean_bits > row.of.worst_bits);
    }
}
