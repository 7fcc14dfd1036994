//! The maps between coefficients and slots, as products of sparse maps on complex slots.
//!
//! The embedding on s slots is a fast Fourier transform of log2 s stages, after a permutation by
//! reversed bits. The permutation is left out of both maps: between them every slot is treated
//! alike.

use windlass_circuits::{ComplexMap, ComplexSlots};
use windlass_rlwe::Limits;
use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::Complex64;

/// The maps of one way are over the slots of the sine: those of the message, or twice as many, which
/// then hold the message twice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'a> {
    /// The slots of the sine.
    pub slots: &'a ComplexSlots,
    /// The number of slots of the message.
    pub message: usize,
}

/// Maps whose product, the first one applied first, brings the coefficients of slots times `factor`
/// into slots: slot j holds `c_k + i·c_{k+s}`, k the number j with its bits reversed. If there are
/// twice as many slots as the message has, the second half is multiplied by −i: the real part of
/// slot s + j is then c_{k+s}. `groups` says how many elementary stages each map takes.
///
/// # Errors
/// [`windlass_schemes::Error::OutOfRange`] unless the groups have log2 s stages in all.
pub(super) fn to_slots(shape: Shape<'_>, groups: &[usize], factor: f64) -> Result<Vec<ComplexMap>> {
    let lengths: Vec<usize> = lengths(shape.message).rev().collect();
    let mut maps = merged(shape.slots, &lengths, groups, factor / shape.message as f64, inverse)?;
    if let (Some(last), true) = (maps.last_mut(), shape.is_joined()) {
        *last = last.multiplied_by(&shape.halves(Complex64::ONE, -Complex64::I))?;
    }
    Ok(maps)
}

/// The maps back: from such slots, or the real parts of twice as many, times `factor`, to the slots
/// of the message.
///
/// # Errors
/// As [`to_slots`].
pub(super) fn to_coefficients(shape: Shape<'_>, groups: &[usize], factor: f64) -> Result<Vec<ComplexMap>> {
    let lengths: Vec<usize> = lengths(shape.message).collect();
    let mut maps = merged(shape.slots, &lengths, groups, factor, forward)?;
    if let (Some(first), true) = (maps.first_mut(), shape.is_joined()) {
        let turned = shape.slots.turn(shape.message as i64, false);
        let terms =
            [(1, shape.halves(Complex64::ONE, Complex64::I)), (turned, shape.halves(Complex64::I, Complex64::ONE))];
        *first = first.compose(&ComplexMap::from_terms(shape.slots, terms)?)?;
    }
    Ok(maps)
}

impl Shape<'_> {
    fn is_joined(self) -> bool {
        self.message < self.slots.count()
    }

    /// One number in the first half of the slots, another one in the second.
    fn halves(self, first: Complex64, second: Complex64) -> Vec<Complex64> {
        let mut values = vec![first; self.slots.count()];
        values[self.message..].fill(second);
        values
    }
}

/// 2, 4, .., s.
fn lengths(slots: usize) -> impl DoubleEndedIterator<Item = usize> {
    (1..=slots.ilog2()).map(|log| 1 << log)
}

fn merged(
    slots: &ComplexSlots,
    lengths: &[usize],
    groups: &[usize],
    factor: f64,
    stage: fn(&ComplexSlots, usize) -> Result<ComplexMap>,
) -> Result<Vec<ComplexMap>> {
    let all = Limits::between(lengths.len(), lengths.len()).with("log2 of the number of slots");
    all.check("the number of elementary stages", groups.iter().sum::<usize>())?;
    let share = Complex64::new(factor.powf(1.0 / groups.len() as f64), 0.0);
    let (mut rest, mut maps) = (lengths, Vec::new());
    for &group in groups {
        let (now, later) = rest.split_at(group);
        rest = later;
        let mut map = ComplexMap::identity(slots).multiplied_by(&vec![share; slots.count()])?;
        for &length in now {
            map = stage(slots, length)?.compose(&map)?;
        }
        maps.push(map);
    }
    Ok(maps)
}

/// Whether slot j is in the lower half of its block, and the root of unity of its pair.
fn place(slots: &ComplexSlots, length: usize, j: usize) -> (bool, Complex64) {
    let (half, order) = (length / 2, 4 * length);
    let (inside, mut power) = (j % half, 1);
    for _ in 0..inside {
        power = power * 5 % order;
    }
    (j % length < half, slots.context().root_of_unity(power, order))
}

/// `(a, b) → (a + w·b, a − w·b)` on the halves of every block.
fn forward(slots: &ComplexSlots, length: usize) -> Result<ComplexMap> {
    butterflies(slots, length, |is_low, root| if is_low { (Complex64::ONE, root) } else { (-root, Complex64::ONE) })
}

/// `(a, b) → (a + b, (a − b)/w)`.
fn inverse(slots: &ComplexSlots, length: usize) -> Result<ComplexMap> {
    butterflies(
        slots,
        length,
        |is_low, root| {
            if is_low { (Complex64::ONE, Complex64::ONE) } else { (-root.conj(), root.conj()) }
        },
    )
}

/// A map that gives every slot its own multiple and one of the other slot of its pair.
fn butterflies(
    slots: &ComplexSlots,
    length: usize,
    factors: impl Fn(bool, Complex64) -> (Complex64, Complex64),
) -> Result<ComplexMap> {
    let (count, half) = (slots.count(), length as i64 / 2);
    let [mut own, mut up, mut down] = [0; 3].map(|_| vec![Complex64::ZERO; count]);
    let block: Vec<_> = (0..length).map(|j| place(slots, length, j)).collect();
    for j in 0..count {
        let (is_low, root) = block[j % length];
        let (same, other) = factors(is_low, root);
        own[j] = same;
        if is_low { up[j] = other } else { down[j] = other }
    }
    let terms = [(0, own), (half, up), (-half, down)].map(|(amount, constant)| (slots.turn(amount, false), constant));
    ComplexMap::from_terms(slots, terms)
}
