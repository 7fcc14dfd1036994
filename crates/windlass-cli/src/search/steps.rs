//! The steps, each a separate process.

use std::ops::ControlFlow;
use std::path::Path;

use windlass::rlwe::EvaluationKeys;
use windlass::rlwe::context::os_rng;
use windlass::wire::WireError;
use windlass_retrieval::vectors::{
    QuantisedQuery, QuantisedTable, SearchAnswer, SearchClient, SearchQuery, SearchServer, SearchShape, VectorTable,
};

use super::args::{AnswerArgs, AskedArgs, DecryptArgs, HowArgs, KeygenArgs, QueryArgs, SchemaArgs};
use super::found::Found;
use super::schema::{Opened, open_table};
use super::vector_file::VectorFile;
use crate::error::{CliError, Result};
use crate::files::{Outputs, claim};
use crate::key_file::{SecretFile, write_secret};
use crate::memory;
use crate::progress::Stages;
use crate::report::Report;
use crate::values::{read, read_for, write};

const SECRET: &str = "secret.key";
const EVALUATION: &str = "evaluation.keys";

/// `windlass search schema`.
pub fn schema(args: &SchemaArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    VectorFile::refuse_options(&[&args.table.table], &args.table.columns)?;
    let (_, _, opened) = open_table(&args.table, &args.how, &[], &mut stages)?;
    let bytes = opened.write(&args.out)?;
    let mut report = Report::default();
    opened.describe(&mut report);
    report.made("schema.json", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// `windlass search keygen`.
pub fn keygen(args: &KeygenArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let opened = stages.run("setup", "building rings", || Opened::read(&args.schema))?;
    opened.tell(quiet);
    let outputs = Outputs::claim_in(&args.out, &[SECRET, EVALUATION])?;
    let passphrase = args.seal.passphrase(&args.out.join(SECRET))?;
    let files = stages.run("keygen", "making keys", || -> Result<_> {
        let mut rng = os_rng().map_err(windlass::Error::from)?;
        let client = SearchClient::generate(opened.schema.shape(), &mut rng)?;
        let keys = client.evaluation_keys(&mut rng)?;
        Ok([
            (
                SECRET,
                write_secret(&outputs.at(SECRET), opened.schema.key_files(), client.secret_key(), passphrase.as_ref())?,
            ),
            (EVALUATION, write(&outputs.at(EVALUATION), opened.schema.key_files(), &keys)?),
        ])
    })?;
    outputs.keep()?;
    let mut report = Report::default();
    opened.describe(&mut report);
    report.bytes(&files);
    report.seconds(stages.seconds());
    Ok(report)
}

/// The client of a schema and a key, and the vectors that it asks for.
fn client(
    opened: &Opened,
    args: &AskedArgs,
    secret: &SecretFile<'_>,
    stages: &mut Stages,
) -> Result<(SearchClient, QuantisedQuery)> {
    stages.run("load", "reading key and vectors", || {
        let client = SearchClient::with_secret(
            opened.schema.shape(),
            opened.schema.files().setting(),
            secret.key(opened.schema.key_files())?,
        );
        let file = VectorFile::read_queries(&args.query, &args.columns)?;
        file.check_columns(&args.schema, opened.schema.shape().names.as_deref())?;
        Ok((client, quantise(opened.schema.shape(), &file)?))
    })
}

/// The schema, whose errors come before a question for a passphrase.
fn open_schema(args: &AskedArgs, stages: &mut Stages) -> Result<Opened> {
    VectorFile::refuse_options(&[&args.query], &args.columns)?;
    stages.run("setup", "building rings", || Opened::read(&args.schema))
}

/// Queries as a table wants them.
pub fn quantise(shape: &SearchShape, file: &VectorFile) -> Result<QuantisedQuery> {
    shape.quantise(&file.vectors()?).map_err(|source| file.refused(source))
}

/// `windlass search query`.
pub fn query(args: &QueryArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let opened = open_schema(&args.asked, &mut stages)?;
    opened.tell(quiet);
    let secret = args.asked.with.open(opened.schema.key_files())?;
    let (client, asked) = client(&opened, &args.asked, &secret, &mut stages)?;
    let bytes = stages.run("query", "encrypting vectors", || -> Result<_> {
        let query = client.query(&asked, &mut os_rng().map_err(windlass::Error::from)?)?;
        write(&args.out, opened.schema.files(), &query)
    })?;
    let mut report = Report::default();
    report.line(format!("{} vectors are encrypted", asked.count()));
    report.field("security_bits", opened.security_bits());
    report.field("queries", asked.count());
    report.made("query", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// `windlass search answer`.
pub fn answer(args: &AnswerArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let opened = stages.run("setup", "building rings", || Opened::read(&args.schema))?;
    let (shape, files, keys) = (opened.schema.shape(), opened.schema.files(), opened.schema.key_files());
    let how = HowArgs { metric: shape.metric, bits: shape.bits, bandwidth: 1.0 };
    VectorFile::refuse_options(&[&args.table.table], &args.table.columns)?;
    let (file, table, _) = open_table(&args.table, &how, &[], &mut stages)?;
    opened.check_table(&args.schema, &file, &table)?;
    let (query, keys) = stages.run("load", "reading keys and query", || -> Result<_> {
        let read = read(&args.input, files).map_err(|error| of_schema(&args.schema, error));
        let (query, key): (SearchQuery, _) = read?;
        let keys: EvaluationKeys = read_for(&args.evaluation_keys, keys, (key, &args.input))?;
        Ok((query, keys))
    })?;
    let server = prepare(&table, shape, opened.schema.files().setting(), &mut stages)?;
    let answer = stages.run("answer", "scoring all vectors", || server.answer(&keys, &query))?;
    let bytes = stages.run("write", "writing the answer", || write(&args.out, files, &answer))?;
    let mut report = Report::default();
    report.line(format!("{} encrypted scores for each of {} queries", shape.vectors, query.count()));
    report.field("queries", query.count());
    report.made("answer", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// A prepared table, with a sign of life.
pub fn prepare(
    table: &QuantisedTable,
    shape: &SearchShape,
    setting: &windlass_retrieval::Setting,
    stages: &mut Stages,
) -> Result<SearchServer> {
    memory::check("the prepared table", shape.sizes(setting).prepared)?;
    let prepared = stages.count("prepare", "preparing the table", shape.columns(), |tick| {
        let observed = |_: usize, _: usize| {
            tick();
            ControlFlow::Continue(())
        };
        VectorTable::prepare(table, shape, &observed)
    })?;
    Ok(SearchServer::new(prepared))
}

/// `windlass search decrypt`.
pub fn decrypt(args: &DecryptArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let opened = open_schema(&args.asked, &mut stages)?;
    let secret = args.asked.with.open(opened.schema.key_files())?;
    let (client, asked) = client(&opened, &args.asked, &secret, &mut stages)?;
    let found = stages.run("decrypt", "decrypting scores", || -> Result<_> {
        let key = (client.secret_key().key_id(), secret.path());
        let read = read_for(&args.input, opened.schema.files(), key);
        let answer: SearchAnswer = read.map_err(|error| of_schema(&args.asked.schema, error))?;
        client.nearest(&answer, &asked, args.k.saturating_add(1)).map_err(|source| at(&args.input, source))
    })?;
    let mut report = Report::default();
    let found = Found { nearest: &found, k: args.k, asked: &asked, shape: opened.schema.shape(), names: None };
    found.describe(&mut report);
    report.seconds(stages.seconds());
    Ok(report)
}

/// Names the schema that a query or an answer was not made for: they are checked against it.
fn of_schema(schema: &Path, error: CliError) -> CliError {
    match error {
        CliError::File { path, source: WireError::OtherContext { found, expected } } => {
            CliError::OtherSearchSchema { path, schema: schema.into(), found, expected }
        }
        other => other,
    }
}

fn at(path: &Path, source: windlass_retrieval::Error) -> CliError {
    CliError::Table { path: path.into(), source }
}
