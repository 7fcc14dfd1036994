//! A bootstrapping as data: the list of its steps with their parameters.
//!
//! All other code reads this list. [`super::interpreter`] runs it on ciphertexts, on the exact mock
//! and on noise bounds. Price, keys and the listed stages are computed from it.

use std::sync::Arc;

use windlass_circuits::{DigitRemoval, LinearPlan};
use windlass_ring::slots::SlotRing;
use windlass_rlwe::RlweParams;

use super::encapsulation::InputModulus;
use super::formula::{DecryptionFormula, FormulaSpec};
use super::maps::Split;
use super::spec::BootstrapSpec;
use super::stage::StageName;

/// The steps of one bootstrapping, and what they refer to.
#[derive(Debug, Clone)]
pub(super) struct Pipeline {
    pub params: RlweParams,
    pub spec: BootstrapSpec,
    pub formula: DecryptionFormula,
    /// R/(p^r).
    pub message: Arc<SlotRing>,
    /// R/(p^e), over the same hypercube.
    pub working: Arc<SlotRing>,
    pub input: InputModulus,
    pub steps: Vec<PipelineStep>,
}

impl Pipeline {
    /// The steps that come before the front end, at the foot of the chain.
    pub fn before_front_end(&self) -> &[PipelineStep] {
        let end = self.steps.iter().position(|step| matches!(step, PipelineStep::FrontEnd)).unwrap_or(0);
        &self.steps[..end]
    }

    /// What the decryption formula started from.
    pub fn formula_spec(&self) -> FormulaSpec<'_> {
        let modulus = (self.formula.prime, self.formula.message_exponent);
        self.spec.formula_spec(self.params.shape(), modulus, self.params.secret().parties())
    }

    /// The digit removal.
    pub fn digits(&self) -> &DigitRemoval {
        digit_removal(&self.steps).expect("every bootstrapping removes digits")
    }
}

/// The plaintext ring that a step computes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// R/(p^r), the ring of messages.
    Message,
    /// R/(p^e), where digits are removed.
    Working,
}

/// One step, from one ciphertext to one.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there are few steps")]
pub(super) enum PipelineStep {
    Linear(LinearStep),
    /// From a spent ciphertext to one of the top level with what it decrypts to, up to rounding, as
    /// its plaintext.
    FrontEnd,
    /// From the working ring to that of messages, by integers in the slots.
    Digits(DigitRemoval),
    Parts(Parts),
}

/// A linear map.
#[derive(Debug, Clone)]
pub(super) struct LinearStep {
    pub name: StageName,
    pub side: Side,
    pub plan: LinearPlan,
}

impl LinearStep {
    /// The price of what it does, in transforms of one row; that of its keys only chose the plan.
    pub fn price(&self) -> f64 {
        self.plan.price() - self.plan.count().keys as f64 * self.plan.spec().cost.key
    }
}

/// A ciphertext of one ring comes apart, `steps` are done with each part, and the results come
/// together in the ring of messages.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    /// The ring in which it is split: the working ring, unless it is split before the front end.
    pub side: Side,
    pub apart: StageName,
    pub together: StageName,
    pub by: Separation,
    pub steps: Vec<PipelineStep>,
}

/// How a ciphertext comes apart.
#[derive(Debug, Clone)]
pub(super) enum Separation {
    /// Into d, by Frobenius powers and constants (Halevi–Shoup 2015, §4.3): plans of the maps from
    /// one ciphertext to d, and of those back.
    Constants(Box<[LinearPlan; 2]>),
    /// Into two by each split, first to last.
    Monomials(Vec<Split>),
}

impl Separation {
    /// How many parts there are.
    pub fn parts(&self) -> usize {
        match self {
            Self::Constants(plans) => plans[0].grid().rows(),
            Self::Monomials(splits) => 1 << splits.len(),
        }
    }

    /// How many operations take one ciphertext apart, or put it together.
    pub fn times(&self) -> usize {
        match self {
            Self::Constants(_) => 1,
            Self::Monomials(_) => self.parts() - 1,
        }
    }
}

/// Does `steps` with every part; they alone are left where nothing comes apart.
pub(super) fn each_part(
    [apart, together]: [StageName; 2],
    side: Side,
    by: Separation,
    steps: Vec<PipelineStep>,
) -> Vec<PipelineStep> {
    match &by {
        Separation::Monomials(splits) if splits.is_empty() => steps,
        _ => vec![PipelineStep::Parts(Parts { side, apart, together, by, steps })],
    }
}

/// How many parts a ciphertext is in where it is in most.
pub(super) fn most_parts(steps: &[PipelineStep]) -> usize {
    let of = |step: &PipelineStep| match step {
        PipelineStep::Parts(parts) => parts.by.parts() * most_parts(&parts.steps),
        _ => 1,
    };
    steps.iter().map(of).max().unwrap_or(1)
}

/// The digit removal, wherever it stands.
fn digit_removal(steps: &[PipelineStep]) -> Option<&DigitRemoval> {
    steps.iter().find_map(|step| match step {
        PipelineStep::Digits(removal) => Some(removal),
        PipelineStep::Parts(parts) => digit_removal(&parts.steps),
        _ => None,
    })
}
