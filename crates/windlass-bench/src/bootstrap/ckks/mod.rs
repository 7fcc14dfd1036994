//! `windlass-bench bootstrap --family ckks`: refreshes of real and complex numbers, by stage, each compared
//! with the plain values.

mod ready;
mod row;
mod speeds;
mod stages;

use std::path::Path;

use windlass::Error;
use windlass::bootstrap::approximate::{RefreshPlan, RefreshSpec, refresh_preset_names};
use windlass_papers::ckks::figures::{self, Input, Measured};
use windlass_papers::ckks::{page, reach};
use windlass_papers::record;

use self::ready::Ready;
use super::reach::Outcome;
use super::request::Bootstrap;
use crate::machine;
use crate::threads::with_threads;

/// Measures a set, prints the names of all, or makes the page of records.
///
/// # Errors
/// A set that is not known; a record that cannot be written, before anything is measured; errors of plans,
/// keys and refreshes; records that cannot be read.
pub fn run(args: &Bootstrap) -> Outcome {
    if args.page.is_some() || args.plot.is_some() {
        return render(args);
    }
    if args.preset == "list" {
        refresh_preset_names().for_each(|name| println!("{name}"));
        return Ok(());
    }
    let spec = spec(&args.preset)?;
    println!("{}", machine::describe());
    if args.explain {
        println!("{}", RefreshPlan::new(&spec)?.explain());
        return Ok(());
    }
    args.record.iter().try_for_each(|path| record::open(path).map(drop))?;
    machine::reset_peak();
    let rows = with_threads(args.threads, || measure(args, &spec))?;
    reach::goals(&rows.iter().collect::<Vec<_>>()).print();
    args.record.iter().try_for_each(|path| record::append(path, &rows))?;
    Ok(())
}

/// The page and the plot of the records.
fn render(args: &Bootstrap) -> Outcome {
    let all = figures::read(&args.record)?;
    if let Some(path) = &args.page {
        crate::page::write(path, &page::text(&all))?;
    }
    if let Some(path) = &args.plot {
        crate::page::write(path, &page::plot(&all)?)?;
    }
    Ok(())
}

/// A named set, or that of a file.
fn spec(name: &str) -> Outcome<RefreshSpec> {
    if Path::new(name).extension().is_none_or(|extension| extension != "json") {
        return Ok(RefreshSpec::preset(name)?);
    }
    let text = std::fs::read_to_string(name).map_err(|error| record::named(Path::new(name), &error))?;
    Ok(RefreshSpec::from_json(&text)?)
}

/// A row for complex slots, one for two real vectors where the set takes them together, and the same for
/// several in one call if that was asked for.
fn measure(args: &Bootstrap, spec: &RefreshSpec) -> Result<Vec<Measured>, Error> {
    let ready = Ready::new(spec, args.seed)?;
    let mut inputs = vec![(Input::Complex, 1)];
    inputs.extend(ready.plan.takes_real_pairs().then_some((Input::RealPair, 1)));
    inputs.extend(args.together.map(|together| (Input::Complex, together)));
    inputs.into_iter().map(|(input, together)| row::measured(args, &ready, input, together)).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Bootstrap,
    }

    /// The toy set in a release of its own: a row for complex slots, and one for pairs where there are any.
    #[test]
    fn the_toy_is_measured_and_recorded() {
        let toy = "insecure_toy_refresh_1024";
        let line = "bootstrap --family ckks --runs 2 --together 3 --preset";
        let line = Line::parse_from(line.split(' ').chain([toy]));
        let first = RefreshSpec::preset(toy).unwrap();
        let rows = with_threads(1, || measure(&line.args, &first)).unwrap();
        let inputs: Vec<_> = rows.iter().map(|row| (row.of.input, row.of.together)).collect();
        assert_eq!(inputs, [(Input::Complex, 1), (Input::Complex, 3)]);
        assert_eq!(rows[0].rounds, Some(2));
        let [one, three] = [0, 1].map(|row| &rows[row].of.stages);
        assert_eq!((one.len(), three.len()), (9, 9));
        // Other tests of this process may add to the counters meanwhile.
        for stage in one {
            let work = stage.work;
            assert!(work.transforms > 0 && work.conversions > 0 && work.key_products > 0, "{stage:?}");
            assert!(work.constant_products > 0 || !stage.name.contains(" to "), "{stage:?}");
            assert!(stage.floor_seconds > 0.0);
        }
        assert!(one.iter().zip(three).all(|(one, three)| (one.times, three.times) == (1, 3)));
        assert!(rows[0].of.worst_bits > 20.0 && rows[0].of.mean_bits > rows[0].of.worst_bits);
    }

    #[test]
    fn unknown_sets_are_refused() {
        assert!(spec("refresh_n99").unwrap_err().to_string().contains("refresh_n65536"));
        assert!(spec("missing.json").unwrap_err().to_string().starts_with("missing.json"));
    }
}
