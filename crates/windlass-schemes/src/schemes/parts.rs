//! The polynomials of a ciphertext, and the seed of the second one if it is known.

use std::ops::{Deref, DerefMut};

use windlass_ring::{Eval, Poly, sample};

/// The seed of a polynomial: 32 bytes that `windlass_ring::sample::uniform` expands.
pub type Seed = [u8; 32];

/// The polynomials of a ciphertext, and the seed of the second one of a fresh secret-key
/// encryption.
///
/// A seed stands for its polynomial in files and pickles, which halves them. It is public: the
/// polynomial is part of the ciphertext, and each can be computed from the other. It must never
/// outlive its polynomial, so every access that can change a polynomial forgets it ([`DerefMut`]),
/// and polynomials that an operation made have none ([`From`]).
#[derive(Debug, Clone)]
pub struct Parts {
    polynomials: Vec<Poly<Eval>>,
    seed: Option<Seed>,
}

impl Parts {
    /// The same polynomials, the second of which is expanded from `seed`.
    pub fn with_seed(self, seed: Seed) -> Self {
        debug_assert!(is_seed_of(&self, &seed), "the seed is that of the second polynomial");
        Self { seed: Some(seed), ..self }
    }

    /// The seed of the second polynomial, if it is known.
    pub fn seed(&self) -> Option<&Seed> {
        self.seed.as_ref()
    }
}

/// Whether the second polynomial is the expansion of a seed.
pub fn is_seed_of(parts: &[Poly<Eval>], seed: &Seed) -> bool {
    parts.get(1).is_some_and(|second| sample::uniform(second.ring(), second.basis(), seed, 0) == *second)
}

impl Deref for Parts {
    type Target = [Poly<Eval>];

    fn deref(&self) -> &[Poly<Eval>] {
        &self.polynomials
    }
}

impl DerefMut for Parts {
    fn deref_mut(&mut self) -> &mut [Poly<Eval>] {
        self.seed = None;
        &mut self.polynomials
    }
}

impl From<Vec<Poly<Eval>>> for Parts {
    fn from(polynomials: Vec<Poly<Eval>>) -> Self {
        Self { polynomials, seed: None }
    }
}

impl<const N: usize> From<[Poly<Eval>; N]> for Parts {
    fn from(polynomials: [Poly<Eval>; N]) -> Self {
        Vec::from(polynomials).into()
    }
}

impl IntoIterator for Parts {
    type Item = Poly<Eval>;
    type IntoIter = std::vec::IntoIter<Poly<Eval>>;

    fn into_iter(self) -> Self::IntoIter {
        self.polynomials.into_iter()
    }
}

impl<'a> IntoIterator for &'a Parts {
    type Item = &'a Poly<Eval>;
    type IntoIter = std::slice::Iter<'a, Poly<Eval>>;

    fn into_iter(self) -> Self::IntoIter {
        self.polynomials.iter()
    }
}
