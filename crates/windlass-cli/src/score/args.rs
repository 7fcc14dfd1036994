//! Arguments of `windlass score`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use windlass_secrets::SealArgs;

use crate::key_file::{EncryptionKeyArgs, SecretKeyArgs};

/// What a model file may be.
const MODEL_HELP: &str = "\
An existing model: JSON if the name ends in .json, otherwise CSV.

JSON: {\"weights\": [..], \"bias\": 0.5} gives one score for each row. {\"weights\": [[..], ..], \"bias\": [..]} gives one score for each class, and the largest score decides. Optional fields: \"means\" and \"scales\" (the weights apply to (x - mean)/scale); \"bound\" on the absolute values of the features, after standardisation if there are means and scales (default 16; larger features are refused); \"classes\" (names; for one score two names, the second for positive scores); \"features\" (names of the columns, in the order of the weights).

CSV: a header with the names of the feature columns and 'bias', and one row of weights.";

/// Arguments of `score`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ScoreArgs {
    /// Run one step instead of all of them.
    #[command(subcommand)]
    pub step: Option<ScoreStep>,
    /// Rows and their features.
    #[command(flatten)]
    pub rows: OptionalRowArgs,
    #[arg(
        long,
        value_name = "FILE",
        help = "An existing model, as JSON or CSV [default: train one]",
        long_help = MODEL_HELP
    )]
    pub weights: Option<PathBuf>,
    /// The label of the class of positive scores.
    #[arg(long, value_name = "VALUE", requires = "label")]
    pub positive: Option<String>,
    /// Hold every N-th row out of the training [default: 3].
    #[arg(long, value_name = "N", conflicts_with = "weights")]
    pub hold_out: Option<usize>,
}

impl ScoreArgs {
    /// Whether files are left when the report is lost.
    pub fn leaves_something(&self) -> bool {
        match &self.step {
            Some(ScoreStep::Decrypt(args)) => args.out.is_some(),
            step => step.is_some(),
        }
    }
}

/// Where rows come from, for all steps at once.
#[derive(Debug, Args)]
pub struct OptionalRowArgs {
    /// The table: a CSV file with a header line.
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Which of its columns are no features.
    #[command(flatten)]
    pub columns: ColumnArgs,
}

/// Where rows come from.
#[derive(Debug, Args)]
pub struct RowArgs {
    /// The table: a CSV file with a header line.
    #[arg(long, value_name = "FILE")]
    pub table: PathBuf,
    /// Which of its columns are no features.
    #[command(flatten)]
    pub columns: ColumnArgs,
}

/// Which columns are features: those that the model names, or all but these.
#[derive(Debug, Args)]
pub struct ColumnArgs {
    /// The column with a different value in each row, the key of the row [default: id, if there is
    /// one].
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,
    /// The column that holds the class.
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// A column that is not a feature (any number of times).
    #[arg(long, value_name = "COLUMN")]
    pub skip: Vec<String>,
}

/// One step.
#[derive(Debug, Subcommand)]
pub enum ScoreStep {
    /// Server: write the public shape of a model (features, classes, standardisation, parameters).
    Schema(SchemaArgs),
    /// Client: make the secret key, the public key and the evaluation keys for a schema.
    Keygen(KeygenArgs),
    /// Client: encrypt the rows of a table.
    Encrypt(EncryptArgs),
    /// Server: score the encrypted rows.
    Apply(ApplyArgs),
    /// Client: decrypt the scores.
    Decrypt(DecryptArgs),
}

/// The server's model.
#[derive(Debug, Args)]
pub struct ModelArgs {
    #[arg(long, value_name = "FILE", help = "The model, as JSON or CSV", long_help = MODEL_HELP)]
    pub weights: PathBuf,
}

/// Arguments of `score schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The schema file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// The schema that the server published.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// The schema file that the server published.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    /// Accept a schema with parameters below 128 bits of security.
    #[arg(long)]
    pub insecure: bool,
}

/// Arguments of `score keygen`.
#[derive(Debug, Args)]
pub struct KeygenArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Directory for secret.key, public.key and evaluation.keys (made if missing).
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub seal: SealArgs,
}

/// Arguments of `score encrypt`.
#[derive(Debug, Args)]
pub struct EncryptArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub rows: RowArgs,
    #[command(flatten)]
    pub with: EncryptionKeyArgs,
    /// The file of encrypted rows to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `score apply`.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The schema file that was published for the model.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    /// The client's evaluation keys.
    #[arg(long, value_name = "FILE")]
    pub evaluation_keys: PathBuf,
    /// The file of encrypted rows.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The file of encrypted scores to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `score decrypt`.
#[derive(Debug, Args)]
pub struct DecryptArgs {
    /// The schema file that the server published.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    #[command(flatten)]
    pub with: SecretKeyArgs,
    /// The file of encrypted scores.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// Write the scores to this CSV file instead of printing them.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
