//! Parameters of a refresh through CKKS from what is asked for.

use windlass_rlwe::{Assurance, Limits};
use windlass_schemes::error::{Error, Result};

use super::plan::ExactRefreshPlan;
use super::spec::{ExactRefreshSpec, MOST_PASSES, PASS_BITS};
use crate::approximate::{PassShape, rounding};

/// What a refresh of exact ciphertexts is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactRefreshRequirements {
    /// p of the plaintext modulus p^r.
    pub prime: u64,
    /// r.
    pub exponent: u32,
    /// Products in sequence between two refreshes.
    pub products: u32,
    /// The ring dimension, if a particular one is required: 2^15 or 2^16 with 128 bits of security.
    pub n: Option<usize>,
}

impl Default for ExactRefreshRequirements {
    /// One product modulo 65537.
    fn default() -> Self {
        Self { prime: 65537, exponent: 1, products: 1, n: None }
    }
}

/// The ring dimensions that are tried, in this order.
const DIMENSIONS: [usize; 2] = [1 << 15, 1 << 16];

/// The most bits of a pass: the scales of the sine would need constants of more than the 53 bits of doubles.
const MOST_PASS_BITS: u32 = 30;

impl ExactRefreshPlan {
    /// A plan with 128 bits of security for what is asked for: in the smallest ring that has room for
    /// it, with the fewest passes there, and with as many bits a pass as these need.
    ///
    /// Cost: seconds for each candidate that fits.
    ///
    /// # Errors
    /// [`Error::NoParameters`] says what the largest ring lacks; [`Error::OutOfRange`] for a plaintext
    /// modulus or a ring dimension that no refresh has.
    pub fn choose(requirements: &ExactRefreshRequirements) -> Result<Self> {
        let limits = Limits::at_most(MOST_PASSES as u32).with("more take more passes than there are");
        limits.check("the number of products", requirements.products)?;
        if let Some(n) = requirements.n.filter(|n| !DIMENSIONS.contains(n)) {
            return Err(Limits::only("32768 or 65536").refuse("the ring dimension", n).into());
        }
        let mut lack = String::new();
        for n in DIMENSIONS.into_iter().filter(|&n| requirements.n.is_none_or(|wanted| wanted == n)) {
            lack = format!("n = {n}: {MOST_PASSES} passes of {MOST_PASS_BITS} bits are too few");
            for passes in 1..=MOST_PASSES {
                let Some(pass_bits) = bits_of_a_pass(requirements, n, passes) else { continue };
                let shape = (passes, pass_bits);
                let spec =
                    ExactRefreshSpec::new(n, (requirements.prime, requirements.exponent), shape, Assurance::Secure)?;
                match Self::of_shape(&spec) {
                    Ok(plan) if plan.depth_between() >= requirements.products => return Ok(plan),
                    Ok(plan) => lack = format!("n = {n}: {passes} passes leave {} products", plan.depth_between()),
                    Err(Error::NoParameters { reason }) => {
                        lack = reason;
                        // More passes take a longer chain still, once they have the least bits each.
                        if pass_bits == *PASS_BITS.start() {
                            break;
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        let (p, r, products) = (requirements.prime, requirements.exponent, requirements.products);
        let asked = format!("a refresh modulo {p}^{r} with {products} products after it");
        Err(Error::NoParameters { reason: format!("{asked}: {lack}") })
    }

    /// The plan of a specification with the fewest digits of key switches, and the special primes for
    /// them, that its assurance allows. Sets that are not called secure get as many digits as make P
    /// small.
    ///
    /// # Errors
    /// [`Error::NoParameters`] if the chain is too long for 128 bits of security; those of [`Self::new`].
    pub fn of_shape(spec: &ExactRefreshSpec) -> Result<Self> {
        let shape = PassShape { refresh: &spec.refresh, chain_bits: bits_of_chain(spec) };
        shape.with_fewest_digits(&|refresh| Self::new(&ExactRefreshSpec { refresh, ..spec.clone() }))
    }
}

/// log2 Q of a specification.
fn bits_of_chain(spec: &ExactRefreshSpec) -> u32 {
    let chain = spec.refresh.to_ckks();
    let levels: u32 = chain.refresh_levels.iter().flat_map(|level| &level.prime_bits).sum();
    chain.base_prime_bits.iter().sum::<u32>() + levels + spec.pass_bits * spec.passes as u32
}

/// How many bits each of so many passes has to gain; `None` if it is more than one can.
///
/// A product costs what a modulus switch leaves of canonical noise, t·2^x for x = log2 of
/// `18·√(n/12)·‖s‖` or so. Beside those products the capacity has to cover that of the first pass, and
/// what a canonical norm is above a coefficient.
fn bits_of_a_pass(requirements: &ExactRefreshRequirements, n: usize, passes: usize) -> Option<u32> {
    let log2_t = (requirements.prime as f64).log2() * f64::from(requirements.exponent);
    let (log2_n, rounding) = ((n as f64).log2(), rounding(n, 1).log2());
    let product = log2_t + rounding + log2_n / 2.0 + 2.0;
    let bits = f64::from(requirements.products) * product + log2_n / 2.0 + 2.0;
    let each = ((bits / passes as f64).ceil() as u32).max(*PASS_BITS.start());
    (each <= MOST_PASS_BITS).then_some(each)
}
