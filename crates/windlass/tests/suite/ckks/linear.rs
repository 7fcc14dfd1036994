//! Linear maps on complex slots, with every strategy, and running sums.

use windlass::circuits::trace::complex_running_sum_maps;
use windlass::circuits::{ComplexMap, ConstantForm, HoistMode, LinearGrid, LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::needs::Products;
use windlass::schemes::ckks::Complex64;
use windlass::{Approximate, Context, Error};

use crate::ckks::common::{SEED, check, encrypt, sample, spec};
use crate::fixture::keys;

/// A matrix with some structure and no symmetry, and conjugations.
fn map(context: &Context<Approximate>, slots: usize) -> (ComplexMap, Vec<Vec<Complex64>>, Vec<Complex64>) {
    let entry = |i: usize, k: usize| Complex64::from_polar(1.0 / slots as f64, (i * i + 3 * i * k + k) as f64);
    let constant: Vec<Complex64> = (0..slots).map(|j| Complex64::from_polar(0.5, j as f64)).collect();
    let space = context.vectors(slots).unwrap();
    let matrix = ComplexMap::matrix(&space, entry).unwrap();
    let conjugation = ComplexMap::term(&space, 2, true, &constant).unwrap();
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
    let context = Context::approximate(&spec(256, 40, 2)).unwrap();
    for slots in [16, 128] {
        let (map, rows, constant) = map(&context, slots);
        let x = sample(slots, 2);
        let image = expected(&rows, &constant, &x);
        assert!(map.apply(&x).unwrap().iter().zip(&image).all(|(a, b)| (a - b).norm() < 1e-12));
        for strategy in Strategy::ALL.iter().copied().filter(|strategy| strategy.is_general()) {
            let plan = LinearPlan::new(&map, &PlanSpec::with_strategy(strategy)).unwrap();
            let (client, server) = context.generate_keys_from_seed([&plan, &Products], SEED).unwrap();
            let ct = encrypt(&client, &x);
            let prepared = plan.prepare(server.engine()).unwrap();
            let got = plan.apply(&prepared, server.engine(), &ct).unwrap();
            check(&client, &format!("{strategy}, {slots} slots"), &got, &image, 9.0);
            // Once more, on a product that has not been rescaled, a level further down.
            let square = server.engine().multiply(&ct, &ct).unwrap();
            let squares: Vec<Complex64> = x.iter().map(|z| z * z).collect();
            let got = plan.apply_once(server.engine(), &square).unwrap();
            check(&client, &format!("{strategy} of squares"), &got, &expected(&rows, &constant, &squares), 9.0);
            let low = server.engine().lower(&ct, context.ckks().top_level() - 1).unwrap();
            assert!(matches!(plan.apply(&prepared, server.engine(), &low), Err(Error::OutOfRange { .. })));
        }
    }
}

/// Constants are for one level: a list with several has as many passes.
#[test]
fn servers_apply_a_map_to_lists() {
    let context = Context::approximate(&spec(256, 40, 2)).unwrap();
    let plan = map(&context, 16).0.plan().unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan, &Products], SEED).unwrap();
    let engine = server.engine();
    let fresh = encrypt(&client, &sample(16, 2));
    let low = engine.lower(&fresh, context.ckks().top_level() - 1).unwrap();
    let square = engine.multiply(&fresh, &fresh).unwrap();
    let list = [fresh.clone(), encrypt(&client, &sample(16, 3)), low, square, fresh];
    let images = server.apply_each(&plan, &list).unwrap();
    assert_eq!(images.len(), list.len());
    for (image, input) in images.iter().zip(&list) {
        let alone = server.apply(&plan, input).unwrap();
        assert_eq!((image.parts(), image.level()), (alone.parts(), alone.level()));
        assert_eq!(image.error_bound(), alone.error_bound());
    }
}

#[test]
fn maps_compose() {
    let context = Context::approximate(&spec(64, 40, 1)).unwrap();
    let (first, ..) = map(&context, 8);
    let [small, large] = [8, 16].map(|count| context.vectors(count).unwrap());
    let second = ComplexMap::slot_rotation(&small, 3).unwrap().add(&first).unwrap();
    let x = sample(8, 5);
    let both = second.compose(&first).unwrap().apply(&x).unwrap();
    let one_by_one = second.apply(&first.apply(&x).unwrap()).unwrap();
    assert!(both.iter().zip(&one_by_one).all(|(a, b)| (a - b).norm() < 1e-12));
    let other = ComplexMap::slot_rotation(&large, 3).unwrap();
    assert!(matches!(other.compose(&first), Err(Error::ContextMismatch { .. })));
}

#[test]
fn running_sums_of_any_grouping() {
    let context = Context::approximate(&spec(128, 40, 4)).unwrap();
    let slots = context.vectors(16).unwrap();
    let x = sample(16, 6);
    let sums: Vec<Complex64> = (0..16).map(|i| x[..=i].iter().sum()).collect();
    for groups in 1..=4 {
        let maps = complex_running_sum_maps(&slots, groups).unwrap();
        let plans: Vec<_> = maps.iter().map(|map| LinearPlan::new(map, &PlanSpec::default()).unwrap()).collect();
        let keys = keys(plans.iter().flat_map(LinearPlan::required_keys));
        let (client, server) = context.generate_keys_from_seed([&keys], SEED).unwrap();
        let mut ct = encrypt(&client, &x);
        for plan in &plans {
            ct = plan.apply_once(server.engine(), &ct).unwrap();
        }
        check(&client, &format!("{groups} groups"), &ct, &sums, 9.0);
    }
    assert!(matches!(complex_running_sum_maps(&slots, 5), Err(Error::OutOfRange { .. })));
}

/// What exact maps have, complex ones have: hoisting modes, constants as coefficients, key limits,
/// given keys, doubling, words.
#[test]
fn every_mode_gives_the_matrix() {
    let context = Context::approximate(&spec(256, 40, 2)).unwrap();
    let (map, rows, constant) = map(&context, 16);
    let x = sample(16, 7);
    let image = expected(&rows, &constant, &x);
    for hoisting in [HoistMode::Double, HoistMode::Single, HoistMode::Off] {
        for constants in [ConstantForm::Evaluation, ConstantForm::Coefficients] {
            let strategy = Strategy::BABY_GIANT.with_babies(4);
            let spec = PlanSpec { hoisting, constants, strategy, ..PlanSpec::default() };
            let plan = LinearPlan::new(&map, &spec).unwrap();
            let (client, server) = context.generate_keys_from_seed([&plan], SEED).unwrap();
            let ct = encrypt(&client, &x);
            let got = plan.apply(&plan.prepare(server.engine()).unwrap(), server.engine(), &ct).unwrap();
            check(&client, &format!("{hoisting:?}, {constants:?}"), &got, &image, 9.0);
            assert!(plan.explain().contains("baby-giant:4") && plan.explain().contains("16 complex slots"));
        }
    }
    let few = LinearPlan::new(&map, &PlanSpec { max_keys: Some(3), ..PlanSpec::default() }).unwrap();
    assert!(few.required_keys().len() <= 3);
    let again = LinearPlan::new(&map, &PlanSpec::with_keys(few.required_keys())).unwrap();
    assert!(again.required_keys().is_subset(&few.required_keys()));
    assert!(matches!(LinearPlan::new(&map, &PlanSpec::with_keys([])), Err(Error::MissingGaloisKey { .. })));
}

#[test]
fn sums_of_rotations_by_doubling() {
    let context = Context::approximate(&spec(256, 40, 2)).unwrap();
    let slots = context.vectors(16).unwrap();
    let half = vec![Complex64::new(0.5, 0.25); 16];
    let map = ComplexMap::from_terms(&slots, (0..11).map(|r| (slots.turn(r, false), half.clone()))).unwrap();
    let x = sample(16, 8);
    let image: Vec<Complex64> = (0..16).map(|j| (0..11).map(|r| x[(j + r) % 16] * half[0]).sum()).collect();
    let plan = LinearPlan::new(&map, &PlanSpec::with_strategy(Strategy::DOUBLING)).unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan], SEED).unwrap();
    assert_eq!(plan.prepare(server.engine()).unwrap().constants(), 1);
    let ct = encrypt(&client, &x);
    check(&client, "doubling", &plan.apply_once(server.engine(), &ct).unwrap(), &image, 9.0);
}

/// Two inputs and two outputs, one block left out.
#[test]
fn grids_of_complex_maps() {
    let context = Context::approximate(&spec(256, 40, 2)).unwrap();
    let slots = context.vectors(16).unwrap();
    let (matrix, ..) = map(&context, 16);
    let mut grid = LinearGrid::zero(&slots, 2, 2).unwrap();
    grid.set(0, 0, matrix.clone()).unwrap();
    grid.set(0, 1, LinearMap::identity(&slots)).unwrap();
    grid.set(1, 0, ComplexMap::slot_rotation(&slots, 5).unwrap()).unwrap();
    let inputs = [sample(16, 9), sample(16, 10)];
    let images = grid.apply(&inputs).unwrap();
    let sum: Vec<Complex64> = matrix.apply(&inputs[0]).unwrap().iter().zip(&inputs[1]).map(|(a, b)| a + b).collect();
    assert!(images[0].iter().zip(&sum).all(|(a, b)| (a - b).norm() < 1e-12));
    let plan = LinearPlan::for_grid(&grid, &PlanSpec::default()).unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan], SEED).unwrap();
    let encrypted = inputs.clone().map(|x| encrypt(&client, &x));
    let got = plan.apply_grid(&plan.prepare(server.engine()).unwrap(), server.engine(), &encrypted).unwrap();
    for (got, image) in got.iter().zip(&images) {
        check(&client, "grid", got, image, 9.0);
    }
}
