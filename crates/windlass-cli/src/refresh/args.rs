//! Arguments of `windlass refresh`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use windlass::schemes::Scheme;
use windlass_secrets::SealArgs;

use crate::error::CliError;
use crate::key_file::{EncryptionKeyArgs, SecretKeyArgs};

/// Arguments of `refresh`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RefreshArgs {
    /// Run one step instead of all of them.
    #[command(subcommand)]
    pub step: Option<RefreshStep>,
    /// The bootstrapping preset; `--preset list` prints the names.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// How to bootstrap.
    #[command(flatten)]
    pub way: WayArgs,
    /// Only print the plan: stages, capacity, bytes of keys, and an estimate of the time (for a set of
    /// CKKS, of the error).
    #[arg(long)]
    pub explain: bool,
    /// The values to encrypt, separated by commas: integers modulo p^r, or numbers from -1 to 1 for a
    /// set of CKKS [default: in all slots 0, 1, 2, .., or sin 0, sin 1, sin 2, ..].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value, allow_hyphen_values = true)]
    pub values: Vec<Value>,
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
            Some(step) => !matches!(step, RefreshStep::Decrypt(_)),
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
pub enum RefreshStep {
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

impl RefreshStep {
    /// The preset that it is given.
    pub fn preset(&self) -> &str {
        match self {
            Self::Keygen(args) => &args.set.preset,
            Self::Encrypt(args) => &args.set.preset,
            Self::Apply(args) => &args.set.preset,
            Self::Decrypt(args) => &args.set.preset,
        }
    }
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
    /// decrypts to x + p^r. Numbers from -1 to 1 for a set of CKKS.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        required = true,
        value_parser = value,
        allow_hyphen_values = true
    )]
    pub values: Vec<Value>,
    /// The minimum capacity in bits [default: what a refresh needs]. Not for sets of CKKS, whose
    /// ciphertexts are encrypted with the fewest levels that can be refreshed.
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
    /// Check that the first slots hold these values and the other slots 0, for a set of CKKS up to the
    /// bound on the error, and tell the error.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value, allow_hyphen_values = true)]
    pub values: Option<Vec<Value>>,
}

/// A value of a slot, as it was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An integer.
    Integer(i128),
    /// Any other number, for sets of CKKS.
    Real(f64),
}

impl Value {
    /// The number.
    pub fn real(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Real(real) => real,
        }
    }
}

/// What sets of integers take.
const INTEGERS: &str = "give integers, separated by commas, such as 1,0,-2";

/// The values as integers.
///
/// # Errors
/// [`CliError::Usage`] for a number that is not an integer.
pub fn integers(values: &[Value]) -> crate::error::Result<Vec<i128>> {
    let one = |value: &Value| match value {
        Value::Integer(integer) => Ok(*integer),
        Value::Real(real) => Err(CliError::Usage(format!("the value {real} is not one of this set: {INTEGERS}"))),
    };
    values.iter().map(one).collect()
}

/// The value of a text.
///
/// # Errors
/// What to give instead.
pub fn value(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if let Ok(integer) = text.parse() {
        return Ok(Value::Integer(integer));
    }
    text.parse().map(Value::Real).map_err(|_| format!("{INTEGERS}, or numbers such as 0.5,-0.25 for a set of CKKS"))
}

/// A number of bits, up to more than any modulus has.
fn bits(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(bits) if (0.0..=1e6).contains(&bits) => Ok(bits),
        _ => Err("give a number of bits from 0 to 1000000".into()),
    }
}
