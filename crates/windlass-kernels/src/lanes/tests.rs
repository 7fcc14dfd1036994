//! Every backend, and plain-Rust emulations of the vector ones, against the definition.

use super::float::{EightFloats, Float, FloatOps};
use super::portable::Integers;
use super::word52::{Word52, Word52Ops};
use super::{Form, Kernel, LANES, Lanes, ROOMY_BITS, dispatch, dispatch_transform};
use crate::isa::Isa;
use crate::modulus::{Modulus, find_primes};

/// The 52-bit instructions in plain Rust.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EmulatedWord52;

type Words = [u64; LANES];
const MASK: u64 = (1 << 52) - 1;

fn zip<T: Copy>(x: [T; LANES], y: [T; LANES], f: impl Fn(T, T) -> T) -> [T; LANES] {
    std::array::from_fn(|i| f(x[i], y[i]))
}

impl Word52Ops for EmulatedWord52 {
    type Reg = Words;
    fn vectorize<L: Lanes, K: Kernel>(self, lanes: L, kernel: K) -> K::Output {
        kernel.run(lanes)
    }
    fn splat(self, x: u64) -> Words {
        [x; LANES]
    }
    fn load(self, words: &Words) -> Words {
        *words
    }
    fn store(self, words: &mut Words, x: Words) {
        *words = x;
    }
    fn add(self, x: Words, y: Words) -> Words {
        zip(x, y, u64::wrapping_add)
    }
    fn sub(self, x: Words, y: Words) -> Words {
        zip(x, y, u64::wrapping_sub)
    }
    fn min(self, x: Words, y: Words) -> Words {
        zip(x, y, u64::min)
    }
    fn and(self, x: Words, y: Words) -> Words {
        zip(x, y, |x, y| x & y)
    }
    fn shl(self, x: Words, count: u64) -> Words {
        x.map(|x| x << count)
    }
    fn shr(self, x: Words, count: u64) -> Words {
        x.map(|x| x >> count)
    }
    fn madd_low(self, sum: Words, x: Words, y: Words) -> Words {
        zip(sum, zip(x, y, |x, y| (x & MASK).wrapping_mul(y & MASK) & MASK), u64::wrapping_add)
    }
    fn madd_high(self, sum: Words, x: Words, y: Words) -> Words {
        let high = |x: u64, y: u64| (((x & MASK) as u128 * (y & MASK) as u128) >> 52) as u64;
        zip(sum, zip(x, y, high), u64::wrapping_add)
    }
    fn transpose(self, rows: [Words; LANES]) -> [Words; LANES] {
        std::array::from_fn(|i| std::array::from_fn(|j| rows[j][i]))
    }
    fn permute(self, x: Words, indices: &Words) -> Words {
        indices.map(|i| x[i as usize])
    }
}

/// The instructions on doubles in plain Rust.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EmulatedFloat;

type Doubles = [f64; LANES];

fn fused(x: Doubles, y: Doubles, z: Doubles) -> Doubles {
    std::array::from_fn(|i| x[i].mul_add(y[i], z[i]))
}

impl FloatOps for EmulatedFloat {
    type Reg = Doubles;
    const MANY_REGISTERS: bool = true;
    fn splat(self, x: f64) -> Doubles {
        [x; LANES]
    }
    fn load_bits(self, words: &Words) -> Doubles {
        words.map(f64::from_bits)
    }
    fn store_bits(self, words: &mut Words, x: Doubles) {
        *words = x.map(f64::to_bits);
    }
    fn load_integers(self, words: &Words) -> Doubles {
        words.map(|word| word as f64)
    }
    fn store_canonical(self, words: &mut Words, x: Doubles, q: u64) {
        *words = x.map(|x| (x as i64 + if x < 0.0 { q as i64 } else { 0 }) as u64);
    }
    fn add(self, x: Doubles, y: Doubles) -> Doubles {
        zip(x, y, |x, y| x + y)
    }
    fn sub(self, x: Doubles, y: Doubles) -> Doubles {
        zip(x, y, |x, y| x - y)
    }
    fn mul(self, x: Doubles, y: Doubles) -> Doubles {
        zip(x, y, |x, y| x * y)
    }
    fn fma(self, x: Doubles, y: Doubles, z: Doubles) -> Doubles {
        fused(x, y, z)
    }
    fn fnma(self, x: Doubles, y: Doubles, z: Doubles) -> Doubles {
        fused(x.map(|x| -x), y, z)
    }
    fn round(self, x: Doubles) -> Doubles {
        x.map(f64::round_ties_even)
    }
}

impl EightFloats for EmulatedFloat {
    type Part = Self;
    const PARTS: usize = 1;
    fn part(self, _: usize) -> Self {
        self
    }
    fn vectorize<L: Lanes, K: Kernel>(self, lanes: L, kernel: K) -> K::Output {
        kernel.run(lanes)
    }
    fn transpose(self, rows: [Doubles; LANES]) -> [Doubles; LANES] {
        std::array::from_fn(|i| std::array::from_fn(|j| rows[j][i]))
    }
    fn permute(self, x: Doubles, indices: &Words) -> Doubles {
        indices.map(|i| x[i as usize])
    }
}

/// Runs a kernel on every backend of this machine and on the emulations.
pub(crate) fn everywhere<K: Kernel + Clone>(q: Modulus, kernel: K) -> Vec<K::Output> {
    let mut outputs = vec![
        Integers::<false>::new(q).vectorize(kernel.clone()),
        Integers::<true>::new(q).vectorize(kernel.clone()),
        Word52::<_>::new(EmulatedWord52, q).vectorize(kernel.clone()),
        Float::<_>::new(EmulatedFloat, q).vectorize(kernel.clone()),
    ];
    if q.bits() <= ROOMY_BITS {
        outputs.push(Word52::<_, true>::new(EmulatedWord52, q).vectorize(kernel.clone()));
        outputs.push(Float::<_, true>::new(EmulatedFloat, q).vectorize(kernel.clone()));
    }
    for isa in Isa::available() {
        outputs.push(dispatch(isa, q, kernel.clone()));
        outputs.push(dispatch_transform(isa, q, kernel.clone()));
    }
    outputs
}

/// A small generator of test words (SplitMix64).
pub(crate) fn words(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

/// The moduli of the tests: tiny primes and the largest of several sizes.
pub(crate) fn moduli() -> Vec<Modulus> {
    let small = [3, 5, 7, 257, 65537].map(|q| Modulus::new(q).unwrap());
    let large = [25, 30, 40, 48, 49, 50].map(|bits| find_primes(1 << 18, bits, 1, &[]).unwrap()[0]);
    small.into_iter().chain(large).collect()
}

/// Blocks of canonical edge values and of random ones.
fn blocks(q: u64) -> Vec<Words> {
    let mut next = words(q);
    let edges = [0, 1, 2 % q, q / 2, q / 2 + 1, q - 2, q - 1, q - 1];
    let mut blocks = vec![[0; LANES], [1; LANES], [q - 1; LANES], [q / 2; LANES], edges];
    blocks.extend((0..40).map(|_| std::array::from_fn(|_| next() % q)));
    blocks
}

#[derive(Clone)]
struct Products(u64);

impl Kernel for Products {
    type Output = Vec<Words>;
    fn run<L: Lanes>(self, l: L) -> Vec<Words> {
        let mut out = Vec::new();
        let mut put = |x| {
            let mut words = [0; LANES];
            l.store(&mut words, x);
            out.push(words);
        };
        for x in blocks(self.0) {
            for y in blocks(self.0) {
                let (a, b) = (l.load(&x), l.load(&y));
                let scalar = l.multiplier(&l.prepare(y[3])[..L::WORDS]);
                let roots = y.map(|y| l.prepare_root(y.max(1)));
                put(l.mul_lanes(a, b));
                put(l.mul(a, scalar));
                put(l.mul(a, l.root(roots[3])));
                put(l.mul(a, l.roots(&roots)));
                // The largest lazy values that every backend takes: sums and differences of reduced
                // values.
                let (a, b) = (l.reduce(a), l.reduce(b));
                put(l.mul(l.add(a, b), scalar));
                put(l.mul(l.sub(a, b), l.roots(&roots)));
                put(l.add(l.reduce(l.sub(a, b)), l.zero()));
            }
        }
        out
    }
}

#[test]
fn products_agree_with_the_definition() {
    for q in moduli() {
        let mut expected = Vec::new();
        for x in blocks(q.value()) {
            for y in blocks(q.value()) {
                expected.push(zip(x, y, |x, y| q.mul(x, y)));
                expected.push(x.map(|x| q.mul(x, y[3])));
                expected.push(x.map(|x| q.mul(x, y[3].max(1))));
                expected.push(zip(x, y, |x, y| q.mul(x, y.max(1))));
                expected.push(zip(x, y, |a, b| q.mul(q.add(a, b), y[3])));
                expected.push(zip(x, y, |a, b| q.mul(q.sub(a, b), b.max(1))));
                expected.push(zip(x, y, |a, b| q.sub(a, b)));
            }
        }
        for (backend, found) in everywhere(q, Products(q.value())).into_iter().enumerate() {
            assert_eq!(found, expected, "q = {}, backend {backend}", q.value());
        }
    }
}

/// The widest sums and differences of canonical residues that `reduce` takes.
#[derive(Clone)]
struct WidestSums(Words);

impl Kernel for WidestSums {
    type Output = (Words, Words, u64);
    fn run<L: Lanes>(self, l: L) -> Self::Output {
        let terms = (L::FORM.widest / Form::ONE).min(64);
        let x = l.load(&self.0);
        let (mut sum, mut difference) = (l.zero(), l.zero());
        for _ in 0..terms {
            sum = l.add(sum, x);
            difference = if L::FORM.signed { l.sub(difference, x) } else { sum };
        }
        let mut out = [[0; LANES]; 2];
        l.store(&mut out[0], l.reduce(sum));
        l.store(&mut out[1], l.reduce(difference));
        (out[0], if L::FORM.signed { out[1].map(|x| u64::MAX - x) } else { out[1] }, terms as u64)
    }
}

#[test]
fn the_widest_sums_are_reduced() {
    for q in moduli() {
        for x in blocks(q.value()) {
            for (sum, difference, terms) in everywhere(q, WidestSums(x)) {
                let expected = x.map(|x| q.reduce_u128(x as u128 * terms as u128));
                assert_eq!(sum, expected, "q = {}", q.value());
                // Marked by a complement where the differences were formed.
                let is_difference = difference[0] > 1 << 63;
                let found = if is_difference { difference.map(|x| q.neg(u64::MAX - x)) } else { difference };
                assert_eq!(found, expected, "q = {}", q.value());
            }
        }
    }
}

/// Products of the widest values that `mul` takes with a scalar, canonical and as doubles if values
/// are signed.
#[derive(Clone)]
struct WidestProducts(Words, u64);

impl Kernel for WidestProducts {
    type Output = (Words, u64, u32, Option<Words>);
    fn run<L: Lanes>(self, l: L) -> Self::Output {
        let terms = (L::FORM.limit / Form::ONE).min(64);
        let x = l.load(&self.0);
        let sum = (0..terms).fold(l.zero(), |sum, _| l.add(sum, x));
        let product = l.mul(sum, l.multiplier(&l.prepare(self.1)[..L::WORDS]));
        let (mut out, mut raw) = ([0; LANES], [0; LANES]);
        l.store(&mut out, product);
        l.store_raw(&mut raw, product);
        (out, terms as u64, L::FORM.product_of(terms * Form::ONE), L::FORM.signed.then_some(raw))
    }
}

#[test]
fn products_of_the_widest_values_are_exact_and_within_their_bound() {
    for q in moduli() {
        let scalars = [1, q.value() / 2, q.value() / 2 + 1, q.value() - 1];
        for (x, scalar) in blocks(q.value()).into_iter().flat_map(|x| scalars.map(|scalar| (x, scalar))) {
            for (found, terms, bound, doubles) in everywhere(q, WidestProducts(x, scalar)) {
                let expected = x.map(|x| q.mul(q.reduce_u128(x as u128 * terms as u128), scalar));
                assert_eq!(found, expected, "q = {}, {scalar}", q.value());
                let limit = q.value() as f64 * f64::from(bound) / f64::from(Form::ONE);
                let largest = doubles.into_iter().flatten().map(|x| f64::from_bits(x).abs()).fold(0.0, f64::max);
                assert!(largest <= limit, "q = {}, {scalar}: {largest} above {limit}", q.value());
            }
        }
    }
}

/// Full sums of the largest products modulo q.
#[derive(Clone)]
struct FullSums(u64);

impl Kernel for FullSums {
    type Output = ([Words; 3], usize);
    fn run<L: Lanes>(self, l: L) -> Self::Output {
        let (top, largest) = ([(1 << 50) - 1; LANES], [self.0 - 1; LANES]);
        let terms = L::TERMS.min(64);
        let mut sum = l.sum_zero();
        for _ in 0..terms {
            sum = l.sum_add(sum, &largest, &largest);
        }
        let mut out = [[0; LANES]; 3];
        l.store(&mut out[0], l.sum_reduce(sum));
        l.store_sum(&mut out[1], sum);
        l.store(&mut out[2], l.load_wide(&top));
        (out, terms)
    }
}

#[test]
fn full_sums_of_the_largest_products_are_exact() {
    for q in moduli() {
        for ([sum, stored, wide], terms) in everywhere(q, FullSums(q.value())) {
            // (−1)² = 1, summed.
            assert_eq!(sum, [q.reduce(terms as u64); LANES], "q = {}", q.value());
            assert_eq!(stored, sum, "q = {}", q.value());
            assert_eq!(wide, [q.reduce((1 << 50) - 1); LANES], "q = {}", q.value());
        }
    }
}

/// Full combinations of the words x with the coefficient of a scalar: without a residue at first, with one,
/// and one that was folded and filled again.
#[derive(Clone)]
struct FullCombinations(Words, u64, u64);

impl Kernel for FullCombinations {
    type Output = ([Words; 3], usize);
    fn run<L: Lanes>(self, l: L) -> Self::Output {
        let Self(x, scalar, first) = self;
        let (terms, coefficient) = (L::COMBINED.min(64), l.coefficient(scalar));
        let (mut empty, mut begun) = (l.combination(), l.combination_from(&[first; LANES]));
        for term in 0..terms {
            empty = l.combine(empty, &x, coefficient);
            if term > 0 {
                begun = l.combine(begun, &x, coefficient);
            }
        }
        let folded = (1..terms).fold(l.fold_combination(empty), |sum, _| l.combine(sum, &x, coefficient));
        let mut out = [[0; LANES]; 3];
        for (out, sum) in out.iter_mut().zip([empty, begun, folded]) {
            l.store_combination(out, sum);
        }
        (out, terms)
    }
}

#[test]
fn full_combinations_of_the_largest_words_are_exact() {
    let top = (1u64 << 50) - 1;
    for q in moduli() {
        let scalars = [0, 1, q.value() / 2, q.value() - 1];
        let words = [[0; LANES], [top; LANES], [top, top - 1, 1 << 49, 1, 2, 3, 1 << 25, (1 << 25) - 1]];
        for (x, scalar) in words.iter().flat_map(|x| scalars.map(|scalar| (*x, scalar))) {
            let first = q.value() - 1;
            for ([empty, begun, folded], terms) in everywhere(q, FullCombinations(x, scalar, first)) {
                let sum = |x: u64, terms: usize| x as u128 * scalar as u128 * terms as u128;
                assert_eq!(empty, x.map(|x| q.reduce_u128(sum(x, terms))), "q = {}, {scalar}", q.value());
                let expected = x.map(|x| q.reduce_u128(sum(x, terms - 1) + first as u128));
                assert_eq!(begun, expected, "q = {}, {scalar}", q.value());
                let expected = x.map(|x| q.reduce_u128(sum(x, 2 * terms - 1)));
                assert_eq!(folded, expected, "q = {}, {scalar}", q.value());
            }
        }
    }
}

#[derive(Clone)]
struct Moves;

impl Kernel for Moves {
    type Output = (Vec<Words>, Words);
    fn run<L: Lanes>(self, l: L) -> Self::Output {
        let rows: [Words; LANES] = std::array::from_fn(|i| std::array::from_fn(|j| (8 * i + j) as u64));
        let columns = l.transpose(rows.map(|row| l.load_raw(&row)));
        let mut out = columns.map(|column| {
            let mut words = [0; LANES];
            l.store_raw(&mut words, column);
            words
        });
        let mut permuted = [0; LANES];
        l.store_raw(&mut permuted, l.permute(l.load_raw(&rows[1]), &[7, 6, 0, 0, 3, 2, 1, 5]));
        out.reverse();
        (out.to_vec(), permuted)
    }
}

#[test]
fn transpositions_and_permutations_move_lanes() {
    let q = Modulus::new(257).unwrap();
    for (columns, permuted) in everywhere(q, Moves) {
        for (i, column) in columns.iter().rev().enumerate() {
            assert_eq!(*column, std::array::from_fn(|j| (8 * j + i) as u64));
        }
        assert_eq!(permuted, [15, 14, 8, 8, 11, 10, 9, 13]);
    }
}

#[derive(Clone)]
struct Bounds;

impl Kernel for Bounds {
    type Output = Form;
    fn run<L: Lanes>(self, _: L) -> Form {
        L::FORM
    }
}

#[test]
fn every_form_takes_sums_and_differences_of_reduced_values() {
    for form in everywhere(Modulus::new(257).unwrap(), Bounds) {
        let reduced = form.reduced.max(form.product_of(form.limit)).max(Form::ONE);
        assert!(reduced <= form.subtrahend && 2 * reduced <= form.limit);
        assert!(form.difference(reduced, reduced) <= form.limit);
    }
}
