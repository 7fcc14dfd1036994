//! BGV and BFV on the engine against products and automorphisms of integer polynomials.

use std::sync::Arc;
use windlass::Arithmetic;

use num_traits::ToPrimitive;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::plaintext::Plaintext;
use windlass::schemes::{Ciphertext, Encryptor, Engine, Scheme};
use windlass::{Client, Content, Error, Evaluator, Server, Switching};
use windlass_ring::rns::IntegerLift;
use windlass_ring::slots::SlotRing;
use windlass_ring::{Basis, Poly, Ring};
use windlass_rlwe::{RlweSpec, SecretDistribution};

use crate::fixture::{SCHEMES, chain, context, keys, random};

/// Both sides, and who encrypts with the public key.
struct Setup {
    client: Client,
    server: Server,
    encryptor: Encryptor,
    rng: ChaCha20Rng,
}

fn setup(m: u64, p: u64, r: u32, scheme: Scheme, secret: SecretDistribution) -> Setup {
    let spec = RlweSpec { secret, ..chain(m, &[50, 45, 40, 45, 50, 45], &[50, 50]) };
    let context = context(scheme, (p, r), spec);
    let (client, server) = context.generate_keys_from_seed([&keys(automorphisms(m))], m).unwrap();
    Setup { encryptor: client.encryptor().unwrap(), client, server, rng: ChaCha20Rng::from_seed([m as u8; 32]) }
}

fn automorphisms(m: u64) -> Vec<u64> {
    (2..m).filter(|&t| windlass_ring::kernels::arith::gcd(t, m) == 1).take(2).chain([m - 1]).collect()
}

impl Setup {
    fn slot_ring(&self) -> &Arc<SlotRing> {
        self.client.context().slot_ring()
    }

    fn ring(&self) -> &Arc<Ring> {
        self.client.context().rlwe().ring()
    }

    fn engine(&self) -> &Engine {
        self.server.engine()
    }

    fn encrypt(&mut self, plaintext: &Plaintext) -> Ciphertext {
        self.encryptor.encrypt(plaintext, &mut self.rng).unwrap()
    }

    fn decrypt(&self, ct: &Ciphertext) -> Vec<u64> {
        self.client.decrypt_plaintext(ct).unwrap().into_coefficients()
    }

    /// An integer computation in R, reduced modulo p^r.
    fn oracle(
        &self,
        f: impl Fn(&[Poly<windlass_ring::Eval>]) -> Poly<windlass_ring::Eval>,
        x: &[&Plaintext],
    ) -> Vec<u64> {
        let basis = Basis::new(0..3);
        let lifted: Vec<_> = x
            .iter()
            .map(|x| {
                let signed: Vec<i64> = x.coefficients().iter().map(|&c| c as i64).collect();
                Poly::from_signed(self.ring(), &basis, &signed).into_eval()
            })
            .collect();
        IntegerLift::new(self.ring(), &basis)
            .centred_mod(&f(&lifted).into_coeff(), self.slot_ring().modulus().value())
            .0
    }
}

/// (m, p, r): composite odd, prime power, odd × power of two, powers of two.
const RINGS: [(u64, u64, u32); 8] =
    [(105, 2, 1), (45, 2, 3), (27, 7, 2), (60, 17, 1), (64, 3, 2), (256, 257, 1), (128, 65537, 1), (31, 127, 2)];

#[test]
fn arithmetic_matches_the_plaintext_ring() {
    for (m, p, r) in RINGS {
        for scheme in SCHEMES {
            let mut s = setup(m, p, r, scheme, SecretDistribution::Ternary);
            let [x, y] = [1, 2].map(|seed| random(s.slot_ring(), Content::Elements, seed));
            let (a, b) = (s.encrypt(&x), s.encrypt(&y));
            assert_eq!(s.decrypt(&a), x.coefficients(), "{scheme} m = {m}");
            let check = |ct: Result<Ciphertext, Error>, expected: Vec<u64>, what: &str| {
                let ct = ct.unwrap_or_else(|e| panic!("{what}, {scheme} m = {m} p = {p}: {e}"));
                assert_eq!(s.decrypt(&ct), expected, "{what}, {scheme} m = {m} p = {p}");
                let exact = s.client.decryptor().exact_noise_leaks_the_secret_key(&ct).unwrap();
                assert!(exact <= ct.log2_noise() + 2.5, "{what}: exact {exact}, bound {}", ct.log2_noise());
            };
            let e = s.engine();
            let sum = |v: &[Poly<_>]| {
                let mut sum = v[0].clone();
                sum.add_assign(&v[1]);
                sum
            };
            let difference = |v: &[Poly<_>]| {
                let mut difference = v[0].clone();
                difference.sub_assign(&v[1]);
                difference
            };
            let product = |v: &[Poly<_>]| v[0].mul(&v[1]);
            let both = [&x, &y];
            check(e.add(&a, &b), s.oracle(sum, &both), "add");
            check(e.sub(&a, &b), s.oracle(difference, &both), "sub");
            check(e.add_plain(&a, &y), s.oracle(sum, &both), "add_plain");
            check(e.sub_plain(&a, &y), s.oracle(difference, &both), "sub_plain");
            check(e.multiply(&a, &b), s.oracle(product, &both), "multiply");
            check(e.square(&a), s.oracle(product, &[&x, &x]), "square");
            let constant = e.prepare(&y).unwrap();
            check(e.multiply_constant(&a, &constant), s.oracle(product, &both), "multiply_constant");
            let scale = |v: &[Poly<_>]| {
                let mut out = v[0].clone();
                out.mul_scalar_assign(|q| q.reduce_i64(-5));
                out
            };
            check(e.multiply_scalar(&a, -5), s.oracle(scale, &[&x]), "multiply_scalar");
            check(e.switch_modulus(&a, 2), x.coefficients().to_vec(), "switch_modulus");
            // Different levels and factors meet.
            let deep = e.multiply(&e.multiply(&a, &b).unwrap(), &a).unwrap();
            let mixed = |v: &[Poly<_>]| {
                let mut out = v[0].mul(&v[1]).mul(&v[0]);
                out.add_assign(&v[1]);
                out
            };
            check(e.add(&deep, &b), s.oracle(mixed, &both), "add across levels");
            // The other scheme and back.
            let other = if scheme == Scheme::Bgv { Scheme::Bfv } else { Scheme::Bgv };
            let there = deep.to_scheme(other);
            assert!(matches!(s.client.decrypt(&there), Err(Error::ContextMismatch { .. })));
            check(e.add(&there.to_scheme(scheme), &b), s.oracle(mixed, &both), "there and back");
        }
    }
}

/// Zero times a ciphertext, with a plaintext added, is (m, 0): rounding it is not random, and every
/// coefficient may be rounded towards one embedding.
#[test]
fn known_ciphertexts_round_within_their_bound() {
    for (m, weight) in [(1 << 13, 1), (1 << 14, 2), (4095, 1)] {
        for scheme in SCHEMES {
            let mut s = setup(m, 65537, 1, scheme, SecretDistribution::Sparse { weight });
            let ring = Arc::clone(s.ring());
            let x = random(s.slot_ring(), Content::Elements, 1);
            let ct = s.encrypt(&x);
            let zero = s.engine().multiply_scalar(&ct, 0).unwrap();
            // Signs of the real parts of one embedding: what is rounded adds up there.
            for constant in [1u64, 300, 20_000, 32_768] {
                let sign = |j: usize| {
                    let exponents = ring.shape().axes().iter().rev().scan(j, |rest, axis| {
                        let digit = *rest % axis.dim;
                        *rest /= axis.dim;
                        Some(digit as f64 / axis.index as f64)
                    });
                    (std::f64::consts::TAU * exponents.sum::<f64>()).cos() >= 0.0
                };
                let coefficient = |j| if sign(j) { constant } else { 65_537 - constant };
                let plain = Plaintext::new(s.slot_ring(), (0..ring.n()).map(coefficient).collect()).unwrap();
                let sum = s.engine().add_plain(&zero, &plain).unwrap();
                for level in [4, 2, 1] {
                    let small = s.engine().switch_modulus(&sum, level).unwrap();
                    let mut epsilon = s.client.secret_key().phase(small.parts());
                    if scheme == Scheme::Bfv {
                        epsilon.mul_scalar_assign(|q| q.reduce(65_537));
                    }
                    let lift = IntegerLift::new(&ring, epsilon.basis());
                    let centred = lift.centred(&epsilon.into_coeff());
                    let centred: Vec<i64> = centred.iter().map(|x| x.to_i64().unwrap()).collect();
                    let norm = windlass_ring::norm::canonical_norm(ring.shape(), &centred).log2();
                    assert!(
                        norm <= small.log2_noise(),
                        "{scheme}, m = {m}, {constant}: {norm} > {}",
                        small.log2_noise()
                    );
                    assert_eq!(s.decrypt(&small), plain.coefficients());
                }
            }
        }
    }
}

#[test]
fn automorphisms_match_and_hoisting_agrees() {
    for (m, p, r) in RINGS {
        for scheme in SCHEMES {
            let mut s = setup(m, p, r, scheme, SecretDistribution::Sparse { weight: 8 });
            let [x, y] = [1, 2].map(|seed| random(s.slot_ring(), Content::Elements, seed));
            let a = s.encrypt(&x);
            let e = s.engine();
            let [t, u, _] = automorphisms(m)[..] else { panic!("three keys") };
            let theta = s.ring().automorphism(t).unwrap();
            let expected = s.oracle(|v| v[0].automorphism(&theta), &[&x]);
            assert_eq!(s.decrypt(&e.automorphism(&a, t).unwrap()), expected, "{scheme} m = {m}");
            let hoisted = e.hoist(&a).unwrap();
            let extended = e.hoisted_automorphism(&hoisted, t).unwrap();
            assert_eq!(s.decrypt(&e.mod_down(extended.clone()).unwrap()), expected, "hoisted, {scheme} m = {m}");
            // y·θ_t(x) + x in base QP, then θ_u of it.
            let constant = e.prepare(&y).unwrap();
            let ones = {
                let mut one = vec![0; s.slot_ring().n()];
                one[0] = 1;
                e.prepare(&Plaintext::new(s.slot_ring(), one).unwrap()).unwrap()
            };
            let plain = e.hoisted_automorphism(&hoisted, 1).unwrap();
            let row = vec![(0, Some(&constant)), (1, Some(&ones))];
            let mut sum = e.dot_extended(&[&extended, &plain], &[row]).unwrap().swap_remove(0);
            let theta_u = s.ring().automorphism(u).unwrap();
            let inner = |v: &[Poly<_>]| {
                let mut inner = v[0].automorphism(&theta).mul(&v[1]);
                inner.add_assign(&v[0]);
                inner
            };
            let outer = e.extended_automorphism(&sum, u).unwrap();
            let expected = s.oracle(|v| inner(v).automorphism(&theta_u), &[&x, &y]);
            assert_eq!(s.decrypt(&e.mod_down(outer.clone()).unwrap()), expected, "giant step, {scheme} m = {m}");
            e.add_extended_assign(&mut sum, &outer).unwrap();
            let expected = s.oracle(
                |v| {
                    let mut total = inner(v).automorphism(&theta_u);
                    total.add_assign(&inner(v));
                    total
                },
                &[&x, &y],
            );
            assert_eq!(s.decrypt(&e.mod_down(sum).unwrap()), expected, "accumulated, {scheme} m = {m}");
            let missing = (2..m).find(|&t| !e.has_key(t) && s.ring().automorphism(t).is_ok());
            if let Some(t) = missing {
                assert!(matches!(e.automorphism(&a, t), Err(Error::MissingGaloisKey { element, .. }) if element == t));
            }
        }
    }
}

#[test]
fn exhausted_capacity_is_an_error_never_a_wrong_answer() {
    for scheme in SCHEMES {
        let mut s = setup(256, 257, 1, scheme, SecretDistribution::Ternary);
        let x = random(s.slot_ring(), Content::Elements, 1);
        let mut ct = s.encrypt(&x);
        let mut expected = x.clone();
        let mut depth = 0;
        loop {
            match s.engine().square(&ct) {
                Ok(next) => {
                    expected = Plaintext::new(s.slot_ring(), s.oracle(|v| v[0].mul(&v[0]), &[&expected])).unwrap();
                    assert_eq!(s.decrypt(&next), expected.coefficients(), "depth {depth}");
                    ct = next;
                    depth += 1;
                }
                Err(Error::CapacityExhausted { needed_bits, left_bits, .. }) => {
                    assert!(needed_bits > left_bits);
                    break;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(depth >= 5, "{scheme}: {depth} squarings in 275 bits");
    }
}

#[test]
fn exact_division_by_p() {
    for scheme in SCHEMES {
        for (m, p, r) in [(105, 2, 3), (64, 3, 2), (31, 127, 2)] {
            let mut s = setup(m, p, r, scheme, SecretDistribution::Ternary);
            let x = random(s.slot_ring(), Content::Elements, 1);
            let multiples: Vec<u64> = x.coefficients().iter().map(|c| c / p * p).collect();
            let ct = s.encrypt(&Plaintext::new(s.slot_ring(), multiples.clone()).unwrap());
            let quotient = s.engine().divide_by_p(&ct).unwrap();
            assert_eq!(quotient.exponent(), r - 1);
            let expected: Vec<u64> = multiples.iter().map(|c| c / p).collect();
            assert_eq!(s.decrypt(&quotient), expected, "{scheme} m = {m}");
            let squared = s.engine().square(&quotient).unwrap();
            let modulus = p.pow(r - 1);
            let quotient = Plaintext::new(s.slot_ring(), expected).unwrap();
            let expected: Vec<u64> = s.oracle(|v| v[0].mul(&v[0]), &[&quotient]).iter().map(|c| c % modulus).collect();
            assert_eq!(s.decrypt(&squared), expected, "{scheme} m = {m}");
        }
    }
}
