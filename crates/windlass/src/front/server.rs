//! Servers: evaluation keys, and the computations that they allow.

use std::fmt;
use std::sync::Arc;

use super::circuit::{Circuit, GridCircuit, ListCircuit};
use super::context::Context;
use super::family::{Exact, ExactFamily, Family};
use super::kept::{Kept, Prepared};
use super::needs::{KeyLevel, KeyRequest, NeedsKeys, Products};
use crate::Integer;
use crate::bootstrap::approximate::RefreshKeys;
use crate::bootstrap::exact_through_ckks::{ExactRefreshPlan, ExactRefresher};
use crate::bootstrap::{BootstrapKeys, BootstrapPlan, Bootstrapper, RefreshOptions};
#[cfg(doc)]
use crate::circuits::LinearPlan;
use crate::error::{Error, Result};
use crate::evaluator::Evaluator;
use crate::plaintext::{Content, Plaintext};
use crate::schemes::{Ciphertext, Refresh};
use crate::switching::Arithmetic;

/// The side that computes: it holds evaluation keys, and nothing secret.
pub struct Server<F: Family = Exact> {
    context: Context<F>,
    engine: F::Engine,
    refreshers: F::Refreshers,
    prepared: Kept,
}

impl<F: Family> fmt::Debug for Server<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("context", &self.context).finish_non_exhaustive()
    }
}

type CiphertextOf<F> = <<F as Family>::Engine as Arithmetic>::Ciphertext;

impl<F: Family> Server<F> {
    pub(crate) fn new(context: Context<F>, (engine, refreshers): (F::Engine, F::Refreshers)) -> Self {
        Self { context, engine, refreshers, prepared: Kept::default() }
    }

    /// The context.
    pub fn context(&self) -> &Context<F> {
        &self.context
    }

    /// The evaluator of the layer below, on which all circuits run.
    pub fn engine(&self) -> &F::Engine {
        &self.engine
    }

    pub(super) fn refreshers(&self) -> &F::Refreshers {
        &self.refreshers
    }

    /// Runs a circuit on its input: a ciphertext, a pair of ciphertexts, or as the circuit says.
    /// Its constants are converted in the first call and kept for later calls, until
    /// [`Self::forget`]. In CKKS the constants of a matrix are for one level. Those for the level
    /// of the last call are always kept, and up to 256 MiB for other levels of the same matrix.
    ///
    /// A circuit runs without refreshes inside it if its keys cover the level of its input, but not
    /// the level that a refresh would give.
    ///
    /// # Errors
    /// [`Error::MissingKeys`] before any work, with all missing keys and the circuit that needs them.
    /// The same error instead of [`Error::CapacityExhausted`], [`Error::LevelsExhausted`] or [`Error::StepTooDeep`] if a
    /// refresh is needed and keys are missing at the level that it gives. Errors of the circuit.
    pub fn apply<C: Circuit<F::Engine>>(&self, circuit: &C, input: C::Input<'_>) -> Result<CiphertextOf<F>> {
        let (request, level) = (circuit.key_request(), circuit.level(&self.engine, input));
        self.check_request(&request, level)?;
        if let Some((refreshed, plain)) = F::refreshing(&self.engine, &self.refreshers)
            && let Err(missing) = self.check_request(&request, level.max(refreshed))
        {
            let prepared = self.prepared(&plain, circuit, input)?;
            return circuit.evaluate(&prepared, &plain, input).map_err(|error| match error {
                Error::CapacityExhausted { .. } | Error::LevelsExhausted { .. } | Error::StepTooDeep { .. } => missing,
                other => other,
            });
        }
        circuit.evaluate(&*self.prepared(&self.engine, circuit, input)?, &self.engine, input)
    }

    /// Runs a linear map or a function of real numbers on each ciphertext of a list, several at a time. Keys and
    /// constants of a linear map are read from memory once for all ciphertexts of one level
    /// ([`LinearPlan::apply_each`]); a server that refreshes runs it one by one, as [`Self::apply`] does. A function is
    /// run step by step on all ciphertexts with the same refreshes, which are refreshed together between the steps
    /// ([`FunctionPlan::apply_list`](crate::circuits::FunctionPlan::apply_list)). A server whose keys do not cover the
    /// refreshed level runs it one by one.
    ///
    /// **Warning.** The arguments of a function must be real, as there.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn apply_each<C: ListCircuit<F::Engine>>(
        &self,
        plan: &C,
        inputs: &[CiphertextOf<F>],
    ) -> Result<Vec<CiphertextOf<F>>> {
        let level = inputs.iter().map(|input| self.engine.level_of(input)).max().unwrap_or(0);
        if let Some((refreshed, _)) = F::refreshing(&self.engine, &self.refreshers)
            && (!plan.refreshes_inside() || self.check_keys(plan, level.max(refreshed)).is_err())
        {
            return inputs.iter().map(|input| self.apply(plan, input)).collect();
        }
        self.check_keys(plan, level)?;
        let places = inputs.iter().map(|input| plan.place(&self.engine, input));
        let places: Vec<_> = places.collect::<Result<_>>()?;
        let (mut images, mut rest) = (Vec::with_capacity(inputs.len()), inputs);
        for alike in places.chunk_by(|a, b| a == b) {
            let (now, later) = rest.split_at(alike.len());
            images.extend(plan.evaluate_list(&*self.prepared(&self.engine, plan, &now[0])?, &self.engine, now)?);
            rest = later;
        }
        Ok(images)
    }

    /// Runs the plan of a grid ([`crate::circuits::LinearPlan::for_grid`]) or of a matrix
    /// ([`crate::circuits::MatrixPlan`]): one input ciphertext for each column, one output for each
    /// row. In CKKS all inputs must have one level. Constants are kept as in [`Self::apply`].
    /// Outputs are not refreshed here, but by the operations that use them.
    ///
    /// # Errors
    /// As [`Self::apply`]; [`Error::ShapeMismatch`] if the number of ciphertexts differs.
    pub fn apply_grid<C: GridCircuit<F::Engine>>(
        &self,
        plan: &C,
        inputs: &[CiphertextOf<F>],
    ) -> Result<Vec<CiphertextOf<F>>> {
        let level = inputs.iter().map(|input| self.engine.level_of(input)).max().unwrap_or(0);
        self.check_keys(plan, level)?;
        let mut highest: Option<(usize, &CiphertextOf<F>)> = None;
        for input in inputs {
            let level = plan.place(&self.engine, input)?.map_or(0, |(_, level)| level);
            if highest.is_none_or(|(most, _)| most < level) {
                highest = Some((level, input));
            }
        }
        let Some((place, input)) = highest else {
            return Err(Error::ShapeMismatch { what: "ciphertexts for the plan", expected: plan.inputs(), got: 0 });
        };
        // In CKKS constants are for one level, that of refreshed inputs if there are any.
        if F::RESCALES && place > level {
            self.check_keys(plan, place)?;
        }
        plan.evaluate_grid(&*self.prepared(&self.engine, plan, input)?, &self.engine, inputs)
    }

    /// Converts the constants of a circuit for inputs like this one, as the first [`Self::apply`]
    /// would.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn prepare<C: Circuit<F::Engine>>(&self, circuit: &C, input: C::Input<'_>) -> Result<()> {
        self.check_keys(circuit, circuit.level(&self.engine, input))?;
        self.prepared(&self.engine, circuit, input).map(drop)
    }

    /// Frees the memory of all converted constants.
    pub fn forget(&self) {
        self.prepared.clear();
    }

    /// The constants for an input, as an engine that refreshes or does not takes it.
    fn prepared<C: Circuit<F::Engine>>(
        &self,
        engine: &F::Engine,
        circuit: &C,
        input: C::Input<'_>,
    ) -> Result<Arc<C::Prepared>> {
        let Some(place) = circuit.place(engine, input)? else {
            return Ok(Arc::new(circuit.prepare(&self.engine, 0)?));
        };
        self.prepared_at(circuit, place)
    }

    /// The constants of a circuit with this number, for a level: kept ones, or new ones, which are
    /// then kept.
    pub(super) fn prepared_at<C: Circuit<F::Engine>>(
        &self,
        circuit: &C,
        place: (u64, usize),
    ) -> Result<Arc<C::Prepared>> {
        if let Some(prepared) = self.prepared.get(place) {
            return Ok(prepared);
        }
        // Two threads may both get here; then the work is done twice with the same result.
        let prepared = Arc::new(circuit.prepare(&self.engine, place.1)?);
        self.prepared.keep(place, prepared.clone(), circuit.prepared_bytes(&prepared));
        Ok(prepared)
    }

    /// Keeps the constants of a circuit, which lie in a file, and replaces those kept before.
    pub(super) fn keep(&self, place: (u64, usize), prepared: Prepared) {
        self.prepared.keep(place, prepared, 0);
    }

    /// Refuses operands of another context or key. Keys are checked after it: the level of a ciphertext of
    /// another context says nothing about keys.
    pub(super) fn check_operands(&self, operation: &'static str, operands: &[&CiphertextOf<F>]) -> Result<()> {
        operands.iter().try_for_each(|operand| self.engine.check_input(operation, operand))
    }

    /// Refuses a circuit if keys are missing, or if a key does not reach the level of the input.
    pub(super) fn check_keys(&self, circuit: &impl NeedsKeys, level: usize) -> Result<()> {
        self.check_request(&circuit.key_request(), level)
    }

    fn check_request(&self, request: &KeyRequest, level: usize) -> Result<()> {
        let mut galois = Vec::new();
        for (&t, &needed) in &request.galois {
            if !self.reaches(F::galois_level(&self.engine, t), needed, level) {
                galois.push(t);
            }
        }
        let relinearisation = request
            .relinearisation
            .is_some_and(|needed| !self.reaches(F::relinearisation_level(&self.engine), needed, level));
        let missing = request.bootstrapping.iter().filter(|plan| !F::bootstraps(&self.refreshers, plan));
        let refreshes = request.refreshes.iter().filter(|plan| !F::refreshes(&self.refreshers, plan));
        let bootstrappings = missing.count() + refreshes.count();
        if galois.is_empty() && !relinearisation && bootstrappings == 0 {
            return Ok(());
        }
        let needed_by = request.needed_by.clone();
        Err(Error::MissingKeys { needed_by, galois, relinearisation, bootstrappings, level })
    }

    /// Whether a key is held, and for the level that a circuit with inputs at `level` needs it at.
    fn reaches(&self, held: Option<usize>, needed: KeyLevel, level: usize) -> bool {
        held.is_some_and(|held| F::serves(&self.engine, held, needed.in_chain(level)))
    }

    /// The level at which two ciphertexts are combined: the lower one.
    fn level_of_both(&self, a: &CiphertextOf<F>, b: &CiphertextOf<F>) -> usize {
        self.engine.level_of(a).min(self.engine.level_of(b))
    }
}

/// Operations of all exact schemes and of the mock.
impl<F: ExactFamily> Server<F> {
    /// `a + b`.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`], [`Error::CapacityExhausted`].
    pub fn add(&self, a: &CiphertextOf<F>, b: &CiphertextOf<F>) -> Result<CiphertextOf<F>> {
        self.engine.add(a, b)
    }

    /// `a − b`.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn sub(&self, a: &CiphertextOf<F>, b: &CiphertextOf<F>) -> Result<CiphertextOf<F>> {
        self.engine.sub(a, b)
    }

    /// `a · b`, slot by slot. Levels are managed automatically.
    ///
    /// # Errors
    /// As [`Self::add`]; [`Error::MissingKeys`] if there is no relinearisation key ([`Products`]).
    pub fn multiply(&self, a: &CiphertextOf<F>, b: &CiphertextOf<F>) -> Result<CiphertextOf<F>> {
        self.check_operands("multiply", &[a, b])?;
        self.check_keys(&Products, self.level_of_both(a, b))?;
        self.engine.multiply(a, b)
    }

    /// `a²`, slot by slot.
    ///
    /// # Errors
    /// As [`Self::multiply`].
    pub fn square(&self, a: &CiphertextOf<F>) -> Result<CiphertextOf<F>> {
        self.check_operands("square", &[a])?;
        self.check_keys(&Products, self.engine.level_of(a))?;
        self.engine.square(a)
    }

    /// The product of k ≥ 1 ciphertexts, in depth ⌈log2 k⌉.
    ///
    /// # Errors
    /// As [`Self::multiply`]; [`Error::ShapeMismatch`] if the list is empty.
    pub fn product(&self, factors: &[CiphertextOf<F>]) -> Result<CiphertextOf<F>> {
        factors.iter().try_for_each(|factor| self.check_operands("product", &[factor]))?;
        // No product is taken above the second highest level of the factors.
        let mut levels: Vec<usize> = factors.iter().map(|factor| self.engine.level_of(factor)).collect();
        levels.sort_unstable_by(|a, b| b.cmp(a));
        self.check_keys(&Products, levels.get(1).or(levels.first()).copied().unwrap_or(0))?;
        crate::circuits::product_of_many(&self.engine, factors)
    }

    /// `Σ_i a_i·b_i`, slot by slot, relinearised once.
    ///
    /// # Errors
    /// As [`Self::product`].
    pub fn sum_of_products(&self, pairs: &[(&CiphertextOf<F>, &CiphertextOf<F>)]) -> Result<CiphertextOf<F>> {
        pairs.iter().try_for_each(|&(a, b)| self.check_operands("sum of products", &[a, b]))?;
        let level = pairs.iter().map(|(a, b)| self.level_of_both(a, b)).max().unwrap_or(0);
        self.check_keys(&Products, level)?;
        self.engine.dot_ciphertexts(pairs)
    }

    /// `a + values`, slot by slot, with public integers.
    ///
    /// # Errors
    /// As [`Self::add`]; [`Error::ShapeMismatch`] if there are more values than slots.
    pub fn add_integers<T: Integer>(&self, a: &CiphertextOf<F>, values: &[T]) -> Result<CiphertextOf<F>> {
        self.engine.add_plain(a, &Plaintext::from_integers(self.engine.slot_ring(), values)?)
    }

    /// `a + value` in every slot, with a public integer.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn add_integer<T: Integer>(&self, a: &CiphertextOf<F>, value: T) -> Result<CiphertextOf<F>> {
        let modulus = self.engine.slot_ring().modulus();
        let residue = modulus.centred(value.residue(modulus));
        self.engine.add_plain(a, &Plaintext::scalar(self.engine.slot_ring(), residue))
    }

    /// `values · a`, slot by slot, with public integers.
    ///
    /// # Errors
    /// As [`Self::add_integers`].
    pub fn multiply_integers<T: Integer>(&self, a: &CiphertextOf<F>, values: &[T]) -> Result<CiphertextOf<F>> {
        let values = Plaintext::from_integers(self.engine.slot_ring(), values)?;
        self.engine.with_refreshes(a, &|engine, a| {
            let constant = engine.prepare_at(&values, engine.level_of(a))?;
            engine.multiply_constant(a, &constant)
        })
    }

    /// The same integers modulo the smaller p^exponent. This is free. Use it to combine a
    /// ciphertext with one that has lost digits ([`crate::circuits::DigitRemoval`]).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the exponent is 0 or larger than that of the ciphertext;
    /// [`Error::ContextMismatch`].
    pub fn reduce_exponent(&self, a: &CiphertextOf<F>, exponent: u32) -> Result<CiphertextOf<F>> {
        self.engine.reduce_exponent(a, exponent)
    }

    /// `value · a` for a public integer.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply_integer<T: Integer>(&self, a: &CiphertextOf<F>, value: T) -> Result<CiphertextOf<F>> {
        let modulus = self.engine.slot_ring().modulus();
        self.engine.multiply_scalar(a, modulus.centred(value.residue(modulus)))
    }
}

impl<F: Family> Server<F>
where
    F::Refreshers: Refresh<CiphertextOf<F>>,
{
    /// The same message with fresh capacity. In CKKS it has new levels, those of a fresh ciphertext, and
    /// the error that a refresh adds is in the estimates of the result
    /// ([`precision_bits`](crate::schemes::ckks::Ciphertext::precision_bits)).
    ///
    /// Cost: the first call converts the constants of the maps.
    ///
    /// **Warning.** In CKKS a message above the stated bound of the ciphertext
    /// ([`magnitude`](crate::schemes::ckks::Ciphertext::magnitude)) gives a wrong result: the bound says
    /// how much of the modulus the message takes, and the refresh removes the rest.
    ///
    /// # Errors
    /// [`Error::MissingBootstrappingKeys`] unless the keys were made for a bootstrapping;
    /// [`Error::Bootstrap`], which names the stage of a missing key; [`Error::SlotCount`] for more slots
    /// than a refresh of CKKS has.
    pub fn refresh(&self, a: &CiphertextOf<F>) -> Result<CiphertextOf<F>> {
        self.refreshers.refresh(a)
    }

    /// [`Self::refresh`] for each ciphertext of a list, in order. Several run at a time, so keys
    /// and constants of maps are read once for them. Ciphertexts with integers in their slots are
    /// refreshed in batches of as many as a slot has coefficients (Halevi–Shoup 2018, §8) if the
    /// server has the keys of a packed bootstrapping and a batch costs less than single refreshes
    /// ([`crate::bootstrap::BatchPlan`]).
    ///
    /// # Errors
    /// As [`Self::refresh`].
    pub fn refresh_all(&self, list: &[CiphertextOf<F>]) -> Result<Vec<CiphertextOf<F>>> {
        self.refreshers.refresh_all(list)
    }
}

impl Server {
    /// The bootstrappings of this server, with their keys.
    pub fn bootstrappings(&self) -> impl Iterator<Item = (&Arc<BootstrapPlan>, &BootstrapKeys)> {
        self.refreshers.plans_and_keys()
    }

    /// The bootstrapper of the layer below for slots of this content, with its plan.
    ///
    /// # Errors
    /// As [`Self::refresh`].
    pub fn bootstrapper(&self, content: Content) -> Result<&Bootstrapper> {
        self.refreshers.bootstrapper(content, self.context.slot_ring().modulus().exponent())
    }

    /// The refresh through CKKS of this server, with its keys, if its context was made for one.
    pub fn exact_refresh(&self) -> Option<(&Arc<ExactRefreshPlan>, &RefreshKeys)> {
        self.refreshers.exact_refresh()
    }

    /// The refresher through CKKS of the layer below.
    ///
    /// # Errors
    /// [`Error::MissingBootstrappingKeys`] unless the keys were made for [`Context::exact_refresh`]; those of
    /// [`ExactRefresher::new`].
    pub fn exact_refresher(&self) -> Result<&ExactRefresher> {
        self.refreshers.exact_refresher()
    }

    /// [`Self::refresh`] for each ciphertext of a list, several at a time, with options: a table that
    /// is evaluated at the end, an observer that can cancel, all as one batch. Each ciphertext is
    /// refreshed by the bootstrapping that [`Self::refresh`] uses. Reports count over adjacent
    /// ciphertexts of one content.
    ///
    /// # Errors
    /// As [`Bootstrapper::refresh_list`], or [`ExactRefresher::refresh_list`]; [`Error::MissingBootstrappingKeys`].
    pub fn refresh_list(&self, list: &[Ciphertext], options: RefreshOptions<'_>) -> Result<Vec<Ciphertext>> {
        self.refreshers.refresh_list(list, options)
    }

    /// [`Self::refresh_list`] for one ciphertext.
    ///
    /// # Errors
    /// As there.
    pub fn refresh_one(&self, a: &Ciphertext, options: RefreshOptions<'_>) -> Result<Ciphertext> {
        if self.exact_refresh().is_some() {
            let mut list = self.refresh_list(std::slice::from_ref(a), options)?;
            return Ok(list.pop().expect("as many as went in"));
        }
        self.refreshers.bootstrapper(a.content(), a.exponent())?.refresh_one(a, options)
    }

    /// log2 of how much the noise of a ciphertext may still grow.
    pub fn capacity(&self, a: &Ciphertext) -> f64 {
        self.engine.capacity(a)
    }

    /// How many more products in sequence the noise bound of a ciphertext allows without a refresh,
    /// if both factors of each have the same noise (as in squarings).
    pub fn depth_left(&self, a: &Ciphertext) -> u32 {
        self.engine.depth_left(a)
    }
}
