//! 4096 vectors of 128 dimensions: searches for links of several speeds, beside diagonals.

use std::hint::black_box;

use windlass_retrieval::vectors::{Metric, QuantisedTable, SearchShape, SearchSpec, Values, Vectors};

use super::args::Search;
use super::asked::Asked;
use super::data::{self, Outcome};
use super::diagonals::Diagonals;
use crate::standard::Report;
use crate::threads::pool;
use crate::timing::{Subject, compare_processor, median, subject};

const VECTORS: usize = 4096;
const DIMENSION: usize = 128;

/// Bytes a second of the links that are planned for.
const LINKS: [(&str, f64); 3] = [("100Mbit", 12.5e6), ("1Gbit", 125e6), ("10Gbit", 1.25e9)];

/// Runs the part.
pub fn run(_: &Search, report: &mut Report) -> Outcome {
    let rows = data::vectors(VECTORS, DIMENSION, 3);
    let queries = data::queries(&rows, DIMENSION, 1);
    let rows = Vectors::new(Values::F32(&rows), DIMENSION)?;
    let table = QuantisedTable::new(&rows, Metric::Cosine, 8)?;
    let mut searches = Vec::new();
    for (link, bandwidth) in LINKS {
        let shape = SearchShape::plan(&table, &SearchSpec { bandwidth })?;
        report.note(&format!("{link}: {}", shape.to_string().replace('\n', "; ")));
        searches.push((link, Asked::new(&table, &shape, &queries)?));
    }
    let diagonals = Diagonals::new(&table, searches[0].1.quantised())?;
    let count = diagonals.plan.count();
    report.note(&format!("diagonals: {}; {count:?}", diagonals.context.params().explain().replace('\n', "; ")));
    let name = |what: &str| format!("search/{what}/{VECTORS}x{DIMENSION}/{}/1", windlass_kernels::Isa::best().name());
    let one = pool(1);
    let mut subjects: Vec<Subject<'_>> = vec![subject(name("diagonals"), || {
        black_box(one.install(|| diagonals.apply()).expect("it was applied before"));
    })];
    for (link, asked) in &searches {
        subjects.push(subject(name(link), || {
            black_box(one.install(|| asked.answer()).expect("it was answered before"));
        }));
    }
    let samples = compare_processor(&mut subjects, report.rounds);
    report.add(&samples);
    let seconds = |what: &str| median(&samples, &name(what));
    for (link, asked) in &searches {
        let sizes = asked.sizes();
        let ratio = seconds("diagonals") / seconds(link);
        let label = format!("{VECTORS} x {DIMENSION}, planned for {link} ({sizes}): times as fast as diagonals");
        if *link == "10Gbit" { report.goals.at_least(label, ratio, 5.0) } else { report.goals.beside(label, ratio) }
    }
    Ok(())
}
