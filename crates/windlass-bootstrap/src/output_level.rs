//! The highest level that a refresh can return. It limits the keys that refreshed ciphertexts need.

use windlass_schemes::error::Result;

use super::forecast::{Expected, Forecast};
use super::pipeline::{Pipeline, PipelineStep};

/// The highest level that a result can have: `of_digits` is the level at which digit removal
/// begins, `forecast` the one that was forecast for the result.
///
/// A linear map ends at the level that it begins at, and so do parts that are put together:
/// ciphertexts are brought down to it. Digit removal, the end of a thin bootstrapping, does not. Of
/// two ciphertexts with noise ρ·Q at modulus Q, which a switch to Q' < Q brings to ρ·Q' + R, R the
/// rounding noise, the product has most capacity near Q' = R/ρ: the less noise, the higher it ends.
/// So nothing ends higher than a refresh that begins at the level of digit removal with noise R
/// alone, which is the minimum over all ciphertexts.
pub(super) fn highest(pipeline: &Pipeline, working: &Forecast, of_digits: usize, forecast: usize) -> Result<usize> {
    let Some(PipelineStep::Digits(removal)) = pipeline.steps.last() else { return Ok(forecast) };
    let exponent = pipeline.formula.exponent;
    let rounding = working.model(exponent).rounding(2);
    let least_noise = Expected { noise: rounding, ..working.floor(of_digits, exponent) };
    Ok(removal.apply(working, &least_noise)?.level.max(forecast))
}
