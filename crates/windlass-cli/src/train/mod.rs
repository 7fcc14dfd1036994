//! `windlass train`: a logistic model is trained on encrypted rows, and compared with the training in the
//! clear.

mod args;

use std::ops::ControlFlow;
use std::path::Path;

use serde_json::json;
use windlass::bootstrap::approximate::RefreshSpec;
use windlass::bootstrap::training::{TrainedWeights, Training, TrainingProgress, TrainingSpec};
use windlass::wire::{Access, write_new};
use windlass::{Approximate, Context};
use windlass_scoring::Standardisation;

pub use args::TrainArgs;

use crate::error::{CliError, Result};
use crate::files::claim_parameters;
use crate::memory;
use crate::progress::Stages;
use crate::report::{Report, rounded_down};
use crate::score::Features;
use crate::security::vouch;

/// Rows, standardised, with their labels.
struct Task {
    features: Features,
    standardisation: Standardisation,
    rows: Vec<Vec<f64>>,
    labels: Vec<f64>,
}

/// A model in double precision, and the one that was decrypted.
struct Trained {
    plain: TrainedWeights,
    found: TrainedWeights,
}

/// `windlass train`.
pub fn run(args: &TrainArgs, quiet: bool) -> Result<Report> {
    let _claimed = args.out.as_deref().map(claim_parameters).transpose()?;
    let mut stages = Stages::new(quiet);
    let task = stages.run("table", "reading the table", || Task::read(args))?;
    let (context, training) = stages.run("plan", "planning and building transforms", || plan(args, &task))?;
    let bits = rounded_down(context.ckks().rlwe().params().security().bits);
    let mut report = Report::default();
    let prices = context.prices();
    training.explain_at(&prices).lines().for_each(|line| report.line(line));
    report.field("refreshes", training.refreshes());
    report.field("levels_per_step", training.levels_per_step());
    report.field("security_bits", bits);
    if args.explain {
        return Ok(report);
    }
    vouch(&args.preset, bits, "", false, quiet)?;
    if !quiet {
        report.print_ahead();
    }
    let trained = train(&context, &training, &task, &mut stages)?;
    describe(&mut report, &task, &trained);
    if let Some(out) = &args.out {
        let bytes = write_model(out, &task, &trained.found)?;
        report.made("model", out, bytes);
    }
    report.seconds(stages.seconds());
    Ok(report)
}

impl Task {
    fn read(args: &TrainArgs) -> Result<Self> {
        let Some(label) = &args.columns.label else {
            return Err(CliError::Usage("give --label COLUMN, the column that holds the class".into()));
        };
        let features = Features::read(&args.table, &args.columns, None)?;
        let positive = args.positive.as_deref().unwrap_or("1");
        let labels: Vec<f64> =
            features.column(label)?.iter().map(|value| f64::from(u8::from(*value == positive))).collect();
        if labels.iter().all(|&x| x == 1.0) || labels.iter().all(|&x| x == 0.0) {
            return Err(CliError::Usage(format!(
                "{}: column '{label}' must hold '{positive}' in some rows and not in others; name the value of one class with --positive",
                args.table.display()
            )));
        }
        let bound = TrainingSpec::new(1, 1, 1).feature_bound;
        let own = Standardisation::of(&features.rows)?;
        let standardisation = Standardisation::new(own.means().to_vec(), own.scales().to_vec(), bound, true)?;
        let rows = features.rows.iter().map(|row| standardisation.apply(row)).collect::<windlass::Result<_>>()?;
        Ok(Self { features, standardisation, rows, labels })
    }

    /// The share of rows whose class a model gives.
    fn accuracy(&self, model: &TrainedWeights) -> windlass::Result<f64> {
        let mut right = 0;
        for (row, &label) in self.rows.iter().zip(&self.labels) {
            right += usize::from((model.score(row)? > 0.0) == (label == 1.0));
        }
        Ok(right as f64 / self.rows.len() as f64)
    }
}

fn plan(args: &TrainArgs, task: &Task) -> Result<(Context<Approximate>, Training)> {
    let context = Context::refreshing(&RefreshSpec::preset(&args.preset)?)?;
    let (rows, features) = (task.rows.len(), task.standardisation.features());
    let spec = TrainingSpec { rate: args.rate, degree: args.degree, ..TrainingSpec::new(rows, features, args.steps) };
    let training = context.training(&spec)?;
    Ok((context, training))
}

fn train(context: &Context<Approximate>, training: &Training, task: &Task, stages: &mut Stages) -> Result<Trained> {
    let plain = stages.run("clear", "training in the clear", || training.in_the_clear(&task.rows, &task.labels))?;
    memory::check("the keys", training.refresh().key_bytes().evaluation_memory)?;
    let count = training.key_count();
    let (client, server) = stages.count("keygen", "client: making keys", count, |tick| {
        context.generate_keys_observed([training], |_, _| tick())
    })?;
    let data = stages
        .run("encrypt", "client: encrypting rows", || client.encrypt_training(training, &task.rows, &task.labels))?;
    let result = stages.follow("train", "server: training on encrypted rows", |tell| {
        server.train(training, &data, |progress: &TrainingProgress| {
            if progress.step < progress.steps {
                tell(if progress.is_refresh { "refresh" } else { "step" }, progress.step, progress.steps);
            }
            ControlFlow::Continue(())
        })
    })?;
    let found = stages.run("decrypt", "client: decrypting weights", || client.decrypt_training(training, &result))?;
    Ok(Trained { plain, found })
}

fn describe(report: &mut Report, task: &Task, Trained { plain, found }: &Trained) {
    let all = |own: &TrainedWeights| own.weights.iter().copied().chain([own.bias]).collect::<Vec<f64>>();
    let difference = all(plain).iter().zip(all(found)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let [clear, encrypted] = [plain, found].map(|model| task.accuracy(model).unwrap_or(0.0));
    report.line(format!("largest difference of a weight from the training in the clear: {difference:.1e}"));
    report.line(format!("accuracy on the rows: {clear:.4} in the clear, {encrypted:.4} encrypted"));
    report.field("rows", task.rows.len());
    report.field("largest_difference", difference);
    report.field("accuracy_plain", clear);
    report.field("accuracy_encrypted", encrypted);
}

/// As `windlass score` reads it.
fn write_model(out: &Path, task: &Task, model: &TrainedWeights) -> Result<u64> {
    let own = &task.standardisation;
    let json = json!({
        "weights": model.weights,
        "bias": model.bias,
        "means": own.means(),
        "scales": own.scales(),
        "features": task.features.names(),
        "bound": windlass_scoring::Standardisation::BOUND,
    });
    let text = format!("{json:#}\n");
    write_new(out, text.as_bytes(), Access::Public).map_err(CliError::at(out))?;
    Ok(text.len() as u64)
}
