//! The tensor shape of a cyclotomic ring: powerful basis in, evaluation points out.

use crate::arith;
use crate::error::KernelError;
use crate::ntt::axis::Axis;
use crate::ntt::odd::{AxisDesign, joint_order};

/// Z\[X\]/Φ_m as a tensor of prime-power axes, ordered by ascending φ(m_i): the largest axis is
/// contiguous in memory.
///
/// Coefficients: row-major over the axes, entry (j_1, .., j_k) belongs to Π X_i^{j_i}, 0 ≤ j_i <
/// φ(m_i) (the powerful basis). Values: row-major over the axes, entry (u_1, .., u_k) is the value
/// at X = ζ^t with t ≡ points_i\[u_i\] mod m_i.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    m: u64,
    n: usize,
    axes: Vec<Axis>,
    exponents: Vec<u32>,
    positions: Vec<u32>,
    designs: Vec<Option<AxisDesign>>,
    root_order: u64,
}

impl Shape {
    /// Largest supported ring dimension.
    pub const MAX_DIMENSION: u64 = 1 << 17;

    /// The shape of the m-th cyclotomic ring.
    ///
    /// # Errors
    /// [`KernelError::UnsupportedIndex`] for m < 3, m ≡ 2 mod 4 (use m/2), or φ(m) > 2^17.
    pub fn new(m: u64) -> Result<Self, KernelError> {
        let unsupported = |reason| Err(KernelError::UnsupportedIndex { m, reason });
        if m < 3 {
            return unsupported("it must be at least 3");
        }
        if m % 4 == 2 {
            return unsupported("2m' with an odd m' gives the same ring as m': use m/2");
        }
        if m > 1 << 32 || arith::totient(m) > Self::MAX_DIMENSION {
            return unsupported("the ring dimension phi(m) may be at most 2^17");
        }
        let mut axes: Vec<Axis> = arith::factor(m).into_iter().map(|(p, e)| Axis::new(p, e)).collect();
        axes.sort_by_key(|axis| (axis.dim, axis.prime));
        let n = axes.iter().map(|axis| axis.dim).product();
        // Chinese remaindering weights: w_i ≡ 1 mod m_i, 0 mod the others.
        let weights: Vec<u64> = axes
            .iter()
            .map(|axis| {
                let rest = m / axis.index;
                let inverse = arith::inv_mod(rest % axis.index, axis.index).expect("the axes are coprime");
                arith::mul_mod(rest, inverse, m)
            })
            .collect();
        let mut exponents = vec![0u32; n];
        for (position, exponent) in exponents.iter_mut().enumerate() {
            let (mut rest, mut t) = (position, 0);
            for (axis, &weight) in axes.iter().zip(&weights).rev() {
                t = (t + arith::mul_mod(axis.points[rest % axis.dim], weight, m)) % m;
                rest /= axis.dim;
            }
            *exponent = t as u32;
        }
        let mut positions = vec![u32::MAX; m as usize];
        for (position, &t) in exponents.iter().enumerate() {
            positions[t as usize] = position as u32;
        }
        let (designs, root_order) = designs(m, &axes);
        Ok(Self { m, n, axes, exponents, positions, designs, root_order })
    }

    /// The cyclotomic index m.
    pub fn m(&self) -> u64 {
        self.m
    }

    /// The ring dimension n = φ(m).
    pub fn n(&self) -> usize {
        self.n
    }

    /// The axes, outermost first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// `exponents()[i]` is the t for which position i of a transformed row holds the value at ζ^t.
    pub fn exponents(&self) -> &[u32] {
        &self.exponents
    }

    /// The position that holds the value at ζ^t; `None` when gcd(t, m) > 1.
    pub fn position(&self, t: u64) -> Option<usize> {
        match self.positions[(t % self.m) as usize] {
            u32::MAX => None,
            position => Some(position as usize),
        }
    }

    /// Every prime used with this shape must be 1 modulo this number (m and all helper lengths of
    /// the transforms).
    pub fn root_order(&self) -> u64 {
        self.root_order
    }

    /// How the transform of an odd axis is done; `None` for the axis of 2.
    pub(crate) fn design(&self, index: usize) -> Option<&AxisDesign> {
        self.designs[index].as_ref()
    }
}

/// Above this order of roots there would be too few primes of at most 50 bits.
const MAX_ROOT_ORDER: u64 = 1 << 34;

/// The cheapest designs of the odd axes, unless they need roots of too large an order, and that
/// order.
fn designs(m: u64, axes: &[Axis]) -> (Vec<Option<AxisDesign>>, u64) {
    let choose = |thrifty: bool| {
        let designs: Vec<_> =
            axes.iter().map(|axis| (axis.prime != 2).then(|| AxisDesign::new(axis, thrifty))).collect();
        let order = designs.iter().flatten().fold(m, |order, design| joint_order(order, design.order()));
        (designs, order)
    };
    let cheapest = choose(false);
    if cheapest.1 <= MAX_ROOT_ORDER { cheapest } else { choose(true) }
}
