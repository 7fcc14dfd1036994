//! `windlass-bench bootstrap`: time, capacity and memory by stage, the result verified.

mod ckks;
mod depth;
mod digits;
mod every;
mod exact_through_ckks;
mod measure;
mod options;
#[cfg(test)]
mod options_tests;
mod precise;
mod reach;
mod request;
mod table;

use std::path::PathBuf;

use windlass::bootstrap::bootstrap_preset_names;

use crate::threads::with_threads;
use crate::{machine, record};
use records::Records;
pub use request::Bootstrap;
use request::{Family, plan, preset};
use todays::Presets;
use windlass_papers::bootstrap::{appendix_a, circuit, figures, page, records, todays};

/// Runs the measurement.
pub fn run(args: &Bootstrap) -> Result<(), Box<dyn std::error::Error>> {
    if args.appendix_a {
        print!("{}", appendix_a::table()?);
        return Ok(());
    }
    match args.family {
        Some(Family::Ckks) => return ckks::run(args),
        Some(Family::ExactThroughCkks) => return exact_through_ckks::run(args),
        Some(Family::Precise) => return precise::run(args),
        None => {}
    }
    if args.digits_table {
        return digits::run(args.threads, args.runs, &args.record, args.page.as_ref());
    }
    if let ([_, _, ..], true) = (&args.record[..], args.reach.reach || args.every.all) {
        return Err("--reach and --all write one record: name one".into());
    }
    if args.reach.reach {
        println!("{}", machine::describe());
        return reach::run(&args.reach, args.runs, args.record.first().map(PathBuf::as_path));
    }
    if let (true, Some(path)) = (args.every.all, args.record.first()) {
        println!("{}", machine::describe());
        return every::run(&args.every, &args.preset, args.runs, path);
    }
    if args.page.is_some() || args.plot.is_some() {
        return render(args);
    }
    if args.preset == "list" && args.m.is_none() {
        bootstrap_preset_names().for_each(|name| println!("{name}"));
        return Ok(());
    }
    let preset = preset(args)?;
    println!("{}", machine::describe());
    // A record that cannot be written is refused before anything is measured.
    args.record.iter().try_for_each(|path| record::open(path).map(drop))?;
    if args.explain {
        let plan = plan(&preset)?;
        let (price, seconds) = (plan.price(), plan.estimated_seconds()?);
        println!("{}\nprice {price:.0} transforms of one row, about {seconds:.2} s a refresh", plan.explain());
        let (fresh, refreshed, between) = (preset.params.depth(), plan.depth_after(), plan.depth_between());
        println!("depth by forecast: fresh {fresh}, refreshed {refreshed}, between two refreshes {between}");
        let [to_coefficients, to_slots] = plan.unfactored()?;
        if let Some(table) = args.table {
            let circuit = table.circuit(plan.message_ring())?;
            let forecast = plan.forecast_table(&circuit)?;
            println!(
                "{}\nwith it {:.0} bits are left by forecast; price {:.0}, fails with probability at most 2^-{:.1}",
                circuit.explain(),
                forecast.output_bits,
                forecast.price,
                forecast.failure_bits
            );
        }
        println!("in one map, to the coefficients: {to_coefficients}\nin one map, to the slots: {to_slots}");
        return Ok(());
    }
    for &scheme in &args.scheme {
        machine::reset_peak();
        let measured = with_threads(args.threads, || measure::one(args, &preset, scheme))?;
        args.record.iter().try_for_each(|path| record::append(path, std::slice::from_ref(&measured)))?;
    }
    Ok(())
}

/// The page and the plot of the records.
fn render(args: &Bootstrap) -> Result<(), Box<dyn std::error::Error>> {
    let (all, presets) = (Records::read(&args.record)?, Presets::todays()?);
    if let Some(page) = &args.page {
        crate::page::write(page, &page::text(&all, &presets))?;
    }
    if let Some(plot) = &args.plot {
        crate::page::write(plot, &page::plot(&presets.of(&all.measured))?)?;
    }
    Ok(())
}
