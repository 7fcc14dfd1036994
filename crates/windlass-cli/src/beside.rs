//! Commands that are separate programs, as in git: `windlass serve` runs `windlass-serve`. They
//! need a network stack, which a user of lookups does not have to build.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::error::{CliError, Result};

/// What is passed on.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Passed {
    /// What the program takes; `--help` lists it.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Runs the program of that name, beside this one or on the PATH, with the arguments and with those
/// of `before` that were given before them.
///
/// # Errors
/// If it does not exist, or does not start.
pub fn run(name: &str, passed: &Passed, before: &[String]) -> Result<ExitCode> {
    let mut command = Command::new(program(name));
    command.args(before).args(&passed.arguments);
    start(command).map_err(|error| CliError::Usage(match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "'{name}', a separate program, is neither in the directory of this program nor on the PATH; install it (cargo install --path crates/windlass-service) or build it (cargo build --release --package windlass-service) in the repository"
        ),
        _ => format!("'{name}' cannot be started: {error}"),
    }))
}

/// The program beside this one, or else its name, which the system looks for.
fn program(name: &str) -> PathBuf {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(&file));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| file.into())
}

/// Replaces this process, so that signals reach it.
#[cfg(unix)]
fn start(mut command: Command) -> std::io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

#[cfg(not(unix))]
fn start(mut command: Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code().unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}
