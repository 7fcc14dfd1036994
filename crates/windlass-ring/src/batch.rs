//! Many small polynomials evaluated together.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_kernels::Modulus;

use crate::basis::Basis;
use crate::buffer::RowBuffer;
use crate::periodic_values::{Found, PeriodicValues, Values};
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::signed::Signed;

/// Polynomials that one task takes: the tables of a prime are then used for all of them.
const GROUP: usize = 4;

/// The coefficients of an element, and its values modulo the first prime if they are known.
type Whole = (Signed, Option<Vec<u64>>);

/// What is held of an element until all are evaluated.
enum Element {
    Periodic(PeriodicValues),
    Whole(Whole),
}

/// Evaluates the elements whose values repeat. Of the others it keeps the coefficients, and the
/// values modulo the first prime if they were needed to see that they do not repeat.
fn find_periodic<T>(ring: &Arc<Ring>, basis: &Basis, elements: Vec<(Vec<i64>, T)>) -> Vec<(Element, T)> {
    let mut row = vec![0; ring.n()];
    let mut list = Vec::with_capacity(elements.len());
    for (a, known) in elements {
        let element = match PeriodicValues::evaluate(ring, basis, &a, &mut row) {
            Found::Periodic(periodic) => Element::Periodic(periodic),
            Found::FirstRow => Element::Whole((a.into(), Some(row.clone()))),
            Found::Nothing => Element::Whole((a.into(), None)),
        };
        list.push((element, known));
    }
    list
}

/// All values of the elements, prime by prime and within a prime in order.
fn evaluate_whole(ring: &Arc<Ring>, basis: &Basis, elements: &[Whole]) -> Vec<Poly<Eval>> {
    let count = elements.len();
    if count == 0 {
        return Vec::new();
    }
    let mut data = ring.take_lasting_buffer(basis.len() * count);
    let mut groups: Vec<Vec<&mut [u64]>> = (0..count.div_ceil(GROUP)).map(|_| Vec::new()).collect();
    data.split_mut().into_iter().enumerate().for_each(|(row, x)| groups[row % count / GROUP].push(x));
    groups.into_par_iter().zip(elements.par_chunks(GROUP)).for_each(|(rows, elements)| {
        let mut rows = rows.into_iter();
        for (number, index) in basis.indices().enumerate() {
            for ((a, first), x) in elements.iter().zip(rows.by_ref()) {
                match first {
                    Some(first) if number == 0 => x.copy_from_slice(first),
                    _ => {
                        a.residues(ring.isa(), ring.modulus(index), x);
                        ring.plan(index).forward(x);
                    }
                }
            }
        }
    });
    data.deal(count).into_iter().map(|data| Poly::wrap(ring, basis.clone(), data)).collect()
}

impl Poly<Eval> {
    /// The values of `count` polynomials with signed coefficients, each with what else is known of
    /// it.
    ///
    /// `coefficients(range)` gives those of the polynomials with these numbers (n each, in the
    /// powerful basis). Those with few values that differ are periodic values ([`Values`]). The others lie
    /// in memory prime by prime, and within a prime in order: sums that take them in this order
    /// read one stream, from huge pages where the system has them. They share that memory and
    /// cannot be wiped one by one: for public constants only.
    ///
    /// Cost: one forward transform for each prime and polynomial, in the smaller ring that holds it
    /// if there is one, over the current threads. Memory meanwhile: the coefficients of those that
    /// are not periodic, a byte each where they are small, and a row of those whose values were
    /// looked at.
    ///
    /// # Errors
    /// Those of `coefficients`.
    pub fn evaluated_batch<T: Send, E: Send>(
        ring: &Arc<Ring>,
        basis: &Basis,
        count: usize,
        coefficients: impl Fn(Range<usize>) -> Result<Vec<(Vec<i64>, T)>, E> + Sync,
    ) -> Result<Vec<(Values, T)>, E> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let group = |group: usize| {
            let numbers = group * GROUP..count.min((group + 1) * GROUP);
            let size = numbers.len();
            let elements = coefficients(numbers)?;
            assert!(
                elements.len() == size && elements.iter().all(|(a, _)| a.len() == ring.n()),
                "n coefficients for each"
            );
            Ok(find_periodic(ring, basis, elements))
        };
        let groups: Vec<Vec<(Element, T)>> =
            (0..count.div_ceil(GROUP)).into_par_iter().map(group).collect::<Result<_, E>>()?;
        let mut found = Vec::with_capacity(count);
        let mut whole = Vec::new();
        for (element, known) in groups.into_iter().flatten() {
            match element {
                Element::Periodic(periodic) => found.push((Some(periodic), known)),
                Element::Whole(element) => {
                    whole.push(element);
                    found.push((None, known));
                }
            }
        }
        let mut polys = evaluate_whole(ring, basis, &whole).into_iter();
        let values = |(periodic, known): (Option<PeriodicValues>, T)| match periodic {
            Some(periodic) => (Values::Periodic(periodic), known),
            None => (Values::All(polys.next().expect("one for each that is left")), known),
        };
        Ok(found.into_iter().map(values).collect())
    }

    /// `count` polynomials whose rows `fill(index, q, rows)` writes, those of one prime at a time,
    /// over the current threads.
    ///
    /// They lie in memory as those of [`Self::evaluated_batch`] and share it: for public values
    /// only.
    pub fn filled_batch(
        ring: &Arc<Ring>,
        basis: &Basis,
        count: usize,
        fill: impl Fn(usize, Modulus, &mut [&mut [u64]]) + Sync,
    ) -> Vec<Self> {
        let mut data = RowBuffer::new(basis.len() * count, ring.n());
        data.split_mut().par_chunks_mut(count.max(1)).enumerate().for_each(|(row, rows)| {
            let index = basis.index(row);
            fill(index, ring.modulus(index), rows);
        });
        data.deal(count).into_iter().map(|data| Self::wrap(ring, basis.clone(), data)).collect()
    }
}

#[cfg(test)]
mod tests {
    use windlass_kernels::{Isa, Modulus, Shape, arith};

    use super::*;

    #[test]
    fn as_one_by_one() {
        for (m, threads) in [(16, 1), (45, 3), (91, 2)] {
            let shape = Arc::new(Shape::new(m).unwrap());
            let primes: Vec<Modulus> = (1u64..)
                .map(|k| (1 << 40) / shape.root_order() * shape.root_order() + k * shape.root_order() + 1)
                .filter(|&q| arith::is_prime(q))
                .take(3)
                .map(|q| Modulus::new(q).unwrap())
                .collect();
            let ring = Ring::new(shape, &primes, Isa::best()).unwrap();
            let basis = Basis::new([0, 2]);
            let n = ring.n() as i64;
            let element = |k: usize| -> Vec<i64> {
                let large = if k == 5 { 1 << 60 } else { 1 };
                (0..n).map(|i| large * ((i * i * (k as i64 + 1)) % 5 - 2)).collect()
            };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for count in [0, 1, 4, 7] {
                let lifted = |range: Range<usize>| Ok::<_, ()>(range.map(|k| (element(k), k)).collect());
                let together = pool.install(|| Poly::evaluated_batch(&ring, &basis, count, lifted)).unwrap();
                assert_eq!(together.len(), count);
                for (number, (poly, k)) in together.into_iter().enumerate() {
                    assert_eq!(number, k);
                    assert_eq!(poly.expanded(), Poly::from_signed(&ring, &basis, &element(k)).into_eval());
                }
            }
            let refused = Poly::evaluated_batch(&ring, &basis, 7, |range| {
                if range.contains(&6) { Err("six") } else { Ok(range.map(|k| (element(k), ())).collect()) }
            });
            assert_eq!(refused.unwrap_err(), "six");
        }
    }

    #[test]
    fn filled_by_prime() {
        let shape = Arc::new(Shape::new(15).unwrap());
        let primes = [61u64, 181, 241].map(|q| Modulus::new(q).unwrap());
        let ring = Ring::new(shape, &primes, Isa::best()).unwrap();
        let basis = Basis::new([0, 2]);
        let polys = Poly::filled_batch(&ring, &basis, 3, |index, q, rows| {
            assert_eq!(q, primes[index]);
            rows.iter_mut().enumerate().for_each(|(k, row)| row.fill(10 * index as u64 + k as u64));
        });
        assert_eq!(polys.len(), 3);
        for (k, poly) in polys.iter().enumerate() {
            assert!(basis.indices().all(|index| poly.row_of(index).iter().all(|&x| x == 10 * index as u64 + k as u64)));
        }
    }
}
