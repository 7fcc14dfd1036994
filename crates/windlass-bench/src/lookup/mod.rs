//! `windlass-bench lookup`: private lookups in tables of any size, beside the floor that memory
//! sets.

mod case;
mod parts;

use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;

use case::{Asked, Case};
use windlass_kernels::Isa;
use windlass_retrieval::{TableRequirements, format_bytes};

use crate::standard::Report;
use crate::timing::{compare_processor, median, repeated, subject};
use crate::{machine, page, record};

/// Arguments of `lookup`.
#[derive(Debug, clap::Args)]
pub struct Lookup {
    /// Only cases whose names contain this (1KiB, 256B, keyword-2B, parts: what an answer is made
    /// of).
    #[arg(long, default_value = "")]
    pub only: String,
    /// Divide the number of rows of the large tables by this, for less time and memory.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub divide: usize,
    /// Rounds of which the median is taken, by processor time of one thread.
    #[arg(long, default_value_t = 5, value_parser = crate::threads::number())]
    pub rounds: usize,
    /// Append the results to this record: one line of JSON for each.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the results into this page, between its marks.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}

/// Queries that are answered together.
const TOGETHER: usize = 16;

/// What a part may fail with.
type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Runs everything that was asked for, prints a line for each figure, and writes the record.
pub fn run(args: &Lookup) -> Outcome {
    println!("{}", machine::describe());
    args.json.as_ref().map_or(Ok(()), |path| record::open(path).map(drop))?;
    let mut report = Report::new(false);
    report.rounds = args.rounds;
    report.heading();
    // The goals were set for tags of 64 bits.
    let apple = TableRequirements {
        keys: Some(681_000),
        query: Some(28_000),
        answer: Some(23_000),
        tag_bits: Some(64),
        ..TableRequirements::default()
    };
    let rows = |count: usize| (count / args.divide).max(1);
    let cases = [
        Case {
            name: "1KiB",
            rows: rows(1 << 20),
            bytes: 1024,
            keyed: false,
            requirements: TableRequirements::default(),
        },
        Case {
            name: "256B",
            rows: rows(1 << 22),
            bytes: 256,
            keyed: false,
            requirements: TableRequirements::default(),
        },
        Case { name: "keyword-2B", rows: 100_000, bytes: 2, keyed: true, requirements: apple },
    ];
    let chosen: Vec<Case> = cases.into_iter().filter(|case| case.name.contains(&args.only)).collect();
    let with_parts = "parts".contains(&args.only);
    if chosen.is_empty() && !with_parts {
        return Err("nothing to measure: cases are 1KiB, 256B, keyword-2B, parts".into());
    }
    if with_parts {
        parts::run(&mut report)?;
    }
    for case in chosen {
        measure(&case, &mut report)?;
    }
    report.goals.print();
    if let Some(path) = &args.json {
        report.append(path)?;
    }
    if let Some(path) = &args.page {
        page::write_between_marks(path, &format!("\n{}\n", report.goals.table()))?;
    }
    println!("peak memory {:.0} MiB", machine::peak_mebibytes());
    Ok(())
}

fn measure(case: &Case, report: &mut Report) -> Outcome {
    let asked = Asked::new(case, TOGETHER)?;
    let Case { name, rows, bytes, .. } = *case;
    let label = format!("{rows} x {bytes} B{}", if case.keyed { " by key" } else { "" });
    asked.plan.explain().lines().for_each(|line| report.note(line));
    let data = (rows * bytes) as f64;
    report.note(&format!("{label}: prepared in {:.1} s of the processor", asked.prepare_s));
    let id = |what: &str| format!("lookup/{what}/{name}-{rows}/{}/1", Isa::best().name());
    let one = crate::threads::pool(1);
    let mut subjects = [
        subject(id("answer"), || drop(black_box(one.install(|| asked.answer(1))))),
        repeated(id("answer-together"), TOGETHER as u32, || drop(black_box(one.install(|| asked.answer(TOGETHER))))),
        subject(id("read-prepared"), || {
            black_box(asked.table.read_all());
        }),
        subject(id("query"), || drop(black_box(asked.client_query()))),
        subject(id("decrypt"), || asked.decrypt()),
    ];
    let samples = compare_processor(&mut subjects, report.rounds);
    report.add(&samples);
    let [answer, together, floor] =
        ["answer", "answer-together", "read-prepared"].map(|what| median(&samples, &id(what)));
    let goals = &mut report.goals;
    let sizes = asked.plan.sizes;
    let [query, sent] = asked.plan.traffic;
    if case.keyed {
        goals.at_most(format!("{label}: milliseconds of a lookup"), answer * 1e3, 20.0);
        goals.at_most(format!("{label}: kB of keys"), sizes.keys as f64 / 1e3, 681.0);
        goals.at_most(format!("{label}: kB of a query"), query as f64 / 1e3, 28.0);
        goals.at_most(format!("{label}: kB of an answer"), sent as f64 / 1e3, 23.0);
    } else {
        goals.at_least(format!("{label}: GB/s for one query"), data / answer / 1e9, 1.2);
        goals.at_least(format!("{label}: GB/s for {TOGETHER} together"), data / together / 1e9, 3.0);
        goals.at_most(format!("{label}: kB of a query"), query as f64 / 1e3, 64.0);
        goals.at_most(format!("{label}: kB of an answer"), sent as f64 / 1e3, 64.0);
        goals.at_least(format!("{label}: MB/s prepared"), data / asked.prepare_s / 1e6, 50.0);
        goals.beside(format!("{label}: times the floor, the prepared table once through memory"), answer / floor);
        goals.beside(format!("{label}: GB/s of that floor, of prepared bytes"), sizes.prepared as f64 / floor / 1e9);
    }
    report.note(&format!("{label}: keys {} once", format_bytes(sizes.keys)));
    Ok(())
}
