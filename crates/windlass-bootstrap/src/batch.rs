//! Refreshes several ciphertexts of integers as one ciphertext of elements (Halevi–Shoup 2018, §8).
//!
//! Let d be the degree of a slot. A batch combines up to d ciphertexts, with integers x_k in their
//! slots, into one ciphertext of `Σ_k ε_k·x_k`, where ε is a basis of the slot. A packed
//! bootstrapping refreshes this ciphertext. It takes each slot apart into its d integers anyway, to
//! remove their digits.
//!
//! The order of its two linear maps decides how the d results are obtained:
//!
//! - *Slots to coefficients first*: digit removal is the last step. The d parts after it are the
//!   results, so nothing is packed again.
//! - *Slots to coefficients last*: the bootstrapping ends with one ciphertext of elements modulo p^r.
//!   It is unpacked there, modulo p^r, with Galois keys that the bootstrapping has.

use std::fmt::Write as _;
use std::sync::Arc;

use windlass_circuits::CostModel;
use windlass_rlwe::RandomEvents;
use windlass_schemes::error::{BootstrapError, Error, Result};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::switching::Arithmetic;

use super::bootstrap_plan::BootstrapPlan;
use super::explain::rounded_down;
use super::interpreter::{Circuit, Ct, Machine};
use super::pack_unpack::{Own, PackUnpack, nest};
use super::pipeline::{Parts, PipelineStep, Separation, most_parts};
use super::schedule::BatchForecast;

/// What a packed bootstrapping does with a batch of ciphertexts that hold integers.
#[derive(Debug, Clone)]
pub struct BatchPlan {
    plan: Arc<BootstrapPlan>,
    ends: PackUnpack,
    forecast: BatchForecast,
}

impl BatchPlan {
    /// The batches of a packed plan. They need its keys and no others.
    ///
    /// Cost: for maps that come last the d² constants of taking elements apart (d for a normal
    /// basis); a run of the plan on noise bounds.
    ///
    /// # Errors
    /// [`BootstrapError::Unsupported`] for a thin plan; [`BootstrapError::ChainTooShort`] where the
    /// constants of the batch take more capacity than there is, or leave none.
    pub fn new(plan: &Arc<BootstrapPlan>) -> Result<Self> {
        let Some(unpacking) = plan.choices().unpacking else {
            let what = "a batch is refreshed as ring elements: plan Mode::Packed".to_string();
            return Err(BootstrapError::Unsupported { what }.into());
        };
        let level = plan.stages().last().map_or(1, |stage| stage.level);
        let keys = plan.required_key_levels().into_iter().filter(|&(_, held)| held >= level);
        let ends = PackUnpack::new(&plan.pipeline, unpacking, keys.map(|(element, _)| element).collect(), level)?;
        let forecast = plan.pipeline.batch_forecast(&plan.schedule, &ends)?;
        Ok(Self { plan: Arc::clone(plan), ends, forecast })
    }

    /// The packed plan.
    pub fn plan(&self) -> &Arc<BootstrapPlan> {
        &self.plan
    }

    /// d: how many ciphertexts go into one batch at most.
    pub fn size(&self) -> usize {
        self.plan.message_ring().degree()
    }

    /// Bits of capacity that are enough for every ciphertext of a full batch, as forecast for
    /// ciphertexts of one level and one factor. Others are brought to a common level and factor
    /// first, which may take more.
    pub fn least_input_bits(&self) -> f64 {
        self.forecast.least_input_bits
    }

    /// Bits of capacity of each result, as forecast.
    pub fn output_bits(&self) -> f64 {
        self.forecast.output_bits
    }

    /// The random events that the noise bounds of a full batch rest on, as
    /// [`BootstrapPlan::random_events`] counts them; a batch that is not full has fewer.
    pub fn random_events(&self) -> RandomEvents {
        self.forecast.events
    }

    /// A result of a full batch is wrong with probability at most 2^−x for this x, given
    /// ciphertexts whose own bounds hold. [`BootstrapPlan::failure_bits`] is the x of a single
    /// refresh.
    pub fn failure_bits(&self) -> f64 {
        self.plan.failure_bits_with(self.random_events())
    }

    /// The price of a batch of `count` ciphertexts in the unit of [`BootstrapPlan::price`]. A batch
    /// that is not full saves digit removals where the plan's maps to the coefficients come first.
    pub fn price(&self, count: usize) -> f64 {
        let (plan, count) = (&*self.plan, count.min(self.size()));
        match &self.ends {
            PackUnpack::Shared => {
                let place = |parts: &Parts| CostModel::at_level(plan.params(), plan.schedule.level(parts.together));
                let gather = |parts: &&Parts| parts.by.price([None, Some(&place(parts))]);
                nest(&plan.pipeline.steps).iter().map(gather).sum::<f64>()
                    + plan.price_apart_of(&plan.pipeline.steps, count)
            }
            PackUnpack::Own { parts, level } => {
                let cost = CostModel::at_level(plan.params(), *level);
                plan.price() + parts.by.price([Some(&cost), Some(&cost)])
            }
        }
    }

    /// Size, capacity, failure and price, and how the price compares with refreshing one by one
    /// under `single`, a thin plan or a packed one.
    pub fn explain(&self, single: &BootstrapPlan) -> String {
        let (size, batch, one) = (self.size(), self.price(self.size()), single.price());
        let mut text = format!(
            "batches of {size} ciphertexts: needs {:.0} bits, leaves {:.0}, fails with probability at most 2^-{:.1}\n",
            self.least_input_bits(),
            self.output_bits(),
            rounded_down(self.failure_bits()),
        );
        let least = (1..=size).find(|&count| self.price(count) < count as f64 * one);
        let worth = match least {
            Some(count) => format!("worth it from {count} on"),
            None => "never worth it".into(),
        };
        write!(
            text,
            "price {batch:.0}, {:.2} of {size} times {one:.0}, the {} refresh of one; {worth}",
            batch / (size as f64 * one),
            single.spec().mode
        )
        .expect("writing to a string cannot fail");
        text
    }

    /// The number of reports of a batch: how often stages begin.
    pub(super) fn reports(&self, count: usize) -> usize {
        match self.ends {
            PackUnpack::Own { .. } => self.plan.stages().iter().map(|stage| stage.times).sum(),
            PackUnpack::Shared => stages_begun(&self.plan.pipeline.steps, count),
        }
    }

    /// Refuses a batch that is too large.
    pub(super) fn check_size(&self, count: usize) -> Result<()> {
        let most = self.size();
        if count <= most {
            return Ok(());
        }
        Err(Error::ShapeMismatch { what: "ciphertexts of a batch at most", expected: most, got: count })
    }

    /// One ciphertext of elements from those of a batch, at least one; the places of those that
    /// lack hold 0.
    pub(super) fn gather<M: Machine>(&self, machine: &mut M, own: Own<'_, M>, batch: &[Ct<M>]) -> Result<Ct<M>> {
        let zero = machine.circuit().message.zero_like(&batch[0])?;
        let mut full = batch.to_vec();
        full.resize(self.size(), zero);
        self.ends.gather(machine, &self.plan.pipeline.steps, own, full)
    }

    /// The first `wanted` ciphertexts of a refreshed batch, times [`Self::multiple`].
    pub(super) fn refresh<M: Machine>(
        &self,
        machine: &mut M,
        own: Own<'_, M>,
        gathered: Ct<M>,
        wanted: usize,
    ) -> Result<Vec<Ct<M>>> {
        self.ends.refresh(machine, &self.plan.pipeline.steps, own, gathered, wanted)
    }

    /// What splits by monomials have multiplied the results by.
    pub(super) fn multiple(&self) -> u64 {
        match &self.ends {
            PackUnpack::Own { parts, .. } if matches!(parts.by, Separation::Monomials(_)) => parts.by.parts() as u64,
            _ => 1,
        }
    }
}

/// Batches ready to run: with the constants that the bootstrapping itself has not.
pub(super) struct Batch<E: Evaluator> {
    pub plan: Arc<BatchPlan>,
    pub own: Option<Circuit<E>>,
}

impl<E: Evaluator> Batch<E> {
    pub fn new(plan: Arc<BatchPlan>, both: impl FnOnce() -> [E; 2]) -> Result<Self> {
        Ok(Self { own: plan.ends.circuit(both)?, plan })
    }
}

/// Refreshes a list in batches, as long as a batch costs less than its ciphertexts one by one under
/// the plan `single`, and as long as they have the capacity for it: a batch needs more capacity
/// than a single refresh. The others, neighbours at once, go by `several`.
#[doc(hidden)]
pub fn in_batches<C>(
    list: &[C],
    plan: Result<&BatchPlan>,
    single: &BootstrapPlan,
    batch: impl Fn(&[C]) -> Result<Vec<C>>,
    several: impl Fn(&[C]) -> Result<Vec<C>>,
) -> Result<Vec<C>> {
    let Ok(plan) = plan else { return several(list) };
    let (mut done, mut waiting) = (Vec::with_capacity(list.len()), 0..0);
    for chunk in list.chunks(plan.size()) {
        let end = waiting.end + chunk.len();
        let together = if plan.price(chunk.len()) < chunk.len() as f64 * single.price() {
            match batch(chunk) {
                Err(Error::Bootstrap(BootstrapError::CapacityTooLow { .. })) => None,
                refreshed => Some(refreshed?),
            }
        } else {
            None
        };
        match together {
            Some(refreshed) => {
                done.extend(several(&list[waiting])?);
                done.extend(refreshed);
                waiting = end..end;
            }
            None => waiting.end = end,
        }
    }
    done.extend(several(&list[waiting])?);
    Ok(done)
}

/// How often stages begin where parts stay apart, for one ciphertext.
fn stages_begun(steps: &[PipelineStep], wanted: usize) -> usize {
    let Some((PipelineStep::Parts(parts), before)) = steps.split_last() else { return all_stages(steps) };
    all_stages(before) + 1 + shares(parts, wanted).map(|share| stages_begun(&parts.steps, share)).sum::<usize>()
}

/// How often stages begin where everything is put together again.
fn all_stages(steps: &[PipelineStep]) -> usize {
    let of = |step: &PipelineStep| match step {
        PipelineStep::Parts(parts) => 2 * parts.by.times() + parts.by.parts() * all_stages(&parts.steps),
        _ => 1,
    };
    steps.iter().map(of).sum()
}

/// How many of `wanted` results each part gives, as long as it gives one.
fn shares(parts: &Parts, wanted: usize) -> impl Iterator<Item = usize> {
    let each = most_parts(&parts.steps);
    (0..wanted.min(parts.by.parts() * each)).step_by(each).map(move |first| each.min(wanted - first))
}

impl BootstrapPlan {
    /// The price of steps whose parts are not put together again.
    fn price_apart_of(&self, steps: &[PipelineStep], wanted: usize) -> f64 {
        let Some((PipelineStep::Parts(parts), before)) = steps.split_last() else { return self.price_of(steps) };
        let cost = CostModel::at_level(self.params(), self.schedule.level(parts.apart));
        let of_parts = shares(parts, wanted).map(|share| self.price_apart_of(&parts.steps, share));
        self.price_of(before) + parts.by.price([Some(&cost), None]) + of_parts.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{BootstrapSpec, Mode, Unpacking};

    use windlass_rlwe::{Assurance, RlweParams, RlweSpec, SecretDistribution};

    fn plan(m: u64, p: u64, mode: Mode) -> BootstrapPlan {
        let params = RlweParams::new(&RlweSpec {
            m,
            q_prime_bits: vec![50; 18],
            spare_prime_bits: Vec::new(),
            special_prime_bits: vec![50; 6],
            digits: 3,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_test".into() },
        });
        let unpacking = Unpacking::MonomialsInSlots;
        let spec = BootstrapSpec { mode, unpacking, ephemeral_weight: 6, ..BootstrapSpec::default() };
        BootstrapPlan::new(&params.unwrap(), (p, 1), spec).unwrap()
    }

    /// What waits for a batch that has no room comes before what goes in the next one.
    #[test]
    fn lists_keep_their_order_where_some_batches_have_no_room() {
        let single = plan(64, 17, Mode::Packed);
        let batches = BatchPlan::new(&Arc::new(plan(64, 17, Mode::Packed))).unwrap();
        let size = batches.size();
        let list: Vec<usize> = (0..3 * size).collect();
        let batch = |chunk: &[usize]| {
            let (stage, left_bits, missing_bits) = ("a batch".into(), 1.0, 1.0);
            match chunk[0] / size {
                0 | 2 => Err(BootstrapError::CapacityTooLow { stage, left_bits, missing_bits }.into()),
                _ => Ok(chunk.iter().map(|x| 1000 + x).collect()),
            }
        };
        let several = |list: &[usize]| Ok(list.iter().map(|x| 2000 + x).collect());
        let done = in_batches(&list, Ok(&batches), &single, batch, several).unwrap();
        let way = |x: usize| if x / size == 1 { 1000 + x } else { 2000 + x };
        assert_eq!(done, list.iter().map(|&x| way(x)).collect::<Vec<_>>());
    }
}
