//! Matrices larger than one ciphertext, and encrypted matrices.

use std::sync::Arc;

use windlass::circuits::{HoistMode, LinearGrid, LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::schemes::clear::Clear;
use windlass::{Content, Context, Error, Plaintext};
use windlass_ring::slots::SlotRing;

use super::common::*;

/// A dense matrix, a vector, their product modulo p^r, the last two padded with zeros and cut into
/// plaintexts.
fn problem(ring: &Arc<SlotRing>, height: usize, width: usize) -> (Vec<Vec<u64>>, Vec<Plaintext>, Vec<Plaintext>) {
    let (l, modulus) = (ring.slots(), ring.modulus());
    let random = |seed: usize| number(seed as u64) % modulus.value();
    let matrix: Vec<Vec<u64>> = (0..height).map(|i| (0..width).map(|k| random(i * 777 + k)).collect()).collect();
    let x: Vec<u64> = (0..width).map(|k| random(k + 999_999)).collect();
    let dot = |row: &Vec<u64>| row.iter().zip(&x).fold(0, |sum, (&a, &b)| modulus.add(sum, modulus.mul(a, b)));
    let y: Vec<u64> = matrix.iter().map(dot).collect();
    let cut = |values: &[u64]| {
        let padded = |chunk: &[u64]| (0..l).map(|i| chunk.get(i).copied().unwrap_or(0)).collect::<Vec<_>>();
        values.chunks(l).map(|chunk| Plaintext::from_integers(ring, &padded(chunk)).unwrap()).collect()
    };
    (matrix, cut(&x), cut(&y))
}

#[test]
fn matrices_over_several_ciphertexts() {
    for (ring, height, width) in [(ring(31, 2, 2), 17, 14), (ring(105, 2, 3), 5, 12), (ring(45, 2, 1), 9, 2)] {
        let (matrix, x, y) = problem(&ring, height, width);
        let grid = LinearGrid::from_dense(&ring, &matrix).unwrap();
        assert_eq!((grid.columns(), grid.rows()), (x.len(), y.len()));
        assert_eq!(grid.apply(&x).unwrap(), y);
        for hoisting in [HoistMode::Double, HoistMode::Single, HoistMode::Off] {
            for strategy in Strategy::candidates().chain([Strategy::AUTOMATIC]) {
                let spec = PlanSpec { strategy, hoisting, ..PlanSpec::default() };
                let plan = LinearPlan::for_grid(&grid, &spec).unwrap();
                let clear = Clear::with_keys(&ring, plan.required_keys());
                let inputs: Vec<_> = x.iter().map(|x| clear.encrypt(x).unwrap()).collect();
                let outputs = plan.apply_grid(&plan.prepare(&clear).unwrap(), &clear, &inputs).unwrap();
                let decrypted: Vec<_> = outputs.iter().map(|y| clear.decrypt(y)).collect();
                assert_eq!(decrypted, y, "{}", plan.explain());
                let (done, said) = (clear.counts(), plan.count());
                assert_eq!(done.hoists, said.hoists, "{}", plan.explain());
                assert_eq!(done.hoisted_automorphisms, said.hoisted_automorphisms);
                assert_eq!(done.extended_automorphisms, said.extended_automorphisms);
                assert_eq!(done.automorphisms, said.automorphisms);
                assert_eq!(done.mod_downs, said.mod_downs);
                assert_eq!(done.constant_products, said.constant_products);
            }
        }
    }
}

#[test]
fn servers_run_grids() {
    let context = Context::preset("insecure_toy_256").unwrap();
    let (matrix, x, y) = problem(context.slot_ring(), 2 * context.slots() + 1, context.slots() + 3);
    let plan = LinearPlan::for_grid(&LinearGrid::from_dense(&context, &matrix).unwrap(), &PlanSpec::default()).unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan], 36).unwrap();
    let inputs: Vec<_> = x.iter().map(|x| client.encrypt_plaintext(x).unwrap()).collect();
    for _ in 0..2 {
        let outputs = server.apply_grid(&plan, &inputs).unwrap();
        let decrypted: Vec<_> = outputs.iter().map(|y| client.decrypt_plaintext(y).unwrap()).collect();
        assert_eq!(decrypted, y);
    }
    for few in [&inputs[..0], &inputs[..1]] {
        assert!(matches!(server.apply_grid(&plan, few), Err(Error::ShapeMismatch { expected: 2, .. })));
    }
    let without = context.generate_keys_from_seed([], 37).unwrap().1;
    assert!(matches!(without.apply_grid(&plan, &inputs), Err(Error::MissingKeys { .. })));
}

#[test]
fn inputs_are_prepared_once_for_all_outputs() {
    let ring = ring(127, 2, 1);
    let (matrix, _, _) = problem(&ring, 3 * ring.slots(), 2 * ring.slots());
    let count = |grid: &LinearGrid| LinearPlan::for_grid(grid, &PlanSpec::default()).unwrap().count();
    let whole = count(&LinearGrid::from_dense(&ring, &matrix).unwrap());
    let mut apart = 0;
    let part = LinearGrid::from_dense(&ring, &matrix[..ring.slots()]).unwrap();
    for column in 0..2 {
        apart += 3 * count(&LinearGrid::single(part.block(0, column).unwrap())).hoists;
    }
    assert!(whole.hoists * 3 <= apart, "{whole} against {apart}");
}

#[test]
fn grids_with_zero_blocks() {
    let ring = ring(31, 2, 1);
    let mut grid = LinearGrid::zero(&ring, 2, 2).unwrap();
    grid.set(0, 1, LinearMap::rotation(&ring, 0, 1).unwrap()).unwrap();
    let plan = LinearPlan::for_grid(&grid, &PlanSpec::default()).unwrap();
    let clear = Clear::with_keys(&ring, plan.required_keys());
    let inputs: Vec<Plaintext> =
        (0..2).map(|seed| Plaintext::from_slots(&ring, &random_slots(&ring, seed)).unwrap()).collect();
    let encrypted: Vec<_> = inputs.iter().map(|x| clear.encrypt(x).unwrap()).collect();
    let outputs = plan.apply_grid(&plan.prepare(&clear).unwrap(), &clear, &encrypted).unwrap();
    let decrypted: Vec<_> = outputs.iter().map(|y| clear.decrypt(y)).collect();
    assert_eq!(decrypted, grid.apply(&inputs).unwrap());
    assert_eq!(decrypted[1], Plaintext::zero(&ring));
    assert!(matches!(grid.set(2, 0, LinearMap::identity(&ring)), Err(Error::OutOfRange { .. })));
    assert!(matches!(LinearGrid::zero(&ring, 0, 1), Err(Error::OutOfRange { .. })));
    assert!(matches!(grid.apply(&inputs[..1]), Err(Error::ShapeMismatch { .. })));
    let prepared = plan.prepare(&clear).unwrap();
    assert!(matches!(plan.apply(&prepared, &clear, &encrypted[0]), Err(Error::ShapeMismatch { .. })));
    assert!(matches!(plan.apply_grid(&prepared, &clear, &encrypted[..1]), Err(Error::ShapeMismatch { .. })));
}

#[test]
fn encrypted_matrices() {
    for (ring, height, width) in [(ring(31, 2, 2), 6, 6), (ring(105, 2, 1), 7, 9)] {
        let (matrix, x, y) = problem(&ring, height, width);
        let secret = LinearGrid::from_dense(&ring, &matrix).unwrap();
        let ones = LinearGrid::from_dense(&ring, &vec![vec![1; width]; height]).unwrap();
        for strategy in [Strategy::AUTOMATIC, Strategy::HOISTED, Strategy::HORNER] {
            let plan = LinearPlan::for_grid(&ones, &PlanSpec::with_strategy(strategy)).unwrap();
            let clear = Clear::with_keys(&ring, plan.required_keys());
            let encrypted = plan.encrypt_matrix::<Clear>(&secret, |constant| clear.encrypt(constant)).unwrap();
            let products: usize = ones.support().len();
            assert!(encrypted.len() >= products && !encrypted.is_empty());
            let inputs: Vec<_> = x.iter().map(|x| clear.encrypt(x).unwrap()).collect();
            let outputs = plan.apply_encrypted(&encrypted, &clear, &inputs).unwrap();
            assert_eq!(outputs.iter().map(|y| clear.decrypt(y)).collect::<Vec<_>>(), y);
            assert_eq!(clear.counts().products, encrypted.len());
        }
        let diagonal = LinearGrid::single(&LinearMap::identity(&ring));
        let diagonal = LinearPlan::for_grid(&diagonal, &PlanSpec::default()).unwrap();
        // Two factorings of one pattern: a matrix encrypted for one is refused by the other.
        let [hoisted, horner] = [Strategy::HOISTED, Strategy::HORNER.with_babies(2)]
            .map(|strategy| LinearPlan::for_grid(&ones, &PlanSpec::with_strategy(strategy)).unwrap());
        let clear = Clear::with_keys(&ring, hoisted.required_keys().into_iter().chain(horner.required_keys()));
        let encrypted = hoisted.encrypt_matrix::<Clear>(&secret, |constant| clear.encrypt(constant)).unwrap();
        let inputs: Vec<_> = x.iter().map(|x| clear.encrypt(x).unwrap()).collect();
        let refused = horner.apply_encrypted(&encrypted, &clear, &inputs);
        assert!(matches!(refused, Err(Error::ContextMismatch { .. })));
        let again = LinearPlan::for_grid(&ones, &PlanSpec::with_strategy(Strategy::HOISTED)).unwrap();
        assert!(again.apply_encrypted(&encrypted, &clear, &inputs).is_ok());
        let refused = diagonal
            .encrypt_matrix::<Clear>(&LinearGrid::single(&LinearMap::rotation(&ring, 0, 1).unwrap()), |constant| {
                Clear::new(&ring).encrypt(constant)
            });
        assert!(matches!(refused.err(), Some(Error::OutOfRange { .. })));
    }
}

#[test]
fn matrices_of_another_shape_are_refused_with_it() {
    let ring = ring(31, 2, 1);
    let grid = |rows: usize, columns: usize| {
        let mut grid = LinearGrid::zero(&ring, rows, columns).unwrap();
        for place in 0..rows * columns {
            grid.set(place / columns, place % columns, LinearMap::identity(&ring)).unwrap();
        }
        grid
    };
    let plan = LinearPlan::for_grid(&grid(2, 3), &PlanSpec::default()).unwrap();
    let clear = Clear::new(&ring);
    let refused = |rows, columns| plan.encrypt_matrix::<Clear>(&grid(rows, columns), |c| clear.encrypt(c)).err();
    for (rows, columns, wanted) in [(3, 2, (2, 3)), (3, 3, (2, 3)), (2, 2, (3, 2))] {
        let error = refused(rows, columns);
        let Some(Error::ShapeMismatch { expected, got, .. }) = error else { panic!("{error:?}") };
        assert_eq!((expected, got), wanted);
    }
    assert!(refused(2, 3).is_none());
}

/// What ciphertexts say of their slots does not show which diagonals of a matrix are zero or hold
/// integers.
#[test]
fn ciphertexts_of_a_matrix_have_one_content() {
    let ring = ring(105, 2, 1);
    let l = ring.slots();
    let ones = LinearGrid::from_dense(&ring, &vec![vec![1; l]; l]).unwrap();
    let plan = LinearPlan::for_grid(&ones, &PlanSpec::default()).unwrap();
    let rotation = LinearMap::rotation(&ring, 0, 1).unwrap();
    let elements = LinearMap::diagonal(&Plaintext::from_slots(&ring, &random_slots(&ring, 3)).unwrap());
    for (map, content) in [(elements.add(&rotation).unwrap(), Content::Elements), (rotation.clone(), Content::Integers)]
    {
        let mut seen = Vec::new();
        let encrypt = |constant: &Plaintext| {
            seen.push(constant.content());
            Clear::new(&ring).encrypt(constant)
        };
        plan.encrypt_matrix::<Clear>(&LinearGrid::single(&map), encrypt).unwrap();
        assert!(seen.len() >= l && seen.iter().all(|&found| found == content), "{seen:?}");
    }
}
