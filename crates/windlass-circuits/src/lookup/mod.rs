//! A lookup as a linear map: the product of an encrypted selection vector with a small table (the
//! application of Halevi–Shoup 2018, §1).
//!
//! The server learns nothing of the selected row. [`IndexBits`] makes the selection vector from a row
//! number that is itself encrypted. For tables of any size, and for clients that know the number or the
//! key of their row, use the crate `windlass-retrieval`: its messages are smaller.

mod index_bits;
mod layout;
mod words;

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_rlwe::Limits;
use windlass_schemes::{Error, Plaintext, Result};

pub use index_bits::IndexBits;
pub use layout::{Layout, Lines};
pub use words::{bytes_to_words, word_bits, word_count, words_to_bytes};

use crate::linear::{LinearMap, LinearPlan, PlanSpec, Strategy};

/// The product of a selection vector with a table of a public shape: the number of rows, and the
/// bytes of the longest row.
///
/// It is the linear map Σ_t κ_t·θ_{g^t}, where g generates the largest hypercube dimension. No
/// product wraps around a hypercolumn, so one automorphism per diagonal suffices, in good and bad
/// dimensions alike (2018, Eq. (3)). The map runs by baby steps and giant steps with ⌈√τ⌉ baby
/// steps. That needs the fewest keys, and keys are most of what a client sends.
#[derive(Debug, Clone)]
pub struct Lookup {
    slot_ring: Arc<SlotRing>,
    layout: Layout,
    dimension: usize,
    record_bytes: usize,
    bits: u32,
}

impl Lookup {
    /// The product for `rows` rows of at most `record_bytes` bytes.
    ///
    /// # Errors
    /// [`Error::TableTooLarge`] if the table does not fit into the slots.
    pub fn new(slots: &Arc<SlotRing>, rows: usize, record_bytes: usize) -> Result<Self> {
        let hypercube = slots.hypercube();
        let sizes = hypercube.dimensions().iter().enumerate();
        let dimension = sizes.max_by_key(|(_, dimension)| dimension.size).map(|(index, _)| index);
        let bits = word_bits(slots.modulus().value());
        let words = word_count(record_bytes, bits);
        let too_large = || Error::TableTooLarge { rows, words, bits, slots: slots.slots() };
        let dimension = dimension.ok_or_else(too_large)?;
        let size = hypercube.dimensions()[dimension].size;
        let starts = (0..slots.slots()).filter(|&slot| hypercube.coordinate(slot, dimension) == 0);
        let line = |start| (0..size as i64).map(|c| hypercube.rotated(start, dimension, c)).collect();
        let layout = Layout::new(Lines::new(starts.map(line).collect()), rows, words).ok_or_else(too_large)?;
        Ok(Self { slot_ring: Arc::clone(slots), layout, dimension, record_bytes, bits })
    }

    /// The places of the cells.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn element(&self, t: usize) -> u64 {
        self.slot_ring.hypercube().generator_power(self.dimension, t as i64)
    }

    fn spec(&self) -> PlanSpec {
        let babies = (self.layout.diagonals() as f64).sqrt().ceil() as usize;
        PlanSpec::with_strategy(Strategy::BABY_GIANT.with_babies(babies))
    }

    /// The plan for a table of this shape without zero diagonals. Its keys work for every table of
    /// the shape.
    ///
    /// # Errors
    /// Errors of planning.
    pub fn shape_plan(&self) -> Result<LinearPlan> {
        // No slot is 0. The slots are 2, except modulo 2, where they are 1.
        let full = 1 + u64::from(self.slot_ring.modulus().value() > 2);
        let diagonal = Plaintext::from_integers(&self.slot_ring, &vec![full; self.slot_ring.slots()])?;
        let terms = (0..self.layout.diagonals()).map(|t| (self.element(t), diagonal.clone()));
        LinearPlan::new(&LinearMap::from_terms(&self.slot_ring, terms)?, &self.spec())
    }

    /// The automorphisms whose Galois keys the client sends.
    ///
    /// # Errors
    /// Errors of planning.
    pub fn required_keys(&self) -> Result<BTreeSet<u64>> {
        Ok(self.shape_plan()?.required_keys())
    }

    /// The plan of the product with a table, given the encoded rows.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the number of rows or the length of a row differs from the
    /// shape.
    pub fn plan(&self, records: &[Vec<u8>]) -> Result<LinearPlan> {
        let (expected, got) = (self.layout.rows(), records.len());
        if got != expected {
            return Err(Error::ShapeMismatch { what: "rows of the table", expected, got });
        }
        let mut words = Vec::with_capacity(records.len());
        for record in records {
            if record.len() > self.record_bytes {
                let (expected, got) = (self.record_bytes, record.len());
                return Err(Error::ShapeMismatch { what: "bytes of a row (at most)", expected, got });
            }
            let mut padded = record.clone();
            padded.resize(self.record_bytes, 0);
            words.push(bytes_to_words(&padded, self.bits));
        }
        let diagonal =
            |t| Plaintext::from_integers(&self.slot_ring, &self.layout.diagonal(t, |row, word| words[row][word]));
        let terms =
            (0..self.layout.diagonals()).map(|t| Ok((self.element(t), diagonal(t)?))).collect::<Result<Vec<_>>>()?;
        // A table may have zero diagonals. Its plan must still use only the keys of the shape.
        let spec = PlanSpec { keys: Some(self.required_keys()?), ..self.spec() };
        LinearPlan::new(&LinearMap::from_terms(&self.slot_ring, terms)?, &spec)
    }

    /// The selection vector of a row.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there is no such row.
    pub fn selection(&self, row: usize) -> Result<Plaintext> {
        Limits::below(self.layout.rows()).check("row", row)?;
        Plaintext::from_integers(&self.slot_ring, &self.layout.selection(row))
    }

    /// The circuit that computes the selection vector from the encrypted bits of a row number. Use
    /// it if the row number is itself the result of an encrypted computation.
    ///
    #[cfg_attr(not(doctest), doc = include_str!("../examples/lookup.md"))]
    ///
    /// # Errors
    /// None if the lookup exists.
    pub fn index_bits(&self) -> Result<IndexBits> {
        IndexBits::new(&self.slot_ring, self.layout.rows(), &self.layout.selects())
    }

    /// The encoded row from the decrypted product, padded with zeros; `None` if the product is not
    /// a row.
    pub fn record(&self, product: &Plaintext) -> Option<Vec<u8>> {
        let slots = product.to_integers().ok()?;
        let words = self.layout.fold(&slots, self.slot_ring.modulus().value());
        words_to_bytes(&words, self.bits, self.record_bytes)
    }
}

#[cfg(test)]
mod tests {
    use windlass_ring::kernels::Isa;
    use windlass_schemes::schemes::clear::Clear;

    use super::*;
    use crate::trace::{TraceChain, TracePlan, TraceSpec};

    #[test]
    fn lookups_on_clear_give_every_row() {
        // Good and bad dimensions, small and large plaintext moduli, slots of degree 1 and more.
        for (m, p, r) in [(256, 257, 1), (64, 3, 2), (1023, 2, 3), (4369, 2, 1), (105, 17, 1)] {
            let slots = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
            let records: Vec<Vec<u8>> = (0..5u8).map(|i| vec![i, 7 * i + 1]).collect();
            let lookup = match Lookup::new(&slots, records.len(), 2) {
                Ok(lookup) => lookup,
                Err(Error::TableTooLarge { .. }) => continue,
                Err(other) => panic!("{other}"),
            };
            let plan = lookup.plan(&records).unwrap();
            assert!(plan.required_keys().is_subset(&lookup.required_keys().unwrap()));
            let clear = Clear::with_keys(&slots, lookup.required_keys().unwrap());
            for (row, record) in records.iter().enumerate() {
                let query = clear.encrypt(&lookup.selection(row).unwrap()).unwrap();
                let answer = clear.decrypt(&plan.apply_once(&clear, &query).unwrap());
                assert_eq!(lookup.record(&answer).as_ref(), Some(record), "m = {m} row {row}");
            }
        }
    }

    #[test]
    fn bits_of_an_index_give_its_selection_vector() {
        let mut made = Vec::new();
        for (m, p, r) in [(256, 257, 1), (64, 3, 2), (1023, 2, 3), (4369, 2, 1), (64, 17, 2)] {
            let slots = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
            for rows in [1, 2, 5, 8] {
                let lookup = match Lookup::new(&slots, rows, 1) {
                    Ok(lookup) => lookup,
                    Err(Error::TableTooLarge { .. }) => continue,
                    Err(other) => panic!("{other}"),
                };
                made.push((m, rows));
                let (bits, clear) = (lookup.index_bits().unwrap(), Clear::new(&slots));
                assert_eq!(bits.count(), [1, 1, 3, 3][[1, 2, 5, 8].iter().position(|&known| known == rows).unwrap()]);
                for row in 0..rows {
                    let encrypted: Vec<_> =
                        bits.of_row(row).unwrap().iter().map(|bit| clear.encrypt(bit).unwrap()).collect();
                    let before = clear.counts().products;
                    let selection = clear.decrypt(&bits.select(&clear, &encrypted).unwrap());
                    assert_eq!(selection, lookup.selection(row).unwrap(), "m = {m}, {rows} rows, row {row}");
                    assert_eq!(clear.counts().products - before, bits.count() - 1);
                }
                // A number that no row has.
                if rows < 1 << bits.count() {
                    let ones: Vec<_> =
                        (0..bits.count()).map(|_| clear.encrypt(&Plaintext::scalar(&slots, 1)).unwrap()).collect();
                    let none = clear.decrypt(&bits.select(&clear, &ones).unwrap());
                    assert_eq!(none, Plaintext::scalar(&slots, 0));
                }
                assert!(matches!(bits.of_row(rows), Err(Error::OutOfRange { .. })));
                assert!(matches!(bits.select(&clear, &[]), Err(Error::ShapeMismatch { .. })));
            }
        }
        // The two slots of (64, 3^2) hold no byte; the other rings hold all tables.
        assert_eq!(made.len(), 16, "{made:?}");
    }

    #[test]
    fn bits_in_the_slots_of_one_ciphertext_are_spread() {
        for (m, p, r) in [(256, 257, 1), (1023, 2, 3), (64, 17, 2)] {
            let slots = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
            let lookup = Lookup::new(&slots, 6, 1).unwrap();
            let (bits, clear) = (lookup.index_bits().unwrap(), Clear::new(&slots));
            let total = TracePlan::new(&TraceChain::total(&slots).unwrap(), &TraceSpec::default()).unwrap();
            let index = clear.encrypt(&Plaintext::from_integers(&slots, &[0, 0, 1u64]).unwrap()).unwrap();
            let spread = bits.spread(&clear, &total, &index).unwrap();
            let selection = clear.decrypt(&bits.select(&clear, &spread).unwrap());
            assert_eq!(selection, lookup.selection(4).unwrap(), "m = {m}");
        }
    }

    #[test]
    fn tables_with_empty_diagonals_need_no_other_keys() {
        // In modulus 2 as well, where 2 is 0.
        for ((m, p), rows, length) in [((256, 257), 20, 24), ((4369, 2), 20, 2)] {
            let slots = Arc::new(SlotRing::new(m, p, 1, Isa::best()).unwrap());
            let lookup = Lookup::new(&slots, rows, length).unwrap();
            assert!(lookup.layout().diagonals() > 1, "m = {m}");
            let keys = lookup.required_keys().unwrap();
            assert!(!keys.is_empty(), "m = {m}");
            for byte in 0..length {
                let records: Vec<Vec<u8>> =
                    (0..rows).map(|row| (0..length).map(|i| u8::from(i == byte && row == 3)).collect()).collect();
                let plan = lookup.plan(&records).unwrap();
                assert!(plan.required_keys().is_subset(&keys), "m = {m}, byte {byte}");
            }
            let full = lookup.plan(&vec![vec![0xff; length]; rows]).unwrap().required_keys();
            assert!(full.is_subset(&keys) && !full.is_empty(), "m = {m}");
            assert!(lookup.plan(&vec![vec![0; length]; rows]).unwrap().required_keys().is_empty());
        }
    }

    #[test]
    fn shapes_are_checked() {
        let slots = Arc::new(SlotRing::new(256, 257, 1, Isa::best()).unwrap());
        assert!(matches!(Lookup::new(&slots, 4000, 20), Err(Error::TableTooLarge { .. })));
        for bytes in [usize::MAX, usize::MAX / 2 + 1, usize::MAX / 8 + 1] {
            for rows in 1..6 {
                assert!(matches!(Lookup::new(&slots, rows, bytes), Err(Error::TableTooLarge { .. })));
            }
        }
        let lookup = Lookup::new(&slots, 2, 3).unwrap();
        assert!(matches!(lookup.plan(&[vec![1]]), Err(Error::ShapeMismatch { .. })));
        assert!(matches!(lookup.plan(&[vec![1], vec![0; 4]]), Err(Error::ShapeMismatch { .. })));
        assert!(matches!(lookup.selection(2), Err(Error::OutOfRange { .. })));
    }
}
