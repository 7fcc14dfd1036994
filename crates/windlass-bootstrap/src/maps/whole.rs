//! The maps between slots and coefficients of a thin and of a packed refresh, each as a product of
//! merged stages.

use std::sync::Arc;

use windlass_circuits::LinearMap;
use windlass_ring::slots::SlotRing;
use windlass_schemes::error::Result;

use super::merge::{Runs, merge};
use super::packing::Packing;
use super::slot_map::Fixed;
use super::transform::{SlotTransform, Supports, supports};

/// The automorphisms of each elementary stage of the maps that [`thin_to_coefficients`] and
/// [`thin_to_slots`] merge.
pub(crate) fn thin_supports(slot_ring: &Arc<SlotRing>, transform: &dyn SlotTransform) -> Result<[Supports; 2]> {
    Ok([supports(&transform.evaluation(slot_ring)?.merged), supports(&transform.interpolation(slot_ring)?.merged)])
}

/// The thin map from slots to coefficients, first stage first; `ends` says after which elementary
/// stages a merged one ends, ascending, the last being
/// [`SlotTransform::stage_count`].
///
/// Stages may be meant for slots with integers: see [`SlotTransform::fixed_step`].
pub(crate) fn thin_to_coefficients(
    slot_ring: &Arc<SlotRing>,
    transform: &dyn SlotTransform,
    ends: &[usize],
) -> Result<Vec<LinearMap>> {
    merge(transform.evaluation(slot_ring)?, &ends.into(), fixed(slot_ring, transform).as_ref())
}

/// The thin map from coefficients to slots without its trace, first stage first; the partition
/// counts from the side of the coefficients.
///
/// For powers of two its constants are integers, or elements of Z_{p^r}\[Y\], and the trace has to
/// follow, or the slots to hold such elements: see [`SlotTransform::fixed_step`].
pub(crate) fn thin_to_slots(
    slot_ring: &Arc<SlotRing>,
    transform: &dyn SlotTransform,
    ends: &[usize],
) -> Result<Vec<LinearMap>> {
    merge(transform.interpolation(slot_ring)?, &ends.into(), fixed(slot_ring, transform).as_ref())
}

/// The automorphisms up to those that make no difference to thin maps.
pub(crate) fn fixed(slot_ring: &Arc<SlotRing>, transform: &dyn SlotTransform) -> Option<Fixed> {
    Some(Fixed::new(slot_ring, transform.fixed_step(slot_ring)?))
}

/// From slots `Σ_i c_i·ε_i` (ε of [`Packing::repacked`]) to the element with these coefficients,
/// first stage first.
pub(crate) fn packed_to_coefficients(
    slot_ring: &Arc<SlotRing>,
    transform: &dyn SlotTransform,
    runs: &Runs,
) -> Result<Vec<LinearMap>> {
    merge(transform.packed_evaluation(slot_ring)?, runs, None)
}

/// From an element to slots `Σ_i c_i·η_i` (η of the packing) with its coefficients, first stage
/// first.
pub(crate) fn packed_to_slots(
    slot_ring: &Arc<SlotRing>,
    transform: &dyn SlotTransform,
    runs: &Runs,
    packing: &Packing,
) -> Result<Vec<LinearMap>> {
    merge(transform.packed_interpolation(slot_ring, packing.basis())?, runs, None)
}
