//! Trainings at toy size, beside an implementation of their own.

use std::ops::ControlFlow;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_rlwe::{EvaluationKeys, SecretKey};
use windlass_schemes::error::Error;
use windlass_schemes::schemes::ckks::{Ciphertext, Decryptor, Engine, complex};

use super::*;
use crate::approximate::{RefreshKeys, RefreshPlan, RefreshSpec, Refresher};

/// Labels by a noisy linear rule; features of mean 0 and variance 1, more or less.
fn table(rows: usize, features: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let mut number = || (rng.next_u32() as f64 / 2f64.powi(31) - 1.0) * 3f64.sqrt();
    let table: Vec<Vec<f64>> = (0..rows).map(|_| (0..features).map(|_| number()).collect()).collect();
    let rule = |row: &Vec<f64>| row.iter().enumerate().map(|(j, x)| 0.15 * x * (j as f64 - 1.5)).sum::<f64>();
    let labels = table.iter().map(|row| f64::from(u8::from(rule(row) + number() > 0.3))).collect();
    (table, labels)
}

/// The Chebyshev series of the sigmoid by a sum over many points.
fn series(spec: &TrainingSpec) -> impl Fn(f64) -> f64 {
    let (points, bound) = (4096, spec.score_bound);
    let angles: Vec<f64> = (0..points).map(|j| (j as f64 + 0.5) * std::f64::consts::PI / points as f64).collect();
    let series: Vec<f64> = (0..=spec.degree)
        .map(|k| {
            let term = |angle: &f64| (k as f64 * angle).cos() * sigmoid(bound * angle.cos());
            angles.iter().map(term).sum::<f64>() * if k == 0 { 1.0 } else { 2.0 } / points as f64
        })
        .collect();
    move |score: f64| {
        assert!(score.abs() < bound);
        let angle = (score / bound).acos();
        series.iter().enumerate().map(|(k, c)| c * (k as f64 * angle).cos()).sum::<f64>()
    }
}

fn sigmoid(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// Nesterov's method as it is written in textbooks: shares no code with the plan.
fn textbook(rows: &[Vec<f64>], labels: &[f64], steps: usize, sigmoid: impl Fn(f64) -> f64) -> Vec<f64> {
    let size = rows[0].len() + 1;
    let rate = 4.0 / size as f64;
    let (mut weights, mut lookahead, mut lambda) = (vec![0.0; size], vec![0.0; size], 1.0f64);
    for _ in 0..steps {
        let mut next = lookahead.clone();
        for (row, label) in rows.iter().zip(labels) {
            let row: Vec<f64> = row.iter().copied().chain([1.0]).collect();
            let score: f64 = row.iter().zip(&lookahead).map(|(x, w)| x * w).sum();
            let pull = rate * (label - sigmoid(score)) / rows.len() as f64;
            next.iter_mut().zip(&row).for_each(|(w, x)| *w += pull * x);
        }
        let following = (1.0 + (1.0 + 4.0 * lambda * lambda).sqrt()) / 2.0;
        let momentum = (lambda - 1.0) / following;
        lookahead = next.iter().zip(&weights).map(|(new, old)| new + momentum * (new - old)).collect();
        (weights, lambda) = (next, following);
    }
    weights
}

fn worst(found: &TrainedWeights, expected: &[f64]) -> f64 {
    let found = found.weights.iter().chain([&found.bias]);
    found.zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

struct Parties {
    decryptor: Decryptor,
    engine: Engine,
    refresher: Refresher,
    rng: ChaCha20Rng,
}

impl Parties {
    fn new(training: &Training) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let plan = training.refresh();
        let context = plan.context();
        let secret = Arc::new(SecretKey::generate(context.rlwe(), &mut rng));
        let keys = RefreshKeys::generate(plan, &secret, &mut rng).unwrap();
        let mut evaluation = EvaluationKeys::of(&secret);
        for element in training.required_keys() {
            evaluation.add_galois(&secret, element, context.top_level(), &mut rng).unwrap();
        }
        RefreshKeys::add_evaluation_keys(plan, &mut evaluation, &secret, &mut rng).unwrap();
        let engine = Engine::new(context, Arc::new(evaluation)).unwrap();
        let refresher = Refresher::new(plan, engine.clone(), keys).unwrap();
        Self { decryptor: Decryptor::new(context, secret).unwrap(), engine, refresher, rng }
    }

    fn encrypt(&mut self, training: &Training, rows: &[Vec<f64>], labels: &[f64]) -> Vec<Ciphertext> {
        let top = training.context().top_level();
        let vectors = training.encode(rows, labels).unwrap();
        let encrypted = vectors.iter().map(|vector| {
            self.decryptor.encrypt(&complex(vector), training.data_bound(), top, &mut self.rng).unwrap().0
        });
        encrypted.collect()
    }

    fn train(&self, training: &Training, data: &[Ciphertext]) -> windlass_schemes::error::Result<Ciphertext> {
        training.run(&self.engine, &self.refresher, data, &mut |_| ControlFlow::Continue(()))
    }
}

fn toy() -> Arc<RefreshPlan> {
    let spec = RefreshSpec::preset("insecure_toy_refresh_1024_slots16").unwrap();
    Arc::new(RefreshPlan::new(&spec).unwrap())
}

/// Rows that fill two ciphertexts, and steps with several refreshes between.
#[test]
fn encrypted_weights_are_those_of_the_textbook() {
    let spec = TrainingSpec::new(100, 5, 12);
    let (rows, labels) = table(spec.rows, spec.features);
    let expected = textbook(&rows, &labels, spec.steps, series(&spec));
    let training = Training::new(&toy(), &spec).unwrap();
    println!("{training}");
    assert_eq!((training.ciphertexts(), training.columns(), training.rows_per_ciphertext()), (2, 8, 64));
    assert!(worst(&training.in_the_clear(&rows, &labels).unwrap(), &expected) < 1e-10);
    let mut parties = Parties::new(&training);
    let data = parties.encrypt(&training, &rows, &labels);
    let mut reports = Vec::new();
    let observe = &mut |progress: &TrainingProgress| {
        reports.push(*progress);
        ControlFlow::Continue(())
    };
    let result = training.run(&parties.engine, &parties.refresher, &data, observe).unwrap();
    let last = TrainingProgress { step: 12, steps: 12, refreshes: training.refreshes(), is_refresh: false };
    assert_eq!((reports.len(), reports.last()), (13 + training.refreshes(), Some(&last)));
    assert_eq!(training.refreshes(), 5);
    let found = training.weights(&parties.decryptor.decrypt_real(&result).unwrap()).unwrap();
    let (off, stated) = (worst(&found, &expected), training.deviation());
    println!("{found:?}\n{:.1} bits, {:.1} stated", -off.log2(), -stated.log2());
    assert!(off < 5e-5 && off < 4.0 * stated, "{off:e}, {stated:e}");
    assert!(off < result.error_bound() * spec.weight_bound && result.error_bound() < 1e-2);
    // Neither so exact by chance, nor stated too coarsely.
    assert!(stated < 200.0 * off, "{off:e}, {stated:e}");
}

/// One row, one feature, one step; as many features as there is room for; other degrees.
#[test]
fn trainings_have_any_shape() {
    let toy = toy();
    for (rows, features, steps, degree) in [(1, 1, 1, 3), (2, 1, 3, 3), (3, 15, 2, 7), (40, 15, 5, 31), (33, 3, 3, 63)]
    {
        let spec = TrainingSpec { degree, rate: Some(0.2), ..TrainingSpec::new(rows, features, steps) };
        let training = Training::new(&toy, &spec).unwrap();
        let (rows, labels) = table(rows, features);
        let plain = training.in_the_clear(&rows, &labels).unwrap();
        let mut parties = Parties::new(&training);
        let data = parties.encrypt(&training, &rows, &labels);
        let result = parties.train(&training, &data).unwrap();
        let found = training.weights(&parties.decryptor.decrypt_real(&result).unwrap()).unwrap();
        let expected: Vec<f64> = plain.weights.iter().copied().chain([plain.bias]).collect();
        let (off, stated) = (worst(&found, &expected), training.deviation());
        println!("{spec:?}: {:.1} bits, {:.1} stated", -off.log2(), -stated.log2());
        assert!(off < 1e-5 && off < 5.0 * stated, "{spec:?}: {off:e}, {stated:e}");
    }
}

/// Wherever it stops before its end, there is no result.
#[test]
fn trainings_can_be_stopped() {
    let spec = TrainingSpec::new(6, 2, 4);
    let (rows, labels) = table(spec.rows, spec.features);
    let training = Training::new(&toy(), &spec).unwrap();
    let mut parties = Parties::new(&training);
    let data = parties.encrypt(&training, &rows, &labels);
    // Four steps, a refresh and the end.
    for stop in 0..6 {
        let mut left = stop;
        let result = training.run(&parties.engine, &parties.refresher, &data, &mut |_| match left {
            0 => ControlFlow::Break(()),
            _ => {
                left -= 1;
                ControlFlow::Continue(())
            }
        });
        match result {
            Err(Error::Cancelled { operation: "training" }) => assert!(stop < 5),
            result => assert!(stop == 5 && result.is_ok()),
        }
    }
}

#[test]
fn what_no_training_has_is_refused() {
    let toy = toy();
    let spec = TrainingSpec::new(60, 5, 12);
    let refused = |spec: TrainingSpec| Training::new(&toy, &spec).unwrap_err();
    for (wrong, wanted) in [
        (TrainingSpec { rows: 0, ..spec.clone() }, "the number of rows"),
        (TrainingSpec { rows: usize::MAX, ..spec.clone() }, "the number of rows"),
        (TrainingSpec { features: 0, ..spec.clone() }, "the number of features"),
        (TrainingSpec { features: 16, ..spec.clone() }, "the number of features"),
        (TrainingSpec { features: usize::MAX, ..spec.clone() }, "the number of features"),
        (TrainingSpec { steps: 0, ..spec.clone() }, "the number of steps"),
        (TrainingSpec { rate: Some(0.0), ..spec.clone() }, "the learning rate"),
        (TrainingSpec { rate: Some(f64::NAN), ..spec.clone() }, "the learning rate"),
        (TrainingSpec { feature_bound: f64::INFINITY, ..spec.clone() }, "the bound on features"),
        (TrainingSpec { score_bound: f64::NAN, ..spec.clone() }, "the bound on scores"),
        (TrainingSpec { weight_bound: -1.0, ..spec.clone() }, "the bound on weights"),
        (TrainingSpec { degree: 8, ..spec.clone() }, "the degree"),
        (TrainingSpec { degree: 1, ..spec.clone() }, "the degree"),
    ] {
        let error = refused(wrong);
        assert!(matches!(&error, Error::OutOfRange(_)) && error.to_string().contains(wanted), "{error}");
    }
    let shallow = Arc::new(RefreshPlan::new(&RefreshSpec::preset("insecure_toy_refresh_1024").unwrap()).unwrap());
    let error = Training::new(&shallow, &spec).unwrap_err();
    assert_eq!(error, Error::LevelsExhausted { operation: "a step of a training", depth: 3, needed: 7, left: 3 });
}

#[test]
fn data_that_a_plan_is_not_for_is_refused() {
    let spec = TrainingSpec::new(6, 2, 4);
    let (rows, labels) = table(spec.rows, spec.features);
    let training = Training::new(&toy(), &spec).unwrap();
    let with = |value: f64| {
        let mut rows = rows.clone();
        rows[3][1] = value;
        training.encode(&rows, &labels).unwrap_err()
    };
    assert!(matches!(with(f64::NAN), Error::NotFinite { index: 1 }));
    assert!(matches!(with(4.1), Error::ValueTooLarge { index: 1, .. }));
    assert!(matches!(training.encode(&rows[1..], &labels), Err(Error::ShapeMismatch { what: "rows", .. })));
    assert!(matches!(training.encode(&rows, &labels[1..]), Err(Error::ShapeMismatch { what: "labels", .. })));
    let short = vec![vec![0.0]; 6];
    assert!(matches!(training.encode(&short, &labels), Err(Error::ShapeMismatch { what: "features of a row", .. })));
    for label in [0.5, 2.0, -1.0, f64::NAN] {
        let error = training.encode(&rows, &[0.0, 1.0, 0.0, 1.0, 1.0, label]).unwrap_err();
        assert!(matches!(&error, Error::OutOfRange(_)) && error.to_string().contains("a label"), "{error}");
    }
    let mut parties = Parties::new(&training);
    let data = parties.encrypt(&training, &rows, &labels);
    let refused = |data: &[Ciphertext]| parties.train(&training, data).unwrap_err();
    assert!(matches!(refused(&[]), Error::ShapeMismatch { what: "ciphertexts of rows", .. }));
    let top = training.context().top_level();
    let low = parties.engine.lower(&data[0], top - 1).unwrap();
    assert!(matches!(refused(&[low]), Error::LevelsExhausted { operation: "training", needed: 14, left: 13, .. }));
    let other = Training::new(&toy(), &TrainingSpec::new(20, 2, 4)).unwrap();
    assert!(matches!(parties.train(&other, &data), Err(Error::ShapeMismatch { .. })));
    let wide = parties.engine.multiply_integer(&data[0], 3).unwrap();
    assert!(matches!(refused(&[wide]), Error::OutOfRange(_)));
}

/// Without a key of the sums nothing begins.
#[test]
fn missing_keys_are_named() {
    let spec = TrainingSpec::new(6, 2, 4);
    let (rows, labels) = table(spec.rows, spec.features);
    let training = Training::new(&toy(), &spec).unwrap();
    let mut parties = Parties::new(&training);
    let data = parties.encrypt(&training, &rows, &labels);
    let bare =
        Engine::new(training.context(), Arc::new(EvaluationKeys::of_pair(training.context().rlwe(), data[0].key_id())))
            .unwrap();
    let result = training.run(&bare, &parties.refresher, &data, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(result, Err(Error::MissingGaloisKey { .. })));
}

/// The breast-cancer set of the repository, with 128 bits of security: 30 steps, weights to four digits.
/// `WINDLASS_TRAINING` names another degree of the polynomial. Takes some minutes and 12 GB.
#[test]
fn breast_cancer_at_full_size() {
    if std::env::var_os("WINDLASS_NIGHTLY").is_none() {
        return;
    }
    let clock = std::time::Instant::now();
    let (rows, labels) = breast_cancer();
    let degree = std::env::var("WINDLASS_TRAINING").map_or(15, |text| text.parse().unwrap());
    let spec = TrainingSpec { degree, ..TrainingSpec::new(rows.len(), rows[0].len(), 30) };
    let plan = RefreshPlan::new(&RefreshSpec::preset("refresh_n65536_slots32").unwrap()).unwrap();
    println!("{}", plan.explain());
    let training = Training::new(&Arc::new(plan), &spec).unwrap();
    println!("{training}");
    let expected = textbook(&rows, &labels, spec.steps, series(&spec));
    let mut parties = Parties::new(&training);
    println!("keys: {:.2} GB, {:.1?}", parties.refresher.key_bytes() as f64 / 1e9, clock.elapsed());
    let data = parties.encrypt(&training, &rows, &labels);
    let (start, mut last) = (std::time::Instant::now(), std::time::Instant::now());
    let observe = &mut |progress: &TrainingProgress| {
        println!("{progress:?}: {:.1?}", last.elapsed());
        last = std::time::Instant::now();
        ControlFlow::Continue(())
    };
    let result = training.run(&parties.engine, &parties.refresher, &data, observe).unwrap();
    println!("{:.1?} for {} steps and {} refreshes", start.elapsed(), spec.steps, training.refreshes());
    let found = training.weights(&parties.decryptor.decrypt_real(&result).unwrap()).unwrap();
    let (off, stated) = (worst(&found, &expected), training.deviation());
    println!("{found:?}\noff {off:.1e}, stated {stated:.1e}");
    let exact = textbook(&rows, &labels, spec.steps, sigmoid);
    println!("{:.1e} from the weights with the sigmoid itself", worst(&found, &exact));
    let right = rows.iter().zip(&labels).filter(|(row, label)| (found.score(row).unwrap() > 0.0) == (**label == 1.0));
    println!("{} of {} rows", right.count(), rows.len());
    assert!(off < 5e-5 && off < 5.0 * stated, "{off:e}, {stated:e}");
}

/// Standardised features, clipped at 4, and 1 for malignant.
fn breast_cancer() -> (Vec<Vec<f64>>, Vec<f64>) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/breast-cancer.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let cells: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let labels = cells.iter().map(|row| f64::from(u8::from(row[1] == "M"))).collect();
    let mut rows: Vec<Vec<f64>> =
        cells.iter().map(|row| row[2..].iter().map(|cell| cell.parse().unwrap()).collect()).collect();
    let count = rows.len() as f64;
    for column in 0..rows[0].len() {
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
        let deviation = (rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / count).sqrt();
        rows.iter_mut().for_each(|row| row[column] = ((row[column] - mean) / deviation).clamp(-4.0, 4.0));
    }
    (rows, labels)
}

/// Scores and weights beyond the bounds of a plan are found on data in the clear.
#[test]
fn data_in_the_clear_shows_whether_the_bounds_hold() {
    let spec = TrainingSpec::new(60, 3, 8);
    let (rows, labels) = table(spec.rows, spec.features);
    let toy = toy();
    let clear = |spec: &TrainingSpec| Training::new(&toy, spec).unwrap().in_the_clear(&rows, &labels);
    assert!(clear(&spec).is_ok());
    let narrow = TrainingSpec { score_bound: 1.0, ..spec.clone() };
    assert!(matches!(clear(&narrow), Err(Error::OutsideInterval { bound, high: 1.0, .. }) if bound > 1.0));
    let small = TrainingSpec { weight_bound: 0.1, ..spec };
    assert!(matches!(clear(&small), Err(Error::ValueTooLarge { .. })));
}
