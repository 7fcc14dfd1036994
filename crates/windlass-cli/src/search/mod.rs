//! `windlass search`: the vectors of a table that are nearest to an encrypted one, all at once or
//! step by step through files.

mod args;
mod found;
mod npy;
mod schema;
mod steps;
mod vector_file;
mod whole;

pub use args::SearchArgs;

use crate::error::Result;
use crate::report::Report;
use args::SearchStep;

/// `windlass search`.
pub fn run(args: &SearchArgs, quiet: bool) -> Result<Report> {
    match &args.step {
        Some(SearchStep::Schema(step)) => steps::schema(step, quiet),
        Some(SearchStep::Keygen(step)) => steps::keygen(step, quiet),
        Some(SearchStep::Query(step)) => steps::query(step, quiet),
        Some(SearchStep::Answer(step)) => steps::answer(step, quiet),
        Some(SearchStep::Decrypt(step)) => steps::decrypt(step, quiet),
        None => whole::run(args, quiet),
    }
}
