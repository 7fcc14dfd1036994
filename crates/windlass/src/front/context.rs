//! A context: everything that a client and a server must agree on before either has a key.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::Context as RlweContext;

use super::family::{Approximate, BOOTSTRAPPING, Exact, Family, Mock};
use super::needs::KeyRequest;
use super::setting::{ApproximateSetting, ExactSetting};
use crate::bootstrap::maps::ordered_hypercube;
use crate::bootstrap::{BootstrapPlan, BootstrapPreset, BootstrapSpec, FactorOrder, Mode};
use crate::circuits::linear::{ComplexSlots, CostModel};
use crate::error::{Error, Result, check_same_order};
use crate::params::{ParamSpec, Params};
use crate::schemes::Scheme;
use crate::schemes::ckks::{CkksContext, CkksSpec};
use crate::wire::{ApproximateContext, WireContext};

/// Parameters, scheme, plaintext ring and the transforms of all primes, as one value that is cheap
/// to clone. Client and server make the same one, each for itself, from a name or a file.
///
/// `Context` alone is one for exact integers (BGV and BFV); [`Context::approximate`] makes one for
/// real and complex numbers (CKKS), [`Context::mock`] one without encryption, on which a program
/// can be tried.
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

/// Wherever a plaintext ring is asked for, a context stands for its own.
impl<F: Family<Setting = ExactSetting>> Deref for Context<F> {
    type Target = Arc<SlotRing>;

    fn deref(&self) -> &Arc<SlotRing> {
        self.ring()
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
    /// A named parameter set, for BGV. See [`crate::params::preset_names`].
    ///
    /// Sets with `insecure` in their name are for tests; sets with `paper` repeat published
    /// parameters, most of them near 80 bits of security. All others have at least 128.
    ///
    /// # Errors
    /// [`Error::UnknownName`], which lists the names.
    pub fn preset(name: &str) -> Result<Self> {
        match BootstrapPreset::named(name, Mode::Thin) {
            Ok(preset) => Self::for_bootstrapping(preset.params, preset.spec),
            Err(Error::UnknownName { .. } | Error::Unplannable { .. }) => {
                Self::from_params(Params::preset(name, Scheme::Bgv)?)
            }
            Err(other) => Err(other),
        }
    }

    /// The smallest parameter set that can do what the specification asks for, with its security
    /// from the tables; nothing is made before the set is known.
    ///
    /// # Errors
    /// [`Error::NoParameters`] with what the last candidate lacked.
    pub fn plan(spec: &ParamSpec) -> Result<Self> {
        Self::from_params(Params::plan(spec)?)
    }

    /// The parameters in a file that [`Params::to_json`] wrote. A set that was made for
    /// bootstrapping gives a context that bootstraps.
    ///
    /// # Errors
    /// As [`Params::from_json`] and [`Self::from_params`].
    pub fn from_file(path: &str, scheme: Scheme) -> Result<Self> {
        Self::from_params(Params::named_or_file(path, scheme)?)
    }

    /// A context of parameters that were made otherwise; as [`Self::for_bootstrapping`] where they
    /// have an ephemeral secret ([`Params::with_ephemeral`]).
    ///
    /// # Errors
    /// What building the slots or the transforms reports.
    pub fn from_params(params: Params) -> Result<Self> {
        Self::with_isa(params, Isa::best())
    }

    /// As [`Self::from_params`], with all transforms on a chosen instruction set.
    ///
    /// # Errors
    /// As there.
    pub fn with_isa(params: Params, isa: Isa) -> Result<Self> {
        if let Some(ephemeral) = params.ephemeral() {
            return Self::in_bootstrapping_order(params, BootstrapSpec::under(ephemeral), isa);
        }
        let slots = params.slot_ring_with_isa(isa)?;
        Self::over(params, &slots, isa, None)
    }

    /// A context whose slots stand in the order that bootstrapping in this way needs. By
    /// [`FactorOrder::LeastPrice`] that is found by planning.
    ///
    /// # Errors
    /// As [`Self::from_params`]; those of a plan, where it is made.
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

    fn over(params: Params, slots: &Arc<SlotRing>, isa: Isa, bootstrapping: Option<BootstrapSpec>) -> Result<Self> {
        let rlwe = RlweContext::with_isa(params.rlwe().clone(), isa)?;
        let files = WireContext::new(&rlwe, slots, params.scheme());
        Ok(Self::of(ExactSetting { params, files, bootstrapping }))
    }

    /// The same parameters for the other scheme.
    ///
    /// # Errors
    /// None for a context that was made.
    pub fn with_scheme(&self, scheme: Scheme) -> Result<Self> {
        let ExactSetting { params, bootstrapping, files } = self.setting();
        let (params, bootstrapping) = (params.clone().with_scheme(scheme), bootstrapping.clone());
        let files = WireContext::new(files.context(), files.slots(), scheme);
        Ok(Self::of(ExactSetting { params, files, bootstrapping }))
    }

    /// What operations cost on this machine, in milliseconds, and how large keys and constants are:
    /// for `plan.explain_at(&context.prices())`, or to plan by
    /// ([`crate::circuits::PlanSpec::cost`]).
    ///
    /// Cost: some transforms of one row.
    pub fn prices(&self) -> CostModel {
        CostModel::for_context(self.files().context())
    }

    /// The same context without encryption: the same programs run on it in exact arithmetic.
    pub fn mock(&self) -> Context<Mock> {
        Context { setting: Arc::clone(&self.setting) }
    }

    /// A plan to bootstrap as this context's preset says. Give it to [`Context::generate_keys`],
    /// and the server can refresh.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] when the parameters do not carry a bootstrapping;
    /// [`Error::OtherSlotOrder`] for slots in another order than [`Self::for_bootstrapping`] gives.
    pub fn bootstrapping(&self) -> Result<Arc<BootstrapPlan>> {
        self.bootstrapping_with(self.bootstrapping_spec())
    }

    /// How [`Self::bootstrapping`] bootstraps: as the preset says, where there is one.
    pub fn bootstrapping_spec(&self) -> BootstrapSpec {
        self.setting().bootstrapping.clone().unwrap_or_default()
    }

    /// A plan to bootstrap in a way of one's own. [`FactorOrder::LeastPrice`] stands for the factors
    /// that this context was made with.
    ///
    /// # Errors
    /// As [`Self::bootstrapping`].
    pub fn bootstrapping_with(&self, spec: BootstrapSpec) -> Result<Arc<BootstrapPlan>> {
        let params = self.params();
        let spec = match spec.factors {
            FactorOrder::LeastPrice => BootstrapSpec { factors: self.bootstrapping_spec().factors, ..spec },
            _ => spec,
        };
        let order = Arc::new(ordered_hypercube(params.m(), params.p(), &spec.factors)?);
        check_same_order(BOOTSTRAPPING, self.ring().hypercube(), &order)?;
        Ok(Arc::new(BootstrapPlan::new(params.rlwe(), (params.p(), params.r()), spec)?))
    }
}

/// What contexts with slots of exact integers tell, encrypted or not.
impl<F: Family<Setting = ExactSetting>> Context<F> {
    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.setting.params
    }

    /// What the files of this context must agree with.
    pub fn files(&self) -> &WireContext {
        &self.setting.files
    }

    /// The plaintext ring R/(p^r) with its slots.
    pub fn ring(&self) -> &Arc<SlotRing> {
        self.setting.files.slots()
    }

    /// The number of slots ℓ.
    pub fn slots(&self) -> usize {
        self.ring().slots()
    }

    /// The plaintext modulus p^r.
    pub fn modulus(&self) -> u64 {
        self.ring().modulus().value()
    }

    /// BGV or BFV.
    pub fn scheme(&self) -> Scheme {
        self.params().scheme()
    }
}

impl<F: Family<Setting = ExactSetting>> fmt::Display for Context<F> {
    /// λ and its source, moduli, slots, capacity and the sizes of keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.params().explain())
    }
}

impl Context<Approximate> {
    /// A context for real and complex numbers (CKKS).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] and [`Error::Rlwe`] for specifications that make no parameters.
    pub fn approximate(spec: &CkksSpec) -> Result<Self> {
        Ok(Self::from_ckks(&CkksContext::new(spec)?))
    }

    /// A context of CKKS parameters with transforms that were made otherwise.
    pub fn from_ckks(context: &Arc<CkksContext>) -> Self {
        let (context, files) = (Arc::clone(context), ApproximateContext::new(context));
        Self::of(ApproximateSetting { context, files })
    }

    /// What the files of this context must agree with.
    pub fn files(&self) -> &ApproximateContext {
        &self.setting.files
    }

    /// The CKKS parameters with their transforms.
    pub fn ckks(&self) -> &Arc<CkksContext> {
        &self.setting.context
    }

    /// What operations cost at the top level, as [`Context::<Exact>::prices`] tells it.
    ///
    /// Cost: some transforms of one row.
    pub fn prices(&self) -> CostModel {
        CostModel::for_context(self.ckks().rlwe())
    }

    /// Vectors of `count` complex numbers, which linear maps are made over.
    ///
    /// # Errors
    /// [`Error::SlotCount`] for a count that does not divide n/2.
    pub fn vectors(&self, count: usize) -> Result<ComplexSlots> {
        ComplexSlots::new(self.ckks(), count)
    }

    /// The key that [`crate::Server::rotate`] by this amount needs, for ciphertexts of `slots`
    /// slots: name it when keys are made.
    ///
    /// # Errors
    /// [`Error::SlotCount`] for slots that do not divide n/2.
    pub fn rotation(&self, slots: usize, amount: i64) -> Result<KeyRequest> {
        let most = self.slots();
        if slots == 0 || most % slots != 0 {
            return Err(Error::SlotCount { got: slots, most });
        }
        let element = self.ckks().rotation_element(amount.rem_euclid(slots as i64));
        Ok(KeyRequest::none(format!("a rotation by {amount}")).with_galois([element]))
    }

    /// The key that [`crate::Server::conjugate`] needs: name it when keys are made.
    pub fn conjugation(&self) -> KeyRequest {
        KeyRequest::none("a conjugation").with_galois([self.ckks().conjugation_element()])
    }

    /// The most slots of a ciphertext, n/2.
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
        let sizes = params.key_sizes();
        writeln!(f, "{:<22}{} bytes in memory", "ciphertext", sizes.ciphertext_memory)?;
        writeln!(f, "{:<22}{} bytes in memory", "one switching key", sizes.switching_key_memory)
    }
}
