//! Arguments of `windlass search`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use windlass_retrieval::vectors::Metric;
use windlass_secrets::SealArgs;

use crate::key_file::SecretKeyArgs;
use crate::whole_number::from;

/// What a file of vectors may be.
const VECTORS_HELP: &str = "\
Vectors: a NumPy array if the name ends in .npy (float32, float64, int8 or uint8; two dimensions, or one dimension for one vector), otherwise CSV with a header line.

Except with the cosine, int8 numbers and uint8 numbers up to 127 are used unchanged. All other numbers are quantised.";

/// Arguments of `search`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SearchArgs {
    /// Run one step instead of all of them.
    #[command(subcommand)]
    pub step: Option<SearchStep>,
    #[arg(long, value_name = "FILE", help = "The table: .npy or CSV", long_help = VECTORS_HELP)]
    pub table: Option<PathBuf>,
    /// The vectors to look for: .npy or CSV.
    #[arg(long, value_name = "FILE")]
    pub query: Option<PathBuf>,
    /// How many of the nearest vectors to find.
    #[arg(long, value_name = "K", default_value_t = 10, allow_negative_numbers = true, value_parser = from(1))]
    pub k: usize,
    #[command(flatten)]
    pub how: HowArgs,
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// Only print sizes and an estimate of the seconds.
    #[arg(long)]
    pub plan: bool,
}

impl SearchArgs {
    /// Whether files are left when the report is lost.
    pub fn leaves_something(&self) -> bool {
        self.step.as_ref().is_some_and(|step| !matches!(step, SearchStep::Decrypt(_)))
    }
}

/// How vectors are compared, and what a plan prefers.
#[derive(Debug, Args)]
pub struct HowArgs {
    /// How vectors are compared: cosine, inner-product or euclidean.
    #[arg(long, value_name = "METRIC", default_value = "cosine")]
    pub metric: Metric,
    /// Bits of each quantised number of the table, from 2 to 8.
    #[arg(long, value_name = "BITS", default_value_t = 8)]
    pub bits: u32,
    /// Megabytes a second between client and server. For a faster link the plan uses larger
    /// messages and less computation.
    #[arg(long, value_name = "MB/S", default_value_t = 12.5)]
    pub bandwidth: f64,
}

/// Which columns of a CSV file are numbers.
#[derive(Debug, Clone, Args)]
pub struct ColumnArgs {
    /// The column of a CSV file that names each vector [default: id, if there is one].
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,
    /// A column of a CSV file that is not a number (any number of times). It may be missing in one
    /// of two files.
    #[arg(long, value_name = "COLUMN")]
    pub skip: Vec<String>,
}

/// One step.
#[derive(Debug, Subcommand)]
pub enum SearchStep {
    /// Server: write the public shape of a table of vectors (dimension, scale, layout).
    Schema(SchemaArgs),
    /// Client: make the secret key and the evaluation keys for a schema.
    Keygen(KeygenArgs),
    /// Client: encrypt vectors.
    Query(QueryArgs),
    /// Server: compute the encrypted scores of all vectors of the table.
    Answer(AnswerArgs),
    /// Client: decrypt the scores and print the nearest vectors.
    Decrypt(DecryptArgs),
}

/// The server's table.
#[derive(Debug, Args)]
pub struct TableArgs {
    #[arg(long, value_name = "FILE", help = "The table: .npy or CSV", long_help = VECTORS_HELP)]
    pub table: PathBuf,
    #[command(flatten)]
    pub columns: ColumnArgs,
}

/// Arguments of `search schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub how: HowArgs,
    /// The schema file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `search keygen`.
#[derive(Debug, Args)]
pub struct KeygenArgs {
    /// The schema file that the server published.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    /// Directory for secret.key and evaluation.keys (made if missing).
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub seal: SealArgs,
}

/// What a client asks, and with which key.
#[derive(Debug, Args)]
pub struct AskedArgs {
    /// The schema file that the server published.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    #[command(flatten)]
    pub with: SecretKeyArgs,
    /// The vectors to look for: .npy or CSV.
    #[arg(long, value_name = "FILE")]
    pub query: PathBuf,
    #[command(flatten)]
    pub columns: ColumnArgs,
}

/// Arguments of `search query`.
#[derive(Debug, Args)]
pub struct QueryArgs {
    #[command(flatten)]
    pub asked: AskedArgs,
    /// The query file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `search answer`.
#[derive(Debug, Args)]
pub struct AnswerArgs {
    #[command(flatten)]
    pub table: TableArgs,
    /// The schema file that was published for the table.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    /// The client's evaluation keys.
    #[arg(long, value_name = "FILE")]
    pub evaluation_keys: PathBuf,
    /// The query file.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The answer file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `search decrypt`.
#[derive(Debug, Args)]
pub struct DecryptArgs {
    #[command(flatten)]
    pub asked: AskedArgs,
    /// The answer file.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// How many of the nearest vectors to find.
    #[arg(long, value_name = "K", default_value_t = 10, allow_negative_numbers = true, value_parser = from(1))]
    pub k: usize,
}
