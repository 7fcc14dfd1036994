//! `windlass-bench`: measurements of every layer, verified before they are timed.

mod bluestein;
mod bootstrap;
mod bootstrap_figures;
mod bootstrap_page;
mod demo;
mod digits_table;
mod engine;
mod general;
mod instance;
mod linear;
mod linear_case;
mod linear_columns;
mod linear_job;
mod linear_plot;
mod linear_reach;
mod linear_record;
mod linear_render;
mod machine;
#[cfg(feature = "peers")]
mod peers;
mod process_time;
mod report;
mod rows;
mod same_core;
mod textbook;
mod timing;
mod trace;
mod transforms;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use report::Report;

/// Benchmarks of Windlass.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Transforms, row operations, the engine over powers of two and over general rings, and the demo, with the yardstick beside them.
    Standard(Standard),
    /// Linear maps: Tables 1 to 4 of Halevi–Shoup 2018, with a page and a plot.
    Linear(linear::Linear),
    /// Bootstrapping of a preset: time and capacity by stage.
    Bootstrap(bootstrap::Bootstrap),
    /// Trace-type functions: sums of slots for every unrolling, operations of CKKS, fused multiply-add.
    Trace(trace::Trace),
}

/// Arguments of `standard`.
#[derive(Debug, clap::Args)]
pub struct Standard {
    /// Fewer repetitions: a first look.
    #[arg(long)]
    quick: bool,
    /// Only layers whose names contain one of these (transforms, rows, engine, general, demo).
    #[arg(long, value_delimiter = ',', default_value = "")]
    only: Vec<String>,
    /// Numbers of threads for the engine.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    threads: Vec<usize>,
    /// Write the results as CSV.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A layer: its name, and what measures it.
type Layer = (&'static str, fn(&mut Report, &Standard));

const LAYERS: [Layer; 5] = [
    ("transforms", transforms::run),
    ("rows", rows::run),
    ("engine", engine::run),
    ("general", general::run),
    ("demo", demo::run),
];

fn main() -> std::process::ExitCode {
    let args = match Cli::parse().command {
        Command::Standard(args) => args,
        Command::Linear(args) => {
            return match linear::run(&args) {
                Ok(()) => std::process::ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("windlass-bench: {error}");
                    std::process::ExitCode::from(2)
                }
            };
        }
        Command::Bootstrap(args) => {
            return match bootstrap::run(&args) {
                Ok(()) => std::process::ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("windlass-bench: {error}");
                    std::process::ExitCode::from(2)
                }
            };
        }
        Command::Trace(args) => {
            return trace::run(&args).map_or_else(
                |error| {
                    eprintln!("windlass-bench: {error}");
                    std::process::ExitCode::from(2)
                },
                |()| std::process::ExitCode::SUCCESS,
            );
        }
    };
    let mut report = Report::new(args.quick);
    println!("{}", machine::describe());
    if cfg!(not(feature = "peers")) {
        report.note("built without --features peers: no yardstick, no times in T");
    }
    report.yardstick = transforms::yardstick(report.rounds);
    report.heading();
    for (name, run) in LAYERS {
        if args.only.iter().any(|wanted| name.contains(wanted)) {
            run(&mut report, &args);
        }
    }
    report.print_reach();
    let written =
        args.csv.iter().map(|path| (path, report.csv())).chain(args.json.iter().map(|path| (path, report.json())));
    for (path, text) in written {
        if let Err(error) = std::fs::write(path, text) {
            eprintln!("windlass-bench: {}: {error}", path.display());
            return std::process::ExitCode::from(2);
        }
    }
    std::process::ExitCode::SUCCESS
}
