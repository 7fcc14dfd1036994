//! Planning a bootstrapping: from a specification to a list of steps with levels.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_ring::kernels::Isa;
use windlass_ring::slots::{PrimePower, SlotRing};
use windlass_rlwe::RlweParams;

use super::candidates::candidates;
use super::choices::Choices;
use super::encapsulation::InputModulus;
use super::error::BootstrapError;
use super::maps::{self, Packing};
use super::partition::{Merging, cost_at};
use super::pipeline::{LinearStep, Pipeline, Separation, Side, Step, each_part};
use super::safety;
use super::schedule::Schedule;
use super::spec::{BootstrapSpec, DecryptionFormula, Mode, Unpacking};
use super::stage::{Stage, StageName};
use crate::circuits::{DigitRemoval, DigitSpec, LinearMap, LinearPlan, PlanSpec};
use crate::error::Result;
use crate::plaintext::Content;
use crate::schemes::Ciphertext;

/// Everything about one bootstrapping that depends on no key: made once, printed before anything
/// runs.
#[derive(Debug, Clone)]
pub struct BootstrapPlan {
    pub(super) pipeline: Pipeline,
    pub(super) schedule: Schedule,
    stages: Vec<Stage>,
    choices: Choices,
}

impl BootstrapPlan {
    /// Plans bootstrapping of ciphertexts modulo p^r under the given parameters.
    ///
    /// Cost: the slot rings modulo p^r and p^e, and the constants of all linear maps.
    ///
    /// # Errors
    /// [`BootstrapError::EphemeralWeight`], [`BootstrapError::FailureBits`];
    /// [`BootstrapError::EphemeralKeyTooWeak`] and
    /// [`BootstrapError::TooLikelyToFail`] under parameters that are
    /// [`windlass_rlwe::Assurance::Secure`]; [`BootstrapError::Unsupported`],
    /// [`BootstrapError::ChainTooShort`] with the stage that the chain does not carry;
    /// [`crate::Error::Ring`] for a p that is no prime or divides m; [`BootstrapError::Partition`]
    /// for one that does not fit.
    pub fn new(params: &RlweParams, (p, r): (u64, u32), spec: BootstrapSpec) -> Result<Self> {
        PrimePower::new(p, r)?;
        let formula = DecryptionFormula::new(params.shape(), (p, r), &spec)?;
        let input = InputModulus::choose(params, &formula, &spec)?;
        safety::check(params, &input, &spec)?;
        let message = maps::evaluation_ring(params.m(), p, r)?;
        let working = Arc::new(message.with_exponent(formula.exponent, Isa::best())?);
        let digits = DigitRemoval::new(DigitSpec {
            bound: (p != 2).then_some(formula.bound),
            method: spec.digits,
            ..DigitSpec::new(p, formula.exponent, formula.removed)
        })?;
        let choices = match spec.mode {
            Mode::Thin => vec![None],
            Mode::Packed => candidates(params, &working, &spec)?.into_iter().map(Some).collect(),
        };
        let empty = Pipeline { params: params.clone(), spec, formula, message, working, input, steps: Vec::new() };
        let plan = |unpacking| {
            let mut pipeline = empty.clone();
            let Pipeline { params, spec, message, .. } = &pipeline;
            let merging = Merging::choose(params, message, spec, unpacking)?;
            let choices = Choices {
                transform: merging.transform.name(),
                unpacking,
                to_coefficients: merging.to_coefficients.clone(),
                to_slots: merging.to_slots.clone(),
                digits: digits.spec().method,
            };
            pipeline.steps = steps(&pipeline, merging, unpacking, digits.clone())?;
            let schedule = pipeline.schedule()?;
            Ok(Self { stages: pipeline.stages(&schedule), pipeline, schedule, choices })
        };
        best(choices.into_iter().map(plan))
    }

    /// What was asked for.
    pub fn spec(&self) -> &BootstrapSpec {
        &self.pipeline.spec
    }

    /// What was chosen where that left it open.
    pub fn choices(&self) -> &Choices {
        &self.choices
    }

    /// The parameters.
    pub fn params(&self) -> &RlweParams {
        &self.pipeline.params
    }

    /// e, v and the bound on the removed part.
    pub fn formula(&self) -> &DecryptionFormula {
        &self.pipeline.formula
    }

    /// R/(p^r), over the hypercube of the evaluation maps.
    pub fn message_ring(&self) -> &Arc<SlotRing> {
        &self.pipeline.message
    }

    /// R/(p^e), over the same hypercube.
    pub fn working_ring(&self) -> &Arc<SlotRing> {
        &self.pipeline.working
    }

    /// The stages in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The digit removal.
    pub fn digits(&self) -> &DigitRemoval {
        self.pipeline.digits()
    }

    /// Where a ciphertext meets the ephemeral key.
    pub(crate) fn input(&self) -> &InputModulus {
        &self.pipeline.input
    }

    /// The automorphisms that need keys.
    pub fn required_keys(&self) -> BTreeSet<u64> {
        self.stages.iter().flat_map(|stage| stage.keys.iter().copied()).collect()
    }

    /// The same with the highest level that each is used at: a key for that level is enough.
    pub fn required_key_levels(&self) -> Vec<(u64, usize)> {
        let level = |t: &u64| self.stages.iter().filter(|s| s.keys.contains(t)).map(|s| s.level).max().unwrap_or(1);
        self.required_keys().into_iter().map(|t| (t, level(&t))).collect()
    }

    /// Bits of capacity that are enough for a ciphertext to be refreshed, whatever its level, as
    /// forecast.
    pub fn least_input_bits(&self) -> f64 {
        self.schedule.least_input_bits
    }

    /// Bits of capacity after bootstrapping, as forecast.
    pub fn output_bits(&self) -> f64 {
        self.schedule.output_bits
    }

    /// Refuses a ciphertext that a refresh would refuse for its plaintext modulus, content or
    /// capacity, before any key is read.
    ///
    /// # Errors
    /// [`BootstrapError::WrongPlaintextModulus`], [`BootstrapError::NotIntegers`],
    /// [`BootstrapError::CapacityTooLow`].
    pub fn check(&self, ct: &Ciphertext) -> Result<()> {
        self.check_exponent(ct.exponent())?;
        self.check_content(ct.content)?;
        self.pipeline.check_input(&self.schedule, ct.level(), ct.noise)
    }

    /// Refuses another plaintext modulus p^found.
    pub(super) fn check_exponent(&self, found: u32) -> Result<()> {
        let expected = self.formula().message_exponent;
        if found == expected {
            return Ok(());
        }
        Err(BootstrapError::WrongPlaintextModulus { expected, found }.into())
    }

    /// Refuses slots that thin bootstrapping would not keep.
    pub(super) fn check_content(&self, content: Content) -> Result<()> {
        match self.spec().mode {
            Mode::Thin if content == Content::Elements => Err(BootstrapError::NotIntegers.into()),
            _ => Ok(()),
        }
    }
}

/// The plan with the most capacity for computing divided by its price, later ones only where they
/// have half as much again: prices are rough (by them constants win for p = 8191 and n = 2^15, by
/// the clock monomials do), and the first takes least memory. The first error if there is none.
fn best(plans: impl Iterator<Item = Result<BootstrapPlan>>) -> Result<BootstrapPlan> {
    let rate = |plan: &BootstrapPlan| (plan.output_bits() - plan.least_input_bits()) / plan.price();
    let mut best: Option<Result<BootstrapPlan>> = None;
    for plan in plans {
        match (&best, &plan) {
            (Some(Ok(old)), Ok(new)) if rate(new) <= 1.5 * rate(old) => {}
            (Some(_), Err(_)) => {}
            _ => best = Some(plan),
        }
    }
    best.expect("there is at least one candidate")
}

/// The steps for one way of unpacking; none in thin mode.
///
/// Thin: slots to coefficients, front end, coefficients to slots, trace, digits (Chen–Han 2018;
/// Halevi–Shoup 2018, §8). Packed: front end, coefficients to slots, digits of each part, slots to
/// coefficients (Halevi–Shoup 2015); what is split by monomials before the maps goes through them
/// part by part.
fn steps(
    pipeline: &Pipeline,
    merging: Merging,
    unpacking: Option<Unpacking>,
    digits: DigitRemoval,
) -> Result<Vec<Step>> {
    let Pipeline { params, spec, message, working, .. } = pipeline;
    if spec.transform.is_own() {
        match unpacking {
            Some(Unpacking::Constants) => maps::check_packed(message, merging.transform)?,
            _ => maps::check_thin(message, merging.transform)?,
        }
    }
    let digits = vec![Step::Digits(digits)];
    let Some(unpacking) = unpacking else {
        let Merging { transform, to_coefficients, to_slots } = merging;
        let to_coefficients = maps::thin_to_coefficients(message, transform, &to_coefficients)?;
        let to_slots = maps::thin_to_slots(working, transform, &to_slots)?;
        let mut steps = linear(params, Side::Message, 4, to_coefficients, to_coefficients_name)?;
        steps.push(Step::FrontEnd);
        steps.extend(linear(params, Side::Working, params.top_level(), to_slots, to_slots_name)?);
        let trace = |part, count| StageName::Trace { part, count };
        steps.extend(linear(params, Side::Working, params.top_level(), maps::trace_stages(working)?, trace)?);
        return Ok([steps, digits].concat());
    };
    let packing = (unpacking == Unpacking::Constants).then(|| merging.transform.packing(working));
    let [whole, in_slots] = separations(pipeline, packing.as_ref(), unpacking)?;
    let [to_coefficients, to_slots] = packed_maps([message, working], &merging, packing.as_ref(), &in_slots)?;
    let names = match in_slots {
        Separation::Constants(_) => [StageName::Unpacking, StageName::Repacking],
        Separation::Monomials(_) => [StageName::SplittingSlots, StageName::JoiningSlots],
    };
    let to_slots = linear(params, Side::Working, params.top_level(), to_slots, to_slots_name)?;
    let to_coefficients = linear(params, Side::Message, params.top_level() / 2, to_coefficients, to_coefficients_name)?;
    let of_each = [to_slots, each_part(names, in_slots, digits), to_coefficients].concat();
    let of_each = each_part([StageName::Splitting, StageName::Joining], whole, of_each);
    Ok([vec![Step::FrontEnd], of_each].concat())
}

fn to_coefficients_name(part: usize, count: usize) -> StageName {
    StageName::SlotsToCoefficients { part, count }
}

fn to_slots_name(part: usize, count: usize) -> StageName {
    StageName::CoefficientsToSlots { part, count }
}

/// How elements come apart before the maps to the slots, and after them.
fn separations(pipeline: &Pipeline, packing: Option<&Packing>, unpacking: Unpacking) -> Result<[Separation; 2]> {
    let Pipeline { params, message, working, .. } = pipeline;
    if let Some(packing) = packing {
        let top = params.top_level();
        let apart = packing.unpacking_plan(working, cost_at(params, top))?;
        let together = packing.repacking_plan(message, cost_at(params, top.div_ceil(2)))?;
        return Ok([Separation::Monomials(Vec::new()), Separation::Constants(Box::new([apart, together]))]);
    }
    let [mut elements, mut in_slots] = maps::splits(working.m(), working.prime());
    if unpacking == Unpacking::MonomialsInSlots {
        elements.append(&mut in_slots);
        (elements, in_slots) = (Vec::new(), elements);
    }
    Ok([elements, in_slots].map(Separation::Monomials))
}

/// The maps to the coefficients and to the slots of packed mode. Where elements of a subring go
/// through them they are those of thin mode, without the trace; with maps inside the slots
/// otherwise.
fn packed_maps(
    [message, working]: [&Arc<SlotRing>; 2],
    merging: &Merging,
    packing: Option<&Packing>,
    in_slots: &Separation,
) -> Result<[Vec<LinearMap>; 2]> {
    let Merging { transform, to_coefficients, to_slots } = merging;
    let [_, of_subring] = maps::splits(working.m(), working.prime());
    Ok(match (packing, in_slots) {
        (Some(packing), _) => [
            maps::packed_to_coefficients(message, *transform, to_coefficients)?,
            maps::packed_to_slots(working, *transform, to_slots, packing)?,
        ],
        (None, Separation::Monomials(splits)) if *splits == of_subring => [
            maps::thin_to_coefficients(message, *transform, to_coefficients)?,
            maps::thin_to_slots(working, *transform, to_slots)?,
        ],
        _ => [maps::together_to_coefficients(message, to_coefficients)?, maps::together_to_slots(working, to_slots)?],
    })
}

/// Plans every map for the given level.
fn linear(
    params: &RlweParams,
    side: Side,
    level: usize,
    maps: Vec<LinearMap>,
    name: impl Fn(usize, usize) -> StageName,
) -> Result<Vec<Step>> {
    let level = level.min(params.top_level());
    let spec = PlanSpec { cost: cost_at(params, level), constant_bytes: MAX_READY_BYTES, ..PlanSpec::default() };
    let count = maps.len();
    let step = |(map, part): (&LinearMap, usize)| {
        Ok(Step::Linear(LinearStep { name: name(part, count), side, plan: LinearPlan::new(map, &spec)? }))
    };
    maps.iter().zip(1..).map(step).collect()
}

/// Constants of one map that take more memory are not held ready, but as coefficients that are
/// expanded when they are used: two large maps and the keys of a packed bootstrapping with m =
/// 49981 fit into 16 GiB so.
const MAX_READY_BYTES: usize = 3 << 30;
