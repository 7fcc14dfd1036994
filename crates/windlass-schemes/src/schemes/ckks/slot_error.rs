//! Tracks the error in a ciphertext's own slots: how much came from each source, and through which
//! automorphism. A ciphertext may have fewer slots than its ring; these are its own.
//!
//! Errors of different sources are independent, so their deviations add in squares. Errors of one
//! source may be equal, so they add directly.

use std::cmp::Ordering;

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
    /// The error of one vector after a matrix, which depends on all that went in.
    Image {
        /// The number of the product.
        number: u64,
        /// A double, in bits: how often the deviation of a slot goes into the root of the largest
        /// eigenvalue of the covariance of all slots.
        ratio: u64,
    },
}

impl Source {
    /// That of an image; see [`Source::Image`].
    pub(crate) fn image(number: u64, ratio: f64) -> Self {
        Self::Image { number, ratio: ratio.max(1.0).to_bits() }
    }

    /// The ratio of an image; the others are independent of each other, with ratio 1.
    fn ratio(self) -> Option<f64> {
        match self {
            Self::Image { ratio, .. } => Some(f64::from_bits(ratio)),
            _ => None,
        }
    }
}

/// A source, and the automorphism that its error went through.
type Label = (Source, u64);

/// More parts than this are not told apart: the largest sum over a ring of 2^16 slots makes fewer,
/// one label of an encryption and one of roundings for each slot, and half as many of keys.
const MOST_PARTS: usize = 1 << 18;

/// So few parts are put in one by one: in sums of many encryptions each brings one.
const FEW: usize = 4;

/// The error of the slots, in units of the message: Σ of θ_t(w) over sources w and automorphisms t,
/// and of what is not random.
///
/// The embeddings of a source are uncorrelated, so its images under two automorphisms are too, and
/// deviations of parts with different labels are added in squares. Two errors with one label may be
/// the same: there they are added as they are. So are images of a matrix and all else; its own
/// automorphic images are added in squares times the square of the ratio, where that is less.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SlotError {
    /// The deviation of a slot from each (source, t), t modulo four times the number of slots: one
    /// entry for each label, in their order.
    parts: Vec<(Label, f64)>,
    /// What may go along with anything.
    certain: f64,
    /// What may be in a slot at most beside that: no deviation, but all of it.
    most: f64,
    /// What may be in a slot at most, and may be there in every slot: it counts as it is in the
    /// deviation and in the bound. So is the distance of a polynomial from a function.
    systematic: f64,
}

impl SlotError {
    /// An error of which nothing is known but its deviation.
    pub(crate) fn unknown(deviation: f64) -> Self {
        Self { certain: deviation, ..Self::default() }
    }

    /// The deviation of a slot, from above.
    #[cfg(test)]
    pub(crate) fn deviation(&self) -> f64 {
        self.random() + self.systematic
    }

    /// The deviation without what is systematic.
    pub(crate) fn random(&self) -> f64 {
        self.deviation_of(|_| true)
    }

    /// What is systematic.
    pub(crate) fn systematic(&self) -> f64 {
        self.systematic
    }

    /// The deviation of the parts with some labels, and of what has none.
    fn deviation_of(&self, counts: impl Fn(&Label) -> bool) -> f64 {
        let (mut squares, mut added) = (0.0, self.certain);
        for group in self.groups() {
            let parts = group.iter().filter(|(label, _)| counts(label)).map(|(_, part)| *part);
            let (sum, own) = parts.fold((0.0, 0.0), |(sum, own), part| (sum + part, own + part * part));
            match group[0].0.0.ratio() {
                Some(ratio) => added += sum.min(ratio * own.sqrt()),
                None => squares += own,
            }
        }
        squares.sqrt() + added
    }

    /// The parts of each source.
    fn groups(&self) -> impl Iterator<Item = &[(Label, f64)]> {
        self.parts.chunk_by(|((a, _), _), ((b, _), _)| a == b)
    }

    /// The root of the largest eigenvalue of the covariance of so many slots and their conjugates,
    /// from above: that of a source is the square of its deviation, that of a sum of its
    /// automorphic images at most the square of the sum of theirs.
    pub(crate) fn spread(&self, slots: usize) -> f64 {
        let (mut squares, mut added) = (0.0, (2.0 * slots as f64).sqrt() * self.certain);
        for group in self.groups() {
            let sum: f64 = group.iter().map(|(_, part)| part).sum();
            match group[0].0.0.ratio() {
                Some(ratio) => added += ratio * sum,
                None => squares += sum * sum,
            }
        }
        squares.sqrt() + added
    }

    /// What may be in a slot at most beside the deviation.
    pub(crate) fn most(&self) -> f64 {
        self.most
    }

    /// What no slot exceeds, except with negligible probability.
    pub(crate) fn bound(&self) -> f64 {
        ErrorModel::BOUND_FACTOR * self.random() + self.most + self.systematic
    }

    /// The part of a source that went through no automorphism, and the deviation of all the rest, both
    /// without [`Self::most`] and [`Self::systematic`].
    pub(crate) fn split(&self, source: Source) -> (f64, f64) {
        let own = self.place(&(source, 1)).map_or(0.0, |at| self.parts[at].1);
        (own, self.deviation_of(|label| *label != (source, 1)))
    }

    /// Adds what is not random, or not known to be.
    pub(crate) fn add_certain(&mut self, deviation: f64) {
        self.certain += deviation;
    }

    /// Adds what a party that sees ciphertexts may have put into one slot: its size there.
    pub(crate) fn add_most(&mut self, size: f64) {
        self.most += size;
    }

    /// Adds what may be in every slot at once: its size in each at most.
    pub(crate) fn add_systematic(&mut self, size: f64) {
        self.systematic += size;
    }

    /// A source gives more.
    pub(crate) fn add(&mut self, source: Source, deviation: f64) {
        self.give((source, 1), deviation);
    }

    /// Where a label stands, or would.
    fn place(&self, label: &Label) -> Result<usize, usize> {
        self.parts.binary_search_by(|(own, _)| own.cmp(label))
    }

    fn give(&mut self, label: Label, deviation: f64) {
        match self.place(&label) {
            Ok(at) => self.parts[at].1 += deviation,
            Err(at) => self.parts.insert(at, (label, deviation)),
        }
    }

    /// The error of a sum.
    pub(crate) fn add_metadata(&mut self, other: &Self) {
        if other.parts.len() <= FEW {
            other.parts.iter().for_each(|&(label, part)| self.give(label, part));
        } else {
            self.parts = joined(&self.parts, &other.parts);
        }
        self.certain += other.certain;
        self.most += other.most;
        self.systematic += other.systematic;
        if self.parts.len() > MOST_PARTS {
            (self.certain, self.parts) = (self.random(), Vec::new());
        }
    }

    /// The error of a multiple by what has absolute value `factor` at most in every slot.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.parts.iter_mut().for_each(|(_, part)| *part *= factor);
        self.certain *= factor;
        self.most *= factor;
        self.systematic *= factor;
    }

    /// The error of the image under θ_t, of so many slots.
    pub(crate) fn turn(&mut self, t: u64, slots: usize) {
        let order = 4 * slots as u64;
        self.parts.iter_mut().for_each(|((_, u), _)| *u = t % order * *u % order);
        self.parts.sort_unstable_by_key(|(label, _)| *label);
    }
}

/// The parts of a sum, where neither has few of them.
fn joined(a: &[(Label, f64)], b: &[(Label, f64)]) -> Vec<(Label, f64)> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    while let (Some((x, part)), Some((y, other))) = (a.peek(), b.peek()) {
        match x.cmp(y) {
            Ordering::Less => all.extend(a.next()),
            Ordering::Greater => all.extend(b.next()),
            Ordering::Equal => {
                all.push((*x, part + other));
                a.next();
                b.next();
            }
        }
    }
    all.extend(a);
    all.extend(b);
    all
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
        errors.iter().for_each(|error| sum.add_metadata(error));
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
            sum.add_metadata(&turned(error, t, 64));
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
        error.add_metadata(&of(Source::Key(5), 4.0));
        error.add_metadata(&turned(&of(Source::Fresh(7), 3.0), 5, 4));
        error.add_certain(2.0);
        assert_eq!(error.split(Source::Fresh(7)), (3.0, 7.0));
        assert_eq!(error.split(Source::Fresh(8)), (0.0, 34f64.sqrt() + 2.0));
        error.scale(2.0);
        assert_eq!(error.split(Source::Fresh(7)), (6.0, 14.0));
    }

    /// However many parts come together: in order, and each label once.
    #[test]
    fn sums_of_many_parts_are_those_of_each() {
        let some = |from: u64, count: u64, deviation: f64| {
            let parts: Vec<SlotError> = (from..from + count).map(|k| of(Source::Key(3 * k % 64), deviation)).collect();
            parts.iter().fold(SlotError::default(), |mut sum, part| {
                sum.add_metadata(part);
                sum
            })
        };
        for (from, count) in [(0, 3), (0, 40), (17, 40), (40, 20), (60, 9)] {
            let (one, other) = (some(0, 40, 3.0), some(from, count, 4.0));
            let mut sum = one.clone();
            sum.add_metadata(&other);
            assert!(sum.parts.is_sorted_by(|a, b| a.0 < b.0));
            let part = |error: &SlotError, k| error.split(Source::Key(k)).0;
            (0..64).for_each(|k| assert_eq!(part(&sum, k), part(&one, k) + part(&other, k)));
            let turned = turned(&sum, 5, 8);
            assert!(turned.parts.is_sorted_by(|a, b| a.0 < b.0) && turned.deviation() == sum.deviation());
        }
    }

    /// The error of an image goes along with what it was made from; its sum over automorphisms grows
    /// as its covariance allows.
    #[test]
    fn images_of_matrices_are_added_as_they_are() {
        let (x, y) = (of(Source::Fresh(7), 3.0), of(Source::image(1, 2.0), 4.0));
        assert_eq!(sum(&[x.clone(), y.clone()]), 7.0);
        assert_eq!(sum(&[y.clone(), of(Source::image(2, 1.0), 4.0)]), 8.0);
        assert_eq!(sum(&[y.clone(), turned(&y, 5, 8)]), 8.0);
        let powers = (0..16u64).scan(1u64, |power, _| Some(std::mem::replace(power, *power * 5 % 256)));
        let total: Vec<SlotError> = powers.map(|t| turned(&y, t, 64)).collect();
        assert_eq!(sum(&total), 2.0 * 4.0 * 4.0);
        assert_eq!(y.spread(64), 8.0);
        assert_eq!(sum(&total), total[0].deviation() * 8.0);
        assert_eq!(x.split(Source::Fresh(7)), (3.0, 0.0));
        let mut both = x.clone();
        both.add_metadata(&y);
        assert_eq!(both.split(Source::Fresh(7)), (3.0, 4.0));
    }

    /// It adds up as it is, and counts once in the bound.
    #[test]
    fn what_is_systematic_is_not_random() {
        let mut error = of(Source::Fresh(7), 3.0);
        error.add_systematic(2.0);
        error.add_metadata(&error.clone());
        error.scale(0.5);
        assert_eq!((error.random(), error.systematic(), error.deviation()), (3.0, 2.0, 5.0));
        assert_eq!(error.bound(), 3.0 * ErrorModel::BOUND_FACTOR + 2.0);
        assert_eq!(error.split(Source::Fresh(7)), (3.0, 0.0));
        assert_eq!(error.spread(8), 3.0);
    }

    #[test]
    fn too_many_parts_are_one() {
        let mut many = SlotError::default();
        (0..=MOST_PARTS as u64).for_each(|k| many.add_metadata(&of(Source::Fresh(k), 1.0)));
        let total = many.deviation();
        assert!((total - (MOST_PARTS as f64 + 1.0).sqrt()).abs() < 1e-6, "{total}");
        many.add_metadata(&of(Source::Fresh(0), 1.0));
        assert_eq!(many.deviation(), total + 1.0);
    }
}
