//! Recognises elements of subrings `Z[X^{m/m'}] ⊂ Z[X]/Φ_m` by their coefficients in the powerful basis.
//!
//! Here m' divides m, and contains each odd prime power of m whole or not at all. An element of the
//! subring has nonzero coefficients only
//!
//! - along the axis of 2: at multiples of a power of two, the ratio of the powers of 2 in m and m';
//! - along an odd axis that m' has: anywhere;
//! - along an odd axis that m' lacks: at place 0.
//!
//! The constants of many linear maps are such elements: those of a map along one dimension of the
//! slots, and those of a map that is a few layers of a transform whose length is a power of two.

use windlass_kernels::{Axis, Shape};

/// An element of the ring of index m', m' < m.
#[derive(Debug)]
pub struct Restricted {
    /// m', not 2 modulo 4; 1 for integers.
    pub index: u64,
    /// Its powerful-basis coefficients there, `[φ(m')]`.
    pub coefficients: Vec<i64>,
}

/// The element in the least such ring that holds it, odd axes taken whole or left out; `None` if
/// that is the whole ring. Time depends on the element: for public ones.
pub fn restrict(shape: &Shape, coefficients: &[i64]) -> Option<Restricted> {
    assert_eq!(coefficients.len(), shape.n());
    let axes = axes_with_distances(shape);
    // Along each axis all places that occur, joined bit by bit.
    let mut places = vec![0; axes.len()];
    for (place, _) in coefficients.iter().enumerate().filter(|(_, a)| **a != 0) {
        for (joined, &(axis, distance)) in places.iter_mut().zip(&axes) {
            *joined |= place / distance % axis.dim;
        }
        if places.iter().all(|joined| joined & 1 == 1) {
            return None;
        }
    }
    // What is left of each axis: its dimension, and the step from one coefficient to the next.
    let left = |(&(axis, _), &joined): (&(&Axis, usize), &usize)| match joined {
        0 => (1, 1),
        joined if axis.prime == 2 => (axis.dim >> joined.trailing_zeros(), 1 << joined.trailing_zeros()),
        _ => (axis.dim, 1),
    };
    let left: Vec<(usize, usize)> = axes.iter().zip(&places).map(left).collect();
    if left.iter().zip(&axes).all(|((dim, _), (axis, _))| *dim == axis.dim) {
        return None;
    }
    let part = |(&(dim, step), &(axis, _)): (&(usize, usize), &(&Axis, usize))| match dim {
        1 => 1,
        _ => axis.index / step as u64,
    };
    let index = left.iter().zip(&axes).map(part).product();
    // The smaller ring has its axes in an order of its own.
    let mut kept: Vec<(usize, u64, usize)> = left
        .iter()
        .zip(&axes)
        .filter(|((dim, _), _)| *dim > 1)
        .map(|(&(dim, step), &(axis, distance))| (dim, axis.prime, step * distance))
        .collect();
    kept.sort_unstable();
    let count = kept.iter().map(|(dim, ..)| dim).product();
    let coefficient = |number: usize| {
        let (mut rest, mut place) = (number, 0);
        for &(dim, _, distance) in kept.iter().rev() {
            place += rest % dim * distance;
            rest /= dim;
        }
        coefficients[place]
    };
    Some(Restricted { index, coefficients: (0..count).map(coefficient).collect() })
}

/// The axes, outermost first, with the distance of neighbours along each.
pub(crate) fn axes_with_distances(shape: &Shape) -> Vec<(&Axis, usize)> {
    let mut distance = shape.n();
    let mut axes = Vec::with_capacity(shape.axes().len());
    for axis in shape.axes() {
        distance /= axis.dim;
        axes.push((axis, distance));
    }
    axes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ c_j·X^{j·m/m'} in the powerful basis of Z[X]/Φ_m: products of one power along each axis.
    fn embedded(shape: &Shape, small: &Shape, coefficients: &[i64]) -> Vec<i64> {
        let mut out = vec![0; shape.n()];
        for (number, &a) in coefficients.iter().enumerate() {
            let mut place = 0;
            for (axis, distance) in axes_with_distances(small) {
                let power = number / distance % axis.dim;
                let (whole, whole_distance) =
                    axes_with_distances(shape).into_iter().find(|(whole, _)| whole.prime == axis.prime).unwrap();
                place += power * (whole.index / axis.index) as usize * whole_distance;
            }
            out[place] = a;
        }
        out
    }

    #[test]
    fn elements_of_smaller_rings_are_found() {
        for (m, smaller) in [(64, &[4u64, 8, 32][..]), (1023, &[3, 11, 31, 33, 341]), (8 * 31, &[4, 8, 31, 4 * 31])] {
            let shape = Shape::new(m).unwrap();
            for &index in smaller {
                let small = Shape::new(index).unwrap();
                let coefficients: Vec<i64> = (0..small.n() as i64).map(|i| i * i % 7 - 3 + i % 2).collect();
                let element = embedded(&shape, &small, &coefficients);
                let found = restrict(&shape, &element).unwrap();
                assert_eq!((found.index, &found.coefficients), (index, &coefficients), "m = {m}");
            }
            let mut integer = vec![0; shape.n()];
            for value in [0, -5] {
                integer[0] = value;
                let found = restrict(&shape, &integer).unwrap();
                assert_eq!((found.index, &found.coefficients[..]), (1, &[value][..]));
            }
            let all: Vec<i64> = (0..shape.n() as i64).collect();
            assert!(restrict(&shape, &all).is_none());
        }
    }
}
