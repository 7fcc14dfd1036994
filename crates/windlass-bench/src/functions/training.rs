//! A logistic regression on encrypted rows, compared with the same steps in the clear.

use std::error::Error;
use std::fs::read_to_string;
use std::ops::ControlFlow;

use windlass::Context;
use windlass::bootstrap::approximate::RefreshSpec;
use windlass::bootstrap::training::TrainingSpec;
use windlass_papers::record::{Record, named};

use super::args::Functions;
use super::measured::{Measured, row, timed};
use crate::machine;
use crate::process_time::Stopwatch;

/// How many deviations the largest of some thirty weights may be off by: a normal number is beyond with
/// probability 2^−44.
const MOST_DEVIATIONS: f64 = 8.0;

/// Measures the training, or prints its plan.
pub fn run(args: &Functions) -> Result<Option<Record<Measured>>, Box<dyn Error>> {
    let watch = Stopwatch::start();
    let text = read_to_string(&args.table).map_err(|error| named(&args.table, &error))?;
    let preset = args.preset.as_deref().unwrap_or("refresh_n65536_slots32");
    let context = Context::refreshing(&RefreshSpec::preset(preset)?)?;
    let bound = TrainingSpec::new(1, 1, 1).feature_bound;
    let (rows, labels) = table(&text, bound).map_err(|reason| format!("{}: {reason}", args.table.display()))?;
    let training = context.training(&TrainingSpec::new(rows.len(), rows[0].len(), args.steps))?;
    println!("{}", training.explain());
    if args.explain {
        return Ok(None);
    }
    let plain = training.in_the_clear(&rows, &labels)?;
    let (client, server) = context.generate_keys_from_seed([&training], args.seed)?;
    server.refresher(training.refresh().spec().slots)?;
    let set_up_seconds = watch.seconds();
    println!("plan, keys and constants {set_up_seconds:.1} s");
    let data = client.encrypt_training(&training, &rows, &labels)?;
    let stated = training.deviation();
    let (mut seconds, mut worst) = (Vec::new(), 0f64);
    for _ in 0..args.runs {
        let run = || server.train(&training, &data, |_| ControlFlow::Continue(()));
        let (result, took) = timed(args.threads, run);
        let found = client.decrypt_training(&training, &result?)?;
        let pairs = found.weights.iter().zip(&plain.weights).chain([(&found.bias, &plain.bias)]);
        worst = pairs.map(|(a, b)| (a - b).abs()).fold(worst, f64::max);
        if worst.is_nan() || worst > MOST_DEVIATIONS * stated {
            return Err(
                format!("a weight is off by {worst:e}, above {MOST_DEVIATIONS} deviations of {stated:e}").into()
            );
        }
        seconds.push(took);
    }
    let spec = training.refresh().spec();
    let of = Measured {
        function: "training".to_owned(),
        preset: preset.to_owned(),
        dimension: spec.n,
        slots: spec.slots,
        security_bits: context.ckks().rlwe().params().security().bits,
        ciphertexts: data.len(),
        refreshes: training.refreshes(),
        depth: args.steps * training.levels_per_step(),
        worst_bits: -worst.log2(),
        stated_bits: -stated.log2(),
        set_up_seconds,
        total_seconds: 0.0,
        peak_mebibytes: 0.0,
        date: machine::today(),
    };
    Ok(Some(row(args, seconds, of)))
}

/// Standardised features, clipped at a bound, and 1 for each `M`.
fn table(text: &str, bound: f64) -> Result<(Vec<Vec<f64>>, Vec<f64>), String> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
    let place = names.iter().position(|&name| name == "diagnosis").ok_or("there is no column diagnosis")?;
    let features: Vec<usize> = (0..names.len()).filter(|&k| k != place && names[k] != "id").collect();
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for (number, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |k: usize| cells.get(k)?.parse::<f64>().ok().filter(|x| x.is_finite());
        let row: Option<Vec<f64>> = features.iter().map(|&k| cell(k)).collect();
        rows.push(row.ok_or_else(|| format!("line {} does not hold a number for each feature", number + 2))?);
        labels.push(match cells.get(place) {
            Some(&"M") => 1.0,
            Some(&"B") => 0.0,
            _ => return Err(format!("line {} has a diagnosis other than M or B", number + 2)),
        });
    }
    if rows.is_empty() || features.is_empty() {
        return Err("there are no rows with features".to_owned());
    }
    let count = rows.len() as f64;
    for column in 0..features.len() {
        let mean = rows.iter().map(|row: &Vec<f64>| row[column]).sum::<f64>() / count;
        let deviation = (rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / count).sqrt();
        if deviation == 0.0 {
            return Err(format!("all numbers of column {} are equal: leave it out", names[features[column]]));
        }
        rows.iter_mut().for_each(|row| row[column] = ((row[column] - mean) / deviation).clamp(-bound, bound));
    }
    Ok((rows, labels))
}
