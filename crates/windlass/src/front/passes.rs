//! Contexts whose refreshes run in several passes: of integers through CKKS, and of real and complex numbers to more
//! bits than one refresh keeps.

use std::sync::Arc;

use windlass_rlwe::Assurance;

use super::context::Context;
use super::family::Approximate;
use super::setting::{ApproximateSetting, ExactSetting};
use crate::bootstrap::BootstrapError;
use crate::bootstrap::approximate::precise::{PreciseRefreshPlan, PreciseRefreshSpec};
use crate::bootstrap::exact_through_ckks::{ExactRefreshPlan, ExactRefreshSpec};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::params::Params;
use crate::schemes::Scheme;
use crate::wire::{ApproximateContext, WireContext};

impl Context {
    /// A context of exact integers whose ciphertexts are refreshed through CKKS
    /// ([`crate::bootstrap::exact_through_ckks`]): modulo a prime of up to 40 bits, or 2^r. Its keys are those of
    /// [`Self::exact_refresh`] and of what else is computed. A server with them refreshes by itself.
    ///
    /// Ciphertexts have the levels below those of the refresh alone ([`Params::top_level`]). Modulo 2^r the ring has
    /// no slots: [`crate::Client::encrypt_elements`] takes n coefficients, and a product is one of polynomials.
    ///
    /// ```
    /// use windlass::bootstrap::exact_through_ckks::ExactRefreshSpec;
    /// use windlass::rlwe::Assurance;
    /// use windlass::{Context, Scheme};
    ///
    /// let toy = Assurance::Insecure { name: "insecure_example".into() };
    /// let spec = ExactRefreshSpec::new(128, (65537, 1), (3, 26), toy)?; // three passes of 26 bits
    /// let context = Context::exact_refreshing(&spec, Scheme::Bgv)?;
    /// let (client, server) = context.generate_keys([&context.exact_refresh()?])?;
    /// let mut x = client.encrypt(&[2, 3])?;
    /// for _ in 0..5 {
    ///     x = server.square(&x)?; // with the refreshes that it needs
    /// }
    /// assert_eq!(client.decrypt(&x)?[..2], [1, 3u64.pow(16).pow(2) % 65537]);
    /// # Ok::<(), windlass::Error>(())
    /// ```
    ///
    /// Cost: that of [`ExactRefreshPlan::of_shape`].
    ///
    /// # Errors
    /// As [`ExactRefreshPlan::of_shape`].
    pub fn exact_refreshing(spec: &ExactRefreshSpec, scheme: Scheme) -> Result<Self> {
        Ok(Self::of_exact_refresh(Arc::new(ExactRefreshPlan::of_shape(spec)?), scheme))
    }

    /// As [`Self::exact_refreshing`], for a plan that exists.
    pub fn of_exact_refresh(plan: Arc<ExactRefreshPlan>, scheme: Scheme) -> Self {
        let (spec, rlwe) = (plan.ckks().context().spec().to_rlwe(), plan.context().params().clone());
        let name = match &spec.assurance {
            Assurance::Secure => plan.spec().in_words(),
            Assurance::Insecure { name } | Assurance::Paper { name } => name.clone(),
        };
        let modulus = (plan.spec().prime, plan.spec().exponent);
        let params = Params::below_a_refresh((&name, scheme), modulus, (spec, rlwe), plan.output_level());
        let files = WireContext::new(plan.context(), plan.slot_ring(), scheme);
        Self::of(ExactSetting { params, files, bootstrapping: None, exact_refresh: Some(plan) })
    }

    /// The refresh through CKKS that the parameters are made for: what [`Self::generate_keys`] takes, with its
    /// passes, bounds and keys.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] unless the context is one of [`Self::exact_refreshing`].
    pub fn exact_refresh(&self) -> Result<Arc<ExactRefreshPlan>> {
        self.setting().exact_refresh.clone().ok_or_else(|| {
            let what = "these parameters have no refresh through CKKS; make the context with exact_refreshing";
            BootstrapError::Unsupported { what: what.into() }.into()
        })
    }
}

impl Context<Approximate> {
    /// A context for real and complex numbers of more bits than one refresh keeps: each refresh runs in several
    /// passes ([`crate::bootstrap::approximate::precise`]). Its keys are those of [`Self::precise_refresh`] and of
    /// what else is computed. A server with them refreshes by itself.
    ///
    /// [`crate::Client::encrypt_wide`] and [`crate::Client::decrypt_wide`] take and return all bits. Doubles go in and
    /// out as well. Polynomials and matrices have constants of doubles, and so their results keep 49 bits.
    ///
    /// ```
    /// use windlass::Context;
    /// use windlass::bootstrap::approximate::precise::PreciseRefreshSpec;
    /// use windlass::rlwe::Assurance;
    /// use windlass::schemes::ckks::{Wide, WideComplex};
    ///
    /// let toy = Assurance::Insecure { name: "insecure_example".into() };
    /// let context = Context::precise_refreshing(&PreciseRefreshSpec::new(128, (3, 26), 2, toy)?)?;
    /// let (client, server) = context.generate_keys([&context.precise_refresh()?])?;
    /// let third = Wide::ONE / Wide::from(3.0); // to 106 bits
    /// let mut x = client.encrypt_wide(&[WideComplex::new(third, 0.0)], 1.0)?;
    /// for _ in 0..3 {
    ///     x = server.square(&x)?; // three levels, and a refresh in between
    /// }
    /// let wanted = Wide::ONE / Wide::from(6561.0);
    /// let error = client.decrypt_wide(&x)?[0].re - wanted;
    /// assert!(error.high().abs() < 2f64.powi(-60));
    /// # Ok::<(), windlass::Error>(())
    /// ```
    ///
    /// Cost: that of [`PreciseRefreshPlan::of_shape`].
    ///
    /// # Errors
    /// As [`PreciseRefreshPlan::of_shape`].
    pub fn precise_refreshing(spec: &PreciseRefreshSpec) -> Result<Self> {
        Ok(Self::of_precise_refresh(Arc::new(PreciseRefreshPlan::of_shape(spec)?)))
    }

    /// As [`Self::precise_refreshing`], for a plan that exists.
    pub fn of_precise_refresh(plan: Arc<PreciseRefreshPlan>) -> Self {
        let (context, files) = (Arc::clone(plan.context()), ApproximateContext::new(plan.context()));
        Self::of(ApproximateSetting { context, files, refresh: None, precise_refresh: Some(plan) })
    }

    /// The refresh of several passes that the parameters are made for: what [`Self::generate_keys`] takes, with its
    /// levels, keys and error.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] unless the context is one of [`Self::precise_refreshing`].
    pub fn precise_refresh(&self) -> Result<Arc<PreciseRefreshPlan>> {
        self.setting().precise_refresh.clone().ok_or_else(|| {
            let what = "these parameters have no refresh of several passes; make the context with precise_refreshing";
            BootstrapError::Unsupported { what: what.into() }.into()
        })
    }
}
