//! Arguments of `functions`.

use std::path::PathBuf;

use crate::threads::number;

/// Arguments of `functions`.
#[derive(Debug, clap::Args)]
pub struct Functions {
    /// What is measured.
    #[arg(value_enum)]
    pub what: What,
    /// The set of refreshes [default: refresh_n65536 for the sign, refresh_n65536_slots32 for the training].
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Sign: it is within 2^-BITS.
    #[arg(long, default_value_t = 20.0)]
    pub bits: f64,
    /// Sign: outside of |x| < 2^-GAP_BITS.
    #[arg(long, default_value_t = 10.0)]
    pub gap_bits: f64,
    /// Sign: ciphertexts that run together.
    #[arg(long, default_value_t = 1, value_parser = number())]
    pub together: usize,
    /// Training: the table, with a column `diagnosis` that holds M or B, a column `id`, and numbers in the others.
    #[arg(long, value_name = "FILE", default_value = "data/breast-cancer.csv")]
    pub table: PathBuf,
    /// Training: the number of steps.
    #[arg(long, default_value_t = 30, value_parser = number())]
    pub steps: usize,
    /// Only print the plan.
    #[arg(long)]
    pub explain: bool,
    /// Threads.
    #[arg(long, default_value_t = 1, value_parser = number())]
    pub threads: usize,
    /// Runs; the median is taken.
    #[arg(long, default_value_t = 1, value_parser = number())]
    pub runs: usize,
    /// The seed of keys and numbers.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Append the result to this record: one line of JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// The sign of numbers in all slots.
    Sign,
    /// A logistic regression on encrypted rows.
    Training,
}
