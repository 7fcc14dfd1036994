//! All steps in one process, compared with the scores in the clear.

use rayon::prelude::*;
use windlass::rlwe::context::os_rng;
use windlass::schemes::ckks::{Ciphertext, complex};
use windlass::wire::{CiphertextList, Stored};
use windlass_scoring::{LinearModel, Scorer, ScoringSetting, TrainSpec, decision, margin};

use super::args::ScoreArgs;
use super::features::Features;
use super::model_file::Model;
use super::steps::{check_keys, check_rows, describe_precision, describe_shape, lowest_precision, memory_of_weights};
use crate::error::{CliError, Result};
use crate::progress::Stages;
use crate::report::Report;

/// Rows held out of the training unless another number is asked for.
const HOLD_OUT: usize = 3;

/// The rows, the model, and what is known of the rows' classes.
struct Task {
    rows: Features,
    model: LinearModel,
    /// The class of each row, as [`decision`] numbers them.
    labels: Option<Vec<Option<usize>>>,
    /// Every row of this number is held out.
    hold_out: Option<usize>,
}

/// `windlass score`.
pub fn run(args: &ScoreArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let task = match &args.weights {
        Some(path) => given(args, stages.run("model", "reading the model", || Model::read(path))?)?,
        None => trained(args, &mut stages)?,
    };
    let Task { rows, model, .. } = &task;
    rows.check(model.standardisation())?;
    let plain = rows.rows.par_iter().map(|row| model.scores(row)).collect::<windlass::Result<Vec<_>>>()?;
    let setting = stages.run("context", "building transforms", || ScoringSetting::of(model))?;
    check_keys(&setting)?;
    check_rows(&setting, rows.rows.len())?;
    memory_of_weights(&setting)?;
    let (context, scoring) = (&setting.context, &setting.scoring);
    let (client, server) = stages.run("keygen", "client: making keys", || context.generate_keys([scoring]))?;
    let encrypted = stages.run("encrypt", "client: encrypting rows", || {
        let (encryptor, mut rng) = (client.encryptor()?, os_rng()?);
        scoring.encrypt(&rows.rows, |slots, bound| {
            Ok(Stored::new(encryptor.encrypt_bounded(&complex(slots), bound, &mut rng)?))
        })
    })?;
    let scorer =
        stages.run("prepare", "server: converting weights", || Scorer::new(scoring, model, server.engine().clone()))?;
    let groups = encrypted.len() / scoring.layout().parts();
    let scores =
        stages.count("score", "server: scoring encrypted rows", groups, |tick| scorer.score(&encrypted, tick))?;
    let found =
        stages.run("decrypt", "client: decrypting scores", || scoring.decrypt(&scores, |ct| client.decrypt(ct)))?;
    let mut report = Report::default();
    describe(&mut report, &setting, &encrypted, &scores);
    let bytes = |list: &CiphertextList<Ciphertext>| list.ciphertexts().map(|ct| ct.bytes() as u64).sum();
    // Nothing is written here; the files of the steps are smaller.
    report.bytes(&[
        ("keys, in memory", server.engine().keys().bytes() as u64),
        ("rows, in memory", bytes(&encrypted)),
        ("scores, in memory", bytes(&scores)),
    ]);
    let error = setting.error_bound(&scores);
    compare(&mut report, &task, &plain, &found, error)?;
    report.seconds(stages.seconds());
    Ok(report)
}

fn read_rows(args: &ScoreArgs, names: Option<&[String]>) -> Result<Features> {
    let Some(table) = &args.rows.table else {
        return Err(CliError::Usage("give --table FILE, or a step: see 'windlass score --help'".into()));
    };
    Features::read(table, &args.rows.columns, names)
}

/// A model from elsewhere.
fn given(args: &ScoreArgs, model: Model) -> Result<Task> {
    let rows = read_rows(args, model.columns.as_deref())?;
    let labels = match (&args.rows.columns.label, &args.positive) {
        (None, _) => None,
        (Some(label), Some(positive)) if model.linear.classes() == 1 => {
            Some(rows.column(label)?.iter().map(|value| Some(usize::from(value == positive))).collect())
        }
        (Some(label), None) => {
            let count = model.linear.classes().max(2);
            let names = model.classes.unwrap_or_else(|| (0..count).map(|class| class.to_string()).collect());
            Some(classes_of(&rows, label, &names)?)
        }
        (Some(_), Some(_)) => {
            let several = "--positive needs a model of one score, but this one has several classes; leave it out";
            return Err(CliError::Usage(several.into()));
        }
    };
    Ok(Task { rows, model: model.linear, labels, hold_out: None })
}

/// The class of each row, by its name. Some labels may be no class, but not all.
fn classes_of(rows: &Features, label: &str, names: &[String]) -> Result<Vec<Option<usize>>> {
    let cells = rows.column(label)?;
    let class = |cell: &&str| names.iter().position(|name| name == cell);
    let classes: Vec<Option<usize>> = cells.iter().map(class).collect();
    if classes.iter().any(Option::is_some) {
        return Ok(classes);
    }
    let mut labels: Vec<String> = Vec::new();
    for cell in cells {
        if labels.len() <= CliError::LABELS && !labels.iter().any(|label| label == cell) {
            labels.push(cell.to_owned());
        }
    }
    let (path, column) = (rows.path().into(), label.to_owned());
    Err(CliError::NoClass { path, column, labels, classes: names.to_vec() })
}

/// A model that is trained on part of the table.
fn trained(args: &ScoreArgs, stages: &mut Stages) -> Result<Task> {
    let hold_out = args.hold_out.unwrap_or(HOLD_OUT);
    if hold_out < 2 {
        return Err(CliError::Usage("--hold-out takes a number of at least 2".into()));
    }
    let (Some(label), Some(positive)) = (&args.rows.columns.label, &args.positive) else {
        let either =
            "to train a model give --label COLUMN and --positive VALUE; to use an existing model give --weights FILE";
        return Err(CliError::Usage(either.into()));
    };
    let rows = read_rows(args, None)?;
    let labels: Vec<bool> = rows.column(label)?.iter().map(|value| value == positive).collect();
    let count = labels.len();
    if labels.iter().all(|&x| x) || !labels.iter().any(|&x| x) {
        return Err(CliError::Usage(format!(
            "{}: column '{label}' must hold '{positive}' in some rows and not in others",
            rows.path().display()
        )));
    }
    if count < hold_out {
        return Err(CliError::Usage(format!(
            "--hold-out {hold_out} holds out no row of {count}; choose a smaller number"
        )));
    }
    let used: Vec<usize> = (0..count).filter(|&row| !held_out(hold_out, row)).collect();
    if ![false, true].iter().all(|&label| used.iter().any(|&row| labels[row] == label)) {
        return Err(CliError::Usage(format!(
            "without the rows of --hold-out {hold_out}, all rows of column '{label}' hold '{positive}' or none does; choose another number"
        )));
    }
    let model = stages.run("train", "training in the clear", || {
        let (rows, labels): (Vec<Vec<f64>>, Vec<bool>) =
            used.iter().map(|&row| (rows.rows[row].clone(), labels[row])).unzip();
        LinearModel::train_logistic(&rows, &labels, TrainSpec::default())
    })?;
    let labels = Some(labels.into_iter().map(|label| Some(usize::from(label))).collect());
    Ok(Task { rows, model, labels, hold_out: Some(hold_out) })
}

fn held_out(every: usize, row: usize) -> bool {
    row % every == every - 1
}

fn describe(
    report: &mut Report,
    setting: &ScoringSetting,
    rows: &CiphertextList<Ciphertext>,
    scores: &CiphertextList<Ciphertext>,
) {
    describe_shape(report, setting);
    let sum = setting.scoring.sum();
    let precision = lowest_precision(scores) - setting.scoring.unit().log2();
    report.line(format!(
        "{} ciphertexts of rows; sums in {} groups; estimated precision {precision:.1} bits",
        rows.len(),
        sum.groups(),
    ));
    report.field("ciphertexts", rows.len());
    report.field("groups", sum.groups());
    describe_precision(report, precision);
}

fn compare(report: &mut Report, task: &Task, plain: &[Vec<f64>], found: &[Vec<f64>], error: f64) -> Result<()> {
    let pairs = || plain.iter().flatten().zip(found.iter().flatten());
    let difference = pairs().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let differ: Vec<usize> = (0..plain.len()).filter(|&row| decision(&plain[row]) != decision(&found[row])).collect();
    if let Some(labels) = &task.labels {
        accuracies(report, task, labels, [plain, found]);
    }
    let decisions = differ.len();
    report.line(format!(
        "{} rows, {decisions} decisions differ; largest difference of scores {difference:.2e}",
        plain.len()
    ));
    report.field("rows", plain.len());
    report.field("disagreements", decisions);
    report.field("largest_difference", difference);
    // Two scores that are equal but for the error decide nothing.
    let wrong = differ.iter().filter(|&&row| margin(&plain[row]) > 2.0 * error).count();
    if wrong > 0 { Err(CliError::ScoresDiffer { rows: wrong }) } else { Ok(()) }
}

fn accuracies(report: &mut Report, task: &Task, labels: &[Option<usize>], [plain, found]: [&[Vec<f64>]; 2]) {
    let accuracy = |scores: &[Vec<f64>], keep: &dyn Fn(usize) -> bool| {
        let kept: Vec<usize> = (0..scores.len()).filter(|&row| keep(row)).collect();
        let right = kept.iter().filter(|&&row| Some(decision(&scores[row])) == labels[row]).count();
        right as f64 / kept.len().max(1) as f64
    };
    let mut line = |name: &str, keep: &dyn Fn(usize) -> bool| {
        let (clear, hidden) = (accuracy(plain, keep), accuracy(found, keep));
        let label = format!("{}:", name.replace('_', " "));
        report.line(format!("accuracy, {label:<9} {clear:.4} in the clear, {hidden:.4} encrypted"));
        report.field(&format!("accuracy_plain_{name}"), clear);
        report.field(&format!("accuracy_encrypted_{name}"), hidden);
    };
    line("all", &|_| true);
    if let Some(every) = task.hold_out {
        line("held_out", &|row| held_out(every, row));
    }
}
