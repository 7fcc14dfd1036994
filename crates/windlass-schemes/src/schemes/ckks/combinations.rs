//! Sums of ciphertexts times real numbers: one rescaling for a whole sum, and one pass through memory for
//! many sums of the same ciphertexts.

use std::borrow::Cow;

use num_complex::Complex64;
use windlass_ring::kernels::Modulus;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::check_same_keys;

use super::arithmetic::PublicValues;
use super::ciphertext::{Ciphertext, Info};
use super::encode::residue;
use super::engine::Engine;
use super::magnitude::Magnitude;
use crate::error::{Error, Result};

impl Engine {
    /// `Σ_k weights_i\[k\]·x_k` for every i: a matrix of real numbers times a vector of ciphertexts, slot by
    /// slot. It takes one level and no key. The sums are of degree 2, at the lowest level of the ciphertexts.
    ///
    /// **Why together.** A sum of products with one rescaling at its end costs about a memory pass over its
    /// ciphertexts. All sums read the same ciphertexts, so some columns of these stay in cache while every sum
    /// reads them.
    ///
    /// Cost: weights times primes of the level times 2n multiplications and additions. An operand without a
    /// level is refreshed, if the engine refreshes.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if there is no ciphertext, or another number of weights than of ciphertexts;
    /// [`Error::NotFinite`], [`Error::NumberTooLarge`]; [`Error::LevelsExhausted`], [`Error::ModulusExhausted`].
    pub fn weighted_sums(&self, list: &[&Ciphertext], weights: &[&[f64]]) -> Result<Vec<Ciphertext>> {
        if list.is_empty() {
            return Err(Error::ShapeMismatch { what: "ciphertexts of weighted sums", expected: 1, got: 0 });
        }
        let wrong = weights.iter().find(|weights| weights.len() != list.len());
        if let Some(wrong) = wrong {
            let (what, expected, got) = ("weights of a sum", list.len(), wrong.len());
            return Err(Error::ShapeMismatch { what, expected, got });
        }
        let list = self.at_one_level(list)?;
        let scale = self.context.constant_scale(list[0].level());
        let mut integers = Vec::with_capacity(weights.len());
        let mut infos = Vec::with_capacity(weights.len());
        for weights in weights {
            let terms: Vec<(&Ciphertext, f64)> = list.iter().map(|x| &**x).zip(weights.iter().copied()).collect();
            let (numbers, info) = self.combined(&terms, scale)?;
            integers.push(numbers);
            infos.push(info);
        }
        let (ring, basis) = (self.context.rlwe().ring(), list[0].parts[0].basis());
        let halves = [0, 1].map(|half| {
            let x: Vec<&Poly<Eval>> = list.iter().map(|x| &x.parts[half]).collect();
            Poly::combinations(ring, basis, &x, weights.len(), |i, k, q| residue(integers[i][k], q)).into_iter()
        });
        let [first, second] = halves;
        let parts = first.zip(second).zip(infos);
        parts.map(|((a, b), info)| self.accept("weighted sums", list[0].with_parts(vec![a, b], info))).collect()
    }

    /// Ciphertexts of degree 1 at one level: the lowest of theirs. One level is left at least, or the refusal
    /// of a product follows.
    fn at_one_level<'a>(&self, list: &[&'a Ciphertext]) -> Result<Vec<Cow<'a, Ciphertext>>> {
        let ready = list.iter().map(|x| match self.with_depth(x, 1)? {
            Cow::Borrowed(x) => self.rescaled(x),
            Cow::Owned(x) => Ok(Cow::Owned(self.rescaled(&x)?.into_owned())),
        });
        let ready: Vec<Cow<'a, Ciphertext>> = ready.collect::<Result<_>>()?;
        let level = ready.iter().map(|x| x.level()).min().expect("one ciphertext at least");
        let lowered = ready.into_iter().map(|x| match x.level() == level {
            true => Ok(x),
            false => self.lower(&x, level).map(Cow::Owned),
        });
        lowered.collect()
    }

    /// `constant + Σ c_k·x_k` for real numbers c_k and one ciphertext of degree 1 or more, all of one level:
    /// of degree 2, in one pass.
    pub(super) fn combination(&self, terms: &[(&Ciphertext, f64)], constant: f64) -> Result<Ciphertext> {
        let (first, level) = (terms[0].0, terms[0].0.level());
        let (integers, info) = self.combined(terms, self.context.constant_scale(level))?;
        let (ring, basis) = (self.context.rlwe().ring(), first.parts[0].basis());
        let residues = |integer: &f64| basis.indices().map(|index| residue(*integer, self.modulus(index))).collect();
        let factors: Vec<Vec<u64>> = integers.iter().map(residues).collect();
        let part = |h: usize| {
            let terms: Vec<(&Poly<Eval>, &[u64])> =
                terms.iter().zip(&factors).map(|((x, _), factors)| (&x.parts[h], &factors[..])).collect();
            Poly::combination(ring, basis, &terms)
        };
        let sum = first.with_parts(vec![part(0), part(1)], info);
        self.add_number(sum, Complex64::from(constant), 1)
    }

    /// The numbers of a sum at the scale of constants, and what is known of the sum.
    fn combined(&self, terms: &[(&Ciphertext, f64)], scale: f64) -> Result<(Vec<f64>, Info)> {
        let (first, level) = (terms[0].0, terms[0].0.level());
        let mut info: Option<Info> = None;
        let mut integers = Vec::with_capacity(terms.len());
        for &(x, c) in terms {
            self.check("multiply by a number", x)?;
            check_same_keys("add", first.key, x.key)?;
            self.context.check_scaled(&[Complex64::from(c)], scale)?;
            debug_assert!(x.level() == level && x.info.degree == 1, "terms of one level and degree 1");
            let integer = (c * scale).round_ties_even();
            integers.push(integer);
            let rounding = (c * scale - integer).abs() / scale;
            let weighed = self.weighed(&x.info, level, PublicValues::new(Magnitude::of(1, c.abs()), rounding));
            match &mut info {
                Some(info) => info.add_metadata(&weighed),
                None => info = Some(weighed),
            }
        }
        Ok((integers, info.expect("one term at least")))
    }

    fn modulus(&self, index: usize) -> Modulus {
        self.context.rlwe().ring().modulus(index)
    }
}
