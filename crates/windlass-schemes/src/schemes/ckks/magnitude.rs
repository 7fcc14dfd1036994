//! Bounds on the absolute values of slots.

/// What is known of the absolute values of a vector of slots.
///
/// The first `count` slots are its *entries*, the values that the user means. The values in the
/// other slots (zeros that pad a vector, parts of sums that a folded matrix leaves) have a separate
/// bound, so that the bounds on the entries do not depend on them. A third bound is that on the
/// Euclidean norm of the entries, which bounds products with matrices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Magnitude {
    slots: usize,
    /// From 1 to `slots`.
    count: usize,
    /// Bound on each of the first `count` slots.
    entries: f64,
    /// Bound on each of the others; 0 if all slots are entries.
    rest: f64,
    /// Bound on √Σ|m_j|² over the entries.
    norm: f64,
    /// Bound on every slot of the sums of products of one matrix, while they are added up.
    limit: f64,
}

impl Magnitude {
    /// So many slots, all of them entries, none above a bound.
    pub fn of(slots: usize, bound: f64) -> Self {
        Self { slots, count: slots, entries: bound, rest: 0.0, norm: root(slots) * bound, limit: f64::INFINITY }
    }

    /// The absolute values of public numbers; entries are the first `count`, 1 or more.
    pub fn measured(values: &[num_complex::Complex64], count: usize) -> Self {
        let (first, others) = values.split_at(count.min(values.len()));
        let largest = |part: &[num_complex::Complex64]| part.iter().map(|z| z.norm()).fold(0.0, f64::max);
        let (entries, rest) = (largest(first), largest(others));
        let scale = if entries.max(rest) > 0.0 { entries.max(rest) } else { 1.0 };
        // No square leaves the doubles.
        let squares: f64 = first.iter().map(|z| (z / scale).norm_sqr()).sum();
        let norm = squares.sqrt() * scale * (1.0 + ROUNDING);
        Self { slots: values.len(), count: first.len(), entries, rest, norm, limit: f64::INFINITY }
    }

    /// What a file states of it: (entries, bound on the rest), if entries are distinguished.
    pub fn from_file(slots: usize, entries: f64, beside: Option<(usize, f64)>) -> Self {
        let (count, rest) = beside.unwrap_or((slots, 0.0));
        Self { slots, count, entries, rest, norm: f64::INFINITY, limit: f64::INFINITY }.tightened()
    }

    /// As [`Self::from_file`] takes it.
    pub fn to_file(self) -> (f64, Option<(usize, f64)>) {
        (self.entries, (self.count < self.slots).then_some((self.count, self.rest)))
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The number of entries.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bound on the entries.
    pub fn entries(&self) -> f64 {
        self.entries
    }

    /// Bound on the slots beside the entries; 0 if all slots are entries.
    pub fn rest(&self) -> f64 {
        self.rest
    }

    /// Bound on every slot.
    pub fn largest(&self) -> f64 {
        self.entries.max(self.rest)
    }

    /// Bound on the first `count` slots.
    pub fn below(&self, count: usize) -> f64 {
        if count <= self.count { self.entries } else { self.largest() }
    }

    /// Bound on the Euclidean norm of the first `count` slots.
    pub fn norm_below(&self, count: usize) -> f64 {
        let others = root(count.saturating_sub(self.count)) * self.rest;
        self.norm.hypot(others).min(root(count) * self.below(count))
    }

    /// Bound on the slots from `count` on.
    fn beyond(&self, count: usize) -> f64 {
        match count {
            _ if count >= self.slots => 0.0,
            _ if count >= self.count => self.rest,
            _ => self.largest(),
        }
    }

    /// The same slots, of which the first `count` are entries.
    pub fn with_entries(self, count: usize) -> Self {
        let count = count.clamp(1, self.slots);
        Self { count, entries: self.below(count), rest: self.beyond(count), norm: self.norm_below(count), ..self }
    }

    /// As [`Self::with_entries`], with zeros beside them.
    pub fn with_zeros_beside(self, count: usize) -> Self {
        Self { rest: 0.0, ..self.with_entries(count) }.tightened()
    }

    /// The same slots, of whose entries another bound is known.
    pub fn assumed(self, bound: f64) -> Self {
        Self { entries: self.entries.min(bound), ..self }.tightened()
    }

    /// The same slots, none of which is above a bound.
    pub fn limited(self, bound: f64) -> Self {
        Self { entries: self.entries.min(bound), rest: self.rest.min(bound), ..self }.tightened()
    }

    /// The same slots, in sums of which no slot is above a bound.
    pub fn with_limit(self, limit: f64) -> Self {
        Self { limit, ..self }
    }

    /// The same slots, of the norm of whose entries another bound is known.
    pub fn with_norm(self, norm: f64) -> Self {
        Self { norm: self.norm.min(norm), ..self }.tightened()
    }

    /// The slots after an automorphism: which of them were entries is no longer known.
    pub fn moved(self) -> Self {
        self.with_entries(self.slots)
    }

    /// The vector as one of more slots, which it fills by repetition.
    pub fn repeated(self, slots: usize) -> Self {
        if slots == self.slots {
            return self;
        }
        let all = self.moved();
        Self { slots, count: slots, norm: all.norm * root(slots / self.slots), ..all }
    }

    /// A multiple.
    pub fn scaled(self, factor: f64) -> Self {
        Self { entries: self.entries * factor, rest: self.rest * factor, norm: self.norm * factor, ..self }
    }

    /// Of a sum.
    pub fn plus(self, other: Self) -> Self {
        let [a, b] = self.beside(other);
        let limit = a.limit.max(b.limit);
        let sum = Self { entries: a.entries + b.entries, rest: a.rest + b.rest, norm: a.norm + b.norm, limit, ..a };
        if limit.is_finite() { sum.limited(limit) } else { sum.tightened() }
    }

    /// Of a product, slot by slot.
    pub fn times(self, other: Self) -> Self {
        let [a, b] = self.beside(other);
        let norm = (a.norm * b.entries).min(a.entries * b.norm);
        Self { entries: a.entries * b.entries, rest: a.rest * b.rest, norm, ..a }.tightened()
    }

    /// Two vectors with as many slots and entries: what is an entry of either is one of both.
    fn beside(self, other: Self) -> [Self; 2] {
        let slots = self.slots.max(other.slots);
        let [a, b] = [self, other].map(|x| x.repeated(slots));
        let count = a.count.max(b.count);
        [a, b].map(|x| x.with_entries(count))
    }

    /// No entry is above the norm, and no norm above that of entries at their bounds.
    fn tightened(self) -> Self {
        let norm = self.norm.min(root(self.count) * self.entries);
        // Room for the rounding.
        Self { entries: self.entries.min(norm * (1.0 + ROUNDING)), norm, ..self }
    }
}

/// Roundings of sums of squares, from above.
const ROUNDING: f64 = 1.0 / (1u64 << 40) as f64;

fn root(count: usize) -> f64 {
    (count as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use num_complex::Complex64;

    use super::*;

    /// Vectors of 8 slots with what is known of them.
    fn samples() -> Vec<(Vec<Complex64>, Magnitude)> {
        let vector = |values: [f64; 8]| values.map(Complex64::from).to_vec();
        let of = |values: [f64; 8], count| {
            let values = vector(values);
            let known = Magnitude::measured(&values, count);
            (values, known)
        };
        vec![
            of([1.0, -2.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0], 3),
            of([1.0, -2.0, 0.5, 9.0, -7.0, 0.0, 0.0, 3.0], 3),
            of([0.25, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, -4.5], 5),
            of([3.0; 8], 8),
            (vector([0.5, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), Magnitude::of(8, 1.0).with_zeros_beside(2)),
        ]
    }

    fn holds(what: &str, values: &[Complex64], known: Magnitude) {
        assert_eq!(values.len(), known.slots(), "{what}");
        for (j, z) in values.iter().enumerate() {
            let bound = if j < known.count() { known.entries() } else { known.rest() };
            assert!(z.norm() <= bound * (1.0 + 1e-9), "{what}: slot {j} is {z}, stated {bound}");
        }
        let norm = values[..known.count()].iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        assert!(norm <= known.norm * (1.0 + 1e-9), "{what}: norm {norm}, stated {}", known.norm);
    }

    #[test]
    fn bounds_hold_for_sums_and_products() {
        for (x, a) in samples() {
            holds("itself", &x, a);
            for count in 1..=8 {
                holds("other entries", &x, a.with_entries(count));
            }
            holds("moved", &x.iter().rev().copied().collect::<Vec<_>>(), a.moved());
            holds("repeated", &x.repeat(2), a.repeated(16));
            for (y, b) in samples() {
                let zip = |f: fn(Complex64, Complex64) -> Complex64| -> Vec<Complex64> {
                    x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect()
                };
                holds("sum", &zip(|x, y| x + y), a.plus(b));
                holds("product", &zip(|x, y| x * y), a.times(b));
                let wide: Vec<Complex64> = x.iter().chain(&x).zip(y.iter().chain(&y)).map(|(x, y)| x + y).collect();
                holds("sum with a longer vector", &wide, a.repeated(16).plus(b));
            }
        }
    }

    /// A slot beside the entries of both is not an entry of the sum; an entry of either is an entry
    /// of the sum.
    #[test]
    fn entries_are_those_of_either() {
        let padded = |count, bound| Magnitude::of(8, bound).with_zeros_beside(count);
        let (a, b) = (padded(3, 1.0), padded(5, 2.0));
        let sum = a.plus(b);
        assert_eq!((sum.count(), sum.entries(), sum.rest()), (5, 3.0, 0.0));
        assert_eq!(a.times(Magnitude::of(8, 2.0)).count(), 8);
        let folded = Magnitude::of(8, 20.0).with_entries(2);
        assert_eq!((folded.assumed(4.0).entries(), folded.assumed(4.0).rest()), (4.0, 20.0));
        assert_eq!((folded.limited(4.0).entries(), folded.limited(4.0).rest()), (4.0, 4.0));
        assert_eq!(folded.assumed(4.0).moved().entries(), 20.0);
    }
}
