//! The commands of a lookup.

use std::path::Path;
use std::sync::Arc;

use windlass::Evaluator;
use windlass::lookup::{decode_record, encode_record};
use windlass::rlwe::context::os_rng;
use windlass::rlwe::{EvaluationKeys, PublicKey};
use windlass::schemes::Encryptor;
use windlass::wire::{AnswerV1, CiphertextV1, Passphrase, QueryV1};

use crate::args::{AnswerArgs, DecryptArgs, ExplainArgs, KeygenArgs, LookupArgs, QueryArgs, SchemaArgs, TableArgs};
use crate::error::{CliError, Result};
use crate::files::{Outputs, claim};
use crate::key_file::{KeyFile, SecretFile, write_secret};
use crate::memory;
use crate::progress::Stages;
use crate::report::{Report, printable};
use crate::session::Session;
use crate::table::Table;
use crate::tables;
use crate::values::{file_bytes, read, read_for, write};

const SECRET: &str = "secret.key";
const PUBLIC: &str = "public.key";
const EVALUATION: &str = "evaluation.keys";
const SCHEMA: &str = "schema.json";
const QUERY: &str = "query.bin";
const ANSWER: &str = "answer.bin";

/// Bytes of a file that no table of one ciphertext has.
const ONE_CIPHERTEXT: u64 = 1 << 20;

/// Bits of capacity that an answer keeps: room for nothing but decryption.
const ANSWER_CAPACITY: f64 = 4.0;

/// The table with all that is built from it.
fn open_table(args: &TableArgs, stages: &mut Stages) -> Result<(Table, Session)> {
    let table = stages.run("table", "reading the table", || Table::read(&args.table, &args.key))?;
    let session = stages.run("setup", "building rings", || Session::of_table(&table, args.params()))?;
    Ok((table, session))
}

/// `windlass schema`.
pub fn schema(args: &SchemaArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let (_, session) = open_table(&args.table, &mut stages)?;
    // The report says it again, where it is no warning.
    session.vouch_given(args.table.params(), args.table.insecure, true)?;
    let bits = session.security_bits();
    let bytes = session.schema.write(&args.out)?;
    let mut report = Report::default();
    report.line(format!(
        "{} rows, {} columns; parameters '{}' ({bits:.1} bits of security)",
        session.schema.keys.len(),
        session.schema.columns.len(),
        session.params().name()
    ));
    report.field("security_bits", bits);
    report.field("rows", session.schema.keys.len());
    report.field("columns", session.schema.columns.clone());
    report.field("parameters", args.table.params());
    report.made(SCHEMA, &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// `windlass keygen`.
pub fn keygen(args: &KeygenArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let session = stages.run("setup", "building rings", || Session::open(&args.source))?;
    session.vouch(&args.source, quiet)?;
    let outputs = Outputs::claim_in(&args.out, &[SECRET, PUBLIC, EVALUATION])?;
    let passphrase = args.seal.passphrase(&args.out.join(SECRET))?;
    let files = stages.run("keygen", "making keys", || make_keys(&session, &outputs, passphrase.as_ref()))?;
    outputs.keep()?;
    let mut report = Report::default();
    report.line(format!("keys for '{}' ({:.1} bits of security)", session.params().name(), session.security_bits()));
    report.field("security_bits", session.security_bits());
    report.bytes(&files);
    report.seconds(stages.seconds());
    Ok(report)
}

fn make_keys(
    session: &Session,
    outputs: &Outputs,
    passphrase: Option<&Passphrase>,
) -> Result<Vec<(&'static str, u64)>> {
    let (required, sizes) = (session.lookup.required_keys()?, session.params().rlwe().key_sizes());
    // All keys, and the largest file as it is written.
    let count = required.len() as u64;
    memory::check("the keys", count * (sizes.switching_key_memory + sizes.switching_key_disk))?;
    let (client, server) = session.context.generate_keys([&session.lookup])?;
    let files = session.files();
    Ok(vec![
        (SECRET, write_secret(&outputs.at(SECRET), files, client.secret_key(), passphrase)?),
        (PUBLIC, write(&outputs.at(PUBLIC), files, &client.public_key()?)?),
        (EVALUATION, write(&outputs.at(EVALUATION), files, &**server.engine().keys())?),
    ])
}

/// `windlass query`.
pub fn query(args: &QueryArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let session = stages.run("setup", "building rings", || Session::open(&args.source))?;
    let row = session.schema.row_of(&args.query)?;
    session.vouch(&args.source, quiet)?;
    let _claimed = claim(&args.out)?;
    let key = args.with.file(session.files())?;
    let bytes = stages.run("query", "encrypting the selection", || make_query(&session, &key, row, &args.out))?;
    let mut report = Report::default();
    report.line("the selection is encrypted");
    report.field("security_bits", session.security_bits());
    report.made(QUERY, &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

fn make_query(session: &Session, key: &KeyFile<'_>, row: usize, out: &Path) -> Result<u64> {
    let selection = session.lookup.selection(row)?;
    let (context, files) = (&session.context, session.files());
    let ciphertext = match key {
        KeyFile::Secret(file) => {
            let client = context.client_from_key(Arc::new(file.key(files)?))?;
            CiphertextV1::new(client.encrypt_plaintext(&selection)?)
        }
        KeyFile::Public(path) => {
            let (public, _): (PublicKey, _) = read(path, files)?;
            let mut rng = os_rng().map_err(windlass::Error::from)?;
            CiphertextV1::new(Encryptor::new(context.scheme(), Arc::new(public)).encrypt(&selection, &mut rng)?)
        }
    };
    write(out, files, &QueryV1 { schema: session.schema.hash(), ciphertext })
}

/// `windlass answer`.
pub fn answer(args: &AnswerArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let (table, session) = open_table(&args.table, &mut stages)?;
    let _claimed = claim(&args.out)?;
    let made = make_answer(&session, &table, &args.evaluation_keys, &args.input, &args.out, &mut stages)?;
    let mut report = Report::default();
    made.describe(&mut report);
    report.made(ANSWER, &args.out, made.bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// What the server knows about its product.
struct Answered {
    bytes: u64,
    plan: String,
    capacity: (f64, f64),
}

impl Answered {
    fn describe(&self, report: &mut Report) {
        self.plan.lines().for_each(|line| report.line(line));
        let (before, after) = self.capacity;
        report.line(format!("capacity: {before:.1} bits before the product, {after:.1} after"));
        report.field("plan", self.plan.as_str());
        report.field("capacity_bits", vec![before, after]);
    }
}

fn make_answer(
    session: &Session,
    table: &Table,
    keys: &Path,
    query: &Path,
    out: &Path,
    stages: &mut Stages,
) -> Result<Answered> {
    let (server, query) = stages.run("answer_load", "reading keys and query", || -> Result<_> {
        let (message, key): (QueryV1, _) = read(query, session.files())?;
        session.check_table(query, &message.schema)?;
        let keys: EvaluationKeys = read_for(keys, session.files(), (key, query))?;
        let server = session.context.server_from_keys(Arc::new(keys), Vec::new())?;
        Ok((server, message.ciphertext.into_ciphertext()))
    })?;
    let engine = server.engine();
    let (plan, prepared) = stages.run("answer_prepare", "encoding the table", || -> Result<_> {
        let records: Vec<Vec<u8>> = table.rows().iter().map(|row| encode_record(row)).collect();
        let plan = session.lookup.plan(&records)?;
        let each = engine.constant_bytes(engine.top_level());
        memory::check("the constants of the table", (plan.constants() * each) as u64)?;
        let prepared = plan.prepare(engine)?;
        Ok((plan, prepared))
    })?;
    let product = stages.run("answer_product", "multiplying", || plan.apply(&prepared, engine, &query))?;
    let capacity = (engine.capacity(&query), engine.capacity(&product));
    let small = engine.reduce_level(&product, ANSWER_CAPACITY)?;
    let message = AnswerV1 { schema: session.schema.hash(), ciphertext: CiphertextV1::new(small) };
    Ok(Answered { bytes: write(out, session.files(), &message)?, plan: plan.explain(), capacity })
}

/// `windlass decrypt`.
pub fn decrypt(args: &DecryptArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let session = stages.run("setup", "building rings", || Session::open(&args.source))?;
    if let Some(wanted) = &args.query {
        session.schema.row_of(wanted)?;
    }
    let secret = args.with.open(session.files())?;
    let row = stages.run("decrypt", "decrypting", || read_answer(&session, &secret, &args.input))?;
    if let Some(wanted) = &args.query {
        check_key(&session, &row, wanted)?;
    }
    let mut report = Report::default();
    describe_row(&session, &row, &mut report);
    report.field("verified", args.query.is_some());
    report.seconds(stages.seconds());
    Ok(report)
}

fn read_answer(session: &Session, file: &SecretFile<'_>, answer: &Path) -> Result<Vec<String>> {
    let secret = file.key(session.files())?;
    let message: AnswerV1 = read_for(answer, session.files(), (secret.key_id(), file.path()))?;
    session.check_table(answer, &message.schema)?;
    let client = session.context.client_from_key(Arc::new(secret))?;
    let product = client.decrypt_plaintext(&message.ciphertext.into_ciphertext())?;
    let record = session.lookup.record(&product).ok_or(CliError::NotARow)?;
    decode_record(&record, session.schema.columns.len()).ok_or(CliError::NotARow)
}

fn check_key(session: &Session, row: &[String], wanted: &str) -> Result<()> {
    let found = &row[session.schema.key_index()];
    if found == wanted {
        return Ok(());
    }
    Err(CliError::OtherRow { found: found.clone(), wanted: wanted.to_owned() })
}

fn describe_row(session: &Session, row: &[String], report: &mut Report) {
    let mut object = serde_json::Map::new();
    for (column, cell) in session.schema.columns.iter().zip(row) {
        report.line(format!("  {:<22}{}", printable(column), printable(cell)));
        object.insert(column.clone(), cell.as_str().into());
    }
    report.field("row", object);
}

/// `windlass lookup`: all stages through files, then a check against the table.
///
/// A table that no one asked special parameters for, and that does not fit one ciphertext, goes the
/// way of tables of any size.
pub fn lookup(args: &LookupArgs, quiet: bool) -> Result<Report> {
    let any_size = !args.table.names_params();
    if any_size && file_bytes(&args.table.table)? > ONE_CIPHERTEXT {
        return tables::lookup(args, quiet);
    }
    let mut stages = Stages::new(quiet);
    let (table, session) = match open_table(&args.table, &mut stages) {
        Err(CliError::TooLarge { .. }) if any_size => return tables::lookup(args, quiet),
        Err(error @ CliError::TooLarge { .. }) => {
            return Err(CliError::Usage(format!("{error}; without --params, 'lookup' takes tables of any size")));
        }
        opened => opened?,
    };
    let number = session.schema.row_of(&args.query)?;
    session.vouch_given(args.table.params(), args.table.insecure, true)?;
    let names = [SCHEMA, SECRET, PUBLIC, EVALUATION, QUERY, ANSWER];
    let outputs = match &args.out {
        Some(directory) => Outputs::claim_in(directory, &names)?,
        None => Outputs::temporary()?,
    };
    let at = |name: &str| outputs.at(name);
    session.schema.write(&at(SCHEMA))?;
    stages.run("keygen", "making keys", || make_keys(&session, &outputs, None))?;
    let secret = at(SECRET);
    stages.run("query", "encrypting the selection", || {
        make_query(&session, &KeyFile::Secret(SecretFile::read(&secret)?), number, &at(QUERY))
    })?;
    let made = make_answer(&session, &table, &at(EVALUATION), &at(QUERY), &at(ANSWER), &mut stages)?;
    let row =
        stages.run("decrypt", "decrypting", || read_answer(&session, &SecretFile::read(&secret)?, &at(ANSWER)))?;
    check_key(&session, &row, &args.query)?;
    if row != table.rows()[number] {
        return Err(CliError::RowDiffers);
    }
    let files = names.iter().map(|name| Ok((*name, file_bytes(&at(name))?))).collect::<Result<Vec<_>>>()?;
    outputs.keep()?;
    Ok(lookup_report(&session, &made, &row, &files, &stages))
}

fn lookup_report(session: &Session, made: &Answered, row: &[String], files: &[(&str, u64)], stages: &Stages) -> Report {
    let mut report = Report::default();
    let schema = &session.schema;
    report.line(format!(
        "private lookup by {} in {} rows of at most {} bytes: the server sees keys and ciphertexts only",
        printable(&schema.key),
        schema.keys.len(),
        schema.record_bytes
    ));
    report.line("");
    session.params().explain().lines().for_each(|line| report.line(line));
    report.line("");
    report.line("plan of the product");
    made.describe(&mut report);
    report.line("");
    report.line("files");
    report.bytes(files);
    report.line("");
    report.line("time");
    report.seconds(stages.seconds());
    report.line("");
    report.line("the decrypted row, equal to the row of the table");
    describe_row(session, row, &mut report);
    report.line("");
    if let Ok(million) = tables::million_rows() {
        report.line(format!("a million rows of 100 bytes by key: {million} (windlass table plan)"));
    }
    report.field("verified", true);
    report.field("security_bits", session.security_bits());
    report.field("parameters", session.params().name());
    report
}

/// `windlass explain`.
pub fn explain(args: &ExplainArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let session = stages.run("setup", "building rings", || Session::open(&args.source))?;
    let plan = stages.run("plan", "planning the product", || session.lookup.shape_plan())?;
    let mut report = Report::default();
    session.params().explain().lines().for_each(|line| report.line(line));
    plan.explain().lines().for_each(|line| report.line(line));
    let keys = plan.required_keys();
    let bytes = keys.len() as u64 * session.params().rlwe().key_sizes().switching_key_disk;
    report.line(format!("evaluation keys: {} of them, {bytes} bytes before they are made", keys.len()));
    report.field("plan", plan.explain());
    report.field("keys", keys.into_iter().collect::<Vec<_>>());
    report.field("evaluation_key_bytes", bytes);
    report.field("parameters", session.params().name());
    report.field("security_bits", session.security_bits());
    Ok(report)
}
