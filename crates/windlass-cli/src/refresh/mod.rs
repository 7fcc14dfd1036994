//! `windlass refresh`: bootstrapping through files, the server's side with public and evaluation
//! keys only. Sets of integers and of CKKS have the same steps, and so have integers that are refreshed through CKKS.

mod approximate;
mod approximate_setup;
mod args;
mod compared;
mod describe;
mod exact;
mod files;
mod names;
mod setup;
mod steps;
mod timing;

pub use approximate_setup::text_of;
pub use args::{RefreshArgs, SchemeName, Value, value};
pub use describe::{explain_exact, explain_passes, explain_plan};
pub use exact::named as exact_set;

use crate::error::Result;
use crate::report::Report;
use args::RefreshStep;

/// `windlass refresh`.
pub fn run(args: &RefreshArgs, quiet: bool) -> Result<Report> {
    let preset = match &args.step {
        Some(step) => Some(step.preset()),
        None => args.preset.as_deref(),
    };
    if let Some(set) = approximate_setup::named(preset)? {
        return match &args.step {
            Some(RefreshStep::Keygen(step)) => approximate::keygen(set, step, quiet),
            Some(RefreshStep::Encrypt(step)) => approximate::encrypt(set, step, quiet),
            Some(RefreshStep::Apply(step)) => approximate::apply(set, step, quiet),
            Some(RefreshStep::Decrypt(step)) => approximate::decrypt(set, step, quiet),
            None if args.explain => approximate::explain(set, args, quiet),
            None => approximate::all(set, args, quiet),
        };
    }
    if let Some(set) = exact::named(preset)? {
        return match &args.step {
            Some(RefreshStep::Keygen(step)) => exact::keygen(set, step, quiet),
            Some(RefreshStep::Encrypt(step)) => exact::encrypt(set, step, quiet),
            Some(RefreshStep::Apply(step)) => exact::apply(set, step, quiet),
            Some(RefreshStep::Decrypt(step)) => exact::decrypt(set, step, quiet),
            None if args.explain => exact::explain(set, args),
            None => exact::all(set, args, quiet),
        };
    }
    match &args.step {
        Some(RefreshStep::Keygen(step)) => steps::keygen(step, quiet),
        Some(RefreshStep::Encrypt(step)) => steps::encrypt(step, quiet),
        Some(RefreshStep::Apply(step)) => steps::apply(step, quiet),
        Some(RefreshStep::Decrypt(step)) => steps::decrypt(step, quiet),
        None if args.preset.as_deref() == Some("list") => Ok(describe::list()),
        None if args.explain => describe::explain(args, quiet),
        None => steps::all(args, quiet),
    }
}
