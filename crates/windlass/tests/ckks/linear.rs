//! Linear maps on complex slots, with every strategy, and running sums.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::Error;
use windlass::circuits::{PlanSpec, Strategy};
use windlass::schemes::ckks::{CkksContext, Complex64, ComplexMap, ComplexPlan};

use crate::common::{Setup, sample, spec};

/// A matrix with some structure and no symmetry, and conjugations.
fn map(context: &Arc<CkksContext>, slots: usize) -> (ComplexMap, Vec<Vec<Complex64>>, Vec<Complex64>) {
    let entry = |i: usize, k: usize| Complex64::from_polar(1.0 / slots as f64, (i * i + 3 * i * k + k) as f64);
    let constant: Vec<Complex64> = (0..slots).map(|j| Complex64::from_polar(0.5, j as f64)).collect();
    let matrix = ComplexMap::matrix(context, slots, entry).unwrap();
    let conjugation = ComplexMap::term(context, 2, true, &constant).unwrap();
    let rows = (0..slots).map(|i| (0..slots).map(|k| entry(i, k)).collect()).collect();
    (matrix.add(&conjugation).unwrap(), rows, constant)
}

fn expected(rows: &[Vec<Complex64>], constant: &[Complex64], x: &[Complex64]) -> Vec<Complex64> {
    let product = |row: &Vec<Complex64>| row.iter().zip(x).map(|(a, b)| a * b).sum::<Complex64>();
    let count = x.len();
    rows.iter().enumerate().map(|(j, row)| product(row) + constant[j] * x[(j + 2) % count].conj()).collect()
}

#[test]
fn every_strategy_gives_the_matrix() {
    let context = CkksContext::new(&spec(256, 40, 2)).unwrap();
    let mut rng = ChaCha20Rng::from_seed([2; 32]);
    for slots in [16, 128] {
        let (map, rows, constant) = map(&context, slots);
        let x = sample(slots, &mut rng);
        let image = expected(&rows, &constant, &x);
        assert!(map.apply(&x).unwrap().iter().zip(&image).all(|(a, b)| (a - b).norm() < 1e-12));
        for strategy in
            ["automatic", "hoisted", "baby-giant", "baby-giant-inner", "baby-giant-outer", "block", "horner"]
        {
            let strategy: Strategy = strategy.parse().unwrap();
            let plan = ComplexPlan::new(&map, &PlanSpec::with_strategy(strategy)).unwrap();
            let elements: Vec<u64> = plan.required_keys().into_iter().collect();
            let mut s = Setup::with_elements(&context, &elements);
            let ct = s.encrypt(&x);
            let prepared = plan.prepare(&s.engine, context.top_level()).unwrap();
            let got = plan.apply(&prepared, &s.engine, &ct).unwrap();
            s.check(&format!("{strategy}, {slots} slots"), &got, &image, 9.0);
            // Once more, on a product that has not been rescaled, a level further down.
            let square = s.engine.multiply(&ct, &ct).unwrap();
            let squares: Vec<Complex64> = x.iter().map(|z| z * z).collect();
            let got = plan.apply_once(&s.engine, &square).unwrap();
            s.check(&format!("{strategy} of squares"), &got, &expected(&rows, &constant, &squares), 9.0);
            let low = s.engine.lower(&ct, context.top_level() - 1).unwrap();
            assert!(matches!(plan.apply(&prepared, &s.engine, &low), Err(Error::OutOfRange { .. })));
        }
    }
}

#[test]
fn maps_compose() {
    let context = CkksContext::new(&spec(64, 40, 1)).unwrap();
    let (first, ..) = map(&context, 8);
    let second = ComplexMap::rotation(&context, 8, 3).unwrap().add(&first).unwrap();
    let x = sample(8, &mut ChaCha20Rng::from_seed([5; 32]));
    let both = second.compose(&first).unwrap().apply(&x).unwrap();
    let one_by_one = second.apply(&first.apply(&x).unwrap()).unwrap();
    assert!(both.iter().zip(&one_by_one).all(|(a, b)| (a - b).norm() < 1e-12));
    let other = ComplexMap::rotation(&context, 16, 3).unwrap();
    assert!(matches!(other.compose(&first), Err(Error::ContextMismatch { .. })));
}

#[test]
fn running_sums_of_any_grouping() {
    let context = CkksContext::new(&spec(128, 40, 4)).unwrap();
    let x = sample(16, &mut ChaCha20Rng::from_seed([6; 32]));
    let sums: Vec<Complex64> = (0..16).map(|i| x[..=i].iter().sum()).collect();
    for groups in 1..=4 {
        let maps = ComplexMap::running_sums(&context, 16, groups).unwrap();
        let plans: Vec<ComplexPlan> =
            maps.iter().map(|map| ComplexPlan::new(map, &PlanSpec::default()).unwrap()).collect();
        let elements: Vec<u64> = plans.iter().flat_map(ComplexPlan::required_keys).collect();
        let mut s = Setup::with_elements(&context, &elements);
        let mut ct = s.encrypt(&x);
        for plan in &plans {
            ct = plan.apply_once(&s.engine, &ct).unwrap();
        }
        s.check(&format!("{groups} groups"), &ct, &sums, 9.0);
    }
    assert!(matches!(ComplexMap::running_sums(&context, 16, 5), Err(Error::OutOfRange { .. })));
}
