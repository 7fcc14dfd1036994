//! The digits of one bootstrapping: how many are removed, and the largest value of the removed
//! part.

use windlass_ring::kernels::Shape;
use windlass_schemes::error::{BootstrapError, Result};

use super::rows::{row_square_limit, row_sum};

/// What a decryption formula starts from.
#[derive(Debug, Clone, Copy)]
pub struct FormulaSpec<'a> {
    /// The ring.
    pub shape: &'a Shape,
    /// p and r: messages are modulo p^r.
    pub modulus: (u64, u32),
    /// The weight of the ephemeral secret, from 1 to n.
    pub weight: u32,
    /// How many such secrets the ephemeral secret is the sum of: one for each party that holds the key.
    pub parties: u32,
    /// −log2 of the probability that the bound on the removed part may fail with.
    pub failure_bits: f64,
}

impl FormulaSpec<'_> {
    /// How large the removed part may be.
    pub fn rounding(&self) -> FrontEndRounding {
        FrontEndRounding::new(self.shape, self.weight).of_sum(self.parties)
    }
}

/// The digits of one bootstrapping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecryptionFormula {
    /// p.
    pub prime: u64,
    /// r: messages are modulo p^r.
    pub message_exponent: u32,
    /// e: digits are removed modulo p^e.
    pub exponent: u32,
    /// v = e − r.
    pub removed: u32,
    /// The bound on every coefficient of the removed part, except with probability
    /// [`Self::failure_bits`].
    pub bound: u64,
    /// log2 of the modulus that the ciphertext is switched to: p^e, or that of another
    /// [`super::DecryptionMethod`].
    pub log2_switched: f64,
    /// The greatest sum of squares W of a row of the ephemeral secret's multiplication matrix that
    /// key generation accepts; of a sum of secrets, one for each party, W divided by the square of their number
    /// for each.
    pub row_square: f64,
    /// −log2 of the probability that [`Self::bound`] fails; 0 where nothing is promised.
    pub failure_bits: f64,
}

/// How large a coefficient of δ_0 + δ_1·s̃ may be, δ uniform in \[−1/2, 1/2\].
///
/// Every coefficient is sub-Gaussian of variance (1 + W)/12, and one of n exceeds k·√((1+W)/12) with
/// probability at most 2^{−f} for k = √(2·ln 2·(f + log2 2n)). No coefficient exceeds (1 + 2^t·h)/2
/// at all, t the number of odd axes and h the weight: less, for powers of two and small h.
#[derive(Debug, Clone, Copy)]
pub struct FrontEndRounding {
    /// W: key generation draws ephemeral secrets until no row of the multiplication matrix has a
    /// larger sum of squares.
    pub row_square: f64,
    /// √((1+W)/12).
    deviation: f64,
    /// (1 + 2^t·h)/2.
    certain: f64,
    /// log2 2n.
    log2_both_sides: f64,
}

impl FrontEndRounding {
    /// What is certain counts as 2^−1024.
    const CERTAIN_BITS: f64 = 1024.0;

    /// Under a secret of this weight.
    pub fn new(shape: &Shape, weight: u32) -> Self {
        let row_square = row_square_limit(shape, weight);
        Self {
            row_square,
            deviation: ((1.0 + row_square) / 12.0).sqrt(),
            certain: (1.0 + row_sum(shape, weight)) / 2.0,
            log2_both_sides: (2.0 * shape.n() as f64).log2(),
        }
    }

    /// Under a sum of so many secrets: a row of the sum is at most as many times as long as that of one.
    #[must_use]
    pub fn of_sum(self, parties: u32) -> Self {
        let parties = f64::from(parties);
        let row_square = parties * parties * self.row_square;
        Self {
            row_square,
            deviation: ((1.0 + row_square) / 12.0).sqrt(),
            certain: (self.certain - 0.5) * parties + 0.5,
            ..self
        }
    }

    /// The bound on every coefficient, except with probability 2^−f.
    pub fn bound(&self, failure_bits: f64) -> f64 {
        let tail = (2.0 * std::f64::consts::LN_2 * (failure_bits + self.log2_both_sides)).sqrt();
        (tail * self.deviation).min(self.certain)
    }

    /// f for a given bound, at most 1024; 0 where it promises nothing.
    pub fn failure_bits(&self, bound: f64) -> f64 {
        if bound >= self.certain {
            return Self::CERTAIN_BITS;
        }
        let tail = bound.max(0.0) / self.deviation;
        (tail * tail / (2.0 * std::f64::consts::LN_2) - self.log2_both_sides).clamp(0.0, Self::CERTAIN_BITS)
    }
}

impl DecryptionFormula {
    /// What the noise of a ciphertext may be after rounding to modulus p^e, beside the rounding
    /// itself.
    pub(crate) const BEFORE: f64 = 0.49;

    /// The largest part that v digits hold, to both sides; for p = 2, whose digits are 0 and 1, with
    /// 2^{v−1} added to it.
    pub fn held_by(prime: u64, digits: u32) -> u64 {
        let whole = prime.saturating_pow(digits);
        if prime == 2 { (whole / 2).saturating_sub(1) } else { (whole - 1) / 2 }
    }

    /// The smallest number of digits that hold every part from −bound to bound; 64 if no smaller one
    /// does.
    pub fn digits_for(prime: u64, bound: u64) -> u32 {
        (1..64).find(|&digits| Self::held_by(prime, digits) >= bound).unwrap_or(64)
    }

    /// Refuses digits that do not fit together, and what digits below 2^45 do not hold.
    pub(super) fn check(&self, (prime, r): (u64, u32)) -> Result<()> {
        let refused = |what: String| Err(BootstrapError::Unsupported { what }.into());
        let log2 = |digits: u32| (prime as f64).log2() * f64::from(digits);
        if log2(self.exponent) >= 45.0 {
            let what = format!("p^e = {prime}^{} is not below 2^45; use a smaller plaintext modulus", self.exponent);
            return refused(what);
        }
        let is_sound = (self.prime, self.message_exponent, self.exponent) == (prime, r, r + self.removed)
            && self.removed > 0
            && self.bound <= Self::held_by(prime, self.removed)
            && self.log2_switched.is_finite()
            && self.row_square.is_finite()
            && self.failure_bits >= 0.0;
        if is_sound { Ok(()) } else { refused(format!("these digits for {prime}^{r}: {self:?}")) }
    }
}
