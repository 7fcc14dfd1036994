//! How files say the distribution of a secret key: by its weight, by a number of parties, or by neither.

use windlass_rlwe::SecretDistribution;

/// The weight of a sparse secret.
pub(crate) fn weight_of(secret: SecretDistribution) -> Option<u32> {
    match secret {
        SecretDistribution::Sparse { weight } => Some(weight),
        _ => None,
    }
}

/// The number of parties of a secret that is a sum.
pub(crate) fn parties_of(secret: SecretDistribution) -> Option<u32> {
    match secret {
        SecretDistribution::Collective { parties } => Some(parties),
        _ => None,
    }
}

/// The distribution of a weight or a number of parties; for both the words of a refusal.
pub(crate) fn secret_of(weight: Option<u32>, parties: Option<u32>) -> Result<SecretDistribution, &'static str> {
    match (weight, parties) {
        (None, None) => Ok(SecretDistribution::Ternary),
        (Some(weight), None) => Ok(SecretDistribution::Sparse { weight }),
        (None, Some(parties)) => Ok(SecretDistribution::Collective { parties }),
        (Some(_), Some(_)) => Err("secret_weight and parties exclude each other: leave one out"),
    }
}
