//! A refresh with its maps, levels and keys, before anything runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_circuits::{ComplexMap, ComplexSlots, CostModel, LinearPlan, PlanSpec, TraceChain, TracePlan, TraceSpec};
use windlass_rlwe::security::EstimateSource;
use windlass_rlwe::{Assurance, RlweParams, SecretDistribution, SecurityEstimate, security};
use windlass_schemes::error::{BootstrapError, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext};

use super::floor::Floor;
use super::maps::{self, Shape};
use super::sine::Sine;
use super::spec::{MapOrder, RefreshSpec};
use super::step::RefreshStep;
use crate::encapsulation::InputModulus;

/// A map of a refresh, and the level at which it runs.
#[derive(Debug, Clone)]
pub(super) struct MapStage {
    pub plan: LinearPlan<ComplexSlots>,
    pub level: usize,
}

/// A refresh of CKKS with its maps, levels and keys.
#[derive(Debug)]
pub struct RefreshPlan {
    spec: RefreshSpec,
    context: Arc<CkksContext>,
    /// The sum that leaves the coefficients of the message, for fewer than n/2 slots.
    pub(super) sums: TracePlan,
    pub(super) sine: Sine,
    pub(super) to_slots: Vec<MapStage>,
    pub(super) to_coefficients: Vec<MapStage>,
    galois: BTreeMap<u64, usize>,
    floor: Option<Floor>,
}

impl RefreshPlan {
    /// The plan of a specification.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::OutOfRange`] and [`windlass_schemes::Error::SlotCount`] for numbers out of
    /// range; [`BootstrapError::EphemeralKeyTooWeak`] for a set called secure whose ephemeral key is not; those
    /// of [`CkksContext::new`].
    pub fn new(spec: &RefreshSpec) -> Result<Self> {
        Self::above(spec, None)
    }

    /// The plan whose levels are above those of other ciphertexts, if there are any.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn above(spec: &RefreshSpec, floor: Option<Floor>) -> Result<Self> {
        spec.check()?;
        let mut chain = spec.to_ckks();
        let below = floor.iter().flat_map(|floor| floor.levels(spec));
        chain.refresh_levels.splice(0..0, below);
        let context = CkksContext::new(&chain)?;
        check_ephemeral(spec, context.rlwe().params())?;
        context.check_slots(spec.slots)?;
        let sine = match &floor {
            Some(_) => Sine::of_every_integer(spec)?,
            None => Sine::new(spec)?,
        };
        let slots = ComplexSlots::centred(&context, spec.sine_slots())?;
        let shape = Shape { slots: &slots, message: spec.slots };
        let modulus = base_modulus(&context);
        // Slots hold message·Δ_top = Q_B·t; real and imaginary parts are taken as sums with
        // conjugates, twice what they are.
        let raised = context.scale(context.raised_level());
        let first = raised / modulus / spec.sum_factor() / sine.range() / 2.0;
        let factor = floor.as_ref().map_or(1.0, |floor| floor.factor(&context));
        let back = factor * modulus / context.scale(context.base_level()) / sine.factor();
        let to_slots = maps::to_slots(shape, &spec.to_slots, first)?;
        let to_coefficients = maps::to_coefficients(shape, &spec.to_coefficients, back)?;
        let (to_slots, sine_level) = stages(&context, to_slots, context.raised_level(), |_| spec.max_keys)?;
        let below = |level| context.level_below(level).expect("the specification has a level for each step");
        let sine_end = (0..spec.sine_depth()).fold(sine_level, |level, _| below(level));
        let back_level = match spec.order {
            MapOrder::BackLast => sine_end,
            MapOrder::BackFirst => input_level(&context, spec),
        };
        let most_keys =
            |k: usize| spec.max_keys.map(|most| if k == 0 && spec.is_joined() { most + most / 2 } else { most });
        let (to_coefficients, _) = stages(&context, to_coefficients, back_level, most_keys)?;
        let mut galois = BTreeMap::from([(context.conjugation_element(), sine_level)]);
        let raised_level = context.raised_level();
        let sums = sums(&context, spec)?;
        galois.extend(sums.required_keys().into_iter().map(|element| (element, raised_level)));
        for stage in to_slots.iter().chain(&to_coefficients) {
            // Callers use these keys too, if they ask for the same automorphisms: at all of their levels.
            let needed = stage.level.max(context.top_level());
            for element in stage.plan.required_keys() {
                let level = galois.entry(element).or_insert(needed);
                *level = needed.max(*level);
            }
        }
        Ok(Self { spec: spec.clone(), context, sums, sine, to_slots, to_coefficients, galois, floor })
    }

    /// By what a result is a multiple of the input's message: 1 without other levels below.
    pub(crate) fn result_factor(&self) -> f64 {
        self.floor.as_ref().map_or(1.0, |floor| floor.factor(&self.context))
    }

    /// What the plan was made from.
    pub fn spec(&self) -> &RefreshSpec {
        &self.spec
    }

    /// The parameters.
    pub fn context(&self) -> &Arc<CkksContext> {
        &self.context
    }

    /// The modulus at which a ciphertext meets the ephemeral key.
    #[doc(hidden)]
    pub fn input(&self) -> InputModulus {
        InputModulus::at_level(self.context.base_level(), self.spec.ephemeral_special)
    }

    /// The step whose result is that of the refresh.
    pub(super) fn last_step(&self) -> RefreshStep {
        match self.spec.order {
            MapOrder::BackLast => RefreshStep::ToCoefficients(self.to_coefficients.len() - 1),
            MapOrder::BackFirst => RefreshStep::Sine(1),
        }
    }

    /// Bits of the modulus that products may still drop of a ciphertext before it can no longer be
    /// refreshed.
    #[doc(hidden)]
    pub fn headroom_bits(&self, ct: &Ciphertext) -> f64 {
        ct.headroom_bits() - self.input_bits()
    }

    /// Whether a refresh accepts a ciphertext: its levels, its slots and the bound on them.
    #[doc(hidden)]
    pub fn accepts(&self, ct: &Ciphertext) -> bool {
        let bound = ct.magnitude().max(ct.rest_magnitude());
        self.headroom_bits(ct) >= 0.0 && ct.slots() <= self.spec.slots && bound <= self.most()
    }

    /// Whether two messages of real numbers take one refresh ([`super::Refresher::refresh_real_pair`]).
    pub fn takes_real_pairs(&self) -> bool {
        self.spec.order == MapOrder::BackFirst
    }

    /// The lowest level of a ciphertext that can be refreshed.
    pub fn input_level(&self) -> usize {
        input_level(&self.context, &self.spec)
    }

    /// Q_B.
    pub(crate) fn base_modulus(&self) -> f64 {
        base_modulus(&self.context)
    }

    /// λ of the key to the ephemeral secret, by the attacks on sparse secrets, rotations of the ring
    /// among them. For several parties: of one party's part, against a coalition of
    /// all others.
    pub fn ephemeral_security(&self) -> SecurityEstimate {
        ephemeral(&self.spec, self.context.rlwe().params()).0
    }

    /// The largest bound on the values of a ciphertext that a refresh takes.
    pub fn most(&self) -> f64 {
        let modulus = self.context.rlwe().log2_modulus(self.context.base_level());
        let share = modulus - f64::from(self.spec.gap_bits) - self.context.scale(self.context.base_level()).log2();
        // Primes are a little below powers of two, two of 25 bits by some hundredths.
        share.exp2().max(1.0) * (1.0 + 1.0 / 1024.0)
    }

    /// The automorphisms that need keys, and the level up to which each is used.
    pub fn galois_levels(&self) -> &BTreeMap<u64, usize> {
        &self.galois
    }

    /// The highest level at which ciphertexts are multiplied.
    pub fn relinearisation_level(&self) -> usize {
        let last = self.to_slots.last().map_or(self.context.raised_level(), |stage| stage.level);
        self.context.level_below(last).unwrap_or(last)
    }
}

/// The base, and above it the levels of the maps back if they come first.
fn input_level(context: &CkksContext, spec: &RefreshSpec) -> usize {
    context.base_level() + spec.input_levels()
}

/// Q_B.
fn base_modulus(context: &CkksContext) -> f64 {
    context.rlwe().params().q_primes()[..context.base_level()].iter().map(|q| q.value() as f64).product()
}

/// Plans of maps from a level down, one rescaling each, and the level after them.
fn stages(
    context: &CkksContext,
    maps: Vec<ComplexMap>,
    top: usize,
    max_keys: impl Fn(usize) -> Option<usize>,
) -> Result<(Vec<MapStage>, usize)> {
    let (mut level, mut stages) = (top, Vec::new());
    for (k, map) in maps.into_iter().enumerate() {
        let cost = CostModel::at_level(context.rlwe().params(), level);
        let spec = PlanSpec { cost, max_keys: max_keys(k), ..PlanSpec::default() };
        stages.push(MapStage { plan: LinearPlan::new(&map, &spec)?, level });
        level = context.level_below(level).expect("the specification has a level for each map");
    }
    Ok((stages, level))
}

/// The sum over the rotations by 0, s, 2s, .., which leaves the coefficients of the message: at the highest
/// level, with at least one key for each of its factors.
fn sums(context: &CkksContext, spec: &RefreshSpec) -> Result<TracePlan> {
    let generator = context.rotation_element(spec.slots as i64);
    let chain = TraceChain::powers(2 * spec.n as u64, generator, (spec.n / (2 * spec.slots)) as u64)?;
    let cost = CostModel::at_level(context.rlwe().params(), context.raised_level());
    let most_keys = spec.max_keys.map(|most| most.max(chain.factors().len()));
    TracePlan::new(&chain, &TraceSpec { most_keys, cost, ..TraceSpec::default() })
}

/// λ of the key to the ephemeral secret, and log2 of its modulus.
fn ephemeral(spec: &RefreshSpec, params: &RlweParams) -> (SecurityEstimate, f64) {
    let input = InputModulus::at_level(spec.to_ckks().base_prime_bits.len(), spec.ephemeral_special);
    let log2_qp = input.log2_modulus(params);
    let secret = SecretDistribution::Sparse { weight: spec.ephemeral_weight };
    (security::indicative_security_bits(params.n(), log2_qp, secret), log2_qp)
}

/// # Errors
/// [`BootstrapError::EphemeralKeyTooWeak`] below 128 bits, or outside of the tables, for a set that calls
/// itself secure.
fn check_ephemeral(spec: &RefreshSpec, params: &RlweParams) -> Result<()> {
    let (security, log2_qp) = ephemeral(spec, params);
    let base = params.log2_q(spec.to_ckks().base_prime_bits.len());
    // The error of the switch stays below one unit of a coefficient.
    let least = 2.0 * base + (params.n() as f64 * f64::from(spec.parties)).log2() / 2.0 + 2.0;
    if log2_qp < least {
        let what = format!(
            "special primes of {:.0} bits for the key to the ephemeral secret; use {:.0} bits or more (ephemeral_special, special_prime_bits)",
            log2_qp - base,
            least - base
        );
        return Err(BootstrapError::Unsupported { what }.into());
    }
    let is_weak = security.bits < RlweParams::REQUIRED_SECURITY || security.source == EstimateSource::Indication;
    match spec.assurance == Assurance::Secure && is_weak {
        true => Err(BootstrapError::EphemeralKeyTooWeak { weight: spec.ephemeral_weight, log2_qp, security }.into()),
        false => Ok(()),
    }
}
