//! `windlass-load`: a service under load and under attack, every row checked.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use windlass_service::load::{Plot, run};

/// Tests a service under load: makes a table, serves it, and lets clients ask for rows. Meanwhile
/// it truncates and alters bodies, slows connections, evicts keys, replaces the table and kills the
/// service. It checks every row. The exit code is 0 if all rows were right and no query was
/// lost, 1 if not, and 2 if the test could not start.
#[derive(Debug, Parser)]
#[command(name = "windlass-load", version)]
struct Args {
    /// Clients, each with separate keys.
    #[arg(long, value_name = "N", default_value_t = 32)]
    clients: usize,
    /// Seconds to run.
    #[arg(long, value_name = "S", default_value_t = 600)]
    seconds: u64,
    /// Rows of the table.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    rows: usize,
    /// Bytes of a row.
    #[arg(long, value_name = "N", default_value_t = 100)]
    bytes: usize,
    /// Threads of the service [default: one for each core].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Only ask for rows, without any attack.
    #[arg(long)]
    peaceful: bool,
    /// The service program [default: windlass-serve in the directory of this program].
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Write the result to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    let args: Args = windlass_secrets::parse_from(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let failed = |error: &dyn std::fmt::Display| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    };
    if args.clients == 0 || args.rows == 0 || args.bytes < 40 || args.seconds == 0 {
        return failed(&"give at least one client, one row, one second and 40 bytes in a row");
    }
    let beside = || {
        let name = format!("windlass-serve{}", std::env::consts::EXE_SUFFIX);
        std::env::current_exe().map_or_else(|_| name.clone().into(), |own| own.with_file_name(&name))
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let plot = Plot {
        clients: args.clients,
        time: Duration::from_secs(args.seconds),
        rows: args.rows,
        bytes: args.bytes,
        threads: args.threads.unwrap_or(cores),
        faults: !args.peaceful,
        program: args.program.clone().unwrap_or_else(beside),
    };
    let report = match run(&plot) {
        Ok(report) => report,
        Err(error) => return failed(&error),
    };
    println!("{report}");
    if let Some(path) = &args.json
        && let Err(error) = std::fs::write(path, format!("{:#}\n", report.object))
    {
        return failed(&format!("{}: {error}", path.display()));
    }
    if report.is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
