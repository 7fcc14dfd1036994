//! The checks that secure parameters must pass.

use windlass_rlwe::security::EstimateSource;
use windlass_rlwe::{Assurance, RlweParams, SecretDistribution, SecurityEstimate, security};
use windlass_schemes::error::{BootstrapError, Result};

use super::encapsulation::InputModulus;
use super::formula::DecryptionFormula;
use super::spec::BootstrapSpec;

/// The minimum [`BootstrapSpec::failure_bits`] of secure parameters. A wrong plaintext without an
/// error is as bad as a weak key.
pub(super) const LEAST_FAILURE_BITS: f64 = 40.0;

/// λ of the switching key of the ephemeral secret.
pub(super) fn ephemeral_security(params: &RlweParams, input: &InputModulus, spec: &BootstrapSpec) -> SecurityEstimate {
    let secret = SecretDistribution::Sparse { weight: spec.ephemeral_weight };
    security::indicative_security_bits(params.n(), input.log2_modulus(params), secret)
}

/// What is refused for the main secret of secure parameters is refused for the ephemeral one: fewer
/// than 128 bits, or none by the tables. So is a bound on the noise that fails with a probability
/// above 2^−40.
///
/// # Errors
/// [`BootstrapError::EphemeralKeyTooWeak`], [`BootstrapError::TooLikelyToFail`].
pub(super) fn check(
    params: &RlweParams,
    input: &InputModulus,
    formula: &DecryptionFormula,
    spec: &BootstrapSpec,
) -> Result<()> {
    if *params.assurance() != Assurance::Secure {
        return Ok(());
    }
    let security = ephemeral_security(params, input, spec);
    if security.bits < 128.0 || security.source == EstimateSource::Indication {
        let (weight, log2_qp) = (spec.ephemeral_weight, input.log2_modulus(params));
        return Err(BootstrapError::EphemeralKeyTooWeak { weight, log2_qp, security }.into());
    }
    let got = spec.failure_bits.min(formula.failure_bits);
    if got < LEAST_FAILURE_BITS {
        let least = LEAST_FAILURE_BITS;
        return Err(BootstrapError::TooLikelyToFail { got, least }.into());
    }
    Ok(())
}
