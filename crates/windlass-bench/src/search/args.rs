//! Arguments of `search`.

use std::path::PathBuf;

/// Arguments of `search`.
#[derive(Debug, clap::Args)]
pub struct Search {
    /// Only parts whose names contain this (small, many).
    #[arg(long, default_value = "")]
    pub only: String,
    /// Vectors of the large table.
    #[arg(long, value_name = "N", default_value_t = 1 << 20)]
    pub vectors: usize,
    /// Their dimension.
    #[arg(long, value_name = "D", default_value_t = 256)]
    pub dimension: usize,
    /// Queries over which recall is measured.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub queries: usize,
    /// Rounds of which the median is taken, by processor time.
    #[arg(long, default_value_t = 7, value_parser = crate::threads::number())]
    pub rounds: usize,
    /// Append the results to this record: one line of JSON for each.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
