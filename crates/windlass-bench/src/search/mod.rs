//! `windlass-bench search`: nearest neighbours of an encrypted vector.

mod args;
mod asked;
mod data;
mod diagonals;
mod many;
mod small;

pub use args::Search;

use std::error::Error;

use crate::standard::Report;
use crate::{machine, record};

/// A part: its name, and what measures it.
type Part = (&'static str, fn(&Search, &mut Report) -> data::Outcome);

const PARTS: [Part; 2] = [("small", small::run), ("many", many::run)];

/// Runs everything that was asked for, prints a line for each figure, and writes the record.
pub fn run(args: &Search) -> Result<(), Box<dyn Error>> {
    println!("{}", machine::describe());
    args.json.as_ref().map_or(Ok(()), |path| record::open(path).map(drop))?;
    let mut report = Report::new(false);
    report.rounds = args.rounds;
    let chosen: Vec<Part> = PARTS.into_iter().filter(|(name, _)| name.contains(&args.only)).collect();
    if chosen.is_empty() {
        return Err(format!("nothing to measure: parts are {}", PARTS.map(|(name, _)| name).join(", ")).into());
    }
    report.heading();
    for (_, part) in chosen {
        // Preparing takes all threads; what is timed runs in a pool of one.
        part(args, &mut report).map_err(|error| -> Box<dyn Error> { error })?;
    }
    report.goals.print();
    if let Some(path) = &args.json {
        report.append(path)?;
    }
    println!("peak memory {:.0} MiB", machine::peak_mebibytes());
    Ok(())
}
