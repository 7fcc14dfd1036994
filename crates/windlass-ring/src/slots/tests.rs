//! Laws of the slots, for every kind of ring.

use windlass_kernels::{Isa, arith};

use super::{Hypercube, SlotRing};
use crate::error::RingError;

fn random(seed: u64, length: usize, modulus: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 19) % modulus
    };
    (0..length).map(|_| next()).collect()
}

fn small_rings() -> impl Iterator<Item = (u64, u64, u32)> {
    let indices = [105, 1023, 4369, 4095, 4, 64, 256, 1024, 45, 5, 31, 121, 3];
    let all = indices.into_iter().flat_map(|m| [2, 3, 7, 17, 127].map(|p| (m, p)));
    all.filter(|&(m, p)| m % p != 0).enumerate().map(|(index, (m, p))| (m, p, index as u32 % 3 + 1))
}

/// By the definition: Σ a_j ζ^{h u_j} over the powerful basis elements X^{u_j}, via powers of ζ.
fn slot_by_definition(ring: &SlotRing, a: &[u64], slot: usize) -> Vec<u64> {
    let h = ring.hypercube().evaluation_exponent(slot);
    let (m, galois, modulus) = (ring.quotient().m(), ring.galois(), ring.quotient().modulus());
    let power = ring.quotient().to_cyclic(a);
    let mut sum = galois.constant(0);
    let step = galois.zeta_power(h);
    let mut zeta = galois.constant(1);
    for u in 0..m as usize {
        let term: Vec<u64> = zeta.iter().map(|&x| modulus.mul(x, power[u])).collect();
        sum = galois.add(&sum, &term);
        zeta = galois.mul(&zeta, &step);
    }
    sum
}

#[test]
fn another_precision_has_the_same_roots() {
    for (m, p, r, other) in [(45, 2, 1, 6), (64, 7, 3, 1), (64, 17, 2, 3), (91, 3, 4, 2), (13, 2, 3, 5)] {
        let ring = SlotRing::new(m, p, r, Isa::best()).unwrap();
        let same = SlotRing::new(m, p, other, Isa::best()).unwrap();
        let derived = ring.with_exponent(other, Isa::best()).unwrap();
        assert_eq!(derived.galois().defining_polynomial(), same.galois().defining_polynomial(), "m = {m}, p = {p}");
        assert_eq!(derived.quotient().modulus().exponent(), other);
        let slots: Vec<u64> = (0..derived.slots() * derived.degree()).map(|i| i as u64 % p).collect();
        assert_eq!(derived.encode(&slots), same.encode(&slots), "m = {m}, p = {p}");
    }
    assert!(SlotRing::new(45, 2, 1, Isa::best()).unwrap().with_exponent(46, Isa::best()).is_err());
}

#[test]
fn slots_are_a_ring_isomorphism() {
    for (m, p, r) in small_rings() {
        let ring = SlotRing::new(m, p, r, Isa::best()).unwrap();
        let (quotient, galois, value) = (ring.quotient(), ring.galois(), ring.quotient().modulus().value());
        let label = format!("m = {m}, p = {p}, r = {r}");
        let (n, d) = (quotient.n(), ring.degree());
        let (a, b) = (random(m + p, n, value), random(m * p, n, value));
        let (slots_a, slots_b) = (ring.decode(&a).unwrap(), ring.decode(&b).unwrap());
        assert_eq!(ring.encode(&slots_a).unwrap(), a, "{label}");
        let last = ring.slots() - 1;
        assert_eq!(slots_a[last * d..], slot_by_definition(&ring, &a, last), "{label}");
        let sum = ring.decode(&quotient.add(&a, &b)).unwrap();
        let product = ring.decode(&quotient.mul(&a, &b)).unwrap();
        for (slot, (x, y)) in slots_a.chunks(d).zip(slots_b.chunks(d)).enumerate() {
            assert_eq!(sum[slot * d..][..d], galois.add(x, y), "{label}, slot {slot}");
            assert_eq!(product[slot * d..][..d], galois.mul(x, y), "{label}, slot {slot}");
        }
        let integers = random(7, ring.slots(), value);
        let encoded = ring.encode_integers(&integers).unwrap();
        assert_eq!(ring.decode_integers(&encoded).unwrap(), integers, "{label}");
        if d > 1 {
            assert!(matches!(ring.decode_integers(&a), Err(RingError::NotAnInteger { .. })), "{label}");
        }
    }
}

#[test]
fn the_factors_multiply_to_the_cyclotomic_polynomial() {
    for (m, p, r) in small_rings() {
        let ring = SlotRing::new(m, p, r, Isa::best()).unwrap();
        let modulus = ring.quotient().modulus();
        let mut product = vec![1u64];
        for slot in 0..ring.slots() {
            let factor = ring.factor(slot);
            let mut next = vec![0u64; product.len() + factor.len() - 1];
            for (i, &x) in product.iter().enumerate() {
                for (j, &y) in factor.iter().enumerate() {
                    next[i + j] = modulus.add(next[i + j], modulus.mul(x, y));
                }
            }
            product = next;
        }
        let expected: Vec<u64> = cyclotomic(m).into_iter().map(|x| modulus.reduce_i64(x)).collect();
        assert_eq!(product, expected, "m = {m}, p = {p}, r = {r}");
    }
}

/// Φ_m by dividing x^m − 1 by all Φ_e, e | m, e < m, over the integers.
fn cyclotomic(m: u64) -> Vec<i64> {
    let mut rest = vec![0i64; m as usize + 1];
    (rest[0], rest[m as usize]) = (-1, 1);
    for divisor in (1..m).filter(|e| m % e == 0).map(cyclotomic) {
        let degree = divisor.len() - 1;
        let mut quotient = vec![0; rest.len() - degree];
        for top in (degree..rest.len()).rev() {
            let factor = rest[top];
            quotient[top - degree] = factor;
            (0..=degree).for_each(|j| rest[top - degree + j] -= factor * divisor[j]);
        }
        rest = quotient;
    }
    rest
}

#[test]
fn rotations_are_automorphisms_and_masks() {
    // Times p: the same quotient group, but no longer of order D_s in Z_m^*.
    let good = Hypercube::automatic(1023, 2).unwrap();
    let generators: Vec<u64> = good.dimensions().iter().map(|dimension| 2 * dimension.generator % 1023).collect();
    let bad = Hypercube::with_generators(1023, 2, &generators);
    assert!(bad.as_ref().unwrap().dimensions().iter().any(|dimension| !dimension.good));
    let cubes = [(105, 2), (1023, 2), (4369, 2), (4095, 2), (256, 7), (45, 2)].map(|(m, p)| Hypercube::automatic(m, p));
    for cube in cubes.into_iter().chain([bad]) {
        let ring = SlotRing::with_hypercube(cube.unwrap(), 2, Isa::best()).unwrap();
        let (cube, quotient, d) = (ring.hypercube(), ring.quotient(), ring.degree());
        let a = random(cube.m(), quotient.n(), quotient.modulus().value());
        let slots = ring.decode(&a).unwrap();
        for (s, dimension) in cube.dimensions().iter().enumerate() {
            let size = dimension.size;
            for i in [0, 1, size - 1] {
                let mut expected = vec![0; slots.len()];
                for slot in 0..ring.slots() {
                    let to = cube.rotated(slot, s, i as i64);
                    expected[to * d..][..d].copy_from_slice(&slots[slot * d..][..d]);
                }
                let psi = cube.generator_power(s, i as i64);
                let star = cube.generator_power(s, i as i64 - size as i64);
                if dimension.good {
                    let rotated = quotient.automorphism(&a, psi).unwrap();
                    assert_eq!(ring.decode(&rotated).unwrap(), expected, "Eq. (1), m = {}", cube.m());
                }
                let apply = |x: &[u64], t| quotient.automorphism(x, t).unwrap();
                let mask = ring.mask(|slot| cube.coordinate(slot, s) < size - i);
                let masked = quotient.mul(&mask, &a);
                let rotated = quotient.add(&apply(&masked, psi), &apply(&quotient.sub(&a, &masked), star));
                assert_eq!(ring.decode(&rotated).unwrap(), expected, "Eq. (2), m = {}", cube.m());
                let mask = ring.mask(|slot| cube.coordinate(slot, s) >= i);
                let difference = quotient.sub(&apply(&a, psi), &apply(&a, star));
                let rotated = quotient.add(&quotient.mul(&mask, &difference), &apply(&a, star));
                assert_eq!(ring.decode(&rotated).unwrap(), expected, "Eq. (3), m = {}", cube.m());
            }
        }
    }
}

#[test]
fn frobenius_traces_inverses_and_linearised_maps() {
    for (m, p, r) in [(105, 2, 3), (1023, 2, 1), (64, 3, 2), (45, 7, 2), (17, 2, 3), (105, 17, 2), (35, 3, 1)] {
        let ring = SlotRing::new(m, p, r, Isa::best()).unwrap();
        let (quotient, galois, value, d) =
            (ring.quotient(), ring.galois(), ring.quotient().modulus().value(), ring.degree());
        let a = random(m ^ p, quotient.n(), value);
        let slots = ring.decode(&a).unwrap();
        let conjugate = ring.decode(&quotient.automorphism(&a, p).unwrap()).unwrap();
        for (x, y) in slots.chunks(d).zip(conjugate.chunks(d)) {
            assert_eq!(galois.frobenius(x, 1), y);
            let orbit = (0..d).fold(galois.constant(0), |sum, k| galois.add(&sum, &galois.frobenius(x, k)));
            assert_eq!(orbit, galois.constant(galois.trace(x)));
        }
        assert_eq!(galois.frobenius(&galois.zeta_power(1), 1), galois.zeta_power(p));
        let mut unit = galois.zeta_power(3);
        unit[0] = quotient.modulus().add(unit[0], p % value);
        assert_eq!(galois.mul(&unit, &galois.inverse(&unit).unwrap()), galois.constant(1));
        assert_eq!(galois.inverse(&galois.constant(p)), Err(RingError::NotInvertible));
        let constant = ring.encode(&unit.repeat(ring.slots())).unwrap();
        assert_eq!(quotient.mul(&constant, &ring.inverse(&constant).unwrap()), quotient.constant(1));
        let images: Vec<Vec<u64>> = (0..d).map(|i| random(i as u64 + 5, d, value)).collect();
        let lambda = galois.linearised_polynomial(&images);
        let eta = random(99, d, value);
        let modulus = quotient.modulus();
        let expected = images.iter().zip(&eta).fold(galois.constant(0), |sum, (image, &x)| {
            galois.add(&sum, &image.iter().map(|&y| modulus.mul(x, y)).collect::<Vec<u64>>())
        });
        // Σ_j λ_j σ^j(η).
        let image = lambda.iter().enumerate().fold(galois.constant(0), |sum, (j, constant)| {
            galois.add(&sum, &galois.mul(constant, &galois.frobenius(&eta, j)))
        });
        assert_eq!(image, expected, "m = {m}, p = {p}, r = {r}");
    }
}

#[test]
fn powerful_and_power_bases_agree() {
    for (m, p, r) in [(105, 2, 2), (45, 2, 3), (64, 17, 1), (60, 7, 2), (4095, 2, 1)] {
        let ring = super::QuotientRing::new(m, p, r, Isa::best()).unwrap();
        let a = random(m, ring.n(), ring.modulus().value());
        let power = ring.to_power_basis(&a);
        assert_eq!(power.len(), ring.n());
        assert_eq!(ring.from_power_basis(&power), a);
        let mut x = vec![0; ring.n()];
        x[1] = 1;
        assert_eq!(ring.to_power_basis(&ring.from_power_basis(&x)), x);
        // θ_t on the power basis is the substitution X ↦ X^t.
        let t = (2..m).find(|&t| arith::gcd(t, m) == 1).unwrap();
        let mut substituted = vec![0; m as usize];
        power.iter().enumerate().for_each(|(j, &c)| substituted[j * t as usize % m as usize] += c);
        let substituted: Vec<u64> = substituted.into_iter().map(|c| ring.modulus().reduce(c)).collect();
        assert_eq!(ring.automorphism(&a, t).unwrap(), ring.from_power_basis(&substituted));
    }
}

#[test]
fn full_size_rings_encode_and_decode() {
    let cube = Hypercube::with_generators(18631, 2, &[17, 1177]).unwrap();
    let rings = [SlotRing::with_hypercube(cube, 3, Isa::best()), SlotRing::new(32768, 65537, 1, Isa::best())];
    for ring in rings.map(Result::unwrap) {
        let (quotient, cube, d) = (ring.quotient(), ring.hypercube(), ring.degree());
        let slots = random(3, ring.slots() * d, quotient.modulus().value());
        let a = ring.encode(&slots).unwrap();
        assert_eq!(ring.decode(&a).unwrap(), slots);
        let rotated = ring.decode(&quotient.automorphism(&a, cube.generator_power(0, 5)).unwrap()).unwrap();
        assert!(cube.dimensions()[0].good);
        for slot in 0..ring.slots() {
            let to = cube.rotated(slot, 0, 5);
            assert_eq!(rotated[to * d..][..d], slots[slot * d..][..d]);
        }
    }
}
