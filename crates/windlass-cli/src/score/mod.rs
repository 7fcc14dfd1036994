//! `windlass score`: a linear model scores encrypted rows, all at once or step by step through
//! files.

mod args;
mod features;
mod model_file;
mod reason;
mod schema;
mod steps;
mod whole;

pub use args::{ColumnArgs, ScoreArgs};
pub use features::Features;

use crate::error::Result;
use crate::report::Report;
use args::ScoreStep;

/// `windlass score`.
pub fn run(args: &ScoreArgs, quiet: bool) -> Result<Report> {
    match &args.step {
        Some(ScoreStep::Schema(step)) => steps::schema(step, quiet),
        Some(ScoreStep::Keygen(step)) => steps::keygen(step, quiet),
        Some(ScoreStep::Encrypt(step)) => steps::encrypt(step, quiet),
        Some(ScoreStep::Apply(step)) => steps::apply(step, quiet),
        Some(ScoreStep::Decrypt(step)) => steps::decrypt(step, quiet),
        None => whole::run(args, quiet),
    }
}
