//! Arguments of `windlass table`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use windlass_retrieval::Wanted;
use windlass_secrets::SealArgs;

use crate::key_file::SecretKeyArgs;
use crate::whole_number::from;

/// The steps of lookups in tables of any size.
#[derive(Debug, Subcommand)]
pub enum TableCommand {
    /// Say how a table would be laid out, and what it would take, without making anything.
    Plan(PlanArgs),
    /// Server: prepare a table in a directory; the same command goes on where it was stopped.
    Build(BuildArgs),
    /// Server: add rows of a CSV file to a prepared table, and replace those that are there.
    Set(SetArgs),
    /// Server: remove rows from a prepared table.
    Remove(RemoveArgs),
    /// Client: make a secret key, and the evaluation keys for a table's schema.
    Keygen(KeygenArgs),
    /// Client: encrypt a question for rows.
    Query(QueryArgs),
    /// Server: answer a query.
    Answer(AnswerArgs),
    /// Client: decrypt an answer and print the rows.
    Decrypt(DecryptArgs),
}

/// The rows, and what a plan must keep to.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The table: a CSV file with a header line.
    #[arg(long, value_name = "FILE", required_unless_present = "rows")]
    pub table: Option<PathBuf>,
    /// The column that names each row once; without it rows are asked for by number, from 0.
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,
    /// Without a table: plan for this many rows ..
    #[arg(long, value_name = "N", requires = "bytes", conflicts_with = "table")]
    pub rows: Option<usize>,
    /// .. of this many bytes each.
    #[arg(long, value_name = "N", requires = "rows")]
    pub bytes: Option<usize>,
    /// Plan for keys that are hidden, as `build --oprf-key` hides them.
    #[arg(long, requires = "key")]
    pub hidden: bool,
    #[command(flatten)]
    pub wish: WishArgs,
}

/// What a plan must keep to.
#[derive(Debug, Args)]
pub struct WishArgs {
    /// Most bytes of a client's evaluation keys.
    #[arg(long, value_name = "BYTES")]
    pub most_keys: Option<u64>,
    /// Most bytes of the query for one row.
    #[arg(long, value_name = "BYTES")]
    pub most_query: Option<u64>,
    /// Most bytes of the answer for one row.
    #[arg(long, value_name = "BYTES")]
    pub most_answer: Option<u64>,
    /// Leave room for this many rows in all.
    #[arg(long, value_name = "N")]
    pub room: Option<usize>,
}

/// Arguments of `table build`.
#[derive(Debug, Args)]
pub struct BuildArgs {
    /// The table: a CSV file with a header line.
    #[arg(long, value_name = "FILE")]
    pub table: PathBuf,
    /// The column that names each row once; without it rows are asked for by number, from 0.
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,
    /// The directory of the prepared table (made if missing).
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Keep the schema of this table, so that its clients go on: its directory, or its schema.json.
    /// Without it a table has a new schema, which every client must accept.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["most_keys", "most_query", "most_answer", "room"])]
    pub like: Option<PathBuf>,
    /// Hide keys by the key in this file (RFC 9497; made if it is missing, but with --like): clients
    /// learn of the table what the service helps them to ask for, and nothing else.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub oprf_key: Option<PathBuf>,
    #[command(flatten)]
    pub wish: WishArgs,
}

/// Arguments of `table set`.
#[derive(Debug, Args)]
pub struct SetArgs {
    /// The directory of the prepared table.
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
    /// The rows: a CSV file with the columns of the table.
    #[arg(long, value_name = "FILE")]
    pub table: PathBuf,
    /// For a table without a key column: the number that the first of these rows gets.
    #[arg(long, value_name = "N", value_parser = from(0))]
    pub first: Option<usize>,
    /// The key that the table's keys were hidden with.
    #[arg(long, value_name = "FILE")]
    pub oprf_key: Option<PathBuf>,
}

/// Arguments of `table remove`.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// The directory of the prepared table.
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
    /// The key that the table's keys were hidden with.
    #[arg(long, value_name = "FILE")]
    pub oprf_key: Option<PathBuf>,
    #[command(flatten)]
    pub wanted: WantedArgs,
}

/// Which rows.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct WantedArgs {
    /// The key of a row; may be given several times.
    #[arg(long = "query", value_name = "VALUE", allow_hyphen_values = true)]
    pub keys: Vec<String>,
    /// The number of a row, from 0; may be given several times.
    #[arg(long = "row", value_name = "N", value_parser = from(0))]
    pub rows: Vec<usize>,
}

impl WantedArgs {
    /// What is asked for.
    pub fn wanted(&self) -> Wanted {
        if self.keys.is_empty() {
            Wanted::Rows(self.rows.clone())
        } else {
            Wanted::Keys(self.keys.iter().map(|key| key.as_bytes().to_vec()).collect())
        }
    }
}

/// Arguments of `table keygen`.
#[derive(Debug, Args)]
pub struct KeygenArgs {
    /// The schema that the server published.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    /// Directory for secret.key and evaluation.keys (made if missing).
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub seal: SealArgs,
}

/// Arguments of `table query`.
#[derive(Debug, Args)]
pub struct QueryArgs {
    /// The schema that the server published.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    #[command(flatten)]
    pub with: SecretKeyArgs,
    #[command(flatten)]
    pub wanted: WantedArgs,
    /// The query file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `table answer`.
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The directory of the prepared table.
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
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

/// Arguments of `table decrypt`.
#[derive(Debug, Args)]
pub struct DecryptArgs {
    /// The schema that the server published.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    #[command(flatten)]
    pub with: SecretKeyArgs,
    #[command(flatten)]
    pub wanted: WantedArgs,
    /// The answer file.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
}
