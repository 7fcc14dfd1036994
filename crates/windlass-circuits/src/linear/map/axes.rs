//! Coordinates on the group Z_m^* of automorphisms: the exponents of the generators of the hypercube's
//! dimensions, and of Frobenius.

use windlass_ring::slots::SlotRing;

/// Marks residues that are no units in the logarithm table.
const NO_UNIT: u32 = u32::MAX;

/// One cyclic factor of the coordinates: a hypercube dimension, or (the last one) the powers of p.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    /// The generator: g_s of a dimension, or p.
    pub generator: u64,
    /// The size: D_s of a dimension, or d.
    pub size: usize,
    /// Whether this is the Frobenius axis.
    pub frobenius: bool,
}

/// Z_m^* as a box: every `t` is `Π_s g_s^{e_s} · p^f` in exactly one way with `0 ≤ e_s < D_s` and
/// `0 ≤ f < d`.
///
/// In a bad dimension `g_s^{D_s}` is not 1 but has coordinates on the other axes; a rotation that
/// wraps around is therefore the same power of `g_s` times a *cofactor* (`θ^{−D}` of Halevi–Shoup
/// 2018, §4.3).
#[derive(Debug, Clone)]
pub struct Axes {
    m: u64,
    axes: Vec<Axis>,
    packed: Vec<u32>,
}

impl Axes {
    /// The coordinates that belong to a slot ring's hypercube. Cost: one pass over Z_m^*.
    pub fn of(slot_ring: &SlotRing) -> Self {
        let dimensions = slot_ring.hypercube().dimensions();
        let mut axes: Vec<Axis> =
            dimensions.iter().map(|s| Axis { generator: s.generator, size: s.size, frobenius: false }).collect();
        axes.push(Axis { generator: slot_ring.prime() % slot_ring.m(), size: slot_ring.degree(), frobenius: true });
        Self::new(slot_ring.m(), axes)
    }

    /// Panics if the axes do not give every unit exactly once: a hypercube promises that they do.
    pub(crate) fn new(m: u64, axes: Vec<Axis>) -> Self {
        let mut packed = vec![NO_UNIT; m.max(2) as usize];
        let total: usize = axes.iter().map(|axis| axis.size).product();
        let mut elements = vec![1 % m.max(2)];
        elements.reserve(total);
        for axis in &axes {
            let (below, mut power) = (elements.len(), 1);
            for _ in 1..axis.size {
                power = power * axis.generator % m;
                for i in 0..below {
                    elements.push(elements[i] * power % m);
                }
            }
        }
        for (index, &t) in elements.iter().enumerate() {
            assert_eq!(packed[t as usize], NO_UNIT, "the generators of the hypercube give {t} twice");
            packed[t as usize] = index as u32;
        }
        Self { m, axes, packed }
    }

    /// The same coordinates, with an axis of generator g cut in two if all of these units are powers of
    /// g^s there, s > 1: that of g, of size s, and that of g^s, along which they lie. So steps of such
    /// a map are steps of its own, not of g.
    pub(crate) fn along(self, units: impl Iterator<Item = u64>) -> Self {
        let mut strides: Vec<u64> = self.axes.iter().map(|axis| axis.size as u64).collect();
        for t in units {
            let exponents = self.exponents(t);
            strides.iter_mut().zip(exponents).for_each(|(s, e)| *s = greatest_common_divisor(*s, e as u64));
        }
        let mut axes = Vec::new();
        for (i, (&axis, stride)) in self.axes.iter().zip(strides).enumerate() {
            let stride = stride as usize;
            if axis.frobenius || stride == 1 || stride == axis.size {
                axes.push(axis);
                continue;
            }
            axes.push(Axis { size: stride, ..axis });
            axes.push(Axis { generator: self.power(i, stride), size: axis.size / stride, ..axis });
        }
        if axes.len() == self.axes.len() { self } else { Self::new(self.m, axes) }
    }

    /// The axes, Frobenius last.
    pub fn list(&self) -> &[Axis] {
        &self.axes
    }

    /// The exponents of a unit, one for each axis. Panics for a number that is no unit below m.
    pub fn exponents(&self, t: u64) -> Vec<usize> {
        let mut index = self.packed[t as usize] as usize;
        assert_ne!(index, NO_UNIT as usize, "{t} is no unit");
        self.axes
            .iter()
            .map(|axis| {
                let exponent = index % axis.size;
                index /= axis.size;
                exponent
            })
            .collect()
    }

    /// `a · b mod m`.
    pub fn product(&self, a: u64, b: u64) -> u64 {
        a * b % self.m
    }

    /// `g^e mod m` for the generator of one axis.
    pub fn power(&self, axis: usize, exponent: usize) -> u64 {
        power_mod(self.axes[axis].generator, exponent as u64, self.m)
    }

    /// `t^{-1} mod m`.
    pub fn inverse(&self, t: u64) -> u64 {
        inverse_mod(t, self.m)
    }
}

/// `base^exponent mod m`, for `m < 2^32`.
pub(crate) fn power_mod(base: u64, mut exponent: u64, m: u64) -> u64 {
    let (mut result, mut base) = (1 % m, base % m);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % m;
        }
        base = base * base % m;
        exponent >>= 1;
    }
    result
}

/// The greatest common divisor.
pub(crate) fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `t^{-1} mod m` for a unit `t`, by Euclid's algorithm.
pub(crate) fn inverse_mod(t: u64, m: u64) -> u64 {
    let (mut old, mut new) = ((t as i64, 1i64), (m as i64, 0i64));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    debug_assert_eq!(old.0, 1, "{t} is not a unit modulo {m}");
    old.1.rem_euclid(m as i64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_along_units_have_them_as_small_powers() {
        let powers = Axis { generator: 5, size: 32, frobenius: false };
        let axes = Axes::new(128, vec![powers, Axis { generator: 127, size: 2, frobenius: true }]);
        let units: Vec<u64> = [4, 12, 28].map(|e| power_mod(5, e, 128)).to_vec();
        let along = axes.clone().along(units.iter().copied());
        assert_eq!(along.list().iter().map(|axis| axis.size).collect::<Vec<_>>(), [4, 8, 2]);
        let exponents: Vec<Vec<usize>> = units.iter().map(|&t| along.exponents(t)).collect();
        assert_eq!(exponents, [[0, 1, 0], [0, 3, 0], [0, 7, 0]]);
        // Nothing to cut: a unit beside the powers of 25, and the identity alone.
        assert_eq!(axes.clone().along([power_mod(5, 3, 128), 25].into_iter()).list(), axes.list());
        assert_eq!(axes.clone().along([1].into_iter()).list(), axes.list());
    }

    #[test]
    fn every_unit_has_one_set_of_coordinates() {
        // Z_105^* with p = 2 of order 12, and two dimensions of size 2 (-1 and 29 lie outside <2>).
        let axes =
            [(29, 2), (104, 2), (2, 12)].map(|(generator, size)| Axis { generator, size, frobenius: size == 12 });
        let axes = Axes::new(105, axes.to_vec());
        for t in (1..105).filter(|t| t % 3 != 0 && t % 5 != 0 && t % 7 != 0) {
            let product =
                axes.exponents(t).iter().enumerate().fold(1, |acc, (s, &e)| axes.product(acc, axes.power(s, e)));
            assert_eq!(product, t);
            assert_eq!(axes.product(t, axes.inverse(t)), 1);
        }
    }
}
