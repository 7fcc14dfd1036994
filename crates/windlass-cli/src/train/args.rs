//! Arguments of `windlass train`.

use std::path::PathBuf;

use clap::Args;

use crate::score::ColumnArgs;
use crate::whole_number::from;

/// The set of refreshes that is used unless another is asked for.
const PRESET: &str = "refresh_n65536_slots32";

/// Arguments of `train`.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// The table: a CSV file with a header line.
    #[arg(long, value_name = "FILE")]
    pub table: PathBuf,
    /// Which of its columns are no features.
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// The label of the class of positive scores [default: 1, and all other labels are 0].
    #[arg(long, value_name = "VALUE")]
    pub positive: Option<String>,
    /// The number of steps.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = from(1))]
    pub steps: usize,
    /// The learning rate [default: 4/(features + 1)].
    #[arg(long, value_name = "RATE")]
    pub rate: Option<f64>,
    /// The degree of the polynomial near the sigmoid: an odd number.
    #[arg(long, value_name = "D", default_value_t = 15, value_parser = from(3))]
    pub degree: usize,
    /// The set of CKKS refreshes (`windlass refresh --preset list` prints the names).
    #[arg(long, value_name = "NAME", default_value = PRESET)]
    pub preset: String,
    /// Only print the plan: levels, refreshes, keys, bytes, error, and an estimate of the time.
    #[arg(long)]
    pub explain: bool,
    /// Write the model to this file, as JSON that `windlass score --weights` reads. Its name must end in
    /// .json.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
