//! The data that all keys and ciphertexts of one parameter set share.

use std::sync::Arc;

use windlass_ring::gadget::Gadget;
use windlass_ring::kernels::Isa;
use windlass_ring::sample::Gaussian;
use windlass_ring::{Basis, Ring};

use crate::error::RlweError;
use crate::levels::Levels;
use crate::params::{ParamsId, RlweParams};
use crate::registry::Registry;
use crate::secret_rng::SecretRng;

/// The ring over all primes of a parameter set, its bases and its gadget.
///
/// Primes are numbered with the ordinary ones first and the special ones after. *Level* l means
/// the modulus Q_l, the l-th smallest of [`Levels`].
#[derive(Debug)]
pub struct Context {
    params: RlweParams,
    ring: Arc<Ring>,
    special: Basis,
    gaussian: Gaussian,
}

/// The contexts in use.
static CONTEXTS: Registry<(ParamsId, Isa), Context> = Registry::new();

impl Context {
    /// Builds the transforms of all primes on the fastest instruction set of this machine; equal
    /// parameters share one context for as long as someone holds it.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if a transform cannot be built.
    pub fn new(params: RlweParams) -> Result<Arc<Self>, RlweError> {
        Self::with_isa(params, Isa::best())
    }

    /// As [`Self::new`], on a chosen instruction set.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_isa(params: RlweParams, isa: Isa) -> Result<Arc<Self>, RlweError> {
        CONTEXTS.get_or_build((params.id(), isa), || {
            let primes = params.all_primes();
            let ring = Ring::new(Arc::clone(params.shape()), &primes, isa)?;
            let special = Basis::new(params.q_primes().len()..primes.len());
            Ok(Self { special, gaussian: Gaussian::new(params.sigma()), ring, params })
        })
    }

    /// The parameters.
    pub fn params(&self) -> &RlweParams {
        &self.params
    }

    /// The ring over all primes.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// The levels.
    pub fn levels(&self) -> &Levels {
        self.params.levels()
    }

    /// The highest level: that of all ordinary primes.
    pub fn top_level(&self) -> usize {
        self.params.top_level()
    }

    /// The basis of Q_l.
    pub fn basis(&self, level: usize) -> Basis {
        self.levels().basis(level).clone()
    }

    /// The basis of P.
    pub fn special(&self) -> &Basis {
        &self.special
    }

    /// The basis of P_l, the part of P that a key switch at a level takes: all of it at the top.
    ///
    /// # Panics
    /// As [`RlweParams::special_at`].
    pub fn special_at(&self, level: usize) -> Basis {
        Basis::new(self.special.indices().take(self.params.special_at(level)))
    }

    /// The old name of [`Self::base_qp`].
    #[deprecated(since = "0.3.0", note = "use base_qp")]
    pub fn wide_basis(&self, level: usize) -> Basis {
        self.base_qp(level)
    }

    /// The basis of Q_l·P_l.
    pub fn base_qp(&self, level: usize) -> Basis {
        self.basis(level).union(&self.special_at(level))
    }

    /// The primes of all levels up to l, and those of P: the basis of keys and constants for them.
    pub fn covering_basis(&self, level: usize) -> Basis {
        self.levels().covering(level).union(&self.special)
    }

    /// The level of a polynomial over this basis.
    pub fn level_of(&self, basis: &Basis) -> usize {
        self.levels().of(basis).expect("ciphertexts have the primes of a level")
    }

    /// The gadget of the key switch.
    pub fn gadget(&self) -> &Gadget {
        self.params.gadget()
    }

    /// The error distribution.
    pub fn gaussian(&self) -> &Gaussian {
        &self.gaussian
    }

    /// log2(Q_l).
    pub fn log2_modulus(&self, level: usize) -> f64 {
        self.levels().log2(level)
    }
}

/// A generator seeded by the operating system.
///
/// # Errors
/// [`RlweError::NoEntropy`] if the operating system gives no randomness.
pub fn os_rng() -> Result<SecretRng, RlweError> {
    SecretRng::from_os()
}
