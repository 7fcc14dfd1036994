//! From elementary stages to the linear maps that are run.

use super::slot_map::{Fixed, SlotMap};
use super::transform::Stages;
use crate::bootstrap::error::BootstrapError;
use crate::circuits::LinearMap;
use crate::error::Result;

/// The ends of merged stages ascend from above 0 to the number of elementary ones; none for none.
fn check_partition(ends: &[usize], count: usize) -> Result<()> {
    let ascends = ends.first() != Some(&0) && ends.windows(2).all(|pair| pair[0] < pair[1]);
    if ascends && ends.last().copied().unwrap_or(0) == count {
        return Ok(());
    }
    Err(BootstrapError::Partition { ends: ends.to_vec(), count }.into())
}

/// Composes runs of stages, modulo the Frobenius powers that make no difference: a merged one ends
/// after each of these elementary ones, ascending, the last being their number.
///
/// # Errors
/// [`BootstrapError::Partition`] for ends that do not fit.
pub(super) fn merge(stages: Stages, ends: &[usize], fixed: Option<&Fixed>) -> Result<Vec<LinearMap>> {
    let Stages { first, merged, last } = stages;
    check_partition(ends, merged.len())?;
    let mut maps: Vec<LinearMap> = first.iter().map(SlotMap::to_linear_map).collect::<Result<_>>()?;
    // Equal to the map on elements that σ^step fixes in every slot, and before a trace over all
    // σ^{step·j}.
    let reduced = |map: SlotMap| match fixed {
        Some(fixed) => map.modulo(|t| fixed.representative(t)),
        None => Ok(map),
    };
    let mut stages = merged.into_iter();
    let mut done = 0;
    for &end in ends {
        let mut run = stages.by_ref().take(end - done);
        let first = run.next().expect("a checked partition ascends from above 0");
        let product = run.try_fold(reduced(first)?, |product, stage| reduced(stage.compose(&product)?))?;
        maps.push(product.to_linear_map()?);
        done = end;
    }
    if let Some(last) = last {
        maps.push(last.to_linear_map()?);
    }
    Ok(maps)
}
