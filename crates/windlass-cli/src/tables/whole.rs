//! A whole lookup in one process, through files, and a check against the table.

use windlass_retrieval::{Plan, RowStatistics, Wish, size};

use super::args::WantedArgs;
use super::client::{EVALUATION, SECRET, describe, make_keys, make_query, read_rows, security_bits};
use super::planning::describe_plan;
use super::server::{make_answer, prepare};
use super::source::Source;
use crate::args::LookupArgs;
use crate::error::{CliError, Result};
use crate::files::Outputs;
use crate::key_file::SecretFile;
use crate::progress::Stages;
use crate::report::{Report, printable};
use crate::values::file_bytes;

const TABLE: &str = "table";
const QUERY: &str = "query.bin";
const ANSWER: &str = "answer.bin";

/// `windlass lookup` in a table that does not fit one ciphertext.
pub fn lookup(args: &LookupArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let source = stages.run("table", "reading the table", || Source::read(&args.table.table, Some(&args.table.key)))?;
    let key = args.query.as_bytes();
    let Some((_, row)) = source.rows.iter().find(|(name, _)| name == key) else {
        let (column, value) = (printable(&args.table.key), printable(&args.query));
        return Err(CliError::Usage(format!("no row where {column} is '{value}'")));
    };
    let names = [TABLE, SECRET, EVALUATION, QUERY, ANSWER];
    let outputs = match &args.out {
        Some(directory) => Outputs::claim_in(directory, &names)?,
        None => Outputs::temporary()?,
    };
    let at = |name: &str| outputs.at(name);
    let wanted = WantedArgs { keys: vec![args.query.clone()], rows: Vec::new() };
    let (plan, table) = prepare(&source, &at(TABLE), None, &Wish::default(), &mut stages)?;
    let (schema, setting) = (table.schema().clone(), table.setting().clone());
    stages.run("keygen", "making keys", || make_keys(schema.clone(), &setting, &outputs, None))?;
    let secret = at(SECRET);
    stages.run("query", "encrypting the question", || {
        make_query(schema.clone(), &setting, &SecretFile::read(&secret)?, (&wanted, None), &at(QUERY))
    })?;
    make_answer(&table, &at(EVALUATION), &at(QUERY), &at(ANSWER), &mut stages)?;
    let rows = stages.run("decrypt", "decrypting", || {
        read_rows(schema.clone(), &setting, &SecretFile::read(&secret)?, (&wanted, None), &at(ANSWER))
    })?;
    if rows[0].as_ref() != Some(row) {
        return Err(CliError::RowDiffers);
    }
    let files = [SECRET, EVALUATION, QUERY, ANSWER];
    let files = files.iter().map(|name| Ok((*name, file_bytes(&at(name))?))).collect::<Result<Vec<_>>>()?;
    drop(table);
    outputs.keep()?;
    let mut report = Report::default();
    report.line(format!(
        "private lookup by {} in {} rows: the server sees keys and ciphertexts only, and no key is published",
        printable(&args.table.key),
        source.rows.len()
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
    describe(&schema, &wanted, &rows, &mut report)?;
    report.field("verified", true);
    report.field("security_bits", security_bits(&setting));
    Ok(report)
}

/// What a million rows of 100 bytes would take, in a line.
pub fn million_rows() -> Result<String> {
    let rows = RowStatistics { count: 1_000_000, longest: 100, fixed: true, total: 100_000_000 };
    let plan = Plan::keywords(rows, "00", 1.0, &Wish::default())?;
    Ok(format!(
        "keys {} once, query {}, answer {}, {:.2} s of a core, prepared in {:.0} s",
        size(plan.sizes.keys),
        size(plan.traffic[0]),
        size(plan.traffic[1]),
        plan.seconds.answer,
        plan.seconds.prepare
    ))
}
