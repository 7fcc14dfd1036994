//! Arguments of `windlass refresh`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use windlass::schemes::Scheme;
use windlass_secrets::SealArgs;

use crate::key_file::{EncryptionKeyArgs, SecretKeyArgs};

/// Arguments of `refresh`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RefreshArgs {
    /// Run one step instead of all of them.
    #[command(subcommand)]
    pub step: Option<Step>,
    /// The bootstrapping preset; `--preset list` prints the names.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// How to bootstrap.
    #[command(flatten)]
    pub way: WayArgs,
    /// Only print the plan: stages, capacity, bytes of keys, and an estimate of the time.
    #[arg(long)]
    pub explain: bool,
    /// The values to encrypt modulo p^r, separated by commas [default: 0, 1, 2, .. in all slots].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value, allow_hyphen_values = true)]
    pub values: Vec<i128>,
    /// Keep keys and ciphertexts in this directory (made if missing) [default: a temporary
    /// directory, removed at the end].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl RefreshArgs {
    /// Whether files are left when the report is lost.
    pub fn leaves_something(&self) -> bool {
        match &self.step {
            None => self.out.is_some() && !self.explain,
            Some(step) => !matches!(step, Step::Decrypt(_)),
        }
    }
}

/// The preset and how to bootstrap under it.
#[derive(Debug, Args)]
pub struct SetArgs {
    /// The bootstrapping preset (`windlass refresh --preset list` prints the names).
    #[arg(long, value_name = "NAME")]
    pub preset: String,
    /// How to bootstrap.
    #[command(flatten)]
    pub way: WayArgs,
}

/// How to bootstrap.
#[derive(Debug, Clone, Copy, Args)]
pub struct WayArgs {
    /// Fill the slots with elements of degree d instead of integers.
    #[arg(long)]
    pub packed: bool,
    /// The scheme.
    #[arg(long, value_enum, default_value_t = SchemeName::Bgv)]
    pub scheme: SchemeName,
    /// Accept a preset file below 128 bits of security.
    #[arg(long)]
    pub insecure: bool,
}

/// A scheme by name.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SchemeName {
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
pub enum Step {
    /// Client: make the secret key, the public key, the evaluation keys and the bootstrapping keys.
    Keygen(KeygenArgs),
    /// Client: encrypt a vector, by default with the least capacity that a refresh needs.
    Encrypt(EncryptArgs),
    /// Server: refresh a ciphertext. The refresh is packed if the slots hold ring elements or the
    /// keys are for packed bootstrapping.
    Apply(ApplyArgs),
    /// Client: decrypt a ciphertext.
    Decrypt(DecryptArgs),
}

/// Arguments of `refresh keygen`.
#[derive(Debug, Args)]
pub struct KeygenArgs {
    #[command(flatten)]
    pub set: SetArgs,
    /// Directory for secret.key, public.key, evaluation.keys and bootstrap.keys (made if missing).
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub seal: SealArgs,
}

/// Arguments of `refresh encrypt`.
#[derive(Debug, Args)]
pub struct EncryptArgs {
    #[command(flatten)]
    pub set: SetArgs,
    #[command(flatten)]
    pub with: EncryptionKeyArgs,
    /// The values, separated by commas: integers from -p^r/2 to p^r - 1 for the slots in order
    /// (with --packed, for the d coefficients of each slot). Other slots hold 0. A negative value x
    /// decrypts to x + p^r.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        required = true,
        value_parser = value,
        allow_hyphen_values = true
    )]
    pub values: Vec<i128>,
    /// The minimum capacity in bits [default: what a refresh needs].
    #[arg(long, value_name = "BITS", value_parser = bits)]
    pub capacity: Option<f64>,
    /// The ciphertext file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `refresh apply`.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Without --packed, the ciphertext and the keys decide: slots that hold ring elements are
    /// refreshed packed, and integers as the keys allow.
    #[command(flatten)]
    pub set: SetArgs,
    /// The client's evaluation keys.
    #[arg(long, value_name = "FILE")]
    pub evaluation_keys: PathBuf,
    /// The client's bootstrapping keys.
    #[arg(long, value_name = "FILE")]
    pub bootstrap_keys: PathBuf,
    /// The ciphertext file.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The refreshed ciphertext file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `refresh decrypt`.
#[derive(Debug, Args)]
pub struct DecryptArgs {
    #[command(flatten)]
    pub set: SetArgs,
    #[command(flatten)]
    pub with: SecretKeyArgs,
    /// The ciphertext file.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// Check that the first slots hold these values and the other slots 0.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value, allow_hyphen_values = true)]
    pub values: Option<Vec<i128>>,
}

/// A value of a slot.
fn value(text: &str) -> Result<i128, String> {
    text.trim().parse().map_err(|_| "give integers, separated by commas, such as 1,0,-2".into())
}

/// A number of bits, up to more than any modulus has.
fn bits(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(bits) if (0.0..=1e6).contains(&bits) => Ok(bits),
        _ => Err("give a number of bits from 0 to 1000000".into()),
    }
}
