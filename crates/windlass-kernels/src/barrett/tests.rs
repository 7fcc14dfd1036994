//! Compares the reduction with arithmetic in double words, and counts its operations.

use std::cell::Cell;

use super::*;
use crate::lanes::word64::Portable;

/// Moduli of each size: the least and the largest odd ones, and one between.
fn moduli() -> impl Iterator<Item = BarrettModulus> {
    let of_size = |bits: u32| [(1 << (bits - 1)) + 1, (1u64 << bits) - 1, (3 << (bits - 2)) - 1];
    (3..=BarrettModulus::MAX_BITS).flat_map(of_size).map(|q| BarrettModulus::new(q).expect("odd, below 2^62"))
}

/// Ends of the range first, then residues all over it.
fn row(length: usize, seed: u64, q: u64) -> Vec<u64> {
    let ends = [q - 1, 0, 1, q / 2, q - 2];
    let mut state = seed;
    let mut next = |j: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if j < 25 { ends[if seed == 1 { j % 5 } else { j / 5 }] } else { (state >> 1) % q }
    };
    (0..length).map(&mut next).collect()
}

#[test]
fn every_operation_is_exact_on_every_instruction_set() {
    for q in moduli() {
        let value = u128::from(q.value());
        for length in [0, 1, 7, 8, 29, 64] {
            let [x, y, mut z] = [1, 2, 3].map(|seed| row(length, seed, q.value()));
            // The largest addend with the largest product.
            z.iter_mut().take(1).for_each(|z| *z = q.value() - 1);
            let exact = |f: &dyn Fn(u128, u128, u128) -> u128| -> Vec<u64> {
                (0..length).map(|j| (f(x[j].into(), y[j].into(), z[j].into()) % value) as u64).collect()
            };
            for isa in Isa::available() {
                let mut out = z.clone();
                mul_add_assign(isa, q, &mut out, &x, &y);
                assert_eq!(out, exact(&|x, y, z| x * y + z), "{q:?}, {length} columns, {}", isa.name());
                mul_assign(isa, q, &mut out, &y);
                assert_eq!(out, exact(&|x, y, z| (x * y + z) % value * y), "{q:?}, {}", isa.name());
                add_assign(isa, q, &mut out, &x);
                assert_eq!(out, exact(&|x, y, z| (x * y + z) % value * y + x), "{q:?}, {}", isa.name());
            }
        }
    }
}

#[test]
fn impossible_moduli_are_refused() {
    for value in [0, 1, 2, 4, 1 << 61, 1 << 62, (1 << 62) + 1, u64::MAX] {
        assert!(BarrettModulus::new(value).is_none(), "{value}");
    }
}

/// How often each operation was called.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    mul_high: Cell<usize>,
    mul_low: Cell<usize>,
    shift: Cell<usize>,
    add: Cell<usize>,
    sub: Cell<usize>,
    min: Cell<usize>,
}

/// Plain Rust that counts.
#[derive(Clone, Copy)]
struct Counting<'a>(&'a Counts);

fn count(cell: &Cell<usize>) {
    cell.set(cell.get() + 1);
}

impl Words for Counting<'_> {
    type Vector = Octet;
    type Distance = u32;

    fn vectorize<K: WordsKernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }
    fn load(self, words: &Octet) -> Octet {
        *words
    }
    fn store(self, words: &mut Octet, x: Octet) {
        *words = x;
    }
    fn splat(self, word: u64) -> Octet {
        [word; LANES]
    }
    fn distance(self, bits: u32) -> u32 {
        bits
    }
    fn mul_low(self, x: Octet, y: Octet) -> Octet {
        count(&self.0.mul_low);
        Portable.mul_low(x, y)
    }
    fn mul_high(self, x: Octet, y: Octet) -> Octet {
        count(&self.0.mul_high);
        Portable.mul_high(x, y)
    }
    fn shift_right_double(self, low: Octet, high: Octet, by: u32) -> Octet {
        count(&self.0.shift);
        Portable.shift_right_double(low, high, by)
    }
    fn add(self, x: Octet, y: Octet) -> Octet {
        count(&self.0.add);
        Portable.add(x, y)
    }
    fn sub(self, x: Octet, y: Octet) -> Octet {
        count(&self.0.sub);
        Portable.sub(x, y)
    }
    fn min(self, x: Octet, y: Octet) -> Octet {
        count(&self.0.min);
        Portable.min(x, y)
    }
}

fn counted<C: Columns>(_: C) -> [usize; 6] {
    let counts = Counts::default();
    let modulus = BarrettModulus::new((1 << 60) - 93).expect("odd");
    let [x, y, mut out] = [1, 2, 3].map(|seed| row(LANES, seed, modulus.value()));
    let columns = std::marker::PhantomData::<C>;
    Counting(&counts).vectorize(Pass { modulus, out: &mut out, x: &x, y: &y, columns });
    let Counts { mul_high, mul_low, shift, add, sub, min } = counts;
    [mul_high, mul_low, shift, add, sub, min].map(Cell::into_inner)
}

/// Lines 1 to 7 of Algorithm 4.1: two upper words, two lower ones, a shift, a subtraction and an
/// addition. Line 10 reduces from [0, 8q): log2 8 subtractions, each with a minimum.
#[test]
fn eight_columns_cost_what_the_paper_lists() {
    assert_eq!(counted(MulAdd), [2, 2, 1, 1, 1 + 3, 3]);
    // Two passes: one reduction from [0, 4q), another from [0, 2q).
    assert_eq!(counted(Mul), [2, 2, 1, 0, 1 + 2, 2]);
    assert_eq!(counted(Add), [0, 0, 0, 1, 1, 1]);
}
