//! The files of a refresh, which sets of integers and of CKKS have in common.

use std::path::Path;

use windlass::bootstrap::KeyBytes;
use windlass::rlwe::{EvaluationKeys, PublicKey, SecretKey};
use windlass::wire::{FileContext, Passphrase};

use crate::error::Result;
use crate::files::Outputs;
use crate::key_file::write_secret;
use crate::memory;
use crate::progress::Stages;
use crate::report::Report;
use crate::values::{file_bytes, write};

pub const SECRET: &str = "secret.key";
pub const PUBLIC: &str = "public.key";
pub const EVALUATION: &str = "evaluation.keys";
pub const BOOTSTRAP: &str = "bootstrap.keys";
pub const SPENT: &str = "spent.bin";
pub const REFRESHED: &str = "refreshed.bin";

/// The files of all steps in a row.
const ALL: [&str; 6] = [SECRET, PUBLIC, EVALUATION, BOOTSTRAP, SPENT, REFRESHED];

/// Names of files and their bytes.
pub type FileSizes = Vec<(&'static str, u64)>;

/// Claims the files of keys in a directory.
pub fn claim_keys(directory: &Path) -> Result<Outputs> {
    Outputs::claim_in(directory, &[SECRET, PUBLIC, EVALUATION, BOOTSTRAP])
}

/// Claims the files of all steps in a directory, or temporary ones.
pub fn claim_all(directory: Option<&Path>) -> Result<Outputs> {
    directory.map_or_else(Outputs::temporary, |directory| Outputs::claim_in(directory, &ALL))
}

/// Refuses keys that do not fit into memory, beside the largest file as it is written.
pub fn check_memory_of_keys(sizes: &KeyBytes) -> Result<()> {
    memory::check("the keys", sizes.evaluation_memory.saturating_add(sizes.evaluation.max(sizes.bootstrap)))
}

/// Writes the keys, except for those of the refresh alone.
pub fn write_keys<C: FileContext>(
    outputs: &Outputs,
    files: &C,
    (secret, public, evaluation): (&SecretKey, &PublicKey, &EvaluationKeys),
    passphrase: Option<&Passphrase>,
) -> Result<FileSizes> {
    Ok(vec![
        (SECRET, write_secret(&outputs.at(SECRET), files, secret, passphrase)?),
        (PUBLIC, write(&outputs.at(PUBLIC), files, public)?),
        (EVALUATION, write(&outputs.at(EVALUATION), files, evaluation)?),
    ])
}

/// The report of `windlass refresh keygen`, with the name of the set and its security in bits.
pub fn report_keys((name, bits): (&str, f64), files: &FileSizes, stages: &Stages) -> Report {
    let mut report = Report::default();
    report.line(format!("keys for '{name}' ({bits:.1} bits of security)"));
    report.field("security_bits", bits);
    report.bytes(files);
    report.seconds(stages.seconds());
    report
}

/// Gives the files of all steps their place, and their sizes.
pub fn keep_all(outputs: Outputs) -> Result<FileSizes> {
    let sizes = ALL.iter().map(|name| Ok((*name, file_bytes(&outputs.at(name))?))).collect::<Result<_>>()?;
    outputs.keep()?;
    Ok(sizes)
}

/// The end of the report of all steps: files, times, and what was verified.
pub fn describe_all(
    report: &mut Report,
    (name, bits): (&str, f64),
    files: &FileSizes,
    stages: &Stages,
    verified: String,
) {
    report.line("files");
    report.bytes(files);
    report.line("time");
    report.seconds(stages.seconds());
    report.line(verified);
    report.field("verified", true);
    report.field("preset", name);
    report.field("security_bits", bits);
}
