//! Operations, each exactly as it was asked for.

use std::sync::Arc;

use windlass_ring::{Eval, Poly};
use windlass_rlwe::switching::{self, Epilogue};
use windlass_rlwe::{Bound, EvaluationKeys, Limits, check_same_keys};

use super::ciphertext::{Bounds, Ciphertext, Noise, Plaintext};
use super::context::Context;
use super::scale::Scale;
use crate::error::{Error, ExplicitError, Result};

/// Evaluation with explicit steps.
#[derive(Debug, Clone)]
pub struct Server {
    context: Arc<Context>,
    keys: Arc<EvaluationKeys>,
    tolerance: f64,
}

/// What enters a sum.
struct Term<'a> {
    level: usize,
    scale: Scale,
    bounds: Bounds,
    parts: &'a [Poly<Eval>],
}

impl Server {
    /// The relative difference up to which scales of summands count as equal.
    pub const SCALE_TOLERANCE: f64 = 1.0 / (1u64 << 30) as f64;

    /// An evaluator with these keys.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] for keys of another context.
    pub fn new(context: &Arc<Context>, keys: Arc<EvaluationKeys>) -> Result<Self> {
        if !Arc::ptr_eq(context.rlwe(), keys.context()) {
            let right = keys.context().params().id().to_string();
            return Err(Error::ContextMismatch { operation: "server", left: context.to_string(), right });
        }
        Ok(Self { context: Arc::clone(context), keys, tolerance: Self::SCALE_TOLERANCE })
    }

    /// The same evaluator, for which scales of CKKS are equal up to another relative difference. The
    /// difference is counted as an error of the sum.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless it is between 0 and 1.
    pub fn with_scale_tolerance(self, tolerance: f64) -> Result<Self> {
        Limits::between(0.0, 1.0).check("the tolerance of scales", tolerance)?;
        Ok(Self { tolerance, ..self })
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The keys.
    pub fn keys(&self) -> &Arc<EvaluationKeys> {
        &self.keys
    }

    /// `a + b`, at one level and scale. A sum with an operand of 3 polynomials has 3.
    ///
    /// # Errors
    /// [`ExplicitError::Levels`], [`ExplicitError::Scales`], [`ExplicitError::NoRoom`].
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.check_pair("add", a, b)?;
        self.sum("add", a, &Term::of(b), false)
    }

    /// `a − b`. As [`Self::add`].
    ///
    /// # Errors
    /// Those of [`Self::add`].
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.check_pair("subtract", a, b)?;
        self.sum("subtract", a, &Term::of(b), true)
    }

    /// `a + b` for a plaintext at the level and scale of `a`.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn add_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext> {
        self.check_with_plain("add a plaintext", a, b)?;
        self.sum("add a plaintext", a, &Term::of_plain(b), false)
    }

    /// `a − b` for a plaintext at the level and scale of `a`.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn sub_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext> {
        self.check_with_plain("subtract a plaintext", a, b)?;
        self.sum("subtract a plaintext", a, &Term::of_plain(b), true)
    }

    /// `−a`.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`], [`Error::OtherKeyPair`].
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("negate", a)?;
        let mut out = a.clone();
        out.parts.iter_mut().for_each(Poly::neg_assign);
        Ok(out)
    }

    /// `a·b`, of 3 polynomials and the product of both scales.
    ///
    /// Cost: four products of rows for each prime.
    ///
    /// # Errors
    /// [`ExplicitError::Unrelinearised`] for an operand of 3 polynomials; [`ExplicitError::Levels`];
    /// [`ExplicitError::NoRoom`].
    pub fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.check_pair("multiply", a, b)?;
        check_levels("multiply", a.level, b.level)?;
        let ([a0, a1], [b0, b1]) = (pair("multiply", a)?, pair("multiply", b)?);
        let parts = Poly::tensor([a0, a1], [b0, b1], |_| 1).into();
        let scale = self.context.product(a.scale, b.scale);
        self.accept("multiply", Ciphertext { scale, ..a.with(parts, a.bounds.times(b.bounds)) })
    }

    /// `a·b` for a plaintext at the level of `a`, with the product of both scales.
    ///
    /// # Errors
    /// [`ExplicitError::Levels`], [`ExplicitError::NoRoom`].
    pub fn multiply_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext> {
        self.check_with_plain("multiply by a plaintext", a, b)?;
        check_levels("multiply by a plaintext", a.level, b.level)?;
        let parts = a.parts.iter().map(|part| part.mul(&b.poly)).collect();
        let scale = self.context.product(a.scale, b.scale);
        self.accept("multiply by a plaintext", Ciphertext { scale, ..a.with(parts, a.bounds.times(b.bounds)) })
    }

    /// From 3 polynomials to 2, by one key switch.
    ///
    /// Cost: one key switch.
    ///
    /// # Errors
    /// [`ExplicitError::Relinearised`] for 2 polynomials;
    /// [`ExplicitError::MissingRelinearisationKey`]; [`ExplicitError::NoRoom`].
    pub fn relinearize(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("relinearize", a)?;
        let [first, second, third] = &a.parts[..] else { return Err(ExplicitError::Relinearised.into()) };
        let key = self.keys.relinearisation().ok_or(ExplicitError::MissingRelinearisationKey)?;
        let epilogue = Epilogue { addends: [Some(first), Some(second)], automorphism: None };
        let parts = switching::switch(self.context.rlwe(), third, self.context.multiplier(), key, &epilogue)?;
        self.accept("relinearize", a.with(parts.into(), a.bounds.with_noise(self.context.key_switch_noise(a.level))))
    }

    /// Divides by the last step of the chain: the rescaling of CKKS, the modulus switch of BGV. The level falls by
    /// 1. Scale and noise are divided by the step, the factor of BGV modulo t.
    ///
    /// Cost: for each polynomial a transform of each prime.
    ///
    /// # Errors
    /// [`ExplicitError::NoStep`] at level 0; [`ExplicitError::NoRoom`].
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("rescale", a)?;
        let level = lowered("rescale", a.level, 1)?;
        let (keep, t) = (self.context.basis(level), self.context.multiplier());
        let parts = a.parts.iter().map(|part| part.divide_rounded(&keep, t)).collect();
        let share = Bound::from_bits(-self.context.log2_step(a.level));
        let bounds = Bounds { signal: a.bounds.signal * share, noise: a.bounds.noise.scaled(share) };
        let out = a.with(parts, bounds.with_noise(self.context.rounding_noise(a.size())));
        self.accept("rescale", Ciphertext { level, scale: self.context.divided(a.scale, a.level), ..out })
    }

    /// Drops the last `steps` steps of the chain: scale and noise stay as they are.
    ///
    /// # Errors
    /// [`ExplicitError::NoStep`] if there are fewer; [`ExplicitError::NoRoom`] if the phase does not fit the
    /// smaller modulus.
    pub fn level_reduce(&self, a: &Ciphertext, steps: usize) -> Result<Ciphertext> {
        self.check("reduce the level", a)?;
        let level = lowered("reduce the level", a.level, steps)?;
        let basis = self.context.basis(level);
        let parts = a.parts.iter().map(|part| part.restrict(&basis)).collect();
        self.accept("reduce the level", Ciphertext { level, ..a.with(parts, a.bounds) })
    }

    /// Moves slot j + amount of each row to slot j.
    ///
    /// Cost: one key switch; nothing for an amount of 0.
    ///
    /// # Errors
    /// [`ExplicitError::Unrelinearised`] for 3 polynomials; [`ExplicitError::MissingRotationKey`];
    /// [`ExplicitError::NoRoom`].
    pub fn rotate(&self, a: &Ciphertext, amount: i64) -> Result<Ciphertext> {
        self.check("rotate", a)?;
        let [first, second] = pair("rotate", a)?;
        let element = self.context.rotation_element(amount);
        if element == 1 {
            return Ok(a.clone());
        }
        let key = self.keys.galois(element).ok_or(ExplicitError::MissingRotationKey { amount })?;
        let (rlwe, t) = (self.context.rlwe(), self.context.multiplier());
        let automorphism = rlwe.ring().automorphism(element)?;
        let epilogue = Epilogue { addends: [Some(first), None], automorphism: Some(&automorphism) };
        let parts = switching::switch(rlwe, second, t, key, &epilogue)?;
        self.accept("rotate", a.with(parts.into(), a.bounds.with_noise(self.context.key_switch_noise(a.level))))
    }

    fn sum(&self, operation: &'static str, a: &Ciphertext, b: &Term<'_>, subtract: bool) -> Result<Ciphertext> {
        check_levels(operation, a.level, b.level)?;
        let bounds = a.bounds.plus(self.at_scale(operation, a.scale, b)?);
        let mut parts = a.parts.clone();
        for (index, part) in b.parts.iter().enumerate() {
            match (parts.get_mut(index), subtract) {
                (Some(sum), false) => sum.add_assign(part),
                (Some(sum), true) => sum.sub_assign(part),
                (None, false) => parts.push(part.clone()),
                (None, true) => {
                    let mut negated = part.clone();
                    negated.neg_assign();
                    parts.push(negated);
                }
            }
        }
        self.accept(operation, a.with(parts, bounds))
    }

    /// The bounds of a summand, read at the scale of the other: a difference of the scales is an error.
    fn at_scale(&self, operation: &'static str, scale: Scale, b: &Term<'_>) -> Result<Bounds> {
        let refused =
            || ExplicitError::Scales { operation, left: scale.to_string(), right: b.scale.to_string() }.into();
        match (scale, b.scale) {
            (Scale::Real(a), Scale::Real(own)) => {
                let difference = (a / own - 1f64.into()).high().abs();
                if difference > self.tolerance {
                    return Err(refused());
                }
                let signal = b.bounds.signal * Bound::of(1.0 + difference);
                Ok(Bounds { signal, ..b.bounds }.with_noise(Noise::of_norm(b.bounds.signal * Bound::of(difference))))
            }
            (a, own) if a == own => Ok(b.bounds),
            _ => Err(refused()),
        }
    }

    fn check(&self, operation: &'static str, ct: &Ciphertext) -> Result<()> {
        self.context.check_same(operation, &ct.context)?;
        Ok(check_same_keys(operation, self.keys.key_id().unwrap_or(ct.key), ct.key)?)
    }

    fn check_pair(&self, operation: &'static str, a: &Ciphertext, b: &Ciphertext) -> Result<()> {
        self.check(operation, a)?;
        self.check(operation, b)?;
        Ok(check_same_keys(operation, a.key, b.key)?)
    }

    fn check_with_plain(&self, operation: &'static str, a: &Ciphertext, b: &Plaintext) -> Result<()> {
        self.check(operation, a)?;
        self.context.check_same(operation, &b.context)
    }

    /// A result that fits the modulus, at a scale that doubles hold.
    fn accept(&self, operation: &'static str, ct: Ciphertext) -> Result<Ciphertext> {
        self.context.check_scale(ct.scale)?;
        self.context.check_room(operation, ct.level, ct.bounds.phase())?;
        Ok(ct)
    }
}

impl<'a> Term<'a> {
    fn of(ct: &'a Ciphertext) -> Self {
        Self { level: ct.level, scale: ct.scale, bounds: ct.bounds, parts: &ct.parts }
    }

    fn of_plain(plaintext: &'a Plaintext) -> Self {
        let Plaintext { level, scale, bounds, .. } = *plaintext;
        Self { level, scale, bounds, parts: std::slice::from_ref(&plaintext.poly) }
    }
}

fn check_levels(operation: &'static str, left: usize, right: usize) -> Result<()> {
    if left == right { Ok(()) } else { Err(ExplicitError::Levels { operation, left, right }.into()) }
}

fn lowered(operation: &'static str, level: usize, steps: usize) -> Result<usize> {
    level.checked_sub(steps).ok_or_else(|| ExplicitError::NoStep { operation, level, steps }.into())
}

/// The polynomials of a ciphertext of size 2.
fn pair<'a>(operation: &'static str, ct: &'a Ciphertext) -> Result<[&'a Poly<Eval>; 2]> {
    match &ct.parts[..] {
        [first, second] => Ok([first, second]),
        _ => Err(ExplicitError::Unrelinearised { operation }.into()),
    }
}
