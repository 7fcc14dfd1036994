//! `windlass-bench`: measurements of every layer, verified before they are timed.

#![forbid(unsafe_code)]

mod bootstrap;
mod functions;
mod linear;
mod lookup;
mod machine;
mod mapped;
mod parties;
mod process_time;
mod ring_args;
mod search;
mod security;
mod siblings;
mod standard;
mod threads;
mod timing;
mod trace;
mod yardstick;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use windlass_papers::{goals, page, peer_record, record};

/// Benchmarks of Windlass.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Transforms, row operations, the engine over powers of two and over general rings, and the
    /// demo, compared with the yardstick.
    Standard(standard::Standard),
    /// Linear maps: Tables 1 to 4 of Halevi–Shoup 2018 with a page and a plot, or any ring and
    /// strategy.
    Linear(linear::Linear),
    /// Bootstrapping with a preset or any parameters: time and capacity by stage.
    Bootstrap(Box<bootstrap::Bootstrap>),
    /// Trace-type functions: sums of slots for every unrolling, operations of CKKS, fused
    /// multiply-add.
    Trace(trace::Trace),
    /// Keys and constants from files that are read or mapped: seconds, memory, and a linear map
    /// with each.
    Mapped(mapped::Mapped),
    /// Private lookups in tables of any size, compared with the memory bandwidth.
    Lookup(lookup::Lookup),
    /// Nearest neighbours of an encrypted vector, compared with the method of diagonals and the
    /// memory bandwidth.
    Search(search::Search),
    /// Functions of real numbers that refresh between their steps, and trainings, compared with plain values.
    Functions(functions::Functions),
    /// Keys of several parties: the work of one party, beside making all keys alone, and the bytes that it sends.
    Parties(parties::Parties),
    /// What Windlass states of the security of every preset and every point of its tables, a line
    /// of JSON for each: what data/security/rerun.py compares with the lattice estimator.
    Security,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Standard(args) => standard::run(&args),
        Command::Linear(args) => linear::run(&args),
        Command::Bootstrap(args) => bootstrap::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Mapped(args) => mapped::run(&args),
        Command::Lookup(args) => lookup::run(&args),
        Command::Search(args) => search::run(&args),
        Command::Functions(args) => functions::run(&args),
        Command::Parties(args) => parties::run(&args),
        Command::Security => security::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("windlass-bench: {error}");
            ExitCode::from(2)
        }
    }
}
