//! A refresh that ends in a table: what it leaves, and what it costs.

use windlass_circuits::SlotTable;
use windlass_rlwe::RandomEvents;
use windlass_schemes::error::{BootstrapError, Result};

use super::bootstrap_plan::BootstrapPlan;
use super::forecast::Forecast;
use super::stage::StageName;

/// What [`super::Bootstrapper::refresh_with_table`] takes and leaves, by forecast:
/// [`BootstrapPlan::forecast_table`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableForecast {
    /// Bits of capacity of the result. What the refresh alone leaves is
    /// [`BootstrapPlan::output_bits`].
    pub output_bits: f64,
    /// The random events of the refresh and the table, as [`BootstrapPlan::random_events`] counts
    /// them.
    pub events: RandomEvents,
    /// x of the probability 2^−x that refresh and table fail at most with, as
    /// [`BootstrapPlan::failure_bits`].
    pub failure_bits: f64,
    /// The price of refresh and table in transforms of one row, as [`BootstrapPlan::price`].
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
        let output_bits = forecast.capacity(&image);
        if output_bits <= 0.0 {
            let stage = StageName::Table.to_string();
            return Err(BootstrapError::ChainTooShort { stage, missing_bits: -output_bits }.into());
        }
        let events = self.random_events() + forecast.events().take();
        let product = self.price_of_product_between(refreshed.level, output_bits);
        Ok(TableForecast {
            output_bits,
            events,
            failure_bits: self.failure_bits_with(events),
            price: self.price() + table.relinearisations() as f64 * product,
        })
    }
}
