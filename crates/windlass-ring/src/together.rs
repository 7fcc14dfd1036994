//! Many small polynomials evaluated together.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_kernels::Modulus;

use crate::basis::Basis;
use crate::buffer::RowBuffer;
use crate::folded::{Folded, Found, Values};
use crate::poly::{Eval, Poly};
use crate::ring::Ring;

/// Polynomials that one task takes: the tables of a prime are then used for all of them.
const GROUP: usize = 4;

impl Poly<Eval> {
    /// The values of `count` polynomials with signed coefficients, each with what else is known of
    /// it.
    ///
    /// `coefficients(range)` gives those of the polynomials with these numbers (n each, in the
    /// powerful basis). Those with few values that differ are folded ([`Values`]). The others lie
    /// in memory prime by prime, and within a prime in order: sums that take them in this order
    /// read one stream, from huge pages where the system has them. They share that memory and
    /// cannot be wiped one by one: for public constants only.
    ///
    /// Cost: one forward transform for each prime and polynomial, in the least ring that holds it,
    /// over the current threads. Errors: those of `coefficients`.
    pub fn evaluated_together<T: Send, E: Send>(
        ring: &Arc<Ring>,
        basis: &Basis,
        count: usize,
        coefficients: impl Fn(Range<usize>) -> Result<Vec<(Vec<i64>, T)>, E> + Sync,
    ) -> Result<Vec<(Values, T)>, E> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut data = RowBuffer::new(basis.len() * count, ring.n());
        let mut groups: Vec<Vec<&mut [u64]>> = (0..count.div_ceil(GROUP)).map(|_| Vec::new()).collect();
        data.split_mut().into_iter().enumerate().for_each(|(row, x)| groups[row % count / GROUP].push(x));
        let evaluate = |(group, rows): (usize, Vec<&mut [u64]>)| {
            let numbers = group * GROUP..count.min((group + 1) * GROUP);
            let size = numbers.len();
            let (lifted, known): (Vec<_>, Vec<_>) = coefficients(numbers)?.into_iter().unzip();
            assert!(lifted.len() == size && lifted.iter().all(|a| a.len() == ring.n()), "n coefficients for each");
            // Rows of what is folded are not touched: they take no memory.
            let mut rows = rows.into_iter();
            let mut scratch = vec![0; ring.n()];
            let mut found = Vec::with_capacity(size);
            for (a, x) in lifted.iter().zip(rows.by_ref()) {
                found.push(Folded::evaluate(ring, basis, a, &mut scratch));
                match found.last() {
                    Some(Found::FirstRow) => x.copy_from_slice(&scratch),
                    Some(Found::Nothing) => ring.evaluate_signed(basis.index(0), a, x),
                    _ => {}
                }
            }
            for index in basis.indices().skip(1) {
                for ((a, x), found) in lifted.iter().zip(rows.by_ref()).zip(&found) {
                    if !matches!(found, Found::Folded(_)) {
                        ring.evaluate_signed(index, a, x);
                    }
                }
            }
            Ok(found.into_iter().zip(known).collect())
        };
        let evaluated: Vec<Vec<(Found, T)>> =
            groups.into_par_iter().enumerate().map(evaluate).collect::<Result<_, E>>()?;
        let held = |(data, (found, known))| match found {
            Found::Folded(folded) => (Values::Folded(folded), known),
            _ => (Values::All(Self::wrap(ring, basis.clone(), data)), known),
        };
        Ok(data.deal(count).into_iter().zip(evaluated.into_iter().flatten()).map(held).collect())
    }

    /// `count` polynomials whose rows `fill(index, q, rows)` writes, those of one prime at a time,
    /// over the current threads.
    ///
    /// They lie in memory as those of [`Self::evaluated_together`] and share it: for public values
    /// only.
    pub fn filled_together(
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
                let together = pool.install(|| Poly::evaluated_together(&ring, &basis, count, lifted)).unwrap();
                assert_eq!(together.len(), count);
                for (number, (poly, k)) in together.into_iter().enumerate() {
                    assert_eq!(number, k);
                    assert_eq!(poly.unfolded(), Poly::from_signed(&ring, &basis, &element(k)).into_eval());
                }
            }
            let refused = Poly::evaluated_together(&ring, &basis, 7, |range| {
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
        let polys = Poly::filled_together(&ring, &basis, 3, |index, q, rows| {
            assert_eq!(q, primes[index]);
            rows.iter_mut().enumerate().for_each(|(k, row)| row.fill(10 * index as u64 + k as u64));
        });
        assert_eq!(polys.len(), 3);
        for (k, poly) in polys.iter().enumerate() {
            assert!(basis.indices().all(|index| poly.row_of(index).iter().all(|&x| x == 10 * index as u64 + k as u64)));
        }
    }
}
