//! The ephemeral secret of the encapsulation, and the sum over a row of its multiplication matrix.

use rand_core::RngCore;
use windlass_ring::kernels::Shape;
use windlass_ring::{norm, sample};
use windlass_rlwe::{Bound, RlweParams, SecretDistribution, noise};
use windlass_schemes::error::{BootstrapError, Result};
use zeroize::Zeroizing;

use super::formula::DecryptionFormula;
use super::rows::odd_axes;
use super::spec::BootstrapSpec;

/// The canonical norm that an ephemeral secret may have: a sum of one of this weight from each party.
pub(super) fn secret_norm(params: &RlweParams, weight: u32) -> Bound {
    let of_one = noise::secret_norm_bound(params.shape(), SecretDistribution::Sparse { weight });
    Bound::of(of_one * f64::from(params.secret().parties()))
}

/// The ephemeral secret: coefficients in −1, 0, 1, or sums of some of these, wiped when dropped.
pub(super) struct EphemeralSecret(pub Zeroizing<Vec<i64>>);

impl EphemeralSecret {
    /// A sum of so many secrets with `weight` non-zero coefficients each, in a ring of dimension n.
    pub fn sum_of_sparse(n: usize, weight: u32, parties: u32, rng: &mut impl RngCore) -> Self {
        let mut sum = sample::sparse(n, weight as usize, rng);
        for _ in 1..parties {
            let next = sample::sparse(n, weight as usize, rng);
            sum.iter_mut().zip(next.iter()).for_each(|(sum, x)| *sum += x);
        }
        Self(sum)
    }

    /// Draws until norm and rows are within the bounds that the plan assumes. It reveals how many
    /// secrets were rejected and which bound each failed, but nothing about the secret that is
    /// kept.
    ///
    /// With a key of several parties this is the part of one of them.
    pub fn generate(
        params: &RlweParams,
        spec: &BootstrapSpec,
        formula: &DecryptionFormula,
        rng: &mut impl RngCore,
    ) -> Result<Self> {
        const ATTEMPTS: usize = 10_000;
        let shape = params.shape();
        // A product that is exact: squares of numbers of parties are small.
        let parties = f64::from(params.secret().parties());
        for _ in 0..ATTEMPTS {
            let secret = sample::sparse(shape.n(), spec.ephemeral_weight as usize, rng);
            let bound = noise::secret_norm_bound(shape, SecretDistribution::Sparse { weight: spec.ephemeral_weight });
            // Doubles are compared: a logarithm would look things up in tables.
            if norm::canonical_norm(shape, &secret) <= bound
                && row_square(shape, &secret) * parties * parties <= formula.row_square
            {
                return Ok(Self(secret));
            }
        }
        let what =
            format!("no ephemeral secret of weight {} is short enough; use another weight", spec.ephemeral_weight);
        Err(BootstrapError::Unsupported { what }.into())
    }
}

/// `max_j Σ_i (b_i·s)_j²`, b_i the powerful basis, from above: reduction on odd axes subtracts a
/// top coefficient from each, so that the row of j consists of the differences
/// `Σ_S (−1)^{|S|} s_{v_S(j) − i}`, whose squares add up to correlations of s with itself.
///
/// Time and memory accesses depend only on the shape, and what depends on s is wiped. Cost: O(m·log
/// m) + n·4^{odd axes} and two tables of m words.
fn row_square(shape: &Shape, secret: &[i64]) -> f64 {
    let odd = odd_axes(shape);
    if odd == 0 {
        return secret.iter().map(|x| x * x).sum::<i64>() as f64;
    }
    let correlations = correlations(shape, secret);
    let subsets = 0..1usize << odd;
    let mut points = Vec::with_capacity(subsets.len());
    let mut row = |j: usize| -> i64 {
        points.clear();
        points.extend(subsets.clone().map(|subset| exponent(shape, j, subset)));
        let sum = |(a, &x): (usize, &usize)| -> i64 {
            let sign = |b: usize| if (a ^ b).count_ones() % 2 == 0 { 1 } else { -1 };
            points.iter().enumerate().map(|(b, &y)| sign(b) * correlations[difference(shape, x, y)]).sum()
        };
        points.iter().enumerate().map(sum).sum()
    };
    // The greater of two by a mask: rows are sums of squares, their differences do not overflow.
    let greater = |most: i64, next: i64| most + ((next - most) & !((next - most) >> 63));
    (0..shape.n()).map(&mut row).fold(0, greater) as f64
}

/// Entry e is Σ s_j·s_k over exponents that differ by e modulo m.
fn correlations(shape: &Shape, secret: &[i64]) -> Zeroizing<Vec<i64>> {
    let mut placed = Zeroizing::new(vec![0i64; shape.m() as usize]);
    secret.iter().enumerate().for_each(|(j, &x)| placed[exponent(shape, j, 0)] = x);
    norm::autocorrelation(&placed)
}

/// x − y modulo m.
fn difference(shape: &Shape, x: usize, y: usize) -> usize {
    if x < y { x + shape.m() as usize - y } else { x - y }
}

/// The exponent of X modulo m of basis element j, on the odd axes in `subset` that of the top
/// coefficient which is subtracted from it.
fn exponent(shape: &Shape, j: usize, subset: usize) -> usize {
    let (mut rest, mut bit, mut sum) = (j, 0, 0);
    for axis in shape.axes().iter().rev() {
        let mut digit = (rest % axis.dim) as u64;
        rest /= axis.dim;
        if axis.prime != 2 {
            if subset >> bit & 1 == 1 {
                digit = axis.dim as u64 + digit % (axis.index / axis.prime);
            }
            bit += 1;
        }
        // X_i = X^{m/m_i}.
        sum += digit * (shape.m() / axis.index);
    }
    (sum % shape.m()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;
    use windlass_ring::kernels::Isa;
    use windlass_ring::slots::QuotientRing;

    #[test]
    fn correlations_are_coefficients_of_the_product_with_the_conjugate() {
        // s = 2 − X^5 on one axis: s·s(1/X) = 5 − 2·X^5 − 2·X^{−5}.
        let shape = Shape::new(11).unwrap();
        let secret = [2, 0, 0, 0, 0, -1, 0, 0, 0, 0];
        assert_eq!(*correlations(&shape, &secret), [5, 0, 0, 0, 0, -2, -2, 0, 0, 0, 0]);
        // Exponents of m = 15 are those of X^{5·i + 3·j}; the top coefficients are X_3^2 and X_5^4.
        let shape = Shape::new(15).unwrap();
        assert_eq!((0..8).map(|j| exponent(&shape, j, 0)).collect::<Vec<_>>(), [0, 3, 6, 9, 5, 8, 11, 14]);
        assert_eq!([1, 2, 3].map(|subset| exponent(&shape, 5, subset)), [(5 + 12) % 15, 10 + 3, (10 + 12) % 15]);
    }

    #[test]
    fn rows_are_bounded_by_their_correlations() {
        let mut rng = ChaCha20Rng::from_seed([8; 32]);
        for m in [32u64, 35, 45, 60, 105] {
            let quotient = QuotientRing::new(m, 65537, 1, Isa::best()).unwrap();
            let shape = quotient.shape();
            for _ in 0..4 {
                let secret = sample::sparse(shape.n(), 5, &mut rng);
                let modulus = quotient.modulus();
                let residues: Vec<u64> = secret.iter().map(|&x| modulus.reduce_i64(x)).collect();
                let mut rows = vec![0i64; shape.n()];
                for i in 0..shape.n() {
                    let mut unit = vec![0; shape.n()];
                    unit[i] = 1;
                    let product = quotient.mul(&unit, &residues);
                    rows.iter_mut().zip(product).for_each(|(row, x)| *row += modulus.centred(x).pow(2));
                }
                let exact = *rows.iter().max().unwrap() as f64;
                let bound = row_square(shape, &secret);
                assert!(exact <= bound && bound <= 4.0 * exact, "m = {m}: {exact} against {bound}");
            }
        }
    }
}
