//! Constants of an attacker that has seen the ciphertexts: roundings all one way.

use windlass::rlwe::SecretDistribution;
use windlass::rlwe::noise::secret_norm_bound;
use windlass::schemes::ckks::{Ciphertext, CkksSpec, Complex64};

use crate::ckks::common::{parties, sample, spec};

/// exp(iπk/n) for all k modulo 2n.
fn roots(n: usize) -> Vec<Complex64> {
    (0..2 * n).map(|k| Complex64::from_polar(1.0, std::f64::consts::PI * k as f64 / n as f64)).collect()
}

/// 5^j modulo 2n: slot j is the value there.
fn exponents(n: usize) -> Vec<usize> {
    std::iter::successors(Some(1), |&power| Some(power * 5 % (2 * n))).take(n / 2).collect()
}

/// The slots of integer coefficients, divided by a scale.
fn slots(coefficients: &[f64], roots: &[Complex64], scale: f64) -> Vec<Complex64> {
    let n = coefficients.len();
    let slot = |power: &usize| -> Complex64 {
        coefficients.iter().enumerate().map(|(i, a)| roots[i * power % (2 * n)] * (a / scale)).sum()
    };
    exponents(n).iter().map(slot).collect()
}

/// The prime that the next rescaling drops, and the residues of the first part, centred.
fn known_part(ct: &Ciphertext) -> (u64, Vec<f64>) {
    let last = ct.level() - 1;
    let prime = ct.parts()[0].ring().modulus(last).value();
    let first = ct.parts()[0].clone().into_coeff();
    let centred = |&x: &u64| if x > prime / 2 { -((prime - x) as f64) } else { x as f64 };
    (prime, first.row(last).iter().map(centred).collect())
}

/// Numbers to add to a product so that every coefficient of its first part rounds by half towards
/// one slot.
fn towards(ct: &Ciphertext, slot: usize, roots: &[Complex64]) -> Vec<Complex64> {
    let (prime, known) = known_part(ct);
    let n = known.len();
    let power = exponents(n)[slot];
    let half = (prime / 2) as f64;
    // What is rounded off is subtracted.
    let wanted = |i: usize| if roots[i * power % (2 * n)].re > 0.0 { -half } else { half };
    let added: Vec<f64> = known.iter().enumerate().map(|(i, x)| wanted(i) - x).collect();
    slots(&added, roots, ct.scale())
}

/// One slot of each of many roundings, brought together by rotations: the known parts' roundings
/// add up as they are, to more than deviations that are added in squares let expect.
#[test]
fn roundings_of_known_parts_towards_one_slot_stay_within_the_bound() {
    const N: usize = 512;
    let sparse = CkksSpec { secret: SecretDistribution::Sparse { weight: 1 }, ..spec(N, 40, 1) };
    let (client, server) = parties(&sparse, &[1]);
    let (e, roots) = (server.engine(), roots(N));
    let x = sample(N / 2, 1);
    let product =
        e.multiply_scalar(&client.encrypt_complex(&x, 1.0).unwrap(), Complex64::from(2f64.powi(-12))).unwrap();
    let mut sum: Option<(Ciphertext, Vec<Complex64>)> = None;
    for slot in (0..N / 2).rev() {
        let values = towards(&product, slot, &roots);
        let ct = e.rescale(&e.add_plain(&product, &values).unwrap()).unwrap();
        let term: Vec<Complex64> = values.iter().zip(&x).map(|(v, x)| v + x * 2f64.powi(-12)).collect();
        sum = Some(match sum {
            None => (ct, term),
            Some((before, slots)) => {
                let turned = (0..N / 2).map(|j| slots[(j + 1) % (N / 2)] + term[j]).collect();
                (e.add(&e.rotate(&before, 1).unwrap(), &ct).unwrap(), turned)
            }
        });
    }
    let (ct, expected) = sum.unwrap();
    let error = (client.decrypt_complex(&ct).unwrap()[0] - expected[0]).norm();
    let all = (N * N / 2) as f64 / std::f64::consts::PI / ct.scale();
    assert!((error / all - 1.0).abs() < 0.1, "{error:e}: the roundings add up to {all:e}");
    assert!(error > 72.0 * ct.deviation(), "{error:e} is nothing beside 72·{:e}", ct.deviation());
    assert!(error <= ct.error_bound(), "{error:e} above the bound {:e}", ct.error_bound());
}

/// A constant of n coefficients of the size of a prime can bring the second part's rounding to n/π
/// in a slot; with the largest possible secret, the bound must hold.
#[test]
fn a_constant_of_full_size_may_steer_all_of_a_rounding() {
    const N: usize = 1 << 14;
    let (client, server) = parties(&spec(N, 40, 1), &[]);
    let ct = client.encrypt_complex(&[Complex64::ONE; N / 2], 1.0).unwrap();
    let rlwe = server.context().ckks().rlwe().params();
    let worst = N as f64 / std::f64::consts::PI * secret_norm_bound(rlwe.shape(), rlwe.secret());
    // As large as coefficients that are uniform modulo a prime of the scale's size make slots.
    let size = (N as f64 / 12.0).sqrt();
    let flat = |count: usize| vec![Complex64::from(size); count];
    let product = server.engine().multiply_plain(&ct, &flat(N / 2)).unwrap();
    let low = server.engine().rescale(&product).unwrap();
    assert!(low.error_bound() * low.scale() > worst, "{:e} below {worst:e}", low.error_bound() * low.scale());
    assert!(low.whole_error_bound() >= low.error_bound());
    // A number has one coefficient, and steers nothing.
    let number = server.engine().rescale(&server.engine().multiply_plain(&ct, &flat(1)).unwrap()).unwrap();
    assert!(number.error_bound() < 0.7 * low.error_bound());
    assert!((number.deviation() / low.deviation() - 1.0).abs() < 1e-6);
}
