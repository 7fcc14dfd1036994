//! Planning a bootstrapping: from a specification to a list of steps with levels.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_circuits::{DigitRemoval, DigitSpec};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::RlweParams;
use windlass_schemes::error::{BootstrapError, Result};
use windlass_schemes::plaintext::Content;
use windlass_schemes::schemes::Ciphertext;

use super::candidates::{candidates, orders};
use super::choices::Choices;
use super::encapsulation::InputModulus;
use super::formula::DecryptionFormula;
use super::maps::{self, FactorOrder};
use super::partition::{Merging, Way, eval_choices};
use super::pipeline::{Pipeline, PipelineStep};
use super::safety;
use super::schedule::Schedule;
use super::spec::{BootstrapSpec, EvalStage, Mode, Order, Unpacking};
use super::stage::Stage;
use super::steps::{self, PackedMaps};

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
    /// [`windlass_schemes::Error::Ring`] for a p that is not a prime or divides m; [`BootstrapError::Partition`]
    /// for one that does not fit, and [`BootstrapError::Factors`]; [`BootstrapError::TooManyKeys`],
    /// and those of [`windlass_circuits::LinearPlan::new`] for a strategy that the keys do not carry.
    pub fn new(params: &RlweParams, (p, r): (u64, u32), spec: BootstrapSpec) -> Result<Self> {
        if spec.factors == FactorOrder::LeastPrice && !params.m().is_power_of_two() {
            let orders = maps::factor_orders(params.m(), p)?;
            let with = |factors| BootstrapSpec { factors, ..spec.clone() };
            return fastest(orders.into_iter().map(|factors| Self::with_factors(params, (p, r), with(factors))));
        }
        Self::with_factors(params, (p, r), spec)
    }

    fn with_factors(params: &RlweParams, (p, r): (u64, u32), spec: BootstrapSpec) -> Result<Self> {
        let formula = DecryptionFormula::of_parties(params.shape(), (p, r), &spec, params.secret().parties())?;
        let input = InputModulus::choose(params, &formula, &spec)?;
        safety::check(params, &input, &formula, &spec)?;
        let message = maps::ordered_ring((params.m(), p, r), &spec.factors)?;
        let working = Arc::new(message.with_exponent(formula.exponent, Isa::best())?);
        let digits = DigitRemoval::new(DigitSpec {
            bound: (p != 2).then_some(formula.bound),
            method: spec.digits,
            ..DigitSpec::new(p, formula.exponent, formula.removed)
        })?;
        let empty = Pipeline { params: params.clone(), spec, formula, message, working, input, steps: Vec::new() };
        match empty.spec.mode {
            Mode::Thin => {
                let merging = Merging::choose(params, &empty.message, &empty.spec, Way::THIN)?;
                let steps = steps::thin(&empty, &merging, &digits)?;
                Self::of(empty, &merging, None, steps)
            }
            Mode::Packed => {
                let ways = candidates(params, &empty.working, &empty.spec)?;
                best(ways.into_iter().map(|unpacking| Self::packed(&empty, unpacking, &digits)))
            }
        }
    }

    /// One way of unpacking, in the better order of those that the specification allows, with the
    /// stage inside the slots separate or merged.
    fn packed(empty: &Pipeline, unpacking: Unpacking, digits: &DigitRemoval) -> Result<Self> {
        let mut known: Option<PackedMaps> = None;
        let mut plan = |(joined, order): (bool, Order)| {
            let packed = Some((unpacking, order));
            let way = Way { packed, joined, priced: false };
            let merging = Merging::choose(&empty.params, &empty.message, &empty.spec, way)?;
            let maps = match known.take().filter(|maps| maps.are_of(&merging)) {
                Some(maps) => maps,
                None => PackedMaps::new(empty, merging.clone(), unpacking)?,
            };
            let steps = known.insert(maps).steps(empty, order, digits)?;
            Self::of(empty.clone(), &merging, packed, steps)
        };
        let orders = orders(&empty.params, &empty.spec);
        let mut evals = Vec::new();
        for joined in eval_choices(empty, unpacking, orders[0])? {
            evals.extend(orders.iter().map(|&order| (joined, order)));
        }
        fastest(evals.into_iter().map(&mut plan))
    }

    /// The plan of these steps.
    fn of(
        mut pipeline: Pipeline,
        merging: &Merging,
        way: Option<(Unpacking, Order)>,
        steps: Vec<PipelineStep>,
    ) -> Result<Self> {
        pipeline.steps = steps;
        let choices = Choices {
            transform: merging.transform.name(),
            unpacking: way.map(|way| way.0),
            order: way.map(|way| way.1),
            to_coefficients: merging.to_coefficients.ends.clone(),
            to_slots: merging.to_slots.ends.clone(),
            eval: way.filter(|way| Way::has_eval(way.0, &pipeline.working) && !merging.to_slots.ends.is_empty()).map(
                |_| match merging.to_slots.joined {
                    true => EvalStage::Merged,
                    false => EvalStage::Alone,
                },
            ),
            digits: pipeline.digits().spec().method,
        };
        let schedule = pipeline.schedule()?;
        Ok(Self { stages: pipeline.stages(&schedule), pipeline, schedule, choices })
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
    #[doc(hidden)]
    pub fn input(&self) -> &InputModulus {
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

    /// The forecast bits of capacity with which any ciphertext can be refreshed, for every level of
    /// it.
    pub fn least_input_bits(&self) -> f64 {
        self.schedule.least_input_bits
    }

    /// No ciphertext that is refreshed outside a batch, as all are inside circuits, ends at a
    /// higher level.
    #[doc(hidden)]
    pub fn highest_output_level(&self) -> usize {
        self.schedule.highest_output
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
        self.check_content(ct.content())?;
        self.pipeline.check_input(&self.schedule, ct.level(), ct.noise())
    }

    /// Refuses another plaintext modulus p^found.
    pub(super) fn check_exponent(&self, found: u32) -> Result<()> {
        let expected = self.formula().message_exponent;
        if found == expected {
            return Ok(());
        }
        Err(BootstrapError::WrongPlaintextModulus { expected, found }.into())
    }

    /// Refuses what cannot go into a batch: another plaintext modulus, and slots of elements.
    pub(super) fn check_integers(&self, exponent: u32, content: Content) -> Result<()> {
        self.check_exponent(exponent)?;
        if content == Content::Integers { Ok(()) } else { Err(BootstrapError::NotIntegers.into()) }
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
    ahead_by(1.5, plans)
}

/// The plan with the most capacity for computing divided by its price, the first of equal ones.
fn fastest(plans: impl Iterator<Item = Result<BootstrapPlan>>) -> Result<BootstrapPlan> {
    ahead_by(1.0, plans)
}

/// The first plan, unless a later one has more than `factor` times its capacity for a price. The
/// first error if there is none.
fn ahead_by(factor: f64, plans: impl Iterator<Item = Result<BootstrapPlan>>) -> Result<BootstrapPlan> {
    let rate = |plan: &BootstrapPlan| (plan.output_bits() - plan.least_input_bits()) / plan.price();
    let mut best: Option<Result<BootstrapPlan>> = None;
    for plan in plans {
        match (&best, &plan) {
            (Some(Ok(old)), Ok(new)) if rate(new) <= factor * rate(old) => {}
            (Some(_), Err(_)) => {}
            _ => best = Some(plan),
        }
    }
    best.expect("there is at least one candidate")
}
