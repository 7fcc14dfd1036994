//! Parameters for circuits of any depth: those under which servers can refresh.

use windlass_rlwe::{Assurance, RlweSpec, SecretDistribution};

use super::context::Context;
use crate::bootstrap::{BootstrapPreset, BootstrapSpec, PLANNED_WEIGHT};
use crate::error::{Error, Result};
use crate::params::{Ephemeral, ParamSpec, Params, SMALL_T, preset_names};

/// A shape of parameters for powers of two: log2 n, (bits, count) of the primes of Q and of P,
/// digits.
type Shape = (u32, &'static [(u32, usize)], (u32, usize), usize);

/// With p^e up to 16 bits, and above: chains of presets without spare primes.
const SHAPES: [Shape; 2] = [(15, SMALL_T, (50, 3), 5), (16, &[(50, 18)], (50, 6), 3)];

impl Context {
    /// The first parameter set, by ring dimension, under which a server can refresh ciphertexts
    /// with integers in their slots, so that circuits of any depth run: the presets with the
    /// plaintext modulus asked for, then powers of two with chains like theirs. `depth` and
    /// `linear_maps` of the specification do not matter; `capacity` is what a refresh is to leave
    /// for computing. The security asked for is that of the main key and of the ephemeral one.
    ///
    /// Cost: planning a bootstrapping for each set that is tried, seconds.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] and [`Error::Ring`] as of [`Params::plan`], with less than 128 bits of
    /// security among them; [`Error::NoParameters`] with what the last set lacked; for other moduli
    /// `windlass params search` finds composite rings.
    pub fn plan_any_depth(spec: &ParamSpec) -> Result<Self> {
        spec.check()?;
        let mut reason = format!(
            "no set that bootstraps has the plaintext modulus {}^{}, {} slots and {} bits of security",
            spec.p, spec.r, spec.slots, spec.security
        );
        for params in candidates(spec) {
            match refreshing(params, spec) {
                Ok(context) => return Ok(context),
                Err(refusal) => reason = refusal,
            }
        }
        Err(Error::NoParameters { reason })
    }
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

/// The context of one candidate, if it carries a bootstrapping.
fn planned(params: Params, spec: &ParamSpec) -> Result<Context> {
    let context = Context::from_params(params)?;
    let plan = context.bootstrapping()?;
    let left_bits = plan.output_bits() - plan.least_input_bits();
    if left_bits < spec.capacity {
        let (operation, needed_bits) = ("computing between refreshes", spec.capacity);
        return Err(Error::CapacityExhausted { operation, needed_bits, left_bits });
    }
    Ok(context)
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
