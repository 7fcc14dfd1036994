//! From what a user wants to a parameter set.

use windlass_ring::kernels::arith;
use windlass_rlwe::security::max_log2_qp;
use windlass_rlwe::{Assurance, Bound, RlweParams, RlweSpec, SecretDistribution};

use super::{Params, best_product};
use crate::error::{Error, Result};
use crate::schemes::Scheme;

/// What a parameter set must be able to do.
#[derive(Debug, Clone, PartialEq)]
pub struct ParamSpec {
    /// The scheme.
    pub scheme: Scheme,
    /// The plaintext prime p.
    pub p: u64,
    /// The exponent r of the plaintext modulus p^r.
    pub r: u32,
    /// At least this many slots.
    pub slots: usize,
    /// The cyclotomic index, if it is to be a certain one.
    pub m: Option<u64>,
    /// Multiplications of ciphertexts in sequence.
    pub depth: u32,
    /// Products with plaintexts (linear maps) in sequence, before or after the multiplications.
    pub linear_maps: u32,
    /// Bits of security, at least 128.
    pub security: f64,
}

impl Default for ParamSpec {
    /// BGV with p = 65537, any number of slots, one multiplication, 128 bits.
    fn default() -> Self {
        let (p, r) = (65537, 1);
        Self { scheme: Scheme::Bgv, p, r, slots: 1, m: None, depth: 1, linear_maps: 0, security: 128.0 }
    }
}

/// Longest chain that is tried.
const MAX_CHAIN: usize = 60;

impl Params {
    /// The set of least dimension that meets the specification; among those, the one with the fewest digits.
    ///
    /// Powers of two are tried first, then odd m in between where slots are scarce (small p).
    ///
    /// # Errors
    /// [`Error::NoParameters`] when nothing within φ(m) ≤ 2^16 (2^17 for powers of two) does.
    pub fn plan(spec: &ParamSpec) -> Result<Self> {
        if spec.security < RlweParams::REQUIRED_SECURITY {
            let range = "at least 128; smaller sets exist only as presets whose names say insecure or paper".into();
            return Err(Error::OutOfRange { what: "security", got: spec.security as i64, range });
        }
        let mut refusal = String::from("no ring has that many slots");
        for m in candidates(spec) {
            match plan_ring(spec, m) {
                Ok(params) => return Ok(params),
                Err(reason) => refusal = reason,
            }
        }
        Err(Error::NoParameters { reason: refusal })
    }
}

fn slots(m: u64, p: u64) -> usize {
    (arith::totient(m) / arith::multiplicative_order(p, m)) as usize
}

/// Rings with enough slots, by ascending dimension: powers of two, and for each dimension range one odd m with a smooth structure.
fn candidates(spec: &ParamSpec) -> Vec<u64> {
    let fits = |m: u64| m % spec.p != 0 && m % 4 != 2 && slots(m, spec.p) >= spec.slots;
    if let Some(m) = spec.m {
        return if m >= 3 && fits(m) { vec![m] } else { Vec::new() };
    }
    let mut found: Vec<u64> = (11..=18).map(|log| 1u64 << log).filter(|&m| fits(m)).collect();
    // Odd m pay where p has a large order modulo powers of two: one in each eighth of an octave.
    for step in 8 * 12..8 * 16 {
        let [low, high] = [step, step + 1].map(|s| 2f64.powf(s as f64 / 8.0) as u64);
        let odd = (low | 1..2 * high).step_by(2).filter(|&m| (low..high).contains(&arith::totient(m)));
        let best = odd.filter(|&m| smooth(m)).find(|&m| fits(m));
        found.extend(best);
    }
    found.sort_by_key(|&m| arith::totient(m));
    found
}

/// Whether all axes have transforms of small prime lengths.
fn smooth(m: u64) -> bool {
    arith::factor(m).iter().all(|&(p, e)| e <= 2 && arith::factor(p - 1).iter().all(|&(q, _)| q <= 31) && p > 3)
}

/// Tries chains of growing length over one ring; the error says why the longest secure one does not do.
fn plan_ring(spec: &ParamSpec, m: u64) -> std::result::Result<Params, String> {
    let n = arith::totient(m) as usize;
    let budget = max_log2_qp(n, spec.security, SecretDistribution::Ternary).map_err(|e| e.to_string())?;
    let mut refusal =
        format!("at m = {m} no chain fits the {budget:.0} bits that keep {} bits of security", spec.security);
    for count in 1..=MAX_CHAIN {
        for digits in [1, 2, 3, 4, 6, 8].into_iter().filter(|&digits| digits <= count) {
            for bits in [50, 45, 40, 36, 33, 30] {
                let Some(params) = chain(spec, m, count, bits, digits) else { continue };
                if params.rlwe().log2_qp() > budget {
                    continue;
                }
                match suffices(spec, &params) {
                    true => return Ok(params),
                    false => {
                        refusal = format!("at m = {m} the modulus that security allows leaves too little capacity")
                    }
                }
            }
        }
        if count as f64 * 30.0 > budget {
            break;
        }
    }
    Err(refusal)
}

/// `count` primes of one size in Q, the special primes as the digits need them (with room for the noise of the switch).
fn chain(spec: &ParamSpec, m: u64, count: usize, bits: u32, digits: usize) -> Option<Params> {
    let digit_bits = count.div_ceil(digits) as u32 * bits + 8;
    let special = digit_bits.div_ceil(50);
    let special_bits = digit_bits.div_ceil(special).clamp(25, 50);
    let rlwe = RlweSpec {
        m,
        q_prime_bits: vec![bits; count],
        special_prime_bits: vec![special_bits; special as usize],
        digits,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Secure,
    };
    let name = format!("planned_m{m}_p{}_r{}_{count}x{bits}_d{digits}", spec.p, spec.r);
    Params::new(&name, spec.scheme, (spec.p, spec.r), None, rlwe).ok()
}

/// Whether a fresh ciphertext survives the linear maps and multiplications, by the noise bounds that the engine keeps.
fn suffices(spec: &ParamSpec, params: &Params) -> bool {
    let (rlwe, noise) = (params.rlwe(), params.noise());
    let (mut level, mut bound) = (rlwe.top_level(), noise.fresh_public());
    // A baby-step/giant-step sum has at most n terms of random constants, and two key switches.
    let terms = Bound::of(params.slot_count() as f64);
    for _ in 0..spec.linear_maps {
        bound = (bound + noise.key_switch(level)) * noise.plaintext_random() * terms + noise.key_switch(level);
    }
    for _ in 0..spec.depth {
        let Some(next) = best_product(rlwe, &noise, level, bound) else { return false };
        (level, bound) = next;
    }
    noise.decryptable(rlwe.log2_q(level), bound)
}
