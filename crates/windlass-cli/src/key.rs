//! `windlass key`: encrypts the files of secret keys, and decrypts them.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use windlass::wire::{Access, PassphraseCost, seal_secret, write_new};
use windlass_secrets::{OpenArgs, open_to_seal};

use crate::error::{CliError, Result};
use crate::files::claim;
use crate::report::Report;
use crate::values::refused;

/// What can be done with the file of a secret key.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Encrypt a secret key with a passphrase. A key that is already encrypted gets a new
    /// passphrase.
    Seal(SealKeyArgs),
    /// Remove the encryption of a secret key.
    Open(OpenKeyArgs),
}

/// Arguments of `key seal`.
#[derive(Debug, Args)]
pub struct SealKeyArgs {
    /// The secret key. The file is not changed.
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// The encrypted file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// A file whose first line is the new passphrase [default: the file that
    /// WINDLASS_PASSPHRASE_FILE names, otherwise the terminal, twice].
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// For a key that is already encrypted: a file whose first line is its present passphrase
    /// [default: the file that WINDLASS_PASSPHRASE_FILE names, otherwise the terminal].
    #[arg(long, value_name = "FILE")]
    old_passphrase_file: Option<PathBuf>,
}

/// Arguments of `key open`.
#[derive(Debug, Args)]
pub struct OpenKeyArgs {
    /// The encrypted secret key. The file is not changed.
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// The file to write, without encryption.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    open: OpenArgs,
}

/// `windlass key`.
pub fn run(command: &KeyCommand) -> Result<Report> {
    match command {
        KeyCommand::Seal(args) => seal(args),
        KeyCommand::Open(args) => open(args),
    }
}

fn seal(args: &SealKeyArgs) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let (old, new) = (args.old_passphrase_file.as_deref(), args.passphrase_file.as_deref());
    let (file, passphrase) = open_to_seal(&args.input, &args.out, old, new)?;
    let sealed = seal_secret(&file, &passphrase, PassphraseCost::default());
    let sealed = sealed.map_err(|error| refused(&args.input, error))?;
    write_new(&args.out, &sealed, Access::Owner).map_err(CliError::at(&args.out))?;
    let mut report = Report::default();
    report.line(format!("{} is encrypted; test it, then remove {}", args.out.display(), args.input.display()));
    report.made("secret.key", &args.out, sealed.len() as u64);
    Ok(report)
}

fn open(args: &OpenKeyArgs) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let file = args.open.read_sealed(&args.input)?;
    let mut report = Report::default();
    write_new(&args.out, &file, Access::Owner).map_err(CliError::at(&args.out))?;
    report.line(format!("{} is not encrypted: anyone who can read the file has the key", args.out.display()));
    report.made("secret.key", &args.out, file.len() as u64);
    Ok(report)
}
