//! Products that are relinearised when they are rescaled: one key switch for a sum of products, and one
//! rounding for both steps.

use std::borrow::Cow;

use num_complex::Complex64;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::switching;

use super::ciphertext::Ciphertext;
use super::engine::Engine;
use super::evaluation::RealArithmetic;
use super::slot_error::Source;
use crate::error::{Error, Result};

/// An engine whose products wait for their rescaling: the arithmetic of polynomials.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct LazyEngine<'a>(pub &'a Engine);

/// A ciphertext, or a sum of products with the part that is not relinearised.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct LazyCiphertext {
    ciphertext: Ciphertext,
    /// What s² multiplies in the phase; the ciphertext is of degree 2 then.
    third: Option<Poly<Eval>>,
}

impl From<Ciphertext> for LazyCiphertext {
    fn from(ciphertext: Ciphertext) -> Self {
        Self { ciphertext, third: None }
    }
}

impl LazyCiphertext {
    fn map(self, f: impl FnOnce(Ciphertext) -> Result<Ciphertext>) -> Result<Self> {
        Ok(Self { ciphertext: f(self.ciphertext)?, third: self.third })
    }
}

impl LazyEngine<'_> {
    /// The ciphertext, relinearised and not rescaled.
    ///
    /// # Errors
    /// [`Error::MissingRelinearisationKey`]; those of key switches.
    pub fn relinearised(&self, x: &LazyCiphertext) -> Result<Ciphertext> {
        let (ct, Some(third)) = (&x.ciphertext, &x.third) else { return Ok(x.ciphertext.clone()) };
        self.0.relinearised("multiply", ct, [&ct.parts[0], &ct.parts[1], third], ct.info.clone())
    }

    /// Relinearised and rescaled, with one rounding.
    fn finished(&self, ct: &Ciphertext, third: &Poly<Eval>) -> Result<Ciphertext> {
        let (engine, level) = (self.0, ct.level());
        let below = engine.level_below("rescale", ct)?;
        let key = engine.keys.relinearisation().ok_or(Error::MissingRelinearisationKey)?;
        let parts = switching::switch_divided(engine.context.rlwe(), third, [&ct.parts[0], &ct.parts[1]], key, below)?;
        let mut out = ct.with_parts(parts.into(), ct.info.clone());
        out.add_inner_product(level, Source::Key(0));
        out.info.degree = 1;
        out.add_rounding(below);
        engine.accept("rescale", out)
    }

    /// A ciphertext of two parts that can be multiplied.
    fn factor<'a>(&self, x: &'a LazyCiphertext) -> Result<Cow<'a, Ciphertext>> {
        match &x.third {
            Some(third) => self.finished(&x.ciphertext, third).map(Cow::Owned),
            None => Ok(Cow::Borrowed(&x.ciphertext)),
        }
    }

    /// Of two that meet, what is a product at a higher level is rescaled.
    fn met<'a>(&self, x: &'a LazyCiphertext, other: &LazyCiphertext) -> Result<Cow<'a, LazyCiphertext>> {
        match x.third.is_some() && x.ciphertext.level() > other.ciphertext.level() {
            true => self.rescale(x).map(Cow::Owned),
            false => Ok(Cow::Borrowed(x)),
        }
    }

    fn add_or_sub(&self, a: LazyCiphertext, b: &LazyCiphertext, subtract: bool) -> Result<LazyCiphertext> {
        let b = self.met(b, &a)?;
        let a = self.met(&a, &b)?.into_owned();
        let third = match (a.third, &b.third) {
            (Some(mut sum), Some(third)) => {
                if subtract {
                    sum.sub_assign(third)
                } else {
                    sum.add_assign(third)
                }
                Some(sum)
            }
            (None, Some(third)) => {
                let mut third = third.clone();
                if subtract {
                    third.neg_assign();
                }
                Some(third)
            }
            (third, None) => third,
        };
        let ciphertext = self.0.add_or_sub(Cow::Owned(a.ciphertext), &b.ciphertext, subtract)?;
        Ok(LazyCiphertext { ciphertext, third })
    }
}

impl RealArithmetic for LazyEngine<'_> {
    type Value = LazyCiphertext;

    fn multiply(&self, a: &LazyCiphertext, b: &LazyCiphertext) -> Result<LazyCiphertext> {
        let (ciphertext, third) = self.0.tensor("multiply", &*self.factor(a)?, &*self.factor(b)?)?;
        Ok(LazyCiphertext { ciphertext, third: Some(third) })
    }

    fn square(&self, a: &LazyCiphertext) -> Result<LazyCiphertext> {
        let a = self.factor(a)?;
        let (ciphertext, third) = self.0.tensor("square", &a, &a)?;
        Ok(LazyCiphertext { ciphertext, third: Some(third) })
    }

    fn multiply_number(&self, a: &LazyCiphertext, c: f64) -> Result<LazyCiphertext> {
        Ok(self.0.times_number(&*self.factor(a)?, Complex64::from(c))?.into())
    }

    fn combination(&self, terms: &[(&LazyCiphertext, f64)], constant: f64) -> Result<LazyCiphertext> {
        debug_assert!(terms.iter().all(|(x, _)| x.third.is_none()), "terms are not products");
        let terms: Vec<(&Ciphertext, f64)> = terms.iter().map(|&(x, c)| (&x.ciphertext, c)).collect();
        Ok(self.0.combination(&terms, constant)?.into())
    }

    fn times(&self, mut a: LazyCiphertext, k: i64) -> Result<LazyCiphertext> {
        if k == 1 {
            return Ok(a);
        }
        if let Some(third) = &mut a.third {
            third.mul_scalar_assign(|q| q.reduce_i64(k));
        }
        a.map(|ct| self.0.times_integer(ct, k))
    }

    fn add(&self, a: LazyCiphertext, b: &LazyCiphertext) -> Result<LazyCiphertext> {
        self.add_or_sub(a, b, false)
    }

    fn sub(&self, a: LazyCiphertext, b: &LazyCiphertext) -> Result<LazyCiphertext> {
        self.add_or_sub(a, b, true)
    }

    fn add_number(&self, a: LazyCiphertext, c: f64) -> Result<LazyCiphertext> {
        a.map(|ct| self.0.add_number(ct, Complex64::from(c), 1))
    }

    fn zero(&self, a: &LazyCiphertext) -> Result<LazyCiphertext> {
        Ok(self.0.zeroed(&a.ciphertext).into())
    }

    fn rescale(&self, a: &LazyCiphertext) -> Result<LazyCiphertext> {
        Ok(self.0.rescaled(&*self.factor(a)?)?.into_owned().into())
    }

    fn lowered(&self, a: &LazyCiphertext, like: &LazyCiphertext, rescalings: usize) -> Result<LazyCiphertext> {
        let (engine, a) = (self.0, self.factor(a)?);
        let below =
            |level: usize| engine.context.level_below(level).ok_or_else(|| engine.no_level("evaluate a polynomial"));
        let level = (0..rescalings).try_fold(like.ciphertext.level(), |level, _| below(level))?;
        Ok(engine.lower(&a, level)?.into())
    }

    fn bounded(&self, a: LazyCiphertext, bound: f64) -> LazyCiphertext {
        LazyCiphertext { ciphertext: a.ciphertext.within(bound), third: a.third }
    }
}
