//! Arguments of `standard`.

use std::path::PathBuf;

/// Arguments of `standard`.
#[derive(Debug, clap::Args)]
pub struct Standard {
    /// Fewer repetitions.
    #[arg(long)]
    pub quick: bool,
    /// Only layers whose names contain one of these (transforms, rows, engine, general, demo).
    #[arg(long, value_delimiter = ',', default_value = "")]
    pub only: Vec<String>,
    /// Numbers of threads for the engine.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4", value_parser = crate::threads::number())]
    pub threads: Vec<usize>,
    /// Append the results to this record: one line of JSON for each.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

impl Standard {
    /// Whether a layer is to run.
    pub fn wants(&self, layer: &str) -> bool {
        self.only.iter().any(|wanted| layer.contains(wanted))
    }
}
