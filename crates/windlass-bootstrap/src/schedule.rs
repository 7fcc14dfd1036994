//! Runs the pipeline on noise bounds. The result is the level of each stage, the capacity that it
//! leaves, and the capacity that a ciphertext needs before a refresh.

use std::collections::BTreeMap;

use windlass_rlwe::{Bound, RandomEvents};
use windlass_schemes::error::{BootstrapError, Error, Result};

use super::encapsulation::EncryptedSecret;
use super::forecast::{Expected, Forecast};
use super::interpreter::{Circuit, Machine, run};
use super::output_level;
use super::pack_unpack::PackUnpack;
use super::pipeline::{Pipeline, PipelineStep};
use super::stage::StageName;

/// Where a stage runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub level: usize,
    /// Bits of capacity before and after.
    pub capacity: (f64, f64),
}

/// Where all stages run, and what comes of it.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    pub places: BTreeMap<StageName, Place>,
    /// What a refresh gives.
    pub output: Expected,
    /// Bits of capacity that it leaves.
    pub output_bits: f64,
    /// No ciphertext that is refreshed outside a batch ends at a higher level.
    pub highest_output: usize,
    /// Bits of capacity that are enough at every level at which a ciphertext can have them.
    pub least_input_bits: f64,
    /// The random events of one refresh, the tails of the front end apart.
    pub events: RandomEvents,
    /// Bits of capacity that are enough at level 1, 2, .., the last for all higher ones; infinite
    /// where none are.
    needed_bits: Vec<f64>,
}

impl Schedule {
    /// The level of a stage.
    pub fn level(&self, stage: StageName) -> usize {
        self.places[&stage].level
    }

    /// Bits of capacity that a ciphertext of this level needs; infinite where none are enough.
    pub fn needed_bits(&self, level: usize) -> f64 {
        self.needed_bits[level.min(self.needed_bits.len()) - 1]
    }
}

/// Capacity of the ciphertexts of a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchForecast {
    /// Bits that are enough for each of a full batch of one level and factor.
    pub least_input_bits: f64,
    /// Bits that each is left with.
    pub output_bits: f64,
    /// The random events of a full batch, the tails of the front end apart.
    pub events: RandomEvents,
}

/// What happens to a ciphertext that comes to a stage.
#[derive(Clone, Copy)]
enum Levels<'a> {
    /// It goes to the lowest level that costs at most half a bit. What does not fit is too much for
    /// the chain.
    Chosen,
    /// It goes to the level of the schedule. What does not fit is too much for the ciphertext,
    /// which had so many bits.
    Given(&'a BTreeMap<StageName, Place>, f64),
}

/// Noise bounds go through the pipeline.
struct Forecaster<'a> {
    pipeline: &'a Pipeline,
    circuit: &'a Circuit<Forecast>,
    levels: Levels<'a>,
    places: BTreeMap<StageName, Place>,
}

impl<'a> Forecaster<'a> {
    fn new(pipeline: &'a Pipeline, circuit: &'a Circuit<Forecast>, levels: Levels<'a>) -> Self {
        Self { pipeline, circuit, levels, places: BTreeMap::new() }
    }

    fn take_events(&self) -> RandomEvents {
        take_events(self.circuit)
    }

    fn capacity(&self, x: &Expected) -> f64 {
        self.circuit.working.capacity(x)
    }

    /// The ciphertext at the front end, if it has enough capacity to continue.
    fn arrive(&mut self, x: Expected) -> Result<Expected> {
        let input = &self.pipeline.input;
        let arrived = self.circuit.working.switch(&x, input.arrival);
        let missing = input.needed_bits - self.capacity(&arrived);
        if missing > 0.0 || x.level < input.level {
            return self.refuse(StageName::FrontEnd, missing.max(0.0));
        }
        self.places.insert(StageName::FrontEnd, Place { level: input.arrival, capacity: (input.needed_bits, 0.0) });
        Ok(arrived)
    }

    fn refuse<T>(&self, stage: StageName, missing_bits: f64) -> Result<T> {
        match self.levels {
            Levels::Chosen => too_short(stage.to_string(), missing_bits),
            Levels::Given(_, left_bits) => {
                Err(BootstrapError::CapacityTooLow { stage: stage.to_string(), left_bits, missing_bits }.into())
            }
        }
    }
}

impl Machine for Forecaster<'_> {
    type On = Forecast;
    const PARTS_ARE_ALIKE: bool = true;

    fn circuit(&self) -> &Circuit<Forecast> {
        self.circuit
    }

    /// The events of the work count so many times.
    fn repeat<T>(&mut self, times: usize, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.take_events();
        let result = work(self);
        self.circuit.working.events().add(before + self.take_events() * times);
        result
    }

    fn lower(&mut self, batch: Vec<Expected>, level: usize) -> Result<Vec<Expected>> {
        Ok(batch.iter().map(|x| self.circuit.message.switch(x, level)).collect())
    }

    fn enter(&mut self, stage: StageName, x: Expected) -> Result<Expected> {
        let forecast = &self.circuit.working;
        forecast.events().add(RandomEvents::MODULUS_SWITCH);
        let x = match self.levels {
            _ if stage == StageName::FrontEnd => return self.arrive(x),
            Levels::Chosen => forecast.reduce(&x),
            Levels::Given(places, _) => forecast.switch(&x, places[&stage].level),
        };
        self.places.insert(stage, Place { level: x.level, capacity: (self.capacity(&x), 0.0) });
        Ok(x)
    }

    fn leave(&mut self, stage: StageName, x: &Expected) -> Result<()> {
        let bits = self.capacity(x);
        if let Some(place) = self.places.get_mut(&stage) {
            place.capacity.1 = bits;
        }
        if bits > 0.0 { Ok(()) } else { self.refuse(stage, -bits) }
    }

    /// c_0 + c_1·Enc(s̃) with uniform c_0, c_1 modulo p^e.
    fn front_end(&mut self, _: Expected) -> Result<Expected> {
        let (pipeline, forecast) = (self.pipeline, &self.circuit.working);
        let exponent = pipeline.formula.exponent;
        let (model, norm) = (forecast.model(exponent), forecast.constant_norm(exponent));
        let (weight, t) = (pipeline.spec.ephemeral_weight, pipeline.working.modulus().value());
        let secret = EncryptedSecret::noise(&pipeline.params, model, weight, t);
        let noise = secret * norm + model.rounding(2) + norm;
        // The switch from the level of arrival to Q_in, the error of the encryption of s̃, and the
        // mod-down.
        forecast.events().add(RandomEvents::MODULUS_SWITCH + RandomEvents::ENCRYPTION + RandomEvents::MOD_DOWN);
        Ok(Expected { level: pipeline.params.top_level(), exponent, factor: 1, noise })
    }
}

/// The random events since the last time.
fn take_events(circuit: &Circuit<Forecast>) -> RandomEvents {
    circuit.message.events().take() + circuit.working.events().take()
}

fn too_short<T>(stage: String, missing_bits: f64) -> Result<T> {
    Err(BootstrapError::ChainTooShort { stage, missing_bits }.into())
}

/// A full batch on noise bounds.
struct FullBatch<'a> {
    pipeline: &'a Pipeline,
    schedule: &'a Schedule,
    ends: &'a PackUnpack,
    circuit: &'a Circuit<Forecast>,
    /// The circuit of the batch alone, if it has one.
    own: Option<&'a Circuit<Forecast>>,
}

impl<'a> FullBatch<'a> {
    fn size(&self) -> usize {
        self.pipeline.message.degree()
    }

    /// What is gathered of ciphertexts of one factor, level and capacity; with the machine that did it.
    fn gathered(&self, level: usize, bits: f64) -> Result<(Forecaster<'a>, Expected)> {
        let exponent = self.pipeline.formula.message_exponent;
        let noise = self.circuit.message.noise_of_capacity(level, bits);
        let levels = Levels::Given(&self.schedule.places, bits);
        let mut machine = Forecaster::new(self.pipeline, self.circuit, levels);
        let batch = vec![Expected { level, exponent, factor: 1, noise }; self.size()];
        let gathered = self.ends.gather(&mut machine, &self.pipeline.steps, self.own, batch)?;
        Ok((machine, gathered))
    }

    /// The random events since the last time, of both circuits.
    fn take_events(&self) -> RandomEvents {
        let circuits = [Some(self.circuit), self.own].into_iter().flatten();
        circuits.map(take_events).fold(RandomEvents::default(), |sum, events| sum + events)
    }
}

/// The least number of bits that is enough, from above; infinite where `most` are not.
fn least(most: f64, enough: impl Fn(f64) -> Result<bool>) -> Result<f64> {
    const STEPS: usize = 32;
    if !enough(most)? {
        return Ok(f64::INFINITY);
    }
    let (mut low, mut high) = (0.0, most);
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if enough(middle)? { high = middle } else { low = middle }
    }
    Ok(high)
}

impl Pipeline {
    /// Fixes the levels by running the pipeline on noise bounds.
    ///
    /// # Errors
    /// [`BootstrapError::ChainTooShort`] with the stage that the chain does not carry.
    pub fn schedule(&self) -> Result<Schedule> {
        let circuit = self.forecasts(&self.steps)?;
        let start = self.lowest_start(&circuit)?;
        let mut machine = Forecaster::new(self, &circuit, Levels::Chosen);
        machine.take_events();
        let output = run(&mut machine, &self.steps, start)?;
        let events = machine.take_events();
        let places = machine.places;
        let needed_bits = self.needed_bits(&circuit, &places)?;
        let schedule = Schedule {
            output,
            output_bits: circuit.message.capacity(&output),
            highest_output: output_level::highest(
                self,
                &circuit.working,
                places[&StageName::DigitRemoval].level,
                output.level,
            )?,
            least_input_bits: self.least_input_bits(&circuit, &needed_bits),
            places,
            events,
            needed_bits,
        };
        // A bootstrapping that leaves less than it needs to start is of no use.
        let left = schedule.output_bits - schedule.least_input_bits;
        if left > 0.0 { Ok(schedule) } else { too_short("what is left for computing".into(), -left) }
    }

    fn forecasts(&self, steps: &[PipelineStep]) -> Result<Circuit<Forecast>> {
        let both = [&self.message, &self.working].map(|slots| Forecast::new(&self.params, slots));
        Circuit::new(both, steps, &|_| self.params.top_level())
    }

    /// A message with nothing but rounding noise.
    fn floor(&self, circuit: &Circuit<Forecast>, level: usize) -> Expected {
        circuit.message.floor(level, self.formula.message_exponent)
    }

    /// Everything up to the front end.
    fn arrive(&self, circuit: &Circuit<Forecast>, levels: Levels<'_>, x: Expected) -> Result<Expected> {
        let mut machine = Forecaster::new(self, circuit, levels);
        let x = run(&mut machine, self.before_front_end(), x)?;
        machine.arrive(x)
    }

    /// A ciphertext of the lowest level that what comes before the front end can do with.
    fn lowest_start(&self, circuit: &Circuit<Forecast>) -> Result<Expected> {
        let mut missing = 0.0;
        for level in self.input.arrival..=self.params.top_level() {
            let start = self.floor(circuit, level);
            match self.arrive(circuit, Levels::Chosen, start) {
                Ok(_) => return Ok(start),
                Err(Error::Bootstrap(BootstrapError::ChainTooShort { missing_bits, .. })) => missing = missing_bits,
                Err(other) => return Err(other),
            }
        }
        let stage = match self.before_front_end() {
            [] => StageName::FrontEnd,
            _ => StageName::SlotsToCoefficients { part: 1, count: 1 },
        };
        too_short(stage.to_string(), missing)
    }

    /// For ciphertexts of level 1, 2, .. the capacity that is enough, up to the level from which on
    /// it is the same: what is switched to the first stage from above has the rounding noise of
    /// that stage's level.
    fn needed_bits(&self, circuit: &Circuit<Forecast>, places: &BTreeMap<StageName, Place>) -> Result<Vec<f64>> {
        let first = match self.before_front_end().first() {
            Some(PipelineStep::Linear(step)) => places[&step.name].level,
            Some(PipelineStep::Parts(parts)) => places[&parts.apart].level,
            _ => self.input.arrival,
        };
        let last = (first + 1).min(self.params.top_level());
        (1..=last).map(|level| self.needed_at(circuit, places, level)).collect()
    }

    /// By bisection, from above.
    fn needed_at(&self, circuit: &Circuit<Forecast>, places: &BTreeMap<StageName, Place>, level: usize) -> Result<f64> {
        let exponent = self.formula.message_exponent;
        let enough = |bits: f64| {
            let noise = circuit.message.noise_of_capacity(level, bits);
            match self.arrive(circuit, Levels::Given(places, bits), Expected { level, exponent, factor: 1, noise }) {
                Err(Error::Bootstrap(BootstrapError::CapacityTooLow { .. })) => Ok(false),
                other => other.map(|_| true),
            }
        };
        least(self.params.log2_q(level), enough)
    }

    /// What a full batch needs and leaves. Its ciphertexts are taken to be of one factor and of one
    /// level, the highest of [`Self::needed_bits`].
    ///
    /// # Errors
    /// [`BootstrapError::ChainTooShort`] where a batch cannot be gathered, or leaves nothing.
    pub fn batch_forecast(&self, schedule: &Schedule, ends: &PackUnpack) -> Result<BatchForecast> {
        let circuit = self.forecasts(&self.steps)?;
        let own = ends.circuit(|| [&self.message, &self.working].map(|slots| Forecast::new(&self.params, slots)))?;
        let batch = FullBatch { pipeline: self, schedule, ends, circuit: &circuit, own: own.as_ref() };
        let level = schedule.needed_bits.len();
        let least_input_bits = least(self.params.log2_q(level), |bits| {
            let (_, x) = batch.gathered(level, bits)?;
            Ok(circuit.message.capacity(&x) >= schedule.needed_bits(x.level))
        })?;
        if least_input_bits == f64::INFINITY {
            return too_short("gathering a batch".into(), schedule.least_input_bits);
        }
        batch.take_events();
        let (mut machine, x) = batch.gathered(level, least_input_bits)?;
        let output = ends.refresh(&mut machine, &self.steps, batch.own, x, batch.size())?;
        let output_bits = output.iter().map(|x| circuit.message.capacity(x)).fold(f64::INFINITY, f64::min);
        if output_bits <= 0.0 {
            return too_short("taking a batch apart".into(), -output_bits);
        }
        // Ciphertexts of a batch may have to be brought to the level of its constants first.
        let events = batch.take_events() + RandomEvents::MODULUS_SWITCH * batch.size();
        Ok(BatchForecast { least_input_bits, output_bits, events })
    }

    /// The least capacity that is enough wherever a ciphertext has it: of a level that asks for
    /// more than rounding noise leaves there, as much as that leaves.
    fn least_input_bits(&self, circuit: &Circuit<Forecast>, needed_bits: &[f64]) -> f64 {
        let most = |level: usize| circuit.message.capacity(&self.floor(circuit, level));
        needed_bits.iter().zip(1..).map(|(bits, level)| bits.min(most(level))).fold(0.0, f64::max)
    }

    /// Refuses a ciphertext of this level and noise that a refresh would not bring through, by the
    /// first stage that it would not survive.
    ///
    /// # Errors
    /// [`BootstrapError::CapacityTooLow`].
    pub fn check_input(&self, schedule: &Schedule, level: usize, noise: Bound) -> Result<()> {
        let x = Expected { level, exponent: self.formula.message_exponent, factor: 1, noise };
        let left_bits = Forecast::new(&self.params, &self.message).capacity(&x);
        if left_bits >= schedule.needed_bits(level) {
            return Ok(());
        }
        let circuit = self.forecasts(self.before_front_end())?;
        self.arrive(&circuit, Levels::Given(&schedule.places, left_bits), x).map(drop)
    }
}
