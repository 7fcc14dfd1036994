//! A whole lookup in one process, through files, and a check against the table.

use windlass_retrieval::{SCHEMA_FILE, Table, TableRequirements};

use super::args::WantedArgs;
use super::client::{EVALUATION, SECRET, describe, make_keys, make_query, read_rows, security_bits};
use super::planning::describe_plan;
use super::server::{make_answer, prepare};
use super::source::Source;
use crate::args::LookupArgs;
use crate::error::{CliError, Result};
use crate::files::Outputs;
use crate::key_file::SecretFile;
use crate::nearest::nearest;
use crate::progress::Stages;
use crate::report::{Report, printable};
use crate::values::file_bytes;

const TABLE: &str = "table";
const QUERY: &str = "query.bin";
const ANSWER: &str = "answer.bin";

/// `windlass lookup`.
pub fn lookup(args: &LookupArgs, quiet: bool) -> Result<Report> {
    if args.params.is_some() {
        return Err(CliError::Usage(
            "'windlass lookup' chooses parameters of at least 128 bits of security itself: leave --params out".into(),
        ));
    }
    let mut stages = Stages::new(quiet);
    let source = stages.run("table", "reading the table", || Source::read(&args.table, Some(&args.key)))?;
    let expected = row_of(&source, &args.key, &args.query)?;
    let outputs = match &args.out {
        Some(directory) => Outputs::claim_in(directory, &[TABLE, SECRET, EVALUATION, QUERY, ANSWER])?,
        None => Outputs::temporary()?,
    };
    let (plan, table) = prepare(&source, &outputs.at(TABLE), None, &TableRequirements::default(), &mut stages)?;
    let wanted = WantedArgs { keys: vec![args.query.clone()], rows: Vec::new() };
    let rows = ask(&table, &wanted, &outputs, &mut stages)?;
    if rows[0].as_deref() != Some(expected) {
        return Err(CliError::RowDiffers);
    }
    let files = sizes(&outputs)?;
    let mut report = Report::default();
    report.line(format!(
        "private lookup by {} in {} rows of at most {} bytes: the server sees keys and ciphertexts only, and no key is published",
        printable(&args.key),
        source.rows.len(),
        source.statistics()?.longest
    ));
    report.line("");
    describe_plan(&plan, &mut report);
    report.line("");
    report.line("files");
    report.bytes(&files);
    report.line("");
    report.line("time");
    report.seconds(stages.seconds());
    report.line("");
    report.line("the decrypted row, equal to the row of the table");
    let rows = describe(table.schema(), &wanted, &rows, &mut report)?;
    report.line("");
    report.line("for the sizes and times of larger tables: windlass table plan --rows 1000000 --bytes 100 --key id");
    // The one row, and the list that `windlass table decrypt` gives.
    report.field("row", rows[0].clone());
    report.field("rows", rows);
    report.field("verified", true);
    report.field("security_bits", security_bits(table.setting()));
    // The pieces of the table are mapped, and some systems move no directory with mapped files.
    drop(table);
    outputs.keep()?;
    Ok(report)
}

/// The encoded row with this key.
fn row_of<'s>(source: &'s Source, column: &str, value: &str) -> Result<&'s [u8]> {
    let found = source.rows.iter().find(|(name, _)| name == value.as_bytes());
    found.map(|(_, row)| row.as_slice()).ok_or_else(|| {
        let names = source.rows.iter().filter_map(|(name, _)| std::str::from_utf8(name).ok());
        let nearest = nearest(value, names).map(str::to_owned);
        CliError::UnknownKey { column: column.to_owned(), value: value.to_owned(), nearest }
    })
}

/// The steps of a client and of the server after the table is prepared.
fn ask(table: &Table, wanted: &WantedArgs, outputs: &Outputs, stages: &mut Stages) -> Result<Vec<Option<Vec<u8>>>> {
    let (schema, setting) = (table.schema(), table.setting());
    let [secret, keys, query, answer] = [SECRET, EVALUATION, QUERY, ANSWER].map(|name| outputs.at(name));
    stages.run("keygen", "making keys", || make_keys(schema.clone(), setting, outputs, None))?;
    stages.run("query", "encrypting the query", || {
        make_query(schema.clone(), setting, &SecretFile::read(&secret)?, (wanted, None), &query)
    })?;
    make_answer(table, &keys, &query, &answer, stages)?;
    stages.run("decrypt", "decrypting", || {
        read_rows(schema.clone(), setting, &SecretFile::read(&secret)?, (wanted, None), &answer)
    })
}

/// The sizes of the files. The prepared table is a directory, whose size the plan states.
fn sizes(outputs: &Outputs) -> Result<Vec<(&'static str, u64)>> {
    let schema = outputs.at(TABLE).join(SCHEMA_FILE);
    let schema = (SCHEMA_FILE, file_bytes(&schema)?);
    let others = [SECRET, EVALUATION, QUERY, ANSWER].map(|name| Ok((name, file_bytes(&outputs.at(name))?)));
    std::iter::once(Ok(schema)).chain(others).collect()
}
