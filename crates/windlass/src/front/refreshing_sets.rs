//! Parameter sets under which a server can refresh, and the check that they meet a specification.

use windlass_rlwe::{Assurance, RlweSpec, SecretDistribution, SecurityEstimate};

use super::context::Context;
use crate::bootstrap::{
    BootstrapError, BootstrapPlan, BootstrapPreset, BootstrapSpec, Candidate, PLANNED_WEIGHT, SearchSpec,
};
use crate::error::{Error, Result};
use crate::params::{Ephemeral, ParamSpec, Params, SMALL_T, preset_names};
use crate::schemes::Scheme;

/// A shape of parameters for powers of two: log2 n, (bits, count) of the primes of Q and of P,
/// digits.
type Shape = (u32, &'static [(u32, usize)], (u32, usize), usize);

/// For p^e up to 16 bits, and above: the chains of the presets without extra primes.
const SHAPES: [Shape; 2] = [(15, SMALL_T, (50, 3), 5), (16, &[(50, 18)], (50, 6), 3)];

/// The context of a composite ring, or why it cannot be made.
pub(super) fn refreshing_over(candidate: &Candidate, spec: &ParamSpec) -> std::result::Result<Context, String> {
    let search = SearchSpec { p: spec.p, r: spec.r, security: spec.security, ..SearchSpec::default() };
    let preset = candidate.plan(&search).and_then(|plan| {
        check_use(&plan, spec)?;
        BootstrapPreset::of_plan(&plan)
    });
    refreshing(preset.map_err(in_words)?.params.with_scheme(spec.scheme), spec)
}

/// The context of one candidate, or why it does not qualify.
pub(super) fn refreshing(params: Params, spec: &ParamSpec) -> std::result::Result<Context, String> {
    if let Some(refusal) = weak_ephemeral_key(&params, spec) {
        return Err(refusal);
    }
    let name = params.name().to_owned();
    planned(params, spec).map_err(|error| format!("{name}: {}", in_words(error)))
}

/// What a set lacks, without the remedies that bootstrapping errors name. Those address a caller
/// who plans a bootstrapping; here the set is fixed.
fn in_words(error: Error) -> String {
    match error {
        Error::Bootstrap(BootstrapError::ChainTooShort { stage, missing_bits }) => {
            format!("its modulus is {missing_bits:.0} bits too short for a bootstrapping ({stage})")
        }
        Error::Bootstrap(BootstrapError::EphemeralKeyTooWeak { weight, log2_qp, security }) => {
            format!("the ephemeral key of weight {weight} at log2 QP = {log2_qp:.0} has {security}")
        }
        other => other.to_string(),
    }
}

/// Why the ephemeral key has too little security. A server holds the switch to that key beside the
/// keys under the main secret, and an attacker who breaks either key reads everything. `None` if
/// the key is secure enough, or if planning will report another problem.
fn weak_ephemeral_key(params: &Params, spec: &ParamSpec) -> Option<String> {
    let ephemeral = params.ephemeral()?;
    let (log2_modulus, security) = ephemeral_key(params)?;
    (security.bits < spec.security).then(|| {
        let (name, weight, asked) = (params.name(), ephemeral.weight, spec.security);
        format!(
            "{name}: the ephemeral key of weight {weight} at log2 Q = {log2_modulus:.0} has {security}, but {asked} bits of security are asked for"
        )
    })
}

/// log2 of the modulus of the ephemeral key, and its security, if the set has one.
fn ephemeral_key(params: &Params) -> Option<(f64, SecurityEstimate)> {
    let spec = BootstrapSpec::under(params.ephemeral()?);
    BootstrapPreset { params: params.clone(), spec }.ephemeral_key().ok()
}

/// The smaller of the security levels of both keys of a set, in bits.
pub(super) fn security_of_both(params: &Params) -> f64 {
    let main = params.rlwe().security().bits;
    ephemeral_key(params).map_or(main, |(_, security)| main.min(security.bits))
}

/// The context of one candidate, if it carries a useful bootstrapping.
fn planned(params: Params, spec: &ParamSpec) -> Result<Context> {
    let context = Context::from_params(params)?;
    let plan = context.bootstrapping()?;
    check_use(&plan, spec)?;
    Ok(context)
}

/// Refuses a bootstrapping that leaves no room for a computation between two refreshes, or less
/// room than was requested.
///
/// # Errors
/// [`Error::Unplannable`], [`Error::CapacityExhausted`].
fn check_use(plan: &BootstrapPlan, spec: &ParamSpec) -> Result<()> {
    let (left, needed) = (plan.output_bits(), plan.least_input_bits());
    if plan.depth_between() == 0 {
        let reason = format!(
            "a refresh leaves {left:.1} bits and needs {needed:.1}, so no multiplication fits between two refreshes"
        );
        return Err(Error::Unplannable { strategy: "a bootstrapping".into(), reason });
    }
    if left - needed < spec.capacity {
        let (operation, needed_bits) = ("computing between refreshes", spec.capacity);
        return Err(Error::CapacityExhausted { operation, needed_bits, left_bits: left - needed });
    }
    Ok(())
}

/// The presets that bootstrap.
pub(super) fn presets(scheme: Scheme) -> impl Iterator<Item = Params> {
    let names = preset_names().filter(|name| name.starts_with("boot"));
    names.filter_map(move |name| Params::preset(name, scheme).ok())
}

/// The sets to try, smaller rings first.
pub(super) fn candidates(spec: &ParamSpec) -> Vec<Params> {
    let planned = SHAPES.iter().filter_map(|shape| power_of_two(spec, shape));
    let fits = |params: &Params| {
        (params.p(), params.r()) == (spec.p, spec.r)
            && spec.m.is_none_or(|m| m == params.m())
            && params.slot_count() >= spec.slots
            && params.rlwe().security().bits >= spec.security
    };
    let mut list: Vec<Params> = presets(spec.scheme).chain(planned).filter(fits).collect();
    list.sort_by_key(|params| params.rlwe().n());
    list
}

/// Parameters of one shape; `None` if p divides m or there are not enough primes.
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

    /// A chain that grows bit by bit: the first chain that carries a bootstrapping leaves little
    /// more than a refresh needs, and a longer one allows products.
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
        assert!(refused.contains("so no multiplication fits between two refreshes"), "{refused}");
        let long = plan(&[50; 13]).unwrap();
        assert!(long.depth_after() >= long.depth_between() && long.depth_between() > 2);
        assert!(check_use(&long, &ParamSpec::default()).is_ok());
        let capacity = long.output_bits() - long.least_input_bits() + 1.0;
        let refused = check_use(&long, &ParamSpec { capacity, ..ParamSpec::default() });
        assert!(matches!(refused, Err(Error::CapacityExhausted { .. })));
    }
}
