//! Sums of 2^7 slots for every h, grid point, instruction set and number of threads.

use std::collections::BTreeSet;

use windlass::circuits::{TraceChain, TracePlan, TraceSpec};
use windlass::schemes::ckks::{CkksSpec, Complex64};
use windlass_kernels::Isa;

use super::args::Trace;
use super::keep::keep;
use super::results::{GRID, Results};
use super::setup::{STEPS, Setup, key_bytes, long_spec, spec};
use crate::threads::with_threads;
use crate::timing::{Sample, subject};

/// Runs the grid.
pub fn run(args: &Trace, results: &mut Results) {
    for (k, l) in GRID.into_iter().filter(|&(k, l)| args.measures(k, l)) {
        args.isas().into_iter().for_each(|isa| point(args, results, Kind { part: "sum", spec: spec(k) }, (k, l), isa));
    }
}

/// Runs the places of the grid where the paper's P is longer than ours, with one of its length, on
/// the fastest instruction set.
pub fn run_long(args: &Trace, results: &mut Results) {
    let Some(isa) = args.isas().into_iter().last() else { return };
    for (k, l) in GRID.into_iter().filter(|&(k, l)| args.measures(k, l) && long_spec(k) != spec(k)) {
        point(args, results, Kind { part: "long", spec: long_spec(k) }, (k, l), isa);
    }
}

/// What the results are called, and the parameters.
struct Kind {
    part: &'static str,
    spec: CkksSpec,
}

fn point(args: &Trace, results: &mut Results, Kind { part, spec }: Kind, (k, l): (u32, usize), isa: Isa) {
    let chain = TraceChain::window(1 << 16, 1, 1 << STEPS).expect("5 is a unit");
    let plans: Vec<TracePlan> = (1..=STEPS as usize)
        .map(|h| TracePlan::new(&chain, &TraceSpec::with_groups(h)).expect("h is at most M"))
        .filter(|plan| plan.required_keys().len() as f64 * key_bytes(&spec, l) < args.memory * (1u64 << 30) as f64)
        .collect();
    let elements: BTreeSet<u64> = plans.iter().flat_map(TracePlan::required_keys).collect();
    let setup = Setup::new(&spec, l, isa, &elements);
    let window = expected(&setup.values);
    for plan in &plans {
        let sum = plan.apply(setup.engine(), &setup.ciphertext).expect("all keys are there");
        setup.verify(&format!("k={k} l={l} h={} {}", plan.groups(), isa.name()), &sum, |j| window[j]);
    }
    let sum = chain.sequential(setup.engine(), &setup.ciphertext).expect("all keys are there");
    setup.verify("sequential", &sum, |j| window[j]);
    let best = Some(&isa) == args.isas().last();
    for &threads in &args.threads {
        // In between one and all, the fastest instruction set alone.
        if !best && args.threads.first() != Some(&threads) && args.threads.last() != Some(&threads) {
            continue;
        }
        let samples = with_threads(threads, || timed(args, &setup, &chain, &plans, threads));
        samples.iter().for_each(|sample| keep(results, part, (k, l), sample, (isa, threads)));
    }
}

fn timed(args: &Trace, setup: &Setup, chain: &TraceChain, plans: &[TracePlan], threads: usize) -> Vec<Sample> {
    let (engine, ct) = (setup.engine(), &setup.ciphertext);
    let mut subjects: Vec<_> =
        plans.iter().map(|plan| subject(plan.groups().to_string(), move || drop(plan.apply(engine, ct)))).collect();
    subjects.push(subject("0", move || drop(chain.sequential(engine, ct))));
    args.compare(&mut subjects, threads)
}

/// Slot j of the window sums, by differences of running sums.
fn expected(values: &[Complex64]) -> Vec<Complex64> {
    let width = 1 << STEPS;
    let mut sum: Complex64 = values[..width].iter().sum();
    (0..values.len())
        .map(|j| {
            let this = sum;
            sum += values[(j + width) % values.len()] - values[j];
            this
        })
        .collect()
}
