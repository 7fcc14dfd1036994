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
    /// Print the layout, sizes and seconds of a table without making it.
    Plan(PlanArgs),
    /// Server: prepare a table in a directory. If the command was stopped, the same command
    /// continues.
    Build(BuildArgs),
    /// Server: add the rows of a CSV file to a prepared table, and replace rows that exist.
    Set(SetArgs),
    /// Server: remove rows from a prepared table.
    Remove(RemoveArgs),
    /// Client: make a secret key and the evaluation keys for the schema of a table.
    Keygen(KeygenArgs),
    /// Client, if keys are hidden: blind the keys of rows, so that the server can help without
    /// learning them. Comes before `query`.
    Blind(BlindArgs),
    /// Server, if keys are hidden: help a client with its blind request.
    BlindEvaluate(BlindEvaluateArgs),
    /// Client: encrypt a query for rows.
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
    /// The column with a different value in each row, the key of the row. Without it, clients ask
    /// for rows by number, counted from 0.
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,
    /// Without --table: plan for this many rows, each of --bytes bytes.
    #[arg(long, value_name = "N", requires = "bytes", conflicts_with = "table")]
    pub rows: Option<usize>,
    /// Without --table: the bytes of each row.
    #[arg(long, value_name = "N", requires = "rows")]
    pub bytes: Option<usize>,
    /// Plan for hidden keys, as `build --oprf-key` makes them.
    #[arg(long, requires = "key")]
    pub hidden: bool,
    #[command(flatten)]
    pub requirements: RequirementArgs,
}

/// What a plan must keep to.
#[derive(Debug, Args)]
pub struct RequirementArgs {
    /// The maximum size of a client's evaluation keys, in bytes.
    #[arg(long, value_name = "BYTES")]
    pub most_keys: Option<u64>,
    /// The maximum size of the query for one row, in bytes.
    #[arg(long, value_name = "BYTES")]
    pub most_query: Option<u64>,
    /// The maximum size of the answer for one row, in bytes.
    #[arg(long, value_name = "BYTES")]
    pub most_answer: Option<u64>,
    /// Leave room for this many rows in total.
    #[arg(long, value_name = "N")]
    pub room: Option<usize>,
    /// The bits of the tag of each key. 64 saves 8 bytes for each row on the server. Hidden keys have 128.
    /// Warning: with 64 bits, anyone who may add rows can find two keys with the same tag in about 2^32
    /// hashes. The later row then replaces the earlier, and no error is returned.
    #[arg(long, value_name = "BITS", value_parser = ["64", "128"], requires = "key")]
    pub tag_bits: Option<String>,
}

/// Arguments of `table build`.
#[derive(Debug, Args)]
pub struct BuildArgs {
    /// The table: a CSV file with a header line.
    #[arg(long, value_name = "FILE")]
    pub table: PathBuf,
    /// The column with a different value in each row, the key of the row. Without it, clients ask
    /// for rows by number, counted from 0.
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,
    /// The directory of the prepared table (made if missing).
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Keep the schema of an existing table (its directory, or its schema.json), so that its
    /// clients continue without a change. Without --like a table has a new schema, which every
    /// client must accept.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["most_keys", "most_query", "most_answer", "room", "tag_bits"])]
    pub like: Option<PathBuf>,
    /// Hide the keys of rows with the OPRF key in this file (RFC 9497). The file is made if it is
    /// missing, except with --like. A client then learns only the rows that the service helps it to
    /// ask for.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub oprf_key: Option<PathBuf>,
    #[command(flatten)]
    pub requirements: RequirementArgs,
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
    /// For a table without a key column: the number of the first of these rows.
    #[arg(long, value_name = "N", value_parser = from(0))]
    pub first: Option<usize>,
    /// The OPRF key that hides the keys of the table.
    #[arg(long, value_name = "FILE")]
    pub oprf_key: Option<PathBuf>,
}

/// Arguments of `table remove`.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// The directory of the prepared table.
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
    /// The OPRF key that hides the keys of the table.
    #[arg(long, value_name = "FILE")]
    pub oprf_key: Option<PathBuf>,
    #[command(flatten)]
    pub wanted: WantedArgs,
}

/// Which rows.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct WantedArgs {
    /// The key of a row (any number of times).
    #[arg(long = "query", value_name = "VALUE", allow_hyphen_values = true)]
    pub keys: Vec<String>,
    /// The number of a row, counted from 0 (any number of times).
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

/// Arguments of `table blind`.
#[derive(Debug, Args)]
pub struct BlindArgs {
    /// The schema that the server published.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    #[command(flatten)]
    pub with: SecretKeyArgs,
    /// The key of a row (any number of times).
    #[arg(long = "query", value_name = "VALUE", allow_hyphen_values = true, required = true)]
    pub keys: Vec<String>,
    /// The blind request to write, for the server. It reveals the number of keys only.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `table blind-evaluate`.
#[derive(Debug, Args)]
pub struct BlindEvaluateArgs {
    /// The directory of the prepared table.
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
    /// The OPRF key that hides the keys of the table.
    #[arg(long, value_name = "FILE")]
    pub oprf_key: PathBuf,
    /// The blind request of a client.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The blind reply to write. With each key in it, the client can test one guess of a key.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// The help of a server whose table hides its keys.
#[derive(Debug, Args)]
pub struct BlindReplyArgs {
    /// If keys are hidden: the server's reply to the blind request for the same keys in the same
    /// order (`table blind`). It serves any number of queries for them.
    #[arg(long, value_name = "FILE", conflicts_with = "rows")]
    pub blind_reply: Option<PathBuf>,
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
    #[command(flatten)]
    pub hidden: BlindReplyArgs,
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
    #[command(flatten)]
    pub hidden: BlindReplyArgs,
    /// The answer file.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
}
