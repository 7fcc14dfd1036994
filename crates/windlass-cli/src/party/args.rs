//! Arguments of `windlass party`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use windlass_secrets::{OpenArgs, SealArgs};

use crate::key_file::SecretKeyArgs;
use crate::refresh::{SchemeName, Value, value};
use crate::whole_number::from;

/// The steps of several parties.
#[derive(Debug, Subcommand)]
pub enum PartyCommand {
    /// A party: make an identity, and print the line that the others need.
    Identity(IdentityArgs),
    /// Anyone: write an agreement, and print what it costs each party.
    Agree(AgreeArgs),
    /// A party: take part in an agreement with a fresh secret.
    Join(JoinArgs),
    /// A party: write its opening messages, for all others and the assembler.
    Open(OpenMessagesArgs),
    /// A party: take messages of the others.
    Receive(ReceiveArgs),
    /// A party: write its closing message for the assembler, if the agreement has products.
    Close(CloseArgs),
    /// Anyone: add up the shares of all parties to the public key and the evaluation keys.
    Assemble(AssembleArgs),
    /// Anyone: encrypt values under the public key.
    Encrypt(EncryptArgs),
    /// Anyone: add ciphertexts.
    Add(AddArgs),
    /// A party: write its share of the decryption of a ciphertext.
    Decrypt(DecryptArgs),
    /// Someone outside: make keys in the parameters of an agreement, to receive values under.
    Recipient(RecipientArgs),
    /// Anyone: add up the shares of 'party decrypt --to' to a ciphertext that someone outside decrypts.
    HandOver(HandOverArgs),
    /// Someone outside: decrypt what was handed over.
    Show(ShowArgs),
    /// Anyone, or the reader that the shares are for: add up the shares of a decryption to the values.
    Read(ReadArgs),
    /// A party: print what it has, and what is missing from whom.
    Status(StatusArgs),
}

impl PartyCommand {
    /// Whether files are left when the report is lost.
    pub fn leaves_something(&self) -> bool {
        !matches!(self, Self::Read(_) | Self::Show(_) | Self::Status(_))
    }
}

/// Arguments of `party identity`.
#[derive(Debug, Args)]
pub struct IdentityArgs {
    /// The name of the party, as it will stand in agreements.
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// The file of the identity to write. It is secret.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Write the public line to this file as well.
    #[arg(long, value_name = "FILE")]
    pub public: Option<PathBuf>,
    #[command(flatten)]
    pub seal: SealArgs,
}

/// Arguments of `party agree`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("parameters").required(true).args(["preset", "ckks"])))]
pub struct AgreeArgs {
    /// Parameters: a preset (`windlass params list`) or a file, of integers or of CKKS. They become those of as many
    /// parties as there are members.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// The scheme of parameters of integers.
    #[arg(long, value_enum, default_value_t = SchemeName::Bgv)]
    pub scheme: SchemeName,
    /// Choose parameters for real numbers (CKKS) by --depth, --scale-bits, --value-bits and --slots.
    #[arg(long)]
    pub ckks: bool,
    /// The number of products in a row. With --ckks parameters are chosen for it [default there: 1]. With --products the
    /// agreement is refused if the result of so many, without refreshes, could not be decrypted. Refused without either.
    #[arg(long, value_name = "D")]
    pub depth: Option<usize>,
    /// With --ckks: log2 of the scale. A decryption by several parties takes about 80 bits of it.
    #[arg(long, value_name = "BITS", default_value_t = 120, requires = "ckks")]
    pub scale_bits: u32,
    /// With --ckks: values may grow to 2^BITS.
    #[arg(long, value_name = "BITS", default_value_t = 20, requires = "ckks")]
    pub value_bits: u32,
    /// With --ckks: the minimum number of slots.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "ckks")]
    pub slots: usize,
    /// Accept a parameter file below 128 bits of security.
    #[arg(long)]
    pub insecure: bool,
    /// A member: the public line of its identity. Give one for each member.
    #[arg(long, value_name = "LINE")]
    pub member: Vec<String>,
    /// A file of members: a public line on each line. Several files are read one after the other.
    #[arg(long, value_name = "FILE")]
    pub members: Vec<PathBuf>,
    /// How many members can decrypt together [default: all].
    #[arg(long, value_name = "T", value_parser = from(1))]
    pub threshold: Option<usize>,
    /// Make the key for products of ciphertexts.
    #[arg(long)]
    pub products: bool,
    /// Make the keys for the sum over all slots.
    #[arg(long)]
    pub sums: bool,
    /// Make Galois keys for these automorphisms X -> X^t, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = from(2))]
    pub galois: Vec<usize>,
    /// With --ckks: make the keys for rotations of all slots by these amounts, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    pub rotations: Vec<i64>,
    /// The number of decryptions that each party takes part in at most. More decryptions take more noise in each.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub decryptions: u32,
    /// Statistical security in bits of all decryptions together.
    #[arg(long, value_name = "BITS", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=128))]
    pub security: u32,
    /// The agreement to write, a text in JSON.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// The agreement.
#[derive(Debug, Args)]
pub struct AgreementArgs {
    /// The agreement.
    #[arg(long, value_name = "FILE")]
    pub agreement: PathBuf,
}

/// The files of one party.
#[derive(Debug, Args)]
pub struct OwnArgs {
    /// The agreement.
    #[arg(long, value_name = "FILE")]
    pub agreement: PathBuf,
    /// The identity of this party. If it is encrypted, a passphrase is needed, and the state is encrypted with it too.
    #[arg(long, value_name = "FILE")]
    pub identity: PathBuf,
    /// The state of this party. It is secret, and changes: never use a copy of it.
    #[arg(long, value_name = "FILE")]
    pub state: PathBuf,
    #[command(flatten)]
    pub open: OpenArgs,
}

/// Arguments of `party join`.
#[derive(Debug, Args)]
pub struct JoinArgs {
    #[command(flatten)]
    pub own: OwnArgs,
    /// Refuse the agreement unless its digest begins with these digits: those that the other members have told.
    #[arg(long, value_name = "DIGITS")]
    pub digest: Option<String>,
}

/// Arguments of `party open`.
#[derive(Debug, Args)]
pub struct OpenMessagesArgs {
    #[command(flatten)]
    pub own: OwnArgs,
    /// Directory for the messages (made if missing): all parties may use the same.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Arguments of `party receive`.
#[derive(Debug, Args)]
pub struct ReceiveArgs {
    #[command(flatten)]
    pub own: OwnArgs,
    /// Messages, or directories: of a directory every file whose name ends in .message is read.
    #[arg(value_name = "PATH", required = true)]
    pub messages: Vec<PathBuf>,
}

/// Arguments of `party close`.
#[derive(Debug, Args)]
pub struct CloseArgs {
    #[command(flatten)]
    pub own: OwnArgs,
    /// Directory for the message (made if missing): all parties may use the same.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Arguments of `party assemble`.
#[derive(Debug, Args)]
pub struct AssembleArgs {
    #[command(flatten)]
    pub on: AgreementArgs,
    /// Messages, or directories: of a directory every file whose name ends in .message is read.
    #[arg(value_name = "PATH", required = true)]
    pub messages: Vec<PathBuf>,
    /// Directory for public.key and evaluation.keys (made if missing).
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Arguments of `party encrypt`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["values", "table"])))]
pub struct EncryptArgs {
    #[command(flatten)]
    pub on: AgreementArgs,
    /// The public key.
    #[arg(long, value_name = "FILE")]
    pub public_key: PathBuf,
    /// The values for the slots in order, separated by commas: integers from -p^r/2 to p^r - 1, or numbers for CKKS.
    /// Other slots hold 0.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value, allow_hyphen_values = true)]
    pub values: Vec<Value>,
    /// Encrypt a column of this CSV file, one row in each slot.
    #[arg(long, value_name = "FILE", requires = "column")]
    pub table: Option<PathBuf>,
    /// The name of the column.
    #[arg(long, value_name = "COLUMN", requires = "table")]
    pub column: Option<String>,
    /// Encrypt a vector of N entries, the last ones 0 [default: as many as there are values].
    #[arg(long, value_name = "N", value_parser = from(1))]
    pub length: Option<usize>,
    /// For CKKS: no value is larger in absolute value. The bound is public.
    #[arg(long, value_name = "B", default_value_t = 1.0)]
    pub bound: f64,
    /// The ciphertext to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `party add`.
#[derive(Debug, Args)]
pub struct AddArgs {
    #[command(flatten)]
    pub on: AgreementArgs,
    /// The ciphertexts.
    #[arg(value_name = "FILE", required = true)]
    pub inputs: Vec<PathBuf>,
    /// The ciphertext to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Which decryption it is.
#[derive(Debug, Args)]
pub struct DecryptionArgs {
    /// The ciphertext.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The members that decrypt, by name or number, separated by commas: exactly as many as are needed, and the same
    /// list for each of them [default: all, if all are needed].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub by: Vec<String>,
}

/// Arguments of `party decrypt`.
#[derive(Debug, Args)]
pub struct DecryptArgs {
    #[command(flatten)]
    pub own: OwnArgs,
    #[command(flatten)]
    pub what: DecryptionArgs,
    /// The member, by name or number, who alone may read the values [default: everyone with all shares].
    #[arg(long, value_name = "MEMBER")]
    pub reader: Option<String>,
    /// The public key of someone outside, who alone may read the values: the share is for 'party hand-over'. Whose key it
    /// is must be known from elsewhere.
    #[arg(long, value_name = "FILE", conflicts_with = "reader")]
    pub to: Option<PathBuf>,
    /// The share to write. It counts as a decryption even if it is never sent.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `party recipient`.
#[derive(Debug, Args)]
pub struct RecipientArgs {
    #[command(flatten)]
    pub on: AgreementArgs,
    /// Directory for secret.key and public.key (made if missing).
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub seal: SealArgs,
}

/// Arguments of `party hand-over`.
#[derive(Debug, Args)]
pub struct HandOverArgs {
    #[command(flatten)]
    pub on: AgreementArgs,
    #[command(flatten)]
    pub what: DecryptionArgs,
    /// The public key of the recipient.
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// The shares, or directories: of a directory every file whose name ends in .message is read.
    #[arg(value_name = "PATH", required = true)]
    pub shares: Vec<PathBuf>,
    /// The ciphertext to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `party show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    #[command(flatten)]
    pub on: AgreementArgs,
    #[command(flatten)]
    pub with: SecretKeyArgs,
    /// The ciphertext.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
}

/// Arguments of `party read`.
#[derive(Debug, Args)]
pub struct ReadArgs {
    #[command(flatten)]
    pub on: AgreementArgs,
    #[command(flatten)]
    pub what: DecryptionArgs,
    /// The identity of the reader, for shares that are encrypted for it.
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    #[command(flatten)]
    pub open: OpenArgs,
    /// The shares, or directories: of a directory every file whose name ends in .message is read.
    #[arg(value_name = "PATH", required = true)]
    pub shares: Vec<PathBuf>,
}

/// Arguments of `party status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub own: OwnArgs,
    /// Look into these messages or directories too, for what the assembler misses.
    #[arg(value_name = "PATH")]
    pub messages: Vec<PathBuf>,
}
