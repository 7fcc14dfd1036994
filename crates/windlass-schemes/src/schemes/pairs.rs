//! Key switches of ciphertexts, once for all schemes over RLWE.
//!
//! A ciphertext of BGV, BFV or CKKS is a pair of polynomials with metadata: the bound on its error,
//! and the content of its slots. This module decomposes, permutes, adds and divides the polynomials. A
//! scheme implements [`SchemeMetadata`], which says what happens to the metadata, and thereby
//! [`Switching`].

use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::switching::{self, Digits, Epilogue, KeyedAutomorphism, Weights};
use windlass_rlwe::{Context, EvaluationKeys, check_same_keys};

#[doc(inline)]
pub use super::scheme_metadata::{Growth, RlweCiphertext, SchemeMetadata};
use super::scheme_metadata::{metadata_of_image, metadata_of_rows, metadata_of_sum};
use crate::error::{Error, Result};
use crate::switching::{MixedRow, Switching, check_rows, no_terms};

/// A ciphertext after decompose-and-extend of its second part.
#[derive(Debug, Clone)]
pub struct Hoisted<C> {
    ct: C,
    /// P times the first part, in the multiples of the key switch: what joins every inner product.
    addend: Poly<Eval>,
    digits: Digits,
}

/// P times a ciphertext, over Q_level·P.
///
/// For BGV the pair is held divided by t, so that mod-down is a plain rounding; the t returns with
/// [`Switching::mod_down`].
#[derive(Debug, Clone)]
pub struct Extended<C> {
    /// The parts are over the primes of QP; the metadata is that of the pair divided by P.
    pub(crate) ct: C,
    pub(crate) level: usize,
}

impl<C> Extended<C> {
    /// P times a ciphertext whose parts are over the primes of QP of a level; the metadata is that of
    /// the pair divided by P.
    #[doc(hidden)]
    pub fn of(ct: C, level: usize) -> Self {
        Self { ct, level }
    }
}

impl<R: SchemeMetadata> Switching for R {
    type Hoisted = Hoisted<R::Ciphertext>;
    type Extended = Extended<R::Ciphertext>;

    fn has_key(&self, t: u64) -> bool {
        is_identity(self, t) || self.evaluation_keys().galois(t).is_some()
    }

    fn automorphism(&self, a: &R::Ciphertext, t: u64) -> Result<R::Ciphertext> {
        self.refreshing(&[a], |x| apply_automorphism(self, x[0], t))
    }

    fn hoist(&self, a: &R::Ciphertext) -> Result<Self::Hoisted> {
        self.check_input("hoist", a)?;
        let multiplier = self.phase_multiplier(a);
        let addend = switching::extend_base_q(context(self), &a.parts()[0], multiplier);
        let digits = Digits::new(context(self), &a.parts()[1], multiplier);
        Ok(Hoisted { ct: a.clone(), addend, digits })
    }

    fn hoisted_automorphisms(&self, list: &[Self::Hoisted], t: u64) -> Result<Vec<Self::Extended>> {
        list.iter().try_for_each(|a| self.check_input("hoisted automorphism", &a.ct))?;
        if is_identity(self, t) {
            return list.iter().map(|a| self.extend(&a.ct)).collect();
        }
        let Some(level) = one_level(list.iter().map(|a| a.digits.level())) else {
            return list.iter().map(|a| self.hoisted_automorphism(a, t)).collect();
        };
        let step = key_and_permutation(self.evaluation_keys(), t)?;
        let pairs = switching::hoisted_automorphism(&digits_and_addends(list), &step)?;
        let wrap = |(a, pair): (&Self::Hoisted, [_; 2])| {
            let mut ct = a.ct.with_polys(pair.into());
            self.add_noise(&mut ct, level, Growth::InnerProduct(t));
            Extended { ct, level }
        };
        Ok(list.iter().zip(pairs).map(wrap).collect())
    }

    fn sum_hoisted(&self, a: &Self::Hoisted, elements: &[u64]) -> Result<Self::Extended> {
        self.check_input("sum of automorphisms", &a.ct)?;
        let level = a.digits.level();
        let moved: Vec<u64> = elements.iter().copied().filter(|&t| !is_identity(self, t)).collect();
        let mut sum = None;
        if !moved.is_empty() {
            let steps = keys_and_permutations(self.evaluation_keys(), &moved)?;
            let parts = a.digits.sum_automorphisms(context(self), &a.addend, &steps)?;
            let mut images = moved.iter().map(|&t| metadata_of_image(self, (&a.ct, level), t));
            let mut metadata = images.next().ok_or_else(no_terms)?;
            images.for_each(|image| self.add_metadata(&mut metadata, &image));
            sum = Some(Extended { ct: metadata.with_polys(parts.into()), level });
        }
        for _ in moved.len()..elements.len() {
            let own = self.extend(&a.ct)?;
            match &mut sum {
                Some(sum) => self.add_extended_assign(sum, &own)?,
                None => sum = Some(own),
            }
        }
        sum.ok_or_else(no_terms)
    }

    fn dots_hoisted(
        &self,
        list: &[Self::Hoisted],
        elements: &[u64],
        rows: &[MixedRow<'_, R::Constant>],
    ) -> Result<Vec<Vec<Self::Extended>>> {
        list.iter().try_for_each(|a| self.check_input("sum of products", &a.ct))?;
        check_rows(elements.len(), rows)?;
        if elements.iter().any(|&t| is_identity(self, t)) {
            return list.iter().map(|a| dot_of_images(self, a, elements, rows)).collect();
        }
        let Some(level) = one_level(list.iter().map(|a| a.digits.level())) else {
            return list.iter().map(|a| self.dot_hoisted(a, elements, rows)).collect();
        };
        let steps = keys_and_permutations(self.evaluation_keys(), elements)?;
        let mut sums: Vec<Weights<'_>> = Vec::with_capacity(rows.len());
        for row in rows {
            sums.push(row.iter().map(|&(j, constant)| (j, constant.map(R::values))).collect());
        }
        let mut metadata = Vec::with_capacity(list.len());
        for a in list {
            metadata.push(metadata_of_rows(self, (&a.ct, level), elements, rows)?);
        }
        let pairs = switching::dot_automorphisms(context(self), &digits_and_addends(list), &steps, &sums)?;
        Ok(metadata.iter().zip(pairs).map(|(metadata, pairs)| extended_of(metadata, pairs, level)).collect())
    }

    fn extend(&self, a: &R::Ciphertext) -> Result<Self::Extended> {
        self.check_input("extend", a)?;
        let multiplier = self.phase_multiplier(a);
        let parts: Vec<Poly<Eval>> =
            a.parts().iter().map(|part| switching::extend(context(self), part, multiplier)).collect();
        Ok(Extended { ct: a.with_polys(parts), level: self.level_of(a) })
    }

    fn dot_extended(
        &self,
        inputs: &[&Self::Extended],
        rows: &[MixedRow<'_, R::Constant>],
    ) -> Result<Vec<Self::Extended>> {
        let Some(&first) = inputs.first() else {
            return if rows.is_empty() { Ok(Vec::new()) } else { Err(no_terms()) };
        };
        for &x in inputs {
            self.check_input("sum of products", &x.ct)?;
            check_extended(self, first, x)?;
        }
        check_rows(inputs.len(), rows)?;
        let level = first.level;
        let (mut metadata, mut sums) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for row in rows {
            metadata.push(metadata_of_sum(self, level, row.iter().map(|&(j, c)| (&inputs[j].ct, c)))?);
            sums.push(row.iter().map(|&(j, c)| (halves(&inputs[j].ct), c.map(R::values))).collect());
        }
        let pairs = Poly::dot_pairs(context(self).ring(), &context(self).base_qp(level), &sums);
        Ok(extended_of(&metadata, pairs, level))
    }

    fn extended_automorphisms(&self, list: &[&Self::Extended], t: u64) -> Result<Vec<Self::Extended>> {
        list.iter().try_for_each(|a| self.check_input("automorphism", &a.ct))?;
        if is_identity(self, t) {
            return Ok(list.iter().map(|&a| a.clone()).collect());
        }
        let Some(level) = one_level(list.iter().map(|a| a.level)) else {
            return list.iter().map(|a| self.extended_automorphism(a, t)).collect();
        };
        let step = key_and_permutation(self.evaluation_keys(), t)?;
        // The pair is divided by the multiplier already.
        let mod_down = |a: &&Self::Extended| a.ct.parts()[1].divide_rounded(&context(self).basis(level), 1);
        let rounded: Vec<Poly<Eval>> = list.par_iter().map(mod_down).collect();
        let halves: Vec<_> = rounded.iter().zip(list).map(|(x, a)| (x, &a.ct.parts()[0])).collect();
        let pairs = switching::extended_automorphism(context(self), &halves, &step)?;
        let wrap = |(a, pair): (&&Self::Extended, [_; 2])| {
            let mut ct = a.ct.with_polys(pair.into());
            // What is rounded is what is turned.
            self.add_noise(&mut ct, level, Growth::Rounding);
            self.add_noise(&mut ct, level, Growth::InnerProduct(t));
            Extended { ct, level }
        };
        Ok(list.iter().zip(pairs).map(wrap).collect())
    }

    fn add_extended_assign(&self, a: &mut Self::Extended, b: &Self::Extended) -> Result<()> {
        self.check_input("add", &b.ct)?;
        check_extended(self, a, b)?;
        a.ct.parts_mut().iter_mut().zip(b.ct.parts()).for_each(|(x, y)| x.add_assign(y));
        self.add_metadata(&mut a.ct, &b.ct);
        Ok(())
    }

    fn mod_down(&self, a: Self::Extended) -> Result<R::Ciphertext> {
        self.check_input("mod-down", &a.ct)?;
        let multiplier = self.phase_multiplier(&a.ct);
        let parts = switching::mod_down(context(self), halves(&a.ct), a.level, multiplier);
        let mut out = a.ct.with_polys(parts.into());
        self.add_noise(&mut out, a.level, Growth::Rounding);
        self.accept_result("mod-down", (&a.ct, a.level), out)
    }
}

fn context<S: SchemeMetadata>(scheme: &S) -> &Arc<Context> {
    scheme.evaluation_keys().context()
}

fn is_identity<S: SchemeMetadata>(scheme: &S, t: u64) -> bool {
    t % context(scheme).params().m() == 1
}

/// The level of all, where there is one.
fn one_level(mut levels: impl Iterator<Item = usize>) -> Option<usize> {
    let first = levels.next()?;
    levels.all(|level| level == first).then_some(first)
}

fn digits_and_addends<C>(list: &[Hoisted<C>]) -> Vec<(&Digits, &Poly<Eval>)> {
    list.iter().map(|a| (&a.digits, &a.addend)).collect()
}

/// [`Switching::dot_hoisted`] by images that are held, where one of them is the ciphertext itself.
fn dot_of_images<S: SchemeMetadata>(
    scheme: &S,
    a: &Hoisted<S::Ciphertext>,
    elements: &[u64],
    rows: &[MixedRow<'_, S::Constant>],
) -> Result<Vec<Extended<S::Ciphertext>>> {
    let image = |&t: &u64| scheme.hoisted_automorphism(a, t);
    let images: Vec<Extended<S::Ciphertext>> = elements.par_iter().map(image).collect::<Result<_>>()?;
    scheme.dot_extended(&images.iter().collect::<Vec<_>>(), rows)
}

fn halves(ct: &impl RlweCiphertext) -> [&Poly<Eval>; 2] {
    [&ct.parts()[0], &ct.parts()[1]]
}

/// Pairs in base `QP` of a level with their metadata.
fn extended_of<C: RlweCiphertext>(metadata: &[C], pairs: Vec<[Poly<Eval>; 2]>, level: usize) -> Vec<Extended<C>> {
    metadata.iter().zip(pairs).map(|(ct, pair)| Extended { ct: ct.with_polys(pair.into()), level }).collect()
}

/// θ_t of a ciphertext by one whole key switch.
fn apply_automorphism<S: SchemeMetadata>(scheme: &S, a: &S::Ciphertext, t: u64) -> Result<S::Ciphertext> {
    scheme.check_input("automorphism", a)?;
    if is_identity(scheme, t) {
        return Ok(a.clone());
    }
    let (key, permutation) = key_and_permutation(scheme.evaluation_keys(), t)?;
    let [first, second] = halves(a);
    let epilogue = Epilogue { addends: [Some(first), None], automorphism: Some(&permutation) };
    let parts = switching::switch(context(scheme), second, scheme.phase_multiplier(a), key, &epilogue)?;
    let mut out = a.with_polys(parts.into());
    let level = scheme.level_of(a);
    scheme.add_noise(&mut out, level, Growth::KeySwitch(t));
    scheme.accept_result("automorphism", (a, level), out)
}

fn check_extended<S: SchemeMetadata>(
    scheme: &S,
    a: &Extended<S::Ciphertext>,
    b: &Extended<S::Ciphertext>,
) -> Result<()> {
    check_same_keys("sum in base QP", a.ct.key_id(), b.ct.key_id())?;
    if a.level != b.level {
        let [left, right] = [a, b].map(|x| format!("level {}", x.level));
        return Err(Error::ContextMismatch { operation: "sum in base QP", left, right });
    }
    scheme.check_alike(&a.ct, &b.ct)
}

/// For θ_t, t not 1.
///
/// # Errors
/// [`Error::MissingGaloisKey`].
fn key_and_permutation(keys: &EvaluationKeys, t: u64) -> Result<KeyedAutomorphism<'_>> {
    let element = t % keys.context().params().m();
    let key = keys.galois(element).ok_or_else(|| Error::MissingGaloisKey {
        element,
        make_with: format!("EvaluationKeys::add_galois(&secret_key, {element}, level, &mut rng)"),
    })?;
    Ok((&**key, keys.context().ring().automorphism(t)?))
}

fn keys_and_permutations<'a>(keys: &'a EvaluationKeys, elements: &[u64]) -> Result<Vec<KeyedAutomorphism<'a>>> {
    elements.iter().map(|&t| key_and_permutation(keys, t)).collect()
}
