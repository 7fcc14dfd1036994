//! `windlass table`: lookups in tables of any size.

mod args;
mod asked;
mod blind;
mod client;
mod planning;
mod server;
mod source;
mod whole;

pub use args::TableCommand;
pub use whole::lookup;

use crate::error::Result;
use crate::report::Report;

/// Runs a step.
pub fn run(command: &TableCommand, quiet: bool) -> Result<Report> {
    match command {
        TableCommand::Plan(args) => planning::plan(args, quiet),
        TableCommand::Build(args) => server::build(args, quiet),
        TableCommand::Set(args) => server::set(args, quiet),
        TableCommand::Remove(args) => server::remove(args, quiet),
        TableCommand::Keygen(args) => client::keygen(args, quiet),
        TableCommand::Blind(args) => blind::blind(args, quiet),
        TableCommand::BlindEvaluate(args) => blind::evaluate(args, quiet),
        TableCommand::Query(args) => client::query(args, quiet),
        TableCommand::Answer(args) => server::answer(args, quiet),
        TableCommand::Decrypt(args) => client::decrypt(args, quiet),
    }
}
