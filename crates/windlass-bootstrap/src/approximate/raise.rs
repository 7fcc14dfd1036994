//! Raises a ciphertext from the base level to the highest level, through the ephemeral secret.

use std::sync::Arc;

use windlass_ring::kernels::work;
use windlass_ring::rns::IntegerLift;
use windlass_ring::{Basis, Eval, Poly};
use windlass_rlwe::{Context, switching};

use super::keys::RefreshKeys;

/// A pair at the base whose phase under the main secret, at the highest level, is the old one plus a
/// multiple of Q_B.
///
/// Cost: a small key switch at the base; at the top one transform for each prime of QP, a product
/// and a mod-down.
pub(super) fn raised(context: &Arc<Context>, keys: &RefreshKeys, parts: &[Poly<Eval>]) -> Vec<Poly<Eval>> {
    let [first, second] = keys.encapsulation.switch(context, parts);
    let top = context.top_level();
    let (basis, qp) = (context.basis(top), context.base_qp(top));
    let second = lifted(&second, &qp);
    let [b, a] = keys.encrypted_secret.pair();
    work::add(work::Kind::Keys, 2 * qp.len() * context.ring().n());
    let pair = [b, a].map(|half| half.mul(&second));
    let [mut low, high] = switching::mod_down(context, [&pair[0], &pair[1]], top, 1);
    low.add_assign(&lifted(&first, &basis));
    vec![low, high]
}

/// The centred integers of a polynomial modulo more primes.
fn lifted(poly: &Poly<Eval>, basis: &Basis) -> Poly<Eval> {
    let (ring, small) = (poly.ring(), poly.basis());
    let lift = IntegerLift::new(ring, small);
    let coefficients = lift.centred(&poly.clone().into_coeff());
    // Words of 60 bits, by Horner's rule.
    const WORD: u32 = 60;
    let words = (lift.product().bits() as u32 + 1).div_ceil(WORD);
    let word = |k: u32| -> Vec<i64> {
        let mask = (1i64 << WORD) - 1;
        let nth = |x: &num_bigint::BigInt| {
            let digits = x.magnitude() >> (k * WORD);
            let low = (digits.iter_u64_digits().next().unwrap_or(0) as i64) & mask;
            if x.sign() == num_bigint::Sign::Minus { -low } else { low }
        };
        coefficients.iter().map(nth).collect()
    };
    let mut sum = Poly::from_signed(ring, basis, &word(words - 1));
    for k in (0..words - 1).rev() {
        sum.mul_scalar_assign(|q| q.reduce(1 << WORD));
        sum.add_assign(&Poly::from_signed(ring, basis, &word(k)));
    }
    sum.into_eval()
}
