//! A public mask that makes the coefficients of every table random.
//!
//! The error of an answer depends on the table, because the coefficients are the weights of the
//! errors of a query. Rows that correlate with the expansion add those errors up, which random rows
//! do not. So a table stores the sum of its rows and of numbers that follow from its name, modulo
//! 2^b. The client subtracts them after decryption. The mask hides nothing. It is drawn after the
//! rows are fixed.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::bytes::{centred, pack};
use crate::query::Selection;
use crate::schema::Schema;
use crate::setting::N;
use crate::shape::Shape;

/// The mask of a table.
#[derive(Debug, Clone)]
pub(crate) struct Mask {
    seed: [u8; 32],
    shape: Shape,
}

impl Mask {
    /// That of a schema.
    pub fn of(schema: &Schema) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"windlass table mask 1\n");
        hash.update(schema.id.as_bytes());
        Self { seed: hash.finalize().into(), shape: schema.shape.clone() }
    }

    /// What is added to a polynomial: n·b bits of ChaCha8, whose stream is the polynomial's number.
    ///
    /// They would tell which one it is, so their memory is overwritten.
    fn values(&self, polynomial: usize) -> Zeroizing<Vec<i64>> {
        let bits = self.shape.message_bits;
        let (mut bytes, mut values) = (Zeroizing::new(vec![0; N * bits as usize / 8]), Zeroizing::new(vec![0; N]));
        let mut stream = ChaCha8Rng::from_seed(self.seed);
        stream.set_stream(polynomial as u64);
        stream.fill_bytes(&mut bytes);
        pack(&bytes, bits, &mut values);
        values
    }

    /// Puts the mask on the coefficients of a polynomial.
    pub fn put_on(&self, polynomial: usize, coefficients: &mut [i64]) {
        self.combine(coefficients, &self.values(polynomial), i64::wrapping_add);
    }

    /// Takes it off.
    pub fn take_off(&self, polynomial: usize, coefficients: &mut [i64]) {
        self.combine(coefficients, &self.values(polynomial), i64::wrapping_sub);
    }

    /// Takes it off the record of a selection. Time and memory accesses do not depend on which one
    /// it is.
    pub fn take_off_record(&self, selection: Selection, record: &mut [i64]) {
        let values = self.values(selection.polynomial);
        let mut chosen = Zeroizing::new(vec![0; record.len()]);
        let records = values.chunks_exact(self.shape.record_coefficients).take(self.shape.records);
        for (number, values) in records.enumerate() {
            let wanted = (number as u64).ct_eq(&(selection.record as u64));
            chosen.iter_mut().zip(values).for_each(|(chosen, value)| chosen.conditional_assign(value, wanted));
        }
        self.combine(record, &chosen, i64::wrapping_sub);
    }

    fn combine(&self, coefficients: &mut [i64], values: &[i64], with: impl Fn(i64, i64) -> i64) {
        for (coefficient, &value) in coefficients.iter_mut().zip(values) {
            *coefficient = centred(with(*coefficient, value) as u64, self.shape.message_bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use windlass_rlwe::keys::SecretKey;

    use super::*;
    use crate::bounds::Errors;
    use crate::expand::expand;
    use crate::query::{Query, delta, evaluation_keys};
    use crate::rows::Rows;
    use crate::schema::Contents;
    use crate::selector::SelectorGadget;
    use crate::setting::{Moduli, Setting};
    use crate::switch::{U32Keys, elements};
    use crate::tiles::{Segment, Tile, scan_all};

    const BITS: u32 = 8;

    fn schema(rows: usize) -> Schema {
        let gadget = SelectorGadget { digits: 2, base_bits: 8 };
        let shape = Shape {
            moduli: Moduli::Compact,
            message_bits: BITS,
            rows,
            columns: 1,
            record_coefficients: N,
            records: 1,
            selections: 1,
            gadget,
        };
        Schema::new(shape, Contents::Rows(Rows { count: rows, bytes: N, fixed: true, pieces: 1 })).unwrap()
    }

    /// f(X^k)·X^shift.
    fn moved(f: &[i64], k: usize, shift: usize) -> Vec<i64> {
        let mut out = vec![0; N];
        for (i, &x) in f.iter().enumerate() {
            let place = (i * k + shift) % (2 * N);
            out[place % N] = if place < N { x } else { -x };
        }
        out
    }

    /// Polynomials that meet an error of the first switch where it comes out, for every output: the
    /// reverse of what an expansion of `depth` steps makes of one polynomial.
    fn follows_the_expansion(depth: u32, rng: &mut ChaCha20Rng) -> Vec<Vec<i64>> {
        let first: Vec<i64> = (0..N).map(|_| i64::from(rng.next_u32() % 2) * 2 - 1).collect();
        let back = |f: &[i64], step: u32| moved(f, 1, 2 * N - (1 << step));
        let mut nodes = vec![first.clone(), back(&first, 0).iter().map(|x| -x).collect()];
        for (step, element) in elements(depth).enumerate().skip(1) {
            let turned: Vec<Vec<i64>> = nodes.iter().map(|node| moved(node, element as usize, 0)).collect();
            let with = |sign: i64| -> Vec<Vec<i64>> {
                let add = |(a, b): (&Vec<i64>, &Vec<i64>)| a.iter().zip(b).map(|(a, b)| a + sign * b).collect();
                nodes.iter().zip(&turned).map(add).collect()
            };
            let (evens, odds) = (with(1), with(-1));
            nodes = evens.into_iter().chain(odds.iter().map(|odd| back(odd, step as u32))).collect();
        }
        // Coefficient 0 of a product is Σ f_a·g_{−a}.
        let largest = (1 << (BITS - 1)) - 1;
        nodes.iter().map(|node| moved(node, 2 * N - 1, 0).iter().map(|x| x.signum() * largest).collect()).collect()
    }

    /// Mean square of the coefficients of the error that go with the first, over some queries.
    fn variance(setting: &std::sync::Arc<Setting>, table: &[Vec<i64>], rng: &mut ChaCha20Rng) -> f64 {
        let shape = schema(table.len()).shape;
        let mut segment = Segment::zeros(table.len(), 1).unwrap();
        let mut scratch = vec![0; N];
        for (row, coefficients) in table.iter().enumerate() {
            segment.put(setting, row, 0, coefficients, &mut scratch);
        }
        let (modulus, delta) = (i128::from(setting.modulus()), i128::from(delta(setting, BITS)));
        let (mut sum, mut count) = (0.0, 0);
        for _ in 0..6 {
            let secret = SecretKey::generate(setting.context(), rng);
            let keys = evaluation_keys(setting, &shape, &secret, rng).unwrap();
            let query = Query::new(setting, &shape, &secret, &[Selection { polynomial: 3, record: 0 }], rng).unwrap();
            let keys = U32Keys::new(setting, &keys, shape.depth()).unwrap();
            let rows = expand(setting, &keys, query.ciphertexts[0].expand(setting), &vec![true; table.len()]).unwrap();
            let tiles = [Tile::new(setting, &rows).unwrap()];
            let scanned = scan_all(setting, &[&segment], 0..1, &tiles).unwrap().next().unwrap().remove(0);
            let phase = secret.phase(&scanned.to_parts(setting)).into_coeff();
            let phase = setting.integers([phase.row(0), phase.row(1)]);
            for place in (0..N).step_by(1 << shape.depth()) {
                let error = (i128::from(phase[place]) - delta * i128::from(table[3][place])).rem_euclid(modulus);
                let error = if error > modulus / 2 { error - modulus } else { error } as f64;
                (sum, count) = (sum + error * error, count + 1);
            }
        }
        sum / f64::from(count)
    }

    fn random_table(rows: usize, rng: &mut ChaCha20Rng) -> Vec<Vec<i64>> {
        let row = || (0..N).map(|_| i64::from(rng.next_u32() % (1 << BITS)) - (1 << (BITS - 1))).collect();
        std::iter::repeat_with(row).take(rows).collect()
    }

    #[test]
    fn rows_whose_nodes_are_doubled_have_twice_the_error() {
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        let setting = Setting::new(Moduli::Compact).unwrap();
        // Both take six steps; of 33 rows 31 are doubled in the last.
        let [split, doubled] = [64, 33].map(|rows| {
            let table = random_table(rows, &mut rng);
            variance(&setting, &table, &mut rng) / rows as f64
        });
        assert!((1.5..2.5).contains(&(doubled / split)), "{doubled} a row, where {split} are");
    }

    #[test]
    fn under_a_mask_a_chosen_table_has_errors_like_any_other() {
        let mut rng = ChaCha20Rng::from_seed([2; 32]);
        let (setting, mask) = (Setting::new(Moduli::Compact).unwrap(), Mask::of(&schema(32)));
        let random = random_table(32, &mut rng);
        let chosen = follows_the_expansion(5, &mut rng);
        let masked: Vec<Vec<i64>> = (chosen.iter().enumerate())
            .map(|(polynomial, row)| {
                let mut row = row.clone();
                mask.put_on(polynomial, &mut row);
                row
            })
            .collect();
        let [random, chosen, masked] = [&random, &chosen, &masked].map(|table| variance(&setting, table, &mut rng));
        let bound = Errors::of(&setting).masked(&schema(32).shape.expansion(), BITS);
        assert!(chosen > 10.0 * random, "{chosen} of {random}: it is no worst case");
        assert!(masked < 2.0 * random && masked < bound, "{masked} of {random}, at most {bound}");
    }

    #[test]
    fn a_mask_comes_off_as_a_whole_and_by_records() {
        let mut schema = schema(32);
        (schema.shape.record_coefficients, schema.shape.records) = (1000, 4);
        let mask = Mask::of(&schema);
        let rows: Vec<i64> = (0..N as i64).map(|x| centred(x as u64, BITS)).collect();
        let mut all = rows.clone();
        mask.put_on(5, &mut all);
        let moved = all.iter().zip(&rows).filter(|(a, b)| a != b).count();
        assert!((N - 100..N).contains(&moved), "{moved} coefficients of {N}");
        for record in 0..4 {
            let place = record * 1000..(record + 1) * 1000;
            let mut one = all[place.clone()].to_vec();
            mask.take_off_record(Selection { polynomial: 5, record }, &mut one);
            assert_eq!(one, rows[place]);
        }
        mask.take_off(5, &mut all);
        assert_eq!(all, rows);
        let mut other = rows.clone();
        Mask { seed: [1; 32], ..mask.clone() }.put_on(5, &mut other);
        mask.take_off(5, &mut other);
        assert_ne!(other, rows, "tables have masks of their own");
    }
}
