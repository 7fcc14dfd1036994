//! How two encrypted arrays meet: NumPy's broadcasting, as far as no slot has to be copied.
//!
//! A row stands for several rows: that takes no work. One number stands for all entries of a row if
//! its ciphertext holds it in every slot, as sums over all slots do ([`PyCiphertext::spread`]).

use crate::array::PyCiphertext;
use crate::array_layout::ArrayLayout;

/// The shape of two arrays together, and which of their ciphertexts meet.
pub struct Meeting {
    pub layout: ArrayLayout,
    /// For each ciphertext of the result the numbers of those of the first and of the second array.
    pub places: Vec<(usize, usize)>,
}

/// What two arrays broadcast to. None where NumPy knows no common shape, where slots would have to
/// be copied, and where rows of both would be repeated.
pub fn meet(a: &PyCiphertext, b: &PyCiphertext) -> Option<Meeting> {
    let (x, y) = (&a.layout, &b.layout);
    if a.elements != b.elements {
        return None;
    }
    // Where every entry has a ciphertext of its own, all dimensions count ciphertexts.
    let single = x.length == 1 && y.length == 1;
    let fits = x.length == y.length || (a.spread && x.length == 1) || (b.spread && y.length == 1);
    if !(single || x.is_packed() && y.is_packed() && fits) {
        return None;
    }
    let (own, other) = if single { (&*x.dims, &*y.dims) } else { (x.leading(), y.leading()) };
    let mut dims = broadcast(own, other)?;
    let (of_a, of_b) = (sources(own, &dims), sources(other, &dims));
    if of_a.len() > x.rows.max(y.rows) {
        return None;
    }
    let length = x.length.max(y.length);
    if !single {
        dims.push(length);
    }
    let layout = ArrayLayout { dims, rows: of_a.len(), length };
    let slots = a.setting.slots();
    let [count, each_a, each_b] = [&layout, x, y].map(|layout| layout.chunks(slots));
    let place = |row: usize, each: usize, chunk: usize| row * each + chunk.min(each - 1);
    let rows = of_a.into_iter().zip(of_b);
    let places =
        rows.flat_map(|(i, k)| (0..count).map(move |chunk| (place(i, each_a, chunk), place(k, each_b, chunk))));
    Some(Meeting { places: places.collect(), layout })
}

/// The shape that two shapes broadcast to in NumPy.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let count = a.len().max(b.len());
    let at = |dims: &[usize], axis: usize| (axis + dims.len()).checked_sub(count).map_or(1, |place| dims[place]);
    let joined = |axis| match (at(a, axis), at(b, axis)) {
        (1, size) | (size, 1) => Some(size),
        (size, same) => (size == same).then_some(size),
    };
    (0..count).map(joined).collect()
}

/// For each place of the shape `to`, row by row, the place of `of` that stands there: `of` broadcasts
/// to `to`.
pub fn sources(of: &[usize], to: &[usize]) -> Vec<usize> {
    let missing = to.len() - of.len();
    to.iter().enumerate().fold(vec![0], |places, (axis, &size)| {
        let own = if axis < missing { 1 } else { of[axis - missing] };
        let next = |place: usize| (0..size).map(move |k| place * own + if own == 1 { 0 } else { k });
        places.into_iter().flat_map(next).collect()
    })
}
