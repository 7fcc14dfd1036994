//! Searches cyclotomic indices that are suitable for bootstrapping over composite rings
//! (Halevi–Shoup 2015, §6).

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use windlass_circuits::CostModel;
use windlass_ring::kernels::Shape;
use windlass_ring::kernels::arith;
use windlass_ring::kernels::modulus::find_primes;
use windlass_rlwe::{Assurance, Limits, RlweError, RlweParams, RlweSpec, SecretDistribution, security};
use windlass_schemes::error::{BootstrapError, Error, Result};
use windlass_schemes::params::check_plaintext_modulus;

use super::bootstrap_plan::BootstrapPlan;
use super::formula::DecryptionFormula;
use super::maps::evaluation_hypercube;
use super::partition::baby_giant;
use super::search_progress::{SearchProgress, SearchStep};
use super::spec::{BootstrapSpec, Mode};

mod unsuited;

pub use unsuited::Unsuited;

/// What is searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchSpec {
    /// The plaintext prime p.
    pub p: u64,
    /// The exponent r of the plaintext modulus p^r.
    pub r: u32,
    /// Least and greatest φ(m).
    pub phi: (usize, usize),
    /// The least number of slots.
    pub slots: usize,
    /// The greatest slot degree d.
    pub most_degree: u64,
    /// Bits of security that the modulus chain is to have, with a uniform ternary key.
    pub security: f64,
    /// Whether slots hold elements of degree d (packed bootstrapping) instead of integers (thin).
    pub packed: bool,
}

impl Default for SearchSpec {
    /// The range of the paper: 15,000 ≤ φ(m) ≤ 60,016 and d ≤ 100.
    fn default() -> Self {
        Self { p: 2, r: 1, phi: (15_000, 60_016), slots: 1, most_degree: 100, security: 128.0, packed: false }
    }
}

/// One dimension of the hypercube of a [`Candidate`], as the evaluation maps use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CandidateDimension {
    /// The factor m_s of m; for the first a product of two prime powers perhaps.
    pub factor: u64,
    /// The generator modulo m: 1 modulo all other factors.
    pub generator: u64,
    /// Its order k_s modulo p and the other dimensions.
    pub size: usize,
    /// Whether that is its order modulo m.
    pub good: bool,
}

/// An index m that suits.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// m.
    pub m: u64,
    /// φ(m).
    pub n: usize,
    /// The factors m_1, m_2, ..; p has its whole order d on the first.
    pub factors: Vec<u64>,
    /// The dimensions with more than one slot, the first factor's first.
    pub dimensions: Vec<CandidateDimension>,
    /// d: the order of p modulo m.
    pub degree: u64,
    /// ℓ = φ(m)/d.
    pub slots: usize,
    /// log2 of the largest modulus QP with the security that was asked for.
    pub log2_qp: f64,
    /// e: digits are removed modulo p^e.
    pub exponent: u32,
    /// What the linear maps of one bootstrapping cost, estimated: in transforms of one row of 2^15
    /// coefficients.
    pub cost: f64,
}

impl Candidate {
    /// The candidate of this index; `None` if m does not suit or is outside of what is searched.
    ///
    /// # Errors
    /// As [`search`].
    pub fn of_index(spec: &SearchSpec, m: u64) -> Result<Option<Self>> {
        Ok(Self::examine(spec, m)?.ok())
    }

    /// The candidate of this index, or the first condition that m fails. No other index is looked
    /// at.
    ///
    /// # Errors
    /// As [`search`].
    pub fn examine(spec: &SearchSpec, m: u64) -> Result<std::result::Result<Self, Unsuited>> {
        check(spec)?;
        // The ring layer says what is wrong with an index, and what to take instead.
        if let Err(error) = Shape::new(m) {
            return Ok(Err(Unsuited::Ring { reason: error.to_string() }));
        }
        Ok(if m % 2 == 0 { Err(Unsuited::Even) } else { candidate(spec, m) })
    }

    /// Plans bootstrapping under the longest chain of 50-bit primes with the security that was
    /// asked for, the last of them exchanged for a spare one of 30 bits or little more: with three
    /// digits of key switching if that leaves capacity, else with four or five, whose chains are
    /// longer and slower, where they gain enough.
    ///
    /// Cost: that of one to three plans, seconds.
    ///
    /// # Errors
    /// As [`BootstrapPlan::new`]: [`crate::BootstrapError::ChainTooShort`] above all.
    pub fn plan(&self, spec: &SearchSpec) -> Result<BootstrapPlan> {
        // T primes in all: q ordinary ones, and as many special ones as the largest digit has.
        let total = (self.log2_qp / 50.0) as usize;
        let ordinary = |digits: usize| (1..total).rev().find(|q| q + q.div_ceil(digits) <= total).unwrap_or(1);
        let with = |digits: usize| {
            let ordinary = ordinary(digits);
            let with_weight =
                |weight| self.plan_with(spec, [ordinary, total.saturating_sub(ordinary).max(1), digits], weight);
            // The least weight that is secure.
            let heavier = |planned: Result<BootstrapPlan>, weight| match planned {
                Err(Error::Bootstrap(BootstrapError::EphemeralKeyTooWeak { .. })) => with_weight(weight),
                settled => settled,
            };
            [40, 48, 56, 64].into_iter().fold(with_weight(32), heavier)
        };
        let mut planned = with(3);
        for digits in [4, 5] {
            let gained = 50.0 * (ordinary(digits) - ordinary(3)) as f64;
            match &planned {
                Err(Error::Bootstrap(BootstrapError::ChainTooShort { missing_bits, .. })) if *missing_bits < gained => {
                    planned = with(digits);
                }
                _ => {}
            }
        }
        planned
    }

    /// One plan: how many ordinary primes and special ones, how many digits; and the weight of the
    /// ephemeral key.
    fn plan_with(
        &self,
        spec: &SearchSpec,
        [ordinary, special, digits]: [usize; 3],
        weight: u32,
    ) -> Result<BootstrapPlan> {
        // Of large composite m there are none of some sizes.
        let order = Shape::new(self.m).map_err(RlweError::from)?.root_order();
        let spare = (30..40).find(|&bits| find_primes(order, bits, 1, &[]).is_ok());
        let spare = spare.filter(|_| ordinary > digits);
        let params = RlweParams::new(&RlweSpec {
            m: self.m,
            q_prime_bits: vec![50; ordinary - spare.iter().len()],
            spare_prime_bits: spare.into_iter().collect(),
            special_prime_bits: vec![50; special],
            digits: digits.min(ordinary),
            secret: SecretDistribution::Ternary,
            assurance: match spec.security >= 128.0 {
                true => Assurance::Secure,
                false => Assurance::Insecure { name: "insecure_search".into() },
            },
        })?;
        let mode = if spec.packed { Mode::Packed } else { Mode::Thin };
        let spec_of_plan = BootstrapSpec { mode, ephemeral_weight: weight, ..BootstrapSpec::default() };
        BootstrapPlan::new(&params, (spec.p, spec.r), spec_of_plan)
    }

    /// The cost shared among the slots (thin) or all coefficients (packed), in thousandths of a
    /// transform.
    pub fn amortised_cost(&self, packed: bool) -> f64 {
        1000.0 * self.cost / if packed { self.n } else { self.slots } as f64
    }
}

/// All suitable m, the cheapest for each slot first.
///
/// m is odd, no prime power and not divisible by p: m = m_1·m_2·.. with prime powers m_s, but that
/// m_1 may be a product of two, such that p has the same order d modulo m_1 and modulo m, and
/// Z_{m_1}^*/⟨p⟩ is cyclic. The other dimensions are good then, the first may be bad. Where several
/// factors can be the first, the candidate has the one that the evaluation maps of this crate take.
///
/// Cost: seconds for the range of the default, on all threads.
///
/// # Errors
/// [`Error::OutOfRange`] for p, r, less than one bit of security, or an empty or too large range.
pub fn search(spec: &SearchSpec) -> Result<Vec<Candidate>> {
    search_observed(spec, &|_| ControlFlow::Continue(()))
}

/// As [`search`], telling from time to time, from any thread, how many indices are behind it;
/// `Break` stops it.
///
/// # Errors
/// As there; [`Error::Cancelled`].
pub fn search_observed(
    spec: &SearchSpec,
    observe: &(dyn Fn(SearchProgress) -> ControlFlow<()> + Sync),
) -> Result<Vec<Candidate>> {
    check(spec)?;
    let (least, most) = spec.phi;
    // An odd m below 2^20 has φ(m) > 0.36·m.
    let end = (most as u64 * 25 / 9).max(3) | 1;
    let first = (least as u64).max(3) | 1;
    let indices: Vec<u64> = (first..=end).step_by(2).collect();
    let (looked_at, count) = (AtomicUsize::new(0), indices.len());
    let few = indices.par_chunks(INDICES_AT_ONCE).map(|few| {
        let found: Vec<Candidate> = few.iter().filter_map(|&m| candidate(spec, m).ok()).collect();
        let done = looked_at.fetch_add(few.len(), Ordering::Relaxed) + few.len();
        match observe(SearchProgress { step: SearchStep::Indices, done, count }) {
            ControlFlow::Continue(()) => Ok(found),
            ControlFlow::Break(()) => Err(Error::Cancelled { operation: "the search for parameters" }),
        }
    });
    let mut found = few.collect::<Result<Vec<_>>>()?.concat();
    found.sort_by(|a, b| a.amortised_cost(spec.packed).total_cmp(&b.amortised_cost(spec.packed)).then(a.m.cmp(&b.m)));
    Ok(found)
}

/// Indices between two calls of an observer.
const INDICES_AT_ONCE: usize = 64;

fn check(spec: &SearchSpec) -> Result<()> {
    if !arith::is_prime(spec.p) {
        return Err(Limits::only("a prime").refuse("the plaintext prime p", spec.p).into());
    }
    check_plaintext_modulus(spec.p, spec.r)?;
    Limits::at_least(1).check("security", spec.security)?;
    Ok(Limits::between(spec.phi.0, 1 << 17).check("the largest phi(m)", spec.phi.1)?)
}

/// The candidate of an odd m, or the condition that m fails. Cheap conditions come first.
fn candidate(spec: &SearchSpec, m: u64) -> std::result::Result<Candidate, Unsuited> {
    let p = spec.p;
    if m % p == 0 {
        return Err(Unsuited::Divisible { p });
    }
    let powers: Vec<(u64, u64)> =
        arith::factor(m).into_iter().map(|(prime, exponent)| (prime.pow(exponent), prime)).collect();
    let totients: Vec<u64> = powers.iter().map(|&(power, prime)| power / prime * (prime - 1)).collect();
    let n = totients.iter().product::<u64>() as usize;
    if powers.len() < 2 {
        return Err(Unsuited::PrimePower);
    }
    let (least, most) = spec.phi;
    if n < least || n > most {
        return Err(Unsuited::Dimension { n, least, most });
    }
    let orders: Vec<u64> = powers.iter().map(|&(power, _)| arith::multiplicative_order(p % power, power)).collect();
    let degree = orders.iter().fold(1, |d, &order| arith::lcm(d, order));
    let slots = n / degree as usize;
    if degree > spec.most_degree {
        return Err(Unsuited::Degree { p, degree, most: spec.most_degree });
    }
    if slots < spec.slots {
        return Err(Unsuited::Slots { slots, least: spec.slots });
    }
    let all: Vec<usize> = (0..powers.len()).collect();
    let mut firsts: Vec<Vec<usize>> = all.iter().map(|&i| vec![i]).collect();
    firsts.extend(all.iter().flat_map(|&i| (0..i).map(move |j| vec![j, i])));
    let whole = |first: &[usize]| first.iter().fold(1, |d, &i| arith::lcm(d, orders[i])) == degree;
    firsts.retain(|first| whole(first));
    if firsts.is_empty() {
        return Err(Unsuited::NoFirstFactor { p, degree });
    }
    firsts.retain(|first| has_cyclic_quotient(p, first, &powers, &totients, degree));
    // As the evaluation maps choose: the fewest axes, of these the least product.
    let first = firsts
        .iter()
        .min_by_key(|first| (first.len(), first.iter().map(|&i| powers[i].0).product::<u64>()))
        .ok_or(Unsuited::NotCyclic { p, degree })?;
    describe(spec, m, n, degree, first, &powers)
}

/// Whether G/⟨p⟩ is cyclic for G = Z_{m_1}^* with one or two cyclic factors: for every prime q that
/// divides the orders of both and that of the quotient, p must not be a q-th power in G.
fn has_cyclic_quotient(p: u64, first: &[usize], powers: &[(u64, u64)], totients: &[u64], degree: u64) -> bool {
    let &[i, j] = first else { return true };
    let size = totients[i] * totients[j] / degree;
    let shared = arith::gcd(arith::gcd(totients[i], totients[j]), size);
    let is_power = |k: usize, q: u64| arith::pow_mod(p % powers[k].0, totients[k] / q, powers[k].0) == 1;
    arith::factor(shared).iter().all(|&(q, _)| !(is_power(i, q) && is_power(j, q)))
}

fn describe(
    spec: &SearchSpec,
    m: u64,
    n: usize,
    degree: u64,
    first: &[usize],
    powers: &[(u64, u64)],
) -> std::result::Result<Candidate, Unsuited> {
    let log2_qp = security::max_log2_qp(n, spec.security, SecretDistribution::Ternary)
        .map_err(|error| Unsuited::Security { reason: error.to_string() })?;
    let of_ring = |error: Error| Unsuited::Ring { reason: error.to_string() };
    let shape = Shape::new(m).map_err(|error| Unsuited::Ring { reason: error.to_string() })?;
    let formula = DecryptionFormula::new(&shape, (spec.p, spec.r), &BootstrapSpec::default()).map_err(of_ring)?;
    let cube = evaluation_hypercube(m, spec.p).map_err(of_ring)?;
    let mut factors = vec![first.iter().map(|&i| powers[i].0).product::<u64>()];
    factors.extend((0..powers.len()).filter(|i| !first.contains(i)).map(|i| powers[i].0));
    let of = |generator: u64| factors.iter().copied().find(|factor| generator % factor != 1).unwrap_or(1);
    let mut dimensions: Vec<CandidateDimension> = cube
        .dimensions()
        .iter()
        .map(|d| CandidateDimension { factor: of(d.generator), generator: d.generator, size: d.size, good: d.good })
        .collect();
    // The hypercube has the first factor last.
    dimensions.reverse();
    let cost = price(spec, log2_qp, degree, &dimensions) * n as f64 * transform_work(powers) / REFERENCE;
    let slots = n / degree as usize;
    Ok(Candidate { m, n, factors, dimensions, degree, slots, log2_qp, exponent: formula.exponent, cost })
}

/// The work of a transform of 2^15 coefficients, in the units of [`transform_work`].
const REFERENCE: f64 = 32768.0 * 15.0 * 2.0;

/// Work for each coefficient of a transform along all axes: the prime factors of ℓ − 1 for each
/// axis of ℓ^k points, each counting itself when a codelet does it and four times its logarithm
/// when a longer transform does, and ℓ for each further power.
fn transform_work(powers: &[(u64, u64)]) -> f64 {
    let one = |q: u64| (q as f64).min(4.0 * (q as f64).log2());
    let axis = |&(power, prime): &(u64, u64)| {
        let rader: f64 = arith::factor(prime - 1).iter().map(|&(q, e)| f64::from(e) * one(q)).sum();
        let further = (power as f64).log(prime as f64).round() - 1.0;
        2.0 * rader + further * one(prime)
    };
    powers.iter().map(axis).sum()
}

/// The linear maps in transforms of one row: to the slots at the top of the chain, to the
/// coefficients at its foot, and the trace (thin) or unpacking and repacking (packed).
fn price(spec: &SearchSpec, log2_qp: f64, degree: u64, dimensions: &[CandidateDimension]) -> f64 {
    let primes = ((log2_qp / 50.0) as usize).max(4);
    let special = primes.div_ceil(4);
    let top = CostModel::hybrid(primes - special, special, 3);
    // Packed bootstrapping goes back to coefficients with half the chain left.
    let low = match spec.packed {
        true => CostModel::hybrid((primes - special) / 2, special, 2),
        false => CostModel::hybrid(2, special.min(3), 1),
    };
    let map = |cost: &CostModel| -> f64 {
        let of = |(s, dimension): (usize, &CandidateDimension)| {
            let along = if dimension.good { dimension.size } else { 2 * dimension.size - 1 };
            let count = if spec.packed && s == 0 { along * degree as usize } else { along };
            (1..=count).map(|babies| baby_giant(cost, count, babies)).fold(f64::INFINITY, f64::min)
        };
        dimensions.iter().enumerate().map(of).sum()
    };
    let sum = |size: u64| top.hoist + (size - 1) as f64 * top.hoisted_automorphism + top.mod_down;
    let d = degree as f64;
    let rest = match spec.packed {
        true => sum(degree) + d * d * top.multiply_constant + d * (top.mod_down + low.multiply_base_q),
        false => arith::factor(degree).iter().map(|&(q, e)| f64::from(e) * sum(q)).sum(),
    };
    map(&top) + map(&low) + rest
}

#[cfg(test)]
mod tests;
