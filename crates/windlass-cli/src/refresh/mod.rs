//! `windlass refresh`: bootstrapping through files, the server's side with public and evaluation
//! keys only.

mod args;
mod describe;
mod setup;
mod steps;

pub use args::RefreshArgs;

use crate::error::Result;
use crate::report::Report;
use args::Step;

/// `windlass refresh`.
pub fn run(args: &RefreshArgs, quiet: bool) -> Result<Report> {
    match &args.step {
        Some(Step::Keygen(step)) => steps::keygen(step, quiet),
        Some(Step::Encrypt(step)) => steps::encrypt(step, quiet),
        Some(Step::Apply(step)) => steps::apply(step, quiet),
        Some(Step::Decrypt(step)) => steps::decrypt(step, quiet),
        None if args.preset.as_deref() == Some("list") => Ok(describe::list()),
        None if args.explain => describe::explain(args, quiet),
        None => steps::all(args, quiet),
    }
}
