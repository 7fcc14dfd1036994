//! Selections from tables that are made of random polynomials.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_retrieval::bounds::Errors;
use windlass_retrieval::{Error, Moduli, N, Query, Segment, Selection, Shape, answer, evaluation_keys, setting_of};
use windlass_rlwe::keys::SecretKey;

/// A shape with as many message bits as its bound allows.
fn shape(moduli: Moduli, rows: usize, columns: usize, record_coefficients: usize, selections: usize) -> Shape {
    let gadget = windlass_retrieval::SelectorGadget { digits: 3, base_bits: 1 };
    let records = N / record_coefficients;
    let mut shape = Shape { moduli, message_bits: 1, rows, columns, record_coefficients, records, selections, gadget };
    let errors = Errors::of(&windlass_retrieval::Setting::new(moduli).unwrap());
    (shape.message_bits, shape.gadget) = errors.message_bits(&shape.expansion(), shape.selectors(), 3).unwrap();
    shape
}

#[test]
fn every_kind_of_shape_gives_the_record_that_was_asked_for() {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    for shape in [
        shape(Moduli::Wide, 1, 1, N, 1),
        shape(Moduli::Wide, 5, 1, N, 1),
        shape(Moduli::Wide, 6, 3, 700, 1),
        shape(Moduli::Compact, 4, 5, 1, 2),
        shape(Moduli::Compact, 3, 2, N, 2),
    ] {
        let setting = setting_of(&shape).unwrap();
        let half = 1i64 << (shape.message_bits - 1);
        let mut segments: Vec<Segment> =
            (0..shape.columns.div_ceil(2)).map(|_| Segment::zeros(shape.rows, 1).unwrap()).collect();
        let mut table = Vec::new();
        let mut scratch = vec![0; N];
        for polynomial in 0..shape.polynomials() {
            // The extremes first: bounds are for the worst table.
            let coefficients: Vec<i64> = (0..N)
                .map(|_| if polynomial == 0 { -half } else { (rng.next_u64() as i64).rem_euclid(2 * half) - half })
                .collect();
            let (row, column) = (polynomial % shape.rows, polynomial / shape.rows);
            segments[column / 2].put(&setting, row, column % 2, &coefficients, &mut scratch);
            assert_eq!(segments[column / 2].get(&setting, row, column % 2), coefficients);
            table.push(coefficients);
        }
        let segments: Vec<&Segment> = segments.iter().collect();
        let secret = SecretKey::generate(setting.context(), &mut rng);
        let keys = evaluation_keys(&setting, &shape, &secret, &mut rng).unwrap();
        let wanted: Vec<Selection> = (0..5)
            .map(|k| Selection {
                polynomial: (shape.polynomials() - 1) * k / 4,
                record: (shape.records - 1) * (4 - k) / 4,
            })
            .collect();
        let query = Query::new(&setting, &shape, &secret, &wanted, &mut rng).unwrap();
        let one = Query::new(&setting, &shape, &secret, &wanted[1..2], &mut rng).unwrap();
        let answers = answer(&setting, &shape, &segments, &[(&keys, &query), (&keys, &one)]).unwrap();
        assert_eq!((answers[0].parts().len(), answers[1].parts().len()), (5, 1));
        let all = answers[0].parts().iter().chain(answers[1].parts()).zip(wanted.iter().chain(&wanted[1..2]));
        for (part, selection) in all {
            let messages = part.decrypt(&setting, shape.message_bits, &secret).unwrap();
            let from = selection.record * shape.record_coefficients;
            let record = &table[selection.polynomial][from..from + shape.record_coefficients];
            assert_eq!(&messages[..record.len()], record, "{shape:?} {selection:?}");
        }
        let stranger = SecretKey::generate(setting.context(), &mut rng);
        let foreign = answers[0].parts()[0].decrypt(&setting, shape.message_bits, &stranger);
        assert!(matches!(foreign, Err(Error::NotDecryptable { number: None })), "{shape:?}");
    }
}
