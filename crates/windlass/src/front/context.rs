//! Contexts: everything that a client and a server must agree on before either has a key.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::Context as RlweContext;

use super::family::{Approximate, BOOTSTRAPPING, Exact, Family, Mock};
use super::needs::KeyRequest;
use super::setting::{ApproximateSetting, ExactSetting};
use crate::bootstrap::approximate::precise::{PreciseRefreshPlan, PreciseRefreshSpec};
use crate::bootstrap::approximate::{RefreshPlan, RefreshSpec};
use crate::bootstrap::exact_through_ckks::{ExactRefreshPlan, ExactRefreshSpec, exact_refresh_preset_names};
use crate::bootstrap::maps::ordered_hypercube;
use crate::bootstrap::{BootstrapError, BootstrapPlan, BootstrapPreset, BootstrapSpec, FactorOrder, Mode};
use crate::circuits::linear::{ComplexSlots, CostModel};
use crate::error::{Error, Result, check_same_order};
use crate::params::{ParamSpec, Params};
use crate::schemes::Scheme;
use crate::schemes::ckks::{CkksContext, CkksSpec};
use crate::wire::{ApproximateContext, WireContext};

/// Parameters, scheme, plaintext ring and the transforms of all primes, in one value that is cheap
/// to clone. Client and server each make an equal context from a name or a file.
///
/// `Context` without a parameter is a context for exact integers (BGV and BFV).
/// [`Context::approximate`] makes one for real and complex numbers (CKKS). [`Context::mock`] makes
/// one without encryption, on which a program can be tested.
///
/// ```
/// use windlass::{Context, Scheme};
///
/// let context = Context::preset("insecure_toy_256")?.with_scheme(Scheme::Bfv)?;
/// println!("{context}"); // λ and its source, moduli, slots, capacity, sizes of keys
/// assert_eq!((context.slots(), context.modulus()), (128, 257));
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug)]
pub struct Context<F: Family = Exact> {
    setting: Arc<F::Setting>,
}

/// A context can be passed where a function expects its plaintext ring.
impl<F: Family<Setting = ExactSetting>> Deref for Context<F> {
    type Target = Arc<SlotRing>;

    fn deref(&self) -> &Arc<SlotRing> {
        self.slot_ring()
    }
}

impl<F: Family> Clone for Context<F> {
    fn clone(&self) -> Self {
        Self { setting: Arc::clone(&self.setting) }
    }
}

impl<F: Family> Context<F> {
    pub(crate) fn of(setting: F::Setting) -> Self {
        Self { setting: Arc::new(setting) }
    }

    pub(crate) fn setting(&self) -> &F::Setting {
        &self.setting
    }
}

impl Context {
    /// A named parameter set, for BGV. See [`crate::params::preset_names`], and
    /// [`exact_refresh_preset_names`] for contexts as of [`Self::exact_refreshing`].
    ///
    /// Sets with `insecure` in their name are for tests. Sets with `paper` in their name repeat
    /// published parameters, most of which have about 80 bits of security. All others have at least
    /// 128.
    ///
    /// # Errors
    /// [`Error::UnknownName`], which lists the names.
    pub fn preset(name: &str) -> Result<Self> {
        match BootstrapPreset::named(name, Mode::Thin) {
            Ok(preset) => Self::for_bootstrapping(preset.params, preset.spec),
            Err(Error::UnknownName { .. } | Error::Unplannable { .. }) => {
                if exact_refresh_preset_names().any(|known| known == name) {
                    return Ok(Self::of_exact_refresh(Arc::new(ExactRefreshPlan::preset(name)?), Scheme::Bgv));
                }
                Self::from_params(Params::preset(name, Scheme::Bgv)?)
            }
            Err(other) => Err(other),
        }
    }

    /// The smallest parameter set that meets the specification. Its security comes from the tables.
    /// No keys or transforms are made before the set is known.
    ///
    /// # Errors
    /// [`Error::NoParameters`], which says what the last candidate lacked.
    pub fn plan(spec: &ParamSpec) -> Result<Self> {
        Self::from_params(Params::plan(spec)?)
    }

    /// Reads parameters from a file that [`Params::to_json`] wrote. Parameters that were made for
    /// bootstrapping give a context that can bootstrap.
    ///
    /// # Errors
    /// As [`Params::from_json`] and [`Self::from_params`].
    pub fn from_file(path: &str, scheme: Scheme) -> Result<Self> {
        Self::from_params(Params::named_or_file(path, scheme)?)
    }

    /// A context for given parameters. If they have an ephemeral secret
    /// ([`Params::with_ephemeral`]), the context is made as [`Self::for_bootstrapping`] makes it.
    ///
    /// # Errors
    /// Errors of building the slots or the transforms.
    pub fn from_params(params: Params) -> Result<Self> {
        Self::with_isa(params, Isa::best())
    }

    /// As [`Self::from_params`], with all transforms on the given instruction set.
    ///
    /// # Errors
    /// As [`Self::from_params`].
    pub fn with_isa(params: Params, isa: Isa) -> Result<Self> {
        if let Some(ephemeral) = params.ephemeral() {
            return Self::in_bootstrapping_order(params, BootstrapSpec::under(ephemeral), isa);
        }
        let slots = params.slot_ring_with_isa(isa)?;
        Self::over(params, &slots, isa, None)
    }

    /// A context whose slots are in the order that this bootstrapping needs. For
    /// [`FactorOrder::LeastPrice`] the order is found by planning.
    ///
    /// # Errors
    /// As [`Self::from_params`]; those of planning, if a plan is made.
    pub fn for_bootstrapping(params: Params, spec: BootstrapSpec) -> Result<Self> {
        let params = params.with_ephemeral(spec.ephemeral());
        Self::in_bootstrapping_order(params, spec, Isa::best())
    }

    fn in_bootstrapping_order(params: Params, spec: BootstrapSpec, isa: Isa) -> Result<Self> {
        let spec = match spec.factors {
            FactorOrder::LeastPrice if !params.m().is_power_of_two() => {
                BootstrapPlan::new(params.rlwe(), (params.p(), params.r()), spec)?.spec().clone()
            }
            _ => spec,
        };
        let order = ordered_hypercube(params.m(), params.p(), &spec.factors)?;
        let slots = SlotRing::with_hypercube(order, params.r(), isa)?;
        Self::over(params, &Arc::new(slots), isa, Some(spec))
    }

    fn over(params: Params, slot_ring: &Arc<SlotRing>, isa: Isa, bootstrapping: Option<BootstrapSpec>) -> Result<Self> {
        let rlwe = RlweContext::with_isa(params.rlwe().clone(), isa)?;
        let files = WireContext::new(&rlwe, slot_ring, params.scheme());
        Ok(Self::of(ExactSetting { params, files, bootstrapping, exact_refresh: None }))
    }

    /// The parameters as JSON: those of [`Params::to_json`], or with the refresh through CKKS that they are made
    /// for.
    pub fn to_json(&self) -> String {
        match &self.setting.exact_refresh {
            Some(plan) => plan.spec().to_json(self.scheme()),
            None => self.params().to_json(),
        }
    }

    /// A context from the text of [`Self::to_json`].
    ///
    /// # Errors
    /// As [`Params::from_json`] and [`Self::from_params`], or [`ExactRefreshSpec::from_json`] and
    /// [`ExactRefreshPlan::new`].
    pub fn from_json(text: &str) -> Result<Self> {
        if !ExactRefreshSpec::is_json(text) {
            return Self::from_params(Params::from_json(text)?);
        }
        let (spec, scheme) = ExactRefreshSpec::from_json(text)?;
        Ok(Self::of_exact_refresh(Arc::new(ExactRefreshPlan::new(&spec)?), scheme))
    }

    /// The same parameters with the given scheme.
    ///
    /// # Errors
    /// None if the context exists.
    pub fn with_scheme(&self, scheme: Scheme) -> Result<Self> {
        let ExactSetting { params, bootstrapping, files, exact_refresh } = self.setting();
        let (params, bootstrapping) = (params.clone().with_scheme(scheme), bootstrapping.clone());
        let files = WireContext::new(files.context(), files.slot_ring(), scheme);
        let exact_refresh = exact_refresh.clone();
        Ok(Self::of(ExactSetting { params, files, bootstrapping, exact_refresh }))
    }

    /// The cost of operations on this machine in milliseconds, and the sizes of keys and constants.
    /// Use it for `plan.explain_at(&context.prices())`, or as the cost model of a plan
    /// ([`crate::circuits::PlanSpec::cost`]).
    ///
    /// Cost: some transforms of one row.
    pub fn prices(&self) -> CostModel {
        CostModel::for_context(self.rlwe())
    }

    /// The same context without encryption. The same programs run on it in exact arithmetic.
    pub fn mock(&self) -> Context<Mock> {
        Context { setting: Arc::clone(&self.setting) }
    }

    /// The bootstrapping plan of this context's preset. A server refreshes if its keys were
    /// generated for this plan: pass it to [`Context::generate_keys`].
    ///
    /// # Errors
    /// [`Error::Bootstrap`] if the parameters do not carry a bootstrapping;
    /// [`Error::OtherSlotOrder`] if the slots are not in the order that [`Self::for_bootstrapping`]
    /// gives.
    pub fn bootstrapping(&self) -> Result<Arc<BootstrapPlan>> {
        self.bootstrapping_with(self.bootstrapping_spec())
    }

    /// The specification that [`Self::bootstrapping`] uses: the preset's, or the default if there
    /// is no preset.
    pub fn bootstrapping_spec(&self) -> BootstrapSpec {
        self.setting().bootstrapping.clone().unwrap_or_default()
    }

    /// A bootstrapping plan for a custom specification. [`FactorOrder::LeastPrice`] is replaced by
    /// the factors that this context was made with.
    ///
    /// # Errors
    /// As [`Self::bootstrapping`].
    pub fn bootstrapping_with(&self, spec: BootstrapSpec) -> Result<Arc<BootstrapPlan>> {
        if self.setting.exact_refresh.is_some() {
            let what = "these parameters are refreshed through CKKS, not by bootstrapping: use exact_refresh";
            return Err(BootstrapError::Unsupported { what: what.into() }.into());
        }
        let params = self.params();
        let spec = match spec.factors {
            FactorOrder::LeastPrice => BootstrapSpec { factors: self.bootstrapping_spec().factors, ..spec },
            _ => spec,
        };
        let order = Arc::new(ordered_hypercube(params.m(), params.p(), &spec.factors)?);
        check_same_order(BOOTSTRAPPING, self.slot_ring().hypercube(), &order)?;
        Ok(Arc::new(BootstrapPlan::new(params.rlwe(), (params.p(), params.r()), spec)?))
    }
}

/// Accessors that encrypted and mock contexts of exact integers share.
impl<F: Family<Setting = ExactSetting>> Context<F> {
    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.setting.params
    }

    /// The wire context: what files of this context are checked against.
    pub fn files(&self) -> &WireContext {
        &self.setting.files
    }

    /// The RLWE parameters with their transforms.
    pub fn rlwe(&self) -> &Arc<RlweContext> {
        self.setting.files.context()
    }

    /// The plaintext ring R/(p^r) with its slots.
    pub fn slot_ring(&self) -> &Arc<SlotRing> {
        self.setting.files.slot_ring()
    }

    /// [`Self::slot_ring`].
    #[deprecated(since = "0.3.0", note = "use slot_ring")]
    pub fn ring(&self) -> &Arc<SlotRing> {
        self.slot_ring()
    }

    /// The number of slots ℓ.
    pub fn slots(&self) -> usize {
        self.slot_ring().slots()
    }

    /// The plaintext modulus p^r.
    pub fn modulus(&self) -> u64 {
        self.slot_ring().modulus().value()
    }

    /// BGV or BFV.
    pub fn scheme(&self) -> Scheme {
        self.params().scheme()
    }
}

impl<F: Family<Setting = ExactSetting>> fmt::Display for Context<F> {
    /// λ and its source, moduli, slots, capacity and the sizes of keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.params().explain())?;
        match &self.setting.exact_refresh {
            Some(plan) => writeln!(f, "{:<22}through CKKS, {} passes", "refresh", plan.spec().passes),
            None => Ok(()),
        }
    }
}

impl Context<Approximate> {
    /// A context for real and complex numbers (CKKS).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] and [`Error::Rlwe`] if the specification gives no valid parameters.
    pub fn approximate(spec: &CkksSpec) -> Result<Self> {
        Ok(Self::from_ckks(&CkksContext::new(spec)?))
    }

    /// A context from existing CKKS parameters and their transforms.
    pub fn from_ckks(context: &Arc<CkksContext>) -> Self {
        let (context, files) = (Arc::clone(context), ApproximateContext::new(context));
        Self::of(ApproximateSetting { context, files, refresh: None, precise_refresh: None })
    }

    /// A context for real and complex numbers whose ciphertexts can be refreshed. Its keys are those
    /// of [`Self::refresh`] and of what else is computed. A server with them refreshes by itself.
    ///
    /// ```
    /// use windlass::Context;
    /// use windlass::bootstrap::approximate::RefreshSpec;
    ///
    /// let context = Context::refreshing(&RefreshSpec::preset("insecure_toy_refresh_1024")?)?; // a toy
    /// let (client, server) = context.generate_keys([&context.refresh()?])?;
    /// let mut x = client.encrypt(&[0.5, -0.25])?;
    /// for _ in 0..5 {
    ///     x = server.multiply_real(&x, 0.9)?; // three levels, and a refresh in between
    /// }
    /// assert!((client.decrypt(&x)?[0] - 0.5 * 0.9f64.powi(5)).abs() < 1e-5);
    /// # Ok::<(), windlass::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::SlotCount`] and [`Error::Rlwe`] if the specification gives no valid
    /// parameters; [`Error::Bootstrap`] if the ephemeral key of a set called secure is too weak.
    pub fn refreshing(spec: &RefreshSpec) -> Result<Self> {
        let plan = Arc::new(RefreshPlan::new(spec)?);
        let (context, files) = (Arc::clone(plan.context()), ApproximateContext::new(plan.context()));
        Ok(Self::of(ApproximateSetting { context, files, refresh: Some(plan), precise_refresh: None }))
    }

    /// A context from the text of [`Self::to_json`]: parameters alone ([`CkksSpec::to_json`]), or those of
    /// a refresh ([`RefreshSpec::to_json`], [`PreciseRefreshSpec::to_json`]).
    ///
    /// # Errors
    /// As [`CkksSpec::from_json`] and [`Self::approximate`], [`RefreshSpec::from_json`] and
    /// [`Self::refreshing`], or [`PreciseRefreshSpec::from_json`] and [`PreciseRefreshPlan::new`].
    pub fn approximate_from_json(text: &str) -> Result<Self> {
        if PreciseRefreshSpec::is_json(text) {
            let plan = PreciseRefreshPlan::new(&PreciseRefreshSpec::from_json(text)?)?;
            return Ok(Self::of_precise_refresh(Arc::new(plan)));
        }
        match RefreshSpec::is_json(text) {
            true => Self::refreshing(&RefreshSpec::from_json(text)?),
            false => Self::approximate(&CkksSpec::from_json(text)?),
        }
    }

    /// The parameters as JSON, with the refresh that they are made for if there is one.
    pub fn to_json(&self) -> String {
        match (&self.setting.refresh, &self.setting.precise_refresh) {
            (Some(plan), _) => plan.spec().to_json(),
            (None, Some(plan)) => plan.spec().to_json(),
            (None, None) => self.ckks().spec().to_json(),
        }
    }

    /// The refresh that the parameters are made for: what [`Self::generate_keys`] takes, with its
    /// levels, keys and error.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] if the parameters have no levels for a refresh: unless the context is one of
    /// [`Self::refreshing`].
    pub fn refresh(&self) -> Result<Arc<RefreshPlan>> {
        self.setting.refresh.clone().ok_or_else(|| {
            let what = match self.setting.precise_refresh {
                Some(_) => "these parameters are refreshed in several passes: use precise_refresh",
                None => "these parameters have no levels for a refresh; make the context with Context::refreshing",
            };
            BootstrapError::Unsupported { what: what.into() }.into()
        })
    }

    /// The wire context: what files of this context are checked against.
    pub fn files(&self) -> &ApproximateContext {
        &self.setting.files
    }

    /// The CKKS parameters with their transforms.
    pub fn ckks(&self) -> &Arc<CkksContext> {
        &self.setting.context
    }

    /// The cost of operations at the top level, as in [`Context::<Exact>::prices`].
    ///
    /// Cost: some transforms of one row.
    pub fn prices(&self) -> CostModel {
        CostModel::for_context(self.ckks().rlwe())
    }

    /// Vectors of `count` complex numbers: the space that linear maps act on.
    ///
    /// # Errors
    /// [`Error::SlotCount`] if the count does not divide n/2.
    pub fn vectors(&self, count: usize) -> Result<ComplexSlots> {
        ComplexSlots::new(self.ckks(), count)
    }

    /// The key that [`crate::Server::rotate`] by this amount needs for ciphertexts with `slots`
    /// slots. Pass it to [`Context::generate_keys`].
    ///
    /// # Errors
    /// [`Error::SlotCount`] if `slots` does not divide n/2.
    pub fn rotation(&self, slots: usize, amount: i64) -> Result<KeyRequest> {
        let most = self.slots();
        if slots == 0 || most % slots != 0 {
            return Err(Error::SlotCount { got: slots, most });
        }
        let element = self.ckks().rotation_element(amount.rem_euclid(slots as i64));
        Ok(KeyRequest::none(format!("a rotation by {amount}")).with_galois([element]))
    }

    /// The key that [`crate::Server::conjugate`] needs. Pass it to [`Context::generate_keys`].
    pub fn conjugation(&self) -> KeyRequest {
        KeyRequest::none("a conjugation").with_galois([self.ckks().conjugation_element()])
    }

    /// The maximum number of slots of a ciphertext, n/2.
    pub fn slots(&self) -> usize {
        self.ckks().most_slots()
    }
}

impl fmt::Display for Context<Approximate> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (spec, rlwe) = (self.ckks().spec(), self.ckks().rlwe());
        let params = rlwe.params();
        writeln!(f, "{:<22}CKKS", "scheme")?;
        writeln!(f, "{:<22}n = {}, up to {} slots", "ring", spec.n, self.slots())?;
        writeln!(f, "{:<22}{}; {}", "security", params.security(), params.secret())?;
        writeln!(f, "{:<22}2^{}, {} rescalings", "scale", spec.scale_bits, spec.depth)?;
        let (q, p) = (rlwe.log2_modulus(rlwe.top_level()), params.log2_p());
        writeln!(f, "{:<22}{q:.1}, {p:.1}", "log2 Q, log2 P")?;
        if let Some(plan) = &self.setting.refresh {
            writeln!(f, "{:<22}of up to {} slots, to all rescalings", "refresh", plan.spec().slots)?;
        }
        if let Some(plan) = &self.setting.precise_refresh {
            let (passes, bits) = (plan.spec().passes, plan.precision_bits());
            writeln!(f, "{:<22}in {passes} passes, to {bits:.1} bits and all rescalings", "refresh")?;
        }
        let sizes = spec.key_sizes(params);
        writeln!(f, "{:<22}{} bytes in memory", "ciphertext", sizes.ciphertext_memory)?;
        writeln!(f, "{:<22}{} bytes in memory", "one switching key", sizes.switching_key_memory)
    }
}
