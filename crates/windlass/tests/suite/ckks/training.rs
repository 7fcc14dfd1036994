//! Training by the front door; the steps are tested in `windlass-bootstrap`.

use std::ops::ControlFlow;

use windlass::bootstrap::approximate::RefreshSpec;
use windlass::bootstrap::training::TrainingSpec;
use windlass::schemes::ckks::CkksSpec;
use windlass::{Context, Error};

fn rows() -> (Vec<Vec<f64>>, Vec<f64>) {
    let row = |k: usize| vec![(k as f64).sin() * 1.4, (k as f64 * 1.7).cos() * 1.4];
    let rows: Vec<Vec<f64>> = (0..24).map(row).collect();
    let labels = rows.iter().map(|row| f64::from(u8::from(row[0] - 0.5 * row[1] > 0.1))).collect();
    (rows, labels)
}

/// The keys are those that the plan names, for as many refreshes as it says.
#[test]
fn servers_train_with_the_keys_of_the_plan() {
    let context = Context::refreshing(&RefreshSpec::preset("insecure_toy_refresh_1024_slots16").unwrap()).unwrap();
    let training = context.training(&TrainingSpec::new(24, 2, 5)).unwrap();
    let (client, server) = context.generate_keys_from_seed([&training], 1).unwrap();
    let (rows, labels) = rows();
    let data = client.encrypt_training(&training, &rows, &labels).unwrap();
    let mut refreshes = 0;
    let trained = server.train(&training, &data, |progress| {
        refreshes = progress.refreshes;
        ControlFlow::Continue(())
    });
    let trained = trained.unwrap();
    assert_eq!(refreshes, training.refreshes());
    let found = client.decrypt_training(&training, &trained).unwrap();
    let plain = training.in_the_clear(&rows, &labels).unwrap();
    let pairs = found.weights.iter().zip(&plain.weights).chain([(&found.bias, &plain.bias)]);
    let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 5e-5 && worst < trained.error_bound() * training.spec().weight_bound, "{worst:e}");
    let without = client.generate_server([&context.refresh().unwrap()]).unwrap();
    let result = without.train(&training, &data, |_| ControlFlow::Continue(()));
    assert!(matches!(result, Err(Error::MissingKeys { .. })));
    let result = client.generate_server([]).unwrap().train(&training, &data, |_| ControlFlow::Continue(()));
    assert!(matches!(result, Err(Error::MissingKeys { bootstrappings: 1, .. })));
}

#[test]
fn a_context_without_refreshes_is_refused() {
    let plain = Context::approximate(&CkksSpec::secure(1, 36, 4, 2).unwrap()).unwrap();
    let refused = plain.training(&TrainingSpec::new(24, 2, 5));
    assert!(matches!(refused, Err(Error::Bootstrap(windlass::bootstrap::BootstrapError::Unsupported { .. }))));
}
