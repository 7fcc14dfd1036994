//! Choosing the layout of a table: everything is stated before anything is made.

use serde::Serialize;

use crate::bounds::Errors;
use crate::bytes::coefficients_of;
use crate::error::{Error, Result};
use crate::keywords::{BIN, Keywords, LONG_TAG, TAG, bin_bytes};
use crate::rows::Rows;
use crate::schema::{Contents, Schema};
use crate::sealed::Oprf;
use crate::selector::SelectorGadget;
use crate::setting::{Moduli, N, Setting};
use crate::shape::{Shape, Sizes};

/// What a plan must keep to; None is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wish {
    /// Most bytes of a client's evaluation keys.
    pub keys: Option<u64>,
    /// Most bytes of the query for one row.
    pub query: Option<u64>,
    /// Most bytes of the answer for one row.
    pub answer: Option<u64>,
    /// Rows that there shall be room for, where that are more than there are.
    pub room: Option<usize>,
}

/// What rows are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowStatistics {
    /// How many.
    pub count: usize,
    /// Bytes of the longest.
    pub longest: usize,
    /// Whether all have that length.
    pub fixed: bool,
    /// Bytes of all.
    pub total: u64,
}

impl RowStatistics {
    /// Those of some rows.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn of<R: AsRef<[u8]>>(rows: &[R]) -> Result<Self> {
        let lengths = || rows.iter().map(|row| row.as_ref().len());
        let longest = lengths().max().ok_or(Error::Empty)?;
        let fixed = longest > 0 && lengths().all(|length| length == longest);
        Ok(Self { count: rows.len(), longest, fixed, total: lengths().map(|length| length as u64).sum() })
    }
}

/// A layout, with what it takes.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The layout and what is in it.
    pub schema: Schema,
    /// Sizes of everything.
    pub sizes: Sizes,
    /// Bytes of the query for one row, and of its answer.
    pub traffic: [u64; 2],
    /// What it takes on one core of the machine of the record.
    pub seconds: Seconds,
    /// The same of the first portion of a row, which is all of a short one where rows are asked for
    /// in portions ([`crate::Client::in_portions`]).
    pub portion: [u64; 2],
    /// Bytes of all rows.
    pub data: u64,
}

/// Seconds on one core of the machine whose rates are built in: an AMD EPYC with AVX2.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Seconds {
    /// Preparing the table.
    pub prepare: f64,
    /// Answering a query for one row.
    pub answer: f64,
}

/// Seconds of a key switch of an expansion, its part of the tile included.
const SWITCH: f64 = 0.17e-3;
/// Seconds of an external product: transforms of the ciphertext, and of each digit.
const PRODUCT: [f64; 2] = [0.07e-3, 0.032e-3];
/// Bytes of prepared table that a scan reads in a second, for one selection and for each that
/// follows.
const SCAN: [f64; 2] = [11e9, 25e9];
/// Bytes of data that are prepared in a second.
const PREPARE: f64 = 110e6;

impl Shape {
    /// Seconds that a query of `selections` selections takes to answer.
    pub fn seconds(&self, sizes: &Sizes, selections: usize) -> f64 {
        let times = selections as f64;
        let switches = self.switches();
        let products = self.columns - 1 + crate::shape::index_bits(self.records) as usize;
        let product = PRODUCT[0] + PRODUCT[1] * f64::from(self.gadget.digits);
        let scan = sizes.prepared as f64 * (1.0 / SCAN[0] + (times - 1.0) / SCAN[1]);
        times * (switches as f64 * SWITCH + products as f64 * product + 0.3e-3) + scan
    }
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
        let levels = shape.levels();
        let (allowed, best) = errors.message_bits(&shape.expansion(), levels, start.gadget.digits)?;
        if allowed >= bits {
            shape.gadget = best;
            return errors.fits(&shape.expansion(), levels, best, bits).then_some(shape);
        }
        (bits, gadget) = (allowed, best);
    }
}

/// The best of what fits the wish: the fastest to answer, its memory counted with a second for
/// every 64 GB.
fn best(plans: impl Iterator<Item = Plan>, wish: &Wish) -> Option<Plan> {
    let within = |size: u64, most: Option<u64>| most.is_none_or(|most| size <= most);
    plans
        .filter(|plan| within(plan.sizes.keys, wish.keys))
        .filter(|plan| within(plan.traffic[0], wish.query) && within(plan.traffic[1], wish.answer))
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

    fn price(&self) -> f64 {
        self.seconds.answer + self.sizes.prepared as f64 / 64e9
    }

    /// The layout of rows that are asked for by their number.
    ///
    /// # Errors
    /// [`Error::Empty`]; [`Error::NoPlan`] when nothing fits the wish.
    pub fn rows(rows: RowStatistics, wish: &Wish) -> Result<Self> {
        if rows.count == 0 {
            return Err(Error::Empty);
        }
        Self::best_by_number(rows, wish)?.ok_or_else(|| no_plan(rows, By::Number, wish))
    }

    fn best_by_number(rows: RowStatistics, wish: &Wish) -> Result<Option<Self>> {
        let settings = settings()?;
        let room = rows.count.max(wish.room.unwrap_or(0));
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
        Ok(best(plans, wish))
    }

    /// The layout of rows that are asked for by a key, hashed with `seed`. `slack` is how many
    /// times the bins that should do there shall be.
    ///
    /// # Errors
    /// As [`Plan::rows`].
    pub fn keywords(rows: RowStatistics, seed: &str, slack: f64, wish: &Wish) -> Result<Self> {
        Self::by_key(rows, By::Key, seed, slack, wish)
    }

    /// The layout of rows by keys that are hidden by the function of this public key
    /// ([`crate::OprfKey::public`]): sealed, all of one length, in bins that are always full, under
    /// tags of 128 bits.
    ///
    /// # Errors
    /// As [`Plan::rows`].
    pub fn hidden(rows: RowStatistics, public: &[u8; 32], seed: &str, slack: f64, wish: &Wish) -> Result<Self> {
        let mut plan = Self::by_key(rows, By::HiddenKey, seed, slack, wish)?;
        plan.schema.hide(Oprf::new(public, rows.longest));
        Ok(plan)
    }

    fn by_key(rows: RowStatistics, by: By, seed: &str, slack: f64, wish: &Wish) -> Result<Self> {
        if rows.count == 0 {
            return Err(Error::Empty);
        }
        Self::best_by_key(rows, by, seed, slack, wish)?.ok_or_else(|| no_plan(rows, by, wish))
    }

    fn best_by_key(rows: RowStatistics, by: By, seed: &str, slack: f64, wish: &Wish) -> Result<Option<Self>> {
        let (settings, rows, hashed) = (settings()?, by.stored(rows), (seed, by.tag_bytes()));
        let grown = rows.count.max(wish.room.unwrap_or(0)) as f64 / rows.count as f64;
        let plans = candidates().flat_map(|candidate| [1, 2].map(|choices| (candidate, choices)));
        let plans = plans.filter_map(|((moduli, digits, height), choices)| {
            let (setting, errors) = &settings[moduli as usize];
            let start = blank(moduli, height, digits, choices);
            let contents = |bits: u32| Keywords::of(rows, bits, choices, hashed);
            let shape = settle(errors, &start, |bits| {
                let bins = contents(bits)?.bins_for(rows, bits, grown)?;
                Some((((bins as f64 * slack).ceil() as usize).max(choices), N, 1))
            })?;
            let contents = contents(shape.message_bits)?;
            contents.check(&shape).ok()?;
            let schema = Schema::new(shape, Contents::Keywords(contents)).ok()?;
            Some(Self::of(setting, schema, rows.total))
        });
        Ok(best(plans, wish))
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
            let reason = format!("the longest row has {} bytes, the layout takes rows of {most}", rows.longest);
            Err(Error::OtherLayout { reason })
        };
        match &mut schema.contents {
            Contents::Rows(contents) if rows.longest > contents.bytes => return too_long(contents.bytes),
            Contents::Rows(contents) if contents.fixed && !(rows.fixed && rows.longest == contents.bytes) => {
                return refuse(format!("rows differ in length, all rows of the layout have {} bytes", contents.bytes));
            }
            Contents::Rows(contents) if rows.count > contents.capacity(&schema.shape) => {
                let most = contents.capacity(&schema.shape);
                return refuse(format!("there are {} rows, the layout has room for {most}", rows.count));
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
    /// as much as a plan with that [`Wish::room`] would give them.
    pub fn has_room(&self, rows: RowStatistics, room: usize) -> bool {
        let rows = match &self.oprf {
            None => rows,
            Some(oprf) => By::HiddenKey.stored(RowStatistics { longest: rows.longest.max(oprf.row_bytes), ..rows }),
        };
        let room = rows.count.max(room);
        match &self.contents {
            Contents::Rows(contents) => room <= contents.capacity(&self.shape),
            Contents::Keywords(contents) => {
                let grown = room as f64 / rows.count.max(1) as f64;
                let bins = contents.bins_for(rows, self.shape.message_bits, grown);
                bins.is_some_and(|bins| bins <= self.shape.polynomials())
            }
        }
    }
}

/// Bytes of a fragment of a long row: four of them fill a bin of so many bytes.
fn quarter(bin: usize, overhead: usize) -> usize {
    ((bin - BIN) / 4).saturating_sub(overhead).max(1)
}

impl Keywords {
    /// What keys are like in bins of polynomials of these bits.
    fn of(rows: RowStatistics, bits: u32, choices: usize, (seed, tag_bytes): (&str, usize)) -> Option<Self> {
        let room = bin_bytes(bits).checked_sub(BIN + tag_bytes + 2)?;
        let quarter = quarter(bin_bytes(bits), tag_bytes + 2);
        let fragment_bytes = if rows.longest <= room / 4 { rows.longest } else { quarter };
        let fragments = rows.longest.div_ceil(fragment_bytes.max(1)).max(1);
        // Sealed rows are not cut.
        let most = if tag_bytes == LONG_TAG { 1 } else { crate::query::MOST_ROWS };
        (fragments <= most).then(|| Self {
            count: rows.count,
            choices,
            fragments,
            fragment_bytes: fragment_bytes.max(1),
            seed: seed.to_owned(),
            tag_bytes,
        })
    }

    /// Bins that should do for rows `grown` times as many.
    fn bins_for(&self, rows: RowStatistics, bits: u32, grown: f64) -> Option<usize> {
        let room = bin_bytes(bits).checked_sub(BIN)? as f64;
        let entries = rows.count as f64
            * grown
            * (rows.total as f64 / rows.count as f64 / self.fragment_bytes as f64).ceil().max(1.0);
        let total = rows.total as f64 * grown + entries * self.overhead() as f64;
        let entry = (total / entries).max((self.overhead() + self.fragment_bytes.min(rows.longest)) as f64 / 2.0);
        let bins = if self.choices == 1 {
            // The fullest of Poisson bins: six standard deviations above the mean.
            let most = room / entry;
            let mean = most + 18.0 - (36.0 * most + 324.0).sqrt();
            if mean < 1.0 {
                return None;
            }
            entries / mean
        } else {
            // Beside what moves cannot fill, half an entry is left over in each bin.
            let usable = 0.94 * (room - entry / 2.0);
            if usable <= entry {
                return None;
            }
            total / usable
        };
        Some(bins.ceil() as usize)
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

/// How rows are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Number,
    Key,
    HiddenKey,
}

impl By {
    /// What rows like these are like in the table.
    fn stored(self, rows: RowStatistics) -> RowStatistics {
        if self != Self::HiddenKey {
            return rows;
        }
        let sealed = Oprf::sealed_length(rows.longest);
        let total = (rows.count as u64).saturating_mul(sealed as u64);
        RowStatistics { longest: sealed, fixed: sealed > 0, total, ..rows }
    }

    fn tag_bytes(self) -> usize {
        if self == Self::HiddenKey { LONG_TAG } else { TAG }
    }

    /// Whether any layout takes a row of so many bytes, as the only one of its table.
    fn fits_alone(self, longest: usize) -> bool {
        let rows = RowStatistics { count: 1, longest, fixed: false, total: longest as u64 };
        let plan = match self {
            Self::Number => Plan::best_by_number(rows, &Wish::default()),
            _ => Plan::best_by_key(rows, self, "00", 1.0, &Wish::default()),
        };
        plan.is_ok_and(|plan| plan.is_some())
    }

    /// Bytes of the longest row that any layout takes, found by halving.
    fn longest_row(self) -> usize {
        // No polynomial holds more than 24 bits in each coefficient, and sealed rows lie in one.
        let polynomials = if self == Self::HiddenKey { 1 } else { crate::query::MOST_ROWS };
        let (mut fitting, mut beyond) = (0, polynomials * bin_bytes(24) + 1);
        while beyond - fitting > 1 {
            let middle = fitting + (beyond - fitting) / 2;
            if self.fits_alone(middle) { fitting = middle } else { beyond = middle }
        }
        fitting
    }
}

fn no_plan(rows: RowStatistics, by: By, wish: &Wish) -> Error {
    let limited = wish.keys.is_some() || wish.query.is_some() || wish.answer.is_some();
    let reason = if rows.longest > 0 && !by.fits_alone(rows.longest) {
        let most = by.longest_row();
        match by {
            By::HiddenKey => format!(
                "rows beside hidden keys are sealed as a whole and have at most {most} bytes: keep what is long \
                 elsewhere, and put where it is and what opens it into the table"
            ),
            _ => format!(
                "a row by {} has at most {most} bytes, however the table is cut: cut longer rows into several with \
                 keys or numbers of their own, or keep them elsewhere and put where they are into the table",
                if by == By::Key { "key" } else { "number" }
            ),
        }
    } else if limited {
        "no layout keeps to all limits of sizes: allow larger keys, queries or answers".to_owned()
    } else {
        "these are more rows than any layout holds: cut them into several tables".to_owned()
    };
    Error::NoPlan { rows: rows.count, bytes: rows.longest, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::setting_of;

    fn statistics(count: usize, longest: usize, fixed: bool) -> RowStatistics {
        RowStatistics { count, longest, fixed, total: (count * longest) as u64 }
    }

    #[test]
    fn plans_keep_their_promises() {
        for (count, longest, fixed) in [
            (1, 1, true),
            (3, 0, false),
            (1 << 20, 1024, true),
            (1 << 22, 256, true),
            (1000, 20_000, false),
            (1 << 20, 100, false),
        ] {
            let rows = statistics(count, longest, fixed && longest > 0);
            for plan in [Plan::rows(rows, &Wish::default()), Plan::keywords(rows, "5eed", 1.0, &Wish::default())] {
                let plan = plan.unwrap();
                let (read, setting) = Schema::from_json(&plan.schema.to_json()).unwrap();
                assert_eq!(read, plan.schema);
                setting_of(&read.shape).unwrap();
                assert_eq!(read.shape.sizes(&setting), plan.sizes);
                println!("{count} x {longest}\n{}", plan.explain());
            }
        }
    }

    /// The remedy for a row that is too long is not to cut the table.
    #[test]
    fn rows_that_are_too_long_are_refused_with_what_helps() {
        for (by, least, remedy) in [
            (By::Key, 2_000_000, "cut longer rows"),
            (By::Number, 8_000_000, "cut longer rows"),
            (By::HiddenKey, 2_000, "sealed as a whole"),
        ] {
            let plan = |longest| {
                let rows = statistics(1, longest, false);
                match by {
                    By::Number => Plan::rows(rows, &Wish::default()),
                    By::Key => Plan::keywords(rows, "5eed", 1.0, &Wish::default()),
                    By::HiddenKey => Plan::hidden(rows, &[0; 32], "5eed", 1.0, &Wish::default()),
                }
            };
            let most = by.longest_row();
            assert!(plan(most).is_ok(), "{most} bytes fit");
            assert!(most > least, "{most}");
            let told = plan(most + 1).unwrap_err().to_string();
            assert!(told.contains(&format!("at most {most} bytes")) && told.contains(remedy), "{told}");
        }
        let told = Plan::rows(statistics(1 << 50, 8, true), &Wish::default()).unwrap_err().to_string();
        assert!(told.contains("several tables"), "{told}");
    }

    /// One row of a megabyte makes every query for whole rows long, and not the first portion.
    #[test]
    fn plans_state_what_long_rows_cost_and_what_their_portions_cost() {
        let long = RowStatistics { count: 1000, longest: 1_000_000, fixed: false, total: 1_100_000 };
        let plan = Plan::keywords(long, "5eed", 1.0, &Wish::default()).unwrap();
        assert!(plan.traffic[0] > 5_000_000 && plan.portion[0] < 100_000, "{:?} {:?}", plan.traffic, plan.portion);
        let text = plan.explain();
        assert!(text.contains("long rows") && text.contains("in portions"), "{text}");
        let short = Plan::keywords(statistics(1000, 100, false), "5eed", 1.0, &Wish::default()).unwrap();
        assert_eq!(short.traffic, short.portion);
        assert!(!short.explain().contains("long rows"));
    }

    #[test]
    fn plans_have_the_room_that_was_wished_for() {
        let rows = statistics(1000, 100, false);
        let wish = |room| Wish { room, ..Wish::default() };
        for room in [1000, 3000, 100_000] {
            for plan in [
                Plan::rows(rows, &wish(Some(room))),
                Plan::keywords(rows, "5eed", 1.0, &wish(Some(room))),
                Plan::hidden(rows, &[0; 32], "5eed", 1.0, &wish(Some(room))),
            ] {
                let schema = plan.unwrap().schema;
                assert!(schema.has_room(rows, room) && schema.has_room(rows, 0));
                assert!(!schema.has_room(rows, 100 * room));
            }
        }
    }

    #[test]
    fn limits_of_sizes_are_kept_or_refused() {
        let rows = statistics(100_000, 2, true);
        let wish = Wish { keys: Some(681_000), query: Some(28_000), answer: Some(23_000), room: None };
        let plan = Plan::keywords(rows, "5eed", 1.0, &wish).unwrap();
        println!("{}", plan.explain());
        assert!(plan.sizes.keys <= 681_000 && plan.traffic[0] <= 28_000 && plan.traffic[1] <= 23_000);
        let wish = Wish { keys: Some(1000), ..wish };
        assert!(matches!(Plan::keywords(rows, "5eed", 1.0, &wish), Err(Error::NoPlan { .. })));
        assert!(matches!(Plan::rows(statistics(0, 0, false), &wish), Err(Error::Empty)));
    }
}
