//! From what a user wants to a parameter set.

use windlass_ring::kernels::arith;
use windlass_ring::slots::PrimePower;
use windlass_rlwe::security::max_log2_qp;
use windlass_rlwe::{Assurance, Bound, Limits, RlweParams, RlweSpec, SecretDistribution};

use super::set::{Params, best_product};
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
    /// Bits of capacity that are to be left after them.
    pub capacity: f64,
    /// Bits of security, at least 128.
    pub security: f64,
    /// The most bytes that one switching key may take in memory.
    pub max_switching_key_bytes: Option<u64>,
}

impl Default for ParamSpec {
    /// BGV with p = 65537, any number of slots, one multiplication, 128 bits.
    fn default() -> Self {
        Self {
            scheme: Scheme::Bgv,
            p: 65537,
            r: 1,
            slots: 1,
            m: None,
            depth: 1,
            linear_maps: 0,
            capacity: 0.0,
            security: 128.0,
            max_switching_key_bytes: None,
        }
    }
}

impl ParamSpec {
    /// The default with the least prime p ≥ 2^bits that gives every power-of-two ring up to m =
    /// 2^17 slots of degree 1 (p ≡ 1 mod 2^17; p = 65537 up to 16 bits, which does so up to m =
    /// 2^16).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] above 44 bits.
    pub fn with_plaintext_bits(bits: u32) -> Result<Self> {
        let limits = Limits::at_most(44).with("so split larger integers into several plaintext moduli");
        limits.check("plaintext bits", bits)?;
        if bits <= 16 {
            return Ok(Self::default());
        }
        let first = ((1u64 << bits) - 1).next_multiple_of(1 << 17) + 1;
        let p = (first..1 << 45).step_by(1 << 17).find(|&p| arith::is_prime(p));
        p.map(|p| Self { p, ..Self::default() })
            .ok_or(Error::NoParameters { reason: format!("no prime of {bits} bits") })
    }
}

/// Longest chain that is tried.
const MAX_CHAIN: usize = 60;
/// Sizes of primes that are tried, in bits: fewer, larger primes first.
const PRIME_SIZES: [u32; 8] = [50, 45, 40, 36, 33, 30, 28, 25];

impl Params {
    /// The set of least dimension that meets the specification; among those, the one with the
    /// fewest digits.
    ///
    /// Powers of two in which p splits completely are tried first, then all powers of two and odd m
    /// with many slots in between.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for less than 128 bits of security, an m below 3 or divisible by p,
    /// bits that are not finite; [`Error::Ring`] for p^r not below 2^45; [`Error::NoParameters`]
    /// when nothing within φ(m) ≤ 2^16 (2^17 for powers of two) does.
    pub fn plan(spec: &ParamSpec) -> Result<Self> {
        spec.check()?;
        let mut refusal = format!("no ring has {} slots modulo {}", spec.slots, spec.p);
        for m in candidates(spec) {
            match plan_ring(spec, m) {
                Ok(params) => return Ok(params),
                Err(reason) => refusal = reason,
            }
        }
        Err(Error::NoParameters { reason: refusal })
    }
}

impl ParamSpec {
    /// Refuses what no set can have. Errors: [`Error::OutOfRange`], [`Error::Ring`] as of
    /// [`Params::plan`].
    pub(crate) fn check(&self) -> Result<()> {
        let secure = Limits::between(RlweParams::REQUIRED_SECURITY, f64::MAX);
        secure.with("smaller sets being presets whose names say insecure or paper").check("security", self.security)?;
        if !arith::is_prime(self.p) {
            return Err(Limits::only("a prime").refuse("plaintext prime p", self.p).into());
        }
        PrimePower::new(self.p, self.r)?;
        if !self.capacity.is_finite() {
            return Err(Limits::only("a finite number of bits").refuse("capacity", self.capacity).into());
        }
        if let Some(m) = self.m.filter(|&m| m < 3 || m % self.p == 0) {
            return Err(Limits::at_least(3).with("and not divisible by p").refuse("cyclotomic index m", m).into());
        }
        Ok(())
    }
}

fn slots(m: u64, p: u64) -> usize {
    (arith::totient(m) / arith::multiplicative_order(p, m)) as usize
}

/// Rings with enough slots. First the powers of two in which p splits completely (all slots of
/// degree 1), by ascending dimension; then, where there are none that do, all powers of two and one
/// odd m in each eighth of an octave, the one with most slots, by ascending dimension.
fn candidates(spec: &ParamSpec) -> Box<dyn Iterator<Item = u64> + '_> {
    let fits = |m: u64| m % spec.p != 0 && m % 4 != 2 && slots(m, spec.p) >= spec.slots;
    if let Some(m) = spec.m {
        return Box::new((m >= 3 && fits(m)).then_some(m).into_iter());
    }
    let powers = || (11..=18).map(|log| 1u64 << log);
    let split = powers().filter(move |&m| spec.p % m == 1 && fits(m));
    let others = (8 * 10..8 * 17 + 1).flat_map(move |step| {
        let [low, high] = [step, step + 1].map(|s| 2f64.powf(s as f64 / 8.0) as u64);
        let range = low..high;
        let power = powers().find(|&m| range.contains(&(m / 2)) && spec.p % m != 1 && fits(m));
        let odd = if step < 8 * 16 { low | 1..3 * high } else { 0..0 };
        let odd = odd.step_by(2).filter(|&m| range.contains(&arith::totient(m)) && smooth(m) && fits(m));
        let mut rings: Vec<u64> = power.into_iter().chain(odd.max_by_key(|&m| slots(m, spec.p))).collect();
        rings.sort_by_key(|&m| arith::totient(m));
        rings
    });
    Box::new(split.chain(others))
}

/// Whether all axes have transforms of small prime lengths.
fn smooth(m: u64) -> bool {
    arith::factor(m).iter().all(|&(p, e)| e <= 2 && arith::factor(p - 1).iter().all(|&(q, _)| q <= 31) && p > 3)
}

/// Tries chains of growing length over one ring; the error says why the longest secure one does not
/// do.
fn plan_ring(spec: &ParamSpec, m: u64) -> std::result::Result<Params, String> {
    let n = arith::totient(m) as usize;
    let budget = max_log2_qp(n, spec.security, SecretDistribution::Ternary).map_err(|e| e.to_string())?;
    let least = least_modulus(spec, m).ok_or_else(|| format!("no prime of 50 bits serves m = {m}"))?;
    let mut refusal = format!(
        "at m = {m} at least {least:.0} bits of Q are needed, and {} bits of security allow {budget:.0} for Q and P",
        spec.security
    );
    for count in 1..=MAX_CHAIN {
        for digits in [1, 2, 3, 4, 6, 8].into_iter().filter(|&digits| digits <= count) {
            for bits in PRIME_SIZES {
                let chain = Chain::new(count, bits, digits);
                // Primes fall short of their size by little: chains far above the budget need not
                // be built, nor hopeless ones.
                if chain.bits() as f64 > budget + 4.0 || ((count as u32 * bits) as f64) < least {
                    continue;
                }
                if spec.max_switching_key_bytes.is_some_and(|limit| chain.switching_key_bytes(n) > limit) {
                    refusal = format!("at m = {m} a switching key takes more bytes than the limit");
                    continue;
                }
                let Some(params) = chain.params(spec, m).filter(|params| params.rlwe().log2_qp() <= budget) else {
                    continue;
                };
                match shortfall(spec, &params) {
                    None => return Ok(params),
                    Some(reason) => refusal = format!("at m = {m} {reason}"),
                }
            }
        }
        if count as f64 * 25.0 > budget {
            break;
        }
    }
    Err(refusal)
}

/// A chain of primes of one size, with the special primes that its digits need (and room for the
/// noise of the switch).
#[derive(Clone, Copy)]
struct Chain {
    count: usize,
    bits: u32,
    digits: usize,
    special: u32,
    special_bits: u32,
}

impl Chain {
    fn new(count: usize, bits: u32, digits: usize) -> Self {
        let digit_bits = count.div_ceil(digits) as u32 * bits + 8;
        let special = digit_bits.div_ceil(50);
        Self { count, bits, digits, special, special_bits: digit_bits.div_ceil(special).clamp(25, 50) }
    }

    /// log2 QP, from above.
    fn bits(self) -> u32 {
        self.count as u32 * self.bits + self.special * self.special_bits
    }

    /// Bytes of a switching key in memory: both halves of each digit modulo QP.
    fn switching_key_bytes(self, n: usize) -> u64 {
        let groups = self.count.div_ceil(self.count.div_ceil(self.digits));
        16 * (groups * (self.count + self.special as usize) * n) as u64
    }

    fn params(self, spec: &ParamSpec, m: u64) -> Option<Params> {
        let rlwe = RlweSpec {
            m,
            q_prime_bits: vec![self.bits; self.count],
            spare_prime_bits: Vec::new(),
            special_prime_bits: vec![self.special_bits; self.special as usize],
            digits: self.digits,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Secure,
        };
        let name = format!("planned_m{m}_p{}_r{}_{}x{}_d{}", spec.p, spec.r, self.count, self.bits, self.digits);
        Params::new(&name, spec.scheme, (spec.p, spec.r), None, rlwe).ok()
    }
}

/// A lower bound on log2 Q for the specification at m, which needs no chain; `None` when the ring
/// has no primes of 50 bits.
///
/// A fresh ciphertext has capacity log2 Q − log2 ε up to a constant. Switching never adds to it, a
/// product takes log2 ε ≥ log2 ρ from it, ρ the rounding noise, and a linear map the size of its
/// constants.
fn least_modulus(spec: &ParamSpec, m: u64) -> Option<f64> {
    let toy = RlweSpec {
        m,
        q_prime_bits: vec![50],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50],
        digits: 1,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_noise_estimate".into() },
    };
    let params = Params::new("insecure_noise_estimate", spec.scheme, (spec.p, spec.r), None, toy).ok()?;
    let (noise, rounding) = (params.noise(), params.noise().rounding(2).bits());
    let map = (noise.plaintext_random() * Bound::of(params.slot_count() as f64)).bits() * spec.linear_maps as f64;
    // capacity = log2 Q − 1 − log2(C_m·ε).
    let fixed = -noise.capacity(0.0, Bound::ONE);
    Some(fixed + spec.capacity + noise.fresh_public().bits() + map + rounding * spec.depth as f64)
}

/// Why a set does not do; `None` when a fresh ciphertext survives the linear maps and
/// multiplications with the capacity asked for, by the noise bounds that the engine keeps.
fn shortfall(spec: &ParamSpec, params: &Params) -> Option<String> {
    let (rlwe, noise) = (params.rlwe(), params.noise());
    let (mut level, mut bound) = (rlwe.top_level(), noise.fresh_public());
    // A baby-step/giant-step sum has at most n terms of random constants, and two key switches.
    let terms = Bound::of(params.slot_count() as f64);
    for _ in 0..spec.linear_maps {
        bound = (bound + noise.key_switch(level)) * noise.plaintext_random() * terms + noise.key_switch(level);
    }
    let scarce = || Some("the modulus that security allows leaves too little capacity".to_string());
    for _ in 0..spec.depth {
        let Some(next) = best_product(rlwe, &noise, level, bound) else { return scarce() };
        (level, bound) = next;
    }
    let log2_q = rlwe.log2_q(level);
    let enough = noise.decryptable(log2_q, bound) && noise.capacity(log2_q, bound) >= spec.capacity;
    if enough { None } else { scarce() }
}
