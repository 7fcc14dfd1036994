//! `windlass-bench trace`: trace-type functions as in Inoue–Suzuki–Yamana 2022, its Tables 2 and 3
//! and Figure 1.

mod args;
mod fma;
mod operations;
mod pages;
mod peers;
mod plots;
mod reach;
mod results;
mod setup;
mod sums;

pub use args::Trace;

use crate::{machine, page, record, yardstick};
use results::Results;

/// A part: its name, and what measures it.
type Part = (&'static str, fn(&Trace, &mut Results));

const PARTS: [Part; 3] = [("sums", sums::run), ("operations", operations::run), ("fma", fma::run)];

/// Runs everything that was asked for, prints a line for each figure, and writes record and page.
pub fn run(args: &Trace) -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", machine::describe());
    let mut results = Results::default();
    if !args.render_only {
        measure(args, &mut results)?;
    }
    if let Some(path) = &args.record {
        record::append(path, &results.records)?;
        results.records = record::read(path, results::key)?;
    }
    reach::goals(&results).print();
    if let Some(path) = &args.page {
        write(path, &results)?;
    }
    println!("peak memory {:.0} MiB", machine::peak_mebibytes());
    Ok(())
}

fn measure(args: &Trace, results: &mut Results) -> Result<(), Box<dyn std::error::Error>> {
    let chosen: Vec<Part> = PARTS.into_iter().filter(|(name, _)| name.contains(&args.only)).collect();
    if chosen.is_empty() || args.isas().is_empty() {
        let (parts, isas) = (PARTS.map(|(name, _)| name).join(", "), windlass_kernels::Isa::available());
        let isas = isas.into_iter().map(|isa| isa.name()).collect::<Vec<_>>().join(", ");
        return Err(format!("nothing to measure: parts are {parts}, instruction sets {isas}").into());
    }
    args.record.as_ref().map_or(Ok(()), |path| record::open(path).map(drop))?;
    results.yardstick = yardstick::seconds(args.rounds());
    if let Some(t) = results.yardstick {
        println!("T = {:.1} us", t * 1e6);
    }
    chosen.iter().for_each(|(_, part)| part(args, results));
    Ok(())
}

/// Writes the page, and its plots into a directory of the page's name beside it.
fn write(path: &std::path::Path, results: &Results) -> Result<(), Box<dyn std::error::Error>> {
    let directory = path.with_extension("");
    std::fs::create_dir_all(&directory).map_err(|error| record::named(&directory, &error))?;
    let folder = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for (name, svg) in plots::all(results)? {
        page::write(&directory.join(format!("{name}.svg")), &svg)?;
    }
    Ok(page::write(path, &pages::text(results, &folder))?)
}
