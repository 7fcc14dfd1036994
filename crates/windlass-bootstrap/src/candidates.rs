//! The candidates of a packed bootstrapping: the ways of unpacking and the orders of the maps among
//! which a specification lets the planner choose.

use windlass_ring::slots::SlotRing;
use windlass_rlwe::RlweParams;
use windlass_schemes::error::{BootstrapError, Result};

use super::maps;
use super::partition::constant_bytes;
use super::spec::{BootstrapSpec, MAX_CHOSEN_BYTES, Order, Unpacking};

/// The orders that the specification leaves to choose among.
pub(super) fn orders(params: &RlweParams, spec: &BootstrapSpec) -> Vec<Order> {
    match spec.order {
        Order::Automatic if params.m().is_power_of_two() => vec![Order::ToCoefficientsFirst, Order::ToCoefficientsLast],
        Order::Automatic => vec![Order::ToCoefficientsLast],
        given => vec![given],
    }
}

/// What the specification leaves to choose among: none of them is [`Unpacking::Automatic`].
///
/// # Errors
/// [`BootstrapError::Unsupported`] for monomials where m is not a power of two or the stages are
/// not linear over what they split, and for constants that do not fit into memory.
pub(super) fn candidates(params: &RlweParams, working: &SlotRing, spec: &BootstrapSpec) -> Result<Vec<Unpacking>> {
    let unsupported = |what: String| Err(BootstrapError::Unsupported { what }.into());
    if !params.m().is_power_of_two() {
        return match spec.unpacking {
            Unpacking::Automatic | Unpacking::Constants => Ok(vec![Unpacking::Constants]),
            _ => unsupported(format!(
                "monomials unpack only if m is a power of two, but m = {}; use Unpacking::Constants",
                params.m()
            )),
        };
    }
    // Upper bounds: everything at the top level.
    let d = working.degree();
    let bytes = constant_bytes(params, params.top_level());
    let transforms = spec.transform.choices(params.m(), working.prime())?;
    if !transforms.iter().any(|transform| transform.allows_monomials()) {
        // Of pairs of slots 2d constants, and d to unpack.
        return match spec.unpacking {
            Unpacking::Automatic | Unpacking::Constants if 3 * d * bytes <= MAX_CHOSEN_BYTES => {
                Ok(vec![Unpacking::Constants])
            }
            _ => unsupported(format!("these stages unpack by up to {} constants; use Transform::RADIX2", 3 * d)),
        };
    }
    let fits = d * d * bytes <= MAX_CHOSEN_BYTES;
    match spec.unpacking {
        Unpacking::Constants if !fits => {
            let size = (d * d * bytes) as f64 / 1e9;
            unsupported(format!("{} constants would take up to {size:.0} GB; use Unpacking::Monomials", d * d))
        }
        Unpacking::Constants => Ok(vec![Unpacking::Constants]),
        Unpacking::Monomials => Ok(vec![Unpacking::Monomials]),
        Unpacking::MonomialsInSlots => Ok(vec![Unpacking::MonomialsInSlots]),
        Unpacking::Automatic => {
            let [elements, _] = maps::splits(params.m(), working.prime());
            let mut choices = vec![Unpacking::Monomials];
            // With one element nothing is gained by maps inside the slots; splitting after them
            // costs as much capacity as constants do.
            if !elements.is_empty() && fits {
                choices.push(Unpacking::Constants);
            }
            Ok(choices)
        }
    }
}
