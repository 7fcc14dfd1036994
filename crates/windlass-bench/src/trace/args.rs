//! Arguments of `trace`.

use std::path::PathBuf;

use windlass_kernels::Isa;

use super::results::GRID;
use crate::threads::measured;
use crate::timing::{Sample, Subject};

/// Arguments of `trace`.
#[derive(Debug, clap::Args)]
pub struct Trace {
    /// Fewer repetitions and only the corners of the grid.
    #[arg(long)]
    pub quick: bool,
    /// Only parts whose name contains this (sums, long, operations, application, fma, fma60).
    #[arg(long, default_value = "")]
    pub only: String,
    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4", value_parser = crate::threads::number())]
    pub threads: Vec<usize>,
    /// Instruction sets. Those that the machine does not have are left out.
    #[arg(long, value_delimiter = ',', default_value = "portable,avx2,avx512,ifma")]
    pub isas: Vec<String>,
    /// Only this k and l of the sums, as in 1/9.
    #[arg(long, value_name = "K/L", value_parser = place)]
    pub place: Option<(u32, usize)>,
    /// The maximum GiB of keys. Sums that need more are left out; 7.5 GiB suffice for all.
    #[arg(long, value_name = "GIB", default_value_t = 3.0)]
    pub memory: f64,
    /// Rounds of each comparison [default: 7, or 3 with --quick].
    #[arg(long)]
    pub rounds: Option<usize>,
    /// Append the results to this record: one line of JSON for each.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Records of other processors that the page shows as well.
    #[arg(long, value_name = "FILE", requires = "page")]
    pub beside: Vec<PathBuf>,
    /// Write a page with tables, and plots into a directory with the name of the page.
    #[arg(long, value_name = "FILE", requires = "record")]
    pub page: Option<PathBuf>,
    /// Measure nothing: only render.
    #[arg(
        long,
        requires = "record",
        conflicts_with_all = ["quick", "only", "threads", "isas", "place", "memory", "rounds"]
    )]
    pub render_only: bool,
}

/// k/l, one of the grid.
fn place(text: &str) -> Result<(u32, usize), String> {
    let name = |(k, l): &(u32, usize)| format!("{k}/{l}");
    let all = || GRID.iter().map(name).collect::<Vec<_>>().join(", ");
    GRID.into_iter().find(|place| name(place) == text).ok_or_else(|| format!("one of {}", all()))
}

impl Trace {
    /// Those of the asked for that the machine has, slowest first.
    pub fn isas(&self) -> Vec<Isa> {
        Isa::available().into_iter().filter(|isa| self.isas.iter().any(|name| name == isa.name())).collect()
    }

    /// Whether a place of the grid of sums was asked for.
    pub fn measures(&self, k: u32, l: usize) -> bool {
        self.place.map_or(!self.quick || l != 4, |place| place == (k, l))
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
