//! How an array lies in ciphertexts: each row begins a new one and takes as many as it needs.

use std::ops::Range;

/// The shape of an encrypted array: `rows` vectors of `length` entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayLayout {
    /// What NumPy calls the shape, without the coefficients of slots of higher degree.
    pub dims: Vec<usize>,
    /// Vectors, each in ciphertexts of its own.
    pub rows: usize,
    /// Entries of a vector.
    pub length: usize,
}

impl ArrayLayout {
    /// An array whose last dimension is packed into slots.
    pub fn of_shape(dims: &[usize]) -> Self {
        let (rows, length) = match dims.split_last() {
            Some((&length, leading)) => (leading.iter().product(), length),
            None => (1, 1),
        };
        Self { dims: dims.to_vec(), rows, length }
    }

    /// An array each of whose entries lies in a ciphertext of its own.
    pub fn scattered(dims: &[usize]) -> Self {
        Self { dims: dims.to_vec(), rows: dims.iter().product(), length: 1 }
    }

    /// The array of this shape with vectors of this length, if there is one.
    pub fn with_vectors(dims: Vec<usize>, length: usize) -> Option<Self> {
        let count = dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim))?;
        let rows = if length == 1 { count } else { count.checked_div(length)? };
        let packed = dims.last().is_none_or(|&last| last == length);
        (rows > 0 && rows * length == count && (packed || length == 1)).then_some(Self { dims, rows, length })
    }

    /// Whether the last dimension is packed into slots.
    pub fn is_packed(&self) -> bool {
        self.dims.last().is_none_or(|&last| last == self.length)
    }

    /// The same rows with another number of entries.
    pub fn with_length(&self, length: usize) -> Self {
        let mut dims = self.dims.clone();
        if let Some(last) = dims.last_mut() {
            *last = length;
        }
        Self { dims, rows: self.rows, length }
    }

    /// The last dimension gone, each entry in a ciphertext of its own.
    pub fn summed(&self) -> Self {
        Self::scattered(self.dims.split_last().map_or(&[], |(_, leading)| leading))
    }

    /// The dimensions that count rows.
    pub fn leading(&self) -> &[usize] {
        if self.is_packed() { self.dims.split_last().map_or(&[], |(_, leading)| leading) } else { &self.dims }
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
        in_words(&self.dims)
    }
}

/// A shape in Python's notation.
pub fn in_words(dims: &[usize]) -> String {
    let list: Vec<String> = dims.iter().map(usize::to_string).collect();
    if list.len() == 1 { format!("({},)", list[0]) } else { format!("({})", list.join(", ")) }
}
