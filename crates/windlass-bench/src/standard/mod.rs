//! `windlass-bench standard`: every layer, with the yardstick beside it.

mod args;
mod bluestein;
mod demo;
mod engine;
mod general;
mod instance;
mod report;
mod rows;
mod textbook;
mod transforms;

pub use args::Standard;
pub use report::{Facts, Report};

use crate::{machine, record, yardstick};

/// A layer: its name, and what measures it.
type Layer = (&'static str, fn(&mut Report, &Standard));

const LAYERS: [Layer; 5] = [
    ("transforms", transforms::run),
    ("rows", rows::run),
    ("engine", engine::run),
    ("general", general::run),
    ("demo", demo::run),
];

/// Runs the layers that were asked for.
pub fn run(args: &Standard) -> Result<(), Box<dyn std::error::Error>> {
    let chosen: Vec<Layer> = LAYERS.into_iter().filter(|(name, _)| args.wants(name)).collect();
    if chosen.is_empty() {
        let known = LAYERS.map(|(name, _)| name).join(", ");
        return Err(format!("--only {}: no such layer; known: {known}", args.only.join(",")).into());
    }
    args.record.as_ref().map_or(Ok(()), |path| record::open(path).map(drop))?;
    let mut report = Report::new(args.quick);
    println!("{}", machine::describe());
    if cfg!(not(feature = "peers")) {
        report.note("built without --features peers: no yardstick, no times in T");
    }
    report.yardstick = yardstick::seconds(report.rounds);
    report.heading();
    chosen.iter().for_each(|(_, run)| run(&mut report, args));
    report.goals.print();
    args.record.as_ref().map_or(Ok(()), |path| report.append(path))?;
    if report.failed { Err("a layer could not be measured, see above".into()) } else { Ok(()) }
}
