//! Norms of ring elements in the canonical embedding.

use std::cell::RefCell;

use rustfft::FftNum;
use rustfft::num_complex::{Complex, Complex32, Complex64};
use rustfft::num_traits::Zero;
use subtle::{Choice, ConditionallySelectable};
use windlass_kernels::{Axis, Shape};
use zeroize::{Zeroize, Zeroizing};

use crate::fourier::Transforms;
use crate::lines::lines;
use crate::subring::{Restricted, axes_with_distances, restrict};

thread_local! {
    /// Keeps the tables of all lengths that occurred: making them costs as much as a norm.
    static DOUBLE: RefCell<Transforms<f64>> = RefCell::new(Transforms::new());
    static SINGLE: RefCell<Transforms<f32>> = RefCell::new(Transforms::new());
}

/// Columns that are transformed together.
const TOGETHER: usize = 16;

/// What rounding may add to a norm, relatively, in doubles.
const ROUNDING: f64 = 1.0 / (1u64 << 40) as f64;

/// Relative rounding error of a transform in single precision is below log2(length) times this, in
/// the Euclidean norm of all its values.
const SINGLE_ROUNDING: f64 = 8.0 / (1u64 << 24) as f64;

/// max_t |a(ζ^t)| over t in Z_m^*, for powerful-basis coefficients: one complex Fourier transform
/// along each axis.
///
/// Cost O(n·log n), the same for all a; relative error below 2^{−40}, rounded up.
pub fn canonical_norm(shape: &Shape, coefficients: &[i64]) -> f64 {
    assert_eq!(coefficients.len(), shape.n());
    let mut tensor: Vec<Complex64> = coefficients.iter().map(|&a| Complex64::new(a as f64, 0.0)).collect();
    DOUBLE.with_borrow_mut(|planner| embed(shape, planner, &mut tensor));
    let norm = largest(tensor.iter().map(|z| z.norm_sqr())).sqrt() * (1.0 + ROUNDING);
    wipe(&mut tensor);
    norm
}

/// [`canonical_norm`] of an element that is public: in the least ring that holds it, which may be
/// much smaller.
pub fn public_norm(shape: &Shape, coefficients: &[i64]) -> f64 {
    let Some(Restricted { index, coefficients: fewer }) = restrict(shape, coefficients) else {
        return canonical_norm(shape, coefficients);
    };
    match Shape::new(index) {
        _ if index == 1 => fewer[0].unsigned_abs() as f64,
        Ok(smaller) => canonical_norm(&smaller, &fewer),
        Err(_) => canonical_norm(shape, coefficients),
    }
}

/// Upper bounds of the norms of one or two public elements, close where they are not the norms:
/// [`canonical_norm_bounds`] of two that lie in no smaller ring.
pub fn public_norm_bounds(shape: &Shape, elements: &[Vec<i64>]) -> Vec<f64> {
    match elements {
        [a, b] if restrict(shape, a).is_none() && restrict(shape, b).is_none() => {
            canonical_norm_bounds(shape, a, b).to_vec()
        }
        few => few.iter().map(|a| public_norm(shape, a)).collect(),
    }
}

/// The largest of some doubles that are not negative, 0 for none. Time does not depend on them:
/// such doubles are ordered as their bits are.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    f64::from_bits(values.into_iter().fold(0, greater))
}

/// The greater of two doubles that are not negative, in bits.
pub(crate) fn greater(most: u64, next: f64) -> u64 {
    let next = next.to_bits();
    u64::conditional_select(&next, &most, Choice::from((next.wrapping_sub(most) >> 63) as u8))
}

/// Upper bounds of the [`canonical_norm`]s of two elements, by one transform in single precision: a
/// quarter of the price.
///
/// With z = a + i·b, `2·a(ζ^t) = z(ζ^t) + conj z(ζ^{−t})` and `2i·b(ζ^t) = z(ζ^t) − conj
/// z(ζ^{−t})`.
///
/// Rounding of z(ζ^t) is below δ = 8·log2(m)·2^{−24}·√m·‖(a, b)‖₂, ‖·‖₂ the Euclidean norm of both
/// coefficient vectors together: the values at all m-th roots of unity, those that are dropped as
/// well, have the Euclidean norm √m·‖(a, b)‖₂. Each bound is above its norm by at most 2δ. Only
/// elements whose values are small at the primitive roots and large at others (Σ_j X^j on an odd
/// axis) have a δ that matters.
pub fn canonical_norm_bounds(shape: &Shape, a: &[i64], b: &[i64]) -> [f64; 2] {
    assert!(a.len() == shape.n() && b.len() == shape.n());
    let mut tensor: Vec<Complex32> = a.iter().zip(b).map(|(&a, &b)| Complex32::new(a as f32, b as f32)).collect();
    SINGLE.with_borrow_mut(|planner| embed(shape, planner, &mut tensor));
    let (mut first, mut second) = (0.0, 0.0);
    // The values at ζ^{−t} are conjugate to those at ζ^t: half of the points are enough, those in
    // the first half of the outermost axis.
    let (beginnings, innermost) = mirrors(shape);
    let half = (tensor.len() / 2).max(1);
    for (line, mirrored) in tensor[..half].chunks(innermost.len()).zip(beginnings) {
        for (z, place) in line.iter().zip(&innermost) {
            let [z, mirror] = [z, &tensor[mirrored + place]].map(|z| Complex64::new(z.re.into(), z.im.into()));
            let squares = [(z + mirror.conj()).norm_sqr(), (z - mirror.conj()).norm_sqr()];
            first = if squares[0] > first { squares[0] } else { first };
            second = if squares[1] > second { squares[1] } else { second };
        }
    }
    wipe(&mut tensor);
    let slack = single_slack(shape, a, b);
    [first, second].map(|square: f64| square.sqrt() / 2.0 + slack)
}

/// Where the values at ζ^{−t} stand, by lines: along an odd axis, whose points are the powers of a
/// generator, half of it away, along the axis of 2 in bit-reversed order at the other end.
fn mirrors(shape: &Shape) -> (Vec<usize>, Vec<usize>) {
    let mirrored = |(axis, distance): (&Axis, usize)| {
        let places =
            (0..axis.dim).map(|u| if axis.prime == 2 { axis.dim - 1 - u } else { (u + axis.dim / 2) % axis.dim });
        places.map(|u| u * distance).collect()
    };
    lines(axes_with_distances(shape).into_iter().map(mirrored).collect())
}

/// 8·log2(m)·2^{−24}·√m·‖(a, b)‖₂.
fn single_slack(shape: &Shape, a: &[i64], b: &[i64]) -> f64 {
    let m = shape.m() as f64;
    let square: f64 = a.iter().chain(b).map(|&x| (x as f64) * (x as f64)).sum();
    SINGLE_ROUNDING * m.log2() * (m * square).sqrt()
}

/// Entry e is `Σ_j a_j·a_{j+e}`, indices modulo the length m: the coefficients of `a(X)·a(1/X)`
/// modulo X^m − 1.
///
/// By complex Fourier transforms of length m, the second one of |â|²: time and memory accesses
/// depend on m alone, and what depends on a is wiped. Exact while ‖a‖₂² < 2^40, for rounding adds
/// less than log2(m)·2^{−48}·‖a‖₂². Cost O(m·log m).
pub fn autocorrelation(a: &[i64]) -> Zeroizing<Vec<i64>> {
    /// Added to a double below 2^51 it leaves the nearest integer in the low bits.
    const INTEGERS: f64 = 1.5 * (1u64 << 52) as f64;
    let mut values: Vec<Complex64> = a.iter().map(|&a| Complex64::new(a as f64, 0.0)).collect();
    let fft = DOUBLE.with_borrow_mut(|planner| planner.plan_fft_forward(a.len()));
    let mut scratch = vec![Complex::zero(); fft.get_inplace_scratch_len()];
    fft.process_with_scratch(&mut values, &mut scratch);
    values.iter_mut().for_each(|z| *z = Complex64::new(z.norm_sqr(), 0.0));
    // A second transform forward: entries e and −e are equal.
    fft.process_with_scratch(&mut values, &mut scratch);
    let inverse = 1.0 / a.len() as f64;
    let integer = |z: &Complex64| (z.re * inverse + INTEGERS).to_bits() as i64 - INTEGERS.to_bits() as i64;
    let sums = Zeroizing::new(values.iter().map(integer).collect());
    wipe(&mut scratch);
    wipe(&mut values);
    sums
}

/// The values at all ζ^t, in the order of the shape.
fn embed<T: FftNum + Zeroize>(shape: &Shape, planner: &mut Transforms<T>, tensor: &mut [Complex<T>]) {
    for (position, axis) in shape.axes().iter().enumerate() {
        let inner: usize = shape.axes()[position + 1..].iter().map(|axis| axis.dim).product();
        let length = axis.index as usize;
        let fft = planner.plan_fft_forward(length);
        let mut scratch = vec![Complex::zero(); fft.get_inplace_scratch_len()];
        let mut columns = vec![Complex::zero(); TOGETHER * length];
        let count = tensor.len() / axis.dim;
        for start in (0..count).step_by(TOGETHER) {
            let together = TOGETHER.min(count - start);
            let bases = (start..start + together).map(|column| column / inner * axis.dim * inner + column % inner);
            for (base, column) in bases.clone().zip(columns.chunks_exact_mut(length)) {
                (0..axis.dim).for_each(|j| column[j] = tensor[base + j * inner]);
                column[axis.dim..].fill(Complex::zero());
            }
            fft.process_with_scratch(&mut columns[..together * length], &mut scratch);
            for (base, column) in bases.zip(columns.chunks_exact(length)) {
                axis.points.iter().enumerate().for_each(|(u, &t)| tensor[base + u * inner] = column[t as usize]);
            }
        }
        wipe(&mut scratch);
        wipe(&mut columns);
    }
}

/// The coefficients may be those of a secret key.
fn wipe<T: Zeroize>(values: &mut [Complex<T>]) {
    values.iter_mut().for_each(|z| {
        z.re.zeroize();
        z.im.zeroize();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_conjugates() {
        for m in [3, 4, 5, 16, 45, 60, 91, 1155] {
            let shape = Shape::new(m).unwrap();
            let (beginnings, innermost) = mirrors(&shape);
            let places = beginnings.iter().flat_map(|base| innermost.iter().map(move |place| base + place));
            assert_eq!(places.clone().count(), shape.n());
            for (place, mirrored) in places.enumerate() {
                assert_eq!(shape.position(m - u64::from(shape.exponents()[place])), Some(mirrored), "m = {m}");
                assert!(place >= shape.n() / 2 || mirrored >= shape.n() / 2, "m = {m}");
            }
        }
    }

    #[test]
    fn bounds_of_two_norms() {
        for m in [5, 16, 45, 60, 91, 1155, 18631] {
            let shape = Shape::new(m).unwrap();
            let element =
                |seed: i64| -> Vec<i64> { (0..shape.n() as i64).map(|i| (i * i * seed + 3 * i) % 7 - 3).collect() };
            for (a, b) in [(element(1), element(2)), (element(5), vec![0; shape.n()])] {
                let norms = [canonical_norm(&shape, &a), canonical_norm(&shape, &b)];
                let slack = f64::max(norms[0], norms[1]) / 1024.0;
                for (bound, norm) in canonical_norm_bounds(&shape, &a, &b).into_iter().zip(norms) {
                    assert!(bound >= norm && bound <= norm + slack, "m = {m}: {bound} against {norm}");
                }
            }
        }
    }

    /// Against sums of integers, for lengths of every kind: prime, a power, composite; and exact
    /// for values far above those of sparse secrets.
    #[test]
    fn autocorrelations_are_exact() {
        for (m, size) in [(1usize, 3), (2, 1), (11, 1), (64, 1000), (105, 1), (1155, 2), (1009, 10_000)] {
            let a: Vec<i64> = (0..m as i64).map(|i| (i * i * 7 + 3 * i) % (2 * size + 1) - size).collect();
            let direct: Vec<i64> = (0..m).map(|e| (0..m).map(|j| a[j] * a[(j + e) % m]).sum()).collect();
            assert_eq!(*autocorrelation(&a), direct, "m = {m}");
        }
        // A sparse secret at a size of practice: its square norm, and nothing but what its terms
        // give.
        let mut a = vec![0; 87381];
        (0..32).for_each(|i| a[i * i * 85] = 1 - 2 * (i as i64 % 2));
        let sums = autocorrelation(&a);
        let terms: Vec<(usize, i64)> = a.iter().copied().enumerate().filter(|&(_, x)| x != 0).collect();
        let mut direct = vec![0; a.len()];
        for &(i, x) in &terms {
            terms.iter().for_each(|&(j, y)| direct[(a.len() + i - j) % a.len()] += x * y);
        }
        assert!(sums[0] == 32 && *sums == direct);
    }

    /// Σ_j X_i^j over the axes with a bit in `subset`, `factor` times: only the values at dropped
    /// points are large.
    fn sum_over_axes(shape: &Shape, subset: usize, factor: i64) -> Vec<i64> {
        let inside = |mut place: usize| {
            shape.axes().iter().enumerate().rev().all(|(i, axis)| {
                let digit = place % axis.dim;
                place /= axis.dim;
                digit == 0 || subset >> i & 1 == 1
            })
        };
        (0..shape.n()).map(|place| factor * i64::from(inside(place))).collect()
    }

    #[test]
    fn bounds_of_two_norms_where_dropped_values_are_the_largest() {
        for m in [5, 45, 91, 1155, 12289, 18631, 65537] {
            let shape = Shape::new(m).unwrap();
            let axes = shape.axes().len();
            let all = (1 << axes) - 1;
            let sums = (0..axes).map(|i| 1 << i).chain([all]);
            for (a, b) in sums
                .flat_map(|subset| [[(subset, 1), (0, 0)], [(0, 1), (subset, -5)], [(subset, 7), (all, 3)]])
                .map(|pair| pair.map(|(subset, factor)| sum_over_axes(&shape, subset, factor)))
                .map(|[a, b]| (a, b))
            {
                let norms = [canonical_norm(&shape, &a), canonical_norm(&shape, &b)];
                let squares: i64 = a.iter().chain(&b).map(|x| x * x).sum();
                let slack = 16.0 * (m as f64).log2() * (m as f64 * squares as f64).sqrt() / 16_777_216.0;
                for (bound, norm) in canonical_norm_bounds(&shape, &a, &b).into_iter().zip(norms) {
                    assert!(bound >= norm && bound <= norm + slack * 1.0001, "m = {m}: {bound} against {norm}");
                }
            }
        }
        // On a prime axis Σ_j X^j = −X^{l−1}: the norm is 1.
        let shape = Shape::new(12289).unwrap();
        assert!((canonical_norm(&shape, &vec![1; shape.n()]) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn norms_of_public_elements_are_their_norms() {
        for (m, apart, count) in [(64, 8, 4), (1023, 1, 30), (1023, 30, 10), (8 * 31, 30, 4), (45, 1, 1), (45, 1, 24)] {
            let shape = Shape::new(m).unwrap();
            let mut element = vec![0; shape.n()];
            (0..count).for_each(|i| element[i * apart] = (7 * i * i % 11) as i64 - 5);
            let norm = canonical_norm(&shape, &element);
            let found = [public_norm(&shape, &element), public_norm_bounds(&shape, &[element.clone()])[0]];
            assert!(found.into_iter().all(|found| (found - norm).abs() < 1e-6 * norm), "m = {m}: {found:?}, {norm}");
            let other = vec![1; shape.n()];
            let both = public_norm_bounds(&shape, &[element, other.clone()]);
            assert!(both[0] >= norm * (1.0 - 1e-9) && both[1] >= canonical_norm(&shape, &other) * (1.0 - 1e-9));
        }
    }

    #[test]
    fn the_largest_is_found_wherever_it_stands() {
        let values = [0.0, 1e-300, 3.5, 2.0f64.powi(1000), f64::MIN_POSITIVE / 4.0];
        for turn in 0..values.len() {
            let turned = || values.iter().cycle().skip(turn).take(values.len()).copied();
            assert_eq!(largest(turned()), values[3]);
        }
        assert_eq!(largest([]), 0.0);
        assert_eq!(largest([1.0, f64::INFINITY]), f64::INFINITY);
    }

    #[test]
    fn norms_of_known_elements() {
        for m in [7, 9, 15, 16, 45, 60] {
            let shape = Shape::new(m).unwrap();
            let mut one = vec![0; shape.n()];
            one[0] = -3;
            assert!((canonical_norm(&shape, &one) - 3.0).abs() < 1e-9);
            // Σ of all n basis elements is at most n and at least √n by Parseval on each axis.
            let norm = canonical_norm(&shape, &vec![1; shape.n()]);
            assert!(norm <= shape.n() as f64 + 1e-6);
        }
        // |1 + ζ| is largest at the root nearest to 1: 2·cos(π/16) for m = 16.
        let shape = Shape::new(16).unwrap();
        let norm = canonical_norm(&shape, &[1, 1, 0, 0, 0, 0, 0, 0]);
        assert!((norm - 2.0 * (std::f64::consts::PI / 16.0).cos()).abs() < 1e-9);
    }
}
