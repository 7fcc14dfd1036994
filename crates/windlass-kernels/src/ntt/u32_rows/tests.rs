//! Compares transforms on 32-bit words with those on 50-bit residues of the same prime, on every backend
//! and with vectors of one group and of two.

use std::sync::Arc;

use super::*;
use crate::lanes::tests::words;
use crate::lanes::u32_lanes::Portable;
use crate::modulus::find_primes;
use crate::ntt::{NttPlan, Shape};

/// The largest and the least primes of many sizes that a length of 2^log_n has.
fn moduli(log_n: u32) -> Vec<Modulus> {
    let step = 2u64 << log_n;
    let largest = (log_n + 4..=31).filter_map(|bits| find_primes(step, bits, 1, &[]).ok()).flatten();
    let least = (1..).map(|k| k * step + 1).filter_map(|q| Modulus::new(q).ok()).take(2);
    let above = |bits: u32| {
        let from = (1u64 << bits).next_multiple_of(step) + 1;
        (0..).map(move |k| from + k * step).find_map(|q| Modulus::new(q).ok()).expect("there are primes")
    };
    largest.chain(least).chain([29, 30].map(above)).collect()
}

/// All backends of this machine, and both widths in plain Rust.
fn everywhere(plan: &U32Plan, row: &[u32], inverse: bool) -> Vec<Vec<u32>> {
    fn on<const G: usize>(plan: &U32Plan, row: &mut [u32], inverse: bool) {
        let (n, q, tables, row) = (Portable::<G>, plan.modulus.value() as u32, &plan.tables, row.as_chunks_mut().0);
        match (inverse, plan.is_lazy()) {
            (false, true) => passes::transform::<_, true>(n, q, tables, None, row),
            (false, false) => passes::transform::<_, false>(n, q, tables, None, row),
            (true, true) => passes::transform_back::<_, true>(n, q, tables, row),
            (true, false) => passes::transform_back::<_, false>(n, q, tables, row),
        }
    }
    let mut images = vec![row.to_vec(); 2];
    on::<1>(plan, &mut images[0], inverse);
    on::<2>(plan, &mut images[1], inverse);
    images.extend(Isa::available().into_iter().map(|isa| {
        let (plan, mut image) = (U32Plan { isa, ..plan.clone() }, row.to_vec());
        if inverse {
            plan.inverse(&mut image)
        } else {
            plan.forward(&mut image)
        };
        image
    }));
    images
}

/// Rows below `bound`: zeros, the largest words, the largest and zeros in turn, random ones.
fn rows(n: usize, bound: u64) -> Vec<Vec<u32>> {
    let (mut next, top) = (words(n as u64), bound as u32 - 1);
    let turns = |length: usize| (0..n).map(|i| if i / length % 2 == 0 { top } else { 0 }).collect();
    let random = (0..n).map(|_| (next() % bound) as u32).collect();
    vec![vec![0; n], vec![top; n], turns(1), turns(8), turns(n / 2), random]
}

#[test]
fn values_are_those_of_the_wide_transform() {
    for log_n in [7, 8, 9, 12] {
        let shape = Arc::new(Shape::new(2 << log_n).unwrap());
        for q in moduli(log_n) {
            let wide = NttPlan::new(&shape, q, Isa::Portable).unwrap();
            let plan = U32Plan::new(log_n, q, Isa::Portable).unwrap();
            // The largest words that a forward transform takes are those below 2q.
            for row in rows(1 << log_n, 2 * q.value()) {
                let mut image: Vec<u64> = row.iter().map(|&x| q.reduce(x.into())).collect();
                wide.forward(&mut image);
                let expected: Vec<u32> = image.iter().map(|&x| x as u32).collect();
                for image in everywhere(&plan, &row, false) {
                    assert!(image == expected, "forward, q = {}, log n = {log_n}", q.value());
                }
            }
            for row in rows(1 << log_n, q.value()) {
                let mut image: Vec<u64> = row.iter().map(|&x| x.into()).collect();
                wide.inverse(&mut image);
                let expected: Vec<u32> = image.iter().map(|&x| x as u32).collect();
                for image in everywhere(&plan, &row, true) {
                    assert!(image == expected, "inverse, q = {}, log n = {log_n}", q.value());
                }
            }
        }
    }
}

#[test]
fn words_of_a_source_are_added_to() {
    // Of 31 bits each word is reduced at once, of fewer words up to 4q are left.
    for (bits, isa) in
        [31, 30, 26].into_iter().flat_map(|bits| Isa::available().into_iter().map(move |isa| (bits, isa)))
    {
        let q = find_primes(8192, bits, 1, &[]).unwrap()[0];
        let (value, mut next) = (q.value() as u32, words(5));
        let plan = U32Plan::new(12, q, isa).unwrap();
        assert_eq!(plan.is_lazy(), bits < 31);
        // Digits with sign in two's complement, each below q in absolute value.
        let signed: Vec<i32> = (0..4096).map(|_| (next() % (2 * q.value() - 1)) as i64 as i32).collect();
        let mut signed: Vec<i32> = signed.iter().map(|x| x % value as i32).collect();
        signed[..64].fill(value as i32 - 1);
        signed[64..128].fill(1 - value as i32);
        let mut expected: Vec<u32> = signed.iter().map(|&x| q.reduce_i64(x.into()) as u32).collect();
        plan.forward(&mut expected);
        let (source, mut image): (Vec<u32>, _) = (signed.iter().map(|&x| x as u32).collect(), vec![7; 4096]);
        plan.forward_from(&source, value, &mut image);
        assert!(image == expected, "{bits} bits on {}", isa.name());
    }
}

#[test]
fn primes_without_a_root_are_refused() {
    let q = find_primes(256, 20, 1, &[]).unwrap()[0];
    assert!(U32Plan::new(7, q, Isa::Portable).is_ok());
    let without = find_primes(4, 20, 1, &[]).unwrap()[0];
    assert_ne!(without.value() % 256, 1);
    assert!(matches!(U32Plan::new(7, without, Isa::Portable), Err(KernelError::NoRootOfUnity { .. })));
}
