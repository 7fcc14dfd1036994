//! Vectors in the types that callers have.

use crate::error::{Error, Result};

/// Numbers, row by row.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
    /// Integers, taken as they are.
    I8(&'a [i8]),
}

impl Values<'_> {
    /// How many numbers.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::I8(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Vectors of one dimension, all their numbers finite.
#[derive(Debug, Clone, Copy)]
pub struct Vectors<'a> {
    values: Values<'a>,
    dimension: usize,
}

impl<'a> Vectors<'a> {
    /// Vectors of `dimension` numbers each.
    ///
    /// # Errors
    /// [`Error::Empty`] if there is no vector; [`Error::Ragged`] if the last is not whole;
    /// [`Error::NotFinite`].
    pub fn new(values: Values<'a>, dimension: usize) -> Result<Self> {
        if values.is_empty() || dimension == 0 {
            return Err(Error::Empty);
        }
        if values.len() % dimension != 0 {
            return Err(Error::Ragged { values: values.len(), dimension });
        }
        let unfit = match values {
            Values::F32(values) => values.iter().position(|x| !x.is_finite()),
            Values::F64(values) => values.iter().position(|x| !is_usual(*x)),
            Values::I8(_) => None,
        };
        match unfit {
            Some(place) => Err(Error::NotFinite { vector: place / dimension, dimension: place % dimension }),
            None => Ok(Self { values, dimension }),
        }
    }

    /// D.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many vectors.
    pub fn count(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// The numbers of a vector that are integers already.
    pub(super) fn integers(&self) -> Option<&'a [i8]> {
        match self.values {
            Values::I8(values) => Some(values),
            _ => None,
        }
    }

    /// Writes one vector as doubles.
    pub fn read(&self, vector: usize, out: &mut [f64]) {
        let range = vector * self.dimension..(vector + 1) * self.dimension;
        match self.values {
            Values::F32(values) => out.iter_mut().zip(&values[range]).for_each(|(out, &x)| *out = x.into()),
            Values::F64(values) => out.copy_from_slice(&values[range]),
            Values::I8(values) => out.iter_mut().zip(&values[range]).for_each(|(out, &x)| *out = x.into()),
        }
    }
}

/// Whether a number is 0, or one whose square is neither infinite nor lost.
fn is_usual(x: f64) -> bool {
    x == 0.0 || (1e-140..=1e140).contains(&x.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_vector_is_refused() {
        assert!(matches!(Vectors::new(Values::F64(&[]), 3), Err(Error::Empty)));
        assert!(matches!(Vectors::new(Values::F64(&[1.0]), 0), Err(Error::Empty)));
        let ragged = Vectors::new(Values::I8(&[1, 2, 3]), 2).unwrap_err();
        assert_eq!(ragged, Error::Ragged { values: 3, dimension: 2 });
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let refused = Vectors::new(Values::F32(&[1.0, 2.0, 3.0, bad]), 2).unwrap_err();
            assert_eq!(refused, Error::NotFinite { vector: 1, dimension: 1 });
        }
    }

    #[test]
    fn vectors_are_read_one_by_one() {
        let vectors = Vectors::new(Values::I8(&[1, -2, 3, 4]), 2).unwrap();
        let mut out = [0.0; 2];
        vectors.read(1, &mut out);
        assert_eq!((vectors.count(), vectors.dimension(), out), (2, 2, [3.0, 4.0]));
    }
}
