//! `windlass-bench trace`: trace-type functions as in Inoue–Suzuki–Yamana 2022, its Tables 2 and 3
//! and Figure 1.

mod application;
mod args;
mod fma;
mod fma60;
mod keep;
mod operations;
mod rows;
mod setup;
mod sums;

use std::path::Path;

pub use args::Trace;

use crate::{machine, page, record, yardstick};
use results::Results;
use windlass_papers::trace::{pages, plots, reach, results};

/// A part: its name, and what measures it.
type Part = (&'static str, fn(&Trace, &mut Results));

const PARTS: [Part; 6] = [
    ("sums", sums::run),
    ("long", sums::run_long),
    ("operations", operations::run),
    ("application", application::run),
    ("fma", fma::run),
    ("fma60", fma60::run),
];

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
        for other in &args.beside {
            results.records.extend(record::read(other, results::key)?);
        }
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
fn write(path: &Path, results: &Results) -> Result<(), Box<dyn std::error::Error>> {
    let folder = path.with_extension("");
    for (number, processor) in results.by_processor().iter().enumerate() {
        let directory = if number == 0 { folder.clone() } else { folder.join(processor.slug()) };
        std::fs::create_dir_all(&directory).map_err(|error| record::named(&directory, &error))?;
        for (name, svg) in plots::all(processor)? {
            page::write(&directory.join(format!("{name}.svg")), &svg)?;
        }
    }
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(page::write(path, &pages::text(results, &name))?)
}
