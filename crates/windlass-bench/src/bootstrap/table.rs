//! The tables that a refresh can be asked to evaluate.

use windlass::Error;
use windlass::circuits::SlotTable;
use windlass::ring::slots::SlotRing;

/// A function of the integers modulo p^r, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Table {
    /// x².
    Square,
    /// x/2 of the residue x in [0, p^r), rounded down.
    Half,
    /// Residues without a pattern, the most expensive kind of table.
    Mixed,
}

impl Table {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Square => "square",
            Self::Half => "half",
            Self::Mixed => "mixed",
        }
    }

    /// The value at a residue modulo t.
    pub fn value(self, x: u64, t: u64) -> u64 {
        match self {
            Self::Square => x * x % t,
            Self::Half => x / 2,
            // As SplitMix64 mixes a counter.
            Self::Mixed => {
                let z = (x + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                (z ^ (z >> 31)) % t
            }
        }
    }

    /// As a circuit.
    ///
    /// # Errors
    /// Those of [`SlotTable::new`].
    pub fn circuit(self, ring: &SlotRing) -> Result<SlotTable, Error> {
        let t = ring.modulus().value();
        SlotTable::from_fn(ring, |x| self.value(x, t))
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn tables_have_the_names_that_they_are_asked_for_by() {
        for table in Table::value_variants() {
            assert_eq!(Table::from_str(table.name(), false), Ok(*table));
            assert!((0..127).all(|x| table.value(x, 127) < 127));
        }
        // No two neighbours of a mixed table differ by the same.
        let steps: std::collections::BTreeSet<i64> =
            (1..127).map(|x| Table::Mixed.value(x, 127) as i64 - Table::Mixed.value(x - 1, 127) as i64).collect();
        assert!(steps.len() > 50, "{steps:?}");
    }
}
