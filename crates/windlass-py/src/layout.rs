//! How an array lies in ciphertexts: each row begins a new one and takes as many as it needs.

use std::ops::Range;

/// The shape of an encrypted array: `rows` vectors of `length` entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// What NumPy calls the shape, without the coefficients of slots of higher degree.
    pub dims: Vec<usize>,
    /// The product of all dimensions but the last that is packed.
    pub rows: usize,
    /// Entries of a row.
    pub length: usize,
}

impl Layout {
    /// An array whose last dimension is packed into slots.
    pub fn of_shape(dims: &[usize]) -> Self {
        let (rows, length) = match dims.split_last() {
            Some((&length, leading)) => (leading.iter().product(), length),
            None => (1, 1),
        };
        Self { dims: dims.to_vec(), rows, length }
    }

    /// The same rows with another number of entries.
    pub fn with_length(&self, length: usize) -> Self {
        let mut dims = self.dims.clone();
        match dims.last_mut() {
            Some(last) => *last = length,
            None => dims.push(length),
        }
        Self { dims, rows: self.rows, length }
    }

    /// One entry for each row, the last dimension gone.
    pub fn summed(&self) -> Self {
        let dims = self.dims.split_last().map_or(Vec::new(), |(_, leading)| leading.to_vec());
        Self { dims, rows: self.rows, length: 1 }
    }

    /// Ciphertexts of one row where each holds `slots` entries.
    pub fn chunks(&self, slots: usize) -> usize {
        self.length.div_ceil(slots).max(1)
    }

    /// The entries of chunk `chunk` of a row.
    pub fn entries(&self, chunk: usize, slots: usize) -> Range<usize> {
        (chunk * slots).min(self.length)..((chunk + 1) * slots).min(self.length)
    }

    /// All numbers together.
    pub fn count(&self) -> usize {
        self.rows * self.length
    }

    /// The shape in Python's notation.
    pub fn in_words(&self) -> String {
        let dims: Vec<String> = self.dims.iter().map(usize::to_string).collect();
        if dims.len() == 1 { format!("({},)", dims[0]) } else { format!("({})", dims.join(", ")) }
    }
}
