//! Merges elementary stages into the linear maps that run.

use windlass_circuits::LinearMap;
use windlass_schemes::error::{BootstrapError, Result};

use super::slot_map::{Fixed, SlotMap};
use super::transform::Stages;

/// Which stages of one map become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Runs {
    /// After which elementary stages a merged one ends, ascending, the last being their number.
    pub ends: Vec<usize>,
    /// Whether the stages before and after them are merged with their neighbours, not separate
    /// maps.
    pub joined: bool,
}

/// With the stages beside them as separate maps.
impl From<&[usize]> for Runs {
    fn from(ends: &[usize]) -> Self {
        Self { ends: ends.to_vec(), joined: false }
    }
}

/// The ends of merged stages ascend from above 0 to the number of elementary ones; none for none.
fn check_partition(ends: &[usize], count: usize) -> Result<()> {
    let ascends = ends.first() != Some(&0) && ends.windows(2).all(|pair| pair[0] < pair[1]);
    if ascends && ends.last().copied().unwrap_or(0) == count {
        return Ok(());
    }
    Err(BootstrapError::Partition { ends: ends.to_vec(), count }.into())
}

impl Stages {
    /// The same map with the stages beside as parts of their neighbours; without neighbours they
    /// stay separate.
    fn joined(self) -> Result<Self> {
        let Self { first, mut merged, last } = self;
        if merged.is_empty() {
            return Ok(Self { first, merged, last });
        }
        if let Some(first) = &first {
            merged[0] = merged[0].compose(first)?;
        }
        if let Some(last) = &last {
            let end = merged.len() - 1;
            merged[end] = last.compose(&merged[end])?;
        }
        Ok(Self::of(merged))
    }
}

/// Composes runs of stages, modulo the Frobenius powers that make no difference.
///
/// # Errors
/// [`BootstrapError::Partition`] for ends that do not fit.
pub(super) fn merge(stages: Stages, runs: &Runs, fixed: Option<&Fixed>) -> Result<Vec<LinearMap>> {
    check_partition(&runs.ends, stages.merged.len())?;
    let Stages { first, merged, last } = if runs.joined { stages.joined()? } else { stages };
    let mut maps: Vec<LinearMap> = first.iter().map(SlotMap::to_linear_map).collect::<Result<_>>()?;
    // Equal to the map on elements that σ^step fixes in every slot, and before a trace over all
    // σ^{step·j}.
    let reduced = |map: SlotMap| match fixed {
        Some(fixed) => map.modulo(|t| fixed.representative(t)),
        None => Ok(map),
    };
    let mut stages = merged.into_iter();
    let mut done = 0;
    for &end in &runs.ends {
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
