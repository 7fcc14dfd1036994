//! Laws of R/(Q) for every kind of m, with big integers as the oracle.

use std::sync::Arc;

use num_bigint::BigInt;
use num_integer::Integer;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass_kernels::{Isa, Modulus, Shape, modulus::find_primes, ntt};
use windlass_ring::gadget::Gadget;
use windlass_ring::rns::{IntegerLift, centred_words};
use windlass_ring::{Basis, Coeff, Eval, Poly, Ring, sample};

/// Prime, prime power, composite, odd × power of two, power of two.
const INDICES: [u64; 12] = [7, 9, 25, 15, 105, 45, 12, 120, 16, 256, 3, 4];
/// Larger ones, for the laws that need no big integers.
const LARGER: [u64; 9] = [127, 243, 1023, 4369, 4095, 2040, 2048, 4096, 8192];

fn ring(m: u64) -> Arc<Ring> {
    ring_on(m, Isa::best())
}

fn ring_on(m: u64, isa: Isa) -> Arc<Ring> {
    let shape = Arc::new(Shape::new(m).unwrap());
    let mut primes = Vec::new();
    for bits in [50, 40, 33, 49, 45, 36] {
        let skip: Vec<u64> = primes.iter().map(|q: &Modulus| q.value()).collect();
        primes.extend(find_primes(shape.root_order(), bits, 1, &skip).unwrap());
    }
    Ring::new(shape, &primes, isa).unwrap()
}

fn random(ring: &Arc<Ring>, basis: &Basis, seed: u8) -> Poly<Eval> {
    sample::uniform(ring, basis, &[seed; 32], 0)
}

fn integers(poly: &Poly<Eval>) -> Vec<BigInt> {
    IntegerLift::new(poly.ring(), poly.basis()).centred(&poly.clone().into_coeff())
}

/// On one thread, whose scratch memory the transforms work in.
#[test]
fn transforms_leave_nothing_in_scratch_memory() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    one.install(|| {
        // What is odd goes through scratch memory.
        let ring = ring(105);
        let (basis, secret) = (Basis::new(0..6), vec![1; ring.n()]);
        ring.plan(0).forward(&mut (1..=ring.n() as u64).collect::<Vec<u64>>());
        assert!(!ntt::scratch_is_wiped());
        let transformed = Poly::from_signed(&ring, &basis, &secret).into_eval();
        assert!(ntt::scratch_is_wiped());
        ring.plan(0).forward(&mut (1..=ring.n() as u64).collect::<Vec<u64>>());
        transformed.into_coeff();
        assert!(ntt::scratch_is_wiped());
        ring.plan(0).forward(&mut (1..=ring.n() as u64).collect::<Vec<u64>>());
        ring.evaluate_signed(0, &secret, &mut vec![0; ring.n()]);
        assert!(ntt::scratch_is_wiped());
    });
}

#[test]
fn ring_laws() {
    for m in INDICES.into_iter().chain(LARGER) {
        let ring = ring(m);
        let basis = Basis::new(0..6);
        let (a, b, c) = (random(&ring, &basis, 1), random(&ring, &basis, 2), random(&ring, &basis, 3));
        assert_eq!(a.mul(&b), b.mul(&a));
        assert_eq!(a.mul(&b).mul(&c), a.mul(&b.mul(&c)));
        let mut sum = b.clone();
        sum.add_assign(&c);
        let mut right = a.mul(&b);
        right.mul_add_assign(&a, &c);
        assert_eq!(a.mul(&sum), right);
        assert_eq!(Poly::dot(&ring, &basis, &[(&a, &b), (&a, &c)]), right);
        let mut difference = sum.clone();
        difference.sub_assign(&c);
        assert_eq!(difference, b);
        difference.neg_assign();
        difference.add_assign(&b);
        assert_eq!(difference, Poly::zero(&ring, &basis));
        assert_eq!(a.clone().into_coeff().into_eval(), a);
    }
}

#[test]
fn automorphisms_are_ring_homomorphisms_and_compose() {
    for m in INDICES.into_iter().chain(LARGER) {
        let ring = ring(m);
        let basis = Basis::new(0..2);
        let (a, b) = (random(&ring, &basis, 1), random(&ring, &basis, 2));
        let units: Vec<u64> = (1..m).filter(|&t| ring.shape().position(t).is_some()).collect();
        let (s, t) = (units[units.len() / 3], units[units.len() / 2]);
        let [theta_s, theta_t, theta_st] = [s, t, s * t].map(|u| ring.automorphism(u).unwrap());
        assert_eq!(a.mul(&b).automorphism(&theta_t), a.automorphism(&theta_t).mul(&b.automorphism(&theta_t)));
        assert_eq!(a.automorphism(&theta_s).automorphism(&theta_t), a.automorphism(&theta_st));
        assert!(ring.automorphism(m).is_err());
    }
}

/// Products, sums, automorphisms, rounded divisions and digits: the same bits on every instruction
/// set.
#[test]
fn instruction_sets_agree() {
    for m in [7, 25, 105, 45, 120, 256, 1023, 4095, 4096] {
        let mut seen: Option<Vec<Vec<u64>>> = None;
        for isa in Isa::available() {
            let ring = ring_on(m, isa);
            let basis = Basis::new(0..6);
            let (a, b) = (random(&ring, &basis, 1), random(&ring, &basis, 2));
            let theta = ring.automorphism(m - 1).unwrap();
            let mut fused = a.automorphism(&theta);
            fused.mul_add_assign(&a, &b);
            let divided = fused.divide_rounded(&Basis::new([0, 1, 4]), 257);
            let digits = Gadget::balanced(4, 2).decompose(
                &a.restrict(&Basis::new(0..3)),
                &Basis::new([4]),
                (3, &Basis::new([5])),
            );
            let results = [fused.clone(), divided].into_iter().chain(digits).map(|poly| poly.data().to_vec());
            let results: Vec<_> = results.chain([fused.into_coeff().data().to_vec()]).collect();
            let first = seen.get_or_insert_with(|| results.clone());
            assert_eq!(*first, results, "m = {m} on {}", isa.name());
        }
    }
}

#[test]
fn an_automorphism_moves_monomials() {
    // θ_t(X) = X^t: for m = 9 and 16 the powerful basis is the power basis, and X^t is a basis
    // element for small t.
    for (m, t) in [(9u64, 5u64), (16, 3), (16, 7), (25, 13)] {
        let ring = ring(m);
        let basis = Basis::new(0..1);
        let monomial = |j: u64| {
            let mut coefficients = vec![0i64; ring.n()];
            coefficients[j as usize] = 1;
            Poly::<Coeff>::from_signed(&ring, &basis, &coefficients).into_eval()
        };
        assert_eq!(monomial(1).automorphism(&ring.automorphism(t).unwrap()), monomial(t), "m = {m}");
    }
}

#[test]
fn division_rounds_and_respects_the_multiplier() {
    for m in INDICES {
        let ring = ring(m);
        let basis = Basis::new(0..6);
        for (keep, multiplier) in [(vec![0, 1, 2], 1u64), (vec![0, 1, 2, 4, 5], 1), (vec![0, 1], 257), (vec![1, 3], 2)]
        {
            let keep = Basis::new(keep);
            let x = random(&ring, &basis, 4);
            let quotient = x.divide_rounded(&keep, multiplier);
            let drop = basis.without(&keep);
            let divisor: BigInt = drop.indices().map(|i| BigInt::from(ring.modulus(i).value())).product();
            let product: BigInt = keep.indices().map(|i| BigInt::from(ring.modulus(i).value())).product();
            let bound: BigInt = &divisor * multiplier / 2 + multiplier;
            for (x, y) in integers(&x).iter().zip(integers(&quotient)) {
                // x − D·y ≡ δ modulo the kept primes, with δ ≡ x mod D, δ ≡ 0 mod multiplier, |δ| ≤
                // multiplier·D/2.
                let mut delta = (x - &divisor * &y).mod_floor(&(&product * &divisor));
                if delta > &product * &divisor / 2 {
                    delta -= &product * &divisor;
                }
                // y is known modulo the product of the kept primes only, so δ is known modulo that
                // times D.
                assert!(delta.magnitude() <= bound.magnitude(), "m = {m}");
                assert_eq!(delta.mod_floor(&BigInt::from(multiplier)), BigInt::from(0));
            }
        }
    }
}

/// A prime that the quotient has and the dividend has not multiplies it first: the quotient is the
/// nearest integer to x·A/D, or the nearest but one.
#[test]
fn division_may_add_primes() {
    for m in INDICES {
        let ring = ring(m);
        let prime = |index: usize| BigInt::from(ring.modulus(index).value());
        let ways = [(vec![1, 2, 3], vec![0, 1, 2]), (vec![0, 3], vec![1, 2]), (vec![2, 3], vec![0, 1, 2])];
        for ((from, keep), multiplier) in ways.into_iter().flat_map(|way| [(way.clone(), 1u64), (way, 257)]) {
            let [from, keep] = [from, keep].map(Basis::new);
            let x = random(&ring, &from, 9);
            let quotient = x.divide_rounded(&keep, multiplier);
            assert_eq!(quotient.basis(), &keep);
            let product = |basis: &Basis| basis.indices().map(prime).product::<BigInt>();
            let (added, dropped, whole) =
                (product(&keep.without(&from)), product(&from.without(&keep)), product(&keep));
            for (x, y) in integers(&x).iter().zip(integers(&quotient)) {
                // D·y = A·x − δ modulo D times the kept primes, δ a multiple of the multiplier, |δ|
                // at most D/2 and a little times it.
                let modulus = &whole * &dropped;
                let delta = (x * &added - &dropped * &y).mod_floor(&modulus);
                let delta = delta.clone().min(&modulus - delta);
                assert!((&delta % multiplier) == BigInt::from(0), "m = {m}: {from:?} to {keep:?}");
                assert!(delta * 2 <= (&dropped + 2) * multiplier, "m = {m}: {from:?} to {keep:?}");
            }
        }
    }
}

/// The first group has the spare primes: with those of the chain, or alone where it is too small.
#[test]
fn spare_primes_are_in_the_first_group() {
    let sizes = |gadget: &Gadget| gadget.groups().iter().map(Basis::len).collect::<Vec<_>>();
    assert_eq!(sizes(&Gadget::with_spare(8, 3, 2)), [3, 3, 2]);
    assert_eq!(Gadget::with_spare(8, 3, 0), Gadget::balanced(8, 3));
    let apart = Gadget::with_spare(6, 5, 2);
    assert_eq!(sizes(&apart), [2, 1, 1, 1, 1]);
    assert_eq!(apart.groups().iter().flat_map(Basis::indices).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    for (basis, skipped, active) in [(vec![2, 3], 1, 2), (vec![1, 2], 0, 2), (vec![0, 1, 2, 3, 4, 5], 0, 5)] {
        let basis = Basis::new(basis);
        assert_eq!((apart.skipped(&basis), apart.active(&basis).len()), (skipped, active));
    }
    assert_eq!(Gadget::whole(&Basis::new([1, 4])).groups(), [Basis::new([1, 4])]);
}

/// As many primes as the longest chains have: sums over all of them are no special case.
#[test]
fn many_primes_are_dropped_at_once() {
    let shape = Arc::new(Shape::new(16).unwrap());
    let primes = find_primes(shape.root_order(), 50, 128, &[]).unwrap();
    let ring = Ring::new(shape, &primes, Isa::best()).unwrap();
    let x = random(&ring, &Basis::new(0..128), 6);
    let quotient = x.divide_rounded(&Basis::new(0..1), 1);
    let divisor: BigInt = primes[1..].iter().map(|q| BigInt::from(q.value())).product();
    for (x, y) in integers(&x).iter().zip(integers(&quotient)) {
        let off: BigInt = x - &divisor * &y;
        assert!(off.magnitude() * 2u32 <= divisor.magnitude() + &BigInt::from(2).magnitude().clone());
    }
}

/// Of all sizes of groups: digits are their x/(multiplier·A) modulo the group, A the product of the
/// primes that are divided by, and lie around 0.
#[test]
fn digits_recompose() {
    for m in INDICES {
        let ring = ring(m);
        let (all, one, none) = (Basis::new([4, 5]), Basis::new([4]), Basis::new([]));
        let left = Basis::new([5]);
        let ways = [(1u64, &all, &none), (257, &all, &none), (1, &one, &left), (257, &one, &left)];
        for (digits, level, (multiplier, special, divided)) in
            [1, 2, 4].iter().flat_map(|&d: &usize| (1..=4).flat_map(move |l: usize| ways.map(|way| (d, l, way))))
        {
            let gadget = Gadget::balanced(4, digits);
            let basis = Basis::new(0..level);
            let x = random(&ring, &basis, 5);
            let digits = gadget.decompose(&x, special, (multiplier, divided));
            let groups = gadget.active(&basis);
            assert_eq!(digits.len(), groups.len());
            for (digit, group) in digits.iter().zip(&groups) {
                let size: BigInt = group.indices().map(|i| BigInt::from(ring.modulus(i).value())).product();
                // Small: no wrap-around modulo the wide basis.
                let coefficients = integers(digit);
                let most = &size * group.len();
                let inside = |c: &BigInt| c.magnitude() * 2u32 <= *most.magnitude();
                assert!(coefficients.iter().all(inside));
                // Their sum is 0 but for six deviations of D·√(n·g/12).
                let sum: BigInt = coefficients.iter().sum();
                let square = &sum * &sum * 12;
                let variance = &size * &size * ring.n() * group.len();
                assert!(square <= variance * 36, "m = {m}, {} primes", group.len());
                // And 0 for 0: no part of a ciphertext need look random.
                let zero = Poly::<Coeff>::from_signed(&ring, &basis, &vec![0; ring.n()]).into_eval();
                let zeros = gadget.decompose(&zero, special, (multiplier, divided));
                assert!(
                    zeros.iter().all(|digit| digit.basis().indices().all(|i| digit.row_of(i).iter().all(|&x| x == 0)))
                );
                let mut restricted = digit.restrict(group);
                restricted.mul_scalar_assign(|_| multiplier);
                divided.indices().for_each(|i| restricted.mul_scalar_assign(|q| q.reduce(ring.modulus(i).value())));
                assert_eq!(restricted, x.restrict(group), "m = {m}");
            }
        }
    }
}

#[test]
fn integers_round_trip() {
    let ring = ring(45);
    let basis = Basis::new(0..3);
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    let small = sample::error(ring.shape(), &sample::Gaussian::new(3.2), &mut rng);
    let poly = Poly::from_signed(&ring, &basis, &small);
    let lift = IntegerLift::new(&ring, &basis);
    let centred = lift.centred(&poly);
    assert!(centred.iter().zip(small.iter()).all(|(x, &y)| *x == BigInt::from(y)));
    assert_eq!(Poly::from_integers(&ring, &basis, &centred), poly);
    let expected: Vec<u64> = small.iter().map(|x| x.rem_euclid(17) as u64).collect();
    assert_eq!(lift.centred_mod(&poly, 17).0, expected);
}

/// Coefficients modulo 2^128, of moduli below and above 2^128.
#[test]
fn words_agree_with_integers() {
    for (m, primes) in [(45, 1), (45, 2), (256, 3), (105, 6)] {
        let ring = ring(m);
        let poly = random(&ring, &Basis::new(0..primes), 7).into_coeff();
        let modulus = BigInt::from(1) << 128;
        let modulo = |x: BigInt| x.mod_floor(&modulus).try_into().unwrap();
        let wanted: Vec<u128> = integers(&poly.clone().into_eval()).into_iter().map(modulo).collect();
        assert_eq!(*centred_words(&poly), wanted, "m = {m}, {primes} primes");
    }
}

#[test]
fn lifting_modulo_t_agrees_with_integers() {
    for (m, primes) in [(45, 1), (45, 3), (4096, 3), (1705, 2)] {
        let ring = ring(m);
        let basis = Basis::new(0..primes);
        let poly = random(&ring, &basis, 7).into_coeff();
        let lift = IntegerLift::new(&ring, &basis);
        let (centred, product) = (lift.centred(&poly), BigInt::from(lift.product().clone()));
        for t in [2, 17, 1 << 20, (1 << 49) - 1] {
            let (residues, fraction) = lift.centred_mod(&poly, t);
            let modulo = |x: &BigInt| ((x % t + t) % t).try_into().unwrap();
            assert_eq!(residues, centred.iter().map(modulo).collect::<Vec<u64>>(), "m = {m}, t = {t}");
            let largest = centred.iter().map(|x| x.magnitude().clone()).max().unwrap();
            let exact = (BigInt::from(largest << 64) / &product).to_string().parse::<f64>().unwrap() * 2f64.powi(-64);
            assert!((fraction - exact).abs() < 2f64.powi(-40), "{fraction} is not {exact}");
        }
    }
}
