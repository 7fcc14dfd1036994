//! The command line's grammar.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use windlass_secrets::SealArgs;

use crate::key_file::{EncryptionKeyArgs, SecretKeyArgs};
use crate::whole_number::from;

/// The name of the parameter set that is used unless another is asked for.
pub const DEFAULT_PARAMETERS: &str = "demo";

/// Private lookups in a table: the server multiplies an encrypted selection vector by its table and
/// never learns which row was asked for.
#[derive(Debug, Parser)]
#[command(name = "windlass", version, about, long_about = None)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print one JSON object on standard output instead of text, and no progress.
    #[arg(long, global = true)]
    pub json: bool,
    /// Threads to use [default: one for each core].
    #[arg(long, global = true, value_name = "N", value_parser = from(1).range(..=1024))]
    pub threads: Option<usize>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Server: write the public schema of a table (columns, keys by row, parameters). The table fits
    /// one ciphertext; tables of any size have the steps of `windlass table`.
    Schema(SchemaArgs),
    /// Client: make the secret key, the public key and the evaluation keys for a table's schema.
    Keygen(KeygenArgs),
    /// Client: encrypt the selection of one row.
    Query(QueryArgs),
    /// Server: multiply the encrypted selection by the table.
    Answer(AnswerArgs),
    /// Client: decrypt the answer and print the row.
    Decrypt(DecryptArgs),
    /// All of it: schema, keygen, query, answer and decrypt, and check the row against the table.
    Lookup(LookupArgs),
    /// Named parameter sets, and the planner.
    #[command(subcommand)]
    Params(ParamsCommand),
    /// Print the plan of the product for a table: automorphisms, keys, sizes, capacity.
    Explain(ExplainArgs),
    /// The steps of lookups in tables of any size: no key is published, rows may change.
    #[command(subcommand)]
    Table(crate::tables::TableCommand),
    /// Encrypt the file of a secret key with a passphrase, or take the encryption off.
    #[command(subcommand)]
    Key(crate::key::KeyCommand),
    /// Serve a prepared table over HTTP (runs windlass-serve).
    Serve(crate::beside::Passed),
    /// Ask a service for rows of its table (runs windlass-ask).
    Ask(crate::beside::Passed),
    /// Score every row of a table under encryption with a logistic model, and compare with the
    /// scores in the clear.
    Score(crate::score::ScoreArgs),
    /// The vectors of a table that are nearest to an encrypted one, and a comparison with the clear.
    Search(crate::search::SearchArgs),
    /// Bootstrapping: give an encrypted vector new capacity. Without a step: keygen, encrypt, apply
    /// and decrypt, and check the values.
    Refresh(crate::refresh::RefreshArgs),
}

impl Command {
    /// Whether something is left of it when its report is lost: files, or a change of them.
    pub fn leaves_something(&self) -> bool {
        use crate::tables::TableCommand;
        match self {
            Self::Schema(_) | Self::Keygen(_) | Self::Query(_) | Self::Answer(_) | Self::Key(_) => true,
            Self::Decrypt(_) | Self::Explain(_) | Self::Serve(_) | Self::Ask(_) => false,
            Self::Lookup(args) => args.out.is_some(),
            Self::Params(ParamsCommand::Plan(args)) => args.out.is_some(),
            Self::Params(ParamsCommand::Search(args)) => args.out.is_some(),
            Self::Params(ParamsCommand::List | ParamsCommand::Show { .. }) => false,
            Self::Table(command) => !matches!(command, TableCommand::Plan(_) | TableCommand::Decrypt(_)),
            Self::Score(args) => args.leaves_something(),
            Self::Search(args) => args.leaves_something(),
            Self::Refresh(args) => args.leaves_something(),
        }
    }
}

/// Where the public shape of the table comes from.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// The schema file that the server published.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["table", "key"])]
    pub schema: Option<PathBuf>,
    /// The table itself: a CSV file with a header line.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub table: Option<PathBuf>,
    /// The column that names each row once.
    #[arg(long, value_name = "COLUMN", requires = "table")]
    pub key: Option<String>,
    /// The parameter set, by name (see `windlass params list`) or as a file
    /// [default: demo, or that of the schema, which must be the same].
    #[arg(long, value_name = "NAME|FILE")]
    pub params: Option<String>,
    /// Accept a schema or a parameter file below 128 bits of security.
    #[arg(long)]
    pub insecure: bool,
}

/// The table itself, and the parameters.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// The table: a CSV file with a header line.
    #[arg(long, value_name = "FILE")]
    pub table: PathBuf,
    /// The column that names each row once.
    #[arg(long, value_name = "COLUMN")]
    pub key: String,
    /// The parameter set, by name (see `windlass params list`) or as a file, which `params plan
    /// --out` and `params search --out` write [default: demo; `lookup` alone takes larger tables
    /// another way].
    #[arg(long, value_name = "NAME|FILE")]
    params: Option<String>,
    /// Accept a parameter file below 128 bits of security.
    #[arg(long)]
    pub insecure: bool,
}

impl TableArgs {
    /// The parameter set that is asked for, or the one that is taken.
    pub fn params(&self) -> &str {
        self.params.as_deref().unwrap_or(DEFAULT_PARAMETERS)
    }

    /// Whether a set is asked for.
    pub fn names_params(&self) -> bool {
        self.params.is_some()
    }
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    #[command(flatten)]
    pub table: TableArgs,
    /// The schema file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `keygen`.
#[derive(Debug, Args)]
pub struct KeygenArgs {
    /// The table's shape.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Directory for secret.key, public.key and evaluation.keys (made if missing).
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub seal: SealArgs,
}

/// Arguments of `query`.
#[derive(Debug, Args)]
pub struct QueryArgs {
    /// The table's shape.
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub with: EncryptionKeyArgs,
    /// The key value of the row to ask for.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub query: String,
    /// The query file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `answer`.
#[derive(Debug, Args)]
pub struct AnswerArgs {
    #[command(flatten)]
    pub table: TableArgs,
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

/// Arguments of `decrypt`.
#[derive(Debug, Args)]
pub struct DecryptArgs {
    /// The table's shape.
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub with: SecretKeyArgs,
    /// The answer file.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// Check that the row is the one of this key value.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub query: Option<String>,
}

/// Arguments of `lookup`.
#[derive(Debug, Args)]
pub struct LookupArgs {
    #[command(flatten)]
    pub table: TableArgs,
    /// The key value of the row to ask for.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub query: String,
    /// Keep keys, query and answer in this directory (made if missing) [default: a temporary one,
    /// removed at the end].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The table's shape.
    #[command(flatten)]
    pub source: SourceArgs,
}

/// The commands on parameters.
#[derive(Debug, Subcommand)]
pub enum ParamsCommand {
    /// Names of the parameter sets.
    List,
    /// One parameter set: ring, moduli, security with its source, sizes of keys.
    Show {
        /// Its name.
        name: String,
    },
    /// Choose parameters for a need.
    Plan(PlanArgs),
    /// Search for m that suit bootstrapping over composite rings, cheapest linear maps first.
    Search(SearchArgs),
}

/// Arguments of `params search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// The plaintext modulus: a prime power p^r.
    #[arg(long, value_name = "T", default_value_t = 2)]
    pub modulus: u64,
    /// Least phi(m).
    #[arg(long, value_name = "N", default_value_t = 15_000)]
    pub least: usize,
    /// Greatest phi(m), at most 131072.
    #[arg(long, value_name = "N", default_value_t = 60_016)]
    pub most: usize,
    /// At least this many slots.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub slots: usize,
    /// At most this slot degree d, the order of p modulo m.
    #[arg(long, value_name = "D", default_value_t = 100)]
    pub degree: u64,
    /// Bits of security that the printed modulus has.
    #[arg(long, value_name = "BITS", default_value_t = 128)]
    pub security: u32,
    /// Rank for packed bootstrapping (elements of degree d in the slots) instead of thin.
    #[arg(long)]
    pub packed: bool,
    /// Print at most this many [default: 20; 5 with --plan; all with --json].
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Plan bootstrapping under the longest chain that the security allows, and print only what has
    /// room for a multiplication between two refreshes (a second or two for each; more for large
    /// p^r).
    #[arg(long)]
    pub plan: bool,
    /// Consider this index m alone.
    #[arg(long, value_name = "M")]
    pub m: Option<u64>,
    /// Save the parameters of the first that --plan prints to this file, which ends in .json:
    /// `refresh --preset` and whatever takes parameters take it.
    #[arg(long, value_name = "FILE", requires = "plan")]
    pub out: Option<PathBuf>,
}

/// Arguments of `params plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The plaintext modulus: a prime power.
    #[arg(long, value_name = "T")]
    pub modulus: u64,
    /// At least this many slots.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub slots: usize,
    /// The cyclotomic index m, if it is to be a certain one.
    #[arg(long, value_name = "M")]
    pub m: Option<u64>,
    /// Multiplicative depth.
    #[arg(long, value_name = "D", default_value_t = 1)]
    pub depth: u32,
    /// Bits of security.
    #[arg(long, value_name = "BITS", default_value_t = 128)]
    pub security: u32,
    /// For circuits of any depth: parameters under which a server can refresh; --depth does not
    /// matter then. Where no preset and no power of two has as many slots, composite rings are
    /// searched, as `params search --plan` does it.
    #[arg(long, alias = "any-depth")]
    pub bootstrap: bool,
    /// Save the parameters to this file, which ends in .json: commands take it wherever they take
    /// the name of a preset.
    #[arg(long, value_name = "FILE")]
    pub out: Option<std::path::PathBuf>,
}
