//! The public description of a table of vectors, with the sizes of keys, queries and answers, and the
//! planner that chooses the cheapest layout.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use windlass::wire::hex;
use windlass_rlwe::Limits;

use super::metric::Metric;
pub use super::place::VectorLayout;
use super::quantise::{BITS, QuantisedTable, query_limit};
use crate::bounds::{Errors, Expansion, answer_bits, first_bits};
use crate::error::{Error, Result};
use crate::setting::{Moduli, N, PRIMES, Setting};
use crate::switch;

/// Everything that a client must know to ask a table of vectors.
///
/// It reveals the number of vectors, the scale (hence the largest number of the table), the largest
/// sum of absolute values in a vector, and a hash, with which a party that has the table can
/// recognise it. It reveals no vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchShape {
    /// The moduli.
    pub moduli: Moduli,
    /// What makes vectors near.
    pub metric: Metric,
    /// How many vectors.
    pub vectors: usize,
    /// D.
    pub dimension: usize,
    /// b, the bits of a number of the table.
    pub bits: u32,
    /// s: numbers of the table were multiplied by it.
    pub scale: f64,
    /// Whether its integers are the numbers as they were given.
    pub exact: bool,
    /// The largest sum of absolute values in a vector, as integers.
    pub row_sum: i64,
    /// Scores come back modulo 2^message_bits.
    pub message_bits: u32,
    /// Where everything stands.
    pub layout: VectorLayout,
    /// [`QuantisedTable::digest`], in hexadecimal. Earlier builds did not write it. A shape without
    /// it matches every table with its numbers, in any order of the vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// What the dimensions are called, in their order, where they have names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
}

/// The objective of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchSpec {
    /// Bytes a second between client and server: what bytes are worth in seconds.
    pub bandwidth: f64,
}

impl Default for SearchSpec {
    /// 12.5 MB/s (100 Mbit/s).
    fn default() -> Self {
        Self { bandwidth: 12.5e6 }
    }
}

/// Seconds of one core for each part of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// One ciphertext of a query: its second half out of a seed.
    pub ciphertext: f64,
    /// A key switch and what an expansion does around it.
    pub key_switch: f64,
    /// Rows of a query as the scan reads them, each.
    pub row: f64,
    /// A polynomial of the table times both halves of a row.
    pub product: f64,
    /// A ciphertext to the smallest modulus.
    pub part: f64,
}

impl Default for Prices {
    /// One core of an AMD EPYC with AVX2.
    fn default() -> Self {
        Self { ciphertext: 100e-6, key_switch: 340e-6, row: 8e-6, product: 4.3e-6, part: 100e-6 }
    }
}

/// Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SearchSizes {
    /// A client's evaluation keys, once.
    pub keys: u64,
    /// One query.
    pub query: u64,
    /// The answer to it.
    pub answer: u64,
    /// The prepared table, in memory.
    pub prepared: u64,
}

impl SearchShape {
    /// The cheapest shape for a table: seconds of the server on one core, and of the bytes of query
    /// and answer on their way.
    ///
    /// # Errors
    /// [`Error::ScoresTooLarge`] if no ciphertext carries the scores; [`Error::OutOfRange`] for a
    /// bandwidth that is not positive.
    pub fn plan(table: &QuantisedTable, spec: &SearchSpec) -> Result<Self> {
        if spec.bandwidth.is_nan() || spec.bandwidth <= 0.0 {
            return Err(Limits::only("more than nothing").refuse("the bandwidth", spec.bandwidth).into());
        }
        let setting = Setting::new(Moduli::Wide)?;
        let mut best: Option<(f64, Self)> = None;
        let mut refused = None;
        for layout in layouts(table.dimension()) {
            let shape = Self::with_layout(table, layout);
            if let Err(error) = shape.check(&setting) {
                refused = refused.or(Some(error));
                continue;
            }
            let sizes = shape.sizes(&setting);
            let seconds = shape.seconds(&Prices::default()) + (sizes.query + sizes.answer) as f64 / spec.bandwidth;
            if best.as_ref().is_none_or(|(least, _)| seconds < *least) {
                best = Some((seconds, shape));
            }
        }
        match (best, refused) {
            (Some((_, shape)), _) => Ok(shape),
            (None, Some(error)) => Err(error),
            (None, None) => {
                let limits = Limits::between(1, MOST_CIPHERTEXTS * N).with("a query has room for no more");
                Err(limits.refuse("the dimension", table.dimension()).into())
            }
        }
    }

    /// The shape of a table in a layout of the caller's, unchecked.
    pub fn with_layout(table: &QuantisedTable, layout: VectorLayout) -> Self {
        Self {
            moduli: Moduli::Wide,
            metric: table.metric(),
            vectors: table.count(),
            dimension: table.dimension(),
            bits: table.bits(),
            scale: table.scale(),
            exact: table.is_exact(),
            row_sum: table.row_sum(),
            message_bits: bits_of(table.largest_score()),
            layout,
            table: Some(hex(table.digest())),
            names: None,
        }
    }

    /// Whether this is the shape of a table, as far as a shape identifies one. The caller must
    /// compare names, since a table has none.
    pub fn is_of(&self, table: &QuantisedTable) -> bool {
        let mut own = Self::with_layout(table, self.layout);
        own.names.clone_from(&self.names);
        if self.table.is_none() {
            own.table = None;
        }
        *self == own
    }

    /// Checks a shape from an untrusted party: every number must be in range, and the error of an
    /// answer within its bound.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::ScoresTooLarge`].
    pub fn check(&self, setting: &Setting) -> Result<()> {
        let VectorLayout { group, rows, ciphertexts } = self.layout;
        Limits::between(1, 1u64 << 32).check("the vectors of a table", self.vectors as u64)?;
        Limits::between(1, 1usize << 24).check("the dimension", self.dimension)?;
        Limits::between(*BITS.start(), *BITS.end()).check("the bits of a number", self.bits)?;
        if !(self.scale.is_finite() && self.scale > 0.0) {
            return Err(Limits::only("finite and above 0").refuse("the scale of a table", self.scale).into());
        }
        Limits::between(0, (self.dimension as i64) << (self.bits - 1))
            .check("the sum of a vector's numbers", self.row_sum)?;
        Limits::between(1, N).check("the rows of a ciphertext", rows)?;
        Limits::between(1, N).check("the ciphertexts of a query", ciphertexts)?;
        Limits::between(1, N / self.layout.stride()).check("the dimensions of a row", group)?;
        if !group.is_power_of_two() {
            return Err(Limits::only("a power of two").refuse("the dimensions of a row", group).into());
        }
        if self.layout.all_rows() * group < self.dimension || (ciphertexts - 1) * rows * group >= self.dimension {
            let limits = Limits::only("as many as the dimension takes");
            return Err(limits.refuse("the ciphertexts of a query", ciphertexts).into());
        }
        let most = self.message_bits_allowed(setting);
        if !(1..=most).contains(&self.message_bits) {
            return Err(Error::ScoresTooLarge { needed: self.message_bits, most });
        }
        // Scores of the vector with this sum reach so far at least; with fewer bits they would come
        // back as others.
        let twice = if self.metric == Metric::Euclidean { 2 } else { 1 };
        let largest = twice * i64::from(query_limit(self.metric, self.bits)) * self.row_sum;
        if self.message_bits < bits_of(largest) {
            let limits = Limits::only("enough for the sum of a vector's numbers");
            return Err(limits.refuse("the bits of a score", self.message_bits).into());
        }
        self.check_table()?;
        if self.exact && self.scale != 1.0 {
            return Err(Limits::only("1 where numbers are taken as they are")
                .refuse("the scale of a table", self.scale)
                .into());
        }
        Ok(())
    }

    /// Checks what is said of the table itself.
    fn check_table(&self) -> Result<()> {
        let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        let is_digest = |text: &String| text.len() == 64 && text.bytes().all(is_digit);
        if let Some(text) = self.table.as_ref().filter(|text| !is_digest(text)) {
            let limits = Limits::only("64 hexadecimal digits in lower case");
            return Err(limits.refuse("the length of a table's hash", text.len()).into());
        }
        match &self.names {
            Some(names) if names.len() != self.dimension => {
                let limits = Limits::only("one for each dimension");
                Err(limits.refuse("the names of dimensions", names.len()).into())
            }
            _ => Ok(()),
        }
    }

    /// Bits of the largest messages whose errors stay within their bound.
    fn message_bits_allowed(&self, setting: &Setting) -> u32 {
        let errors = Errors::of(setting);
        let largest = 2f64.powi(self.bits as i32 - 1);
        let expansion = Expansion { selections: 1, rows: self.layout.rows, selectors: 0 };
        let fits = |bits: &u32| errors.carries(&expansion, self.layout.ciphertexts, largest, *bits);
        (1..=MOST_MESSAGE_BITS).rev().find(fits).unwrap_or(0)
    }

    /// The setting, everything checked.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn setting(&self) -> Result<Arc<Setting>> {
        let setting = Setting::new(self.moduli)?;
        self.check(&setting)?;
        Ok(setting)
    }

    /// C, the columns of the table.
    pub fn columns(&self) -> usize {
        self.vectors.div_ceil(self.layout.vectors())
    }

    /// Vectors in column `column`.
    pub(super) fn vectors_in(&self, column: usize) -> usize {
        (self.vectors - column * self.layout.vectors()).min(self.layout.vectors())
    }

    /// The automorphisms that the server needs keys of.
    pub fn elements(&self) -> impl Iterator<Item = u64> {
        switch::elements(self.layout.depth())
    }

    /// Key switches for one query.
    pub fn key_switches(&self) -> usize {
        self.layout.ciphertexts * (self.layout.rows - 1)
    }

    /// Seconds of one core for one query.
    pub fn seconds(&self, prices: &Prices) -> f64 {
        let (rows, columns) = (self.layout.all_rows(), self.columns());
        self.layout.ciphertexts as f64 * prices.ciphertext
            + self.key_switches() as f64 * prices.key_switch
            + rows as f64 * prices.row
            + (rows * columns.next_multiple_of(2)) as f64 * prices.product
            + columns as f64 * prices.part
    }

    /// Sizes.
    pub fn sizes(&self, setting: &Setting) -> SearchSizes {
        let params = setting.context().params();
        let bits = |count: usize, bits: u32| (count as u64 * u64::from(bits)).div_ceil(8);
        let (rows, columns) = (self.layout.all_rows() as u64, self.columns() as u64);
        let seconds = columns * bits(N, answer_bits(self.message_bits));
        SearchSizes {
            keys: u64::from(self.layout.depth()) * params.key_sizes().switching_key_disk,
            query: self.layout.ciphertexts as u64 * (bits(N, 2 * self.moduli.prime_bits()) + 32),
            answer: seconds + bits(self.vectors, first_bits(self.message_bits)),
            prepared: rows * columns.next_multiple_of(2) * (PRIMES * N * 4) as u64,
        }
    }

    /// Bytes of memory that a client needs for so many queries and their answers, about: the encrypted
    /// vectors, both halves of each ciphertext of the answer in words of 64 bits, and the scores with
    /// their order.
    pub fn client_memory(&self, queries: usize) -> u64 {
        const WORD: u64 = 8;
        let query = (self.layout.ciphertexts * 2 * PRIMES * N) as u64 * WORD;
        let answer = (self.columns() as u64).saturating_mul(2 * N as u64 * WORD);
        let scores = (self.vectors as u64).saturating_mul(2 * WORD);
        query.saturating_add(answer).saturating_add(scores).saturating_mul(queries as u64)
    }

    /// A hash of everything in it: what files are checked against.
    pub fn hash(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"windlass search shape 1\n");
        hash.update(serde_json::to_vec(self).expect("numbers always serialise"));
        hash.finalize().into()
    }
}

/// Bits of a score of this size, with its sign.
fn bits_of(largest: i64) -> u32 {
    65 - largest.leading_zeros()
}

/// More than any error bound of this build allows.
const MOST_MESSAGE_BITS: u32 = 27;

/// Most ciphertexts of a query that are considered.
const MOST_CIPHERTEXTS: usize = 64;

/// Layouts worth a price: every power of two for g and for the number of ciphertexts.
fn layouts(dimension: usize) -> Vec<VectorLayout> {
    let mut all = Vec::new();
    for group in (0..=N.ilog2()).map(|log| 1 << log) {
        let all_rows = dimension.div_ceil(group);
        for wanted in (0..=MOST_CIPHERTEXTS.ilog2()).map(|log| 1 << log) {
            let rows = all_rows.div_ceil(wanted);
            let layout = VectorLayout { group, rows, ciphertexts: all_rows.div_ceil(rows) };
            if rows <= N && group * layout.stride() <= N && !all.contains(&layout) {
                all.push(layout);
            }
        }
    }
    all
}

impl fmt::Display for SearchShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VectorLayout { group, rows, ciphertexts } = self.layout;
        writeln!(f, "{} vectors of {} dimensions, {} bits, {}", self.vectors, self.dimension, self.bits, self.metric)?;
        writeln!(f, "scores modulo 2^{}, {} to a ciphertext", self.message_bits, self.layout.vectors())?;
        let group = if group == 1 { "one dimension".into() } else { format!("{group} dimensions") };
        let (all, columns) = (self.layout.all_rows(), self.columns());
        writeln!(f, "{all} rows of {group}, {columns} columns; {ciphertexts} ciphertexts of {rows} rows in a query")?;
        if let Ok(setting) = Setting::new(self.moduli) {
            let sizes = self.sizes(&setting);
            let kilobytes = |bytes: u64| format!("{:.1} kB", bytes as f64 / 1000.0);
            let [keys, query, answer] = [sizes.keys, sizes.query, sizes.answer].map(kilobytes);
            writeln!(f, "keys {keys} once, query {query}, answer {answer}")?;
            writeln!(f, "prepared table {:.1} MB of memory", sizes.prepared as f64 / 1e6)?;
        }
        let seconds = self.seconds(&Prices::default());
        write!(f, "{} key switches; about {seconds:.4} s on one core", self.key_switches())
    }
}
