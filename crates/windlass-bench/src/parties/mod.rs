//! `windlass-bench parties`: what one party of a collective key does and sends.

mod case;

use std::error::Error;
use std::path::PathBuf;

use crate::standard::Report;
use crate::{machine, record};

/// Arguments of `parties`.
#[derive(Debug, clap::Args)]
pub struct Parties {
    /// Only rings whose m is among these.
    #[arg(long, value_delimiter = ',')]
    pub m: Vec<u64>,
    /// Numbers of parties.
    #[arg(long, value_delimiter = ',', default_values_t = [3, 16])]
    pub parties: Vec<u32>,
    /// Rounds of which the median is taken, by processor time.
    #[arg(long, default_value_t = 7, value_parser = crate::threads::number())]
    pub rounds: usize,
    /// Append the results to this record: one line of JSON for each.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Runs everything that was asked for, prints a line for each figure, and writes the record.
pub fn run(args: &Parties) -> Result<(), Box<dyn Error>> {
    println!("{}", machine::describe());
    args.json.as_ref().map_or(Ok(()), |path| record::open(path).map(drop))?;
    let mut report = Report::new(false);
    report.rounds = args.rounds;
    report.heading();
    for ring in case::RINGS.iter().filter(|ring| args.m.is_empty() || args.m.contains(&ring.m)) {
        for &parties in &args.parties {
            case::run(ring, parties, &mut report)?;
        }
    }
    report.goals.print();
    if let Some(path) = &args.json {
        report.append(path)?;
    }
    println!("peak memory {:.0} MiB", machine::peak_mebibytes());
    Ok(())
}
