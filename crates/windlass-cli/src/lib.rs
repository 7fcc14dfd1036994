//! The `windlass` command: private lookups, search, scoring, training, refreshes, keys of several parties and parameter
//! sets.
#![forbid(unsafe_code)]

mod args;
mod beside;
mod earlier;
mod error;
mod files;
mod find;
mod interrupt;
mod key;
mod key_file;
mod memory;
mod nearest;
mod parameters;
mod party;
mod plaintext_modulus;
mod progress;
mod refresh;
mod report;
mod score;
mod search;
mod security;
mod table;
mod tables;
mod train;
mod values;
mod whole_number;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Cli, Command};
use error::{CliError, Result};
use report::Report;
use windlass::wire::WireError;

/// The command, from its arguments to its exit code.
pub fn main() -> ExitCode {
    // First of all: memory may run out anywhere.
    let watched = interrupt::tell_when_aborted();
    let cli = match windlass_secrets::parse_from::<Cli, _>(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    // Before anything is set up for commands of this program's own.
    let ended = match &cli.command {
        Command::Serve(passed) => beside::run("windlass-serve", passed, &given_before(&cli)),
        Command::Mailbox(passed) => {
            let json = cli.json.then(|| "--json".to_owned()).into_iter().collect::<Vec<_>>();
            beside::run("windlass-mailbox", passed, &json)
        }
        // It would find what the standard library opened in place of what is closed.
        Command::Ask(passed) => {
            let json = cli.json.then(|| "--json".to_owned()).into_iter().collect::<Vec<_>>();
            refuse_silence().and_then(|()| beside::run("windlass-ask", passed, &json))
        }
        _ => watched.and_then(|()| run(&cli)).map(|report| print(&report, &cli)),
    };
    // A removed command takes every argument for its own.
    let json = cli.json || matches!(cli.command, Command::Removed(_)) && asks_for_json(std::env::args_os().skip(1));
    match ended {
        Ok(code) => code,
        Err(error) => {
            let _told = interrupt::hold_off();
            if json {
                report::print_error(&files::named_by_place(&error.to_string()), 2);
            }
            report::print_message(files::named_by_place(&error.to_string()));
            ExitCode::from(2)
        }
    }
}

/// What is wrong with the arguments, or the help that was asked for: text, and an object beside it
/// where scripts asked for one.
fn misused(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && asks_for_json(std::env::args_os().skip(1)) {
        report::print_error(&first_paragraphs(error), error.exit_code());
    }
    match error.print() {
        // Whoever closes a pipe has read enough.
        Err(failure) if failure.kind() != std::io::ErrorKind::BrokenPipe => {
            report::print_message(format_args!("cannot be written: {}", WireError::from(failure)));
            ExitCode::from(2)
        }
        _ => ExitCode::from(if error.use_stderr() { 2 } else { 0 }),
    }
}

/// Whether `--json` is among the options.
fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// What the parser of arguments says, on one line, without the usage below it.
fn first_paragraphs(error: &clap::Error) -> String {
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a command is missing; 'windlass --help' lists them".to_owned();
    }
    let text = error.to_string();
    let end = ["\nUsage:", "\nFor more information"].iter().filter_map(|part| text.find(part)).min();
    let told: Vec<&str> = text[..end.unwrap_or(text.len())].split_whitespace().collect();
    let told = told.join(" ");
    told.strip_prefix("error: ").unwrap_or(&told).to_owned()
}

fn print(report: &Report, cli: &Cli) -> ExitCode {
    match report.print(cli.json) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let remedy = match cli.command.leaves_something() {
                true => "the output of the command is complete",
                false => "nothing was changed: run the command again with its output redirected to a file (> FILE)",
            };
            report::print_message(format_args!(
                "the work is done, but its report cannot be written to standard output ({}); {remedy}",
                WireError::from(error)
            ));
            ExitCode::from(2)
        }
    }
}

/// Refuses to work if standard output is closed, since an answer would be lost.
fn refuse_silence() -> Result<()> {
    match windlass_secrets::stdout_is_closed() {
        false => Ok(()),
        true => Err(CliError::Usage(
            "standard output is closed, so the report would be lost and nothing was done; redirect it to a file (> FILE) or to /dev/null"
                .into(),
        )),
    }
}

/// The options that every command takes, as they were given.
fn given_before(cli: &Cli) -> Vec<String> {
    let threads = cli.threads.map(|threads| ["--threads".to_owned(), threads.to_string()]);
    cli.json.then(|| "--json".to_owned()).into_iter().chain(threads.into_iter().flatten()).collect()
}

/// The threads of all parallel work: started here, where a refusal is an error; on their first use
/// it would be a panic.
fn start_threads(threads: Option<usize>) -> Result<()> {
    if threads.is_some_and(|threads| threads == 0 || threads > 1024) {
        return Err(CliError::Usage("--threads takes a number from 1 to 1024".into()));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build_global();
    pool.map_err(|error| CliError::Usage(format!(
        "cannot start threads ({error}); use --threads 1, or raise the limits of processes (ulimit -u) and memory (ulimit -v)"
    )))
}

/// A command in this process, which keeps its threads, its signals and its core dumps as they are:
/// what it reports is not printed. `arguments` begin with the name of the program.
///
/// # Errors
/// The line that the command would print.
pub fn run_here<T: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = T>) -> std::result::Result<(), String> {
    let cli = windlass_secrets::parse_from::<Cli, _>(arguments).map_err(|error| error.to_string())?;
    run_command(&cli).map(drop).map_err(|error| error.to_string())
}

fn run(cli: &Cli) -> Result<Report> {
    windlass_secrets::keep_memory_private();
    refuse_silence()?;
    interrupt::install(cli.json)?;
    start_threads(cli.threads)?;
    run_command(cli)
}

fn run_command(cli: &Cli) -> Result<Report> {
    match &cli.command {
        Command::Lookup(args) => tables::lookup(args, cli.json),
        Command::Decrypt(args) => earlier::decrypt(args, cli.json),
        Command::Removed(command) => Err(command.refusal()),
        Command::Params(command) => parameters::run(command, cli.json),
        Command::Serve(_) | Command::Ask(_) | Command::Mailbox(_) => {
            Err(CliError::Usage("serve, ask and mailbox are separate programs".into()))
        }
        Command::Table(command) => tables::run(command, cli.json),
        Command::Key(command) => key::run(command),
        Command::Score(args) => score::run(args, cli.json),
        Command::Search(args) => search::run(args, cli.json),
        Command::Refresh(args) => refresh::run(args, cli.json),
        Command::Train(args) => train::run(args, cli.json),
        Command::Party(command) => party::run(command, cli.json),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// The options of a command that take values, after the words that lead to it.
    fn options(command: &clap::Command, words: &[String], found: &mut Vec<Vec<String>>) {
        let longs = command.get_arguments().filter(|option| option.get_action().takes_values());
        found.extend(longs.filter_map(|option| option.get_long()).map(|long| [words, &[format!("--{long}")]].concat()));
        for step in command.get_subcommands() {
            options(step, &[words, &[step.get_name().to_owned()]].concat(), found);
        }
    }

    /// No command takes a negative number after an option for an option of its own.
    #[test]
    fn negative_numbers_are_values_of_every_option() {
        let mut all = Vec::new();
        options(&Cli::command(), &["windlass".to_owned()], &mut all);
        assert!(all.len() > 60, "{}", all.len());
        for words in all {
            let line = [&words[..], &["-7".to_owned()]].concat();
            if let Err(refused) = windlass_secrets::parse_from::<Cli, _>(&line) {
                let refused = refused.to_string();
                assert!(!refused.contains("unexpected argument '-7'"), "{line:?}: {refused}");
                assert!(!refused.contains("a value is required"), "{line:?}: {refused}");
            }
        }
    }
}
