//! The public shape of a model, in the file of a schema.

use std::path::Path;

use windlass::wire::{Access, write_new};
use windlass_scoring::{SchemaError, ScoringSchema, ScoringSetting};

use super::args::SourceArgs;
use super::model_file::Model;
use super::reason::reason;
use crate::error::{CliError, Result};
use crate::report::rounded_down;
use crate::security::{SECURE_BITS, tell_security};
use crate::table::{read_text, without_mark};

const WHAT: &str = "a scoring schema";

/// λ of a setting in bits, rounded down to a tenth.
pub fn security_bits(setting: &ScoringSetting) -> f64 {
    rounded_down(setting.security_bits())
}

/// The schema of a model in its setting.
pub fn of_model(model: &Model, setting: &ScoringSetting) -> Result<ScoringSchema> {
    let schema = ScoringSchema::of(&model.linear, setting, model.columns.clone(), model.classes.clone());
    schema.map_err(|error| CliError::Usage(reason(error)))
}

/// Writes a schema to a new file and gives its size.
pub fn write_schema(schema: &ScoringSchema, path: &Path) -> Result<u64> {
    let text = schema.to_json();
    write_new(path, &text, Access::Public).map_err(CliError::at(path))?;
    Ok(text.len() as u64)
}

/// Reads a schema file.
fn read_schema(path: &Path) -> Result<ScoringSchema> {
    ScoringSchema::from_json(without_mark(&read_text(path)?)).map_err(refused(path))
}

/// Builds what a schema says, every promise of it checked.
fn build(schema: &ScoringSchema, path: &Path) -> Result<ScoringSetting> {
    schema.build().map_err(refused(path))
}

/// Reads a schema file and builds what it says.
pub fn open(path: &Path) -> Result<(ScoringSchema, ScoringSetting)> {
    let schema = read_schema(path)?;
    let setting = build(&schema, path)?;
    Ok((schema, setting))
}

/// For a client, before it makes keys or encrypts: a stranger's schema names the parameters, so
/// it is refused below 128 bits unless the client accepts that, before anything is built. The
/// client also prints the security.
pub fn vouched(source: &SourceArgs, quiet: bool) -> Result<(ScoringSchema, ScoringSetting)> {
    let path = &source.schema;
    let schema = read_schema(path)?;
    let params = schema.params().map_err(refused(path))?;
    let bits = rounded_down(params.security().bits);
    let name = format!("CKKS, n = {}", params.n());
    if bits < SECURE_BITS && !source.insecure {
        return Err(CliError::WeakParameters { path: path.clone(), parameters: name, bits });
    }
    tell_security(format_args!("parameters '{name}':"), bits, "", quiet);
    let setting = build(&schema, path)?;
    Ok((schema, setting))
}

/// Refuses encrypted rows or scores that were made for another schema; `path` is their file.
pub fn check_hash(schema: &ScoringSchema, path: &Path, found: &[u8; 32]) -> Result<()> {
    schema.check(found).map_err(|error| of_file(path, error))
}

/// A refusal of encrypted rows or scores in a file.
pub fn of_file(path: &Path, error: SchemaError) -> CliError {
    match error {
        SchemaError::OtherSchema { found, expected } => {
            CliError::OtherScoringSchema { path: path.into(), found, expected }
        }
        SchemaError::Library(error) => error.into(),
        other => CliError::NotOfFormat { path: path.into(), what: WHAT, reason: reason(other) },
    }
}

/// Refuses a model that reads rows otherwise than this schema tells clients to write them, or
/// names its scores otherwise. The unit may be larger than its scores need.
pub fn check_model(
    schema: &ScoringSchema,
    path: &Path,
    setting: &ScoringSetting,
    model: &Model,
    file: &Path,
) -> Result<()> {
    let (own, stated) = (model.linear.standardisation(), setting.scoring.standardisation());
    let differ = [
        ("numbers of features", own.features() != stated.features()),
        ("numbers of classes", model.linear.classes() != schema.scores()),
        ("names of features", model.columns.as_deref() != schema.columns()),
        ("names of classes", model.classes.as_deref() != schema.classes()),
        ("means, scales or bounds", own != stated),
    ];
    let Some((what, _)) = differ.into_iter().find(|(_, differ)| *differ) else { return Ok(()) };
    let reason = format!("the {what} differ; give clients the schema of this model ('windlass score schema')");
    Err(CliError::OtherModel { path: path.into(), model: file.into(), reason })
}

/// Names the schema of which something is refused.
fn refused(path: &Path) -> impl FnOnce(SchemaError) -> CliError {
    |error| CliError::NotOfFormat { path: path.into(), what: WHAT, reason: reason(error) }
}
