//! What was measured, and finding it again.

use serde::{Deserialize, Serialize};

use super::parameters::STEPS;
use crate::page::{distinct, first_seen};
use crate::record::{Record, model};

/// Special primes and levels of the sums.
pub const GRID: [(u32, usize); 9] = [(1, 1), (1, 4), (1, 9), (5, 1), (5, 4), (5, 9), (10, 1), (10, 4), (10, 9)];

/// The names of the places of [`GRID`].
pub fn grid() -> impl Iterator<Item = String> {
    GRID.iter().map(|(k, l)| format!("{k}/{l}"))
}

/// Instruction sets, slowest first.
const ISAS: [&str; 4] = ["portable", "avx2", "avx512", "ifma"];

/// One measured operation.
pub type Measured = Record<Figure>;

/// What was measured, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// `sum`, `long` (sums with the paper's log P), `operation`, `precision` (its times are bits:
    /// the mean and the least), `application`, `fma`, `fma60` or `dot60`.
    pub part: String,
    /// Special primes, or the logarithm of n for `fma` and `fma60`, or the digits for `dot60`.
    pub k: u32,
    /// Level, or the number of rows for `fma`, `fma60` and `dot60`.
    pub l: usize,
    /// Groups of a sum (0: sequential); the operation's name otherwise.
    pub what: String,
    /// The instruction set.
    pub isa: String,
    /// Cores of the machine, where they were written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<usize>,
}

/// By what a later record replaces an earlier one.
pub fn key(record: &Measured) -> impl PartialEq + use<> {
    (record.of.clone(), record.threads)
}

/// Where a figure of a sum was taken.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Special primes.
    pub k: u32,
    /// The level.
    pub l: usize,
    /// The instruction set.
    pub isa: &'a str,
    /// Threads.
    pub threads: usize,
}

/// Figures, and the yardstick of the run that adds to them.
#[derive(Default)]
pub struct Results {
    /// The figures.
    pub records: Vec<Measured>,
    /// T in seconds.
    pub yardstick: Option<f64>,
}

impl Results {
    /// The figures of each processor, in order of appearance.
    pub fn by_processor(&self) -> Vec<Self> {
        let one = |cpu: &String| {
            let records = self.records.iter().filter(|r| r.cpu == *cpu).cloned().collect();
            Self { records, yardstick: None }
        };
        first_seen(self.records.iter().map(|r| &r.cpu)).into_iter().map(one).collect()
    }

    /// The processor of the first figure.
    pub fn cpu(&self) -> &str {
        self.records.first().map_or("", |r| &r.cpu)
    }

    /// The processor's family and model as the name of a folder.
    pub fn slug(&self) -> String {
        let words = model(self.cpu()).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-")
    }

    /// Seconds of one figure.
    pub fn seconds(&self, part: &str, (k, l): (u32, usize), what: &str, isa: &str, threads: usize) -> Option<f64> {
        let fits = |r: &&Measured| (r.of.k, r.of.l, &*r.of.what, &*r.of.isa, r.threads) == (k, l, what, isa, threads);
        Some(self.of_part(part).find(fits)?.median_s)
    }

    /// The figures of a part.
    pub fn of_part<'a>(&'a self, part: &'a str) -> impl Iterator<Item = &'a Measured> + Clone {
        self.records.iter().filter(move |r| r.of.part == part)
    }

    fn sums_at<'a>(&'a self, place: Place<'a>) -> impl Iterator<Item = &'a Measured> {
        let Place { k, l, isa, threads } = place;
        self.of_part("sum").filter(move |r| (r.of.k, r.of.l, &*r.of.isa, r.threads) == (k, l, isa, threads))
    }

    /// A sum in h groups.
    fn sum_record<'a>(&'a self, place: Place<'a>, h: usize) -> Option<&'a Measured> {
        let wanted = h.to_string();
        self.sums_at(place).find(|r| r.of.what == wanted)
    }

    /// Seconds of a sum in h groups; 0 is the sequential one.
    pub fn sum(&self, place: Place<'_>, h: usize) -> Option<f64> {
        Some(self.sum_record(place, h)?.median_s)
    }

    /// The best h with its seconds.
    pub fn best(&self, place: Place<'_>) -> Option<(usize, f64)> {
        let all = (1..=STEPS as usize).filter_map(|h| Some((h, self.sum(place, h)?)));
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Seconds of the best sum in the T of its run.
    pub fn best_in_yardsticks(&self, place: Place<'_>) -> Option<f64> {
        let (h, _) = self.best(place)?;
        self.sum_record(place, h)?.yardsticks
    }

    /// Names of the instruction sets measured, slowest first.
    pub fn isas(&self) -> Vec<&'static str> {
        let measured = |name: &&str| self.records.iter().any(|r| r.of.part == "sum" && r.of.isa == *name);
        ISAS.into_iter().filter(measured).collect()
    }

    /// The numbers of threads that sums were measured on.
    pub fn threads(&self) -> Vec<usize> {
        distinct(self.of_part("sum").map(|r| r.threads))
    }

    /// The fastest instruction set and the least number of threads, if sums were measured.
    pub fn fastest(&self) -> Option<(&'static str, usize)> {
        Some((self.isas().last()?, *self.threads().first()?))
    }

    /// (bytes, separate/fused) for one instruction set or all, by bytes.
    pub fn fma_ratios(&self, isa: Option<&str>) -> Vec<(f64, f64)> {
        let all = self.of_part("fma").filter(|r| isa.is_none_or(|isa| r.of.isa == isa));
        let ratio = |fused: &Measured| {
            let separate = Figure { what: "separate".into(), ..fused.of.clone() };
            let separate = all.clone().find(|r| r.of == separate)?;
            let bytes = 8.0 * ((3 * fused.of.l) << fused.of.k) as f64;
            Some((bytes, separate.min_s / fused.min_s))
        };
        let mut ratios: Vec<(f64, f64)> = all.clone().filter(|r| r.of.what == "fused").filter_map(ratio).collect();
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        ratios
    }
}
