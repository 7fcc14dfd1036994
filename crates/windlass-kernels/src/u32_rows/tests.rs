//! Rows on every backend against integers.

use super::*;
use crate::isa::Isa;
use crate::lanes::tests::words;
use crate::lanes::u32_lanes::U32Modulus;
use crate::modulus::{Modulus, find_primes};
use crate::ntt::{Automorphism, Shape};

const N: usize = 256;

/// The largest primes of some sizes.
fn moduli() -> Vec<Modulus> {
    [25, 26, 28, 30, 31].map(|bits| find_primes(8192, bits, 1, &[]).unwrap()[0]).to_vec()
}

/// Rows of the largest residues, of zeros among them, and random ones.
fn rows(q: Modulus, seed: u64) -> [Vec<u32>; 3] {
    let (top, mut next) = (q.value() as u32 - 1, words(seed));
    let turns = (0..N).map(|i| if (i as u64 + seed) % 3 == 0 { 0 } else { top }).collect();
    [vec![top; N], turns, (0..N).map(|_| (next() % q.value()) as u32).collect()]
}

#[test]
fn sums_differences_and_multiples_are_canonical() {
    for q in moduli() {
        for (x, y) in rows(q, 1).iter().flat_map(|x| rows(q, 2).map(|y| (x.clone(), y))) {
            let each = |f: &dyn Fn(u64, u64) -> u64| -> Vec<u32> {
                x.iter().zip(&y).map(|(&x, &y)| f(x.into(), y.into()) as u32).collect()
            };
            for isa in Isa::available() {
                let mut out = vec![7; N];
                add(isa, q, &mut out, &x, &y);
                assert_eq!(out, each(&|x, y| q.add(x, y)));
                sub(isa, q, &mut out, &x, &y);
                assert_eq!(out, each(&|x, y| q.sub(x, y)));
                let mut out = x.clone();
                mul_scalar_assign(isa, q, &mut out, q.value() - 2);
                assert_eq!(out, each(&|x, _| q.mul(x, q.value() - 2)));
            }
        }
    }
}

#[test]
fn a_step_of_an_expansion_is_its_formula() {
    let shape = Shape::new(2 * N as u64).unwrap();
    for q in moduli() {
        for (element, seed) in [(N as u64 + 1, 1), (N as u64 / 2 + 1, 2), (5, 3)] {
            let automorphism = Automorphism::new(&shape, element).unwrap();
            let [_, shift, _] = rows(q, seed);
            let multipliers = Multipliers::new(q, &shift);
            for (x, y) in rows(q, 5).into_iter().zip(rows(q, 6)) {
                let wide: Vec<u64> = y.iter().map(|&y| y.into()).collect();
                let mut moved = vec![0; N];
                automorphism.apply(Isa::Portable, &mut moved, &wide);
                for isa in Isa::available() {
                    let (mut even, mut odd) = (vec![7; N], vec![7; N]);
                    split(isa, q, (&automorphism, &multipliers), [&x, &y], [&mut even, &mut odd]);
                    for j in 0..N {
                        assert_eq!(u64::from(even[j]), q.add(x[j].into(), moved[j]));
                        assert_eq!(u64::from(odd[j]), q.mul(q.sub(x[j].into(), moved[j]), shift[j].into()));
                    }
                }
            }
        }
    }
}

#[test]
fn sums_of_products_are_those_of_the_definition() {
    for q in moduli() {
        for terms in [1, 2, 3, 6, 16, 40] {
            let table: Vec<[Vec<u32>; 2]> = (0..terms)
                .map(|k| {
                    let [_, b, a] = rows(q, k);
                    // Centred constants of the largest size, of one sign.
                    if k % 2 == 0 { [b, a] } else { [vec![(q.value() / 2) as u32; N], vec![(q.value() / 2) as u32; N]] }
                })
                .collect();
            let scale = q.inv(q.reduce(1 << 32));
            let pairs = table.iter().map(|[b, a]| [&b[..], &a[..]]);
            let digits = vec![rows(q, 1)[0].clone(); terms as usize];
            let digits: Vec<&[u32]> = digits.iter().map(Vec::as_slice).collect();
            let [first, second, third] = rows(q, 9);
            for rest in [
                Rest::default(),
                Rest { scaled: Some([&first, &second]), added: [Some(&third), None] },
                Rest { scaled: None, added: [Some(&first), Some(&second)] },
            ] {
                let wanted = |half: usize, j: usize| {
                    let sum = table.iter().zip(&digits).fold(0, |sum, (pair, digit)| {
                        q.add(sum, q.mul(q.mul(pair[half][j].into(), scale), digit[j].into()))
                    });
                    let scaled = rest.scaled.map_or(0, |rows| q.mul(rows[half][j].into(), q.value() - 3));
                    q.add(q.add(sum, scaled), rest.added[half].map_or(0, |row| row[j].into()))
                };
                for isa in Isa::available() {
                    let products = Products::new(isa, q, pairs.clone(), scale, q.value() - 3);
                    assert_eq!(products.terms() as u64, terms);
                    let (mut b, mut a) = (vec![7; N], vec![7; N]);
                    products.sum(isa, &digits, rest, [&mut b, &mut a]);
                    for j in 0..N {
                        let found = [b[j], a[j]].map(u64::from);
                        assert_eq!(found, [wanted(0, j), wanted(1, j)], "{terms} of {} on {}", q.value(), isa.name());
                    }
                }
            }
        }
    }
}

/// Σ digit·constant at its bounds: all constants ±(q − 1)/2, all digits q − 1, as many as fit before
/// a fold, and one more.
#[test]
fn sums_of_the_largest_products_do_not_overflow() {
    const N: usize = 32;
    for q in [26, 28, 30, 31].map(|bits| find_primes(8192, bits, 1, &[]).unwrap()[0]) {
        let m = U32Modulus::new(q);
        let (top, scale) = (vec![q.value() as u32 - 1; N], q.inv(q.reduce(1 << 32)));
        let (terms_before_reduction, positive) = (m.terms_before_reduction(), m.positive_terms());
        assert!(terms_before_reduction < positive && positive >= 2);
        for terms in [terms_before_reduction, terms_before_reduction + 1, positive, positive + 1, 40] {
            // (q − 1)/2 and −(q − 1)/2.
            for constant in [q.value() / 2, q.value() / 2 + 1] {
                let row = [constant as u32; N];
                for (scaled, added) in [(None, [None, None]), (Some([&top[..]; 2]), [Some(&top[..]), None])] {
                    let count = q.reduce((terms + usize::from(scaled.is_some())) as u64);
                    let sum = q.mul(q.mul(count, q.mul(constant, scale)), q.value() - 1);
                    let wanted = added.map(|row| q.add(sum, if row.is_some() { q.value() - 1 } else { 0 }) as u32);
                    for isa in Isa::available() {
                        let rows = std::iter::repeat_n([&row[..]; 2], terms);
                        // What is taken off was divided by 2^32 for constants and factor alike.
                        let products = Products::new(isa, q, rows, scale, q.mul(constant, scale));
                        let (mut b, mut a) = (vec![7; N], vec![7; N]);
                        products.sum(isa, &vec![&top[..]; terms], Rest { scaled, added }, [&mut b, &mut a]);
                        let found = [b, a];
                        for half in 0..2 {
                            assert_eq!(found[half], [wanted[half]; N], "{terms} of {} on {}", q.value(), isa.name());
                        }
                    }
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "q is above p/2^32")]
fn a_prime_that_is_too_small_to_lower_to_is_refused() {
    let [p, q] = [50, 17].map(|bits| find_primes(8192, bits, 1, &[]).unwrap()[0]);
    let _ = Lowering::new(p, q);
}

#[test]
#[should_panic(expected = "digits of 32 bits")]
fn digits_that_are_no_words_are_refused() {
    let found = find_primes(8192, 25, 2, &[]).unwrap();
    let _ = Cut::new([found[0], found[1]], 1, 50, 0);
}

#[test]
fn lowered_residues_are_centred_remainders() {
    for q in moduli() {
        for bits in [36, 44, 50] {
            let p = find_primes(8192, bits, 1, &[]).unwrap()[0];
            let (half, mut next) = (p.value() / 2, words(bits.into()));
            let edges = [0, 1, half - 1, half, half + 1, p.value() - 1, 1 << 32, (1 << 32) - 1];
            let source: Vec<u64> = edges.into_iter().chain((8..N).map(|_| next() % p.value())).collect();
            let divide = q.inv(q.reduce(1 << 32));
            for isa in Isa::available() {
                let mut out = vec![0; N];
                Lowering::new(p, q).apply(isa, &source, &mut out);
                for (&x, &found) in source.iter().zip(&out) {
                    let centred = if x > half { x as i64 - p.value() as i64 } else { x as i64 };
                    assert!(u64::from(found) < 2 * q.value());
                    assert_eq!(q.reduce(found.into()), q.mul(q.reduce_i64(centred), divide), "{x} of {}", p.value());
                }
            }
        }
    }
}

#[test]
fn digits_add_up_to_the_integer_and_are_small() {
    for bits in [25, 26, 30, 31] {
        let found = find_primes(8192, bits, 2, &[]).unwrap();
        let q = [found[0], found[1]];
        let product = q[0].value() * q[1].value();
        let size = 64 - product.leading_zeros();
        for (digits, base_bits) in [(1, 20), (1, 31), (2, 12), (2, 31), (3, 16), (4, 13), (3, size.div_ceil(3))] {
            if digits * base_bits > 62 {
                continue;
            }
            let dropped = size.saturating_sub(digits * base_bits);
            let cut = Cut::new(q, digits, base_bits, dropped);
            let half = product / 2;
            let mut next = words(bits.into());
            let edges = [0, 1, half - 1, half, half + 1, half + 2, product - 1, product - 2];
            let integers: Vec<u64> = edges.into_iter().chain((8..N).map(|_| next() % product)).collect();
            let residues = q.map(|q| integers.iter().map(|&x| q.reduce(x) as u32).collect::<Vec<_>>());
            for isa in Isa::available() {
                let mut out = vec![0; N * digits as usize];
                cut.apply(isa, [&residues[0], &residues[1]], &mut out);
                for (j, &integer) in integers.iter().enumerate() {
                    let centred = if integer > half { integer as i64 - product as i64 } else { integer as i64 };
                    let mut sum = 0i128;
                    for k in 0..digits {
                        let digit = i64::from(out[k as usize * N + j]) + cut.offset();
                        assert!(digit.abs() <= 1 << (base_bits - 1), "digit {k} of {centred}");
                        sum += i128::from(digit) << (k * base_bits);
                    }
                    // The lowest bits are rounded away, halves upwards.
                    let rounded = (i128::from(centred) + ((1i128 << dropped) >> 1)) >> dropped;
                    assert_eq!(sum, rounded, "{integer} of {product}, {digits} digits of {base_bits} bits");
                }
            }
        }
    }
}
