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
    /// −log2 of the probability that the bound on the removed part may fail with.
    pub failure_bits: f64,
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
    /// key generation accepts.
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

    /// The least number of digits that hold a part of this size to both sides; 64 if there is none.
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
<<<<<<< HEAD
        let is_sound = (self.prime, self.message_exponent, self.exponent) == (prime, r, r + self.removed)
            && self.removed > 0
            && self.bound <= Self::held_by(prime, self.removed)
            && self.log2_switched.is_finite()
            && self.row_square.is_finite()
            && self.failure_bits >= 0.0;
        if is_sound { Ok(()) } else { refused(format!("these digits for {prime}^{r}: {self:?}")) }
=======
        if cleared < r || exponent <= cleared || !(0.0..=1.0).contains(&alpha) {
            let what = format!("e = {exponent}, e' = {cleared} and α = {alpha} must satisfy r ≤ e' < e and 0 ≤ α ≤ 1");
            return refused(what);
        }
        let removed = exponent - cleared;
        let bound = held_by(prime, removed);
        let share = (prime as f64).powi(r as i32 - cleared as i32);
        let most = (bound as f64 + 1.0 - 2.0 * share) / (1.0 + 3.0 * share);
        Ok(Self {
            prime,
            message_exponent: r,
            exponent: r + removed,
            removed,
            bound,
            cleared,
            alpha,
            row_square: row_square_limit(shape, spec.ephemeral_weight),
            failure_bits: Rounding::new(shape, spec.ephemeral_weight).failure_bits(most),
        })
    }

    /// Refuses what words of 128 bits and digits below 2^45 do not hold.
    fn check_sizes(&self) -> Result<()> {
        let &Self { prime, exponent, removed, cleared, .. } = self;
        let log2 = |digits: u32| (prime as f64).log2() * digits as f64;
        if cleared > 0 && log2(2 * cleared + removed) >= 120.0 {
            let what = format!("q = {prime}^{} + 1 is too large; use FrontEnd::PrimePower", removed + cleared);
            return Err(BootstrapError::Unsupported { what }.into());
        }
        if log2(exponent) >= 45.0 {
            let what = format!("p^e = {prime}^{exponent} is not below 2^45; use a smaller plaintext modulus");
            return Err(BootstrapError::Unsupported { what }.into());
        }
        Ok(())
    }

    /// log2 of the modulus that the ciphertext is switched to: p^e, or p^ẽ + 1.
    pub(crate) fn log2_switched(&self) -> f64 {
        let digits = if self.cleared == 0 { self.exponent } else { self.removed + self.cleared };
        (self.prime as f64).log2() * digits as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AppendixASpec;
    use windlass_schemes::error::Error;

    fn solved(m: u64, modulus: (u64, u32), weight: u64) -> AppendixA {
        AppendixA::solve(AppendixASpec { m, modulus, weight, level_bits: 25, conservative: false }).unwrap()
    }

    /// What the published parameters promise is what their digits hold: less than 128 bits for
    /// composite m, and all of them where the least digits of ours are no more.
    #[test]
    fn the_rule_of_appendix_a_gives_its_digits_and_what_they_promise() {
        for (m, modulus, digits, least, most) in
            [(18631, (2, 1), 7, 5.0, 40.0), (21845, (2, 1), 7, 0.0, 5.0), (42799, (2, 8), 21, 1024.0, 1025.0)]
        {
            let found = solved(m, modulus, AppendixA::FIRST_WEIGHT);
            let shape = Shape::new(m).unwrap();
            let formula = DecryptionFormula::new(&shape, modulus, &BootstrapSpec::by_appendix_a(found)).unwrap();
            assert_eq!((formula.exponent, formula.cleared), (digits, found.cleared), "{formula:?}");
            assert_eq!(formula.alpha.to_bits(), found.alpha.to_bits());
            assert!((least..most).contains(&formula.failure_bits), "{formula:?}");
            let own = BootstrapSpec { appendix_a: None, ..BootstrapSpec::by_appendix_a(found) };
            let own = DecryptionFormula::new(&shape, modulus, &own).unwrap();
            assert!(own.removed > formula.removed || modulus.1 > 1, "{own:?}");
            // The solver's share, for our own digits.
            assert!((0.4..0.5).contains(&own.alpha), "{own:?}");
        }
        // A power of two with digits for every rounding error that there can be.
        let found = solved(64, (7, 1), 6);
        let formula = DecryptionFormula::new(&Shape::new(64).unwrap(), (7, 1), &BootstrapSpec::by_appendix_a(found));
        assert_eq!(formula.unwrap().failure_bits.to_bits(), 1024f64.to_bits());
    }

    #[test]
    fn parameters_of_appendix_a_for_something_else_are_refused() {
        let found = solved(64, (7, 1), 6);
        let refused =
            |modulus, spec: &BootstrapSpec| match DecryptionFormula::new(&Shape::new(64).unwrap(), modulus, spec) {
                Err(Error::Bootstrap(BootstrapError::Unsupported { what })) => what,
                other => panic!("{other:?}"),
            };
        let spec = BootstrapSpec::by_appendix_a(found);
        assert!(refused((17, 1), &spec).contains("solve them again for these"));
        let wrong = BootstrapSpec { front_end: FrontEnd::PrimePower, ..spec.clone() };
        assert!(refused((7, 1), &wrong).contains("NearPrimePower"));
        for wrong in [
            AppendixA { cleared: 0, ..found },
            AppendixA { exponent: found.cleared, ..found },
            AppendixA { alpha: 1.5, ..found },
            AppendixA { alpha: f64::NAN, ..found },
        ] {
            let spec = BootstrapSpec { appendix_a: Some(wrong), ..spec.clone() };
            assert!(refused((7, 1), &spec).contains("must satisfy"));
        }
    }

    #[test]
    fn failure_bits_are_finite_and_positive() {
        let shape = Shape::new(64).unwrap();
        let formula = |failure_bits| {
            DecryptionFormula::new(
                &shape,
                (257, 1),
                &BootstrapSpec { failure_bits, ephemeral_weight: 8, ..BootstrapSpec::default() },
            )
        };
        for got in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
            match formula(got) {
                Err(Error::Bootstrap(BootstrapError::FailureBits { got: named })) => {
                    assert_eq!(named.to_bits(), got.to_bits());
                }
                other => panic!("{got}: {other:?}"),
            }
        }
        // More of them, and the bound is larger; never above the one that holds for certain.
        let bound = |failure_bits| formula(failure_bits).unwrap().bound;
        assert!(bound(1.0) < bound(128.0) && bound(128.0) <= bound(1e300) && bound(1e300) == (9.0 / 2.0 + 0.49) as u64);
>>>>>>> words-renamed
    }
}
