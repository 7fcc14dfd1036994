//! Functions of all entries of a vector: softmax, sorting, the largest numbers.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::bootstrap::approximate::RefreshSpec;
use windlass::circuits::{MatrixProduct, PlanSpec, Row};
use windlass::schemes::ckks::complex;
use windlass::{Approximate, Context, Depth, Error, NeedsKeys};

use crate::ckks::common::spec;

const N: usize = 1024;

fn random(count: usize, (low, high): (f64, f64), seed: u64) -> Vec<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut unit = || f64::from(rng.next_u32()) / f64::from(u32::MAX);
    (0..count).map(|_| low + (high - low) * unit()).collect()
}

fn softmax(x: &[f64]) -> Vec<f64> {
    let sum: f64 = x.iter().map(|x| x.exp()).sum();
    x.iter().map(|x| x.exp() / sum).collect()
}

#[test]
fn a_softmax_is_as_exact_as_it_states() {
    for (count, interval, bits) in [(4, (-2.0, 2.0), 12.0), (10, (-1.0, 1.0), 14.0), (7, (-6.0, -1.0), 10.0)] {
        let planner = Context::approximate(&spec(N, 45, 1)).unwrap();
        let depth = planner.functions().softmax(count, interval, bits).unwrap().depth();
        let context = Context::approximate(&spec(N, 45, depth)).unwrap();
        let plan = context.functions().softmax(count, interval, bits).unwrap();
        assert!(plan.approximation_error() <= (-bits).exp2(), "{}", plan.explain());
        for seed in [1, 2] {
            let (client, server) = context.generate_keys_from_seed([&plan], seed).unwrap();
            let ends = [interval.0, interval.1].map(|end| vec![end; count]);
            let mut uneven = vec![interval.0; count];
            uneven[0] = interval.1;
            for x in [random(count, interval, seed), uneven].into_iter().chain(ends) {
                let ct = client.encrypt_complex(&complex(&x), interval.0.abs().max(interval.1.abs())).unwrap();
                let y = server.apply(&plan, &ct).unwrap();
                let got = client.decrypt(&y).unwrap();
                let expected = softmax(&x);
                let worst = expected.iter().zip(&got).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst <= y.error_bound(), "{worst:e} off, {:e} stated (seed {seed})", y.error_bound());
                assert!(y.error_bound() < 2f64.powf(2.0 - bits), "{:e} stated", y.error_bound());
                assert!(-worst.log2() >= y.precision_bits() - 1.5);
                assert!(got[count..].iter().all(|y| y.abs() <= 1e-6), "zeros beside the entries: {got:?}");
                assert!((0..count).all(|j| (plan.value(&x)[j] - expected[j]).abs() <= plan.approximation_error()));
            }
        }
    }
}

/// Whatever is beside the entries is no part of the sum.
#[test]
fn a_softmax_of_entries_alone() {
    let interval = (-2.0, 2.0);
    let depth = Context::approximate(&spec(N, 40, 1)).unwrap().functions().softmax(3, interval, 8.0).unwrap().depth();
    let context = Context::approximate(&spec(N, 40, depth)).unwrap();
    let plan = context.functions().softmax(3, interval, 8.0).unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan], 4).unwrap();
    let x = [0.5, -1.0, 2.0, 100.0];
    let ct = client.encrypt_complex(&complex(&x), 100.0).unwrap().with_entries(3).with_magnitude(2.0);
    let y = server.apply(&plan, &ct).unwrap();
    for (a, b) in softmax(&x[..3]).iter().zip(client.decrypt(&y).unwrap()) {
        assert!((a - b).abs() <= y.error_bound() && y.error_bound() < 0.05);
    }
}

fn descending(x: &[f64]) -> Vec<f64> {
    let mut sorted = x.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted
}

#[test]
fn vectors_are_sorted_as_exactly_as_stated() {
    for (results, count, interval, bits) in
        [(4, 4, (0.0, 1.0), 4.0), (1, 6, (-2.0, 1.0), 3.0), (2, 3, (-1.0, 1.0), 4.0)]
    {
        let planner = Context::approximate(&spec(N, 45, 1)).unwrap();
        let depth = planner.functions().largest(results, count, interval, bits).unwrap().depth();
        let context = Context::approximate(&spec(N, 45, depth)).unwrap();
        let plan = context.functions().largest(results, count, interval, bits).unwrap();
        assert!(plan.approximation_error() <= (-bits).exp2() * (1.0 + 1e-9), "{}", plan.explain());
        let (client, server) = context.generate_keys_from_seed([&plan], 7).unwrap();
        for seed in [1, 2] {
            let mut x = random(count, interval, seed);
            if seed == 2 {
                (x[0], x[1]) = (interval.0, interval.1);
                x[count - 1] = x[0];
            }
            let ct = client.encrypt_complex(&complex(&x), interval.0.abs().max(interval.1.abs())).unwrap();
            let y = server.apply(&plan, &ct).unwrap();
            assert_eq!(y.entries(), results);
            let (got, expected) = (client.decrypt(&y).unwrap(), descending(&x));
            let pairs = expected[..results].iter().zip(&got);
            let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst <= y.error_bound(), "{worst:e} off, {:e} stated\n{}", y.error_bound(), plan.explain());
            assert!(y.error_bound() <= (-bits).exp2() + 1e-3, "{:e} stated\n{}", y.error_bound(), plan.explain());
            let computed = plan.value(&x);
            assert!((0..results).all(|j| (computed[j] - expected[j]).abs() <= plan.approximation_error()));
        }
    }
}

#[test]
fn rows_that_do_not_fit_are_refused_before_any_work() {
    let context = Context::approximate(&spec(256, 40, 4)).unwrap();
    let functions = context.functions();
    let (sort, softmax) =
        (functions.sorting(4, (0.0, 1.0), 3.0).unwrap(), functions.softmax(4, (0.0, 1.0), 8.0).unwrap());
    let (client, server) = context.generate_keys_from_seed([&sort as &dyn NeedsKeys, &softmax], 3).unwrap();
    let [four, five] = [4, 5].map(|count| client.encrypt(&random(count, (0.0, 1.0), 1)).unwrap());
    let deeper = server.apply(&sort, &four).unwrap_err();
    assert!(matches!(deeper, Error::LevelsExhausted { needed, left: 4, .. } if needed == sort.depth()), "{deeper}");
    let deeper = server.apply(&softmax, &four).unwrap_err();
    assert!(matches!(deeper, Error::LevelsExhausted { needed, .. } if needed == softmax.depth()), "{deeper}");
    assert!(matches!(server.apply(&sort, &five), Err(Error::ShapeMismatch { .. })));
    assert!(matches!(server.apply(&softmax, &five), Err(Error::ShapeMismatch { .. })));
    let outside = client.encrypt_complex(&complex(&[0.5; 4]), 2.0).unwrap();
    assert!(matches!(sort.apply_stage(server.engine(), 0, &outside), Err(Error::OutsideInterval { .. })));
    assert!(matches!(server.apply(&softmax, &outside), Err(Error::OutsideInterval { .. })));
    for refused in [
        functions.sorting(1, (0.0, 1.0), 3.0).map(drop),
        functions.sorting(4, (1.0, 0.0), 3.0).map(drop),
        functions.largest(5, 4, (0.0, 1.0), 3.0).map(drop),
        functions.largest(0, 4, (0.0, 1.0), 3.0).map(drop),
        functions.softmax(1, (0.0, 1.0), 3.0).map(drop),
        functions.softmax(1000, (0.0, 1.0), 3.0).map(drop),
        functions.softmax(4, (-20.0, 20.0), 20.0).map(drop),
    ] {
        assert!(matches!(refused, Err(Error::OutOfRange(_))), "{refused:?}");
    }
    assert_eq!(Depth::of::<Approximate>(&[&sort, &softmax]).products(), sort.depth() + softmax.depth());
    assert!(softmax.explain().contains("inverse of the sum") && sort.explain().contains("stages"));
}

/// A sort that is deeper than a refresh reaches is refreshed between its stages.
#[test]
fn a_deep_sort_is_refreshed_between_its_stages() {
    let set = RefreshSpec::preset("insecure_toy_refresh_1024_slots16").unwrap();
    let context = Context::refreshing(&set).unwrap();
    let sort = context.functions().sorting(4, (-0.75, 0.75), 3.0).unwrap();
    assert!(sort.stage_depth() <= set.depth && sort.depth() > set.depth, "{}", sort.explain());
    let plan = context.refresh().unwrap();
    let (client, server) = context.generate_keys_from_seed([&sort as &dyn NeedsKeys, &plan], 8).unwrap();
    let x = [0.1, -0.7, 0.6, -0.25];
    let encrypted = client.encrypt(&x).unwrap().with_magnitude(0.75);
    let sorted = server.apply(&sort, &encrypted).unwrap();
    let decrypted = client.decrypt(&sorted).unwrap();
    let bound = sorted.error_bound();
    for ((found, computed), wanted) in decrypted.iter().zip(sort.value(&x)).zip([0.6, 0.1, -0.25, -0.7]) {
        assert!((found - computed).abs() < 1e-3, "{found} instead of {computed}");
        assert!((found - wanted).abs() <= bound, "{found} instead of {wanted}, bound {bound}");
    }
    // No refresh takes what exceeds 1 after a stage: the depth is told.
    let wide = context.functions().sorting(4, (-1.0, 1.0), 3.0).unwrap();
    let error = server.apply(&wide, &client.encrypt(&x).unwrap()).unwrap_err();
    assert!(matches!(error, Error::LevelsExhausted { needed, .. } if needed == wide.depth()), "{error}");
}

/// Rows in ciphertexts with more slots than the next power of two.
#[test]
fn rows_in_larger_ciphertexts() {
    let (row, interval) = (Row { entries: 5, slots: 64 }, (-1.0, 1.0));
    let planner = Context::approximate(&spec(N, 45, 1)).unwrap();
    let softmax_depth = planner.functions().softmax(row, interval, 8.0).unwrap().depth();
    let depth = planner.functions().largest(2, row, interval, 2.0).unwrap().depth().max(softmax_depth);
    let context = Context::approximate(&spec(N, 45, depth)).unwrap();
    let plan = context.functions().softmax(row, interval, 8.0).unwrap();
    let largest = context.functions().largest(2, row, interval, 2.0).unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan as &dyn NeedsKeys, &largest], 5).unwrap();
    let x = random(5, interval, 3);
    let mut filled = complex(&x);
    filled.resize(64, 0.0.into());
    let ct = client.encrypt_complex(&filled, 1.0).unwrap().with_zeros_beside(5);
    let y = server.apply(&plan, &ct).unwrap();
    let got = client.decrypt(&y).unwrap();
    for (a, b) in softmax(&x).iter().zip(&got) {
        assert!((a - b).abs() <= y.error_bound() && y.error_bound() < 0.02, "{a}, {b}, {:e}", y.error_bound());
    }
    assert!(got[5..].iter().all(|y| y.abs() < 1e-6), "{got:?}");
    let y = server.apply(&largest, &ct).unwrap();
    for (a, b) in descending(&x)[..2].iter().zip(client.decrypt(&y).unwrap()) {
        assert!((a - b).abs() <= y.error_bound(), "{a}, {b}, {:e}", y.error_bound());
    }
}

#[test]
fn products_of_matrices() {
    for (d, slots) in [(1, 1), (2, 4), (3, 16), (4, 16), (5, 64)] {
        let context = Context::approximate(&spec(256, 40, 3)).unwrap();
        let plan = MatrixProduct::with_spec(context.ckks(), (d, slots), &PlanSpec::default()).unwrap();
        assert_eq!(Depth::of::<Approximate>(&[&plan]).products(), 3);
        let (client, server) = context.generate_keys_from_seed([&plan], 5).unwrap();
        let [a, b] = [1, 2].map(|seed| random(d * d, (-1.0, 1.0), seed));
        let [x, y] = [&a, &b].map(|values| {
            let mut filled = complex(values);
            filled.resize(slots, 0.0.into());
            client.encrypt_complex(&filled, 1.0).unwrap().with_zeros_beside(d * d)
        });
        let product = server.apply(&plan, (&x, &y)).unwrap();
        assert_eq!((product.entries(), product.rest_magnitude()), (d * d, 0.0));
        assert!(product.magnitude() <= d as f64 * (1.0 + 1e-9));
        let got = client.decrypt(&product).unwrap();
        for i in 0..d {
            for j in 0..d {
                let expected: f64 = (0..d).map(|k| a[i * d + k] * b[k * d + j]).sum();
                let off = (got[i * d + j] - expected).abs();
                assert!(off <= product.error_bound() && product.error_bound() < 1e-3, "{d}: {off:e}");
            }
        }
        // Constants are those of the level.
        let lower = server.engine().lower(&x, x.level()).unwrap();
        assert!(server.apply(&plan, (&lower, &lower)).is_ok());
    }
}

#[test]
fn matrices_that_cannot_be_multiplied_are_refused() {
    let context = Context::approximate(&spec(256, 40, 2)).unwrap();
    let plan = context.functions().matrix_product(3).unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan], 5).unwrap();
    let [nine, four] = [9, 4].map(|count| client.encrypt(&random(count, (0.0, 1.0), 1)).unwrap());
    let refused = server.apply(&plan, (&nine, &nine)).unwrap_err();
    assert!(matches!(refused, Error::LevelsExhausted { needed: 3, left: 2, .. }), "{refused}");
    assert!(matches!(server.apply(&plan, (&four, &nine)), Err(Error::ShapeMismatch { .. })));
    for size in [0, 12, usize::MAX] {
        assert!(matches!(context.functions().matrix_product(size), Err(Error::OutOfRange(_))), "{size}");
    }
    assert!(plan.explain().contains("Galois keys"));
}

/// Slots beside the entries hold sums of no entries: the inverse of these would not fit the modulus.
#[test]
fn a_precise_softmax_in_a_larger_ciphertext() {
    let (row, interval) = (Row { entries: 3, slots: 32 }, (-3.0, 3.0));
    let depth =
        Context::approximate(&spec(N, 45, 1)).unwrap().functions().softmax(row, interval, 18.0).unwrap().depth();
    let context = Context::approximate(&spec(N, 45, depth)).unwrap();
    let plan = context.functions().softmax(row, interval, 18.0).unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan], 5).unwrap();
    let x = [3.0, -3.0, 2.5];
    let mut filled = complex(&x);
    filled.resize(32, 0.0.into());
    let ct = client.encrypt_complex(&filled, 3.0).unwrap().with_zeros_beside(3);
    let y = server.apply(&plan, &ct).unwrap();
    for (a, b) in softmax(&x).iter().zip(client.decrypt(&y).unwrap()) {
        assert!((a - b).abs() <= y.error_bound() && y.error_bound() < 0.01, "{a}, {b}, {:e}", y.error_bound());
    }
}
