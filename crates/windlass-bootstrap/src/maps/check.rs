//! Tests whether the linear maps of a custom transform are correct, before the transform is used.
//!
//! A refresh changes the integers between the two maps, each coefficient for itself. So the first map
//! must put each integer into a separate coefficient. The second must return the integer in that
//! coefficient, whatever the remaining coefficients hold. If a map is wrong anywhere, a random plaintext shows it with
//! probability at least 1 − 1/p. The test uses enough plaintexts to find all wrong maps except with
//! probability 2^−40.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_circuits::LinearMap;
use windlass_ring::slots::SlotRing;
use windlass_schemes::error::{BootstrapError, Result};
use windlass_schemes::plaintext::Plaintext;

use super::merge::Runs;
use super::trace::trace_stages;
use super::transform::SlotTransform;
use super::whole::{packed_to_coefficients, packed_to_slots, thin_to_coefficients, thin_to_slots};

/// Tries the thin maps.
///
/// # Errors
/// [`BootstrapError::Unsupported`] for maps that are no transform.
pub(crate) fn check_thin(slot_ring: &Arc<SlotRing>, transform: &dyn SlotTransform) -> Result<()> {
    let ends = elementary(transform.stage_count(slot_ring.hypercube())?);
    let forth = thin_to_coefficients(slot_ring, transform, &ends)?;
    let mut back = thin_to_slots(slot_ring, transform, &ends)?;
    back.extend(trace_stages(slot_ring)?);
    // Where ones come to are the places of all integers.
    let ones = image(&forth, &Plaintext::from_integers(slot_ring, &vec![1; slot_ring.slots()])?)?;
    let place: Vec<bool> = ones.coefficients().iter().map(|&x| x == 1).collect();
    require(transform, ones.coefficients().iter().sum::<u64>() == slot_ring.slots() as u64)?;
    let mut random = Residues::new(slot_ring);
    for _ in 0..random.rounds() {
        let integers = random.list(slot_ring.slots());
        let thin = Plaintext::from_integers(slot_ring, &integers)?;
        let coefficients = image(&forth, &thin)?.into_coefficients();
        let (at_places, elsewhere): (Vec<_>, Vec<_>) = coefficients.iter().zip(&place).partition(|(_, place)| **place);
        let at_places = at_places.into_iter().map(|(&x, _)| x).collect();
        require(transform, sorted(at_places) == sorted(integers) && elsewhere.iter().all(|(x, _)| **x == 0))?;
        let others = random.list(slot_ring.n());
        let kept = coefficients.iter().zip(&place).zip(&others);
        let filled = kept.map(|((&x, &place), &other)| if place { x } else { other }).collect();
        require(transform, image(&back, &Plaintext::new(slot_ring, filled)?)? == thin)?;
    }
    Ok(())
}

/// Tries the maps of packed mode, with unpacking and repacking between them.
///
/// # Errors
/// As [`check_thin`].
pub(crate) fn check_packed(slot_ring: &Arc<SlotRing>, transform: &dyn SlotTransform) -> Result<()> {
    let runs = Runs::from(&*elementary(transform.packed_stage_count(slot_ring.hypercube())?));
    let packing = transform.packing(slot_ring);
    let to_slots = packed_to_slots(slot_ring, transform, &runs, &packing)?;
    let to_coefficients = packed_to_coefficients(slot_ring, transform, &runs)?;
    let (apart, together) = (packing.unpacking_grid(slot_ring)?, packing.repacking_grid(slot_ring)?);
    let mut random = Residues::new(slot_ring);
    for _ in 0..random.rounds() {
        let coefficients = random.list(slot_ring.n());
        let element = Plaintext::new(slot_ring, coefficients.clone())?;
        let parts = apart.apply(&[image(&to_slots, &element)?])?;
        let integers: Option<Vec<Vec<u64>>> = parts.iter().map(|part| part.to_integers().ok()).collect();
        require(transform, integers.is_some_and(|list| sorted(list.concat()) == sorted(coefficients)))?;
        let packed = together.apply(&parts)?.swap_remove(0);
        require(transform, image(&to_coefficients, &packed)? == element)?;
    }
    Ok(())
}

fn require(transform: &dyn SlotTransform, holds: bool) -> Result<()> {
    if holds {
        return Ok(());
    }
    let name = transform.name();
    let what = format!(
        "the maps of {name} must take each slot to a different coefficient and back, but they do not; correct its stages"
    );
    Err(BootstrapError::Unsupported { what }.into())
}

/// No stages merged.
fn elementary(count: usize) -> Vec<usize> {
    (1..=count).collect()
}

fn image(maps: &[LinearMap], x: &Plaintext) -> Result<Plaintext> {
    maps.iter().try_fold(x.clone(), |x, map| map.apply(&x))
}

fn sorted(mut list: Vec<u64>) -> Vec<u64> {
    list.sort_unstable();
    list
}

/// Random residues modulo p^r.
struct Residues {
    rng: ChaCha20Rng,
    modulus: u64,
    prime: u64,
}

impl Residues {
    /// From a fixed seed: plans are the same each time.
    fn new(slot_ring: &SlotRing) -> Self {
        let modulus = slot_ring.modulus();
        Self { rng: ChaCha20Rng::seed_from_u64(1), modulus: modulus.value(), prime: modulus.prime() }
    }

    /// How many plaintexts are tried.
    fn rounds(&self) -> usize {
        (40.0 / (self.prime as f64).log2()).ceil() as usize
    }

    fn list(&mut self, length: usize) -> Vec<u64> {
        (0..length).map(|_| self.rng.next_u64() % self.modulus).collect()
    }
}
