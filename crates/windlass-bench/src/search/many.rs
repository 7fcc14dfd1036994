//! A million vectors: seconds of one thread, the floor that the memory sets, and recall.

use std::hint::black_box;

use windlass_retrieval::vectors::{Metric, QuantisedTable, SearchShape, SearchSpec, Values, Vectors, nearest};

use super::args::Search;
use super::asked::Asked;
use super::data::{self, Outcome};
use crate::process_time::Stopwatch;
use crate::standard::Report;
use crate::threads::pool;
use crate::timing::{compare_processor, median, repeated, subject};

/// Neighbours that are looked for.
const K: usize = 10;

/// Runs the part.
pub fn run(args: &Search, report: &mut Report) -> Outcome {
    let (vectors, dimension) = (args.vectors, args.dimension);
    let rows = data::vectors(vectors, dimension, 7);
    let queries = data::queries(&rows, dimension, args.queries);
    let watch = Stopwatch::start();
    let table = QuantisedTable::new(&Vectors::new(Values::F32(&rows), dimension)?, Metric::Cosine, 8)?;
    report.note(&format!("quantised in {:.1} s of the processor", watch.processor_seconds()));
    let shape = SearchShape::plan(&table, &SearchSpec::default())?;
    report.note(&shape.to_string().replace('\n', "; "));
    let asked = Asked::new(&table, &shape, &queries)?;
    let label = format!("{vectors} x {dimension}");
    let wanted = queries.chunks_exact(dimension).map(|query| data::nearest(&rows, dimension, query, K));
    recall(report, &label, &table, &asked, wanted)?;
    drop(rows);
    let prepared = shape.sizes(shape.setting()?.as_ref()).prepared as f64;
    report.note(&format!("{label}: prepared in {:.1} s of the processor; {}", asked.prepare_s, asked.sizes()));
    let name = |what: &str| format!("search/{what}/{vectors}x{dimension}/{}/1", windlass_kernels::Isa::best().name());
    let (one, memory) = (pool(1), vec![1u64; 1 << 27]);
    let mut subjects = [
        subject(name("answer"), || {
            black_box(one.install(|| asked.answer()).expect("it was answered before"));
        }),
        repeated(name("answer-together"), args.queries as u32, || {
            black_box(one.install(|| asked.answer_all()).expect("it was answered before"));
        }),
        subject(name("read-1GiB"), || {
            black_box(memory.iter().fold(0u64, |sum, &x| sum.wrapping_add(x)));
        }),
    ];
    let samples = compare_processor(&mut subjects, report.rounds);
    report.add(&samples);
    let seconds = median(&samples, &name("answer"));
    let bandwidth = (memory.len() * 8) as f64 / median(&samples, &name("read-1GiB"));
    report.goals.at_most(format!("{label}, 8 bits, one thread: seconds of the processor"), seconds, 2.0);
    report.goals.at_most(format!("{label}: prepared table in GB"), prepared / 1e9, 3.2);
    report.goals.beside(
        format!("{label}: times the floor, the prepared table once through memory"),
        seconds * bandwidth / prepared,
    );
    let together = median(&samples, &name("answer-together"));
    report.goals.beside(format!("{label}: seconds a query, {} queries together", args.queries), together);
    report.goals.beside("memory, one thread, GB/s", bandwidth / 1e9);
    Ok(())
}

/// How many of the ten nearest by the integers in the clear, and by double precision, are among the
/// ten nearest by encrypted scores.
fn recall(
    report: &mut Report,
    label: &str,
    table: &QuantisedTable,
    asked: &Asked,
    wanted: impl Iterator<Item = Vec<usize>>,
) -> Outcome {
    let found = asked.nearest(K)?;
    let (mut hits, mut same) = (0, 0);
    for (number, wanted) in wanted.enumerate() {
        let scores = table.scores(asked.quantised(), number);
        let clear = nearest(asked.shape(), asked.quantised(), number, &scores, K);
        let clear: Vec<usize> = clear.iter().map(|neighbour| neighbour.index).collect();
        same += data::hits(&clear, found[number].iter().map(|neighbour| neighbour.index));
        hits += data::hits(&wanted, found[number].iter().map(|neighbour| neighbour.index));
    }
    let share = |hits: usize| hits as f64 / (found.len() * K) as f64;
    report.goals.at_least(format!("{label}: recall@{K} against the same integers in the clear"), share(same), 1.0);
    report.goals.beside(format!("{label}: recall@{K} against double precision in the clear"), share(hits));
    Ok(())
}
