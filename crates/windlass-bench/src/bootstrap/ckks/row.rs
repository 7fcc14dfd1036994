//! One row: refreshes of one kind of input, each compared with the plain values.

use std::ops::ControlFlow;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::bootstrap::Progress;
use windlass::schemes::ckks::{Ciphertext, Complex64};
use windlass::{Approximate, Error, Server};
use windlass_papers::ckks::figures::{Input, Measured, Refresh};
use windlass_papers::ckks::reach;
use windlass_papers::record::Record;

use super::super::reach::Build;
use super::super::request::Bootstrap;
use super::ready::Ready;
use super::speeds;
use super::stages::{Marks, Stages};
use crate::machine;
use crate::process_time::Stopwatch;

/// Refreshes `together` inputs in one call, as often as was asked for.
pub fn measured(args: &Bootstrap, ready: &Ready, input: Input, together: usize) -> Result<Measured, Error> {
    let Ready { client, server, plan, .. } = ready;
    let Inputs { messages, spent } = Inputs::new(ready, (input, together), args.seed)?;
    let before: Vec<Vec<Complex64>> = spent.iter().map(|ct| client.decrypt_complex(ct)).collect::<Result<_, _>>()?;
    let [mut errors, mut with_the_inputs] = [(); 2].map(|()| Errors::default());
    let mut runs = Vec::new();
    for _ in 0..args.runs {
        let run = Run::new(server, input, &spent, args.threads == 1)?;
        for (number, refreshed) in run.refreshed.iter().enumerate() {
            let after = client.decrypt_complex(refreshed)?;
            errors.add(input, &before[number], &after);
            with_the_inputs.add(input, &messages[number], &after);
        }
        runs.push(run);
    }
    let stated_bits = runs[0].refreshed.iter().map(Ciphertext::precision_bits).fold(f64::INFINITY, f64::min);
    assert!(with_the_inputs.worst_bits() >= stated_bits, "the error is below what the result states");
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let (least, count) = (runs[0].seconds, runs.len());
    let median = runs.swap_remove(count / 2);
    let (mean, worst) = (errors.mean_bits(), errors.worst_bits());
    println!(
        "{input:?} x {together}: {:.2} s, least {least:.2} s, {mean:.1} bits in the mean, {worst:.1} worst, \
         {stated_bits:.1} stated",
        median.seconds,
    );
    let params = plan.context().rlwe().params();
    let speeds = speeds::measured(plan.context().rlwe().ring(), params.q_primes().len());
    let stages = median.stages.figures(params.n(), &speeds);
    for stage in &stages {
        println!("  {:<40} {:>7.3} s, floor {:>7.3} s", stage.name, stage.seconds, stage.floor_seconds);
    }
    let refresher = server.refresher(plan.spec().slots)?;
    let of = Refresh {
        preset: args.preset.clone(),
        input,
        together,
        dimension: params.n(),
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
        stages,
        total_seconds: median.total_seconds,
        speeds,
        load: Some(machine::load()).filter(|load| !load.is_nan()),
        peak_mebibytes: machine::peak_mebibytes(),
        date: machine::today(),
        build: Build::this().and_then(|build| build.name()).ok(),
        reach: Vec::new(),
    };
    let mut row = Record {
        cpu: machine::cpu(),
        threads: args.threads,
        median_s: median.seconds,
        min_s: least,
        yardsticks: None,
        rounds: Some(count),
        of,
    };
    row.of.reach = reach::of_row(&row).verdicts().collect();
    Ok(row)
}

/// Messages, and their encryptions at the lowest level that can be refreshed.
struct Inputs {
    messages: Vec<Vec<Complex64>>,
    spent: Vec<Ciphertext>,
}

impl Inputs {
    /// Random numbers of absolute value at most 1 in all slots.
    fn new(ready: &Ready, (input, together): (Input, usize), seed: u64) -> Result<Self, Error> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut part = || f64::from(rng.next_u32()) / 2f64.powi(31) - 1.0;
        let mut slot = || match input {
            Input::Complex => Complex64::new(part(), part()) / 2f64.sqrt(),
            Input::RealPair => Complex64::new(part(), 0.0),
        };
        let count = together * if input == Input::Complex { 1 } else { 2 };
        let slots = ready.plan.spec().slots;
        let messages: Vec<Vec<Complex64>> = (0..count).map(|_| (0..slots).map(|_| slot()).collect()).collect();
        let level = ready.plan.input_level();
        let lowered =
            |message: &Vec<Complex64>| ready.server.engine().lower(&ready.client.encrypt_complex(message, 1.0)?, level);
        let spent = messages.iter().map(lowered).collect::<Result<_, _>>()?;
        Ok(Self { messages, spent })
    }
}

/// One call.
struct Run {
    refreshed: Vec<Ciphertext>,
    /// On one thread of the processor, which other work beside it disturbs less.
    seconds: f64,
    /// By the clock.
    total_seconds: f64,
    stages: Stages,
}

impl Run {
    fn new(server: &Server<Approximate>, input: Input, list: &[Ciphertext], by_processor: bool) -> Result<Self, Error> {
        let (watch, mut marks) = (Stopwatch::start(), Marks::start(by_processor));
        let observe = |progress: &Progress| {
            marks.add(progress);
            ControlFlow::Continue(())
        };
        let refreshed = match input {
            Input::Complex => server.refresh_list(list, observe)?,
            Input::RealPair => server.refresh_real_list(list, observe)?,
        };
        let total_seconds = watch.seconds();
        let seconds = if by_processor { watch.processor_seconds() } else { total_seconds };
        Ok(Self { refreshed, seconds, total_seconds, stages: marks.stages() })
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
