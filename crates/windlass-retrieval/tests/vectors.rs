//! Searches beside the same scores in the clear.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::wire::{from_bytes, to_bytes};
use windlass_retrieval::vectors::*;
use windlass_retrieval::{Error, KeyContext};
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::keys::SecretKey;

fn rng(seed: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([seed; 32])
}

/// About normal numbers.
fn numbers(count: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
    let uniform = |rng: &mut ChaCha20Rng| rng.next_u32() as f64 / 2f64.powi(32) - 0.5;
    (0..count).map(|_| (0..4).map(|_| uniform(rng)).sum()).collect()
}

fn go_on(_: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The score of the vectors as they are.
fn true_score(metric: Metric, x: &[f64], q: &[f64]) -> f64 {
    let sign = if metric.largest_first() { -1.0 } else { 1.0 };
    sign * metric.distance(x, q)
}

/// Asks a table of any layout, through bytes, and compares all scores.
fn search(table: &QuantisedTable, shape: &SearchShape, asked: &QuantisedQuery, seed: u8) -> Vec<Vec<Neighbour>> {
    let mut rng = rng(seed);
    let server = SearchServer::new(VectorTable::prepare(table, shape, &go_on).unwrap());
    let client = SearchClient::generate(shape, &mut rng).unwrap();
    let files = SearchFiles::new(shape).unwrap();
    let key_files = KeyContext::new(client.setting());
    let keys = client.evaluation_keys(&mut rng).unwrap();
    let query = client.query(asked, &mut rng).unwrap();
    let bytes = to_bytes(&files, &query).unwrap();
    assert!(bytes.len() as u64 <= asked.count() as u64 * shape.sizes(client.setting()).query + 200);
    let keys: EvaluationKeys = from_bytes(&key_files, &to_bytes(&key_files, &keys).unwrap()).unwrap();
    let answer = server.answer(&keys, &from_bytes(&files, &bytes).unwrap()).unwrap();
    let bytes = to_bytes(&files, &answer).unwrap();
    assert!(bytes.len() as u64 <= asked.count() as u64 * (shape.sizes(client.setting()).answer + 99) + 200);
    let answer: SearchAnswer = from_bytes(&files, &bytes).unwrap();
    let found = client.scores(&answer).unwrap();
    for (number, found) in found.iter().enumerate() {
        assert_eq!(*found, table.scores(asked, number), "{shape}");
    }
    let nearest = client.nearest(&answer, asked, 5).unwrap();
    // Read as the answer to another query of the same client, even to the same vectors.
    let again = client.query(asked, &mut rng).unwrap();
    let other = server.answer(&keys, &again).unwrap();
    assert_eq!(client.nearest(&other, asked, 5).unwrap(), nearest);
    nearest
}

/// An answer is read as the answer to what was asked, in the units of that.
#[test]
fn answers_to_other_vectors_are_refused() {
    let mut rng = rng(7);
    let numbers = [1.0, 0.0, 0.0, 1.0, 0.5, 0.5f32];
    let table = QuantisedTable::new(&Vectors::new(Values::F32(&numbers), 2).unwrap(), Metric::InnerProduct, 8).unwrap();
    let shape = SearchShape::plan(&table, &SearchSpec::default()).unwrap();
    let (client, stranger) =
        (SearchClient::generate(&shape, &mut rng).unwrap(), SearchClient::generate(&shape, &mut rng).unwrap());
    let server = SearchServer::new(VectorTable::prepare(&table, &shape, &go_on).unwrap());
    let quantised = |numbers: &[f32]| shape.quantise(&Vectors::new(Values::F32(numbers), 2).unwrap()).unwrap();
    let asked = quantised(&[0.25, 0.5, 0.5, -0.25]);
    let keys = client.evaluation_keys(&mut rng).unwrap();
    let answer = server.answer(&keys, &client.query(&asked, &mut rng).unwrap()).unwrap();
    assert!(client.nearest(&answer, &asked, 1).is_ok());
    let others: [&[f32]; 4] =
        [&[0.5, -0.25, 0.25, 0.5], &[2.5, 5.0, 0.5, -0.25], &[0.25, 0.5], &[0.25, 0.5, 0.5, -0.25, 0.25, 0.5]];
    for other in others {
        assert_eq!(client.nearest(&answer, &quantised(other), 1).unwrap_err(), Error::OtherQuery, "{other:?}");
    }
    assert!(stranger.nearest(&answer, &asked, 1).is_err());
}

#[test]
fn every_metric_and_layout_gives_the_scores_of_the_clear() {
    let mut rng = rng(1);
    let (count, dimension) = (4500, 9);
    let (rows, queries) = (numbers(count * dimension, &mut rng), numbers(2 * dimension, &mut rng));
    let rows = Vectors::new(Values::F64(&rows), dimension).unwrap();
    let queries = Vectors::new(Values::F64(&queries), dimension).unwrap();
    let layouts = [(1, 9, 1), (1, 5, 2), (2, 5, 1), (4, 1, 3), (16, 1, 1)];
    for (turn, (group, rows_each, ciphertexts)) in layouts.into_iter().enumerate() {
        let metric = Metric::ALL[turn % 3];
        let table = QuantisedTable::new(&rows, metric, 8).unwrap();
        let mut shape = SearchShape::plan(&table, &SearchSpec::default()).unwrap();
        (shape.layout.group, shape.layout.rows, shape.layout.ciphertexts) = (group, rows_each, ciphertexts);
        let asked = shape.quantise(&queries).unwrap();
        let nearest = search(&table, &shape, &asked, 2);
        let (mut x, mut q) = (vec![0.0; dimension], vec![0.0; dimension]);
        for (number, nearest) in nearest.iter().enumerate() {
            queries.read(number, &mut q);
            for neighbour in nearest {
                rows.read(neighbour.index, &mut x);
                let off = (neighbour.score - true_score(metric, &x, &q)).abs();
                assert!(off <= asked.error_bound(&shape, number, neighbour.score) + 1e-12, "{metric}: {off}");
            }
            let order = |pair: &[Neighbour]| match metric.largest_first() {
                true => (-pair[0].integer, pair[0].index) < (-pair[1].integer, pair[1].index),
                false => (pair[0].integer, pair[0].index) < (pair[1].integer, pair[1].index),
            };
            assert!(nearest.len() == 5 && nearest.windows(2).all(order));
        }
    }
}

#[test]
fn every_score_is_within_its_bound() {
    let mut rng = rng(3);
    for metric in Metric::ALL {
        for (bits, dimension) in [(8, 3), (5, 40), (2, 17)] {
            let (rows, queries) = (numbers(300 * dimension, &mut rng), numbers(4 * dimension, &mut rng));
            let rows = Vectors::new(Values::F64(&rows), dimension).unwrap();
            let queries = Vectors::new(Values::F64(&queries), dimension).unwrap();
            let table = QuantisedTable::new(&rows, metric, bits).unwrap();
            let shape = SearchShape::plan(&table, &SearchSpec::default()).unwrap();
            let asked = shape.quantise(&queries).unwrap();
            let (mut x, mut q) = (vec![0.0; dimension], vec![0.0; dimension]);
            let mut worst: f64 = 0.0;
            for number in 0..asked.count() {
                queries.read(number, &mut q);
                for (index, integer) in table.scores(&asked, number).into_iter().enumerate() {
                    rows.read(index, &mut x);
                    let score = asked.score(&shape, number, integer);
                    let bound = asked.error_bound(&shape, number, score);
                    let off = (score - true_score(metric, &x, &q)).abs();
                    assert!(off <= bound + 1e-12, "{metric} {bits} bits: {off} beyond {bound}");
                    worst = worst.max(off / bound);
                }
            }
            // A bound that is never come near would say nothing.
            assert!(worst > 0.05, "{metric} {bits} bits: {worst}");
        }
    }
}

#[test]
fn integers_are_taken_as_they_are() {
    let rows: Vec<i8> = (0..60).map(|k| (k * 37 % 251) as u8 as i8).collect();
    let query = [1i8, -128, 127];
    for metric in [Metric::InnerProduct, Metric::Euclidean] {
        let table = QuantisedTable::new(&Vectors::new(Values::I8(&rows), 3).unwrap(), metric, 8).unwrap();
        let shape = SearchShape::plan(&table, &SearchSpec::default()).unwrap();
        let asked = shape.quantise(&Vectors::new(Values::I8(&query), 3).unwrap()).unwrap();
        for neighbour in &search(&table, &shape, &asked, 4)[0] {
            let x: Vec<f64> = rows[3 * neighbour.index..][..3].iter().map(|&x| x.into()).collect();
            assert_eq!(neighbour.score, true_score(metric, &x, &query.map(f64::from)));
            assert_eq!(asked.error_bound(&shape, 0, neighbour.score), 0.0);
        }
    }
}

/// Numbers whose scale is 1 by chance are rounded all the same, and the bound says so.
#[test]
fn a_scale_of_one_is_not_taken_for_integers() {
    let (rows, query) = ([127.0, 0.4, -3.3, 12.0], [127.0, 0.4]);
    for metric in [Metric::InnerProduct, Metric::Euclidean] {
        let table = QuantisedTable::new(&Vectors::new(Values::F64(&rows), 2).unwrap(), metric, 8).unwrap();
        let shape = SearchShape::plan(&table, &SearchSpec::default()).unwrap();
        assert_eq!((shape.scale, shape.exact), (1.0, false));
        let asked = shape.quantise(&Vectors::new(Values::F64(&query), 2).unwrap()).unwrap();
        for (index, integer) in table.scores(&asked, 0).into_iter().enumerate() {
            let score = asked.score(&shape, 0, integer);
            let off = (score - true_score(metric, &rows[2 * index..][..2], &query)).abs();
            assert!(off <= asked.error_bound(&shape, 0, score) + 1e-9, "{metric}: {off}");
        }
    }
}

#[test]
fn the_largest_table_of_numbers_is_answered_right() {
    // Every number at its largest: bounds are for the worst table.
    let rows = vec![-128i8; 300 * 64];
    let query = [-128i8; 64];
    let table = QuantisedTable::new(&Vectors::new(Values::I8(&rows), 64).unwrap(), Metric::InnerProduct, 8).unwrap();
    let shape = SearchShape::plan(&table, &SearchSpec::default()).unwrap();
    let asked = shape.quantise(&Vectors::new(Values::I8(&query), 64).unwrap()).unwrap();
    let nearest = search(&table, &shape, &asked, 5);
    assert_eq!(
        nearest[0].iter().map(|n| (n.index, n.integer)).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4].map(|i| (i, 1 << 20))
    );
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let vectors = |values: &'static [f64], dimension| Vectors::new(Values::F64(values), dimension).unwrap();
    let zero = vectors(&[1.0, 2.0, 0.0, 0.0], 2);
    let refused = QuantisedTable::new(&zero, Metric::Cosine, 8).unwrap_err();
    assert_eq!(refused, Error::ZeroVector { what: "vector", number: 1 });
    assert!(matches!(QuantisedTable::new(&zero, Metric::InnerProduct, 9), Err(Error::OutOfRange(_))));
    let table = QuantisedTable::new(&zero, Metric::Euclidean, 8).unwrap();
    let shape = SearchShape::plan(&table, &SearchSpec::default()).unwrap();
    assert!(matches!(shape.quantise(&vectors(&[1.0], 1)), Err(Error::WrongDimension { got: 1, expected: 2 })));
    assert!(matches!(shape.quantise(&vectors(&[0.0, -4.1], 2)), Err(Error::TooFar { number: 0, .. })));
    assert!(shape.quantise(&vectors(&[0.0, -4.0], 2)).is_ok());
    let bandwidth = SearchShape::plan(&table, &SearchSpec { bandwidth: 0.0 });
    assert!(matches!(bandwidth, Err(Error::OutOfRange(_))));
    // Scores that no ciphertext carries, and dimensions that no query does.
    let large = vec![127i8; 1 << 20];
    let planned = |dimension: usize| {
        let vectors = Vectors::new(Values::I8(&large), dimension).unwrap();
        let table = QuantisedTable::new(&vectors, Metric::InnerProduct, 8).unwrap();
        SearchShape::plan(&table, &SearchSpec::default())
    };
    assert!(planned(256).is_ok());
    let refused = planned(1 << 16).unwrap_err();
    assert!(matches!(refused, Error::ScoresTooLarge { .. }), "{refused}");
    assert!(matches!(planned(1 << 20), Err(Error::OutOfRange(_))));
}

#[test]
fn strangers_and_stops_are_refused() {
    let mut rng = rng(6);
    let rows: Vec<i8> = (0..40).collect();
    let table = QuantisedTable::new(&Vectors::new(Values::I8(&rows), 4).unwrap(), Metric::InnerProduct, 8).unwrap();
    let mut shape = SearchShape::plan(&table, &SearchSpec::default()).unwrap();
    (shape.layout.group, shape.layout.rows, shape.layout.ciphertexts) = (1, 4, 1);
    let calls = AtomicUsize::new(0);
    let stop = |_: usize, all: usize| {
        assert_eq!(all, 4);
        calls.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Break(())
    };
    assert_eq!(VectorTable::prepare(&table, &shape, &stop).unwrap_err(), Error::Cancelled);
    assert_eq!(calls.into_inner(), 1);
    let server = SearchServer::new(VectorTable::prepare(&table, &shape, &go_on).unwrap());
    let client = SearchClient::generate(&shape, &mut rng).unwrap();
    let other = SearchClient::generate(&shape, &mut rng).unwrap();
    let keys = client.evaluation_keys(&mut rng).unwrap();
    let asked = shape.quantise(&Vectors::new(Values::I8(&[1, 2, 3, 4]), 4).unwrap()).unwrap();
    let query = client.query(&asked, &mut rng).unwrap();
    let foreign = server.answer(&other.evaluation_keys(&mut rng).unwrap(), &query);
    assert!(matches!(foreign, Err(Error::OtherKeyPair(_))));
    let none = server.answer(&EvaluationKeys::of(client.secret_key()), &query);
    assert!(matches!(none, Err(Error::MissingKey { .. })));
    let answer = server.answer(&keys, &query).unwrap();
    assert!(matches!(other.scores(&answer), Err(Error::OtherKeyPair(_))));
    // The same name of the key pair on another secret.
    let setting = client.setting();
    let coefficients = SecretKey::generate(setting.context(), &mut rng).expose_coefficients().to_vec();
    let forged = SecretKey::from_coefficients(setting.context(), client.secret_key().key_id(), coefficients.into());
    let forged = SearchClient::with_secret(&shape, setting, forged.unwrap());
    let refused = forged.scores(&answer).unwrap_err();
    assert!(matches!(refused, Error::NotDecryptable { number: Some(0) }), "{refused}");
    // The same vectors in another order, unless the shape does not say in which.
    let turned: Vec<i8> = rows.chunks(4).rev().flatten().copied().collect();
    let turned = QuantisedTable::new(&Vectors::new(Values::I8(&turned), 4).unwrap(), Metric::InnerProduct, 8).unwrap();
    assert_ne!(turned.digest(), table.digest());
    assert!(matches!(VectorTable::prepare(&turned, &shape, &go_on), Err(Error::OtherTable { .. })));
    let untold = SearchShape { table: None, ..shape.clone() };
    assert!(untold.is_of(&table) && untold.is_of(&turned) && !shape.is_of(&turned));
    let of_turned = SearchShape::with_layout(&turned, shape.layout);
    let named = SearchShape { names: Some(["a", "b", "c", "d"].map(String::from).into()), ..shape.clone() };
    for other in [&of_turned, &untold, &named] {
        let files = SearchFiles::new(&shape).unwrap();
        let theirs = SearchClient::generate(other, &mut rng).unwrap().query(&asked, &mut rng).unwrap();
        let bytes = to_bytes(&SearchFiles::new(other).unwrap(), &theirs).unwrap();
        assert!(from_bytes::<_, SearchQuery>(&files, &bytes).is_err());
        assert!(matches!(server.answer(&keys, &theirs), Err(Error::OtherTable { .. })));
    }
    for (table, names) in [(Some("AB".repeat(32)), None), (Some(String::new()), None), (None, Some(vec![]))] {
        assert!(SearchShape { table, names, ..shape.clone() }.setting().is_err());
    }
    // Another table, and a shape that promises more than it has.
    let mut larger = shape.clone();
    larger.vectors += 1;
    let stranger = SearchClient::with_secret(&larger, setting, SecretKey::generate(setting.context(), &mut rng));
    assert!(matches!(server.answer(&keys, &stranger.query(&asked, &mut rng).unwrap()), Err(Error::OtherTable { .. })));
    assert!(matches!(VectorTable::prepare(&table, &larger, &go_on), Err(Error::OtherTable { .. })));
    shape.message_bits = 40;
    assert!(matches!(shape.setting(), Err(Error::ScoresTooLarge { needed: 40, .. })));
}
