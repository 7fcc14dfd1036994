//! Arguments of `trace`.

use std::path::PathBuf;

use windlass_kernels::Isa;

use crate::threads::measured;
use crate::timing::{Sample, Subject};

/// Arguments of `trace`.
#[derive(Debug, clap::Args)]
pub struct Trace {
    /// Fewer repetitions and the corners of the grid alone: a first look.
    #[arg(long)]
    pub quick: bool,
    /// Only parts whose name contains this (sums, fma, operations).
    #[arg(long, default_value = "")]
    pub only: String,
    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4", value_parser = crate::threads::number())]
    pub threads: Vec<usize>,
    /// Instruction sets, of those that the machine has.
    #[arg(long, value_delimiter = ',', default_value = "portable,avx2,avx512,ifma")]
    pub isas: Vec<String>,
    /// Gibibytes of keys at most; what needs more is left out.
    #[arg(long, value_name = "GIB", default_value_t = 3.0)]
    pub memory: f64,
    /// Rounds of each comparison [default: 7, or 3 with --quick].
    #[arg(long)]
    pub rounds: Option<usize>,
    /// Append the results to this record: one line of JSON for each.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Write a page with tables, and plots into a directory of its name beside it.
    #[arg(long, value_name = "FILE", requires = "record")]
    pub page: Option<PathBuf>,
    /// Only render; measure nothing.
    #[arg(long, requires = "record")]
    pub render_only: bool,
}

impl Trace {
    /// Those of the asked for that the machine has, slowest first.
    pub fn isas(&self) -> Vec<Isa> {
        Isa::available().into_iter().filter(|isa| self.isas.iter().any(|name| name == isa.name())).collect()
    }

    /// One thread by processor time, several by the wall.
    pub fn compare(&self, subjects: &mut [Subject<'_>], threads: usize) -> Vec<Sample> {
        measured(subjects, threads, self.rounds())
    }

    /// Rounds of a comparison.
    pub fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 3 } else { 7 }).max(1)
    }
}
