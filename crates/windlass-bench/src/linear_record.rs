//! Results of the linear maps, one line each.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// One measured plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// 1d, block, full, block-full.
    pub map: String,
    /// The cyclotomic index.
    pub m: u64,
    /// D.
    pub size: usize,
    /// Whether the dimension is bad, or treated so.
    pub bad: bool,
    /// The moduli.
    pub chain: String,
    /// The column.
    pub column: String,
    /// The strategy asked for.
    pub strategy: String,
    /// Threads.
    pub threads: usize,
    /// Median seconds: of processor time on one thread, of the clock on several.
    pub median_s: f64,
    /// Least seconds.
    pub min_s: f64,
    /// Median of the ratios to the yardstick T measured beside each run; 0 if it was not measured.
    pub yardsticks: f64,
    /// What the planner predicted, in seconds.
    pub predicted_s: f64,
    /// Keys.
    pub keys: usize,
    /// Bytes of keys.
    pub key_bytes: usize,
    /// Products with constants.
    pub constants: usize,
    /// Bytes of constants.
    pub constant_bytes: usize,
    /// Seconds to build the map.
    pub build_s: f64,
    /// Seconds to convert its constants.
    pub convert_s: f64,
    /// Bits of capacity used.
    pub capacity_bits: f64,
    /// Runs.
    pub rounds: usize,
    /// The processor.
    pub cpu: String,
}

const FIELDS: &str = "map,m,size,bad,chain,column,strategy,threads,median_s,min_s,yardsticks,predicted_s,keys,key_bytes,\
                      constants,constant_bytes,build_s,convert_s,capacity_bits,rounds,cpu";

impl Record {
    /// The heading of the lines on the terminal.
    pub fn heading() -> String {
        format!(
            "{:<34} {:>9} {:>9} {:>9} {:>9} {:>5} {:>8} {:>6} {:>8} {:>7} {:>7} {:>5}",
            "map/m/D/column/threads",
            "median s",
            "min s",
            "T",
            "predicted",
            "keys",
            "MB",
            "const.",
            "MB",
            "build",
            "conv.",
            "bits"
        )
    }

    /// One line for the terminal.
    pub fn line(&self) -> String {
        let star = if self.bad { "*" } else { "" };
        let id = format!("{}/{}/{}{star}/{}/{}", self.map, self.m, self.size, self.column, self.threads);
        format!(
            "{id:<34} {:>9.4} {:>9.4} {:>9.0} {:>9.4} {:>5} {:>8.1} {:>6} {:>8.1} {:>7.2} {:>7.2} {:>5.1}",
            self.median_s,
            self.min_s,
            self.yardsticks,
            self.predicted_s,
            self.keys,
            self.key_bytes as f64 / 1e6,
            self.constants,
            self.constant_bytes as f64 / 1e6,
            self.build_s,
            self.convert_s,
            self.capacity_bits
        )
    }

    fn csv(&self) -> String {
        format!(
            "{},{},{},{},{},{},{},{},{:.6},{:.6},{:.1},{:.6},{},{},{},{},{:.4},{:.4},{:.2},{},{}",
            self.map,
            self.m,
            self.size,
            self.bad,
            self.chain,
            self.column,
            self.strategy,
            self.threads,
            self.median_s,
            self.min_s,
            self.yardsticks,
            self.predicted_s,
            self.keys,
            self.key_bytes,
            self.constants,
            self.constant_bytes,
            self.build_s,
            self.convert_s,
            self.capacity_bits,
            self.rounds,
            self.cpu
        )
    }

    /// Appends to a file, with a heading if it is new.
    pub fn append(&self, path: &Path) -> io::Result<()> {
        let new = !path.exists();
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if new {
            writeln!(file, "{FIELDS}")?;
        }
        writeln!(file, "{}", self.csv())
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(',');
        let mut next = || fields.next();
        Some(Self {
            map: next()?.into(),
            m: next()?.parse().ok()?,
            size: next()?.parse().ok()?,
            bad: next()?.parse().ok()?,
            chain: next()?.into(),
            column: next()?.into(),
            strategy: next()?.into(),
            threads: next()?.parse().ok()?,
            median_s: next()?.parse().ok()?,
            min_s: next()?.parse().ok()?,
            yardsticks: next()?.parse().ok()?,
            predicted_s: next()?.parse().ok()?,
            keys: next()?.parse().ok()?,
            key_bytes: next()?.parse().ok()?,
            constants: next()?.parse().ok()?,
            constant_bytes: next()?.parse().ok()?,
            build_s: next()?.parse().ok()?,
            convert_s: next()?.parse().ok()?,
            capacity_bits: next()?.parse().ok()?,
            rounds: next()?.parse().ok()?,
            cpu: next()?.into(),
        })
    }
}

/// All records of a file; a later one replaces an earlier one of the same name.
pub fn read(path: &Path) -> io::Result<Vec<Record>> {
    let text = std::fs::read_to_string(path)?;
    let mut records: Vec<Record> = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, format!("{}: line {}", path.display(), number + 1));
        let record = Record::parse(line).ok_or_else(wrong)?;
        let name = |r: &Record| (r.map.clone(), r.m, r.bad, r.chain.clone(), r.column.clone(), r.threads);
        match records.iter_mut().find(|known| name(known) == name(&record)) {
            Some(known) => *known = record,
            None => records.push(record),
        }
    }
    Ok(records)
}
