//! The digits of one bootstrapping: how many are removed, and the largest value of the removed
//! part.

use windlass_ring::kernels::Shape;
use windlass_ring::slots::PrimePower;
use windlass_schemes::error::{BootstrapError, Result};

use super::appendix_a::{AppendixA, balanced_share};
use super::rows::{row_square_limit, row_sum};
use super::spec::{BootstrapSpec, FrontEnd};

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
    /// e' of Halevi–Shoup 2015: digits that are made zero and divided out beforehand; 0 for
    /// [`FrontEnd::PrimePower`].
    pub cleared: u32,
    /// α of Halevi–Shoup 2015, Lemma 5.2: the share of multiples of p^r in what makes digits zero,
    /// beside multiples of p^ẽ + 1; 0 for [`FrontEnd::PrimePower`].
    pub alpha: f64,
    /// The greatest sum of squares W of a row of the ephemeral secret's multiplication matrix that
    /// key generation accepts.
    pub row_square: f64,
    /// −log2 of the probability that [`Self::bound`] fails: [`BootstrapSpec::failure_bits`], or what
    /// [`BootstrapSpec::appendix_a`] leaves of it; 0 where nothing is promised.
    pub failure_bits: f64,
}

/// How large a coefficient of δ_0 + δ_1·s̃ may be, δ uniform in \[−1/2, 1/2\].
///
/// Every coefficient is sub-Gaussian of variance (1 + W)/12, and one of n exceeds k·√((1+W)/12) with
/// probability at most 2^{−f} for k = √(2·ln 2·(f + log2 2n)). No coefficient exceeds (1 + 2^t·h)/2
/// at all, t the number of odd axes and h the weight: less, for powers of two and small h.
struct Rounding {
    /// √((1+W)/12).
    deviation: f64,
    /// (1 + 2^t·h)/2.
    certain: f64,
    /// log2 2n.
    log2_both_sides: f64,
}

impl Rounding {
    /// What is certain counts as 2^−1024.
    const CERTAIN_BITS: f64 = 1024.0;

    fn new(shape: &Shape, weight: u32) -> Self {
        Self {
            deviation: ((1.0 + row_square_limit(shape, weight)) / 12.0).sqrt(),
            certain: (1.0 + row_sum(shape, weight)) / 2.0,
            log2_both_sides: (2.0 * shape.n() as f64).log2(),
        }
    }

    /// The bound on every coefficient, except with probability 2^−f.
    fn bound(&self, failure_bits: f64) -> f64 {
        let tail = (2.0 * std::f64::consts::LN_2 * (failure_bits + self.log2_both_sides)).sqrt();
        (tail * self.deviation).min(self.certain)
    }

    /// f for a given bound; 0 where it promises nothing.
    fn failure_bits(&self, bound: f64) -> f64 {
        if bound >= self.certain {
            return Self::CERTAIN_BITS;
        }
        let tail = bound.max(0.0) / self.deviation;
        (tail * tail / (2.0 * std::f64::consts::LN_2) - self.log2_both_sides).clamp(0.0, Self::CERTAIN_BITS)
    }
}

/// The largest part that v digits hold, to both sides; for p = 2, whose digits are 0 and 1, with
/// 2^{v−1} added to it.
fn held_by(prime: u64, digits: u32) -> u64 {
    let whole = prime.saturating_pow(digits);
    if prime == 2 { (whole / 2).saturating_sub(1) } else { (whole - 1) / 2 }
}

impl DecryptionFormula {
    /// What the noise of a ciphertext may be after rounding to modulus p^e, beside the rounding
    /// itself.
    pub(crate) const BEFORE: f64 = 0.49;

    /// The least number of digits that holds the rounding error of the front end, or those of
    /// [`BootstrapSpec::appendix_a`].
    ///
    /// Rounding c_0 and c_1 to modulus p^e adds δ_0 + δ_1·s̃ with δ uniform in \[−1/2, 1/2\], whose
    /// coefficients are sub-Gaussian with a variance that key generation bounds; what was there
    /// before the rounding adds less than a half.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::Ring`] if p^r is not a supported prime power;
    /// [`BootstrapError::EphemeralWeight`]; [`BootstrapError::FailureBits`];
    /// [`BootstrapError::Unsupported`] for a plaintext modulus that is too large, and for parameters
    /// of Appendix A that belong to another m, p^r or front end.
    pub fn new(shape: &Shape, modulus: (u64, u32), spec: &BootstrapSpec) -> Result<Self> {
        let (prime, r) = modulus;
        PrimePower::new(prime, r)?;
        let (weight, n) = (spec.ephemeral_weight, shape.n());
        if weight == 0 || weight as usize > n {
            return Err(BootstrapError::EphemeralWeight { weight, n }.into());
        }
        let got = spec.failure_bits;
        if !(got.is_finite() && got > 0.0) {
            return Err(BootstrapError::FailureBits { got }.into());
        }
        let formula = match &spec.appendix_a {
            None => Self::own(shape, modulus, spec),
            Some(found) => Self::by_appendix_a(shape, modulus, spec, found)?,
        };
        formula.check_sizes()?;
        Ok(formula)
    }

    fn own(shape: &Shape, (prime, r): (u64, u32), spec: &BootstrapSpec) -> Self {
        let weight = spec.ephemeral_weight;
        let spread = Rounding::new(shape, weight).bound(spec.failure_bits);
        // With q̃ = p^ẽ + 1: (z_0 + k)/p^{e'} is at most spread·(1 + 3p^{r−e'}) + 2p^{r−e'}, so two
        // more cover it once p^{e'−r} ≥ 3·spread + 2.
        let near = spec.front_end == FrontEnd::NearPrimePower;
        let bound = (spread + if near { 2.0 } else { Self::BEFORE }).floor() as u64;
        let cleared = if near { r + (3.0 * spread + 2.0).log(prime as f64).ceil() as u32 } else { 0 };
        let alpha = if near { balanced_share((prime, r), cleared, weight, shape.n()) } else { 0.0 };
        let removed = (1..64).find(|&digits| held_by(prime, digits) >= bound).unwrap_or(64);
        Self {
            prime,
            message_exponent: r,
            exponent: r + removed,
            removed,
            bound,
            cleared,
            alpha,
            row_square: row_square_limit(shape, weight),
            failure_bits: spec.failure_bits,
        }
    }

    /// e − e' digits are removed, for all their values. With s = p^{r−e'} the removed part is at
    /// most T·(1 + 3s) + 2s for a rounding error of at most T. This gives the largest allowed T.
    fn by_appendix_a(shape: &Shape, (prime, r): (u64, u32), spec: &BootstrapSpec, found: &AppendixA) -> Result<Self> {
        let &AppendixA { exponent, cleared, alpha, .. } = found;
        let refused = |what: String| Err(BootstrapError::Unsupported { what }.into());
        if spec.front_end != FrontEnd::NearPrimePower {
            return refused("the parameters of Appendix A are for FrontEnd::NearPrimePower".into());
        }
        if (found.spec.m, found.spec.modulus) != (shape.m(), (prime, r)) {
            let (m, (p, s)) = (found.spec.m, found.spec.modulus);
            let what = format!(
                "the parameters of Appendix A are for m = {m} and p^r = {p}^{s}, not m = {} and {prime}^{r}; solve them again for these",
                shape.m()
            );
            return refused(what);
        }
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
    }
}
