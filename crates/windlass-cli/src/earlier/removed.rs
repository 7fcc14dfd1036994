//! Commands of earlier versions, each with the command that replaces it.

use std::ffi::OsString;

use clap::Subcommand;

use crate::error::CliError;

/// The steps of the first lookup, which `windlass table` replaces.
#[derive(Debug, Subcommand)]
pub enum RemovedCommand {
    /// Removed: use `windlass table build`, which writes the schema of a table.
    #[command(hide = true)]
    Schema(Arguments),
    /// Removed: use `windlass table keygen`.
    #[command(hide = true)]
    Keygen(Arguments),
    /// Removed: use `windlass table query`.
    #[command(hide = true)]
    Query(Arguments),
    /// Removed: use `windlass table answer`.
    #[command(hide = true)]
    Answer(Arguments),
    /// Removed: use `windlass table plan`.
    #[command(hide = true)]
    Explain(Arguments),
}

/// Whatever the command took.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<OsString>,
}

impl RemovedCommand {
    /// Names the command that replaces this one.
    pub fn refusal(&self) -> CliError {
        let (name, replacement) = match self {
            Self::Schema(_) => ("schema", "windlass table build --table FILE --key COLUMN --out DIR"),
            Self::Keygen(_) => ("keygen", "windlass table keygen --schema FILE --out DIR"),
            Self::Query(_) => {
                ("query", "windlass table query --schema FILE --secret-key FILE --query VALUE --out FILE")
            }
            Self::Answer(_) => {
                ("answer", "windlass table answer --dir DIR --evaluation-keys FILE --in FILE --out FILE")
            }
            Self::Explain(_) => ("explain", "windlass table plan --table FILE --key COLUMN"),
        };
        CliError::RemovedCommand { name, replacement }
    }
}
