//! Transforms of every kind of ring against the definition, on every instruction set.

use std::sync::Arc;

use super::{NttPlan, Shape};
use crate::isa::Isa;
use crate::modulus::{Modulus, find_primes};
use crate::reference;

fn prime(shape: &Shape, bits: u32) -> Modulus {
    find_primes(shape.root_order(), bits, 1, &[]).unwrap()[0]
}

/// Pseudo-random residues with the extreme ones among them.
fn residues(q: Modulus, n: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..n)
        .map(|j| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            match j % 7 {
                0 => q.value() - 1,
                1 => 0,
                _ => q.reduce(state >> 13),
            }
        })
        .collect()
}

fn reference_roots(shape: &Shape, q: Modulus) -> Vec<u64> {
    let zeta = q.root_of_unity(shape.m()).unwrap();
    shape.axes().iter().map(|axis| q.pow(zeta, shape.m() / axis.index)).collect()
}

fn check_against_reference(m: u64) {
    let shape = Arc::new(Shape::new(m).unwrap());
    for bits in [50, 48, 45] {
        let q = prime(&shape, bits);
        let mut inputs = vec![residues(q, shape.n(), m)];
        inputs.push(vec![q.value() - 1; shape.n()]);
        for input in inputs {
            let mut expected = input.clone();
            reference::forward(&shape, q, &reference_roots(&shape, q), &mut expected);
            for isa in Isa::available() {
                let plan = NttPlan::new(&shape, q, isa).unwrap();
                let mut row = input.clone();
                plan.forward(&mut row);
                assert!(row == expected, "forward, m = {m}, {}", isa.name());
                plan.inverse(&mut row);
                assert!(row == input, "inverse, m = {m}, {}", isa.name());
            }
        }
    }
}

#[test]
fn prime_axes_match_the_definition() {
    for m in [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 101, 113, 127, 151, 257, 331, 601, 683] {
        check_against_reference(m);
    }
}

#[test]
fn prime_power_axes_match_the_definition() {
    for m in [9, 25, 27, 49, 81, 121, 125, 169, 243, 289, 343, 529, 625, 729, 1331] {
        check_against_reference(m);
    }
}

#[test]
fn composite_rings_match_the_definition() {
    for m in [15, 21, 35, 45, 105, 315, 1023, 1155, 4095, 4369, 15 * 49, 9 * 25 * 7] {
        check_against_reference(m);
    }
}

#[test]
fn axes_with_neighbouring_columns_match_the_definition() {
    for m in [3 * 47, 7 * 29, 23 * 29, 47 * 53, 49 * 43, 121 * 113, 3 * 5 * 257] {
        check_against_reference(m);
    }
}

#[test]
fn even_rings_match_the_definition() {
    for m in [4, 8, 16, 64, 512, 12, 20, 24, 28, 36, 40, 48, 96, 3 << 7, 5 << 6, 45 << 3, 4 * 31, 8 * 43, 32 * 9 * 5] {
        check_against_reference(m);
    }
}
