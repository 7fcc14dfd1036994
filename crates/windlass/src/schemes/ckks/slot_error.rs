//! What is known of the error in a ciphertext's own slots: how much came from which source, and
//! through which automorphism.

use std::collections::BTreeMap;

use super::error_model::ErrorModel;

/// Where a random error comes from. Errors of two sources are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The roundings, of rescaling and mod-down.
    Rounding,
    /// The errors of one key: of the Galois key of an element, or of relinearisation (0).
    Key(u64),
    /// The errors of one encryption, named by its second polynomial.
    Fresh(u64),
}

/// More parts than this are not told apart: the largest sum over a ring of 2^16 slots makes fewer,
/// one label of an encryption and one of roundings for each slot, and half as many of keys.
const MOST_PARTS: usize = 1 << 18;

/// The error of the slots, in units of the message: Σ of θ_t(w) over sources w and automorphisms t,
/// and of what is not random.
///
/// The embeddings of a source are uncorrelated, so its images under two automorphisms are too, and
/// deviations of parts with different labels are added in squares. Two errors with one label may be
/// the same: there they are added as they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SlotError {
    /// The deviation of a slot from each (source, t), t modulo four times the number of slots.
    parts: BTreeMap<(Source, u64), f64>,
    /// What may go along with anything.
    certain: f64,
    /// What may be in a slot at most beside that: no deviation, but all of it.
    most: f64,
}

impl SlotError {
    /// An error of which nothing is known but its deviation.
    pub(crate) fn unknown(deviation: f64) -> Self {
        Self { certain: deviation, ..Self::default() }
    }

    /// The deviation of a slot, from above.
    pub(crate) fn deviation(&self) -> f64 {
        let squares: f64 = self.parts.values().map(|part| part * part).sum();
        squares.sqrt() + self.certain
    }

    /// What no slot exceeds but with negligible probability.
    pub(crate) fn bound(&self) -> f64 {
        ErrorModel::BOUND_FACTOR * self.deviation() + self.most
    }

    /// What a source has given as it stands, and the deviation of all the rest, with all that the
    /// bound counts.
    pub(crate) fn split(&self, source: Source) -> (f64, f64) {
        let own = self.parts.get(&(source, 1)).copied().unwrap_or(0.0);
        let others = self.parts.iter().filter(|(label, _)| **label != (source, 1));
        let others = others.map(|(_, part)| part * part).sum::<f64>().sqrt();
        (own, others + self.certain + self.most / ErrorModel::BOUND_FACTOR)
    }

    /// Adds what is not random, or not known to be.
    pub(crate) fn add_certain(&mut self, deviation: f64) {
        self.certain += deviation;
    }

    /// Adds what whoever sees ciphertexts may have put into one slot: its size there.
    pub(crate) fn add_most(&mut self, size: f64) {
        self.most += size;
    }

    /// A source gives more.
    pub(crate) fn add(&mut self, source: Source, deviation: f64) {
        *self.parts.entry((source, 1)).or_insert(0.0) += deviation;
    }

    /// The error of a sum.
    pub(crate) fn absorb(&mut self, other: &Self) {
        for (&label, part) in &other.parts {
            *self.parts.entry(label).or_insert(0.0) += part;
        }
        self.certain += other.certain;
        self.most += other.most;
        if self.parts.len() > MOST_PARTS {
            (self.certain, self.parts) = (self.deviation(), BTreeMap::new());
        }
    }

    /// The error of a multiple by what has absolute value `factor` at most in every slot.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.parts.values_mut().for_each(|part| *part *= factor);
        self.certain *= factor;
        self.most *= factor;
    }

    /// The error of the image under θ_t, of so many slots.
    pub(crate) fn turn(&mut self, t: u64, slots: usize) {
        let order = 4 * slots as u64;
        let parts = std::mem::take(&mut self.parts);
        self.parts = parts.into_iter().map(|((source, u), part)| ((source, t % order * u % order), part)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: Source, deviation: f64) -> SlotError {
        let mut error = SlotError::default();
        error.add(source, deviation);
        error
    }

    fn sum(errors: &[SlotError]) -> f64 {
        let mut sum = SlotError::default();
        errors.iter().for_each(|error| sum.absorb(error));
        sum.deviation()
    }

    fn turned(error: &SlotError, t: u64, slots: usize) -> SlotError {
        let mut error = error.clone();
        error.turn(t, slots);
        error
    }

    #[test]
    fn what_may_be_one_error_is_added_as_it_is() {
        let x = of(Source::Fresh(7), 3.0);
        assert_eq!(sum(&[x.clone(), x.clone()]), 6.0);
        assert_eq!(sum(&[x.clone(), of(Source::Fresh(8), 4.0)]), 5.0);
        assert_eq!(sum(&[x.clone(), turned(&x, 5, 8), SlotError::unknown(1.0)]), 18f64.sqrt() + 1.0);
        // There and back, and around: 5 has order 8 modulo 32.
        let back = turned(&turned(&x, 5, 8), 13, 8);
        assert_eq!(sum(&[x.clone(), back]), 6.0);
        assert_eq!(sum(&[x.clone(), turned(&x, 33, 8)]), 6.0);
        let around = (0..8).fold(x.clone(), |y, _| turned(&y, 5, 8));
        assert_eq!(around, x);
        // One slot and its conjugate.
        assert_eq!(sum(&[of(Source::Key(1), 3.0), turned(&of(Source::Key(1), 4.0), 63, 1)]), 5.0);
        assert_eq!(sum(&[of(Source::Key(1), 3.0), turned(&of(Source::Key(1), 4.0), 5, 1)]), 7.0);
    }

    /// By squares where a sum is one over distinct automorphisms, however it is put together.
    #[test]
    fn sums_over_automorphisms() {
        let step = |error: &SlotError, t: u64| {
            let mut sum = error.clone();
            sum.absorb(&turned(error, t, 64));
            sum
        };
        let powers = [5, 25, 113, 225, 193, 129].map(|t: u64| t % 256);
        let total = |error: &SlotError| powers.iter().fold(error.clone(), |sum, &t| step(&sum, t));
        let once = total(&of(Source::Rounding, 1.0));
        assert!((once.deviation() - 8.0).abs() < 1e-12, "{}", once.deviation());
        assert!((total(&once).deviation() - 64.0 * 8.0).abs() < 1e-9);
    }

    #[test]
    fn the_part_of_one_source_is_told_apart() {
        let mut error = of(Source::Fresh(7), 3.0);
        error.absorb(&of(Source::Key(5), 4.0));
        error.absorb(&turned(&of(Source::Fresh(7), 3.0), 5, 4));
        error.add_certain(2.0);
        assert_eq!(error.split(Source::Fresh(7)), (3.0, 7.0));
        assert_eq!(error.split(Source::Fresh(8)), (0.0, 34f64.sqrt() + 2.0));
        error.scale(2.0);
        assert_eq!(error.split(Source::Fresh(7)), (6.0, 14.0));
    }

    #[test]
    fn too_many_parts_are_one() {
        let mut many = SlotError::default();
        (0..=MOST_PARTS as u64).for_each(|k| many.absorb(&of(Source::Fresh(k), 1.0)));
        let total = many.deviation();
        assert!((total - (MOST_PARTS as f64 + 1.0).sqrt()).abs() < 1e-6, "{total}");
        many.absorb(&of(Source::Fresh(0), 1.0));
        assert_eq!(many.deviation(), total + 1.0);
    }
}
