//! Chooses the layout of a table. All sizes and costs are known before anything is made.

use crate::bins::{Cut, Hashing};
use crate::bounds::Errors;
use crate::bytes::coefficients_of;
use crate::error::{Error, Result};
use crate::keywords::{Keywords, LONG_TAG, TAG, bin_bytes};
use crate::requirements::{RowStatistics, TableRequirements};
use crate::rows::Rows;
use crate::schema::{Contents, Schema};
use crate::sealed::Oprf;
use crate::seconds::{PREPARE, Seconds};
use crate::selector::SelectorGadget;
use crate::setting::{Moduli, N, Setting};
use crate::shape::{Shape, Sizes};

/// A layout, with its cost.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The layout and what is in it.
    pub schema: Schema,
    /// Sizes of everything.
    pub sizes: Sizes,
    /// Bytes of the query for one row, and of its answer.
    pub traffic: [u64; 2],
    /// Its cost on one core of the machine of the record.
    pub seconds: Seconds,
    /// The same of the first portion of a row, which is all of a short one where rows are asked for
    /// in portions ([`crate::Client::in_portions`]).
    pub portion: [u64; 2],
    /// Bytes of all rows.
    pub data: u64,
}

/// The layouts that are tried.
fn candidates() -> impl Iterator<Item = (Moduli, u32, usize)> {
    let rows = (0..=11).flat_map(|bits| [1usize << bits, 3 << bits]).filter(|&rows| rows <= N / 2);
    let rows: Vec<usize> = rows.collect();
    Moduli::ALL.into_iter().flat_map(move |moduli| {
        let rows = rows.clone();
        (2..=4).flat_map(move |digits| rows.clone().into_iter().map(move |rows| (moduli, digits, rows)))
    })
}

/// The fewest columns of `rows` rows that hold `polynomials(bits)` polynomials, with the message
/// bits that they allow.
fn settle(errors: &Errors, start: &Shape, polynomials: impl Fn(u32) -> Option<(usize, usize, usize)>) -> Option<Shape> {
    let mut shape = start.clone();
    // More columns take more selectors, which may take a bit, which may take more columns: each
    // round has no more bits than the last.
    let (mut bits, mut gadget) = errors.message_bits(&shape.expansion_for(1), 1, start.gadget.digits)?;
    loop {
        let (count, record_coefficients, records) = polynomials(bits)?;
        let columns = count.div_ceil(shape.rows);
        shape = Shape { message_bits: bits, record_coefficients, records, columns, gadget, ..shape };
        if columns > 1 << 24 || shape.selections * shape.selection_coefficients() > N {
            return None;
        }
        let levels = shape.selectors();
        let (allowed, best) = errors.message_bits(&shape.expansion(), levels, start.gadget.digits)?;
        if allowed >= bits {
            shape.gadget = best;
            return errors.fits(&shape.expansion(), levels, best, bits).then_some(shape);
        }
        (bits, gadget) = (allowed, best);
    }
}

/// The best of what meets the requirements: the fastest to answer, its memory counted with a second for
/// every 64 GB.
fn best(plans: impl Iterator<Item = Plan>, requirements: &TableRequirements) -> Option<Plan> {
    let within = |size: u64, most: Option<u64>| most.is_none_or(|most| size <= most);
    plans
        .filter(|plan| within(plan.sizes.keys, requirements.keys))
        .filter(|plan| within(plan.traffic[0], requirements.query) && within(plan.traffic[1], requirements.answer))
        .min_by(|a, b| a.price().total_cmp(&b.price()))
}

impl Plan {
    /// What a layout takes for rows of `data` bytes in all.
    pub fn of(setting: &Setting, schema: Schema, data: u64) -> Self {
        let sizes = schema.shape.sizes(setting);
        let selections = schema.selections() as u64;
        let traffic = |selections: u64| {
            let ciphertexts = selections.div_ceil(schema.shape.selections as u64);
            [ciphertexts * sizes.query, selections * sizes.answer]
        };
        let [whole, portion] = [selections, selections / schema.portions() as u64].map(traffic);
        let carried = (schema.shape.polynomials() * N * schema.shape.message_bits as usize / 8) as f64;
        let seconds = Seconds { prepare: carried / PREPARE, answer: schema.shape.seconds(&sizes, selections as usize) };
        Self { traffic: whole, portion, schema, sizes, seconds, data }
    }

    /// The first requirement that this layout does not meet, beside that for room: what it is, what it has and what
    /// is wanted.
    pub(crate) fn unmet(&self, requirements: &TableRequirements) -> Option<(&'static str, [u64; 2])> {
        let tag = match &self.schema.contents {
            Contents::Keywords(keywords) => {
                requirements.tag_bits.map(|bits| [8 * keywords.tag_bytes as u64, u64::from(bits)])
            }
            Contents::Rows(_) => None,
        };
        if let Some(tag) = tag.filter(|[found, wanted]| found != wanted) {
            return Some(("tags of keys, in bits", tag));
        }
        let sizes = [
            ("evaluation keys, in bytes", self.sizes.keys, requirements.keys),
            ("query for one row, in bytes", self.traffic[0], requirements.query),
            ("answer for one row, in bytes", self.traffic[1], requirements.answer),
        ];
        let above = |(what, size, most): (_, u64, Option<u64>)| {
            most.filter(|&most| size > most).map(|most| (what, [size, most]))
        };
        sizes.into_iter().find_map(above)
    }

    fn price(&self) -> f64 {
        self.seconds.answer + self.sizes.prepared as f64 / 64e9
    }

    /// The layout of rows that are asked for by their number.
    ///
    /// # Errors
    /// [`Error::Empty`]; [`Error::NoPlan`] if nothing meets the requirements.
    pub fn rows(rows: RowStatistics, requirements: &TableRequirements) -> Result<Self> {
        if rows.count == 0 {
            return Err(Error::Empty);
        }
        check_length(rows, None)?;
        Self::best_by_number(rows, requirements)?.ok_or_else(|| no_plan(rows, requirements))
    }

    fn best_by_number(rows: RowStatistics, requirements: &TableRequirements) -> Result<Option<Self>> {
        let settings = settings()?;
        let room = rows.count.max(requirements.room.unwrap_or(0));
        let plans = candidates().filter_map(|(moduli, digits, height)| {
            let (setting, errors) = &settings[moduli as usize];
            let start = blank(moduli, height, digits, 1);
            let mut contents = Rows { count: rows.count, bytes: rows.longest.max(1), fixed: rows.fixed, pieces: 1 };
            let shape = settle(errors, &start, |bits| {
                let most = N * bits as usize / 8;
                let pieces = contents.stored_bytes().div_ceil(most);
                let record = coefficients_of(contents.stored_bytes().div_ceil(pieces), bits);
                let records = N / record;
                Some(((room.checked_mul(pieces)?).div_ceil(records), record, records))
            })?;
            contents.pieces = contents.stored_bytes().div_ceil(bin_bytes(shape.message_bits));
            contents.check(&shape).ok()?;
            let schema = Schema::new(shape, Contents::Rows(contents)).ok()?;
            Some(Self::of(setting, schema, rows.total))
        });
        Ok(best(plans, requirements))
    }

    /// The layout of rows by key, hashed with `seed`. `slack` multiplies the number of bins that
    /// should suffice.
    ///
    /// # Errors
    /// As [`Plan::rows`].
    pub fn keywords(rows: RowStatistics, seed: &str, slack: f64, requirements: &TableRequirements) -> Result<Self> {
        if rows.count == 0 {
            return Err(Error::Empty);
        }
        let hashing = Hashing { seed, tag_bytes: requirements.tag_bytes()?, cut: Cut::Fragments };
        check_length(rows, Some(hashing.tag_bytes))?;
        Self::best_by_key(rows, hashing, slack, requirements)?.ok_or_else(|| no_plan(rows, requirements))
    }

    /// The layout of rows by keys that are hidden by the function of this public key
    /// ([`crate::OprfKey::public`]): sealed, all of one length, each a single entry, in bins that are
    /// always full, under tags of 128 bits. `seed` and `slack` are as for [`Plan::keywords`]. Give every
    /// table a seed of its own ([`crate::fresh_seed`]): two tables of one key and one seed have tags in
    /// common.
    ///
    /// # Errors
    /// As [`Plan::rows`]; [`Error::NoPlan`] for rows that no bin takes as a whole.
    pub fn hidden(
        rows: RowStatistics,
        public: &[u8; 32],
        seed: &str,
        slack: f64,
        requirements: &TableRequirements,
    ) -> Result<Self> {
        if rows.count == 0 {
            return Err(Error::Empty);
        }
        requirements.check_hidden()?;
        let plan = Self::best_hidden(rows, public, (seed, slack), requirements)?;
        plan.ok_or_else(|| no_hidden_plan(rows, requirements))
    }

    fn best_hidden(
        rows: RowStatistics,
        public: &[u8; 32],
        (seed, slack): (&str, f64),
        requirements: &TableRequirements,
    ) -> Result<Option<Self>> {
        let oprf = Oprf::new(public, rows.longest);
        let hashing = Hashing { seed, tag_bytes: LONG_TAG, cut: Cut::Whole };
        let plan = Self::best_by_key(oprf.sealed_rows(rows), hashing, slack, requirements)?;
        Ok(plan.map(|mut plan| {
            plan.schema.hide(oprf);
            plan
        }))
    }

    fn best_by_key(
        rows: RowStatistics,
        hashing: Hashing<'_>,
        slack: f64,
        requirements: &TableRequirements,
    ) -> Result<Option<Self>> {
        let settings = settings()?;
        let grown = rows.count.max(requirements.room.unwrap_or(0)) as f64 / rows.count as f64;
        let plans = candidates().flat_map(|candidate| [1, 2].map(|choices| (candidate, choices)));
        let plans = plans.filter_map(|((moduli, digits, height), choices)| {
            let (setting, errors) = &settings[moduli as usize];
            let start = blank(moduli, height, digits, choices);
            let contents = |bits: u32| Keywords::of(rows, bits, choices, hashing);
            let shape = settle(errors, &start, |bits| {
                let bins = contents(bits)?.bins_for(rows, bits, grown, hashing.cut)?;
                Some((((bins as f64 * slack).ceil() as usize).max(choices), N, 1))
            })?;
            let contents = contents(shape.message_bits)?;
            contents.check(&shape).ok()?;
            let schema = Schema::new(shape, Contents::Keywords(contents)).ok()?;
            Some(Self::of(setting, schema, rows.total))
        });
        Ok(best(plans, requirements))
    }
}

impl Plan {
    /// The layout that clients know already, for other rows: queries, answers and keys for it stay
    /// what they are. For rows by key whether all of them have a place shows when the table is made
    /// ([`Error::Full`]).
    ///
    /// # Errors
    /// [`Error::OtherLayout`] for rows that do not fit it; [`Error::Empty`].
    pub fn like(schema: &Schema, rows: RowStatistics) -> Result<Self> {
        if rows.count == 0 {
            return Err(Error::Empty);
        }
        let (mut schema, setting) = Schema::from_json(&schema.to_json())?;
        let refuse = |reason: String| Err(Error::OtherLayout { reason });
        // Sealed rows are longer than those that are given.
        let plain_bytes = schema.oprf.as_ref().map(|oprf| oprf.row_bytes);
        let too_long = |most: usize| {
            let reason = format!("the longest row has {} bytes, but the layout allows {most}", rows.longest);
            Err(Error::OtherLayout { reason })
        };
        match &mut schema.contents {
            Contents::Rows(contents) if rows.longest > contents.bytes => return too_long(contents.bytes),
            Contents::Rows(contents) if contents.fixed && !(rows.fixed && rows.longest == contents.bytes) => {
                return refuse(format!(
                    "rows have different lengths, but every row of the layout has {} bytes",
                    contents.bytes
                ));
            }
            Contents::Rows(contents) if rows.count > contents.capacity(&schema.shape) => {
                let most = contents.capacity(&schema.shape);
                return refuse(format!("there are {} rows, but the layout has room for {most}", rows.count));
            }
            Contents::Keywords(contents) if rows.longest > plain_bytes.unwrap_or(contents.longest_row()) => {
                return too_long(plain_bytes.unwrap_or(contents.longest_row()));
            }
            Contents::Rows(contents) => contents.count = rows.count,
            Contents::Keywords(contents) => contents.count = rows.count,
        }
        schema.contents.check(&schema.shape)?;
        Ok(Self::of(&setting, schema, rows.total))
    }
}

impl Schema {
    /// Whether a table of this schema has room for so many rows in all, where rows are like these:
    /// as much as a plan with that [`TableRequirements::room`] would give them.
    pub fn has_room(&self, rows: RowStatistics, room: usize) -> bool {
        let room = rows.count.max(room);
        let sealed = self.oprf.as_ref().map_or(rows, |oprf| oprf.sealed_rows(rows));
        match &self.contents {
            Contents::Rows(contents) => room <= contents.capacity(&self.shape),
            Contents::Keywords(contents) => {
                let grown = room as f64 / rows.count.max(1) as f64;
                let cut = if self.oprf.is_some() { Cut::Whole } else { Cut::Fragments };
                let bins = contents.bins_for(sealed, self.shape.message_bits, grown, cut);
                bins.is_some_and(|bins| bins <= self.shape.polynomials())
            }
        }
    }
}

/// A shape that is still to be settled.
fn blank(moduli: Moduli, rows: usize, digits: u32, selections: usize) -> Shape {
    Shape {
        moduli,
        message_bits: 1,
        rows,
        columns: 1,
        record_coefficients: N,
        records: 1,
        selections,
        gadget: SelectorGadget { digits, base_bits: 1 },
    }
}

fn settings() -> Result<Vec<(std::sync::Arc<Setting>, Errors)>> {
    let of = |moduli| {
        let setting = Setting::new(moduli)?;
        let errors = Errors::of(&setting);
        Ok((setting, errors))
    };
    Moduli::ALL.into_iter().map(of).collect()
}

/// Bytes of a polynomial, none of which holds more than 24 bits in each coefficient.
const LARGEST_BIN: usize = N * 24 / 8;

/// Bytes of the longest row that any layout takes, as the only one of its table, by key and by number:
/// what the search below finds, so that longer ones are refused at once.
const LONGEST_BY_KEY: usize = 2_348_032;
const LONGEST_BY_KEY_OF_LONG_TAG: usize = 2_339_840;
const LONGEST_BY_NUMBER: usize = 9_437_180;

/// # Errors
/// [`Error::NoPlan`] for rows that are too long for every layout.
fn check_length(rows: RowStatistics, tag_bytes: Option<usize>) -> Result<()> {
    let (most, by) = match tag_bytes {
        None => (LONGEST_BY_NUMBER, "number"),
        Some(TAG) => (LONGEST_BY_KEY, "key"),
        Some(_) => (LONGEST_BY_KEY_OF_LONG_TAG, "key"),
    };
    if rows.longest <= most {
        return Ok(());
    }
    let reason = format!(
        "a row by {by} has at most {most} bytes in every layout: split longer rows into several rows, or store them elsewhere and put their addresses into the table"
    );
    Err(Error::NoPlan { rows: rows.count, bytes: rows.longest, reason })
}

/// Whether any layout takes a row of so many bytes, as the only one of its table.
#[cfg(test)]
fn fits_alone(tag_bytes: Option<usize>, longest: usize) -> bool {
    let rows = RowStatistics { count: 1, longest, fixed: false, total: longest as u64 };
    let plan = match tag_bytes {
        Some(tag_bytes) => {
            let hashing = Hashing { seed: "00", tag_bytes, cut: Cut::Fragments };
            Plan::best_by_key(rows, hashing, 1.0, &TableRequirements::default())
        }
        None => Plan::best_by_number(rows, &TableRequirements::default()),
    };
    plan.is_ok_and(|plan| plan.is_some())
}

/// The largest number up to `most` that fits, found by halving; 0 is taken to.
fn largest(most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut fitting, mut beyond) = (0, most + 1);
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(middle) { fitting = middle } else { beyond = middle }
    }
    fitting
}

/// Bytes of the longest row that any layout takes.
#[cfg(test)]
fn longest_row(tag_bytes: Option<usize>) -> usize {
    largest(crate::query::MOST_ROWS * LARGEST_BIN, |longest| fits_alone(tag_bytes, longest))
}

/// The error for rows that are short enough.
fn no_plan(rows: RowStatistics, requirements: &TableRequirements) -> Error {
    Error::NoPlan { rows: rows.count, bytes: rows.longest, reason: beyond_limits(requirements) }
}

/// Why rows that are short enough have no plan.
fn beyond_limits(requirements: &TableRequirements) -> String {
    let limited = requirements.keys.is_some() || requirements.query.is_some() || requirements.answer.is_some();
    if limited {
        "no layout is within all size limits: allow larger keys, queries or answers".to_owned()
    } else {
        "no layout holds so many rows: split them into several tables".to_owned()
    }
}

/// Whether any layout takes rows of so many bytes beside hidden keys, if sizes have no limits.
fn fits_hidden(rows: RowStatistics, longest: usize, room: Option<usize>) -> bool {
    let (rows, requirements) =
        (RowStatistics { longest, ..rows }, TableRequirements { room, ..TableRequirements::default() });
    Plan::best_hidden(rows, &[0; 32], ("00", 1.0), &requirements).is_ok_and(|plan| plan.is_some())
}

/// Bytes of the longest of so many rows beside hidden keys: a bin holds fewer in a larger table.
fn longest_hidden_row(rows: RowStatistics, room: Option<usize>) -> usize {
    largest(LARGEST_BIN, |longest| fits_hidden(rows, longest, room))
}

fn no_hidden_plan(rows: RowStatistics, requirements: &TableRequirements) -> Error {
    let reason = if fits_hidden(rows, 0, requirements.room) && !fits_hidden(rows, rows.longest, requirements.room) {
        let most = longest_hidden_row(rows, requirements.room);
        format!(
            "a table with hidden keys seals each row as a whole, and with so many rows it allows at most {most} bytes a row: store longer data elsewhere, encrypted, and put its address and its key into the table"
        )
    } else {
        beyond_limits(requirements)
    };
    Error::NoPlan { rows: rows.count, bytes: rows.longest, reason }
}

#[cfg(test)]
mod tests;
