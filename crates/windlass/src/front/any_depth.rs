//! Parameters for circuits of any depth.
//!
//! A circuit of any depth needs a server that can refresh ciphertexts. This module searches for the
//! smallest parameter set that carries a bootstrapping: presets first, then powers of two, then
//! composite rings.

use std::ops::ControlFlow;

use super::context::Context;
use super::no_set;
use super::refreshing_sets::{candidates, refreshing, refreshing_over};
use crate::bootstrap::{Candidate, SearchProgress, SearchSpec, SearchStep, search_observed};
use crate::error::{Error, Result};
use crate::params::ParamSpec;

/// How many composite rings are planned before the search gives up. The cheapest for each slot come
/// first.
const MOST_COMPOSITE: usize = 12;

/// Hears how far the search is, and says whether to continue.
type Observer<'a> = &'a (dyn Fn(SearchProgress) -> ControlFlow<()> + Sync);

impl Context {
    /// The smallest parameter set, by ring dimension, under which a server can refresh ciphertexts
    /// with integers in their slots. Circuits of any depth run under it.
    ///
    /// The search tries the presets with the requested plaintext modulus, then powers of two with
    /// modulus chains like those of the presets. If none of them has enough slots (or the requested
    /// m), it plans the composite rings of [`search_observed`], the cheapest for each slot first.
    /// The command `windlass params search --plan` does the same.
    ///
    /// `depth` and `linear_maps` of the specification are ignored. Between two refreshes at least
    /// one multiplication fits, and at least `capacity` bits remain. Both the main key and the
    /// ephemeral key have the requested security. A prime p that is not 1 modulo m gives few slots
    /// ([`crate::Params::filling_prime`]); set `slots` to ask for more.
    ///
    /// Cost: one bootstrapping is planned for each set that is tried, which takes seconds. A search
    /// of composite rings takes a minute or more ([`Self::plan_any_depth_observed`] reports
    /// progress).
    /// # Errors
    /// [`Error::OutOfRange`] and [`Error::Ring`] as [`crate::Params::plan`] returns them, also for less
    /// than 128 bits of security. [`Error::NoParameters`] says what the last set lacked, and names
    /// alternatives that were found to work.
    pub fn plan_any_depth(spec: &ParamSpec) -> Result<Self> {
        Self::plan_any_depth_observed(spec, &|_| ControlFlow::Continue(()))
    }

    /// As [`Self::plan_any_depth`]. `observe` is called before each set that is planned, and from
    /// time to time while indices are searched. It may be called from any thread. `Break` stops the
    /// search.
    ///
    /// # Errors
    /// As [`Self::plan_any_depth`]; [`Error::Cancelled`] after a `Break`.
    pub fn plan_any_depth_observed(spec: &ParamSpec, observe: Observer<'_>) -> Result<Self> {
        spec.check()?;
        let mut reason = None;
        let named = candidates(spec);
        for (done, params) in named.iter().enumerate() {
            tell(observe, params.m(), (done, named.len()))?;
            match refreshing(params.clone(), spec) {
                Ok(context) => return Ok(context),
                Err(refusal) => reason = Some(refusal),
            }
        }
        let composite = if named.is_empty() { composite(spec, observe)? } else { Vec::new() };
        let tried = composite.len().min(MOST_COMPOSITE);
        for (done, candidate) in composite.iter().take(tried).enumerate() {
            tell(observe, candidate.m, (done, tried))?;
            match refreshing_over(candidate, spec) {
                Ok(context) => return Ok(context),
                Err(refusal) => reason = Some(format!("m = {}: {refusal}", candidate.m)),
            }
        }
        Err(Error::NoParameters { reason: no_set::refusal(spec, reason) })
    }
}

/// # Errors
/// [`Error::Cancelled`].
fn tell(observe: Observer<'_>, m: u64, (done, count): (usize, usize)) -> Result<()> {
    match observe(SearchProgress { step: SearchStep::Plan { m }, done, count }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Cancelled { operation: "the search for parameters" }),
    }
}

/// Composite rings to try: the requested one, or all rings in the range of [`SearchSpec`] with
/// enough slots.
fn composite(spec: &ParamSpec, observe: Observer<'_>) -> Result<Vec<Candidate>> {
    let own = SearchSpec { p: spec.p, r: spec.r, slots: spec.slots, security: spec.security, ..SearchSpec::default() };
    match spec.m {
        Some(m) => {
            let any = SearchSpec { phi: (1, 1 << 17), most_degree: u64::MAX, ..own };
            Ok(Candidate::of_index(&any, m)?.into_iter().collect())
        }
        None => search_observed(&own, observe),
    }
}
