//! `windlass-bench bootstrap --reach`: the goals of bootstrapping, and what it reaches.
//!
//! Every figure of memory, threads and set-up is that of a separate process; the build before runs
//! alternating with this one.

mod builds;
mod file;
mod list;
mod together;

use std::path::{Path, PathBuf};

use super::figures::Measured as Refreshed;
use super::options::{CIRCUIT, MEASURING, PARAMETERS};
use crate::goals::Goals;
use crate::record;
use crate::siblings::side_by_side;
use crate::threads::{number, with_threads};
pub use builds::{Build, Outcome};
use builds::{operations, processor_seconds};
use file::{Builds, ReachFile};
use list::{Case, ROWS, Row, Runs};
use windlass_papers::linear::measured::Measured as Product;

/// Arguments of `bootstrap --reach`.
#[derive(Debug, clap::Args)]
pub struct Reach {
    /// Instead of a preset: measure the list of goals whose rows fit 16 GB.
    #[arg(
        long,
        conflicts_with_all = PARAMETERS,
        conflicts_with_all = CIRCUIT,
        conflicts_with_all = MEASURING,
        conflicts_with_all = ["threads", "explain", "page", "plot"]
    )]
    pub reach: bool,
    /// An older build of this program, which runs alternating with this one. Rows that compare with
    /// "before" need it.
    #[arg(long, value_name = "PROGRAM", requires = "reach")]
    before: Option<PathBuf>,
    /// Only rows with these names: thin-18631, operations, map-18631, thin-set2, packed-18631,
    /// together-18631, together-set2, thin-42799, thin-49981.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", requires = "reach")]
    only: Vec<String>,
    /// Processes of each build for a row, alternating. The median is taken.
    #[arg(long, default_value_t = 3, requires = "reach", value_parser = number())]
    rounds: usize,
}

/// Fewest refreshes of a process: the first one pays for memory that the system hands out (half a
/// second for set II on a guest whose pages have to be found), which the median leaves out.
const FEWEST: usize = 3;

/// The builds, and how often they run.
struct Bench {
    now: Build,
    before: Option<Build>,
    rounds: usize,
    /// Refreshes of each process, of which the median counts.
    runs: String,
}

/// Measures the rows, prints what was reached, and writes it to a file row by row.
///
/// # Errors
/// Names that no row has, a build that does not exist, a file that cannot hold the figures, before
/// anything is measured; at the end, rows that could not be measured.
pub fn run(args: &Reach, runs: usize, json: Option<&Path>) -> Outcome {
    let rows = chosen(&args.only)?;
    let before = args.before.as_deref().map(Build::at).transpose()?;
    let this = Build::this()?;
    let builds = Builds { program: this.name()?, before: before.as_ref().map(Build::name).transpose()? };
    let mut file = json.map(|path| ReachFile::open(path, builds)).transpose()?;
    let bench = Bench { now: this, before, rounds: args.rounds, runs: runs.max(FEWEST).to_string() };
    let (mut goals, mut failed) = (Goals::default(), Vec::new());
    for (name, row) in rows {
        println!("# {name}");
        match bench.measure(row) {
            Ok(mut reached) => {
                if row.takes_two_threads() {
                    reached.beside(list::cores(name), side_by_side());
                }
                file.as_mut().map_or(Ok(()), |file| file.add(&reached))?;
                goals.extend(reached);
            }
            Err(error) => {
                println!("# {name}: {error}");
                failed.push(name);
            }
        }
    }
    goals.print();
    if failed.is_empty() { Ok(()) } else { Err(format!("not measured, see above: {}", failed.join(", ")).into()) }
}

/// The rows of these names, or all.
fn chosen(only: &[String]) -> Result<Vec<(&'static str, Row)>, String> {
    if let Some(unknown) = only.iter().find(|name| !ROWS.iter().any(|row| row.0 == *name)) {
        let known = ROWS.map(|row| row.0).join(", ");
        return Err(format!("--only {unknown}: no such row; known: {known}"));
    }
    let wanted = |row: &(&str, Row)| only.is_empty() || only.iter().any(|name| name == row.0);
    Ok(ROWS.into_iter().filter(wanted).collect())
}

impl Bench {
    fn measure(&self, row: Row) -> Outcome<Goals> {
        match row {
            Row::Refresh(case) => Ok(case.judge(&self.refreshes(&case)?)),
            Row::Map => Ok(list::map(&self.products()?)),
            Row::Operations => self.operations(),
            Row::Together(preset, short) => {
                let middle = |threads| -> Outcome<[f64; 2]> {
                    let mut rounds = with_threads(threads, || together::seconds(preset, self.rounds, threads))?;
                    rounds.sort_by(|a, b| (a[0] / a[1]).total_cmp(&(b[0] / b[1])));
                    Ok(rounds[rounds.len() / 2])
                };
                Ok(list::together(short, middle(1)?, middle(2)?))
            }
        }
    }

    /// Processes with a refresh: before, now, now on two threads, in turn.
    fn refreshes(&self, case: &Case) -> Outcome<Runs> {
        let mut args = vec!["bootstrap", "--preset", case.preset, "--runs", &self.runs];
        args.extend(case.packed.then_some("--packed"));
        let record = |threads: &str| -> Outcome<Refreshed> {
            let text = self.now.recorded(&[&args, &["--threads", threads][..]].concat())?;
            Ok(record::parse(&text).next().ok_or("a process that records nothing")??)
        };
        let mut runs = Runs::default();
        for _ in 0..self.rounds {
            if let Some(build) = self.before.as_ref().filter(|_| case.is_compared()) {
                runs.before.push(processor_seconds(&build.printed(&args)?)?);
                println!("before: {:.2} s of processor time", runs.before.last().unwrap_or(&f64::NAN));
            }
            for (threads, all) in [("1", &mut runs.one), ("2", &mut runs.two)] {
                let one = record(threads)?;
                let (clock, processor) = (one.of.total_seconds, one.of.processor_seconds);
                println!("now, {threads} thread(s): {clock:.2} s ({processor:.2} s of processor time)");
                all.push(one);
            }
        }
        Ok(runs)
    }

    /// The best plan of MatMul1D for m = 18631, on one thread and on two.
    fn products(&self) -> Outcome<Vec<Product>> {
        let rounds = self.rounds.to_string();
        let which = ["linear", "--m", "18631", "--dimensions", "good", "--maps", "1d", "--columns", "best"];
        let text = self.now.recorded(&[&which, &["--threads", "1,2", "--rounds", &rounds][..]].concat())?;
        Ok(record::parse(&text).collect::<Result<_, _>>()?)
    }

    /// The engine's operations, before and now in turn.
    fn operations(&self) -> Outcome<Goals> {
        let args = ["standard", "--only", "engine", "--quick", "--threads", "1"];
        let (mut now, mut before) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            if let Some(build) = &self.before {
                before.push(operations(&build.printed(&args)?));
            }
            now.push(operations(&self.now.printed(&args)?));
        }
        Ok(list::operations(&now, &before)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_chosen_by_name() {
        let names = |only: &[&str]| -> Result<Vec<&str>, String> {
            let only: Vec<String> = only.iter().map(|name| name.to_string()).collect();
            Ok(chosen(&only)?.into_iter().map(|(name, _)| name).collect())
        };
        assert_eq!(names(&[]).unwrap(), ROWS.map(|row| row.0));
        assert_eq!(names(&["operations", "thin-18631"]).unwrap(), ["thin-18631", "operations"]);
        assert!(names(&["thin-18631", "thin"]).unwrap_err().starts_with("--only thin: no such row; known: thin-18631"));
    }
}
