//! A refresh that ends with a table: the remaining capacity, and the cost.

use windlass_circuits::SlotTable;
use windlass_rlwe::RandomEvents;
use windlass_schemes::error::{BootstrapError, Result};

use super::bootstrap_plan::BootstrapPlan;
use super::forecast::Forecast;
use super::stage::StageName;

/// What a refresh with [`super::RefreshOptions::with_table`] takes and leaves, by forecast:
/// [`BootstrapPlan::forecast_table`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableForecast {
    /// Bits of capacity of the result. A refresh without a table leaves
    /// [`BootstrapPlan::output_bits`].
    pub output_bits: f64,
    /// The random events of the refresh and the table, as [`BootstrapPlan::random_events`] counts
    /// them.
    pub events: RandomEvents,
    /// x of the probability 2^−x that refresh and table fail at most with, as
    /// [`BootstrapPlan::failure_bits`].
    pub failure_bits: f64,
    /// The price of refresh and table in transforms of one row, as [`BootstrapPlan::price`]: that of
    /// every operation of the table, sums and modulus switches included, at its own level.
    pub price: f64,
}

impl BootstrapPlan {
    /// What a refresh leaves that evaluates this table, and its price: the refresh's, less and more
    /// what the table takes. What a ciphertext needs to be refreshed is as without it
    /// ([`Self::least_input_bits`]). No key is added.
    ///
    /// Cost: the table on noise bounds, about a millisecond.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::ContextMismatch`] for a table of another plaintext modulus;
    /// [`BootstrapError::ChainTooShort`] where it would leave nothing.
    pub fn forecast_table(&self, table: &SlotTable) -> Result<TableForecast> {
        let forecast = Forecast::new(self.params(), self.message_ring());
        let refreshed = self.schedule.output;
        let image = table.apply(&forecast, &refreshed)?;
        let price = self.price() + forecast.take_price();
        let output_bits = forecast.capacity(&image);
        if output_bits <= 0.0 {
            let stage = StageName::Table.to_string();
            return Err(BootstrapError::ChainTooShort { stage, missing_bits: -output_bits }.into());
        }
        let events = self.random_events() + forecast.events().take();
        Ok(TableForecast { output_bits, events, failure_bits: self.failure_bits_with(events), price })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BootstrapPreset, Mode};

    /// Measured on `boot_n32768_p127`: 0.78 s for a refresh, 0.82 s with a square and 1.42 s with a table
    /// without a pattern (record of intel-xeon-207, 27 November 2026). Prices are of transforms, so that
    /// a seventh is left for what else a core does.
    #[test]
    fn prices_of_tables_are_those_that_were_measured() {
        let preset = BootstrapPreset::named("boot_n32768_p127", Mode::Thin).unwrap();
        let plan =
            BootstrapPlan::new(preset.params.rlwe(), (preset.params.p(), preset.params.r()), preset.spec).unwrap();
        // As SplitMix64 mixes a counter.
        let mixed = |x: u64| {
            let z = (x + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (z ^ (z >> 27)) % 127
        };
        let square = |x: u64| x * x % 127;
        for (table, measured) in [(square as fn(u64) -> u64, 0.82 / 0.78), (mixed, 1.42 / 0.78)] {
            let table = SlotTable::from_fn(plan.message_ring(), table).unwrap();
            let ratio = plan.forecast_table(&table).unwrap().price / plan.price();
            assert!((ratio / measured - 1.0).abs() < 0.15, "{ratio:.2} instead of {measured:.2}: {}", table.explain());
        }
    }
}
