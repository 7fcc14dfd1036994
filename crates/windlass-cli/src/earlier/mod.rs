//! What remains of the first lookup, of tables that fit one ciphertext: its answers can be
//! decrypted, and its other commands name those that replace them.

mod removed;
mod schema;

use std::path::Path;
use std::sync::Arc;

use windlass::Context;
use windlass::circuits::Lookup;
use windlass::wire::{AnswerV1, prefixes};
use windlass_retrieval::decode_record;

pub use removed::RemovedCommand;

use crate::args::DecryptArgs;
use crate::error::{CliError, Result};
use crate::key_file::SecretFile;
use crate::progress::Stages;
use crate::report::{Report, printable, shortened};
use crate::values::read_for;
use crate::words::in_commands;
use schema::Schema;

/// A schema with everything built from it.
struct Session {
    schema: Schema,
    context: Context,
    lookup: Lookup,
}

impl Session {
    fn open(path: &Path) -> Result<Self> {
        let schema = Schema::read(path)?;
        let (rows, bytes) = (schema.keys.len(), schema.record_bytes);
        let build = || -> windlass::Result<_> {
            let context = Context::from_params(schema.parameters.load()?)?;
            let lookup = Lookup::new(&context, rows, bytes)?;
            Ok((context, lookup))
        };
        let (context, lookup) = build().map_err(|error| of_schema(path, &schema, error))?;
        Ok(Self { schema, context, lookup })
    }

    /// Refuses an answer that was made for another table.
    fn check_table(&self, path: &Path, schema: &[u8; 32]) -> Result<()> {
        let expected = self.schema.hash();
        if *schema == expected {
            return Ok(());
        }
        let [found, expected] = prefixes(schema, &expected, 4);
        Err(CliError::OtherTable { path: path.into(), found, expected })
    }
}

/// Names the schema that a client was given: its parameters are its owner's to choose.
fn of_schema(path: &Path, schema: &Schema, error: windlass::Error) -> CliError {
    let path = path.to_owned();
    match error {
        windlass::Error::TableTooLarge { .. } => CliError::SchemaTooLarge {
            path,
            rows: schema.keys.len(),
            bytes: schema.record_bytes,
            parameters: schema.parameters.name(),
        },
        windlass::Error::UnknownName { given, .. } => {
            CliError::SchemaParameters { path, reason: format!("there is no parameter set '{}'", shortened(&given)) }
        }
        error => CliError::SchemaParameters { path, reason: in_commands(error) },
    }
}

/// `windlass decrypt`.
pub fn decrypt(args: &DecryptArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let session = stages.run("setup", "building rings", || Session::open(&args.schema))?;
    if let Some(wanted) = &args.query {
        session.schema.check_key(wanted)?;
    }
    let secret = args.with.open(session.context.files())?;
    let row = stages.run("decrypt", "decrypting", || read_answer(&session, &secret, &args.input))?;
    if let Some(wanted) = &args.query {
        check_row(&session.schema, &row, wanted)?;
    }
    let mut report = Report::default();
    describe_row(&session.schema, &row, &mut report);
    report.field("verified", args.query.is_some());
    report.seconds(stages.seconds());
    Ok(report)
}

fn read_answer(session: &Session, file: &SecretFile<'_>, answer: &Path) -> Result<Vec<String>> {
    let files = session.context.files();
    let secret = file.key(files)?;
    let message: AnswerV1 = read_for(answer, files, (secret.key_id(), file.path()))?;
    session.check_table(answer, &message.schema)?;
    let client = session.context.client_from_key(Arc::new(secret))?;
    let product = client.decrypt_plaintext(&message.ciphertext.into_ciphertext())?;
    let record = session.lookup.record(&product).ok_or(CliError::NotARow)?;
    decode_record(&record, session.schema.columns.len()).ok_or(CliError::NotARow)
}

fn check_row(schema: &Schema, row: &[String], wanted: &str) -> Result<()> {
    let found = &row[schema.key_index()];
    if found == wanted {
        return Ok(());
    }
    Err(CliError::OtherRow { found: found.clone(), wanted: wanted.to_owned() })
}

fn describe_row(schema: &Schema, row: &[String], report: &mut Report) {
    let mut object = serde_json::Map::new();
    for (column, cell) in schema.columns.iter().zip(row) {
        report.line(format!("  {:<22}{}", printable(column), printable(cell)));
        object.insert(column.clone(), cell.as_str().into());
    }
    report.field("row", object);
}
