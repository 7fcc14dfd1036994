//! Scores of encrypted rows beside those in the clear.

use windlass::rlwe::{Assurance, SecretDistribution};
use windlass::schemes::ckks::{CkksSpec, complex};
use windlass::wire::{CiphertextList, NumberKind, Stored};
use windlass::{Approximate, Client, Context, Error, NeedsKeys, Server};
use windlass_scoring::{LinearModel, Scorer, Scoring, Standardisation, scoring_spec};

/// 64 slots, no security.
fn toy() -> Context<Approximate> {
    toy_of_depth(2)
}

fn toy_of_depth(depth: usize) -> Context<Approximate> {
    let spec = CkksSpec {
        n: 128,
        scale_bits: 36,
        depth,
        base_prime_bits: vec![50],
        special_prime_bits: vec![50, 50],
        digits: 2,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
        refresh_levels: Vec::new(),
    };
    Context::approximate(&spec).unwrap()
}

fn model(features: usize, classes: usize, size: f64) -> LinearModel {
    let means = (0..features).map(|k| k as f64 / 7.0).collect();
    let scales = (0..features).map(|k| 1.0 + (k % 3) as f64).collect();
    let standardisation = Standardisation::new(means, scales, 16.0, false).unwrap();
    let weight = |class: usize, k: usize| ((class * 37 + k * 11 + 1) as f64).sin() * size;
    let weights = (0..classes).map(|class| (0..features).map(|k| weight(class, k)).collect()).collect();
    let biases = (0..classes).map(|class| size * (class as f64 - 1.5)).collect();
    LinearModel::new(standardisation, weights, biases).unwrap()
}

fn rows(features: usize, count: usize) -> Vec<Vec<f64>> {
    let value = |j: usize, k: usize| k as f64 / 7.0 + ((j * 13 + k * 5) as f64).cos() * 3.0;
    (0..count).map(|j| (0..features).map(|k| value(j, k)).collect()).collect()
}

struct Sides {
    scoring: Scoring,
    client: Client<Approximate>,
    server: Server<Approximate>,
}

impl Sides {
    fn new(context: &Context<Approximate>, model: &LinearModel) -> Self {
        let scoring = Scoring::of(context.ckks(), model).unwrap();
        let (client, server) = context.generate_keys_from_seed([&scoring], 3).unwrap();
        Self { scoring, client, server }
    }

    fn encrypt(&self, rows: &[Vec<f64>]) -> windlass::Result<CiphertextList<windlass::schemes::ckks::Ciphertext>> {
        let one = |slots: &[f64], bound| Ok(Stored::new(self.client.encrypt_complex(&complex(slots), bound)?));
        self.scoring.encrypt(rows, one)
    }

    fn scorer(&self, model: &LinearModel) -> windlass::Result<Scorer> {
        Scorer::new(&self.scoring, model, self.server.engine().clone())
    }
}

/// The largest difference between encrypted and plain scores, over the unit.
fn largest_difference(context: &Context<Approximate>, model: &LinearModel, count: usize) -> f64 {
    let sides = Sides::new(context, model);
    let rows = rows(model.features(), count);
    let encrypted = sides.encrypt(&rows).unwrap();
    let answer = sides.scorer(model).unwrap().score(&encrypted, || ()).unwrap();
    let scores = sides.scoring.decrypt(&answer, |ct| sides.client.decrypt(ct)).unwrap();
    assert_eq!(scores.len(), count);
    let mut largest = 0f64;
    for (row, scores) in rows.iter().zip(scores) {
        let plain = model.scores(row).unwrap();
        assert_eq!(plain.len(), scores.len());
        largest = plain.iter().zip(scores).map(|(a, b)| (a - b).abs()).fold(largest, f64::max);
    }
    largest / sides.scoring.unit()
}

#[test]
fn scores_of_every_shape_are_those_in_the_clear() {
    let context = toy();
    for (features, classes) in
        [(3, 1), (16, 1), (5, 2), (8, 3), (64, 1), (64, 4), (1, 5), (150, 1), (190, 3), (61, 10), (2, 64)]
    {
        for count in [1, 7] {
            let difference = largest_difference(&context, &model(features, classes, 1.0), count);
            assert!(difference < 1e-3, "{features} features, {classes} classes, {count} rows: {difference:e}");
        }
    }
}

/// What failed: more features than worst-case bounds on sums of products left room for.
#[test]
fn secure_parameters_take_many_features_and_large_weights() {
    let spec = scoring_spec(10).unwrap();
    assert_eq!(spec.n, 8192);
    let context = Context::approximate(&spec).unwrap();
    for (features, classes, size, count) in
        [(784, 1, 1.0, 5), (784, 10, 1e-9, 5), (784, 1, 1e300, 1), (20_000, 1, 3.0, 1), (5000, 3, 0.0, 1)]
    {
        let difference = largest_difference(&context, &model(features, classes, size), count);
        assert!(difference < 1e-3, "{features} features, {classes} classes, weights of {size:e}: {difference:e}");
    }
}

#[test]
fn nothing_but_scores_comes_back() {
    let (context, model) = (toy(), model(5, 3, 1.0));
    let sides = Sides::new(&context, &model);
    // Six fields that hold something, of which the list says five.
    let all = sides.encrypt(&rows(5, 6)).unwrap();
    let ciphertexts: Vec<_> = all.into_ciphertexts().into_iter().map(Stored::new).collect();
    let told = CiphertextList::new([1, 4 * 8 + 5], NumberKind::Real, ciphertexts).unwrap();
    let answer = sides.scorer(&model).unwrap().score(&told, || ()).unwrap();
    let slots: Vec<f64> = answer.ciphertexts().flat_map(|ct| sides.client.decrypt(ct).unwrap()).collect();
    assert_eq!(slots.len(), 64);
    for (slot, value) in slots.iter().enumerate() {
        let (row, class) = (slot / 8, slot % 8);
        let is_score = row < 5 && class < 3;
        assert_eq!(value.abs() > 1e-4, is_score, "slot {slot}: {value}");
    }
}

#[test]
fn weights_that_are_zero_need_no_other_keys() {
    let (context, shape) = (toy(), model(40, 5, 1.0));
    let sides = Sides::new(&context, &shape);
    for kept in 0..40 {
        let weights = (0..5).map(|class| (0..40).map(|k| f64::from(u8::from(k == kept && class == 2))).collect());
        let sparse = LinearModel::new(shape.standardisation().clone(), weights.collect(), vec![0.5; 5]).unwrap();
        let encrypted = sides.encrypt(&rows(40, 2)).unwrap();
        let answer = sides.scorer(&sparse).unwrap().score(&encrypted, || ()).unwrap();
        let scores = sides.scoring.decrypt(&answer, |ct| sides.client.decrypt(ct)).unwrap();
        let plain = sparse.scores(&rows(40, 2)[1]).unwrap();
        assert!(plain.iter().zip(&scores[1]).all(|(a, b)| (a - b).abs() < 1e-3), "weight {kept}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (context, own) = (toy(), model(5, 2, 1.0));
    let sides = Sides::new(&context, &own);
    let scorer = sides.scorer(&own).unwrap();
    // Models of another shape, or with larger scores than the unit is for.
    for other in [model(6, 2, 1.0), model(5, 3, 1.0)] {
        assert!(matches!(sides.scorer(&other), Err(Error::ShapeMismatch { .. })));
    }
    match sides.scorer(&model(5, 2, 1e4)).map(drop) {
        Err(error @ Error::OutOfRange(_)) => {
            let said = error.to_string();
            assert!(said.contains("largest score") && said.contains("Scoring::of"), "{said}");
        }
        other => panic!("{other:?}"),
    }
    // Rows.
    assert!(matches!(sides.encrypt(&[]), Err(Error::ShapeMismatch { .. })));
    assert!(matches!(sides.encrypt(&rows(6, 1)), Err(Error::ShapeMismatch { .. })));
    let mut bad = rows(5, 3);
    bad[2][1] = f64::NAN;
    assert_eq!(sides.encrypt(&bad).unwrap_err(), Error::NotFinite { index: 11 });
    bad[2][1] = 1e6;
    assert!(matches!(sides.encrypt(&bad), Err(Error::ValueTooLarge { index: 11, .. })));
    // Lists of other shapes.
    let other = Sides::new(&context, &model(9, 2, 1.0));
    let list = other.encrypt(&rows(9, 1)).unwrap();
    // Fields of the same width with fewer features.
    let fewer = Sides::new(&context, &model(6, 2, 1.0)).encrypt(&rows(6, 1)).unwrap();
    assert!(matches!(scorer.score(&fewer, || ()), Err(Error::ShapeMismatch { expected: 5, got: 6, .. })));
    // Two ciphertexts that are told to hold the fields of one.
    let nine = sides.encrypt(&rows(5, 9)).unwrap().into_ciphertexts().into_iter().map(Stored::new).collect();
    let told = CiphertextList::new([1, 7 * 8 + 5], NumberKind::Real, nine).unwrap();
    assert!(matches!(scorer.score(&told, || ()), Err(Error::ShapeMismatch { .. })));
    let odd = list.into_ciphertexts().into_iter().map(Stored::new).collect();
    let odd = CiphertextList::new([1, 17], NumberKind::Real, odd).unwrap();
    assert!(matches!(scorer.score(&odd, || ()), Err(Error::ShapeMismatch { .. })));
    let long = Sides::new(&context, &model(150, 2, 1.0));
    let refused = scorer.score(&long.encrypt(&rows(150, 1)).unwrap(), || ()).unwrap_err();
    assert!(matches!(refused, Error::ShapeMismatch { .. }), "{refused}");
    let refused = long.scoring.decrypt(&told, |ct| sides.client.decrypt(ct)).unwrap_err();
    assert!(matches!(refused, Error::ShapeMismatch { .. }), "{refused}");
    // Keys.
    let (_, keyless) = context.generate_keys_from_seed([], 3).unwrap();
    let refused = Scorer::new(&sides.scoring, &own, keyless.engine().clone()).unwrap_err();
    assert!(matches!(refused, Error::MissingGaloisKey { .. }), "{refused}");
    let refused = scorer.score(&Sides::new(&context, &own).encrypt(&rows(5, 1)).unwrap(), || ());
    assert!(refused.is_ok(), "one seed makes one key pair");
    let (stranger, _) = context.generate_keys_from_seed([&sides.scoring], 4).unwrap();
    let one = |slots: &[f64], bound| Ok(Stored::new(stranger.encrypt_complex(&complex(slots), bound)?));
    let refused = scorer.score(&sides.scoring.encrypt(&rows(5, 1), one).unwrap(), || ()).unwrap_err();
    assert!(matches!(refused, Error::OtherKeyPair(_)), "{refused}");
    // Units and parameters.
    let plain = own.standardisation();
    for unit in [0.0, -1.0, 3.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE] {
        let refused = Scoring::new(context.ckks(), plain.clone(), 2, unit).unwrap_err();
        assert!(matches!(refused, Error::OutOfRange(_)), "{unit}: {refused}");
    }
    let shallow = toy_of_depth(1);
    assert!(matches!(Scoring::of(shallow.ckks(), &own), Err(Error::OutOfRange(_))));
}

#[test]
fn keys_follow_from_the_shape() {
    let context = Context::approximate(&scoring_spec(1).unwrap()).unwrap();
    let keys = |features, classes| {
        let scoring = Scoring::of(context.ckks(), &model(features, classes, 1.0)).unwrap();
        scoring.key_request().galois
    };
    assert_eq!(keys(784, 1), keys(1000, 1));
    assert_eq!(keys(5000, 10), keys(20_000, 10));
    // Sums over fields, and for ten classes as many babies and giants as 16 diagonals take.
    assert_eq!((keys(784, 1).len(), keys(784, 10).len()), (15, 16));
}
