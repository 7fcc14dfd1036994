//! `windlass refresh`: bootstrapping through files, the server's side with public and evaluation keys only.

mod describe;
mod setup;
mod steps;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use windlass::schemes::Scheme;

use crate::error::Result;
use crate::report::Report;

/// Arguments of `refresh`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RefreshArgs {
    /// One step instead of all of them.
    #[command(subcommand)]
    step: Option<Step>,
    /// The bootstrapping preset; `--preset list` prints the names.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// How to bootstrap.
    #[command(flatten)]
    way: WayArgs,
    /// Print the plan only: stages, capacity, keys in bytes, and an estimate of the time.
    #[arg(long)]
    explain: bool,
    /// The values to encrypt, separated by commas [default: 0, 1, 2, .. in all slots].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    values: Vec<u64>,
    /// Keep keys and ciphertexts in this directory (made if missing) [default: a temporary one, removed at the end].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The preset and how to bootstrap under it.
#[derive(Debug, Args)]
struct SetArgs {
    /// The bootstrapping preset (`windlass refresh --preset list` prints the names).
    #[arg(long, value_name = "NAME")]
    preset: String,
    /// How to bootstrap.
    #[command(flatten)]
    way: WayArgs,
}

/// How to bootstrap.
#[derive(Debug, Clone, Copy, Args)]
struct WayArgs {
    /// Fill the slots with elements of degree d instead of integers.
    #[arg(long)]
    packed: bool,
    /// The scheme.
    #[arg(long, value_enum, default_value_t = SchemeName::Bgv)]
    scheme: SchemeName,
}

/// A scheme by name.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SchemeName {
    /// Brakerski–Gentry–Vaikuntanathan.
    Bgv,
    /// Brakerski; Fan–Vercauteren.
    Bfv,
}

impl From<SchemeName> for Scheme {
    fn from(name: SchemeName) -> Self {
        match name {
            SchemeName::Bgv => Scheme::Bgv,
            SchemeName::Bfv => Scheme::Bfv,
        }
    }
}

/// One step.
#[derive(Debug, Subcommand)]
enum Step {
    /// Client: make the secret key, the public key, the evaluation keys and the bootstrapping keys.
    Keygen(KeygenArgs),
    /// Client: encrypt a vector, by default with just enough capacity to be refreshed.
    Encrypt(EncryptArgs),
    /// Server: refresh a ciphertext, packed if its slots hold elements or the keys are for that.
    Apply(ApplyArgs),
    /// Client: decrypt a ciphertext.
    Decrypt(DecryptArgs),
}

/// Arguments of `refresh keygen`.
#[derive(Debug, Args)]
struct KeygenArgs {
    #[command(flatten)]
    set: SetArgs,
    /// Directory for secret.key, public.key, evaluation.keys and bootstrap.keys (made if missing).
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Arguments of `refresh encrypt`.
#[derive(Debug, Args)]
struct EncryptArgs {
    #[command(flatten)]
    set: SetArgs,
    /// The secret key: the ciphertext is then half as large.
    #[arg(long, value_name = "FILE", conflicts_with = "public_key", required_unless_present = "public_key")]
    secret_key: Option<PathBuf>,
    /// The public key, to encrypt for its owner.
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,
    /// The values, separated by commas: integers below p^r for the slots in order (with --packed for the d coefficients of each); the rest is 0.
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    values: Vec<u64>,
    /// Leave at least this many bits of capacity [default: what a refresh needs].
    #[arg(long, value_name = "BITS")]
    capacity: Option<f64>,
    /// The ciphertext file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Arguments of `refresh apply`.
#[derive(Debug, Args)]
struct ApplyArgs {
    /// Without --packed, ciphertext and keys decide: slots that hold elements are bootstrapped packed, integers as the keys allow.
    #[command(flatten)]
    set: SetArgs,
    /// The client's evaluation keys.
    #[arg(long, value_name = "FILE")]
    evaluation_keys: PathBuf,
    /// The client's bootstrapping keys.
    #[arg(long, value_name = "FILE")]
    bootstrap_keys: PathBuf,
    /// The ciphertext file.
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// The refreshed ciphertext file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Arguments of `refresh decrypt`.
#[derive(Debug, Args)]
struct DecryptArgs {
    #[command(flatten)]
    set: SetArgs,
    /// The secret key.
    #[arg(long, value_name = "FILE")]
    secret_key: PathBuf,
    /// The ciphertext file.
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// Check that these are the values, and that the rest is 0.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    values: Option<Vec<u64>>,
}

/// `windlass refresh`.
pub fn run(args: &RefreshArgs, quiet: bool) -> Result<Report> {
    match &args.step {
        Some(Step::Keygen(step)) => steps::keygen(step, quiet),
        Some(Step::Encrypt(step)) => steps::encrypt(step, quiet),
        Some(Step::Apply(step)) => steps::apply(step, quiet),
        Some(Step::Decrypt(step)) => steps::decrypt(step, quiet),
        None if args.preset.as_deref() == Some("list") => Ok(describe::list()),
        None if args.explain => describe::explain(args, quiet),
        None => steps::all(args, quiet),
    }
}
