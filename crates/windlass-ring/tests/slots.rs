//! Laws of the slots over every kind of m, with p from 2 to 131071 and r up to 3, from the
//! definitions.
//!
//! `slot_i(α) = α(ζ^{1/t(i)})` is checked through its two consequences that determine it: it is a
//! ring homomorphism, and it takes X to `ζ^{1/t(i)}`. Arithmetic in the Galois ring and Φ_m are
//! computed here, naively.

use rayon::prelude::*;
use windlass_kernels::{Isa, arith};
use windlass_ring::RingError;
use windlass_ring::slots::{Hypercube, SlotRing};

/// Composite odd m, primes, prime powers, odd × power of two, powers of two.
const INDICES: [u64; 24] =
    [105, 1023, 4369, 4095, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8, 45, 31, 127, 27, 125, 12, 60, 84, 240, 3];
const PRIMES: [u64; 9] = [2, 3, 7, 17, 127, 257, 8191, 65537, 131071];

/// Every (m, p, r) with p not dividing m, r ≤ 3 and p^r < 2^45.
fn rings() -> Vec<(u64, u64, u32)> {
    let pairs = INDICES.into_iter().flat_map(|m| PRIMES.map(|p| (m, p))).filter(|&(m, p)| m % p != 0);
    let small = |&(_, p, r): &(u64, u64, u32)| p.checked_pow(r).is_some_and(|t| t >> 45 == 0);
    pairs.flat_map(|(m, p)| (1..=3).map(move |r| (m, p, r))).filter(small).collect()
}

fn random(seed: u64, length: usize, modulus: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 17) % modulus
    };
    (0..length).map(|_| next()).collect()
}

/// E = Z_t\[x\]/F with schoolbook arithmetic.
struct Naive {
    factor: Vec<u64>,
    modulus: u64,
}

impl Naive {
    fn degree(&self) -> usize {
        self.factor.len() - 1
    }

    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (d, t) = (self.degree(), self.modulus as u128);
        let mut product = vec![0u128; 2 * d];
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                product[i + j] = (product[i + j] + x as u128 * y as u128) % t;
            }
        }
        for top in (d..2 * d).rev() {
            let lead = product[top];
            for (j, &f) in self.factor.iter().enumerate() {
                product[top - d + j] = (product[top - d + j] + (t - lead) * f as u128) % t;
            }
        }
        product[..d].iter().map(|&x| x as u64).collect()
    }

    /// ζ^0, ζ^1, .. up to ζ^{m−1}, ζ = x.
    fn zeta_powers(&self, m: u64) -> Vec<Vec<u64>> {
        let (d, t) = (self.degree(), self.modulus);
        let mut power = vec![0; d];
        power[0] = 1 % t;
        let mut powers = Vec::new();
        for _ in 0..m {
            powers.push(power.clone());
            let lead = power[d - 1];
            power.rotate_right(1);
            power[0] = 0;
            for (x, &f) in power.iter_mut().zip(&self.factor) {
                *x = ((*x as u128 + (t - lead) as u128 * f as u128) % t as u128) as u64;
            }
        }
        powers
    }
}

/// Φ_m = Π (x^e − 1)^{μ(m/e)} modulo t.
fn cyclotomic(m: u64, t: u64) -> Vec<u64> {
    let primes: Vec<u64> = arith::factor(m).into_iter().map(|(q, _)| q).collect();
    let mut numerator = vec![1u64];
    let mut divisors = Vec::new();
    for subset in 0u32..1 << primes.len() {
        let chosen = primes.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1);
        let e = (m / chosen.map(|(_, q)| q).product::<u64>()) as usize;
        if subset.count_ones() % 2 == 1 {
            divisors.push(e);
            continue;
        }
        numerator.resize(numerator.len() + e, 0);
        for j in (0..numerator.len()).rev() {
            let shifted = if j >= e { numerator[j - e] } else { 0 };
            numerator[j] = (shifted + t - numerator[j]) % t;
        }
    }
    for e in divisors {
        // Exact division by x^e − 1: quotient_j = −numerator_j + quotient_{j−e}.
        for j in 0..numerator.len() - e {
            let before = if j >= e { numerator[j - e] } else { 0 };
            numerator[j] = (before + t - numerator[j]) % t;
        }
        numerator.truncate(numerator.len() - e);
    }
    numerator
}

fn check_factors(ring: &SlotRing, label: &str) {
    let t = ring.modulus().value();
    let mut product = vec![1u64];
    for slot in 0..ring.slots() {
        let factor = ring.factor(slot);
        assert_eq!((factor.len(), factor[factor.len() - 1]), (ring.degree() + 1, 1), "{label}: monic of degree d");
        let mut next = vec![0u128; product.len() + factor.len() - 1];
        for (i, &x) in product.iter().enumerate().filter(|(_, x)| **x != 0) {
            for (j, &y) in factor.iter().enumerate() {
                next[i + j] = (next[i + j] + x as u128 * y as u128) % t as u128;
            }
        }
        product = next.into_iter().map(|x| x as u64).collect();
    }
    assert_eq!(product, cyclotomic(ring.m(), t), "{label}: factors multiply to the cyclotomic polynomial");
}

fn check_isomorphism(ring: &SlotRing, naive: &Naive, zeta: &[Vec<u64>], label: &str) {
    let (quotient, d, t) = (ring.quotient(), ring.degree(), naive.modulus);
    let (n, m) = (quotient.n(), quotient.m());
    let mut x = vec![0; n];
    x[1] = 1;
    let x = quotient.from_power_basis(&x);
    for (slot, image) in ring.decode(&x).unwrap().chunks(d).enumerate() {
        let exponent = ring.hypercube().evaluation_exponent(slot);
        assert_eq!(image, zeta[exponent as usize], "{label}: X in slot {slot}");
    }
    // A power of ζ that generates E is no integer unless all of E is.
    let refused = ring.decode_integers(&x);
    assert_eq!(matches!(refused, Err(RingError::NotAnInteger { .. })), d > 1, "{label}");
    let (a, b) = (random(m + 7, n, t), random(m + 8, n, t));
    let (slots_a, slots_b) = (ring.decode(&a).unwrap(), ring.decode(&b).unwrap());
    assert_eq!(ring.encode(&slots_a).unwrap(), a, "{label}: encode after decode");
    let (sum, product) = (ring.decode(&quotient.add(&a, &b)).unwrap(), ring.decode(&quotient.mul(&a, &b)).unwrap());
    for (slot, (x, y)) in slots_a.chunks(d).zip(slots_b.chunks(d)).enumerate() {
        assert_eq!(product[slot * d..][..d], naive.mul(x, y), "{label}: product in slot {slot}");
        assert!((0..d).all(|k| sum[slot * d + k] == (x[k] + y[k]) % t), "{label}: sum in slot {slot}");
    }
    let integers = random(m + 9, ring.slots(), t);
    let encoded = ring.encode_integers(&integers).unwrap();
    assert_eq!(ring.decode_integers(&encoded).unwrap(), integers, "{label}: integers come back");
    let padded: Vec<u64> = integers.iter().flat_map(|&x| std::iter::once(x).chain((1..d).map(|_| 0))).collect();
    assert_eq!(ring.decode(&encoded).unwrap(), padded, "{label}: integers are slots");
}

/// θ_u takes slot e to the slot e' with t(e)·u = t(e')·p^k, and applies σ^k.
fn check_automorphisms(ring: &SlotRing, zeta: &[Vec<u64>], label: &str) {
    let (quotient, cube, d) = (ring.quotient(), ring.hypercube(), ring.degree());
    let (m, p, t) = (quotient.m(), cube.prime(), quotient.modulus().value());
    let a = random(m + 10, quotient.n(), t);
    let slots = ring.decode(&a).unwrap();
    let units = cube.dimensions().iter().map(|dimension| dimension.generator).chain([p % m, m - 1]);
    for u in units.chain((m / 2..m).filter(|&u| arith::gcd(u, m) == 1).take(1)) {
        let moved = ring.decode(&quotient.automorphism(&a, u).unwrap()).unwrap();
        for (slot, value) in slots.chunks(d).enumerate() {
            let (to, k) = cube.locate(cube.element(slot) * u % m).expect("a unit");
            let scale = arith::pow_mod(p % m, k as u64, m);
            let mut conjugate = vec![0u64; d];
            for (j, &x) in value.iter().enumerate() {
                let power = &zeta[(j as u64 * scale % m) as usize];
                conjugate.iter_mut().zip(power).for_each(|(sum, &y)| {
                    *sum = ((*sum as u128 + x as u128 * y as u128) % t as u128) as u64;
                });
            }
            assert_eq!(moved[to * d..][..d], conjugate, "{label}: slot {slot} under {u}");
        }
    }
}

fn check_hypercube(cube: &Hypercube, label: &str) {
    let m = cube.m();
    let mut seen = vec![false; m as usize];
    for slot in 0..cube.slots() {
        let coordinates = cube.coordinates(slot);
        assert_eq!(cube.index(&coordinates), slot, "{label}");
        let element =
            coordinates.iter().enumerate().fold(1 % m, |t, (s, &e)| t * cube.generator_power(s, e as i64) % m);
        assert_eq!(element, cube.element(slot) % m, "{label}: the element of slot {slot}");
        for k in 0..cube.slot_degree() {
            let t = element * arith::pow_mod(cube.prime() % m.max(2), k as u64, m) % m;
            assert!(!std::mem::replace(&mut seen[t as usize], true), "{label}: {t} is met twice");
            assert_eq!(cube.locate(t), Some((slot, k)), "{label}");
        }
        for (s, dimension) in cube.dimensions().iter().enumerate() {
            assert_eq!(cube.coordinate(slot, s), coordinates[s], "{label}");
            assert_eq!(cube.rotated(cube.rotated(slot, s, 3), s, -3), slot, "{label}");
            assert_eq!(cube.rotated(slot, s, dimension.size as i64), slot, "{label}");
        }
    }
    let units = seen.iter().filter(|&&seen| seen).count() as u64;
    assert_eq!(units, arith::totient(m), "{label}: every unit is met");
}

#[test]
fn laws_of_slots_for_every_kind_of_ring() {
    let rings = rings();
    assert!(rings.len() > 300, "{}", rings.len());
    rings.into_par_iter().for_each(|(m, p, r)| {
        let label = format!("m = {m}, p = {p}, r = {r}");
        let ring = SlotRing::new(m, p, r, Isa::best()).unwrap_or_else(|error| panic!("{label}: {error}"));
        assert_eq!((ring.slots() * ring.degree()) as u64, arith::totient(m), "{label}");
        let modulus = ring.modulus().value();
        let naive = Naive { factor: ring.galois().defining_polynomial().to_vec(), modulus };
        let zeta = naive.zeta_powers(m);
        check_hypercube(ring.hypercube(), &label);
        check_factors(&ring, &label);
        check_isomorphism(&ring, &naive, &zeta, &label);
        check_automorphisms(&ring, &zeta, &label);
    });
}

/// Another set of generators with the same sizes: each times a power of p, so that dimensions turn
/// bad where they can.
#[test]
fn laws_of_slots_with_given_generators() {
    let mut bad = 0;
    for (m, p, r) in [(105, 2, 3), (1023, 2, 1), (255, 2, 2), (64, 3, 2), (45, 7, 1), (91, 3, 2), (84, 5, 1)] {
        let automatic = Hypercube::automatic(m, p).unwrap();
        let generators: Vec<u64> = automatic.dimensions().iter().map(|s| s.generator * p % m).collect();
        let cube = Hypercube::with_generators(m, p, &generators).unwrap();
        bad += cube.dimensions().iter().filter(|dimension| !dimension.good).count();
        let label = format!("m = {m}, p = {p}, generators {generators:?}");
        check_hypercube(&cube, &label);
        let ring = SlotRing::with_hypercube(cube, r, Isa::best()).unwrap();
        let modulus = ring.modulus().value();
        let naive = Naive { factor: ring.galois().defining_polynomial().to_vec(), modulus };
        let zeta = naive.zeta_powers(m);
        check_factors(&ring, &label);
        check_isomorphism(&ring, &naive, &zeta, &label);
        check_automorphisms(&ring, &zeta, &label);
    }
    assert!(bad >= 3, "{bad} bad dimensions");
}

#[test]
fn instruction_sets_agree_on_slots() {
    for (m, p, r) in [(105, 2, 3), (64, 17, 2), (240, 7, 1), (127, 8191, 2)] {
        let rings: Vec<SlotRing> =
            Isa::available().into_iter().map(|isa| SlotRing::new(m, p, r, isa).unwrap()).collect();
        let t = rings[0].modulus().value();
        let (a, b) = (random(m, rings[0].n(), t), random(p, rings[0].n(), t));
        let product = rings[0].quotient().mul(&a, &b);
        let slots = rings[0].decode(&a).unwrap();
        for ring in &rings {
            assert_eq!(ring.quotient().mul(&a, &b), product);
            assert_eq!(ring.decode(&a).unwrap(), slots);
            assert_eq!(ring.encode(&slots).unwrap(), a);
        }
    }
}

#[test]
fn impossible_rings_and_values_are_refused() {
    let new = |m, p, r| SlotRing::new(m, p, r, Isa::best());
    assert!(matches!(new(105, 7, 1), Err(RingError::PrimeDividesIndex { prime: 7, m: 105 })));
    assert!(matches!(new(105, 2, 0), Err(RingError::BadPrimePower { .. })));
    assert!(matches!(new(105, 131071, 3), Err(RingError::BadPrimePower { .. })));
    assert!(matches!(new(64, 9, 1), Err(RingError::BadPrimePower { .. })));
    assert!(matches!(new(1, 3, 1), Err(RingError::Kernel(_))));
    assert!(matches!(new(1 << 30, 3, 1), Err(RingError::Kernel(_))));
    let ring = new(105, 2, 2).unwrap();
    let (l, d) = (ring.slots(), ring.degree());
    assert!(matches!(ring.encode(&vec![0; l * d - 1]), Err(RingError::WrongLength { .. })));
    assert!(matches!(ring.encode(&vec![4; l * d]), Err(RingError::NotCanonical { .. })));
    assert!(matches!(ring.encode_integers(&vec![0; l + 1]), Err(RingError::WrongLength { .. })));
    assert!(matches!(ring.decode(&[]), Err(RingError::WrongLength { .. })));
    assert!(matches!(ring.quotient().automorphism(&vec![0; 48], 21), Err(RingError::NotAnAutomorphism { .. })));
}
