//! Homomorphic decryption: c_0 + c_1·s, where c_0 and c_1 are public and the secret s is encrypted. The
//! front end of a refresh takes it.

use windlass_ring::{Values, norm};
use windlass_rlwe::Bound;

use super::{Ciphertext, Engine, Extended};
use crate::error::Result;
use crate::plaintext::Plaintext;
use crate::switching::Switching;

impl Engine {
    /// `c_0 + c_1·s` for plaintexts c_0 and c_1 of this engine's ring, and s encrypted in base Q·P.
    ///
    /// Both plaintexts are of one ciphertext and used once. So one complex transform bounds the
    /// norms of both, beside their transforms modulo every prime.
    #[doc(hidden)]
    pub fn decryption(&self, secret: &Extended, [c0, c1]: [&Plaintext; 2]) -> Result<Ciphertext> {
        let (ring, exponent) = (self.context.ring(), secret.ct.exponent);
        let lifted = [c0, c1].map(|part| self.centred_lift(part, 1, exponent));
        let bounds = || norm::public_norm_bounds(ring.shape(), &lifted);
        let first = || self.message(&lifted[0], &self.context.basis(secret.level), exponent);
        let second = || Values::of_signed(ring, &self.context.base_qp(secret.level), &lifted[1]);
        let (norms, (message, values)) = rayon::join(bounds, || rayon::join(first, second));
        let constant = self.constant((values, secret.level), Bound::of(norms[1]), c1.content());
        let product = self.dot_extended(&[secret], &[vec![(0, Some(&constant))]])?;
        debug_assert_eq!(product[0].ct.factor, 1);
        let product = self.mod_down(product.into_iter().next().expect("one row"))?;
        self.plus_message(&product, message, Bound::of(norms[0]), c0.content())
    }
}
