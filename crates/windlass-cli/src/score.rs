//! `windlass score`: a model scores encrypted rows, checked against the scores in the clear.

use std::path::{Path, PathBuf};

use clap::Args;
use rayon::prelude::*;
use windlass::rlwe::context::os_rng;
use windlass::schemes::ckks::Ciphertext;
use windlass::scoring::{LogisticModel, RowLayout, Scorer, Standardisation, TrainSpec, scoring_spec};
use windlass::{Approximate, Context, NeedsKeys};

use crate::error::{CliError, Result};
use crate::memory;
use crate::progress::Stages;
use crate::report::{Report, rounded_down};
use crate::table::Table;

type Client = windlass::Client<Approximate>;
type Server = windlass::Server<Approximate>;

/// Slots that are asked for.
const SLOTS: usize = 4096;

/// Arguments of `score`.
#[derive(Debug, Args)]
pub struct ScoreArgs {
    /// The table: a CSV file with a header line; all columns but the key and the label are
    /// features.
    #[arg(long, value_name = "FILE")]
    pub table: PathBuf,
    /// The column that names each row once.
    #[arg(long, value_name = "COLUMN", default_value = "id")]
    pub key: String,
    /// The column of the class.
    #[arg(long, value_name = "COLUMN")]
    pub label: String,
    /// The value of the class that positive scores stand for.
    #[arg(long, value_name = "VALUE")]
    pub positive: String,
    /// Every N-th row is held out of the training.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub hold_out: usize,
}

/// Features and classes of the rows.
struct Samples {
    rows: Vec<Vec<f64>>,
    labels: Vec<bool>,
}

impl Samples {
    fn read(args: &ScoreArgs) -> Result<Self> {
        let table = Table::read(&args.table, &args.key)?;
        let column = |name: &str| {
            table.columns().iter().position(|column| column == name).ok_or_else(|| CliError::UnknownColumn {
                path: args.table.clone(),
                column: name.to_owned(),
                columns: table.columns().to_vec(),
            })
        };
        let (key, label) = (column(&args.key)?, column(&args.label)?);
        let labels: Vec<bool> = table.rows().iter().map(|row| row[label] == args.positive).collect();
        if labels.iter().all(|&x| x) || !labels.iter().any(|&x| x) {
            return Err(CliError::Usage(format!(
                "{}: column '{}' must hold '{}' in some rows and not in others",
                args.table.display(),
                args.label,
                args.positive
            )));
        }
        let number = |(index, row): (usize, &Vec<String>)| -> Result<Vec<f64>> {
            let features = row.iter().enumerate().filter(|(column, _)| *column != key && *column != label);
            features.map(|(column, text)| parse(&args.table, index, &table.columns()[column], text)).collect()
        };
        let rows = table.rows().iter().enumerate().map(number).collect::<Result<_>>()?;
        Ok(Self { rows, labels })
    }
}

fn parse(path: &Path, row: usize, column: &str, text: &str) -> Result<f64> {
    let value = text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    value.ok_or_else(|| CliError::NotANumber {
        path: path.to_path_buf(),
        row: row + 1,
        column: column.to_owned(),
        value: text.to_owned(),
    })
}

/// `windlass score`.
pub fn run(args: &ScoreArgs, quiet: bool) -> Result<Report> {
    if args.hold_out < 2 {
        return Err(CliError::Usage("--hold-out takes a number from 2".into()));
    }
    let samples = Samples::read(args)?;
    if samples.rows.len() < args.hold_out {
        let rows = samples.rows.len();
        return Err(CliError::Usage(format!(
            "--hold-out {} holds out none of {rows} rows; take a smaller number",
            args.hold_out
        )));
    }
    let trained =
        |&label: &bool| (0..samples.rows.len()).any(|row| !held_out(args, row) && samples.labels[row] == label);
    if ![false, true].iter().all(trained) {
        return Err(CliError::Usage(format!(
            "without the rows that --hold-out {} keeps back, '{}' is in all rows of column '{}' or in none; take another number",
            args.hold_out, args.positive, args.label
        )));
    }
    let mut stages = Stages::new(quiet);
    let model = stages.run("train", "training in the clear", || train(args, &samples))?;
    let plain = samples.rows.iter().map(|row| model.score(row)).collect::<windlass::Result<Vec<f64>>>()?;
    let context = stages.run("context", "building transforms", || Context::approximate(&scoring_spec(SLOTS)?))?;
    let layout = RowLayout::new(samples.rows[0].len(), context.slots())?;
    check_memory(&context, layout, samples.rows.len())?;
    let (client, server) = stages.run("keygen", "client: making keys", || make_keys(&context, layout))?;
    let rows = stages.run("encrypt", "client: encrypting rows", || {
        encrypt(&client, layout, model.standardisation(), &samples.rows)
    })?;
    let scorer = Scorer::new(server.engine().clone(), &model, layout)?;
    let scores =
        stages.count("score", "server: scoring encrypted rows", rows.len(), |tick| scorer.score_all(&rows, tick))?;
    let encrypted =
        stages.run("decrypt", "client: decrypting scores", || decrypt(&client, layout, &scores, samples.rows.len()))?;
    let mut report = Report::default();
    describe(&mut report, &scorer, &server, layout, &rows, &scores);
    compare(&mut report, args, &samples, &plain, &encrypted)?;
    report.seconds(stages.seconds());
    Ok(report)
}

fn held_out(args: &ScoreArgs, row: usize) -> bool {
    row % args.hold_out == args.hold_out - 1
}

fn train(args: &ScoreArgs, samples: &Samples) -> windlass::Result<LogisticModel> {
    let used = || (0..samples.rows.len()).filter(|&row| !held_out(args, row));
    let rows: Vec<Vec<f64>> = used().map(|row| samples.rows[row].clone()).collect();
    let labels: Vec<bool> = used().map(|row| samples.labels[row]).collect();
    LogisticModel::train(&rows, &labels, TrainSpec::default())
}

/// What all keys, encrypted rows and scores take together is known before any is made.
fn check_memory(context: &Context<Approximate>, layout: RowLayout, rows: usize) -> Result<()> {
    let sizes = context.ckks().rlwe().params().key_sizes();
    let keys = layout.plan(context.ckks())?.required_keys().len() as u64;
    let ciphertexts = 2 * rows.div_ceil(layout.rows()) as u64;
    let bytes = keys * sizes.switching_key_memory + ciphertexts * sizes.ciphertext_memory;
    memory::check("the keys and the encrypted rows", bytes)
}

/// Both sides, with keys for the level of the products.
fn make_keys(context: &Context<Approximate>, layout: RowLayout) -> windlass::Result<(Client, Server)> {
    let ckks = context.ckks();
    context.generate_keys([&layout.plan(ckks)?.key_request().up_to(ckks.base_level())])
}

fn encrypt(
    client: &Client,
    layout: RowLayout,
    standardisation: &Standardisation,
    rows: &[Vec<f64>],
) -> windlass::Result<Vec<Ciphertext>> {
    let (encryptor, mut rng) = (client.encryptor()?, os_rng()?);
    let mut encrypted = Vec::new();
    for slots in layout.pack(standardisation, rows)? {
        encrypted.push(encryptor.encrypt_bounded(&slots, Standardisation::BOUND * 2.0, &mut rng)?);
    }
    Ok(encrypted)
}

fn decrypt(client: &Client, layout: RowLayout, scores: &[Ciphertext], count: usize) -> windlass::Result<Vec<f64>> {
    let slots = scores.par_iter().map(|ct| client.decrypt(ct)).collect::<windlass::Result<Vec<_>>>()?;
    Ok(layout.unpack(&slots, count))
}

fn describe(
    report: &mut Report,
    scorer: &Scorer,
    server: &Server,
    layout: RowLayout,
    rows: &[Ciphertext],
    scores: &[Ciphertext],
) {
    let params = scorer.context().rlwe().params();
    report.line(format!(
        "CKKS, n = {}, log2 QP = {:.0}, {:.1} bits of security; {} rows in each of {} ciphertexts",
        params.n(),
        params.log2_qp(),
        rounded_down(params.security().bits),
        layout.rows(),
        rows.len()
    ));
    report.line(format!(
        "sum over {} slots in {} groups with {} keys; estimated precision {:.1} bits",
        layout.width(),
        scorer.plan().groups(),
        scorer.plan().required_keys().len(),
        scores[0].precision_bits()
    ));
    report.field("security_bits", rounded_down(params.security().bits));
    report.field("ciphertexts", rows.len());
    report.field("groups", scorer.plan().groups());
    report.field("precision_bits", scores[0].precision_bits());
    let bytes = |list: &[Ciphertext]| list.iter().map(|ct| ct.bytes() as u64).sum();
    report.bytes(&[
        ("evaluation keys", server.engine().keys().bytes() as u64),
        ("encrypted rows", bytes(rows)),
        ("encrypted scores", bytes(scores)),
    ]);
}

fn compare(report: &mut Report, args: &ScoreArgs, samples: &Samples, plain: &[f64], encrypted: &[f64]) -> Result<()> {
    let accuracy = |scores: &[f64], keep: &dyn Fn(usize) -> bool| {
        let kept: Vec<usize> = (0..scores.len()).filter(|&row| keep(row)).collect();
        let right = kept.iter().filter(|&&row| (scores[row] > 0.0) == samples.labels[row]).count();
        right as f64 / kept.len().max(1) as f64
    };
    let difference = plain.iter().zip(encrypted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let disagreements = plain.iter().zip(encrypted).filter(|(a, b)| (**a > 0.0) != (**b > 0.0)).count();
    for (name, keep) in [("all", (&|_| true) as &dyn Fn(usize) -> bool), ("held_out", &|row| held_out(args, row))] {
        let (clear, hidden) = (accuracy(plain, keep), accuracy(encrypted, keep));
        report.line(format!(
            "accuracy, {:<9} {:.4} in the clear, {:.4} encrypted",
            format!("{}:", name.replace('_', " ")),
            clear,
            hidden
        ));
        report.field(&format!("accuracy_plain_{name}"), clear);
        report.field(&format!("accuracy_encrypted_{name}"), hidden);
    }
    report.line(format!(
        "{} rows, {disagreements} decisions differ; largest difference of scores {difference:.2e}",
        plain.len()
    ));
    report.field("rows", plain.len());
    report.field("features", samples.rows[0].len());
    report.field("disagreements", disagreements);
    report.field("largest_difference", difference);
    if disagreements > 0 {
        return Err(CliError::ScoresDiffer { rows: disagreements });
    }
    Ok(())
}
