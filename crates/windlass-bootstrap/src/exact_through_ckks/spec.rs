//! What a refresh of exact ciphertexts through CKKS is made of.

use windlass_ring::kernels::arith;
use windlass_rlwe::{Assurance, Limits};
use windlass_schemes::error::{BootstrapError, Result};

use crate::approximate::{Floor, MapOrder, PassChain, PhaseFactor, RefreshSpec, rounding};

/// The parameters of a refresh of exact ciphertexts through CKKS.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactRefreshSpec {
    /// p of the plaintext modulus t = p^r: 2, or any prime up to 2^40 and a little above.
    pub prime: u64,
    /// r: at most 20 for p = 2, and 1 for other primes.
    pub exponent: u32,
    /// J: how often the error is read and subtracted.
    pub passes: usize,
    /// log2 of the prime that each pass adds to the modulus, and so of what it gains.
    pub pass_bits: u32,
    /// The CKKS refresh of a pass: of all n/2 slots, with the maps back at its end and no levels of
    /// its own (`depth` 0). A coefficient of ε may be 2^`scale_bits` times 2^`excess_bits`.
    pub refresh: RefreshSpec,
    /// How many bits ε may exceed the scale of the base: above 0 only where ε itself, which is as
    /// large as t times a rounding, is larger than any scale.
    pub excess_bits: f64,
}

/// log2 of the largest plaintext modulus, with room for primes just above 2^40.
const MOST_BITS: f64 = 40.01;

/// The largest exponent for p = 2.
const MOST_EXPONENT: u32 = 20;

/// The sizes of primes that a pass may add.
pub(super) const PASS_BITS: std::ops::RangeInclusive<u32> = 25..=40;

/// More passes than any secure ring has primes for.
pub(super) const MOST_PASSES: usize = 40;

/// The bits by which Q_B is larger than ε: the sine is off by 2^−33 of ε then, with its cube.
const GAP_BITS: u32 = 10;

impl ExactRefreshSpec {
    /// t = p^r.
    pub fn plaintext_modulus(&self) -> u64 {
        self.prime.saturating_pow(self.exponent)
    }

    /// The ring dimension and the plaintext modulus, as named sets have them in their names.
    pub fn in_words(&self) -> String {
        let Self { prime, exponent, refresh, .. } = self;
        let power = if *exponent == 1 { String::new() } else { format!("r{exponent}") };
        format!("exact_n{}_p{prime}{power}", refresh.n)
    }

    /// Parameters for a plaintext modulus p^r in the ring of dimension n, with so many passes of so
    /// many bits each. The chain follows from these; special primes and digits are those of the
    /// fewest digits for `assurance` and are found by [`super::ExactRefreshPlan::of_shape`].
    ///
    /// # Errors
    /// [`windlass_schemes::Error::OutOfRange`] for numbers that no refresh has.
    pub fn new(
        n: usize,
        (prime, exponent): (u64, u32),
        (passes, pass_bits): (usize, u32),
        assurance: Assurance,
    ) -> Result<Self> {
        let dimension = Limits::between(1 << 4, 1 << 17).with("a power of two");
        dimension.check("the ring dimension", n)?;
        if !n.is_power_of_two() {
            return Err(dimension.refuse("the ring dimension", n).into());
        }
        check_modulus(prime, exponent)?;
        check_passes(passes, pass_bits)?;
        let log2_t = (prime as f64).log2() * f64::from(exponent);
        // Roundings add their bound to a refresh at its beginning, and t/q times that at its end. A bound by deviations
        // is some 8 times theirs (`bound::TAIL`), and a pass shall gain a little more than its prime has. The 5 and the
        // 6 were found by trial. They do not suffice for primes of 30 bits at n = 2^16: a plan then says so.
        let size = (f64::from(pass_bits) + 5.0).max(log2_t + 6.0) + rounding(n, 1).log2();
        let scale_bits = (size.ceil() as u32).min(50);
        let excess_bits = (size - f64::from(scale_bits)).max(0.0);
        // Constants of the maps back are larger by the third root of q/t, each.
        let larger = (f64::from(pass_bits) - log2_t) / 3.0;
        let chain = PassChain {
            n,
            scale_bits,
            gap_bits: GAP_BITS + excess_bits.ceil() as u32,
            gained: f64::from(pass_bits) - excess_bits,
            larger_constants: larger,
            assurance,
            parties: 1,
        };
        let refresh = chain.refresh()?;
        Ok(Self { prime, exponent, passes, pass_bits, refresh, excess_bits })
    }

    /// Refuses specifications that no plan has.
    pub(super) fn check(&self) -> Result<()> {
        check_modulus(self.prime, self.exponent)?;
        check_passes(self.passes, self.pass_bits)?;
        self.refresh.check()?;
        if !(0.0..=7.0).contains(&self.excess_bits) {
            let what = "the bits by which ε exceeds the scale";
            return Err(Limits::between(0, 7).refuse(what, self.excess_bits).into());
        }
        if self.refresh.parties != 1 {
            let what = "a refresh through CKKS with a key of several parties; use a bootstrapping".into();
            return Err(BootstrapError::Unsupported { what }.into());
        }
        let is_whole = self.refresh.slots == self.refresh.n / 2;
        if is_whole && self.refresh.order == MapOrder::BackLast && self.refresh.depth == 0 {
            return Ok(());
        }
        let what = "the refresh of CKKS inside must have n/2 slots, maps back at its end and depth 0".into();
        Err(BootstrapError::Unsupported { what }.into())
    }

    /// E, the largest coefficient of ε that a pass takes.
    pub(super) fn most(&self) -> f64 {
        (f64::from(self.refresh.scale_bits) + self.excess_bits).exp2()
    }

    pub(super) fn floor(&self) -> Floor {
        let factor = PhaseFactor::LastPrimeOver(self.plaintext_modulus());
        Floor { levels: vec![vec![self.pass_bits]; self.passes], factor }
    }
}

/// Refuses what is no prime, and moduli out of range.
fn check_modulus(prime: u64, exponent: u32) -> Result<()> {
    if !arith::is_prime(prime) {
        return Err(Limits::only("a prime").refuse("plaintext prime p", prime).into());
    }
    let most = if prime == 2 { MOST_EXPONENT } else { 1 };
    let limits = Limits::between(1, most).with("1 for odd primes, 20 for p = 2");
    limits.check("exponent r of the plaintext modulus", exponent)?;
    let bits = (prime as f64).log2() * f64::from(exponent);
    if bits > MOST_BITS {
        return Err(Limits::at_most(40).refuse("log2 of the plaintext modulus", bits).into());
    }
    Ok(())
}

fn check_passes(passes: usize, pass_bits: u32) -> Result<()> {
    Limits::between(1, MOST_PASSES).check("the number of passes", passes)?;
    Ok(Limits::between(*PASS_BITS.start(), *PASS_BITS.end()).check("the bits of a pass", pass_bits)?)
}
