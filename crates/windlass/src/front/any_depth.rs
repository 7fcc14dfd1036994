//! Parameters for circuits of any depth: those under which servers can refresh.

use std::ops::ControlFlow;

use super::context::Context;
use super::no_set;
use super::refreshing_sets::{candidates, refreshing, refreshing_over};
use crate::bootstrap::{Candidate, SearchProgress, SearchSpec, SearchStep, search_observed};
use crate::error::{Error, Result};
use crate::params::ParamSpec;

/// How many composite rings are planned, the cheapest for each slot first, before the search gives
/// up.
const MOST_COMPOSITE: usize = 12;

/// Who is told how far it is, and says whether to go on.
type Observer<'a> = &'a (dyn Fn(SearchProgress) -> ControlFlow<()> + Sync);

impl Context {
    /// The first parameter set, by ring dimension, under which a server can refresh ciphertexts
    /// with integers in their slots, so that circuits of any depth run: the presets with the
    /// plaintext modulus asked for, then powers of two with chains like theirs. Where none of them
    /// has as many slots (or the m that is asked for), the composite rings of [`search_observed`]
    /// are planned, the cheapest for each slot first: what `windlass params search --plan` does.
    ///
    /// `depth` and `linear_maps` of the specification do not matter. Between two refreshes at least
    /// one multiplication fits, and `capacity` bits. The security asked for is that of the main key
    /// and of the ephemeral one. Primes p that are not 1 modulo m leave few slots
    /// ([`Params::filling_prime`]); `slots` asks for more.
    ///
    /// Cost: planning a bootstrapping for each set that is tried, seconds; a minute or more where
    /// composite rings are searched ([`Self::plan_any_depth_observed`] tells how far it is).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] and [`Error::Ring`] as of [`Params::plan`], with less than 128 bits of
    /// security among them; [`Error::NoParameters`] with what the last set lacked, and what can be
    /// asked for instead: only what was found to work.
    pub fn plan_any_depth(spec: &ParamSpec) -> Result<Self> {
        Self::plan_any_depth_observed(spec, &|_| ControlFlow::Continue(()))
    }

    /// As [`Self::plan_any_depth`], telling before each set that is planned, and from time to time
    /// as indices are searched, how far it is; `Break` stops it. It is called from any thread.
    ///
    /// # Errors
    /// As there; [`Error::Cancelled`].
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

/// Errors: [`Error::Cancelled`].
fn tell(observe: Observer<'_>, m: u64, (done, count): (usize, usize)) -> Result<()> {
    match observe(SearchProgress { step: SearchStep::Plan { m }, done, count }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Cancelled { operation: "the search for parameters" }),
    }
}

/// Composite rings to try: the one that was asked for, or all of the range of [`SearchSpec`] with as
/// many slots.
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
