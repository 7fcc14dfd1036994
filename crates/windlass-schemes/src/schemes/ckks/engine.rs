//! The CKKS evaluator: what it holds and what it checks.

use std::sync::Arc;

use windlass_rlwe::{EvaluationKeys, check_same_keys};

use super::ciphertext::Ciphertext;
use super::context::CkksContext;
use crate::error::{Error, Result};
use crate::schemes::refresh::Refresher;

/// Homomorphic evaluation of CKKS with a set of evaluation keys.
///
/// Scales and levels look after themselves: operands of different depth are brought together,
/// products are rescaled when they are used. Operations return [`Error::ContextMismatch`] for
/// operands of another context, [`Error::LevelsExhausted`] where a rescaling has no prime left, and
/// [`Error::ModulusExhausted`] where the bound on the values would not fit the modulus.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) context: Arc<CkksContext>,
    pub(crate) keys: Arc<EvaluationKeys>,
    pub(super) refresher: Option<Refresher<Ciphertext>>,
}

impl Engine {
    /// An evaluator over `keys`.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] when the keys belong to another context.
    pub fn new(context: &Arc<CkksContext>, keys: Arc<EvaluationKeys>) -> Result<Self> {
        if !Arc::ptr_eq(context.rlwe(), keys.context()) {
            return Err(Error::ContextMismatch {
                operation: "engine",
                left: context.rlwe().params().id().to_string(),
                right: keys.context().params().id().to_string(),
            });
        }
        Ok(Self { context: Arc::clone(context), keys, refresher: None })
    }

    /// The context.
    pub fn context(&self) -> &Arc<CkksContext> {
        &self.context
    }

    /// The evaluation keys.
    pub fn keys(&self) -> &Arc<EvaluationKeys> {
        &self.keys
    }

    pub(crate) fn check(&self, operation: &'static str, ct: &Ciphertext) -> Result<()> {
        if Arc::ptr_eq(&ct.context, &self.context) {
            return Ok(check_same_keys(operation, self.keys.key_id().unwrap_or(ct.key), ct.key)?);
        }
        let describe = |context: &CkksContext| format!("CKKS {}", context.rlwe().params().id());
        Err(Error::ContextMismatch { operation, left: describe(&self.context), right: describe(&ct.context) })
    }

    /// Gives back a result whose values fit its modulus for certain.
    pub(crate) fn accept(&self, operation: &'static str, ct: Ciphertext) -> Result<Ciphertext> {
        let (needed, room, level) = (ct.log2_phase(), self.context.room(ct.level()), ct.level());
        if needed < room {
            return Ok(ct);
        }
        // A product that can be rescaled no more, of values that would fit.
        let is_last = ct.info.degree == 2 && level == self.context.base_level();
        if is_last && needed - self.context.constant_scale(level).log2() < room {
            return Err(self.no_level(operation));
        }
        Err(ct.outgrown(operation, needed))
    }
}
