//! Descriptions of plans and refreshes.

use serde_json::{Value, json};
use windlass::bootstrap::approximate::RefreshPlan;
use windlass::bootstrap::approximate::precise::PreciseRefreshPlan;
use windlass::bootstrap::exact_through_ckks::ExactRefreshPlan;
use windlass::bootstrap::{BatchPlan, KeyBytes, Mode, StageTime};

use super::approximate_setup::Setup;
use super::args::RefreshArgs;
use super::names::all_names;
use super::setup::Planned;
use crate::error::Result;
use crate::progress::Stages;
use crate::report::{Report, rounded_down};

/// What the server knows about a refresh.
pub struct Refreshed {
    pub stages: Vec<StageTime>,
    pub capacity: (f64, f64),
    pub bytes: u64,
    pub packed: bool,
}

/// `windlass refresh --preset list`.
pub fn list() -> Report {
    let mut report = Report::default();
    let names: Vec<&str> = all_names().collect();
    names.iter().for_each(|name| report.line(*name));
    report.field("presets", names);
    report
}

/// `windlass refresh --explain`.
pub fn explain(args: &RefreshArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let planned = Planned::new(args.preset.as_deref(), args.way, &mut stages)?;
    let seconds = stages.run("estimate", "timing a transform", || planned.plan.estimated_seconds())?;
    let (plan, bytes) = (&planned.plan, planned.plan.key_bytes());
    let mut report = Report::default();
    plan.explain().lines().for_each(|line| report.line(line));
    let digits = if seconds < 0.1 { 4 } else { 1 };
    describe_batches(&mut report, &planned, &mut stages);
    report.line(format!("one refresh takes about {seconds:.digits$} s on one thread of this machine"));
    describe_keys(&mut report, &bytes);
    report.field("preset", planned.preset.params.name());
    report.field("stages", plan.stages().iter().map(of_stage).collect::<Vec<Value>>());
    report.field("estimated_seconds", seconds);
    report.field("least_input_bits", plan.least_input_bits());
    report.field("output_bits", plan.output_bits());
    report.field("failure_bits", plan.failure_bits());
    report.field("slots", plan.message_ring().slots());
    report.field("galois_keys", plan.required_keys().len());
    report.field("evaluation_memory_bytes", bytes.evaluation_memory);
    report.field("security_bits", planned.security_bits());
    report.field("ephemeral_security_bits", rounded_down(plan.ephemeral_security_bits()));
    Ok(report)
}

/// Thin refreshes under the same parameters, and batches.
fn plan_batches(planned: &Planned, stages: &mut Stages) -> Result<(Planned, BatchPlan)> {
    let thin = planned.to_mode(Mode::Thin, stages)?;
    let batches = stages.run("batches", "planning batches", || BatchPlan::new(&planned.plan))?;
    Ok((thin, batches))
}

/// Packed: what batches of ciphertexts with integers cost beside thin refreshes, or why they cannot
/// be compared.
fn describe_batches(report: &mut Report, planned: &Planned, stages: &mut Stages) {
    if planned.preset.spec.mode == Mode::Thin {
        return;
    }
    let (thin, batches) = match plan_batches(planned, stages) {
        Ok(both) => both,
        Err(error) => return report.line(format!("no batches: {error}")),
    };
    batches.explain(&thin.plan).lines().for_each(|line| report.line(line));
    let size = batches.size();
    report.field("batch_size", size);
    report.field("batch_price", batches.price(size) / (size as f64 * thin.plan.price()));
    report.field("batch_least_input_bits", batches.least_input_bits());
    report.field("batch_output_bits", batches.output_bits());
    report.field("batch_failure_bits", batches.failure_bits());
}

/// What the server knows about a refresh of CKKS.
pub struct Renewed {
    pub stages: Vec<StageTime>,
    /// Products that were left, and that are.
    pub levels: [usize; 2],
    /// Stated bits of precision, before and after.
    pub bits: [f64; 2],
    pub bytes: u64,
}

/// `windlass refresh --explain` for a set of CKKS.
pub fn explain_approximate(setup: &Setup) -> Result<Report> {
    let mut report = match &setup.passes {
        None => explain_plan(&setup.plan)?,
        Some(plan) => explain_passes(plan),
    };
    report.field("preset", setup.name.as_str());
    report.field("security_bits", setup.security_bits());
    Ok(report)
}

/// A refresh of CKKS before anything is made: stages, error, keys.
pub fn explain_plan(plan: &RefreshPlan) -> Result<Report> {
    let (bytes, error, seconds) = (plan.key_bytes(), plan.error()?, plan.estimated_seconds());
    let mut report = Report::default();
    plan.explain().lines().for_each(|line| report.line(line));
    let digits = if seconds < 0.1 { 4 } else { 1 };
    report.line(format!("one refresh takes about {seconds:.digits$} s on one thread of this machine"));
    describe_keys(&mut report, &bytes);
    report.field("estimated_seconds", seconds);
    report.field("stages", plan.stages().iter().map(of_stage).collect::<Vec<Value>>());
    report.field("output_bits", plan.output_bits());
    report.field("levels", plan.spec().depth);
    report.field("slots", plan.spec().slots);
    report.field("error_bits", -error.deviation().log2());
    report.field("systematic_error_bits", -error.systematic.log2());
    report.field("most", plan.most());
    report.field("galois_keys", plan.galois_levels().len());
    report.field("evaluation_memory_bytes", bytes.evaluation_memory);
    report.field("ephemeral_security_bits", rounded_down(plan.ephemeral_security().bits));
    Ok(report)
}

/// A refresh in several passes before anything is made: stages of a pass, error, keys.
pub fn explain_passes(plan: &PreciseRefreshPlan) -> Report {
    let mut report = Report::default();
    plan.explain().lines().for_each(|line| report.line(line));
    describe_passes(&mut report, plan.pass(), plan.estimated_seconds());
    report.field("passes", plan.spec().passes);
    report.field("output_bits", plan.output_bits());
    report.field("levels", plan.spec().depth);
    report.field("error_bits", plan.precision_bits());
    report.field("most", plan.most());
    report
}

/// A refresh through CKKS before anything is made: stages of a pass, capacity, keys.
pub fn explain_exact(plan: &ExactRefreshPlan) -> Report {
    let mut report = Report::default();
    plan.explain().lines().for_each(|line| report.line(line));
    describe_passes(&mut report, plan.ckks(), plan.estimated_seconds());
    report.field("passes", plan.spec().passes);
    report.field("least_input_bits", plan.least_input_bits());
    report.field("output_bits", plan.output_bits());
    report.field("depth_between_refreshes", plan.depth_between());
    report.field("failure_bits", plan.failure_bits());
    report
}

/// The CKKS refresh of a pass, and the time of all passes.
fn describe_passes(report: &mut Report, pass: &RefreshPlan, seconds: f64) {
    let bytes = pass.key_bytes();
    let digits = if seconds < 0.1 { 4 } else { 1 };
    report.line(format!("one refresh takes about {seconds:.digits$} s on one thread of this machine"));
    describe_keys(report, &bytes);
    report.field("estimated_seconds", seconds);
    report.field("stages", pass.stages().iter().map(of_stage).collect::<Vec<Value>>());
    report.field("slots", pass.spec().slots);
    report.field("galois_keys", pass.galois_levels().len());
    report.field("evaluation_memory_bytes", bytes.evaluation_memory);
    report.field("ephemeral_security_bits", rounded_down(pass.ephemeral_security().bits));
}

/// Stages, times, levels and precision.
pub fn describe_renewed(report: &mut Report, made: &Renewed) {
    describe_stages(report, &made.stages);
    let ([before, after], [stated, left]) = (made.levels, made.bits);
    report.line(format!("products in sequence: {before} before, {after} after"));
    report.line(format!("stated error: 2^-{stated:.1} before, 2^-{left:.1} after"));
    report.field("levels", vec![before, after]);
    report.field("precision_bits", vec![stated, left]);
}

/// Decrypted numbers up to the last that is not 0; text shows the first few.
pub fn describe_reals(report: &mut Report, values: &[f64]) {
    const MOST: usize = 32;
    let shown: Vec<String> = values.iter().take(MOST).map(|value| format!("{value:.6}")).collect();
    let rest = if values.len() > MOST { format!(" and {} more", values.len() - MOST) } else { String::new() };
    report.line(format!("values: {}{rest}", shown.join(",")));
    report.field("values", values.to_vec());
}

/// Bytes of keys before they are made.
fn describe_keys(report: &mut Report, bytes: &KeyBytes) {
    report.line("keys, before they are made");
    report.bytes(&[
        ("secret.key", bytes.secret),
        ("public.key", bytes.public),
        ("evaluation.keys", bytes.evaluation),
        ("bootstrap.keys", bytes.bootstrap),
    ]);
    report.line(format!("  {:<22}{:>12} bytes", "evaluation, in memory", bytes.evaluation_memory));
}

fn of_stage(stage: &windlass::bootstrap::Stage) -> Value {
    json!({ "name": stage.name.to_string(), "level": stage.level, "capacity_bits": [stage.capacity.0, stage.capacity.1],
            "keys": stage.keys.len(), "times": stage.times, "work": stage.work })
}

/// Stages and times.
fn describe_stages(report: &mut Report, stages: &[StageTime]) {
    for stage in stages {
        report.line(format!("  {:<38}{:>9.3} s, from {:.0} bits", stage.name, stage.seconds, stage.capacity.0));
    }
    let of_stage =
        |stage: &StageTime| json!({ "name": stage.name, "seconds": stage.seconds, "capacity_bits": stage.capacity.0 });
    report.field("stages", stages.iter().map(of_stage).collect::<Vec<Value>>());
}

/// Stages, times and capacity.
pub fn describe_refresh(report: &mut Report, made: &Refreshed) {
    describe_stages(report, &made.stages);
    let (before, after) = made.capacity;
    report.line(format!("capacity: {before:.1} bits before, {after:.1} after"));
    report.field("packed", made.packed);
    report.field("capacity_bits", vec![before, after]);
}

/// Decrypted values up to the last that is not 0; text shows the first few.
pub fn describe_values(report: &mut Report, values: &[u64]) {
    const MOST: usize = 32;
    let end = values.iter().rposition(|&value| value != 0).map_or(1, |last| last + 1).min(values.len());
    let shown: Vec<String> = values[..end.min(MOST)].iter().map(u64::to_string).collect();
    let rest = if end > MOST { format!(" and {} more", end - MOST) } else { String::new() };
    report.line(format!("values: {}{rest}; the rest is 0", shown.join(",")));
    report.field("values", values[..end].to_vec());
}
