//! `windlass-bench bootstrap --family exact-through-ckks`: refreshes of integers through CKKS, each compared
//! with the message, and their prices beside those of digit removal.

use std::sync::Arc;
use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};
use windlass::Error;
use windlass::bootstrap::exact_through_ckks::{
    ExactRefreshPlan, ExactRefreshSpec, ExactRefresher, RefreshCost, compare, exact_refresh_preset_names,
};
use windlass::bootstrap::{BootstrapPlan, BootstrapPreset, Mode};
use windlass::plaintext::Plaintext;
use windlass::rlwe::{Assurance, SecretKey};
use windlass::schemes::{Ciphertext, Decryptor, Engine, Scheme};
use windlass_papers::record::{self, Record};

use super::reach::{Build, Outcome};
use super::request::Bootstrap;
use crate::machine;
use crate::process_time::Stopwatch;
use crate::threads::with_threads;

/// Sets of digit removal with the plaintext modulus p^r that they refresh, beside which a refresh through
/// CKKS is priced. The ring of the last is that of 2^8.
const DIGIT_SETS: [(&str, (u64, u32)); 4] = [
    ("boot_m28679_p2", (2, 1)),
    ("boot_n32768_p257", (257, 1)),
    ("boot_n65536_p65537", (65537, 1)),
    ("boot_m69905_p2r8", (2, 16)),
];

/// A measured refresh with all its passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Measured {
    exact_preset: String,
    plaintext_prime: u64,
    plaintext_exponent: u32,
    security_bits: f64,
    log2_qp: f64,
    passes: usize,
    /// The products in sequence between two refreshes.
    products: u32,
    /// log2 of the noise bound that a refreshed ciphertext states.
    stated_noise_bits: f64,
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

/// Measures a set; prints the names of all with `list`, and with `prices` what both ways cost.
///
/// # Errors
/// A set that is not known; a record that cannot be written, before anything is measured; errors of plans,
/// keys and refreshes.
pub fn run(args: &Bootstrap) -> Outcome {
    if args.page.is_some() || args.plot.is_some() || args.together.is_some() {
        return Err("--page, --plot and --together are for --family ckks".into());
    }
    match args.preset.as_str() {
        "list" => exact_refresh_preset_names().for_each(|name| println!("{name}")),
        "prices" => DIGIT_SETS.into_iter().try_for_each(prices)?,
        name => {
            let start = Instant::now();
            let plan = Arc::new(ExactRefreshPlan::preset(name)?);
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
        }
    }
    Ok(())
}

/// What both ways cost for one plaintext modulus, by the prices of their plans. Nothing is timed.
fn prices((name, modulus): (&str, (u64, u32))) -> Result<(), Error> {
    let (p, r) = modulus;
    let through_ckks =
        ExactRefreshPlan::of_shape(&ExactRefreshSpec::new(1 << 16, modulus, (3, 26), Assurance::Secure)?)?;
    let set = BootstrapPreset::named(name, Mode::Thin)?;
    let line = |way: &str, cost: &RefreshCost| {
        println!(
            "  {way:<36} {:.2e} butterflies, {} products, {} {}, {:.2e} for a product of one",
            cost.butterflies,
            cost.products,
            cost.integers,
            if cost.in_slots { "slots" } else { "coefficients" },
            cost.for_a_product()
        );
    };
    println!("{p}^{r}, estimates by the planners");
    match BootstrapPlan::new(set.params.rlwe(), modulus, set.spec) {
        Ok(digits) => {
            let both = compare(&digits, &through_ckks);
            line(&format!("digit removal, {name}"), &both.digit_removal);
            line("through CKKS, n = 65536", &both.through_ckks);
            match both.cheaper() {
                Some(way) => println!("  cheaper: {way}"),
                None => println!("  not comparable: one way multiplies slots, the other polynomials"),
            }
        }
        Err(error) => {
            println!("  digit removal, {name}: {error}");
            line("through CKKS, n = 65536", &RefreshCost::of(&through_ckks));
        }
    }
    Ok(())
}

fn measure(args: &Bootstrap, plan: &Arc<ExactRefreshPlan>, plan_seconds: f64) -> Result<Record<Measured>, Error> {
    let mut rng = ChaCha20Rng::seed_from_u64(args.seed);
    let start = Instant::now();
    let secret = Arc::new(SecretKey::generate(plan.context(), &mut rng));
    let (evaluation, keys) = plan.generate_keys(&secret, &mut rng)?;
    let engine = Engine::new(Scheme::Bfv, plan.slot_ring(), evaluation)?;
    let refresher = ExactRefresher::new(plan, &engine, keys)?;
    let client = Decryptor::new(Scheme::Bfv, plan.slot_ring(), secret);
    let set_up_seconds = start.elapsed().as_secs_f64();
    println!("plan {plan_seconds:.1} s, keys and constants {set_up_seconds:.1} s");
    let spec = plan.spec();
    let message = random(plan, &mut rng)?;
    let input = spent(plan, &client, &message, &mut rng)?;
    let mut runs = Vec::new();
    for _ in 0..args.runs {
        let watch = Stopwatch::start();
        let refreshed = refresher.refresh(&input)?;
        let times = (watch.processor_seconds(), watch.seconds());
        let decrypted = client.decrypt(&refreshed)?;
        assert!(decrypted.coefficients() == message.coefficients(), "a refresh keeps the message");
        runs.push((times, refreshed.log2_noise()));
    }
    // On one thread by processor time, which other work beside it disturbs less.
    let seconds = |run: &((f64, f64), f64)| if args.threads == 1 { run.0.0 } else { run.0.1 };
    runs.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    let (least, median) = (seconds(&runs[0]), runs[runs.len() / 2]);
    println!("{}: {:.2} s, least {least:.2} s, noise stated 2^{:.1}", args.preset, seconds(&median), median.1);
    let params = plan.context().params();
    let of = Measured {
        exact_preset: args.preset.clone(),
        plaintext_prime: spec.prime,
        plaintext_exponent: spec.exponent,
        security_bits: params.security().bits,
        log2_qp: params.log2_qp(),
        passes: spec.passes,
        products: plan.depth_between(),
        stated_noise_bits: median.1,
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

/// Random coefficients modulo t.
fn random(plan: &ExactRefreshPlan, rng: &mut ChaCha20Rng) -> Result<Plaintext, Error> {
    let t = plan.spec().plaintext_modulus();
    Plaintext::new(plan.slot_ring(), (0..plan.slot_ring().n()).map(|_| rng.next_u64() % t).collect())
}

/// An encryption at the base modulus that states as much noise as the first pass can read, so that all passes
/// run.
fn spent(
    plan: &ExactRefreshPlan,
    client: &Decryptor,
    message: &Plaintext,
    rng: &mut ChaCha20Rng,
) -> Result<Ciphertext, Error> {
    let base = plan.ckks().context().base_level();
    let (ct, _) = client.encrypt(message, base, rng)?;
    let most = plan.context().log2_modulus(base) - 1.0 - plan.least_input_bits();
    Ok(ct.assume_noise(most))
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

    /// The toy set is measured with all its passes, and its record names them.
    #[test]
    fn the_toy_is_measured() {
        let toy = "insecure_toy_exact_1024_p257";
        let line = Line::parse_from(["bootstrap", "--family", "exact-through-ckks", "--preset", toy, "--runs", "1"]);
        let plan = Arc::new(ExactRefreshPlan::preset(toy).unwrap());
        let row = measure(&line.args, &plan, 0.0).unwrap();
        assert_eq!((row.of.passes, row.of.plaintext_prime, row.rounds), (3, 257, Some(1)));
        assert!(row.of.stated_noise_bits <= plan.output_noise() + 1e-6 && row.of.stated_noise_bits > 0.0);
    }

    #[test]
    fn unknown_sets_are_refused() {
        let error = ExactRefreshPlan::preset("exact_n99").unwrap_err().to_string();
        assert!(error.contains("exact_n65536_p65537"), "{error}");
    }
}
