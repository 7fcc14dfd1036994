//! CKKS encryption, decryption, and decryption for publication.

use std::sync::Arc;

use num_complex::Complex64;
use rand_core::RngCore;
use windlass_ring::{Basis, Eval, Poly, norm};
use windlass_rlwe::{KeyId, PublicKey, SecretKey, check_same_keys};
use zeroize::{Zeroize, Zeroizing};

use super::ciphertext::{Ciphertext, Info, source_of};
use super::context::CkksContext;
use super::error_model::ErrorModel;
use super::flooding;
use super::magnitude::Magnitude;
use super::slot_error::SlotError;
use super::wide::{WIDE_ROUNDING, Wide, WideComplex};
use crate::error::{Beyond, Error, Result};
use crate::schemes::Publication;
use crate::schemes::pairs::RlweCiphertext;

/// Turns real numbers into complex ones.
pub fn complex(values: &[f64]) -> Vec<Complex64> {
    values.iter().map(|&x| Complex64::new(x, 0.0)).collect()
}

fn check_key(context: &CkksContext, key: &Arc<windlass_rlwe::Context>, what: &'static str) -> Result<()> {
    if Arc::ptr_eq(context.rlwe(), key) {
        return Ok(());
    }
    let id = |context: &windlass_rlwe::Context| context.params().id().to_string();
    Err(Error::ContextMismatch { operation: what, left: id(context.rlwe()), right: id(key) })
}

/// The largest bound on values that fits the modulus of a level, with a bit to spare.
fn most(context: &CkksContext, level: usize) -> f64 {
    (context.room(level) - 1.0 - context.scale(level).log2()).exp2()
}

/// Values to encrypt: doubles, or of twice their precision.
#[derive(Clone, Copy)]
enum Values<'a> {
    Doubles(&'a [Complex64]),
    Wide(&'a [WideComplex]),
}

/// Relative error of encoding doubles.
const DOUBLES: f64 = 1.0 / (1u64 << 49) as f64;

impl Values<'_> {
    fn count(self) -> usize {
        match self {
            Self::Doubles(values) => values.len(),
            Self::Wide(values) => values.len(),
        }
    }

    /// The relative error of encoding.
    fn rounding(self) -> f64 {
        match self {
            Self::Doubles(_) => DOUBLES,
            Self::Wide(_) => WIDE_ROUNDING,
        }
    }

    fn check(self, context: &CkksContext, bound: f64) -> Result<()> {
        match self {
            Self::Doubles(values) => context.check_values(values, bound),
            Self::Wide(values) => context.check_wide_values(values, bound),
        }
    }

    fn encode(self, context: &CkksContext, level: usize, basis: &Basis) -> Poly<Eval> {
        match self {
            Self::Doubles(values) => context.encode(values, context.scale(level), basis),
            Self::Wide(values) => context.encode_wide(values, context.wide_scale(level), basis),
        }
    }
}

fn fresh(
    (context, key): (&Arc<CkksContext>, KeyId),
    values: Values<'_>,
    bound: f64,
    mut zero: [Poly<Eval>; 2],
    deviation: impl Fn(usize) -> f64,
) -> Result<Ciphertext> {
    let level = zero[0].basis().len().min(context.top_level());
    if level < zero[0].basis().len() {
        // A public key lives at the levels of a refresh too, where no caller works.
        zero = zero.map(|part| part.restrict(&context.rlwe().basis(level)));
    }
    let limit = most(context, level);
    if !bound.is_finite() || bound > limit {
        let value_bits = context.spec().value_bits_for(0.0, bound);
        return Err(Error::BoundTooLarge { bound, most: limit, value_bits });
    }
    values.check(context, bound)?;
    let scale = context.scale(level);
    let mut message = values.encode(context, level, zero[0].basis());
    zero[0].add_assign(&message);
    message.zeroize();
    let slots = values.count();
    let mut own = SlotError::default();
    own.add(source_of(&zero), deviation(2 * slots) / scale);
    let deviation = deviation(context.spec().n) / scale;
    let mut info = Info { degree: 1, magnitude: Magnitude::of(slots, bound), deviation, uneven: 0.0, own };
    info.add_certain(context.errors().encoding(2 * slots) / scale + bound * values.rounding());
    Ok(Ciphertext { context: Arc::clone(context), key, parts: zero.into(), info })
}

/// Encrypts under a public key.
#[derive(Debug, Clone)]
pub struct Encryptor {
    context: Arc<CkksContext>,
    key: Arc<PublicKey>,
}

impl Encryptor {
    /// An encryptor for one key.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`].
    pub fn new(context: &Arc<CkksContext>, key: Arc<PublicKey>) -> Result<Self> {
        check_key(context, key.context(), "encryptor")?;
        Ok(Self { context: Arc::clone(context), key })
    }

    /// A fresh encryption at the top level of values with |z| ≤ 1; any number of them that divides
    /// n/2.
    ///
    /// # Errors
    /// [`Error::SlotCount`]; [`Error::NotFinite`] for NaN and infinities; [`Error::ValueTooLarge`]
    /// for |z| > 1, [`Error::BoundTooLarge`] if 1 does not fit the modulus at this scale.
    pub fn encrypt(&self, values: &[Complex64], rng: &mut impl RngCore) -> Result<Ciphertext> {
        self.encrypt_bounded(values, 1.0, rng)
    }

    /// As [`Self::encrypt`] for values with |z| ≤ `bound`. The bound is public, so it must not
    /// depend on the values.
    ///
    /// # Errors
    /// As there.
    pub fn encrypt_bounded(&self, values: &[Complex64], bound: f64, rng: &mut impl RngCore) -> Result<Ciphertext> {
        self.encrypted(Values::Doubles(values), bound, rng)
    }

    /// As [`Self::encrypt_bounded`] for values of more bits than doubles have, on contexts with scales of more
    /// than 53 bits. [`Decryptor::decrypt_wide`] reads them.
    ///
    /// Cost: two encodings instead of one, and n·log2 n operations on numbers of two doubles.
    ///
    /// # Errors
    /// As there.
    pub fn encrypt_wide(&self, values: &[WideComplex], bound: f64, rng: &mut impl RngCore) -> Result<Ciphertext> {
        self.encrypted(Values::Wide(values), bound, rng)
    }

    fn encrypted(&self, values: Values<'_>, bound: f64, rng: &mut impl RngCore) -> Result<Ciphertext> {
        values.check(&self.context, bound)?;
        fresh((&self.context, self.key.key_id()), values, bound, self.key.encrypt_zero(rng), |count| {
            self.context.errors().fresh_public(count)
        })
    }

    /// As [`Self::encrypt_bounded`] for real numbers.
    ///
    /// # Errors
    /// As there.
    pub fn encrypt_real(&self, values: &[f64], bound: f64, rng: &mut impl RngCore) -> Result<Ciphertext> {
        self.encrypt_bounded(&complex(values), bound, rng)
    }
}

/// Encrypts and decrypts under a secret key.
#[derive(Debug)]
pub struct Decryptor {
    context: Arc<CkksContext>,
    key: Arc<SecretKey>,
}

/// Values that may be published.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The slots, with the flooding noise in them.
    pub values: Vec<Complex64>,
    /// −log2 of the expected largest error, flooding included.
    pub precision_bits: f64,
}

impl Decryptor {
    /// A decryptor for one key.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`].
    pub fn new(context: &Arc<CkksContext>, key: Arc<SecretKey>) -> Result<Self> {
        check_key(context, key.context(), "decryptor")?;
        Ok(Self { context: Arc::clone(context), key })
    }

    /// A fresh secret-key encryption at `level`, and the seed of its second part, which the
    /// ciphertext knows too ([`Ciphertext::seed`]).
    ///
    /// # Errors
    /// As [`Encryptor::encrypt_bounded`]; [`Error::OutOfRange`] for the level.
    pub fn encrypt(
        &self,
        values: &[Complex64],
        bound: f64,
        level: usize,
        rng: &mut impl RngCore,
    ) -> Result<(Ciphertext, [u8; 32])> {
        self.encrypted(Values::Doubles(values), bound, level, rng)
    }

    /// As [`Self::encrypt`] for values of more bits than doubles have.
    ///
    /// Cost: as [`Encryptor::encrypt_wide`].
    ///
    /// # Errors
    /// As there.
    pub fn encrypt_wide(
        &self,
        values: &[WideComplex],
        bound: f64,
        level: usize,
        rng: &mut impl RngCore,
    ) -> Result<(Ciphertext, [u8; 32])> {
        self.encrypted(Values::Wide(values), bound, level, rng)
    }

    fn encrypted(
        &self,
        values: Values<'_>,
        bound: f64,
        level: usize,
        rng: &mut impl RngCore,
    ) -> Result<(Ciphertext, [u8; 32])> {
        self.context.check_level_of_callers(level)?;
        values.check(&self.context, bound)?;
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let zero = self.key.encrypt_zero(level, seed, 1, rng);
        let deviation = |count| self.context.errors().fresh_secret(count);
        let ct = fresh((&self.context, self.key.key_id()), values, bound, zero, deviation)?;
        Ok((ct.with_seed(seed), seed))
    }

    /// The slots of the ciphertext, with their errors.
    ///
    /// **Warning.** The values are doubles: they are off by up to 2^−49 of the largest slot, also if the ciphertext
    /// states a smaller error. No error is returned. Use [`Self::decrypt_wide`] for more bits.
    ///
    /// **Warning.** The errors depend on the secret key. Before the key's owner shares decrypted
    /// values, they must go through [`Self::decrypt_public`].
    ///
    /// # Errors
    /// [`Error::ContextMismatch`]; [`Error::ModulusExhausted`] if the values may have overflowed
    /// the modulus; [`Error::NotDecryptable`] if a slot exceeds the bound that the ciphertext
    /// states (because of another key, a changed ciphertext, a value outside the interval of a
    /// polynomial, or a value above an assumed bound).
    pub fn decrypt(&self, ct: &Ciphertext) -> Result<Vec<Complex64>> {
        Ok(self.context.embedding().to_slots(&self.coefficients(ct)?))
    }

    /// As [`Self::decrypt`], to some 90 bits of the largest slot.
    ///
    /// Cost: three transforms over the primes of the ciphertext instead of one, and n·log2 n operations on
    /// numbers of two doubles.
    ///
    /// **Warning.** The errors depend on the secret key, as there.
    ///
    /// # Errors
    /// As there.
    pub fn decrypt_wide(&self, ct: &Ciphertext) -> Result<Vec<WideComplex>> {
        self.checked(ct)?;
        let (needed, scale) = (ct.log2_phase(), self.context.wide_scale_of(ct.level(), ct.info.degree));
        let mut phase = self.key.phase(&ct.parts);
        let mut all = self.context.centred_wide(&phase, needed);
        phase.zeroize();
        all.iter_mut().for_each(|a| *a = *a / scale);
        let doubles = Zeroizing::new(all.iter().map(|a| a.high()).collect::<Vec<f64>>());
        check_size(ct, &doubles, &own_of(ct, &doubles))?;
        let own: Zeroizing<Vec<Wide>> = own_of(ct, &all);
        Ok(self.context.embedding().to_wide_slots(&own))
    }

    /// The real parts of the slots. As [`Self::decrypt`].
    ///
    /// # Errors
    /// As there.
    pub fn decrypt_real(&self, ct: &Ciphertext) -> Result<Vec<f64>> {
        Ok(self.decrypt(ct)?.iter().map(|z| z.re).collect())
    }

    /// The slots with noise that hides the error of the ciphertext (Li–Micciancio 2021;
    /// Li–Micciancio–Schultz–Sorrell 2022): to every coefficient a Gaussian of deviation
    /// `√(12·decryptions)·2^{κ/2}·B`, B the bound on the error, and no less than that of a fresh
    /// encryption.
    ///
    /// # Errors
    /// As [`Self::decrypt`]; [`Error::OutOfRange`] for κ outside 1..=128 or no decryptions;
    /// [`Error::PrecisionExhausted`] if less than one bit of the values would be left.
    pub fn decrypt_public(
        &self,
        ct: &Ciphertext,
        publication: Publication,
        rng: &mut impl RngCore,
    ) -> Result<Published> {
        let Publication { security_bits, decryptions } = publication;
        publication.check()?;
        let mut coefficients = self.coefficients(ct)?;
        // The l2 norm of the error's coefficients is at most its canonical norm.
        let least = self.context.fresh_deviation(ct.level(), coefficients.len());
        // Noise below the last bit of a double would hide nothing.
        let last_bit = ct.info.magnitude.largest() * DOUBLES;
        let error = ct.error_bound().max(ErrorModel::BOUND_FACTOR * least).max(last_bit);
        let deviation = (12.0 * decryptions as f64).sqrt() * (security_bits as f64 / 2.0).exp2() * error;
        let flooded = deviation * (coefficients.len() as f64).sqrt() * (1.0 + (ct.slots() as f64).ln()).sqrt();
        let precision_bits = -(flooded + (-ct.precision_bits()).exp2()).log2();
        let left_bits = precision_bits + ct.magnitude().log2();
        if left_bits < 1.0 {
            return Err(Error::PrecisionExhausted { left_bits });
        }
        flooding::add_gaussian(&mut coefficients, deviation, rng);
        let values = self.context.embedding().to_slots(&coefficients);
        Ok(Published { values, precision_bits })
    }

    /// The 2s coefficients of the s slots, in units of the message.
    fn coefficients(&self, ct: &Ciphertext) -> Result<Zeroizing<Vec<f64>>> {
        self.checked(ct)?;
        own_coefficients(ct, self.key.phase(&ct.parts))
    }

    /// Refuses ciphertexts of another context or key, and values that may have overflowed.
    fn checked(&self, ct: &Ciphertext) -> Result<()> {
        if !Arc::ptr_eq(&ct.context, &self.context) {
            let id = |context: &CkksContext| context.rlwe().params().id().to_string();
            return Err(Error::ContextMismatch {
                operation: "decrypt",
                left: id(&self.context),
                right: id(&ct.context),
            });
        }
        check_same_keys("decrypt", self.key.key_id(), ct.key)?;
        let (needed, room) = (ct.log2_phase(), self.context.room(ct.level()));
        if needed >= room {
            return Err(ct.outgrown("decrypt", needed));
        }
        Ok(())
    }
}

/// The values of a phase of the ciphertext over its primes or some of them, which hold it.
pub(crate) fn open_phase(ct: &Ciphertext, phase: Poly<Eval>) -> Result<Vec<Complex64>> {
    Ok(ct.context.embedding().to_slots(&own_coefficients(ct, phase)?))
}

/// The 2s coefficients of a phase in units of the message. The phase is wiped.
fn own_coefficients(ct: &Ciphertext, mut phase: Poly<Eval>) -> Result<Zeroizing<Vec<f64>>> {
    let mut all = ct.context.centred(&phase, ct.log2_phase());
    phase.zeroize();
    all.iter_mut().for_each(|a| *a /= ct.scale());
    let own = own_of(ct, &all);
    check_size(ct, &all, &own)?;
    Ok(own)
}

/// Refuses a phase that is larger than the ciphertext says. Every slot is at most the stated
/// magnitude and error together: of the whole ring by the error that is stated there (under
/// another key a phase is uniform, and its slots are about √n times its largest coefficient),
/// and of the ciphertext's own by theirs, in proportion to which publication adds noise; entries
/// and the slots beside them each by their own magnitude.
fn check_size(ct: &Ciphertext, all: &[f64], own: &[f64]) -> Result<()> {
    let known = &ct.info.magnitude;
    let whole = [known.largest(); 2];
    // At scales of more than 53 bits errors are smaller than those of the transforms here.
    let of_transforms = known.largest() * TRANSFORMS;
    let squares = |(coefficients, [entry, beside], error): (&[f64], [f64; 2], f64)| {
        let [entry, beside] = [entry, beside].map(|bound| (bound + error + of_transforms).max(f64::MIN_POSITIVE));
        let mut slots = ct.context.embedding().to_slots(coefficients);
        let stated = (0..slots.len()).map(|j| if j < known.count() { entry } else { beside });
        // A square that leaves the doubles is infinite, and refused.
        let squares = slots.iter().zip(stated).map(|(z, stated)| (z / stated).norm_sqr()).collect();
        slots.iter_mut().for_each(|z| {
            z.re.zeroize();
            z.im.zeroize();
        });
        Zeroizing::<Vec<f64>>::new(squares)
    };
    let own = (own, [known.entries(), known.rest()], ct.error_bound());
    let [whole, own] = [(all, whole, ct.whole_error_bound()), own].map(squares);
    let largest = norm::largest([&whole, &own].map(|squares| norm::largest(squares.iter().copied())));
    match is_within(largest) {
        true => Ok(()),
        false => Err(Error::NotDecryptable { beyond: beyond(&own) }),
    }
}

/// The coefficients of the subring that a ciphertext's slots live in.
fn own_of<T: Copy + Zeroize>(ct: &Ciphertext, all: &[T]) -> Zeroizing<Vec<T>> {
    let gap = all.len() / (2 * ct.slots());
    Zeroizing::new(all.iter().step_by(gap).copied().collect())
}

/// Transforms in double precision are off by less than this share of the largest slot.
const TRANSFORMS: f64 = 1.0 / (1u64 << 40) as f64;

/// Whether the square of a slot over its bound is one that the bound allows.
fn is_within(square: f64) -> bool {
    square.sqrt() <= 1.0 + 2f64.powi(-40)
}

/// The slots whose squares are larger; none if only the slots that the ciphertext does not have are.
/// Time depends on which they are, and is spent for a ciphertext that is refused.
fn beyond(squares: &[f64]) -> Option<Beyond> {
    let mut all = squares.iter().enumerate().filter(|(_, square)| !is_within(**square));
    let (slot, _) = all.next()?;
    Some(Beyond { slot, count: 1 + all.count() })
}
