//! The parameters of the 2015 decryption formula by the rule of its authors (Halevi–Shoup 2015,
//! Appendix A).
//!
//! Bootstrapping in Windlass uses [`DecryptionFormula`](windlass::bootstrap::DecryptionFormula)
//! instead, whose bound has a stated probability. This module exists for comparison.

use windlass::Result;
use windlass::bootstrap::FrontEndRounding;
use windlass::ring::RingError;
use windlass::ring::kernels::Shape;
use windlass::ring::slots::PrimePower;
use windlass::rlwe::Limits;

/// What the rule of Appendix A starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendixASpec {
    /// The cyclotomic index m.
    pub m: u64,
    /// p and r: messages are modulo p^r.
    pub modulus: (u64, u32),
    /// The t to start from: [`AppendixA::FIRST_WEIGHT`] in the paper.
    pub weight: u64,
    /// B, the bits between two moduli of the chain: a p^e above 2^{B−1} is too big.
    pub level_bits: u32,
    /// Whether to keep one digit more from the start.
    pub conservative: bool,
}

/// The solution: the modulus q = p^e + 1, e' digits of which are made zero, the share α of the
/// first of the two ways to do so, and the largest weight t for which the inequalities hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AppendixA {
    /// What it started from; `conservative` also where p^e was too big without.
    pub spec: AppendixASpec,
    /// e: a ciphertext is switched to the modulus p^e + 1.
    pub exponent: u32,
    /// e' as published: so many digits are made zero and divided out.
    pub cleared: u32,
    /// α: the share of the change that multiples of p^r make, and not those of q.
    pub alpha: f64,
    /// t.
    pub weight: u64,
}

impl AppendixA {
    /// The first t of the paper's table. The text says 56, but the α of all rows are those of 57 to
    /// five digits: the norm of (1, s̃) for 56 coefficients in s̃.
    pub const FIRST_WEIGHT: u64 = 57;

    /// Solves for e, e', α and t.
    ///
    /// With T = ⌈log_p(t + 2)⌉ and the noise n = p^r·√((t + 1)·φ(m)/3), twice what switching adds,
    /// the two conditions of Eqn. 8 become, for e − e' = r − 1 + T and γ = (t + 1)/p^T,
    ///
    /// p^e > max { 4(t + n)/(1 − 2αγ), 2(t + 1)·p^r/(1 − 2(1 − α)γ) }  (Eqn. 9).
    ///
    /// α in \[0, 1\] makes both equal, e is the least that is above. Where p^e is too big, or from
    /// the start if the specification says so, e − e' is one more and γ is divided by p. Last t is
    /// raised (or lowered: Eqn. 9 leaves out ones) as far as Eqn. 8 allows, n as before.
    ///
    /// # Errors
    /// [`windlass::Error::OutOfRange`] for t = 0, more than 62 bits between moduli, or e' < r;
    /// [`windlass::Error::Ring`] for p^r that is no supported prime power (r = 0), or an unsupported m.
    pub fn solve(spec: AppendixASpec) -> Result<Self> {
        let AppendixASpec { m, modulus: (p, r), weight, level_bits, conservative } = spec;
        let shape = Shape::new(m).map_err(RingError::from)?;
        let message = PrimePower::new(p, r)?.value() as f64;
        Limits::between(1, shape.n()).check("the weight of a secret", weight as usize)?;
        Limits::between(1, 62).check("the bits between two moduli", level_bits)?;

        // A first e, without the cautious digit unless it is asked for.
        let noise = noise(message, weight, shape.n());
        let digits = (1..).find(|&k| p.saturating_pow(k) >= weight + 2).expect("a power is as large");
        let choose = |spare: u32| Choice::new(p, message, weight, noise, digits + spare);
        let mut choice = choose(conservative.into());
        let mut spare = u32::from(conservative);
        let largest = f64::from(level_bits - 1).exp2();
        if spare == 0 && (p as f64).powi(choice.exponent as i32) > largest {
            (choice, spare) = (choose(1), 1);
        }

        // e' follows from it, and so does the largest weight.
        let kept = r - 1 + digits + spare;
        Limits::at_least(kept + r).check("e, the digits of q", choice.exponent)?;
        let solved = Self {
            spec: AppendixASpec { conservative: spare == 1, ..spec },
            exponent: choice.exponent,
            cleared: choice.exponent - kept,
            alpha: choice.alpha,
            weight,
        };
        Ok(Self { weight: solved.largest_weight(message, noise), ..solved })
    }

    /// The digits that are extracted, e − e' + r; for p = 2 and r > 2 one fewer (§5.3: the r bits of
    /// a message follow from r − 1 extractions).
    pub fn digits(&self) -> u32 {
        let (p, r) = self.spec.modulus;
        self.exponent - self.cleared + r - u32::from(p == 2 && r > 2)
    }

    /// The digits that need extraction: r − 1 fewer.
    ///
    /// Lemma 5.2 is stated with δ modulo p^{e'−1}, which makes p^{r+e'−1} divide z. With δ modulo
    /// p^{e'−r} divisibility by p^{e'} follows from the same proof: what the inequalities allow for
    /// is e' + r − 1 digits, of which the published e' leaves r − 1 unused. For r = 1 they agree.
    pub fn least_digits(&self) -> u32 {
        self.digits() - (self.spec.modulus.1 - 1)
    }

    /// −log2 of the probability that a refresh fails with these parameters, by the bound of
    /// [`DecryptionFormula`](windlass::bootstrap::DecryptionFormula): that one of n sub-Gaussian coefficients,
    /// with rows of the secret as long as key generation here accepts, exceeds what Lemma 5.1
    /// allows. The paper counts on no ring constant, (t + 1)·‖c‖, in its place; 0 says that the
    /// bound promises nothing.
    ///
    /// # Errors
    /// As [`Self::solve`].
    pub fn failure_bits(&self) -> Result<f64> {
        let shape = Shape::new(self.spec.m).map_err(RingError::from)?;
        let message = (self.spec.modulus.0 as f64).powi(self.spec.modulus.1 as i32);
        let (quarter, [by_message, by_modulus]) = (self.quarter(), self.half_widths(message));
        let row_square = FrontEndRounding::new(&shape, self.weight as u32).row_square;
        // Uniform in an interval of half width a: the variance of a sum is a²/3 for each unit. Noise
        // that is twice what switching adds is a sum of the half width p^r.
        let room = |half_width: f64| quarter / (half_width * ((1.0 + row_square) / 3.0).sqrt());
        let tail = room(by_message + message).min(room(by_modulus));
        let bits = tail * tail / (2.0 * std::f64::consts::LN_2) - (2.0 * shape.n() as f64).log2();
        Ok(bits.max(0.0))
    }

    /// (p^e + 1)/4.
    fn quarter(&self) -> f64 {
        ((self.spec.modulus.0 as f64).powi(self.exponent as i32) + 1.0) / 4.0
    }

    /// What a coefficient grows by: \[u'\]_q in units of 1, u' in units of q.
    fn half_widths(&self, message: f64) -> [f64; 2] {
        let (p, r) = self.spec.modulus;
        let change = (p as f64).powi((r + self.cleared - 1) as i32) / 2.0;
        [1.0 + self.alpha * change, 1.0 + (1.0 - self.alpha) * change + message / 2.0]
    }

    /// The largest t with `(t + 1)·widths + (n, 1) < q/4`, Eqn. 8.
    fn largest_weight(&self, message: f64, noise: f64) -> u64 {
        let [by_message, by_modulus] = self.half_widths(message);
        let most = ((self.quarter() - noise) / by_message).min((self.quarter() - 1.0) / by_modulus);
        (most.ceil() as u64).saturating_sub(2)
    }
}

/// α and e for one number of digits.
struct Choice {
    alpha: f64,
    exponent: u32,
}

impl Choice {
    /// α where both sides of Eqn. 9 are equal, and the least e above them.
    fn new(p: u64, message: f64, weight: u64, noise: f64, digits: u32) -> Self {
        let (p, weight) = (p as f64, weight as f64);
        let share = (weight + 1.0) / p.powi(digits as i32);
        let [by_noise, by_size] = [4.0 * (weight + noise), 2.0 * (weight + 1.0) * message];
        let ratio = by_noise / by_size;
        let equal = (1.0 + ratio * (2.0 * share - 1.0)) / (2.0 * share * (1.0 + ratio));
        let alpha = equal.clamp(0.0, 1.0);
        // Where `equal` is outside, share is below 1/2, so that both denominators are positive.
        let least = (by_noise / (1.0 - 2.0 * alpha * share)).max(by_size / (1.0 - 2.0 * (1.0 - alpha) * share));
        Self { alpha, exponent: (1.0 + least.log(p)).floor() as u32 }
    }
}

/// α = 1/2 − (n − (t + 1)·p^r/2)/((t + 1)·p^{r+e'−1}) for given digits, in \[0, 1\]: with it the two
/// conditions of Eqn. 8 ask for the same modulus. n is twice what switching adds.
pub(super) fn balanced_share((p, r): (u64, u32), cleared: u32, weight: u32, n: usize) -> f64 {
    let (message, norm) = ((p as f64).powi(r as i32), f64::from(weight) + 1.0);
    let change = norm * (p as f64).powi((r + cleared) as i32 - 1);
    (0.5 - (noise(message, weight.into(), n) - norm * message / 2.0) / change).clamp(0.0, 1.0)
}

/// p^r·√((t + 1)·φ(m)/3).
fn noise(message: f64, weight: u64, n: usize) -> f64 {
    message * ((weight + 1) as f64 * n as f64 / 3.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    use windlass::Error;

    fn solve(m: u64, modulus: (u64, u32), level_bits: u32, conservative: bool) -> Result<AppendixA> {
        AppendixA::solve(AppendixASpec { m, modulus, weight: AppendixA::FIRST_WEIGHT, level_bits, conservative })
    }

    /// Σ c_i as under a secret of t ones, every c_i made divisible as in Lemma 5.2 with the share α:
    /// Lemma 5.1 still gives the message, out of the digits that are said to be extracted. The c_i
    /// are random, or all of them ask for nearly the largest change, in one direction.
    fn decrypts(found: &AppendixA, (cleared, aligned): (u32, bool), noise: i128, next: &mut impl FnMut() -> i128) {
        let ((p, r), e) = (found.spec.modulus, found.exponent);
        let (p, q) = (p as i128, (p as i128).pow(e) + 1);
        let (message, unit) = (p.pow(r), p.pow(cleared));
        let part = |_| match aligned {
            true => (next().rem_euclid(q / unit) - q / unit / 2) * unit - (unit / message / 2 - 1) * message,
            false => next().rem_euclid(q) - q / 2,
        };
        let mut parts: Vec<i128> = (0..=found.weight).map(part).collect();
        let wanted = next().rem_euclid(message);
        let small = next().rem_euclid(2 * noise / message) - noise / message;
        let sum: i128 = parts.iter().sum();
        parts[0] += (wanted + message * small - sum) % q;
        let made = |z: &i128| {
            let centred = |x: i128, modulus: i128| (x + modulus / 2).rem_euclid(modulus) - modulus / 2;
            let first = z + centred(-z, message) * q;
            let delta = centred(-first / message, unit / message);
            let by_message = (found.alpha * delta as f64).ceil() as i128;
            first + message * (by_message + (delta - by_message) * q)
        };
        let z: i128 = parts.iter().map(made).sum();
        assert_eq!(z % unit, 0);
        let (e, rest) = (e - cleared, z / unit);
        // The digits from position e − e' on, balanced below: −(what is left), Lemma 5.1.
        let whole = p.pow(e);
        let low = if p == 2 { rest.rem_euclid(whole) } else { (rest + whole / 2).rem_euclid(whole) - whole / 2 };
        let carry = i128::from(p == 2 && 2 * low >= whole);
        assert_eq!((-((rest - low) / whole) - carry).rem_euclid(message), wanted, "{found:?}");
    }

    #[test]
    fn solutions_decrypt_and_lemma_5_2_clears_more_than_was_published() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            i128::from(state >> 8)
        };
        for (m, modulus, bits, conservative) in [
            (18631, (2, 1), 23, false),
            (35113, (2, 1), 25, true),
            (45551, (17, 1), 25, false),
            (51319, (127, 1), 25, false),
            (42799, (2, 8), 25, false),
        ] {
            let found = solve(m, modulus, bits, conservative).unwrap();
            let most = found.cleared + modulus.1 - 1;
            // For p = 2 and r > 2 one bit follows from the others.
            let follows = u32::from(modulus == (2, 8));
            assert_eq!(found.exponent - most + modulus.1 - follows, found.least_digits());
            assert_eq!(found.digits(), found.least_digits() + modulus.1 - 1);
            let message = (modulus.0 as f64).powi(modulus.1 as i32);
            let noise = noise(message, found.weight, Shape::new(m).unwrap().n()) as i128;
            for round in 0..300 {
                for cleared in [found.cleared, most] {
                    decrypts(&found, (cleared, round % 2 == 0), noise, &mut next);
                }
            }
        }
    }

    #[test]
    fn what_has_no_solution_is_refused() {
        assert!(matches!(solve(18631, (2, 0), 23, false), Err(Error::Ring(_))));
        assert!(matches!(solve(18631, (6, 1), 23, false), Err(Error::Ring(_))));
        for bits in [0, 63] {
            assert!(matches!(solve(18631, (2, 1), bits, false), Err(Error::OutOfRange(_))));
        }
        let spec = solve(32, (2, 1), 23, false);
        assert!(matches!(spec, Err(Error::OutOfRange(ref refused)) if refused.what == "the weight of a secret"));
        // A p^e of 2^15 is too big for moduli 12 bits apart: one digit more, and a smaller e.
        let near = solve(18631, (2, 1), 12, false).unwrap();
        assert!(near.spec.conservative && near.exponent < 15 && near.digits() == 8, "{near:?}");
    }
}
