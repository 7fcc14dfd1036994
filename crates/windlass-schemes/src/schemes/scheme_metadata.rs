//! What a scheme states about the metadata of its ciphertexts, and how sums and images combine them.
//!
//! A ciphertext of BGV, BFV or CKKS is a pair of polynomials with metadata: what bounds its error,
//! and what it holds. [`super::pairs`] does the arithmetic of the polynomials once for all schemes.
//! A scheme implements [`SchemeMetadata`] for the rest.

use std::sync::Arc;

use windlass_ring::{Eval, Poly, Values};
use windlass_rlwe::{EvaluationKeys, KeyId};

use crate::error::Result;
use crate::schemes::Seed;
use crate::switching::{Arithmetic, MixedRow, no_terms};

/// Polynomials with metadata.
pub trait RlweCiphertext: Clone + Send + Sync {
    /// The polynomials.
    fn parts(&self) -> &[Poly<Eval>];
    /// The polynomials, to be changed.
    fn parts_mut(&mut self) -> &mut [Poly<Eval>];
    /// The same metadata around other polynomials.
    fn with_polys(&self, parts: Vec<Poly<Eval>>) -> Self;
    /// The name of the key pair.
    fn key_id(&self) -> KeyId;
    /// The seed that the second polynomial is expanded from, while it is known: of a fresh
    /// secret-key encryption that no operation has changed.
    fn seed(&self) -> Option<&Seed>;
    /// The same ciphertext, whose second polynomial is expanded from `seed`.
    fn with_seed(self, seed: Seed) -> Self;
}

/// What adds to the error of a ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// A whole key switch of the image under θ_t: inner product and rounding.
    KeySwitch(u64),
    /// The inner product of the image under θ_t with its key, in base `QP`.
    InnerProduct(u64),
    /// The rounding of a mod-down.
    Rounding,
}

/// How a scheme keeps the metadata of its ciphertexts.
pub trait SchemeMetadata: Arithmetic<Ciphertext: RlweCiphertext> {
    /// The evaluation keys.
    fn evaluation_keys(&self) -> &Arc<EvaluationKeys>;
    /// Refuses summands in base `QP` whose metadata do not fit together.
    fn check_alike(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<()>;
    /// By what a phase is a multiple of the scheme-free one: t for BGV, else 1.
    fn phase_multiplier(&self, ct: &Self::Ciphertext) -> u64;
    /// Adds to the metadata of a ciphertext at a level what one operation adds to its error: one
    /// random event of a kind, or two.
    fn add_noise(&self, ct: &mut Self::Ciphertext, level: usize, growth: Growth);
    /// Replaces the metadata of the first term of a sum by those of the sum.
    fn add_metadata(&self, sum: &mut Self::Ciphertext, term: &Self::Ciphertext);
    /// The metadata of a product with a constant at a level, with no polynomials.
    ///
    /// # Errors
    /// For a constant that does not fit.
    fn scale_metadata(
        &self,
        ct: &Self::Ciphertext,
        level: usize,
        constant: &Self::Constant,
    ) -> Result<Self::Ciphertext>;
    /// The values of a constant.
    fn values(constant: &Self::Constant) -> &Values;
    /// Returns a result that still decrypts; `before` is what it was made from, at `level`.
    fn accept_result(
        &self,
        operation: &'static str,
        before: (&Self::Ciphertext, usize),
        ct: Self::Ciphertext,
    ) -> Result<Self::Ciphertext>;
    /// An operation, repeated on refreshed operands if its result has too little room. By default it runs
    /// once. BGV and BFV override that. CKKS does not, because an automorphism takes no level.
    fn refreshing(
        &self,
        operands: &[&Self::Ciphertext],
        operation: impl Fn(&[&Self::Ciphertext]) -> Result<Self::Ciphertext>,
    ) -> Result<Self::Ciphertext> {
        operation(operands)
    }
}

/// The metadata of an image under θ_t in base `QP`, with no polynomials.
pub(super) fn metadata_of_image<S: SchemeMetadata>(
    scheme: &S,
    (ct, level): (&S::Ciphertext, usize),
    t: u64,
) -> S::Ciphertext {
    let mut image = ct.with_polys(Vec::new());
    scheme.add_noise(&mut image, level, Growth::InnerProduct(t));
    image
}

/// The metadata of the sums of [`dots_hoisted`](crate::switching::Switching::dots_hoisted) for one ciphertext, with no polynomials.
pub(super) fn metadata_of_rows<S: SchemeMetadata>(
    scheme: &S,
    (ct, level): (&S::Ciphertext, usize),
    elements: &[u64],
    rows: &[MixedRow<'_, S::Constant>],
) -> Result<Vec<S::Ciphertext>> {
    let images: Vec<S::Ciphertext> = elements.iter().map(|&t| metadata_of_image(scheme, (ct, level), t)).collect();
    rows.iter().map(|row| metadata_of_sum(scheme, level, row.iter().map(|&(j, c)| (&images[j], c)))).collect()
}

/// The metadata of a sum of products, with no polynomials.
pub(super) fn metadata_of_sum<'a, S: SchemeMetadata>(
    scheme: &S,
    level: usize,
    terms: impl Iterator<Item = (&'a S::Ciphertext, Option<&'a S::Constant>)>,
) -> Result<S::Ciphertext>
where
    S::Ciphertext: 'a,
    S::Constant: 'a,
{
    let mut sum: Option<S::Ciphertext> = None;
    for (ct, constant) in terms {
        let term = match constant {
            Some(constant) => scheme.scale_metadata(ct, level, constant)?,
            None => ct.with_polys(Vec::new()),
        };
        match &mut sum {
            Some(sum) => {
                scheme.check_alike(sum, &term)?;
                scheme.add_metadata(sum, &term);
            }
            None => sum = Some(term),
        }
    }
    sum.ok_or_else(no_terms)
}
