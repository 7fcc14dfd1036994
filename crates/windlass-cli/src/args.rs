//! The command line's grammar.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::earlier::RemovedCommand;
use crate::key_file::SecretKeyArgs;
use crate::whole_number::from;

/// Private lookups in a table: the server answers an encrypted query and does not learn which row
/// the client asks for.
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
    /// Look a row up in a table: run the steps of `windlass table` in one process, and compare the row
    /// with the table.
    Lookup(LookupArgs),
    /// The steps of a private lookup, for tables of any size. No key is published, and rows can
    /// change.
    #[command(subcommand)]
    Table(crate::tables::TableCommand),
    /// Deprecated: decrypt an answer that the `windlass answer` of an earlier version made. For any
    /// other answer use `windlass table decrypt`.
    Decrypt(DecryptArgs),
    /// List, show, plan and search parameter sets.
    #[command(subcommand)]
    Params(ParamsCommand),
    /// Encrypt the file of a secret key with a passphrase, or remove the encryption.
    #[command(subcommand)]
    Key(crate::key::KeyCommand),
    /// Serve a prepared table over HTTP (runs windlass-serve).
    Serve(crate::beside::Passed),
    /// Ask a service for rows of its table (runs windlass-ask).
    Ask(crate::beside::Passed),
    /// A mailbox over HTTP for the messages of several parties, and its client (runs windlass-mailbox).
    Mailbox(crate::beside::Passed),
    /// Score every row of a table under encryption with a logistic model, and compare the scores
    /// with those in the clear.
    Score(crate::score::ScoreArgs),
    /// Find the vectors of a table that are nearest to an encrypted vector, and compare the result
    /// with the search in the clear.
    Search(crate::search::SearchArgs),
    /// Bootstrapping: refresh an encrypted vector, which gives it new capacity. Without a step, run
    /// all steps (keygen, encrypt, apply, decrypt) and check the values.
    Refresh(crate::refresh::RefreshArgs),
    /// Train a logistic model on the rows of a table under encryption, and compare its weights with those
    /// of the same training in the clear.
    Train(crate::train::TrainArgs),
    /// Keys that several parties hold together, of whom any T can decrypt and fewer cannot: make an agreement and
    /// keys, encrypt, and decrypt, each step with files that the parties send each other.
    #[command(subcommand)]
    Party(crate::party::PartyCommand),
    /// Commands of earlier versions.
    #[command(flatten)]
    Removed(RemovedCommand),
}

impl Command {
    /// Whether something is left of it when its report is lost: files, or a change of them.
    pub fn leaves_something(&self) -> bool {
        use crate::tables::TableCommand;
        match self {
            Self::Key(_) => true,
            Self::Decrypt(_) | Self::Serve(_) | Self::Ask(_) | Self::Mailbox(_) | Self::Removed(_) => false,
            Self::Lookup(args) => args.out.is_some(),
            Self::Params(ParamsCommand::Plan(args)) => args.out.is_some(),
            Self::Params(ParamsCommand::Search(args)) => args.out.is_some(),
            Self::Params(ParamsCommand::List | ParamsCommand::Show { .. }) => false,
            Self::Table(command) => !matches!(command, TableCommand::Plan(_) | TableCommand::Decrypt(_)),
            Self::Score(args) => args.leaves_something(),
            Self::Search(args) => args.leaves_something(),
            Self::Refresh(args) => args.leaves_something(),
            Self::Train(args) => args.out.is_some() && !args.explain,
            Self::Party(command) => command.leaves_something(),
        }
    }
}

/// Arguments of `decrypt`.
#[derive(Debug, Args)]
pub struct DecryptArgs {
    /// The schema file that the server published.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    #[command(flatten)]
    pub with: SecretKeyArgs,
    /// The answer file.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// Check that the row has this key.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub query: Option<String>,
}

/// Arguments of `lookup`.
#[derive(Debug, Args)]
pub struct LookupArgs {
    /// The table: a CSV file with a header line.
    #[arg(long, value_name = "FILE")]
    pub table: PathBuf,
    /// The column with a different value in each row, the key of the row.
    #[arg(long, value_name = "COLUMN")]
    pub key: String,
    /// The key of the row to ask for.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub query: String,
    /// Keep the prepared table, keys, query and answer in this directory (made if missing)
    /// [default: a temporary directory, removed at the end].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// An option of earlier versions, which is refused.
    #[arg(long, hide = true)]
    pub params: Option<String>,
}

/// The commands on parameters.
#[derive(Debug, Subcommand)]
pub enum ParamsCommand {
    /// List the names of the parameter sets.
    List,
    /// Show one parameter set: ring, moduli, security with its source, sizes of keys.
    Show {
        /// Its name.
        name: String,
    },
    /// Choose parameters: for integers by a plaintext modulus (--modulus), for real numbers with
    /// refreshes by a precision (--precision); by the number of slots and the depth.
    Plan(PlanArgs),
    /// Search for indices m of composite rings that are suitable for bootstrapping, cheapest linear
    /// maps first.
    Search(SearchArgs),
}

/// Arguments of `params search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// The plaintext modulus: a prime power p^r.
    #[arg(long, value_name = "T", default_value_t = 2)]
    pub modulus: u64,
    /// The smallest phi(m).
    #[arg(long, value_name = "N", default_value_t = 15_000)]
    pub least: usize,
    /// The largest phi(m), at most 131072.
    #[arg(long, value_name = "N", default_value_t = 60_016)]
    pub most: usize,
    /// The minimum number of slots.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub slots: usize,
    /// The largest slot degree d, the order of p modulo m.
    #[arg(long, value_name = "D", default_value_t = 100)]
    pub degree: u64,
    /// Bits of security of the printed modulus.
    #[arg(long, value_name = "BITS", default_value_t = 128)]
    pub security: u32,
    /// Rank by the cost of packed bootstrapping (elements of degree d in the slots) instead of thin
    /// bootstrapping.
    #[arg(long)]
    pub packed: bool,
    /// Print at most this many indices [default: 20; 5 with --plan; all with --json].
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Plan bootstrapping with the longest chain that has this security, and print only indices
    /// with room for a multiplication between two refreshes. A plan takes one or two seconds, and
    /// longer if p^r is large.
    #[arg(long)]
    pub plan: bool,
    /// Consider only this index m.
    #[arg(long, value_name = "M")]
    pub m: Option<u64>,
    /// Save the parameters of the first index that --plan prints to this file. Its name must end in
    /// .json. `refresh --preset` and every option that names parameters accept the file.
    #[arg(long, value_name = "FILE", requires = "plan")]
    pub out: Option<PathBuf>,
}

/// Arguments of `params plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The plaintext modulus: a prime power.
    #[arg(long, value_name = "T", required_unless_present = "precision")]
    pub modulus: Option<u64>,
    /// Instead of a modulus: parameters of real and complex numbers (CKKS) whose refreshes have a stated
    /// error of at most 2^-BITS, in several passes above 40 bits. --depth is then the number of products
    /// between two refreshes. It takes seconds to minutes.
    #[arg(long, value_name = "BITS", conflicts_with_all = ["modulus", "m", "security", "bootstrap", "through_ckks"])]
    pub precision: Option<f64>,
    /// The minimum number of slots.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub slots: usize,
    /// The cyclotomic index m [default: the planner chooses one].
    #[arg(long, value_name = "M")]
    pub m: Option<u64>,
    /// Multiplicative depth.
    #[arg(long, value_name = "D", default_value_t = 1)]
    pub depth: u32,
    /// Bits of security.
    #[arg(long, value_name = "BITS", default_value_t = 128)]
    pub security: u32,
    /// Choose parameters with which a server can refresh ciphertexts, for circuits of any depth.
    /// --depth is then ignored. If neither a preset nor a power of two has enough slots, composite
    /// rings are searched, as `params search --plan` does.
    #[arg(long, alias = "any-depth")]
    pub bootstrap: bool,
    /// Choose parameters whose refreshes read the error of a ciphertext by refreshes of CKKS, with --depth
    /// products between two refreshes, and compare their price with that of --bootstrap. It takes seconds to minutes.
    #[arg(long, conflicts_with_all = ["bootstrap", "security"])]
    pub through_ckks: bool,
    /// Save the parameters to this file. Its name must end in .json. Commands accept the file
    /// instead of the name of a preset.
    #[arg(long, value_name = "FILE")]
    pub out: Option<std::path::PathBuf>,
}
