//! `windlass-bench linear`: Tables 1 to 4 of Halevi–Shoup 2018.

use std::path::PathBuf;

use crate::linear_case::{Case, Chain, Kind};
use crate::linear_columns::Column;
use crate::linear_record::{self, Record};
use crate::machine;
use crate::{linear_plot, linear_render};

/// Arguments of `linear`.
#[derive(Debug, clap::Args)]
pub struct Linear {
    /// The rings of the tables.
    #[arg(long, value_delimiter = ',', default_value = "15709,18631,24295")]
    m: Vec<u64>,
    /// Which dimensions: good, bad (15709 has none: its good one is treated as bad).
    #[arg(long, value_delimiter = ',', default_value = "good,bad")]
    dimensions: Vec<String>,
    /// Which maps: 1d, block, full, block-full.
    #[arg(long, value_delimiter = ',', default_value = "1d,block,full,block-full")]
    maps: Vec<Kind>,
    /// Moduli: 400 (bits of Q, as the published figures), or secure (128 bits).
    #[arg(long, default_value = "400")]
    chain: Chain,
    /// Columns of the tables by name; all by default. `best` and `minimal` are ours, the others the paper's.
    #[arg(long, value_delimiter = ',')]
    columns: Vec<String>,
    /// Numbers of threads for the best column; the others run on one.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    threads: Vec<usize>,
    /// Runs of each column.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Leave out columns whose keys and constants take more than this many GiB.
    #[arg(long, default_value_t = 8.0)]
    most_gib: f64,
    /// Append the results to this file.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Put the tables of the CSV file into this page, between its marks.
    #[arg(long, value_name = "FILE", requires = "csv")]
    page: Option<PathBuf>,
    /// Write a plot of the CSV file: time against D.
    #[arg(long, value_name = "FILE", requires = "csv")]
    plot: Option<PathBuf>,
    /// Only render; measure nothing.
    #[arg(long)]
    render_only: bool,
}

/// Runs the command. Errors are of files.
pub fn run(args: &Linear) -> std::io::Result<()> {
    println!("{}", machine::describe());
    if !args.render_only {
        measure(args)?;
    }
    let Some(csv) = &args.csv else { return Ok(()) };
    let records = linear_record::read(csv)?;
    if let Some(page) = &args.page {
        linear_render::page(page, &records)?;
    }
    if let Some(plot) = &args.plot {
        std::fs::write(plot, linear_plot::plot(&records))?;
    }
    Ok(())
}

fn measure(args: &Linear) -> std::io::Result<()> {
    println!("{}", Record::heading());
    for &m in &args.m {
        for dimension in &args.dimensions {
            let case = Case::new(m, dimension == "bad", args.chain);
            println!("# {}", case.describe());
            for &kind in &args.maps {
                if let Some(other) = case.same_as(kind) {
                    println!("# {kind:?}: the same map as {other}");
                    continue;
                }
                let columns: Vec<Column> = Column::of(kind, &case)
                    .into_iter()
                    .filter(|column| args.columns.is_empty() || args.columns.iter().any(|name| name == column.name))
                    .collect();
                let most_bytes = (args.most_gib * (1u64 << 30) as f64) as usize;
                let mut keep = |record: Record| -> std::io::Result<()> {
                    println!("{}", record.line());
                    args.csv.as_ref().map_or(Ok(()), |csv| record.append(csv))
                };
                case.measure(kind, &columns, &args.threads, args.rounds, most_bytes, &mut keep)?;
            }
        }
    }
    println!("peak memory {:.0} MiB", machine::peak_mebibytes());
    Ok(())
}
