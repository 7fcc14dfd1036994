//! `windlass-bench linear`: Tables 1 to 4 of Halevi–Shoup 2018, and any ring, moduli and strategy.

mod case;
mod job;
mod kinds;
mod measure;

use std::path::PathBuf;

use windlass::circuits::{HoistMode, Strategy};

use crate::ring_args::Moduli;
use crate::{machine, page, record};
use case::Case;
use kinds::{Chain, Kind, RingSpec};
use measure::{Limits, measure};
use measured::Measured;
use windlass_papers::linear::columns::Column;
use windlass_papers::linear::{measured, pages};

/// Options that say what is measured, and how.
const MEASURING: [&str; 16] = [
    "m",
    "p",
    "r",
    "primes",
    "spare_primes",
    "special_primes",
    "key_digits",
    "dimensions",
    "maps",
    "chain",
    "columns",
    "strategy",
    "hoisting",
    "threads",
    "rounds",
    "most_gib",
];

/// Arguments of `linear`.
#[derive(Debug, clap::Args)]
pub struct Linear {
    /// Cyclotomic indices.
    #[arg(long, value_delimiter = ',', default_value = "15709,18631,24295")]
    m: Vec<u64>,
    /// The prime of the plaintext modulus p^r.
    #[arg(long, default_value_t = 2)]
    p: u64,
    /// The exponent of the plaintext modulus p^r.
    #[arg(long, default_value_t = 1)]
    r: u32,
    #[command(flatten)]
    moduli: Moduli,
    /// Which dimensions: good or bad. If a ring has no bad dimension, a good one is treated as bad.
    #[arg(long, value_delimiter = ',', default_value = "good,bad")]
    dimensions: Vec<Dimension>,
    /// Which maps.
    #[arg(long, value_delimiter = ',', default_value = "1d,block,full,block-full")]
    maps: Vec<Kind>,
    /// Moduli: 400 (bits of Q, as in the published figures), or secure (128 bits of security).
    #[arg(long, default_value = "400", conflicts_with = "primes")]
    chain: Chain,
    /// Columns of the tables by name [default: all]. `best` and `minimal` are plans of Windlass,
    /// `default` is the best plan with the default keys of the ring (Table 4), and the others are
    /// those of the paper.
    #[arg(long, value_delimiter = ',')]
    columns: Vec<String>,
    /// Strategies by name instead of the tables' columns: `baby-giant`, or `baby-giant:27` with
    /// that many baby steps.
    #[arg(long, value_delimiter = ',', conflicts_with = "columns")]
    strategy: Vec<String>,
    /// How the automorphisms of --strategy share work.
    #[arg(long, default_value = "double", requires = "strategy")]
    hoisting: Hoisting,
    /// Numbers of threads for the columns `best` and `default`. The others run on one thread.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4", value_parser = crate::threads::number())]
    threads: Vec<usize>,
    /// Runs of each column.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Leave out columns whose keys and constants need more than this many GiB.
    #[arg(long, default_value_t = 8.0)]
    most_gib: f64,
    /// Also measure these columns with constants as coefficients that are expanded on use. `best`
    /// and `minimal` are always measured so.
    #[arg(long, conflicts_with = "render_only")]
    pack: bool,
    /// Append the results to this record, one line of JSON for each. The page shows all records
    /// that are named, one for each processor.
    #[arg(long, value_name = "FILE")]
    record: Vec<PathBuf>,
    /// Write the tables of the record into this page, between its marks.
    #[arg(long, value_name = "FILE", requires = "record")]
    page: Option<PathBuf>,
    /// Draw a plot of the record that compares Windlass with HElib.
    #[arg(long, value_name = "FILE", requires = "record")]
    plot: Option<PathBuf>,
    /// Measure nothing: only render.
    #[arg(long, requires = "record", conflicts_with_all = MEASURING)]
    render_only: bool,
}

/// Which dimension of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Dimension {
    Good,
    Bad,
}

/// How automorphisms share work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Hoisting {
    Double,
    Single,
    Off,
}

impl From<Hoisting> for HoistMode {
    fn from(hoisting: Hoisting) -> Self {
        match hoisting {
            Hoisting::Double => HoistMode::Double,
            Hoisting::Single => HoistMode::Single,
            Hoisting::Off => HoistMode::Off,
        }
    }
}

/// Runs the command.
pub fn run(args: &Linear) -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", machine::describe());
    if !args.render_only {
        measure_all(args)?;
    }
    let mut records: Vec<Measured> = Vec::new();
    for path in &args.record {
        records.extend(record::read(path, measured::key)?);
    }
    if let Some(page) = &args.page {
        page::write_between_marks(page, &pages::tables(&records))?;
    }
    if let Some(plot) = &args.plot {
        page::write(plot, &pages::plot(&records)?)?;
    }
    Ok(())
}

fn measure_all(args: &Linear) -> Result<(), Box<dyn std::error::Error>> {
    args.record.iter().try_for_each(|path| record::open(path).map(drop))?;
    println!("{}", measured::heading());
    let (mut measured, mut left_out) = (0, 0);
    for &m in &args.m {
        for &dimension in &args.dimensions {
            let spec = RingSpec::new(m, (args.p, args.r), args.chain, &args.moduli);
            let case = Case::new(&spec, dimension == Dimension::Bad)?;
            println!("# {}", case.describe());
            for &kind in &args.maps {
                if let Some(other) = case.same_as(kind) {
                    println!("# {kind:?}: the same map as {other}");
                    continue;
                }
                let columns = chosen_columns(args, kind, &case)?;
                let bytes = (args.most_gib * (1u64 << 30) as f64) as usize;
                let limits = Limits { threads: &args.threads, rounds: args.rounds, bytes, pack: args.pack };
                let mut keep = |record: Measured| {
                    println!("{}", measured::line(&record));
                    measured += 1;
                    args.record.iter().try_for_each(|path| record::append(path, std::slice::from_ref(&record)))
                };
                left_out += measure(&case, kind, &columns, &limits, &mut keep)?;
            }
        }
    }
    println!("peak memory {:.0} MiB", machine::peak_mebibytes());
    match (measured, left_out) {
        (0, 0) => Err("nothing was measured: no such column, or no map of its own".into()),
        (0, _) => Err(format!("nothing was measured: {left_out} columns were left out, see above").into()),
        _ => Ok(()),
    }
}

/// The strategies asked for by name, or else the columns of the tables.
fn chosen_columns(args: &Linear, kind: Kind, case: &Case) -> Result<Vec<Column>, windlass::Error> {
    if args.strategy.is_empty() {
        let wanted = |column: &Column| args.columns.is_empty() || args.columns.contains(&column.name);
        let columns = Column::of(kind.name(), case.size(), case.bad, case.default_keys());
        return Ok(columns.into_iter().filter(wanted).collect());
    }
    let column = |name: &String| {
        let strategy: Strategy = name.parse()?;
        Ok(Column { ours: true, ..Column::new(name, strategy, args.hoisting.into()) })
    };
    args.strategy.iter().map(column).collect()
}
