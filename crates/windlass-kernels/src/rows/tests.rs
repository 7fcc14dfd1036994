use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::*;
use crate::modulus::find_primes;

/// Edge values first, then random ones below `limit`.
fn row(length: usize, limit: u64, seed: u64) -> Vec<u64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let edges = [limit - 1, 0, 1, limit - 1, limit / 2, limit / 2 + 1];
    (0..length).map(|j| if j < 6 { edges[(j + seed as usize) % 6] } else { rng.next_u64() % limit }).collect()
}

fn moduli() -> Vec<Modulus> {
    let mut moduli: Vec<Modulus> =
        [25, 30, 40, 49, 50].into_iter().map(|bits| find_primes(1 << 12, bits, 1, &[]).unwrap()[0]).collect();
    moduli.extend([3, 65537].map(|q| Modulus::new(q).unwrap()));
    moduli
}

#[test]
fn every_isa_matches_exact_integers() {
    for isa in Isa::available() {
        for q in moduli() {
            for length in [1, 7, 8, 67, 256] {
                let value = q.value() as u128;
                let (x, y, z) = (row(length, q.value(), 1), row(length, q.value(), 2), row(length, q.value(), 3));
                let scalar = q.value() - 1;
                let check = |what: &str, got: &[u64], expected: &dyn Fn(usize) -> u128| {
                    for (j, &got) in got.iter().enumerate() {
                        assert_eq!(got as u128, expected(j) % value, "{what} {} q = {value} column {j}", isa.name());
                    }
                };
                let run = |f: &dyn Fn(&mut [u64])| {
                    let mut out = x.clone();
                    f(&mut out);
                    out
                };
                let at = |row: &[u64], j: usize| row[j] as u128;
                check("add", &run(&|o| add_assign(isa, q, o, &y)), &|j| at(&x, j) + at(&y, j));
                check("sub", &run(&|o| sub_assign(isa, q, o, &y)), &|j| at(&x, j) + value - at(&y, j));
                check("neg", &run(&|o| neg_assign(isa, q, o)), &|j| value - at(&x, j));
                check("mul_assign", &run(&|o| mul_assign(isa, q, o, &y)), &|j| at(&x, j) * at(&y, j));
                check("mul", &run(&|o| mul(isa, q, o, &y, &z)), &|j| at(&z, j) * at(&y, j));
                check("mul_add", &run(&|o| mul_add_assign(isa, q, o, &y, &z)), &|j| at(&x, j) + at(&z, j) * at(&y, j));
                check("scale", &run(&|o| mul_scalar_assign(isa, q, o, scalar)), &|j| at(&x, j) * scalar as u128);
                check("scale_add", &run(&|o| mul_scalar_add_assign(isa, q, o, &y, scalar)), &|j| {
                    at(&x, j) + at(&y, j) * scalar as u128
                });
                check("sub_scale", &run(&|o| sub_mul_scalar_assign(isa, q, o, &y, scalar)), &|j| {
                    (at(&x, j) + value - at(&y, j)) * scalar as u128
                });
                check("add_into", &run(&|o| add(isa, q, o, &y, &z)), &|j| at(&y, j) + at(&z, j));
                check("sub_into", &run(&|o| sub(isa, q, o, &y, &z)), &|j| at(&y, j) + value - at(&z, j));
                check("scale_into", &run(&|o| mul_scalar(isa, q, o, &y, scalar)), &|j| at(&y, j) * scalar as u128);
                check("sub_scale_add", &run(&|o| sub_mul_scalar_add_assign(isa, q, o, &y, scalar, &z)), &|j| {
                    (at(&x, j) + value - at(&y, j)) * scalar as u128 + at(&z, j)
                });
                let wide = row(length, 1 << 50, 4);
                check("reduce", &run(&|o| reduce(isa, q, o, &wide)), &|j| at(&wide, j));
            }
        }
    }
}

#[test]
fn sums_of_many_terms_are_exact() {
    for isa in Isa::available() {
        for q in moduli() {
            for terms in [0, 1, 2, 5, 6, 7, 9, 10, 16, 17, 33, MAX_TERMS] {
                // Four vectors together, one alone, and a ragged end.
                let length = 43;
                // Extremes in the first column of every row: the accumulators' limits are met.
                let rows: Vec<Vec<u64>> = (0..terms).map(|i| row(length, q.value(), 6 * i as u64)).collect();
                let wide: Vec<Vec<u64>> = (0..terms).map(|i| row(length, 1 << 50, 6 * i as u64)).collect();
                let pairs: Vec<_> = rows.iter().map(|row| (&row[..], &row[..])).collect();
                let mut out = vec![0; length];
                dot(isa, q, &mut out, &pairs);
                for j in 0..length {
                    let sum: u128 = rows.iter().map(|row| row[j] as u128 * row[j] as u128).sum();
                    assert_eq!(out[j] as u128, sum % q.value() as u128, "dot {} {terms} terms", isa.name());
                }
                let scalars: Vec<u64> = (0..terms as u64).map(|i| q.value() - 1 - i % q.value().min(5)).collect();
                let weighted: Vec<_> = wide.iter().zip(&scalars).map(|(row, &c)| (&row[..], c)).collect();
                dot_scalar(isa, q, &mut out, &weighted);
                for j in 0..length {
                    let sum: u128 = wide.iter().zip(&scalars).map(|(row, &c)| row[j] as u128 * c as u128).sum();
                    assert_eq!(out[j] as u128, sum % q.value() as u128, "dot_scalar {} {terms} terms", isa.name());
                }
                let mut sources = wide.clone();
                sources.iter_mut().for_each(|row| to_sources(isa, row));
                let weighted: Vec<_> = sources.iter().zip(&scalars).map(|(row, &c)| (&row[..], c)).collect();
                for constant in [0, 1, q.value() - 1] {
                    let mut more = vec![0; length];
                    dot_sources(isa, q, &mut more, &weighted, constant);
                    let expected: Vec<u64> = out.iter().map(|&x| q.add(x, constant)).collect();
                    assert_eq!(more, expected, "dot_sources {} {terms} terms", isa.name());
                }
            }
        }
    }
}

#[test]
fn words_are_lifted_and_shifted() {
    for isa in Isa::available() {
        for q in moduli() {
            let x = row(43, q.value(), 3);
            for scalar in [0, 1, (q.value() - 1) / 2, q.value() - 1] {
                let mut shifted = x.clone();
                add_scalar_assign(isa, q, &mut shifted, scalar);
                assert_eq!(shifted, x.iter().map(|&x| q.add(x, scalar)).collect::<Vec<_>>(), "{}", isa.name());
            }
            let largest = i64::try_from(q.value() - 1).unwrap();
            let mut signed: Vec<i64> = (0..43).map(|i| (i * i * 7919 - 20_000) % (largest + 1)).collect();
            let mut bytes: Vec<i8> = signed.iter().map(|a| (a % 128.min(largest + 1)) as i8).collect();
            [signed[3], signed[42]] = [largest, -largest];
            bytes[5] = if largest >= 128 { i8::MIN } else { 0 };
            let expected = |a: i64| a.rem_euclid(largest + 1) as u64;
            let mut out = vec![1; 43];
            lift_signed(isa, q, &mut out, &signed);
            assert!(out.iter().zip(&signed).all(|(&x, &a)| x == expected(a)), "{}", isa.name());
            lift_signed(isa, q, &mut out, &bytes);
            assert!(out.iter().zip(&bytes).all(|(&x, &a)| x == expected(a.into())), "{}", isa.name());
        }
    }
}

#[test]
fn sums_in_pairs_are_those_of_single_sums() {
    for isa in Isa::available() {
        for q in moduli() {
            for (length, terms) in [(5, 1), (24, 3), (512, 2), (1024, 4), (1051, 17), (1100, 6), (1600, MAX_TERMS)] {
                let rows: Vec<Vec<u64>> = (0..3 * terms).map(|i| row(length, q.value(), 6 * i as u64)).collect();
                let term = |i: usize| ([&rows[3 * i][..], &rows[3 * i + 1][..]], &rows[3 * i + 2][..]);
                // Sums over different terms, and one without any between them.
                let chosen = [(0..terms).collect::<Vec<_>>(), vec![], (0..terms).rev().step_by(2).collect()];
                let mut out = vec![vec![q.value() - 1; length]; 6];
                let [a, b, c, d, e, f] = &mut out[..] else { unreachable!() };
                let mut sums = [
                    PairSum { out: [a, b], terms: chosen[0].iter().map(|&i| term(i)).collect() },
                    PairSum { out: [c, d], terms: chosen[1].iter().map(|&i| term(i)).collect() },
                    PairSum { out: [e, f], terms: chosen[2].iter().map(|&i| term(i)).collect() },
                ];
                dot_pairs(isa, q, &mut sums);
                for (index, out) in out.iter().enumerate() {
                    for j in 0..length {
                        let product = |&i: &usize| term(i).0[index % 2][j] as u128 * term(i).1[j] as u128;
                        let sum: u128 = chosen[index / 2].iter().map(product).sum();
                        assert_eq!(out[j] as u128, sum % q.value() as u128, "{} {terms} terms", isa.name());
                    }
                }
            }
        }
    }
}

#[test]
fn the_tensor_product_is_exact() {
    for isa in Isa::available() {
        for q in moduli() {
            for length in [3, 8, 29] {
                let rows: Vec<Vec<u64>> = (0..4).map(|i| row(length, q.value(), i)).collect();
                let scalar = q.value() - 1;
                let mut out = vec![vec![q.value() - 1; length]; 3];
                let [x, y, z] = &mut out[..] else { unreachable!() };
                tensor(isa, q, [x, y, z], [&rows[0], &rows[1]], [&rows[2], &rows[3]], scalar);
                for j in 0..length {
                    let product = |i: usize, k: usize| rows[i][j] as u128 * rows[k][j] as u128 % q.value() as u128;
                    let expected = [product(0, 2), product(0, 3) + product(1, 2), product(1, 3)];
                    for (out, expected) in out.iter().zip(expected) {
                        let scaled = expected % q.value() as u128 * scalar as u128 % q.value() as u128;
                        assert_eq!(out[j] as u128, scaled, "{} q = {}", isa.name(), q.value());
                    }
                }
            }
        }
    }
}
