//! `windlass-bench bootstrap`: time, capacity and memory by stage, the result verified.

mod appendix_a;
mod chen_han;
mod circuit;
mod depth;
mod digits_table;
mod figures;
mod page;
mod peers;
mod reach;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::bootstrap::{
    BootstrapPlan, BootstrapPreset, BootstrapSpec, Bootstrapper, Encapsulation, FrontEnd, Mode, Order, Partition,
    Progress, StageTime, Transform, Unpacking, bootstrap_preset_names, stage_times,
};
use windlass::circuits::Method;
use windlass::rlwe::SecretKey;
use windlass::schemes::{Ciphertext, Decryptor};
use windlass::{Content, Context, Error, Params, Plaintext, Scheme};
use windlass_ring::slots::SlotRing;

use crate::process_time::Stopwatch;
use crate::record::Record;
use crate::ring_args::Moduli;
use crate::threads::with_threads;
use crate::{machine, record};
use circuit::Circuit;
use figures::{Measured, Refresh, StageFigure};

/// Arguments of `bootstrap`.
#[derive(Debug, clap::Args)]
pub struct Bootstrap {
    /// The preset; `list` prints the names.
    #[arg(long, default_value = "list")]
    preset: String,
    /// Instead of a preset: the cyclotomic index, with --p and --primes.
    #[arg(long, requires_all = ["p", "primes"], conflicts_with = "preset")]
    m: Option<u64>,
    /// The prime of the plaintext modulus p^r.
    #[arg(long, requires = "m")]
    p: Option<u64>,
    /// The exponent of the plaintext modulus p^r.
    #[arg(long, requires = "m", default_value_t = 1)]
    r: u32,
    #[command(flatten)]
    moduli: Moduli,
    /// Instead of a preset: digit removal alone, the rows of Chen–Han 2018, Table 3, by every
    /// method.
    #[arg(long)]
    digits_table: bool,
    /// Instead of a preset: the parameters of Halevi–Shoup 2015 by the rule of its Appendix A, beside
    /// the published ones and ours.
    #[arg(long)]
    appendix_a: bool,
    #[command(flatten)]
    reach: reach::Reach,
    /// How stages of the linear maps are merged, unless given one by one: standard, least-time,
    /// most-capacity, paper (Table 3 of Ma et al.) or single (one map each way, small rings alone).
    #[arg(long, default_value = "standard")]
    partition: Partition,
    /// The elementary stages for powers of two: automatic, radix2 or bruun.
    #[arg(long, default_value = "automatic")]
    transform: Transform,
    /// All slots of degree d instead of integers.
    #[arg(long)]
    packed: bool,
    /// How packed ciphertexts come apart: automatic, constants, monomials or monomials-in-slots.
    #[arg(long, default_value = "automatic")]
    unpacking: Unpacking,
    /// BGV, BFV, or both, one after the other.
    #[arg(long, value_delimiter = ',', default_value = "bgv", value_name = "SCHEMES")]
    scheme: Vec<Scheme>,
    /// Where the packed maps to the coefficients stand: automatic, to-coefficients-first or
    /// to-coefficients-last.
    #[arg(long, default_value = "automatic")]
    order: Order,
    /// The method of digit removal.
    #[arg(long, default_value = "automatic")]
    digits: Method,
    /// The decryption formula: prime-power (modulus p^e) or near-prime-power (p^e + 1, of 2015).
    #[arg(long, default_value = "prime-power")]
    front_end: FrontEnd,
    /// The weight of the ephemeral secret instead of the preset's.
    #[arg(long)]
    weight: Option<u32>,
    /// How ciphertexts come under the ephemeral secret: special-primes, or digits. A preset has its
    /// own way.
    #[arg(long)]
    encapsulation: Option<Encapsulation>,
    /// Merged stages to the slots end after these elementary ones.
    #[arg(long, value_delimiter = ',')]
    to_slots: Option<Vec<usize>>,
    /// Merged stages to the coefficients end after these elementary ones.
    #[arg(long, value_delimiter = ',')]
    to_coefficients: Option<Vec<usize>>,
    /// Number of threads.
    #[arg(long, default_value_t = 1, value_parser = crate::threads::number())]
    threads: usize,
    /// How often to refresh; the median run is reported.
    #[arg(long, default_value_t = 1)]
    runs: usize,
    /// Seed of keys and messages.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Refresh once more and print for each stage by how many bits the bound on its noise exceeds
    /// the noise itself.
    #[arg(long)]
    slack: bool,
    /// Only print the plan.
    #[arg(long)]
    explain: bool,
    /// Append the figures to a record: one line of JSON for each measurement, or for each row of
    /// --reach. Pages are made of several, the oldest first.
    #[arg(long, visible_alias = "json", value_name = "FILE")]
    record: Vec<PathBuf>,
    /// Measure nothing: make the page of tables of a record.
    #[arg(long, value_name = "FILE", requires = "record")]
    page: Option<PathBuf>,
    /// Measure nothing: draw where the time goes by a record.
    #[arg(long, value_name = "FILE", requires = "record")]
    plot: Option<PathBuf>,
}

/// Runs the measurement.
pub fn run(args: &Bootstrap) -> Result<(), Box<dyn std::error::Error>> {
    if args.appendix_a {
        print!("{}", appendix_a::table()?);
        return Ok(());
    }
    if args.digits_table {
        println!("{}", machine::describe());
        return Ok(with_threads(args.threads, digits_table::run)?);
    }
    if args.reach.reach {
        println!("{}", machine::describe());
        return reach::run(&args.reach, args.runs, args.record.first().map(PathBuf::as_path));
    }
    if args.page.is_some() || args.plot.is_some() {
        return render(args);
    }
    if args.preset == "list" && args.m.is_none() {
        bootstrap_preset_names().for_each(|name| println!("{name}"));
        return Ok(());
    }
    let preset = preset(args)?;
    println!("{}", machine::describe());
    // A record that cannot be written is refused before anything is measured.
    args.record.iter().try_for_each(|path| record::open(path).map(drop))?;
    if args.explain {
        let plan = plan(&preset)?;
        let (price, seconds) = (plan.price(), plan.estimated_seconds()?);
        println!("{}\nprice {price:.0} transforms of one row, about {seconds:.2} s a refresh", plan.explain());
        let [to_coefficients, to_slots] = plan.unfactored()?;
        println!("in one map, to the coefficients: {to_coefficients}\nin one map, to the slots: {to_slots}");
        return Ok(());
    }
    for &scheme in &args.scheme {
        machine::reset_peak();
        let measured = with_threads(args.threads, || measure(args, &preset, scheme))?;
        args.record.iter().try_for_each(|path| record::append(path, std::slice::from_ref(&measured)))?;
    }
    Ok(())
}

/// The page and the plot of the records.
fn render(args: &Bootstrap) -> Result<(), Box<dyn std::error::Error>> {
    let mut all: Vec<Measured> = Vec::new();
    for path in &args.record {
        all.extend(record::read(path, figures::key)?);
    }
    if let Some(page) = &args.page {
        crate::page::write(page, &page::text(&all))?;
    }
    if let Some(plot) = &args.plot {
        crate::page::write(plot, &page::plot(&all)?)?;
    }
    Ok(())
}

/// The preset, or the parameters given one by one, with all that was chosen by name.
fn preset(args: &Bootstrap) -> Result<BootstrapPreset, Box<dyn std::error::Error>> {
    if args.m.is_none() && args.moduli.name().is_some() {
        return Err("--primes is for parameters of one's own: it needs --m and --p".into());
    }
    let mode = if args.packed { Mode::Packed } else { Mode::Thin };
    let mut preset = match (args.m, args.p, args.m.and_then(|m| args.moduli.spec(m))) {
        (Some(m), Some(p), Some(spec)) => {
            let name = format!("m={m} p^r={p}^{} {}", args.r, args.moduli.name().unwrap_or_default());
            let params = Params::new(&name, Scheme::Bgv, (p, args.r), None, spec)?;
            BootstrapPreset { params, spec: BootstrapSpec { mode, ..BootstrapSpec::default() } }
        }
        _ => BootstrapPreset::named(&args.preset, mode)?,
    };
    preset.spec = BootstrapSpec {
        digits: args.digits,
        ephemeral_weight: args.weight.unwrap_or(preset.spec.ephemeral_weight),
        encapsulation: args.encapsulation.unwrap_or(preset.spec.encapsulation),
        partition: args.partition,
        front_end: args.front_end,
        unpacking: args.unpacking,
        order: args.order,
        transform: args.transform,
        to_slots: args.to_slots.clone(),
        to_coefficients: args.to_coefficients.clone(),
        ..preset.spec
    };
    Ok(preset)
}

fn plan(preset: &BootstrapPreset) -> Result<BootstrapPlan, Error> {
    let modulus = (preset.params.p(), preset.params.r());
    BootstrapPlan::new(preset.params.rlwe(), modulus, preset.spec.clone())
}

fn measure(args: &Bootstrap, preset: &BootstrapPreset, scheme: Scheme) -> Result<Measured, Error> {
    let start = Instant::now();
    let plan = Arc::new(plan(preset)?);
    let plan_seconds = start.elapsed().as_secs_f64();
    println!("{scheme}: {}", plan.explain());
    let context = Context::for_bootstrapping(preset.params.clone().with_scheme(scheme), preset.spec.clone())?;
    let start = Instant::now();
    let (client, server) = context.generate_keys_from_seed([&plan], args.seed)?;
    let key_seconds = start.elapsed().as_secs_f64();
    let own: usize = server.bootstrappings().map(|(_, keys)| keys.bytes()).sum();
    let key_bytes = server.engine().keys().bytes() + own;
    let content = if args.packed { Content::Elements } else { Content::Integers };
    let start = Instant::now();
    let bootstrapper = server.bootstrapper(content)?;
    let table_seconds = start.elapsed().as_secs_f64();
    println!(
        "plan {plan_seconds:.1} s, keys {key_seconds:.1} s ({:.2} GB), constants {table_seconds:.1} s",
        key_bytes as f64 / 1e9
    );
    let slots = plan.message_ring();
    let places = slots.slots() * if args.packed { slots.degree() } else { 1 };
    let message = message(slots, places, args)?;
    let (engine, decryptor) = (server.engine(), client.decryptor());
    let fresh = client.encrypt_plaintext(&message)?;
    let spent = engine.reduce_level(&fresh, plan.least_input_bits() + 10.0)?;
    let runs = (0..args.runs.max(1)).map(|_| one_run(bootstrapper, &decryptor, &spent, &message));
    let mut runs = runs.collect::<Result<Vec<_>, Error>>()?;
    // On one thread by processor time, which other work beside it disturbs less.
    let seconds = |run: &Run| if args.threads == 1 { run.processor_seconds } else { run.seconds };
    runs.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    let (count, least_seconds) = (runs.len(), seconds(&runs[0]));
    let median = runs.swap_remove(count / 2);
    let typical = seconds(&median);
    if args.slack {
        print_slack(&plan, bootstrapper, client.secret_key(), &spent)?;
    }
    let depth = |start| depth::of(engine, &decryptor, start, &message);
    let depths = [depth(&fresh)?, depth(&median.image)?];
    println!("a fresh ciphertext allows depth {}, a refreshed one {}", depths[0], depths[1]);
    let slot_bits = places as f64 * (slots.modulus().value() as f64).log2();
    let capacity_out = engine.capacity(&median.image);
    let of = Refresh {
        preset: preset.params.name().into(),
        mode: preset.spec.mode.to_string(),
        scheme: scheme.to_string(),
        circuit: Some(Circuit::of(&plan, (args.weight, args.encapsulation))),
        slots: slots.slots(),
        slot_bits,
        security_bits: preset.params.rlwe().security().bits,
        ephemeral_security_bits: plan.ephemeral_security_bits(),
        failure_bits: preset.spec.failure_bits,
        plan_seconds,
        key_seconds,
        table_seconds,
        key_bytes,
        stages: median.stages,
        total_seconds: median.seconds,
        processor_seconds: median.processor_seconds,
        capacity_in: engine.capacity(&spent),
        capacity_out,
        depths: Some(depths),
        throughput_bits_per_second: (capacity_out - plan.least_input_bits()) * slot_bits / typical,
        peak_mebibytes: machine::peak_mebibytes(),
    };
    let measured = Record {
        cpu: machine::cpu(),
        threads: args.threads,
        median_s: typical,
        min_s: least_seconds,
        yardsticks: None,
        rounds: Some(count),
        of,
    };
    figures::print(&measured);
    Ok(measured)
}

/// Random values in all places.
fn message(slots: &Arc<SlotRing>, places: usize, args: &Bootstrap) -> Result<Plaintext, Error> {
    let (mut rng, modulus) = (ChaCha20Rng::seed_from_u64(args.seed), slots.modulus().value());
    let values: Vec<u64> = (0..places).map(|_| rng.next_u64() % modulus).collect();
    if args.packed { Plaintext::from_slots(slots, &values) } else { Plaintext::from_integers(slots, &values) }
}

/// One refresh.
struct Run {
    seconds: f64,
    processor_seconds: f64,
    stages: Vec<StageFigure>,
    image: Ciphertext,
}

/// Times a refresh stage by stage and verifies it.
fn one_run(
    bootstrapper: &Bootstrapper,
    decryptor: &Decryptor,
    spent: &Ciphertext,
    message: &Plaintext,
) -> Result<Run, Error> {
    let mut reports: Vec<(Progress, Instant)> = Vec::new();
    let watch = Stopwatch::start();
    let image = bootstrapper.refresh_with(spent, |progress| {
        reports.push((progress.clone(), Instant::now()));
        ControlFlow::Continue(())
    })?;
    let (seconds, processor_seconds) = (watch.seconds(), watch.processor_seconds());
    assert!(decryptor.decrypt(&image)? == *message, "the message survives");
    Ok(Run { seconds, processor_seconds, stages: stage_times(&reports).into_iter().map(figure).collect(), image })
}

/// As a figure.
fn figure(stage: StageTime) -> StageFigure {
    let StageTime { name, times, seconds, capacity: (capacity_before, capacity_after) } = stage;
    StageFigure { name, times, seconds, capacity_before, capacity_after }
}

/// Bound and truth of the ciphertext that enters each stage. The truth needs the secret key.
fn print_slack(
    plan: &BootstrapPlan,
    bootstrapper: &Bootstrapper,
    secret: &Arc<SecretKey>,
    ct: &Ciphertext,
) -> Result<(), Error> {
    let [message, working] = [plan.message_ring(), plan.working_ring()];
    let mut outcome = Ok(());
    println!("{:<40} {:>6} {:>12} {:>12} {:>6}", "before stage", "level", "noise bound", "noise", "slack");
    bootstrapper.refresh_traced(ct, |progress, ct| {
        if progress.round > 0 {
            return ControlFlow::Continue(());
        }
        let slots = if ct.exponent() == plan.formula().message_exponent { message } else { working };
        let truth = Decryptor::new(ct.scheme(), slots, Arc::clone(secret)).exact_noise_leaks_the_secret_key(ct);
        match truth {
            Ok(truth) => println!(
                "{:<40} {:>6} {:>12.1} {:>12.1} {:>6.1}",
                if progress.stage.is_empty() { "(end)" } else { &progress.stage },
                ct.level(),
                ct.log2_noise(),
                truth,
                ct.log2_noise() - truth
            ),
            Err(error) => outcome = Err(error),
        }
        ControlFlow::Continue(())
    })?;
    outcome
}
