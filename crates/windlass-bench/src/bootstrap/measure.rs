//! One measurement: prepares a bootstrapping, refreshes, verifies each result, and gives the
//! figures by stage.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::bootstrap::{
    BootstrapPlan, BootstrapPreset, Bootstrapper, Progress, RefreshOptions, StageTime, stage_times,
};
use windlass::circuits::SlotTable;
use windlass::rlwe::SecretKey;
use windlass::schemes::{Ciphertext, Decryptor};
use windlass::{Client, Content, Context, Error, Plaintext, Scheme, Server};

use super::circuit::Circuit;
use super::depth;
use super::figures::{self, Measured, Refresh, StageFigure};
use super::reach::Build;
use super::request::{Bootstrap, plan};
use super::table::Table;
use crate::machine;
use crate::process_time::Stopwatch;
use crate::record::Record;

/// One preset under one scheme: everything made ready, the refreshes, and what came of them.
pub fn one(args: &Bootstrap, preset: &BootstrapPreset, scheme: Scheme) -> Result<Measured, Error> {
    let ready = Ready::make(args, preset, scheme)?;
    let message = message(&ready, args)?;
    let (engine, decryptor) = (ready.server.engine(), ready.client.decryptor());
    let fresh = ready.client.encrypt_plaintext(&message)?;
    let spent = engine.reduce_level(&fresh, ready.plan.least_input_bits() + 10.0)?;
    let image = ready.image(&message)?;
    let runs = median_run(args, &ready, &decryptor, &spent, &image)?;
    if args.slack {
        print_slack(&ready.plan, ready.bootstrapper()?, ready.client.secret_key(), &spent)?;
    }
    let depth = |start, message| depth::of(engine, &decryptor, start, message);
    let depths = [depth(&fresh, &message)?, depth(&runs.median.image, &image)?];
    let in_fact = |start, message| depth::in_fact(engine, &decryptor, start, message);
    let depths_in_fact = [in_fact(&fresh, &message)?, in_fact(&runs.median.image, &image)?];
    let ([fresh, refreshed], [more, after]) = (depths, depths_in_fact);
    println!("a fresh ciphertext allows depth {fresh} ({more} in fact), a refreshed one {refreshed} ({after})");
    let measured = Record {
        cpu: machine::cpu(),
        threads: args.threads,
        median_s: runs.median_seconds,
        min_s: runs.least_seconds,
        yardsticks: None,
        rounds: Some(runs.count),
        of: ready.figures(args, preset, engine.capacity(&spent), &runs, [depths, depths_in_fact]),
    };
    figures::print(&measured);
    Ok(measured)
}

/// A plan with its keys and constants, and how long each took to make.
struct Ready {
    plan: Arc<BootstrapPlan>,
    client: Client,
    server: Server,
    content: Content,
    table: Option<(Table, SlotTable)>,
    plan_seconds: f64,
    key_seconds: f64,
    table_seconds: f64,
    key_bytes: usize,
}

impl Ready {
    fn make(args: &Bootstrap, preset: &BootstrapPreset, scheme: Scheme) -> Result<Self, Error> {
        let start = Instant::now();
        let plan = Arc::new(plan(preset)?);
        let plan_seconds = start.elapsed().as_secs_f64();
        println!("{scheme}: {}", plan.explain());
        let circuit = |table: Table| Ok::<_, Error>((table, table.circuit(plan.message_ring())?));
        let table = args.table.map(circuit).transpose()?;
        if let Some((_, circuit)) = &table {
            let left = plan.forecast_table(circuit)?.output_bits;
            println!("{}\nwith it {left:.0} bits are left by forecast", circuit.explain());
        }
        let context = Context::for_bootstrapping(preset.params.clone().with_scheme(scheme), preset.spec.clone())?;
        let start = Instant::now();
        let (client, server) = context.generate_keys_from_seed([&plan], args.seed)?;
        let key_seconds = start.elapsed().as_secs_f64();
        let own: usize = server.bootstrappings().map(|(_, keys)| keys.bytes()).sum();
        let key_bytes = server.engine().keys().bytes() + own;
        let content = if args.packed { Content::Elements } else { Content::Integers };
        let start = Instant::now();
        server.bootstrapper(content)?;
        let table_seconds = start.elapsed().as_secs_f64();
        println!(
            "plan {plan_seconds:.1} s, keys {key_seconds:.1} s ({:.2} GB), constants {table_seconds:.1} s",
            key_bytes as f64 / 1e9
        );
        Ok(Self { plan, client, server, content, table, plan_seconds, key_seconds, table_seconds, key_bytes })
    }

    fn bootstrapper(&self) -> Result<&Bootstrapper, Error> {
        self.server.bootstrapper(self.content)
    }

    /// One refresh, with the table if there is one.
    fn refresh(&self, ct: &Ciphertext, observe: impl FnMut(&Progress) -> ControlFlow<()>) -> Result<Ciphertext, Error> {
        let options = RefreshOptions::new().observed_by(observe);
        let options = match &self.table {
            None => options,
            Some((_, table)) => options.with_table(table),
        };
        self.bootstrapper()?.refresh_one(ct, options)
    }

    /// What a refresh makes of a message.
    fn image(&self, message: &Plaintext) -> Result<Plaintext, Error> {
        let Some((table, _)) = &self.table else { return Ok(message.clone()) };
        let modulus = message.slot_ring().modulus().value();
        let values: Vec<u64> = message.to_integers()?.into_iter().map(|x| table.value(x, modulus)).collect();
        Plaintext::from_integers(message.slot_ring(), &values)
    }

    /// The number of values in a message: one in each slot, or d.
    fn places(&self) -> usize {
        let slots = self.plan.message_ring();
        slots.slots() * if self.content == Content::Elements { slots.degree() } else { 1 }
    }

    /// The figures of runs on a ciphertext with this capacity, and the depths that a fresh one and
    /// a refreshed one allow, by bounds and in fact.
    fn figures(
        &self,
        args: &Bootstrap,
        preset: &BootstrapPreset,
        capacity_in: f64,
        runs: &Runs,
        [depths, in_fact]: [[usize; 2]; 2],
    ) -> Refresh {
        let (plan, median) = (&self.plan, &runs.median);
        let slot_bits = self.places() as f64 * (plan.message_ring().modulus().value() as f64).log2();
        let capacity_out = self.server.capacity(&median.image);
        Refresh {
            preset: preset.params.name().into(),
            mode: preset.spec.mode.to_string(),
            scheme: self.server.context().scheme().to_string(),
            circuit: Some(
                Circuit::of(plan, (args.weight, args.encapsulation))
                    .with_table(self.table.as_ref().map(|(table, circuit)| (table.name(), circuit))),
            ),
            slots: plan.message_ring().slots(),
            slot_bits,
            security_bits: preset.params.rlwe().security().bits,
            ephemeral_security_bits: plan.ephemeral_security_bits(),
            failure_bits: failure_bits(plan),
            plan_seconds: self.plan_seconds,
            key_seconds: self.key_seconds,
            table_seconds: self.table_seconds,
            key_bytes: self.key_bytes,
            stages: median.stages.clone(),
            total_seconds: median.seconds,
            processor_seconds: median.processor_seconds,
            capacity_in,
            capacity_out,
            depths: Some(depths),
            depths_in_fact: Some(in_fact),
            throughput_bits_per_second: (capacity_out - plan.least_input_bits()) * slot_bits / runs.median_seconds,
            peak_mebibytes: machine::peak_mebibytes(),
            date: Some(machine::today()),
            build: Build::this().and_then(|build| build.name()).ok(),
        }
    }
}

/// −log2 of the probability that the bound of the front end fails: with the parameters of a paper it
/// is not what the specification asks for.
fn failure_bits(plan: &BootstrapPlan) -> f64 {
    plan.formula().failure_bits
}

/// Random values in all places.
fn message(ready: &Ready, args: &Bootstrap) -> Result<Plaintext, Error> {
    let slots = ready.plan.message_ring();
    let (mut rng, modulus) = (ChaCha20Rng::seed_from_u64(args.seed), slots.modulus().value());
    let values: Vec<u64> = (0..ready.places()).map(|_| rng.next_u64() % modulus).collect();
    if args.packed { Plaintext::from_slots(slots, &values) } else { Plaintext::from_integers(slots, &values) }
}

/// One refresh.
struct Run {
    seconds: f64,
    processor_seconds: f64,
    stages: Vec<StageFigure>,
    image: Ciphertext,
}

/// Several refreshes of one ciphertext.
struct Runs {
    count: usize,
    least_seconds: f64,
    median_seconds: f64,
    median: Run,
}

/// Refreshes as often as was asked for, or until that took long enough.
fn median_run(
    args: &Bootstrap,
    ready: &Ready,
    decryptor: &Decryptor,
    spent: &Ciphertext,
    image: &Plaintext,
) -> Result<Runs, Error> {
    let start = Instant::now();
    let mut runs = Vec::new();
    while runs.is_empty() || runs.len() < args.runs && start.elapsed().as_secs_f64() < args.enough_seconds {
        runs.push(one_run(ready, decryptor, spent, image)?);
    }
    // On one thread by processor time, which other work beside it disturbs less.
    let seconds = |run: &Run| if args.threads == 1 { run.processor_seconds } else { run.seconds };
    runs.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    let (count, least_seconds) = (runs.len(), seconds(&runs[0]));
    let median = runs.swap_remove(count / 2);
    Ok(Runs { count, least_seconds, median_seconds: seconds(&median), median })
}

/// Times a refresh stage by stage and verifies it.
fn one_run(ready: &Ready, decryptor: &Decryptor, spent: &Ciphertext, wanted: &Plaintext) -> Result<Run, Error> {
    let mut reports: Vec<(Progress, Instant)> = Vec::new();
    let watch = Stopwatch::start();
    let image = ready.refresh(spent, |progress| {
        reports.push((progress.clone(), Instant::now()));
        ControlFlow::Continue(())
    })?;
    let (seconds, processor_seconds) = (watch.seconds(), watch.processor_seconds());
    assert!(decryptor.decrypt(&image)? == *wanted, "the message survives");
    Ok(Run { seconds, processor_seconds, stages: stage_times(&reports).into_iter().map(figure).collect(), image })
}

/// As a figure.
pub(super) fn figure(stage: StageTime) -> StageFigure {
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
    let options = RefreshOptions::new().traced_by(|progress, ct| {
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
    });
    bootstrapper.refresh_one(ct, options)?;
    outcome
}

#[cfg(test)]
mod tests {
    use windlass::bootstrap::{BootstrapSpec, Mode};
    use windlass_papers::bootstrap::appendix_a;
    use windlass_papers::halevi_shoup_2015::NearPrimePower;

    use super::*;

    /// e, e', α and t of 2015 promise 2^−19 for 18631, whatever is asked for.
    #[test]
    fn the_recorded_probability_is_that_of_the_plan() {
        let BootstrapPreset { params, spec } = BootstrapPreset::named("paper_hs15_18631", Mode::Thin).unwrap();
        let (found, weight) = appendix_a::published(params.m(), (2, 1)).unwrap();
        let front_end = NearPrimePower::spec(found).front_end;
        let published = BootstrapSpec { front_end, ephemeral_weight: weight, ..spec.clone() };
        let bits = |spec| failure_bits(&plan(&BootstrapPreset { params: params.clone(), spec }).unwrap());
        assert_eq!((bits(published).round(), bits(spec)), (19.0, 128.0));
    }
}
