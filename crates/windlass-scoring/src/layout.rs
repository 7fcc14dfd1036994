//! The places of rows and scores in the slots.

use windlass::circuits::{TraceChain, TracePlan, TraceSpec};
use windlass::rlwe::Limits;
use windlass::{Error, Result};

/// The places of rows and scores in the slots.
///
/// A row of f features occupies a field of 2^k ≥ f slots, and a ciphertext holds as many fields as
/// fit. A row that is longer than a ciphertext occupies ⌈f/slots⌉ ciphertexts, which it does not
/// share. The scores of C classes are returned in the first C slots of the field, or of the one
/// ciphertext that a long row gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLayout {
    features: usize,
    classes: usize,
    slots: usize,
}

/// The maximum number of features. A row of that length is a gigabyte of ciphertexts.
pub const MOST_FEATURES: usize = 1 << 24;

/// The maximum number of classes.
pub const MOST_CLASSES: usize = 1 << 10;

impl RowLayout {
    /// Rows of `features` values and their scores for `classes` classes, in ciphertexts of `slots`
    /// slots (a power of two).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `features` or `classes` is 0 or above [`MOST_FEATURES`] or
    /// [`MOST_CLASSES`], or if there are more classes than slots; [`Error::SlotCount`] if the
    /// number of slots is not a power of two.
    pub fn new(features: usize, classes: usize, slots: usize) -> Result<Self> {
        if !slots.is_power_of_two() {
            return Err(Error::SlotCount { got: slots, most: 1 << slots.checked_ilog2().unwrap_or(0) });
        }
        Limits::between(1, MOST_FEATURES).check("the number of features", features)?;
        Limits::between(1, MOST_CLASSES.min(slots)).check("the number of classes", classes)?;
        Ok(Self { features, classes, slots })
    }

    /// f.
    pub fn features(&self) -> usize {
        self.features
    }

    /// C.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Slots of a ciphertext.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Slots of a field: a power of two, at least 2, so that every shape has a sum and needs keys.
    pub fn width(&self) -> usize {
        self.features.next_power_of_two().max(self.period()).max(2).min(self.slots)
    }

    /// Rows in one ciphertext.
    pub fn rows(&self) -> usize {
        self.slots / self.width()
    }

    /// Ciphertexts of one row.
    pub fn parts(&self) -> usize {
        self.features.div_ceil(self.slots)
    }

    /// Ciphertexts of `count` rows.
    pub fn ciphertexts(&self, count: usize) -> usize {
        count.div_ceil(self.rows()) * self.parts()
    }

    /// C rounded up to a power of two. Slot i of a field belongs to class i modulo this number.
    fn period(&self) -> usize {
        self.classes.next_power_of_two()
    }

    /// The shape of the array in the slots of `count` encrypted rows. A row that is longer than a
    /// ciphertext is one row of the array. Shorter rows form a single row of the array: all fields
    /// one after another, up to the last feature.
    pub fn query_shape(&self, count: usize) -> [usize; 2] {
        self.shape(count, self.features)
    }

    /// The shape of the array of scores of `count` rows, likewise up to the last score.
    pub fn answer_shape(&self, count: usize) -> [usize; 2] {
        self.shape(count, self.classes)
    }

    fn shape(&self, count: usize, length: usize) -> [usize; 2] {
        if self.parts() == 1 { [1, count.saturating_sub(1) * self.width() + length] } else { [count, length] }
    }

    /// The number of rows of this length in an array; `None` if the array does not fit this layout.
    fn count(&self, [rows, columns]: [u64; 2], length: usize) -> Option<usize> {
        let (length, width) = (length as u64, self.width() as u64);
        let count = match (self.parts(), columns.checked_sub(length)) {
            (1, Some(before)) if rows == 1 && before.is_multiple_of(width) => before / width + 1,
            (2.., Some(0)) if rows > 0 => rows,
            _ => return None,
        };
        usize::try_from(count).ok()
    }

    /// The number of encrypted rows of an array in this many ciphertexts; `None` if the array does
    /// not fit this layout.
    pub fn encrypted_rows(&self, shape: [u64; 2], ciphertexts: usize) -> Option<usize> {
        let count = self.count(shape, self.features)?;
        (count.div_ceil(self.rows()).checked_mul(self.parts()) == Some(ciphertexts)).then_some(count)
    }

    /// The number of scored rows of an array; `None` if the array does not fit this layout.
    pub fn scored_rows(&self, shape: [u64; 2]) -> Option<usize> {
        self.count(shape, self.classes)
    }

    /// The slots of each ciphertext, for rows of standardised features.
    pub(crate) fn pack(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut packed = Vec::with_capacity(self.ciphertexts(rows.len()));
        for rows in rows.chunks(self.rows()) {
            let mut slots = vec![0.0; self.parts() * self.slots];
            for (row, field) in rows.iter().zip(slots.chunks_exact_mut(self.width().max(self.features))) {
                field[..row.len()].copy_from_slice(row);
            }
            packed.extend(slots.chunks_exact(self.slots).map(<[f64]>::to_vec));
        }
        packed
    }

    /// The scores `[rows][classes]` in the rows of a decrypted array.
    pub(crate) fn unpack(&self, array: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let width = if self.parts() == 1 { self.width() } else { self.classes };
        array.iter().flat_map(|row| row.chunks(width)).map(|field| field[..self.classes].to_vec()).collect()
    }

    /// Sets the slot of every score of the first `rows` fields to a value, and all other slots to
    /// zero.
    pub(crate) fn in_scores(&self, rows: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut slots = vec![0.0; self.slots];
        for field in slots.chunks_exact_mut(self.width()).take(rows) {
            field[..self.classes].iter_mut().enumerate().for_each(|(class, slot)| *slot = value(class));
        }
        slots
    }

    /// The entries (row, column, class, feature) of the matrix of one part, which multiplies all
    /// features by the weights of all classes. Feature k of class c is assigned to the first slot
    /// from k on that belongs to class c. The sum over the slots of a class is its score. All
    /// entries lie on few diagonals: as many as the period, and twice as many if a field is full.
    pub(crate) fn entries(&self, part: usize) -> impl Iterator<Item = (usize, usize, usize, usize)> {
        let Self { features, classes, slots } = *self;
        let (width, period) = (self.width(), self.period());
        let here = features.saturating_sub(part * slots).min(slots);
        let place = move |k: usize, class: usize| {
            let slot = k + (class + period - k % period) % period;
            // Past the end of a field the slot one period before is used. A field of all slots
            // wraps around.
            match slot < width {
                true => slot,
                false if width == slots => slot - slots,
                false => slot - period,
            }
        };
        let fields = (0..slots).step_by(width);
        fields.flat_map(move |field| {
            (0..here).flat_map(move |k| {
                (0..classes).map(move |class| (field + place(k, class), field + k, class, part * slots + k))
            })
        })
    }

    /// The sum over the slots of each class in a field, starting at the first of them.
    ///
    /// # Errors
    /// None if [`Self::new`] made the layout and the ring has at least as many slots.
    pub fn sum(&self, conductor: u64) -> Result<TracePlan> {
        let (period, count) = (self.period() as u64, (self.width() / self.period()) as u64);
        TracePlan::new(&TraceChain::window(conductor, period, count)?, &TraceSpec::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [(usize, usize, usize); 9] =
        [(3, 1, 16), (4, 1, 16), (5, 2, 16), (8, 3, 32), (16, 4, 16), (1, 5, 8), (20, 1, 8), (21, 3, 8), (1, 1, 8)];

    #[test]
    fn the_matrix_and_the_sum_give_every_score() {
        for (features, classes, slots) in SHAPES {
            let layout = RowLayout::new(features, classes, slots).unwrap();
            let weight = |class: usize, k: usize| ((class * 37 + k * 11) as f64).sin();
            let count = 2 * layout.rows() + 1;
            let rows: Vec<Vec<f64>> =
                (0..count).map(|j| (0..features).map(|k| ((j * 7 + k * 3) as f64).cos()).collect()).collect();
            let mut outputs = Vec::new();
            for parts in layout.pack(&rows).chunks(layout.parts()) {
                let mut image = vec![0.0; slots];
                for (part, input) in parts.iter().enumerate() {
                    layout.entries(part).for_each(|(i, j, class, k)| image[i] += weight(class, k) * input[j]);
                }
                let (period, steps) = (layout.period(), layout.width() / layout.period());
                let sum = |i: usize| (0..steps).map(|step| image[(i + step * period) % slots]).sum();
                outputs.push((0..slots).map(sum).collect::<Vec<f64>>());
            }
            let [array_rows, columns] = layout.answer_shape(count);
            let each = outputs.len() / array_rows;
            let array: Vec<Vec<f64>> = outputs.chunks(each).map(|row| row.concat()[..columns].to_vec()).collect();
            let scores = layout.unpack(&array);
            assert_eq!(scores.len(), count, "{layout:?}");
            for (row, scores) in rows.iter().zip(scores) {
                for (class, score) in scores.into_iter().enumerate() {
                    let expected: f64 = row.iter().enumerate().map(|(k, x)| x * weight(class, k)).sum();
                    assert!((score - expected).abs() < 1e-9, "{layout:?} class {class}: {score}, {expected}");
                }
            }
        }
    }

    #[test]
    fn arrays_say_how_many_rows_they_hold() {
        for (features, classes, slots) in SHAPES {
            let layout = RowLayout::new(features, classes, slots).unwrap();
            for count in 1..20 {
                let shape = layout.query_shape(count).map(|length| length as u64);
                let ciphertexts = layout.ciphertexts(count);
                assert_eq!(layout.encrypted_rows(shape, ciphertexts), Some(count));
                assert_eq!(layout.encrypted_rows(shape, ciphertexts + 1), None);
                assert_eq!(layout.encrypted_rows([shape[0], shape[1] + 1], ciphertexts), None);
                assert_eq!(layout.scored_rows(layout.answer_shape(count).map(|length| length as u64)), Some(count));
            }
            for shape in [[1, 0], [0, 0], [u64::MAX, u64::MAX], [2, u64::MAX], [0, features as u64]] {
                assert_eq!(layout.encrypted_rows(shape, 1), None, "{layout:?} {shape:?}");
            }
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        for (features, classes, slots) in [(0, 1, 8), (MOST_FEATURES + 1, 1, 8), (3, 0, 8), (3, 9, 8), (3, 1025, 4096)]
        {
            assert!(matches!(RowLayout::new(features, classes, slots), Err(Error::OutOfRange(_))));
        }
        for slots in [0, 3, 24] {
            assert!(matches!(RowLayout::new(3, 1, slots), Err(Error::SlotCount { .. })));
        }
    }
}
