//! Parameters for circuits of any depth: those under which servers can refresh.

use std::ops::ControlFlow;

use windlass_rlwe::{Assurance, RlweSpec, SecretDistribution};

use super::context::Context;
use crate::bootstrap::{
    BootstrapPlan, BootstrapPreset, BootstrapSpec, Candidate, PLANNED_WEIGHT, SearchProgress, SearchSpec, SearchStep,
    search_observed,
};
use crate::error::{Error, Result};
use crate::params::{Ephemeral, ParamSpec, Params, SMALL_T, preset_names};

/// A shape of parameters for powers of two: log2 n, (bits, count) of the primes of Q and of P,
/// digits.
type Shape = (u32, &'static [(u32, usize)], (u32, usize), usize);

/// With p^e up to 16 bits, and above: chains of presets without spare primes.
const SHAPES: [Shape; 2] = [(15, SMALL_T, (50, 3), 5), (16, &[(50, 18)], (50, 6), 3)];

/// How many composite rings are planned, the cheapest for each slot first, before the search gives
/// up.
const MOST_COMPOSITE: usize = 12;

/// Who is told how far it is, and says whether to go on.
type Observer<'a> = &'a (dyn Fn(SearchProgress) -> ControlFlow<()> + Sync);

impl Context {
    /// The first parameter set, by ring dimension, under which a server can refresh ciphertexts
    /// with integers in their slots, so that circuits of any depth run: the presets with the
    /// plaintext modulus asked for, then powers of two with chains like theirs. Where none of them
    /// has as many slots (or the m that is asked for), the composite rings of [`search_observed`]
    /// are planned, the cheapest for each slot first: what `windlass params search --plan` does.
    ///
    /// `depth` and `linear_maps` of the specification do not matter. Between two refreshes at least
    /// one multiplication fits, and `capacity` bits. The security asked for is that of the main key
    /// and of the ephemeral one. Primes p that are not 1 modulo m leave few slots
    /// ([`Params::filling_prime`]); `slots` asks for more.
    ///
    /// Cost: planning a bootstrapping for each set that is tried, seconds; a minute or more where
    /// composite rings are searched ([`Self::plan_any_depth_observed`] tells how far it is).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] and [`Error::Ring`] as of [`Params::plan`], with less than 128 bits of
    /// security among them; [`Error::NoParameters`] with what the last set lacked.
    pub fn plan_any_depth(spec: &ParamSpec) -> Result<Self> {
        Self::plan_any_depth_observed(spec, &|_| ControlFlow::Continue(()))
    }

    /// As [`Self::plan_any_depth`], telling before each set that is planned, and from time to time
    /// as indices are searched, how far it is; `Break` stops it. It is called from any thread.
    ///
    /// # Errors
    /// As there; [`Error::Cancelled`].
    pub fn plan_any_depth_observed(spec: &ParamSpec, observe: Observer<'_>) -> Result<Self> {
        spec.check()?;
        let mut reason = None;
        let named = candidates(spec);
        for (done, params) in named.iter().enumerate() {
            tell(observe, params.m(), (done, named.len()))?;
            match refreshing(params.clone(), spec) {
                Ok(context) => return Ok(context),
                Err(refusal) => reason = Some(refusal),
            }
        }
        let composite = if named.is_empty() { composite(spec, observe)? } else { Vec::new() };
        let tried = composite.len().min(MOST_COMPOSITE);
        for (done, candidate) in composite.iter().take(tried).enumerate() {
            tell(observe, candidate.m, (done, tried))?;
            match refreshing_over(candidate, spec) {
                Ok(context) => return Ok(context),
                Err(refusal) => reason = Some(format!("m = {}: {refusal}", candidate.m)),
            }
        }
        Err(Error::NoParameters { reason: refusal(spec, reason) })
    }
}

/// Errors: [`Error::Cancelled`].
fn tell(observe: Observer<'_>, m: u64, (done, count): (usize, usize)) -> Result<()> {
    match observe(SearchProgress { step: SearchStep::Plan { m }, done, count }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Cancelled { operation: "the search for parameters" }),
    }
}

/// What the last set lacked, if one was tried, and what to ask for instead.
fn refusal(spec: &ParamSpec, last: Option<String>) -> String {
    let asked = format!("the plaintext modulus {}^{}, {} slots and {} bits", spec.p, spec.r, spec.slots, spec.security);
    let ring = spec.m.map_or_else(String::new, |m| format!(" and m = {m}"));
    let none = match spec.m {
        None => "no ring that is tried has as many slots of degree up to 100",
        Some(_) => {
            "rings that bootstrap here have an m that is 2^16 or 2^17, or odd and no prime power, with a factor of one \
             or two prime powers modulo which p has its whole order and a cyclic quotient"
        }
    };
    let last = last.unwrap_or_else(|| none.into());
    format!(
        "no set that bootstraps has {asked} of security{ring}: {last}; ask for fewer slots, less capacity or a smaller \
         plaintext modulus"
    )
}

/// Composite rings to try: the one that was asked for, or all of the range of [`SearchSpec`] with as
/// many slots.
fn composite(spec: &ParamSpec, observe: Observer<'_>) -> Result<Vec<Candidate>> {
    let own = SearchSpec { p: spec.p, r: spec.r, slots: spec.slots, security: spec.security, ..SearchSpec::default() };
    match spec.m {
        Some(m) => {
            let any = SearchSpec { phi: (1, 1 << 17), most_degree: u64::MAX, ..own };
            Ok(Candidate::of_index(&any, m)?.into_iter().collect())
        }
        None => search_observed(&own, observe),
    }
}

/// The context of a composite ring, or why there is none.
fn refreshing_over(candidate: &Candidate, spec: &ParamSpec) -> std::result::Result<Context, String> {
    let search = SearchSpec { p: spec.p, r: spec.r, security: spec.security, ..SearchSpec::default() };
    let preset = candidate.plan(&search).and_then(|plan| {
        check_use(&plan, spec)?;
        BootstrapPreset::of_plan(&plan)
    });
    refreshing(preset.map_err(|error| error.to_string())?.params.with_scheme(spec.scheme), spec)
}

/// The context of one candidate, or why it is none.
fn refreshing(params: Params, spec: &ParamSpec) -> std::result::Result<Context, String> {
    if let Some(refusal) = weak_ephemeral_key(&params, spec) {
        return Err(refusal);
    }
    planned(params, spec).map_err(|error| error.to_string())
}

/// Why the ephemeral key has too little security: a server holds the switch to it beside the keys
/// under the main secret, and whoever solves either reads everything. None where it has enough, and
/// where planning says what else is wrong.
fn weak_ephemeral_key(params: &Params, spec: &ParamSpec) -> Option<String> {
    let ephemeral = params.ephemeral()?;
    let preset = BootstrapPreset { params: params.clone(), spec: BootstrapSpec::under(ephemeral) };
    let (log2_modulus, security) = preset.ephemeral_key().ok()?;
    (security.bits < spec.security).then(|| {
        let (name, weight, asked) = (params.name(), ephemeral.weight, spec.security);
        format!(
            "{name}: {asked} bits of security were asked for, and the ephemeral key of weight {weight} at log2 Q = \
             {log2_modulus:.0} has {security}"
        )
    })
}

/// The context of one candidate, if it carries a bootstrapping that is of use.
fn planned(params: Params, spec: &ParamSpec) -> Result<Context> {
    let context = Context::from_params(params)?;
    let plan = context.bootstrapping()?;
    check_use(&plan, spec)?;
    Ok(context)
}

/// Refuses a bootstrapping between two of which nothing can be computed, or less than was asked
/// for.
///
/// # Errors
/// [`Error::Unplannable`], [`Error::CapacityExhausted`].
fn check_use(plan: &BootstrapPlan, spec: &ParamSpec) -> Result<()> {
    let (left, needed) = (plan.output_bits(), plan.least_input_bits());
    if plan.depth_between() == 0 {
        let reason = format!(
            "it leaves {left:.1} bits and a ciphertext needs {needed:.1} to be refreshed, so that no multiplication \
             fits between two refreshes"
        );
        return Err(Error::Unplannable { strategy: "a bootstrapping".into(), reason });
    }
    if left - needed < spec.capacity {
        let (operation, needed_bits) = ("computing between refreshes", spec.capacity);
        return Err(Error::CapacityExhausted { operation, needed_bits, left_bits: left - needed });
    }
    Ok(())
}

/// The sets to try, smaller rings first.
fn candidates(spec: &ParamSpec) -> Vec<Params> {
    let presets = preset_names()
        .filter(|name| name.starts_with("boot"))
        .filter_map(|name| Params::preset(name, spec.scheme).ok());
    let planned = SHAPES.iter().filter_map(|shape| power_of_two(spec, shape));
    let fits = |params: &Params| {
        (params.p(), params.r()) == (spec.p, spec.r)
            && spec.m.is_none_or(|m| m == params.m())
            && params.slot_count() >= spec.slots
            && params.rlwe().security().bits >= spec.security
    };
    let mut list: Vec<Params> = presets.chain(planned).filter(fits).collect();
    list.sort_by_key(|params| params.rlwe().n());
    list
}

/// Parameters of one shape; none where p divides m or no primes are left.
fn power_of_two(spec: &ParamSpec, &(log_n, q, special, digits): &Shape) -> Option<Params> {
    let m = 2u64 << log_n;
    let rlwe = RlweSpec {
        m,
        q_prime_bits: q.iter().flat_map(|&(bits, count)| vec![bits; count]).collect(),
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![special.0; special.1],
        digits,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Secure,
    };
    let name = format!("planned_boot_n{}_p{}_r{}", m / 2, spec.p, spec.r);
    let params = Params::new(&name, spec.scheme, (spec.p, spec.r), None, rlwe).ok()?;
    Some(params.with_ephemeral(Ephemeral::by_special_primes(PLANNED_WEIGHT)))
}

#[cfg(test)]
mod tests {
    use windlass_rlwe::RlweParams;

    use super::*;

    /// A chain that grows bit by bit: the first that carries a bootstrapping leaves hardly more than
    /// what a refresh needs, a longer one allows products.
    #[test]
    fn refreshes_between_which_nothing_fits_are_refused() {
        let plan = |last: &[u32]| {
            let q_prime_bits = [&[50; 2][..], last].concat();
            let params = RlweParams::new(&RlweSpec {
                m: 105,
                digits: q_prime_bits.len().div_ceil(2),
                q_prime_bits,
                spare_prime_bits: Vec::new(),
                special_prime_bits: vec![50; 3],
                secret: SecretDistribution::Ternary,
                assurance: Assurance::Insecure { name: "insecure_test".into() },
            });
            BootstrapPlan::new(
                &params.unwrap(),
                (2, 1),
                BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() },
            )
        };
        let lasts = (0..30).flat_map(|more| [25, 30, 35, 40, 45].map(|bits| [vec![30; more], vec![bits]].concat()));
        let plans = lasts.filter_map(|last| plan(&last).ok());
        let useless = |plan: &BootstrapPlan| plan.output_bits() > plan.least_input_bits() && plan.depth_between() == 0;
        let first = plans.into_iter().find(useless).expect("a chain that is just long enough");
        let refused = check_use(&first, &ParamSpec::default()).unwrap_err().to_string();
        assert!(refused.contains("to be refreshed, so that no multiplication"), "{refused}");
        let long = plan(&[50; 13]).unwrap();
        assert!(long.depth_after() >= long.depth_between() && long.depth_between() > 2);
        assert!(check_use(&long, &ParamSpec::default()).is_ok());
        let capacity = long.output_bits() - long.least_input_bits() + 1.0;
        let refused = check_use(&long, &ParamSpec { capacity, ..ParamSpec::default() });
        assert!(matches!(refused, Err(Error::CapacityExhausted { .. })));
    }
}
