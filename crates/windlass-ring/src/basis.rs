//! Sets of primes of a ring.

use std::sync::Arc;

/// A set of primes of a [`crate::Ring`], by index, ascending; the rows of a polynomial follow this
/// order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Basis(Arc<[u16]>);

impl Basis {
    /// The primes with the given indices.
    pub fn new(indices: impl IntoIterator<Item = usize>) -> Self {
        let indices: Arc<[u16]> = indices.into_iter().map(|index| index as u16).collect();
        assert!(indices.windows(2).all(|pair| pair[0] < pair[1]), "basis indices ascend");
        Self(indices)
    }

    /// Number of primes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no primes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The prime indices, ascending.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = usize> + Clone + '_ {
        self.0.iter().map(|&index| index as usize)
    }

    /// The prime index of row `row`.
    pub fn index(&self, row: usize) -> usize {
        self.0[row] as usize
    }

    /// The row that belongs to prime `index`, if it is in the basis.
    pub fn row_of(&self, index: usize) -> Option<usize> {
        self.0.binary_search(&(index as u16)).ok()
    }

    /// The primes of both.
    pub fn union(&self, other: &Basis) -> Basis {
        let mut all: Vec<usize> = self.indices().chain(other.indices()).collect();
        all.sort_unstable();
        all.dedup();
        Basis::new(all)
    }

    /// The primes of `self` that are not in `other`.
    pub fn without(&self, other: &Basis) -> Basis {
        Basis::new(self.indices().filter(|&index| other.row_of(index).is_none()))
    }
}
