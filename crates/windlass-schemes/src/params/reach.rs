//! Excludes ring dimensions that cannot meet a specification, with a few noise bounds instead of a
//! search.

use windlass_ring::kernels::Shape;
use windlass_rlwe::security::max_log2_qp;
use windlass_rlwe::{NoiseModel, RlweParams, SecretDistribution};

use super::least::{LESS, least_bits, toy};
use super::spec::ParamSpec;

/// The octaves of the ring dimension that are looked at, by log2 of their lowest.
const OCTAVES: std::ops::RangeInclusive<u32> = 10..=17;

/// For each octave 2^k ≤ n < 2^{k+1} of the ring dimension: the minimum modulus that is needed, and
/// the maximum that security allows.
///
/// Noise grows with n, and a power-of-two ring has no more noise than another ring with as many
/// coefficients. So the ring of dimension 2^k gives a lower bound on the modulus for the octave.
/// The allowed modulus grows with n, so the end of the octave gives an upper bound.
#[derive(Debug)]
pub(super) struct Reach {
    octaves: Vec<Octave>,
    /// The greatest depth that any of them carries; negative if none does.
    deepest: f64,
    /// A lower bound on the bytes of a switching key, over those that carry the depth.
    least_key_bytes: Option<u64>,
}

#[derive(Debug)]
struct Octave {
    log_n: u32,
    /// Bits of Q without a multiplication, and for each.
    least: [f64; 2],
    /// Bits of Q and P; the refusal of the tables if they have no entry.
    most: std::result::Result<f64, String>,
}

impl Octave {
    fn new(spec: &ParamSpec, log_n: u32) -> Option<Self> {
        let params = RlweParams::new(&toy(2 << log_n)).ok()?;
        let noise = NoiseModel::new(&params, spec.p.pow(spec.r));
        let end = (2u64 << log_n).min(Shape::MAX_DIMENSION) as usize;
        let most = max_log2_qp(end, spec.security, SecretDistribution::Ternary).map_err(|error| error.to_string());
        Some(Self { log_n, least: least_bits(&noise, spec, spec.slots), most })
    }

    fn needed(&self, depth: u32) -> f64 {
        self.least[0] + self.least[1] * f64::from(depth)
    }

    /// The greatest depth that fits; negative if none does.
    fn deepest(&self) -> f64 {
        self.most.as_ref().map_or(-1.0, |most| ((most - self.least[0]) / self.least[1]).floor())
    }

    fn carries(&self, depth: u32) -> bool {
        self.most.as_ref().is_ok_and(|&most| self.needed(depth) <= most)
    }

    /// Bytes of a switching key, from below: both halves of one digit modulo the primes of Q, of 50 bits at
    /// most, and one of P.
    fn least_key_bytes(&self, depth: u32) -> u64 {
        let primes = (self.needed(depth).max(1.0) / 50.0).ceil() as u64 + 1;
        (16 * primes) << self.log_n
    }
}

impl Reach {
    /// Cost: the primes of some rings, milliseconds.
    pub fn new(spec: &ParamSpec) -> Self {
        let mut octaves: Vec<Octave> = OCTAVES.filter_map(|log_n| Octave::new(spec, log_n)).collect();
        let deepest = octaves.iter().map(Octave::deepest).fold(-1.0, f64::max);
        let carried = octaves.iter().filter(|octave| octave.carries(spec.depth));
        let least_key_bytes = carried.map(|octave| octave.least_key_bytes(spec.depth)).min();
        if spec.m.is_none() {
            let most = spec.max_switching_key_bytes.unwrap_or(u64::MAX);
            octaves.retain(|octave| {
                let fits = octave.carries(spec.depth) && octave.least_key_bytes(spec.depth) <= most;
                fits || octave.log_n == *OCTAVES.end()
            });
        }
        Self { octaves, deepest, least_key_bytes }
    }

    /// Whether some ring of dimension 2^log_n to 2^{log_n+1} may do.
    pub fn allows(&self, log_n: u32) -> bool {
        self.octaves.iter().any(|octave| octave.log_n == log_n)
    }

    /// Why no ring can do it; `None` if one may.
    pub fn refusal(&self, spec: &ParamSpec) -> Option<String> {
        self.too_large_keys(spec).or_else(|| self.too_deep(spec))
    }

    fn too_large_keys(&self, spec: &ParamSpec) -> Option<String> {
        let (most, least) = (spec.max_switching_key_bytes?, self.least_key_bytes?);
        (spec.m.is_none() && most < least).then(|| {
            format!("every switching key for depth {} has at least {least} bytes, but {most} are allowed; allow larger keys, or ask for less depth", spec.depth)
        })
    }

    fn too_deep(&self, spec: &ParamSpec) -> Option<String> {
        if spec.m.is_some() || self.octaves.iter().any(|octave| octave.carries(spec.depth)) {
            return None;
        }
        let last = self.octaves.last()?;
        let most = match &last.most {
            Ok(most) => *most,
            Err(refusal) => return Some(refusal.clone()),
        };
        let (depth, security, n, needed) = (spec.depth, spec.security, 1u64 << last.log_n, last.needed(spec.depth));
        let deepest = match self.deepest {
            none if none < 0.0 => "no depth fits".into(),
            deepest => format!("no depth above {deepest:.0} fits"),
        };
        Some(format!(
            "depth {depth} needs at least {needed:.0} bits of Q at n = {n}, the largest ring of the security tables, but {security} bits of security allow {most:.0} for Q and P: {deepest}; {LESS}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the planner finds lies in an octave that is allowed, and the bound is not far off.
    #[test]
    fn octaves_that_are_left_out_have_nothing() {
        for (p, depth, linear_maps, capacity) in
            [(65537, 4, 1, 0.0), (2, 2, 0, 0.0), (257, 0, 1, 60.0), (257, 9, 0, 0.0)]
        {
            let spec = ParamSpec { p, depth, linear_maps, capacity, ..ParamSpec::default() };
            let (n, reach) = (super::super::Params::plan(&spec).unwrap().rlwe().n(), Reach::new(&spec));
            assert!(reach.allows(n.ilog2()) && reach.refusal(&spec).is_none(), "{spec:?}: {n}");
            assert!(n.ilog2() < 14 || !reach.allows(n.ilog2() - 3), "{spec:?}: {n} and {reach:?}");
        }
    }

    /// Whatever the planner finds has larger keys than the bound.
    #[test]
    fn keys_that_no_ring_has_are_refused_at_once() {
        for depth in [0, 1, 5] {
            let spec = ParamSpec { depth, ..ParamSpec::default() };
            let least = Reach::new(&spec).least_key_bytes.unwrap();
            let found = super::super::Params::plan(&spec).unwrap().rlwe().key_sizes().switching_key_memory;
            assert!(least <= found && 32 * least > found, "depth {depth}: {least} and {found}");
            let with = |most| ParamSpec { max_switching_key_bytes: Some(most), ..spec.clone() };
            let refused = Reach::new(&with(least - 1)).refusal(&with(least - 1)).unwrap();
            assert!(refused.contains(&format!("at least {least} bytes")), "{refused}");
            assert!(Reach::new(&with(found)).refusal(&with(found)).is_none());
            assert!(super::super::Params::plan(&with(found)).is_ok());
        }
    }

    #[test]
    fn depths_that_no_ring_has_are_refused_with_the_greatest_that_may_be() {
        let spec = ParamSpec { depth: 1000, ..ParamSpec::default() };
        let refusal = Reach::new(&spec).refusal(&spec).unwrap();
        let deepest: u32 = refusal.split("no depth above ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!((40..200).contains(&deepest), "{refusal}");
        assert!(refusal.contains("plan_any_depth") && refusal.starts_with("depth 1000 needs at least"), "{refusal}");
        let just = |depth| {
            let spec = ParamSpec { depth, ..ParamSpec::default() };
            Reach::new(&spec).refusal(&spec).is_some()
        };
        assert!(!just(deepest) && just(deepest + 1));
        // More security than any modulus has: the tables say so.
        let spec = ParamSpec { security: 1000.0, ..ParamSpec::default() };
        assert!(Reach::new(&spec).refusal(&spec).unwrap().contains("1000"));
        let spec = ParamSpec { capacity: 1e6, ..ParamSpec::default() };
        assert!(Reach::new(&spec).refusal(&spec).unwrap().contains("no depth fits"));
    }
}
