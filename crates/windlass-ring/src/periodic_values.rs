//! The values of public constants, of which only distinct ones are held.
//!
//! An element that is fixed by a group of automorphisms has one value on each orbit. Along an odd axis,
//! whose points are the powers of a generator, its values repeat after a number of places (after one
//! place if the element does not depend on the axis). Along the axis of 2, whose points are in
//! bit-reversed order, neighbouring values are equal. The constants of a linear map along one dimension
//! are such elements, since they are the same in all other coordinates. The memory that they take, and
//! that a product reads, is smaller by the size of the group. Sums expand a few columns at a time, in
//! cache.

use std::ops::Range;
use std::sync::Arc;

use windlass_kernels::{Shape, arith};

use crate::basis::Basis;
use crate::periods::{Pattern, Smaller};
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::signed::residues;
use crate::subring::{Restricted, axes_with_distances, restrict};

/// What is held is at most the row by this: less would not pay for unfolding.
const WORTH: usize = 4;

/// Words of the shortest piece that is copied again and again.
const SHORTEST: usize = 16;

/// The values of a public constant.
#[derive(Debug, Clone)]
pub enum Values {
    /// All of them.
    All(Poly<Eval>),
    /// Those that differ.
    Periodic(PeriodicValues),
}

impl Values {
    /// The values of a public element with these powerful-basis coefficients. Cost: a transform for
    /// each prime.
    pub fn of_signed(ring: &Arc<Ring>, basis: &Basis, coefficients: &[i64]) -> Self {
        match PeriodicValues::evaluate(ring, basis, coefficients, &mut vec![0; ring.n()]) {
            Found::Periodic(periodic) => Self::Periodic(periodic),
            _ => Self::All(Poly::from_signed(ring, basis, coefficients).into_eval()),
        }
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<Ring> {
        match self {
            Self::All(poly) => poly.ring(),
            Self::Periodic(periodic) => &periodic.ring,
        }
    }

    /// The primes.
    pub fn basis(&self) -> &Basis {
        match self {
            Self::All(poly) => poly.basis(),
            Self::Periodic(periodic) => &periodic.basis,
        }
    }

    /// Bytes of the residues that are held.
    pub fn bytes(&self) -> usize {
        match self {
            Self::All(poly) => poly.bytes(),
            Self::Periodic(periodic) => periodic.words.len() * size_of::<u64>(),
        }
    }

    /// All values, unfolded. Cost: one pass.
    pub fn expanded(&self) -> Poly<Eval> {
        match self {
            Self::All(poly) => poly.clone(),
            Self::Periodic(periodic) => {
                let (ring, basis) = (&periodic.ring, &periodic.basis);
                let fill = |index, rows: &mut [&mut [u64]]| periodic.write(index, 0, rows[0]);
                Poly::filled_batch(ring, basis, 1, |index, _, rows| fill(index, rows)).swap_remove(0)
            }
        }
    }

    /// Columns of the row of prime `index`: where they are held, or unfolded into `scratch`, which
    /// has their length.
    pub(crate) fn columns<'a>(&'a self, index: usize, columns: Range<usize>, scratch: &'a mut [u64]) -> &'a [u64] {
        match self {
            Self::All(poly) => &poly.row_of(index)[columns],
            Self::Periodic(periodic) => {
                periodic.write(index, columns.start, scratch);
                scratch
            }
        }
    }

    /// About how many words of memory hold the values of some columns modulo one prime.
    pub(crate) fn words_of(&self, columns: usize) -> usize {
        match self {
            Self::All(_) => columns,
            Self::Periodic(values) => (columns * values.pattern.width).div_ceil(values.ring.n()),
        }
    }

    /// Whether [`Self::columns`] needs scratch memory.
    pub(crate) fn is_periodic(&self) -> bool {
        matches!(self, Self::Periodic(_))
    }
}

impl From<Poly<Eval>> for Values {
    fn from(poly: Poly<Eval>) -> Self {
        Self::All(poly)
    }
}

/// The values that differ, row by row.
#[derive(Debug, Clone)]
pub struct PeriodicValues {
    ring: Arc<Ring>,
    basis: Basis,
    pattern: Arc<Pattern>,
    /// `[basis.len()][pattern.width]`.
    words: Vec<u64>,
}

impl PeriodicValues {
    /// Writes the columns from `start` of the row of prime `index`.
    fn write(&self, index: usize, start: usize, out: &mut [u64]) {
        let row = self.basis.row_of(index).expect("a prime of the basis");
        let width = self.pattern.width;
        self.pattern.expand(&self.words[row * width..(row + 1) * width], start, out);
    }

    /// The values of an element with these coefficients, if few of them differ. If not, `row` may
    /// hold those modulo the first prime: the answer says so.
    ///
    /// By its coefficients an element is known to lie in a smaller ring ([`restrict`]), where it is
    /// transformed; that its values repeat along an odd axis is seen modulo the first prime q. With
    /// θ the automorphism that moves them so far, c − θ(c) is then 0 modulo q, and its coefficients
    /// are at most 3·max|c_i| < q: so c = θ(c), modulo all primes.
    pub(crate) fn evaluate(ring: &Arc<Ring>, basis: &Basis, coefficients: &[i64], row: &mut [u64]) -> Found {
        let restricted = restrict(ring.shape(), coefficients);
        let (m, dim) =
            restricted.as_ref().map_or((ring.m(), ring.n()), |small| (small.index, small.coefficients.len()));
        // Along the axis of 2 nothing more is found: without odd axes it is known how many values
        // differ.
        if m >> m.trailing_zeros() == 1 && dim * WORTH > ring.n() {
            return Found::Nothing;
        }
        let smaller =
            restricted.as_ref().and_then(|restricted| ring.period_cache().smaller(ring.plans(), restricted.index));
        let (element, sub) = match (&restricted, &smaller) {
            (Some(Restricted { coefficients, .. }), Some(sub)) => (&coefficients[..], Some(&**sub)),
            _ => (coefficients, None),
        };
        let place = Place { ring, sub };
        if sub.is_none() && !may_repeat(ring.shape(), element) {
            return Found::Nothing;
        }
        let n = element.len();
        let first = basis.index(0);
        let largest = element.iter().fold(0, |all, a| all | a.unsigned_abs());
        place.transform(first, element, &mut row[..n]);
        let kept = match largest < ring.modulus(first).value() / 4 {
            true => place.kept(&row[..n]),
            false => place.dims(),
        };
        let width: usize = kept.iter().product();
        if width * WORTH > ring.n() {
            return if sub.is_some() { Found::Nothing } else { Found::FirstRow };
        }
        let pattern = ring.period_cache().pattern(ring.shape(), &kept);
        let sources = place.sources(&kept);
        let mut words = Vec::with_capacity(basis.len() * width);
        for index in basis.indices() {
            if index != first {
                place.transform(index, element, &mut row[..n]);
            }
            words.extend(sources.iter().map(|&source| row[source]));
        }
        Found::Periodic(Self { ring: Arc::clone(ring), basis: basis.clone(), pattern, words })
    }
}

/// What an evaluation gave.
pub(crate) enum Found {
    /// Few values.
    Periodic(PeriodicValues),
    /// None that repeat; the row holds all of them modulo the first prime.
    FirstRow,
    /// None that repeat.
    Nothing,
}

/// Where an element is transformed: the ring, or a smaller one.
struct Place<'a> {
    ring: &'a Ring,
    sub: Option<&'a Smaller>,
}

impl Place<'_> {
    fn transform(&self, index: usize, element: &[i64], row: &mut [u64]) {
        residues(self.ring.isa(), self.ring.modulus(index), element, row);
        match self.sub {
            None => self.ring.plan(index).forward(row),
            Some(Smaller { shape: None, .. }) => {}
            Some(Smaller { plans, .. }) => plans[index].forward(row),
        }
    }

    /// For each axis of the ring its dimension here, and the distance of neighbours along it.
    fn axes(&self) -> Vec<(usize, usize)> {
        let of = |shape: &Shape| {
            let here = axes_with_distances(shape);
            let place = |prime| {
                let axis = here.iter().find(|(axis, _)| axis.prime == prime);
                axis.map_or((1, 0), |(axis, distance)| (axis.dim, *distance))
            };
            self.ring.shape().axes().iter().map(|axis| place(axis.prime)).collect()
        };
        match self.sub {
            None => of(self.ring.shape()),
            Some(Smaller { shape: Some(shape), .. }) => of(shape),
            Some(Smaller { shape: None, .. }) => vec![(1, 0); self.ring.shape().axes().len()],
        }
    }

    fn dims(&self) -> Vec<usize> {
        self.axes().into_iter().map(|(dim, _)| dim).collect()
    }

    /// How many values differ along each axis of the ring.
    fn kept(&self, row: &[u64]) -> Vec<usize> {
        let odd = self.ring.shape().axes().iter().map(|axis| axis.prime != 2);
        let kept = |((dim, distance), odd)| if odd && dim > 1 { period(row, dim, distance) } else { dim };
        let mut kept: Vec<usize> = self.axes().into_iter().zip(odd).map(kept).collect();
        // Along the innermost axis a period is a piece to be copied: not of a few words.
        if let (Some(period), Some(axis)) = (kept.last_mut(), self.ring.shape().axes().last())
            && axis.prime != 2
            && (2..SHORTEST).contains(period)
        {
            let longer = |&piece: &usize| axis.dim.is_multiple_of(piece) && piece.is_multiple_of(*period);
            *period = (SHORTEST..axis.dim).find(longer).unwrap_or(axis.dim);
        }
        kept
    }

    /// Where the values that are kept stand in a row.
    fn sources(&self, kept: &[usize]) -> Vec<usize> {
        let axes = self.axes();
        let source = |number: usize| {
            let (mut rest, mut place) = (number, 0);
            for (&kept, (_, distance)) in kept.iter().zip(&axes).rev() {
                place += rest % kept * distance;
                rest /= kept;
            }
            place
        };
        (0..kept.iter().product()).map(source).collect()
    }
}

/// Whether values may repeat along an odd axis, by the coefficients: `false` only if they do not.
///
/// If they do, an automorphism θ of prime order along the axis fixes the element. For a prime index
/// l, θ(X_i^j) = X_i^{tj}; of all ways to write a line with powers up to X_i^{l−1} it keeps the one
/// with 0 for X_i^{l−1}, since it keeps X_i^0: so coefficients j and tj are equal.
fn may_repeat(shape: &Shape, coefficients: &[i64]) -> bool {
    axes_with_distances(shape).into_iter().filter(|(axis, _)| axis.prime != 2).any(|(axis, distance)| {
        if axis.exponent > 1 {
            return true;
        }
        let last = axis.dim;
        let is_fixed = |t: usize| {
            coefficients.chunks_exact(axis.dim * distance).all(|lines| {
                (0..distance).all(|line| {
                    let at = |j: usize| if j == last { 0 } else { lines[j * distance + line] };
                    (1..=last).all(|j| at(j * t % (last + 1)) == at(j))
                })
            })
        };
        // Of order l: the generator to the power of dim/l.
        let primes = (2..=axis.dim).filter(|&l| axis.dim.is_multiple_of(l) && arith::is_prime(l as u64));
        primes.map(|l| axis.points[axis.dim / l] as usize).any(is_fixed)
    })
}

/// The least divisor of `dim` after which all values repeat along an axis.
pub(crate) fn period(row: &[u64], dim: usize, distance: usize) -> usize {
    let repeats = |period: usize| {
        let block = dim * distance;
        row.chunks_exact(block).all(|block| block[period * distance..] == block[..(dim - period) * distance])
    };
    (1..=dim).find(|&period| period == dim || dim.is_multiple_of(period) && repeats(period)).unwrap_or(dim)
}

#[cfg(test)]
mod tests {
    use windlass_kernels::{Isa, modulus};

    use super::*;

    fn ring(m: u64) -> (Arc<Ring>, Basis) {
        let shape = Arc::new(Shape::new(m).unwrap());
        let primes = modulus::find_primes(shape.root_order(), 45, 3, &[]).unwrap();
        (Ring::new(shape, &primes, Isa::best()).unwrap(), Basis::new([0, 2]))
    }

    fn evaluated(ring: &Arc<Ring>, basis: &Basis, coefficients: &[i64]) -> Values {
        let one = |_: Range<usize>| Ok::<_, ()>(vec![(coefficients.to_vec(), ())]);
        Poly::evaluated_batch(ring, basis, 1, one).unwrap().swap_remove(0).0
    }

    /// Σ θ(a) over the automorphisms of some orders along the axes: fixed by them.
    fn fixed(ring: &Ring, coefficients: &[i64], elements: &[u64]) -> Vec<i64> {
        let (ring_basis, prime) = (Basis::new([0]), ring.modulus(0));
        let ring = Ring::new(Arc::clone(ring.shape()), &[prime], Isa::best()).unwrap();
        let mut sum = Poly::from_signed(&ring, &ring_basis, coefficients).into_eval();
        for &element in elements {
            let automorphism = ring.automorphism(element).unwrap();
            let mut moved = sum.clone();
            loop {
                moved = moved.automorphism(&automorphism);
                // Its powers, up to 1: sums over cyclic groups of small order.
                if moved == sum {
                    break;
                }
                let next = sum.plus(&moved);
                if next.automorphism(&automorphism) == next {
                    sum = next;
                    break;
                }
                sum = next;
            }
        }
        let q = prime.value();
        sum.into_coeff().row(0).iter().map(|&x| if x > q / 2 { -((q - x) as i64) } else { x as i64 }).collect()
    }

    #[test]
    fn periodic_values_are_all_values() {
        for (m, width, coefficients) in [
            (
                64u64,
                Some(4),
                Box::new(|i: usize| if i % 8 == 0 { i as i64 - 9 } else { 0 }) as Box<dyn Fn(usize) -> i64>,
            ),
            (64, None, Box::new(|i| if i % 2 == 0 { i as i64 - 9 } else { 0 })),
            (1023, Some(30), Box::new(|i| if i < 30 { 3 * i as i64 - 40 } else { 0 })),
            (1023, Some(1), Box::new(|i| if i == 0 { -7 } else { 0 })),
            (1023, None, Box::new(|i| i as i64 % 9 - 4)),
            (16 * 31, Some(2), Box::new(|i| if i == 0 || i == 120 { 5 } else { 0 })),
        ] {
            let (ring, basis) = ring(m);
            let coefficients: Vec<i64> = (0..ring.n()).map(coefficients).collect();
            let expected = Poly::from_signed(&ring, &basis, &coefficients).into_eval();
            let found = evaluated(&ring, &basis, &coefficients);
            assert_eq!(found.is_periodic(), width.is_some(), "m = {m}");
            assert_eq!(found.bytes(), 8 * basis.len() * width.unwrap_or(ring.n()), "m = {m}");
            assert!(found.expanded() == expected && found.basis() == &basis, "m = {m}");
            for columns in [0..ring.n(), 3..ring.n() - 1, 5..6, 7..7, 13..29] {
                let mut scratch = vec![0; columns.len()];
                for index in basis.indices() {
                    let row = &expected.row_of(index)[columns.clone()];
                    assert_eq!(found.columns(index, columns.clone(), &mut scratch), row, "m = {m}, {columns:?}");
                }
            }
        }
    }

    /// Rings with prime powers and an axis of 2: elements of one coefficient in each of a few
    /// places, sums of periodic and whole constants.
    #[test]
    fn sums_of_folded_and_whole_constants_are_sums() {
        for m in [45, 4 * 27, 32 * 9, 25 * 11, 16 * 5] {
            let (ring, basis) = ring(m);
            let element = |apart: usize| -> Vec<i64> {
                (0..ring.n()).map(|i| if i % apart == 0 { (7 * i * i + apart) as i64 % 9 - 4 } else { 0 }).collect()
            };
            let elements = [element(ring.n()), element(1), element(ring.n() / 2), element(3)];
            let lifted = |range: Range<usize>| Ok::<_, ()>(range.map(|k| (elements[k].clone(), k)).collect());
            let values = Poly::evaluated_batch(&ring, &basis, elements.len(), lifted).unwrap();
            assert!(values[0].0.is_periodic() && !values[1].0.is_periodic(), "m = {m}");
            let inputs: Vec<Poly<Eval>> =
                (2..6).map(|k| Poly::from_signed(&ring, &basis, &element(k)).into_eval()).collect();
            let terms = inputs.iter().zip(&values).map(|(x, (y, _))| ([x, &inputs[0]], Some(y))).collect();
            let [first, second] = Poly::dot_pairs(&ring, &basis, &[terms]).swap_remove(0);
            let whole: Vec<Poly<Eval>> = values.iter().map(|(y, _)| y.expanded()).collect();
            assert!(whole.iter().zip(&elements).all(|(y, a)| *y == Poly::from_signed(&ring, &basis, a).into_eval()));
            assert!(first == Poly::dot(&ring, &basis, &inputs.iter().zip(&whole).collect::<Vec<_>>()), "m = {m}");
            let same: Vec<_> = whole.iter().map(|y| (&inputs[0], y)).collect();
            assert!(second == Poly::dot(&ring, &basis, &same), "m = {m}");
        }
    }

    #[test]
    fn elements_fixed_by_automorphisms_repeat_along_their_axes() {
        // 1023 = 3·11·31, 31 innermost: automorphisms of one axis alone that move by 2 of 10
        // places, by 5 of 30, a piece that is too short, and by 15 of 30, of which there are too
        // many.
        let (ring, basis) = ring(1023);
        let start: Vec<i64> = (0..ring.n() as i64).map(|i| i * i % 5 - 2).collect();
        let along = |axis: u64, generator: u64, places: u64| {
            let other = 1023 / axis;
            let one = (0..1023).find(|t| t % other == 1 && t % axis == generator).unwrap();
            fixed(&ring, &start, &[windlass_kernels::arith::pow_mod(one, places, 1023)])
        };
        for (axis, generator, places, differ) in [(11, 2, 2, Some(120)), (31, 3, 5, None), (31, 3, 15, None)] {
            let element = along(axis, generator, places);
            let found = evaluated(&ring, &basis, &element);
            assert_eq!(found.bytes(), 8 * basis.len() * differ.unwrap_or(ring.n()), "{places} places along {axis}");
            assert!(found.expanded() == Poly::from_signed(&ring, &basis, &element).into_eval());
        }
        let element = along(11, 2, 2);
        // What repeats modulo the first prime alone is not periodic.
        let q = ring.modulus(0).value() as i64;
        let hidden: Vec<i64> = element.iter().zip(&start).map(|(a, b)| a + q * b).collect();
        let found = evaluated(&ring, &basis, &hidden);
        assert!(!found.is_periodic() && found.expanded() == Poly::from_signed(&ring, &basis, &hidden).into_eval());
    }
}
