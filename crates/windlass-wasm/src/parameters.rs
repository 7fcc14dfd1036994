//! What parameters that another party chose must be, before anything is made of them.

use wasm_bindgen::JsValue;
use windlass::check_memory;
use windlass::rlwe::{RlweParams, SecretDistribution};

use crate::Result;
use crate::error::{raise, refuse};

/// Bits of security that parameters have unless their user accepts fewer.
const SECURE_BITS: f64 = 128.0;

/// A client holds no more memory at once than this many switching keys take.
const PIECES: u64 = 3;

/// Refuses what is not secure, unless that is accepted, and what memory does not hold.
pub fn check(params: &RlweParams, insecure: bool) -> Result<()> {
    let security = params.security();
    if !insecure && matches!(params.secret(), SecretDistribution::Sparse { .. }) {
        return Err(of_sparse_secret());
    }
    if !insecure && security.bits < SECURE_BITS {
        let message = format!(
            "these parameters have {:.1} bits of security, fewer than {SECURE_BITS}: ask for others, or accept them with insecure: true if they are for tests",
            security.bits
        );
        return Err(raise("InsecureParameters", &message));
    }
    let key = params.key_sizes().switching_key_memory;
    check_memory("a context of these parameters", key.saturating_mul(PIECES)).map_err(refuse)
}

fn of_sparse_secret() -> JsValue {
    raise(
        "InsecureParameters",
        "these parameters have a sparse secret, and this package has no table of its hardness: choose parameters with a ternary secret, or accept them with insecure: true if you know their security from elsewhere",
    )
}
