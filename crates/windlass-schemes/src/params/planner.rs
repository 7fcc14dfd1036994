//! Plans a parameter set from a specification.

use windlass_ring::kernels::arith;
use windlass_rlwe::security::max_log2_qp;
use windlass_rlwe::{Assurance, Bound, RlweSpec, SecretDistribution};

use super::least::{LESS, least_bits, toy};
use super::reach::Reach;
use super::set::Params;
use super::spec::ParamSpec;
use crate::error::{Error, Result};
use crate::schemes::{Publication, best_product};

/// Longest chain that is tried.
const MAX_CHAIN: usize = 60;
/// Sizes of primes that are tried, in bits: fewer, larger primes first.
const PRIME_SIZES: [u32; 8] = [50, 45, 40, 36, 33, 30, 28, 25];

impl Params {
    /// The set with the smallest dimension that meets the specification; among those, the one with
    /// the fewest digits.
    ///
    /// The planner tries powers of two in which p splits completely, then all powers of two and odd
    /// m with many slots in between.
    ///
    /// Cost: milliseconds to seconds. A specification that no ring of the tables can meet is
    /// refused before any ring is tried.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for less than 128 bits of security, an m below 3 or divisible by p,
    /// bits that are not finite; [`Error::Ring`] for p^r not below 2^45 and for an m that no ring
    /// has; [`Error::NoParameters`] if nothing within φ(m) ≤ 2^16 (2^17 for powers of two) does.
    pub fn plan(spec: &ParamSpec) -> Result<Self> {
        spec.check()?;
        let reach = Reach::new(spec);
        if let Some(reason) = reach.refusal(spec) {
            return Err(Error::NoParameters { reason });
        }
        let mut refusal = too_few_slots(spec);
        for m in candidates(spec, &reach) {
            match plan_ring(spec, m) {
                Ok(params) => return Ok(params),
                Err(reason) => refusal = reason,
            }
        }
        Err(Error::NoParameters { reason: refusal })
    }
}

/// Why no ring was tried: none has as many slots as were asked for.
fn too_few_slots(spec: &ParamSpec) -> String {
    let (p, wanted) = (spec.p, spec.slots);
    match spec.m {
        Some(m) => {
            let found = slots(m, p);
            format!(
                "the ring of m = {m} has {found} slots modulo {p}, fewer than {wanted}; ask for fewer slots or another m"
            )
        }
        None => format!(
            "none of the rings that are tried (phi(m) up to 2^17) has {wanted} slots modulo {p}; ask for fewer slots, or for a prime that is 1 modulo a large power of two (65537, 786433), which gives one slot for each coefficient"
        ),
    }
}

fn slots(m: u64, p: u64) -> usize {
    (arith::totient(m) / arith::multiplicative_order(p, m)) as usize
}

/// Rings with enough slots. First the powers of two in which p splits completely (all slots of
/// degree 1), by ascending dimension; then, if no power of two does, all powers of two and one odd
/// m in each eighth of an octave, the one with most slots, by ascending dimension.
///
/// Dimensions that [`Reach`] excludes are left out.
fn candidates<'a>(spec: &'a ParamSpec, reach: &'a Reach) -> Box<dyn Iterator<Item = u64> + 'a> {
    let fits = |m: u64| m % spec.p != 0 && m % 4 != 2 && slots(m, spec.p) >= spec.slots;
    if let Some(m) = spec.m {
        return Box::new(fits(m).then_some(m).into_iter());
    }
    let powers = move || (11u32..=18).filter(move |log| reach.allows(log - 1)).map(|log| 1u64 << log);
    let split = powers().filter(move |&m| spec.p % m == 1 && fits(m));
    let steps = (8u32 * 10..8 * 17 + 1).filter(move |step| reach.allows(step / 8));
    let others = steps.flat_map(move |step| {
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
    let least = least_modulus(spec, m)
        .ok_or_else(|| format!("there are no suitable primes of 50 bits for m = {m}; choose another m"))?;
    let mut refusal = format!(
        "at m = {m} the modulus Q needs at least {least:.0} bits, but {} bits of security allow {budget:.0} for Q and P; {LESS}",
        spec.security
    );
    for count in 1..=MAX_CHAIN {
        for digits in [1, 2, 3, 4, 6, 8].into_iter().filter(|&digits| digits <= count) {
            for bits in PRIME_SIZES {
                let chain = Chain::new(count, bits, (digits, spec.parties));
                // Primes fall short of their size by little: chains far above the budget need not
                // be built, nor hopeless ones.
                if chain.bits() as f64 > budget + 4.0 || ((count as u32 * bits) as f64) < least {
                    continue;
                }
                if spec.max_switching_key_bytes.is_some_and(|limit| chain.switching_key_bytes(n) > limit) {
                    refusal = format!("at m = {m} a switching key has more bytes than the limit; allow larger keys");
                    continue;
                }
                let Some(params) = chain.params(spec, m).filter(|params| params.rlwe().log2_qp() <= budget) else {
                    continue;
                };
                match shortfall(spec, &params) {
                    None => return Ok(params),
                    Some(reason) => refusal = format!("at m = {m} {reason}; {LESS}"),
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
    fn new(count: usize, bits: u32, (digits, parties): (usize, u32)) -> Self {
        // The errors of a relinearisation key of several parties are products with secrets.
        let room = if parties == 1 { 8 } else { 20 };
        let digit_bits = count.div_ceil(digits) as u32 * bits + room;
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
            secret: match spec.parties {
                1 => SecretDistribution::Ternary,
                parties => SecretDistribution::Collective { parties },
            },
            assurance: Assurance::Secure,
        };
        let name = format!("planned_m{m}_p{}_r{}_{}x{}_d{}", spec.p, spec.r, self.count, self.bits, self.digits);
        Params::new(&name, spec.scheme, (spec.p, spec.r), None, rlwe).ok()
    }
}

/// A lower bound on log2 Q for the specification at m, which needs no chain; `None` if the ring
/// has no primes of 50 bits.
fn least_modulus(spec: &ParamSpec, m: u64) -> Option<f64> {
    let params = Params::new("insecure_noise_estimate", spec.scheme, (spec.p, spec.r), None, toy(m)).ok()?;
    let [fixed, each] = least_bits(&params.noise(), spec, params.slot_count());
    Some(fixed + each * spec.depth as f64)
}

/// Why a set does not do; `None` if a fresh ciphertext survives the linear maps and
/// multiplications with the capacity asked for, by the noise bounds that the engine keeps.
fn shortfall(spec: &ParamSpec, params: &Params) -> Option<String> {
    let (rlwe, noise) = (params.rlwe(), params.noise());
    let (mut level, mut bound) = (rlwe.top_level(), noise.fresh_public());
    // A baby-step/giant-step sum has at most n terms of random constants, and two key switches.
    let terms = Bound::of(params.slot_count() as f64);
    for _ in 0..spec.linear_maps {
        bound = (bound + noise.key_switch(level)) * noise.plaintext_random() * terms + noise.key_switch(level);
    }
    let scarce = || Some("the largest modulus with this security leaves too little capacity".to_string());
    for _ in 0..spec.depth {
        let Some(next) = best_product(rlwe, &noise, level, bound) else { return scarce() };
        (level, bound) = next;
    }
    let log2_q = rlwe.log2_q(level);
    let together = match spec.parties {
        1 => 0.0,
        parties => Publication::default().capacity(rlwe.n(), parties),
    };
    let enough = noise.decryptable(log2_q, bound) && noise.capacity(log2_q, bound) >= spec.capacity.max(together);
    if enough { None } else { scarce() }
}
