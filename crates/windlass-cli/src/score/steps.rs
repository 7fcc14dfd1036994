//! The steps, each a separate process.

use std::path::Path;
use std::sync::Arc;

use windlass::NeedsKeys;
use windlass::rlwe::context::os_rng;
use windlass::rlwe::{EvaluationKeys, PublicKey};
use windlass::schemes::ckks::{Ciphertext, Encryptor, complex};
use windlass::wire::{Access, CiphertextList, EncryptedRowsV1, EncryptedScoresV1, Passphrase, Stored, write_new};
use windlass_scoring::{Scored, Scorer, ScoringClient, ScoringSchema, ScoringSetting};

use super::args::{ApplyArgs, DecryptArgs, EncryptArgs, KeygenArgs, SchemaArgs};
use super::features::Features;
use super::model_file::Model;
use super::schema::{
    check_hash, check_model, of_file, of_model, open as open_schema, security_bits, vouched, write_schema,
};
use crate::error::{CliError, Result};
use crate::files::{Outputs, claim};
use crate::key_file::{KeyFile, SecretFile, write_secret};
use crate::memory;
use crate::progress::Stages;
use crate::report::{Report, printable};
use crate::values::{read, read_for, write};

const SECRET: &str = "secret.key";
const PUBLIC: &str = "public.key";
const EVALUATION: &str = "evaluation.keys";

/// Ciphertexts of a file.
type List = CiphertextList<Ciphertext>;

/// `windlass score schema`.
pub fn schema(args: &SchemaArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let model = stages.run("model", "reading the model", || Model::read(&args.model.weights))?;
    let setting = stages.run("setup", "building transforms", || ScoringSetting::of(&model.linear))?;
    let bytes = write_schema(&of_model(&model, &setting)?, &args.out)?;
    let mut report = Report::default();
    describe_shape(&mut report, &setting);
    report.made("schema.json", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// What both sides agree on.
pub fn describe_shape(report: &mut Report, setting: &ScoringSetting) {
    let (layout, scoring) = (setting.scoring.layout(), &setting.scoring);
    let params = setting.context.ckks().rlwe().params();
    report.line(format!(
        "CKKS, n = {}, log2 QP = {:.0}, {:.1} bits of security",
        params.n(),
        params.log2_qp(),
        security_bits(setting),
    ));
    report.line(match layout.parts() {
        1 => format!("{} features, {} in a ciphertext of rows", layout.features(), layout.rows()),
        parts => format!("{} features, {parts} ciphertexts for each row", layout.features()),
    });
    let keys = scoring.key_request().galois.len();
    report.line(format!("{} scores for each row, with {keys} keys", layout.classes()));
    report.field("security_bits", security_bits(setting));
    report.field("features", layout.features());
    report.field("scores", layout.classes());
    report.field("rows_in_a_ciphertext", layout.rows());
    report.field("ciphertexts_for_a_row", layout.parts());
    report.field("keys", keys);
}

/// `windlass score keygen`.
pub fn keygen(args: &KeygenArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let (_, setting) = stages.run("setup", "building transforms", || vouched(&args.source, quiet))?;
    let outputs = Outputs::claim_in(&args.out, &[SECRET, PUBLIC, EVALUATION])?;
    let passphrase = args.seal.passphrase(&args.out.join(SECRET))?;
    let files = stages.run("keygen", "making keys", || make_keys(&setting, &outputs, passphrase.as_ref()))?;
    outputs.keep()?;
    let mut report = Report::default();
    let bits = security_bits(&setting);
    report.line(format!(
        "keys for scores of {} features ({bits:.1} bits of security)",
        setting.scoring.layout().features()
    ));
    report.field("security_bits", bits);
    report.bytes(&files);
    report.seconds(stages.seconds());
    Ok(report)
}

/// What the keys take together, and the largest file as it is written.
pub fn check_keys(setting: &ScoringSetting) -> Result<()> {
    let sizes = setting.context.ckks().rlwe().params().key_sizes();
    let count = setting.scoring.key_request().galois.len() as u64;
    memory::check("the keys", count * (sizes.switching_key_memory + sizes.switching_key_disk))
}

fn make_keys(
    setting: &ScoringSetting,
    outputs: &Outputs,
    passphrase: Option<&Passphrase>,
) -> Result<Vec<(&'static str, u64)>> {
    check_keys(setting)?;
    let (client, server) = setting.context.generate_keys([&setting.scoring])?;
    let files = setting.context.files();
    Ok(vec![
        (SECRET, write_secret(&outputs.at(SECRET), files, client.secret_key(), passphrase)?),
        (PUBLIC, write(&outputs.at(PUBLIC), files, &client.public_key()?)?),
        (EVALUATION, write(&outputs.at(EVALUATION), files, &**server.engine().keys())?),
    ])
}

/// `windlass score encrypt`.
pub fn encrypt(args: &EncryptArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let (schema, setting) = stages.run("setup", "building transforms", || vouched(&args.source, quiet))?;
    let rows = stages
        .run("table", "reading the table", || Features::read(&args.rows.table, &args.rows.columns, schema.columns()))?;
    rows.check(setting.scoring.standardisation())?;
    let key = args.with.file(setting.context.files())?;
    let message = stages.run("encrypt", "encrypting rows", || encrypt_rows(&schema, &setting, &rows, &key))?;
    let ciphertexts = message.list.len();
    let bytes =
        stages.run("write", "writing encrypted rows", || write(&args.out, setting.context.files(), &message))?;
    let mut report = Report::default();
    report.line(format!("{} rows are encrypted in {ciphertexts} ciphertexts", rows.rows.len()));
    report.field("security_bits", security_bits(&setting));
    report.field("rows", rows.rows.len());
    report.field("ciphertexts", ciphertexts);
    report.made("encrypted rows", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

fn encrypt_rows(
    schema: &ScoringSchema,
    setting: &ScoringSetting,
    rows: &Features,
    key: &KeyFile<'_>,
) -> Result<EncryptedRowsV1> {
    check_rows(setting, rows.rows.len())?;
    let (context, files, scoring) = (&setting.context, setting.context.files(), &setting.scoring);
    let mut rng = os_rng().map_err(windlass::Error::from)?;
    match key {
        KeyFile::Secret(file) => {
            let client = ScoringClient::new(schema.clone(), setting.clone(), file.key(files)?);
            client.encrypt(&rows.rows, &mut rng).map_err(|error| of_file(rows.path(), error))
        }
        KeyFile::Public(path) => {
            let (public, _): (PublicKey, _) = read(path, files)?;
            let encryptor = Encryptor::new(context.ckks(), Arc::new(public))?;
            let list = scoring.encrypt(&rows.rows, |slots, bound| {
                Ok(Stored::new(encryptor.encrypt_bounded(&complex(slots), bound, &mut rng)?))
            })?;
            Ok(EncryptedRowsV1 { schema: schema.hash(), list })
        }
    }
}

/// What encrypted rows and scores take together is known before any is made.
pub fn check_rows(setting: &ScoringSetting, rows: usize) -> Result<()> {
    let each = setting.context.ckks().rlwe().params().key_sizes().ciphertext_memory;
    let ciphertexts = 2 * setting.scoring.layout().ciphertexts(rows) as u64;
    memory::check("the encrypted rows", ciphertexts.saturating_mul(each))
}

/// `windlass score apply`.
pub fn apply(args: &ApplyArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let model = stages.run("model", "reading the model", || Model::read(&args.model.weights))?;
    let (schema, setting) = stages.run("setup", "building transforms", || open_schema(&args.schema))?;
    check_model(&schema, &args.schema, &setting, &model, &args.model.weights)?;
    let (rows, server) = stages.run("load", "reading keys and rows", || -> Result<_> {
        let files = setting.context.files();
        let (EncryptedRowsV1 { schema: found, list: rows }, key): (_, _) = read(&args.input, files)?;
        check_hash(&schema, &args.input, &found)?;
        let keys: EvaluationKeys = read_for(&args.evaluation_keys, files, (key, &args.input))?;
        Ok((rows, setting.context.server_from_keys(Arc::new(keys), Vec::new())?))
    })?;
    let scorer = stages.run("prepare", "converting weights", || {
        memory_of_weights(&setting)?;
        let made = Scorer::new(&setting.scoring, &model.linear, server.engine().clone());
        made.map_err(|error| other_model(args, &args.schema, error))
    })?;
    let layout = setting.scoring.layout();
    let groups = rows.len() / layout.parts();
    let scores = stages.count("score", "scoring encrypted rows", groups, |tick| scorer.score(&rows, tick));
    let scores = scores.map_err(|error| other_model(args, &args.input, error))?;
    let precision = lowest_precision(&scores) - setting.scoring.unit().log2();
    let ciphertexts = scores.len();
    let message = EncryptedScoresV1 { schema: schema.hash(), list: scores };
    let bytes =
        stages.run("write", "writing encrypted scores", || write(&args.out, setting.context.files(), &message))?;
    let mut report = Report::default();
    report.line(format!("{ciphertexts} ciphertexts of scores; estimated precision {precision:.1} bits"));
    report.field("ciphertexts", ciphertexts);
    describe_precision(&mut report, precision);
    report.made("encrypted scores", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// Says what scores are known to, and warns where whole numbers are not.
pub fn describe_precision(report: &mut Report, precision: f64) {
    report.field("precision_bits", precision);
    if precision < 0.0 {
        report.line(format!(
            "scores are known only up to {:.1e}, so smaller scores may give wrong decisions: bring weights and features to one size ('means' and 'scales')",
            (-precision).exp2()
        ));
    }
}

/// The fewest bits after the point that a score has, in units.
pub fn lowest_precision(scores: &List) -> f64 {
    scores.ciphertexts().map(Ciphertext::precision_bits).fold(f64::INFINITY, f64::min)
}

/// What the prepared weights take is known before they are made.
pub fn memory_of_weights(setting: &ScoringSetting) -> Result<()> {
    let (scoring, ring) = (&setting.scoring, setting.context.ckks().rlwe().params());
    // Words for each prime of Q and P, and the slots that they are made from.
    let primes = ring.q_primes().len() + ring.special_primes().len();
    let each = (primes * ring.n() * 8 + scoring.layout().slots() * 16) as u64;
    let count = scoring.map().grid().support().len() as u64 * scoring.layout().parts() as u64;
    memory::check("the prepared weights", count.saturating_mul(each))
}

/// Names the files that a refusal is about: the model, and the file that was made for another
/// model.
fn other_model(args: &ApplyArgs, other: &Path, error: windlass::Error) -> CliError {
    let (path, reason) = match &error {
        windlass::Error::ShapeMismatch { .. } => (other, error.to_string()),
        windlass::Error::OutOfRange(windlass::rlwe::OutOfRange { got, limits, .. }) => {
            let (got, most) = (got.to_string(), limits.most.map(|most| most.to_string()).unwrap_or_default());
            let reason = format!(
                "its scores may be as large as {got}, but the schema allows {most}; give clients the schema of this model ('windlass score schema') and encrypt the rows with it"
            );
            (other, reason)
        }
        windlass::Error::MissingGaloisKey { .. } => (args.evaluation_keys.as_path(), error.to_string()),
        _ => return error.into(),
    };
    CliError::OtherModel { path: path.into(), model: args.model.weights.clone(), reason }
}

/// `windlass score decrypt`.
pub fn decrypt(args: &DecryptArgs, quiet: bool) -> Result<Report> {
    let _claimed = args.out.as_deref().map(claim).transpose()?;
    let mut stages = Stages::new(quiet);
    let (schema, setting) = stages.run("setup", "building transforms", || open_schema(&args.schema))?;
    let secret = args.with.open(setting.context.files())?;
    let scored = stages.run("decrypt", "decrypting", || open((&schema, &setting), &secret, &args.input))?;
    let (close, error) = (scored.close(), scored.error_bound);
    let decisions: Vec<String> = scored.decisions().into_iter().map(|class| schema.class_name(class)).collect();
    let scores = scored.scores;
    let mut report = Report::default();
    report.field("rows", scores.len());
    let table = as_csv(&schema, &scores, &decisions, &close)?;
    match &args.out {
        Some(out) => {
            write_new(out, table.as_bytes(), Access::Public).map_err(CliError::at(out))?;
            report.line(format!("the scores of {} rows are in {}", scores.len(), out.display()));
        }
        None => table.lines().for_each(|line| report.line(printable(line))),
    }
    describe_error(&mut report, &close, error);
    if args.out.is_none() {
        report.field("scores", scores);
        report.field("decisions", decisions);
        report.field("close", close);
    }
    report.seconds(stages.seconds());
    Ok(report)
}

/// Says how far scores may be off, and of how many rows the decision is within that.
fn describe_error(report: &mut Report, close: &[bool], error: f64) {
    let count = close.iter().filter(|close| **close).count();
    report.line(format!("each score is correct up to {error:.1e}"));
    if count > 0 {
        report.line(format!(
            "the decisions of {count} rows are closer than these errors and may be wrong (column 'close')"
        ));
    }
    report.field("error_bound", error);
    report.field("close_decisions", count);
}

/// The scores, and how far each may be off.
fn open((schema, setting): (&ScoringSchema, &ScoringSetting), file: &SecretFile<'_>, input: &Path) -> Result<Scored> {
    let files = setting.context.files();
    let secret = file.key(files)?;
    let scores: EncryptedScoresV1 = read_for(input, files, (secret.key_id(), file.path()))?;
    let client = ScoringClient::new(schema.clone(), setting.clone(), secret);
    client.decrypt(&scores).map_err(|error| of_file(input, error))
}

/// One line for each row: its number from 1, its scores, what they say, and whether the errors may
/// have decided that.
fn as_csv(schema: &ScoringSchema, scores: &[Vec<f64>], decisions: &[String], close: &[bool]) -> Result<String> {
    let unwritten = |error: csv::Error| CliError::Usage(format!("the scores cannot be written as CSV: {error}"));
    let classes = scores.first().map_or(0, Vec::len);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let heads = match classes {
        1 => vec!["score".to_owned()],
        _ => (0..classes).map(|class| format!("score of {}", schema.class_name(class))).collect(),
    };
    let header = std::iter::once("row".to_owned()).chain(heads).chain(["class", "close"].map(str::to_owned));
    writer.write_record(header).map_err(unwritten)?;
    for (number, ((scores, decision), close)) in scores.iter().zip(decisions).zip(close).enumerate() {
        let cells = scores.iter().map(f64::to_string);
        let cells = std::iter::once((number + 1).to_string()).chain(cells).chain([decision.clone(), close.to_string()]);
        writer.write_record(cells).map_err(unwritten)?;
    }
    let bytes = writer.into_inner().expect("memory takes every byte");
    Ok(String::from_utf8(bytes).expect("cells are text"))
}
