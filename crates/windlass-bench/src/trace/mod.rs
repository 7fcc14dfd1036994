//! `windlass-bench trace`: trace-type functions as in Inoue–Suzuki–Yamana 2022, its Tables 2 and 3 and Figure 1.

mod fma;
mod operations;
mod page;
mod peers;
mod plot;
mod setup;
mod sums;

use std::path::PathBuf;

use windlass_kernels::Isa;

use crate::machine;
use crate::timing::{Sample, Subject, compare, compare_processor};

/// Arguments of `trace`.
#[derive(Debug, clap::Args)]
pub struct Trace {
    /// Fewer repetitions and the corners of the grid alone: a first look.
    #[arg(long)]
    quick: bool,
    /// Only parts whose name contains this (sums, fma, operations).
    #[arg(long, default_value = "")]
    only: String,
    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    threads: Vec<usize>,
    /// Instruction sets, of those that the machine has.
    #[arg(long, value_delimiter = ',', default_value = "portable,avx2,avx512,ifma")]
    isas: Vec<String>,
    /// Gibibytes of keys at most; what needs more is left out.
    #[arg(long, value_name = "GIB", default_value_t = 3.0)]
    memory: f64,
    /// Rounds of each comparison [default: 7, or 3 with --quick].
    #[arg(long)]
    rounds: Option<usize>,
    /// Take results from these CSV files of earlier runs, and measure nothing but what --only names.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    from: Vec<PathBuf>,
    /// Write the results as CSV.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write a page with tables, and plots into a directory of its name beside it.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

impl Trace {
    fn isas(&self) -> Vec<Isa> {
        Isa::available().into_iter().filter(|isa| self.isas.iter().any(|name| name == isa.name())).collect()
    }

    /// One thread by processor time, several by the wall.
    fn compare(&self, subjects: &mut [Subject<'_>], threads: usize) -> Vec<Sample> {
        if threads == 1 { compare_processor(subjects, self.rounds()) } else { compare(subjects, self.rounds()) }
    }

    fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 3 } else { 7 }).max(1)
    }
}

/// One figure: what, where, how long.
#[derive(Debug, Clone)]
pub struct Record {
    /// `sum`, `operation`, `precision` (bits, not seconds) or `fma`.
    part: &'static str,
    /// Special primes, or the logarithm of n for `fma`.
    k: u32,
    /// Level, or the number of rows for `fma`.
    l: usize,
    /// Groups of a sum (0: sequential); the operation's name otherwise.
    what: String,
    isa: &'static str,
    threads: usize,
    median: f64,
    min: f64,
    /// T of the run that it comes from, if that was another one.
    yardstick: Option<f64>,
}

/// Results from a CSV file that [`csv`] wrote.
fn read(text: &str) -> std::io::Result<Vec<Record>> {
    let bad = |line: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, format!("not a record: {line}"));
    let record = |line: &str| -> Option<Record> {
        let cells: Vec<&str> = line.split(',').collect();
        let &[part, k, l, what, isa, threads, median, min, yardsticks, ..] = &cells[..] else { return None };
        let part = ["sum", "operation", "precision", "fma"].into_iter().find(|&name| name == part)?;
        let isa = ["portable", "avx2", "avx512", "ifma"].into_iter().find(|&name| name == isa)?;
        let (median, in_t): (f64, f64) = (median.parse().ok()?, yardsticks.parse().ok()?);
        Some(Record {
            part,
            k: k.parse().ok()?,
            l: l.parse().ok()?,
            what: what.to_owned(),
            isa,
            threads: threads.parse().ok()?,
            median,
            min: min.parse().ok()?,
            yardstick: (in_t > 0.0).then(|| median / in_t),
        })
    };
    text.lines().skip(1).map(|line| record(line).ok_or_else(|| bad(line))).collect()
}

/// Runs everything that was asked for, prints a line for each figure, and writes CSV and page.
pub fn run(args: &Trace) -> std::io::Result<()> {
    println!("{}", machine::describe());
    let measures = args.from.is_empty() || !args.only.is_empty();
    let yardstick = if measures { crate::transforms::yardstick(args.rounds()) } else { None };
    if let Some(t) = yardstick {
        println!("T = {:.1} us", t * 1e6);
    }
    let mut records = Vec::new();
    for path in &args.from {
        records.extend(read(&std::fs::read_to_string(path)?)?);
    }
    let earlier = records.iter().find_map(|record: &Record| record.yardstick);
    let yardstick = yardstick.or(earlier);
    let parts: [(&str, fn(&Trace, &mut Vec<Record>)); 3] =
        [("sums", sums::run), ("operations", operations::run), ("fma", fma::run)];
    for (name, part) in parts {
        if measures && name.contains(&args.only) {
            part(args, &mut records);
        }
    }
    if let Some(path) = &args.csv {
        std::fs::write(path, csv(&records, yardstick))?;
    }
    let page = page::Page { records: &records, yardstick };
    print!("{}", page.reach());
    if let Some(path) = &args.page {
        page.write(path)?;
    }
    println!("peak memory {:.0} MiB", machine::peak_mebibytes());
    Ok(())
}

/// Prints and keeps a figure.
fn record(records: &mut Vec<Record>, record: Record) {
    println!(
        "{:<10} k={:<2} l={:<2} {:<18} {:<8} {:>2} threads {:>11.4} ms {:>11.4} ms",
        record.part,
        record.k,
        record.l,
        record.what,
        record.isa,
        record.threads,
        record.median * 1e3,
        record.min * 1e3
    );
    records.push(record);
}

fn csv(records: &[Record], yardstick: Option<f64>) -> String {
    let mut out = String::from("part,k_or_log_n,l,what,isa,threads,median_s,min_s,yardsticks,cpu\n");
    let cpu = machine::cpu().replace(',', ";");
    for r in records {
        let t = r.yardstick.or(yardstick).map_or(f64::NAN, |t| r.median / t);
        out += &format!(
            "{},{},{},{},{},{},{:e},{:e},{t:.6},{cpu}\n",
            r.part, r.k, r.l, r.what, r.isa, r.threads, r.median, r.min
        );
    }
    out
}
