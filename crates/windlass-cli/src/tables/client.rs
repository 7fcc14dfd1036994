//! The steps of a client, and what it prints.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use windlass::wire::{Passphrase, WireError};
use windlass_retrieval::{Answer, Client, KeyContext, Schema, Setting, TableContext, decode_record, format_bytes};

use super::args::{DecryptArgs, KeygenArgs, QueryArgs, WantedArgs};
use super::asked::Asked;
use crate::error::{CliError, Result};
use crate::files::{Outputs, claim};
use crate::key_file::{SecretFile, write_secret};
use crate::progress::Stages;
use crate::report::{Report, printable, rounded_down};
use crate::security::tell_security;
use crate::table::without_mark;
use crate::values::{read_for, write};

pub const SECRET: &str = "secret.key";
pub const EVALUATION: &str = "evaluation.keys";

/// Longest schema that is read.
const SCHEMA_BYTES: u64 = 1 << 20;

/// A schema file, all of it checked.
pub fn open_schema(path: &Path) -> Result<(Schema, Arc<Setting>)> {
    use std::io::Read;
    let failed = |error: std::io::Error| CliError::at(path)(WireError::from(error));
    let mut text = Vec::new();
    std::fs::File::open(path).map_err(failed)?.take(SCHEMA_BYTES).read_to_end(&mut text).map_err(failed)?;
    Schema::from_json(without_mark(&text)).map_err(|error| match error {
        windlass_retrieval::Error::BadSchema { reason } => {
            CliError::NotOfFormat { path: path.into(), what: "the schema of a table", reason }
        }
        error => CliError::Table { path: path.into(), source: error },
    })
}

/// λ in bits, rounded down to a tenth.
pub fn security_bits(setting: &Setting) -> f64 {
    rounded_down(setting.context().params().security().bits)
}

/// `windlass table keygen`.
pub fn keygen(args: &KeygenArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let (schema, setting) = stages.run("setup", "building rings", || open_schema(&args.schema))?;
    let bits = security_bits(&setting);
    let keys = format!("; keys of {}", format_bytes(schema.shape.sizes(&setting).keys));
    tell_security("parameters of", bits, &keys, quiet);
    let outputs = Outputs::claim_in(&args.out, &[SECRET, EVALUATION])?;
    let passphrase = args.seal.passphrase(&args.out.join(SECRET))?;
    let files = stages.run("keygen", "making keys", || make_keys(schema, &setting, &outputs, passphrase.as_ref()))?;
    outputs.keep()?;
    let mut report = Report::default();
    report.line(format!("keys of {bits:.1} bits of security"));
    report.field("security_bits", bits);
    report.bytes(&files);
    report.seconds(stages.seconds());
    Ok(report)
}

/// Makes the keys of a client.
pub fn make_keys(
    schema: Schema,
    setting: &Arc<Setting>,
    outputs: &Outputs,
    passphrase: Option<&Passphrase>,
) -> Result<Vec<(&'static str, u64)>> {
    let client = Client::new(schema, setting)?;
    let context = KeyContext::new(setting);
    let keys = client.evaluation_keys()?;
    let mut files = vec![(SECRET, write_secret(&outputs.at(SECRET), &context, client.secret(), passphrase)?)];
    files.push((EVALUATION, write(&outputs.at(EVALUATION), &context, &keys)?));
    Ok(files)
}

/// A client with the secret key of a file.
pub fn client_of(schema: Schema, setting: &Arc<Setting>, secret: &SecretFile<'_>) -> Result<Client> {
    Ok(Client::with_secret(schema, setting, secret.key(&KeyContext::new(setting))?)?)
}

/// `windlass table query`.
pub fn query(args: &QueryArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let (schema, setting) = stages.run("setup", "building rings", || open_schema(&args.schema))?;
    let bits = security_bits(&setting);
    tell_security("parameters of", bits, "", quiet);
    let secret = args.with.open(&KeyContext::new(&setting))?;
    let reply = args.hidden.blind_reply.as_deref();
    let bytes = stages.run("query", "encrypting the query", || {
        make_query(schema, &setting, &secret, (&args.wanted, reply), &args.out)
    })?;
    let mut report = Report::default();
    report.line("the query is encrypted");
    report.field("security_bits", bits);
    report.made("query", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// Writes a query for rows; a blind reply hides their keys.
pub fn make_query(
    schema: Schema,
    setting: &Arc<Setting>,
    secret: &SecretFile<'_>,
    (wanted, reply): (&WantedArgs, Option<&Path>),
    out: &Path,
) -> Result<u64> {
    let context = TableContext::new(setting, &schema);
    let client = client_of(schema, setting, secret)?;
    let asked = Asked::of(&client, wanted, reply, secret.path())?;
    write(out, &context, &client.query(&asked.wanted)?)
}

/// `windlass table decrypt`.
pub fn decrypt(args: &DecryptArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let (schema, setting) = stages.run("setup", "building rings", || open_schema(&args.schema))?;
    let secret = args.with.open(&KeyContext::new(&setting))?;
    let wanted = (&args.wanted, args.hidden.blind_reply.as_deref());
    let rows =
        stages.run("decrypt", "decrypting", || read_rows(schema.clone(), &setting, &secret, wanted, &args.input))?;
    let mut report = Report::default();
    let rows = describe(&schema, &args.wanted, &rows, &mut report)?;
    report.field("rows", rows);
    report.seconds(stages.seconds());
    Ok(report)
}

/// The rows in an answer; `None` for a key that the table does not have.
pub fn read_rows(
    schema: Schema,
    setting: &Arc<Setting>,
    secret: &SecretFile<'_>,
    (wanted, reply): (&WantedArgs, Option<&Path>),
    answer: &Path,
) -> Result<Vec<Option<Vec<u8>>>> {
    let context = TableContext::new(setting, &schema);
    let client = client_of(schema, setting, secret)?;
    let asked = Asked::of(&client, wanted, reply, secret.path())?;
    let answer: Answer = read_for(answer, &context, (client.secret().key_id(), secret.path()))?;
    asked.open(client.read(&answer, &asked.wanted)?)
}

/// Prints rows, field by field, and gives them as objects.
pub fn describe(
    schema: &Schema,
    wanted: &WantedArgs,
    rows: &[Option<Vec<u8>>],
    report: &mut Report,
) -> Result<Vec<Value>> {
    let names = wanted.keys.iter().map(|key| printable(key)).chain(wanted.rows.iter().map(|row| format!("row {row}")));
    let mut list = Vec::new();
    for (name, row) in names.zip(rows) {
        let Some(row) = row else {
            report.line(format!("{name}: not there"));
            list.push(Value::Null);
            continue;
        };
        if schema.is_cleared(row) {
            report.line(format!("{name}: empty"));
            list.push(Value::Null);
            continue;
        }
        let cells = decode_record(row, schema.fields.len()).ok_or(CliError::NotARow)?;
        let mut object = serde_json::Map::new();
        report.line(name);
        for (field, cell) in schema.fields.iter().zip(cells) {
            report.line(format!("  {:<22}{}", printable(field), printable(&cell)));
            object.insert(field.clone(), cell.into());
        }
        list.push(object.into());
    }
    Ok(list)
}
