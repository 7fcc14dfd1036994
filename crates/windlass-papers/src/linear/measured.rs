//! What is recorded of a product with a matrix.

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// One measured plan.
pub type Measured = Record<Product>;

/// A map on a ring, a plan for it, and what the plan takes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Product {
    /// 1d, block, full, block-full.
    pub map: String,
    /// The cyclotomic index.
    pub m: u64,
    /// The plaintext modulus is p^r.
    pub p: u64,
    /// The exponent r.
    pub r: u32,
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
}

impl Product {
    /// m, D, and whether the dimension is bad.
    pub fn place(&self) -> (u64, usize, bool) {
        (self.m, self.size, self.bad)
    }

    /// The row's name in tables: m, and p^r unless it is 2; bad dimensions have a star.
    pub fn row(&self) -> [String; 2] {
        let modulus = match (self.p, self.r) {
            (2, 1) => String::new(),
            (p, 1) => format!(", p = {p}"),
            (p, r) => format!(", p^r = {p}^{r}"),
        };
        [format!("{}{modulus}", self.m), format!("{}{}", self.size, if self.bad { "*" } else { "" })]
    }
}

/// By what a later record replaces an earlier one.
pub fn key(record: &Measured) -> impl PartialEq + use<> {
    let of = &record.of;
    (of.map.clone(), of.place(), (of.p, of.r), of.chain.clone(), of.column.clone(), record.threads)
}

/// The heading of the lines on the terminal.
pub fn heading() -> String {
    let [id, median, min, t] = ["map/m/D/column/threads", "median s", "min s", "T"];
    let [predicted, keys, mb, constants] = ["predicted", "keys", "MB", "const."];
    let [build, convert, bits] = ["build", "conv.", "bits"];
    format!(
        "{id:<34} {median:>9} {min:>9} {t:>9} {predicted:>9} {keys:>5} {mb:>8} {constants:>6} {mb:>8} \
         {build:>7} {convert:>7} {bits:>5}"
    )
}

/// One line for the terminal.
pub fn line(record: &Measured) -> String {
    let of = &record.of;
    let [m, size] = of.row();
    let id = format!("{}/{m}/{size}/{}/{}", of.map, of.column, record.threads);
    let Product { predicted_s, keys, constants, build_s, convert_s, capacity_bits, .. } = of;
    // Without the yardstick there is nothing to say.
    let yardsticks = record.yardsticks.map_or_else(|| "-".into(), |t| format!("{t:.0}"));
    let [key_mb, constant_mb] = [of.key_bytes, of.constant_bytes].map(|bytes| bytes as f64 / 1e6);
    format!(
        "{id:<34} {:>9.4} {:>9.4} {yardsticks:>9} {predicted_s:>9.4} {keys:>5} {key_mb:>8.1} {constants:>6} \
         {constant_mb:>8.1} {build_s:>7.2} {convert_s:>7.2} {capacity_bits:>5.1}",
        record.median_s, record.min_s,
    )
}
