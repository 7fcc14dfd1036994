//! A plan applied to several ciphertexts at once.

use windlass::circuits::{ConstantForm, HoistMode, LinearGrid, LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::schemes::{Ciphertext, Scheme};
use windlass::{Error, Plaintext};

use super::common::*;
use super::counted::Counted;
use super::encrypted::{client, decrypt, encrypt};

/// Every way to evaluate a map gives for a list what it gives one by one, bit for bit, by the same
/// operations; also where levels differ, so that a key cannot serve all at once.
#[test]
fn a_list_is_what_its_ciphertexts_are() {
    for ((p, r), scheme) in [((2, 1), Scheme::Bgv), ((3, 2), Scheme::Bfv)] {
        let (ring, dimension) = smallest(p, r, false);
        let matrix =
            LinearMap::matmul_1d_extension(&ring, dimension, |c, i, k, out| entry(&ring, 4, (c, i, k), out)).unwrap();
        let client = client(&ring, scheme);
        let list: Vec<Plaintext> =
            (0..3).map(|seed| Plaintext::from_slots(&ring, &random_slots(&ring, seed)).unwrap()).collect();
        for (map, strategy) in [
            (&matrix, Strategy::HOISTED),
            (&matrix, Strategy::BABY_GIANT),
            (&LinearMap::trace(&ring).unwrap(), Strategy::DOUBLING),
        ] {
            for hoisting in [HoistMode::Double, HoistMode::Single, HoistMode::Off] {
                for constants in [ConstantForm::Evaluation, ConstantForm::Coefficients] {
                    let spec = PlanSpec { strategy, hoisting, constants, ..PlanSpec::default() };
                    let plan = LinearPlan::new(map, &spec).unwrap();
                    let server = client.generate_server([&plan]).unwrap();
                    let engine = server.engine();
                    let prepared = plan.prepare(engine).unwrap();
                    let mut inputs: Vec<Ciphertext> = list.iter().map(|x| encrypt(&client, x)).collect();
                    for lower in [false, true] {
                        if lower {
                            inputs[1] = engine.switch_modulus(&inputs[1], inputs[1].level() - 1).unwrap();
                        }
                        let (counted, one_by_one) = (Counted::new(engine), Counted::new(engine));
                        let before = engine.random_events();
                        let images = plan.apply_each(&prepared, engine, &inputs).unwrap();
                        let events = plan.count().random_events() * list.len();
                        assert_eq!(engine.random_events(), before + events, "{}", plan.explain());
                        assert_eq!(images.len(), list.len());
                        for ((image, input), x) in images.iter().zip(&inputs).zip(&list) {
                            let alone = plan.apply(&prepared, engine, input).unwrap();
                            assert_eq!((image.parts(), image.level()), (alone.parts(), alone.level()));
                            assert_eq!(engine.capacity(image), engine.capacity(&alone));
                            assert_eq!(decrypt(&client, image), map.apply(x).unwrap(), "{}", plan.explain());
                        }
                        let ready = plan.prepare(&counted).unwrap();
                        plan.apply_each(&ready, &counted, &inputs).unwrap();
                        let ready = plan.prepare(&one_by_one).unwrap();
                        inputs.iter().for_each(|x| drop(plan.apply(&ready, &one_by_one, x).unwrap()));
                        assert_eq!(counted.count(), one_by_one.count(), "{}", plan.explain());
                        // What has keys goes as a list, but for whole key switches.
                        let whole = match hoisting {
                            HoistMode::Double => false,
                            HoistMode::Single => strategy == Strategy::DOUBLING,
                            HoistMode::Off => true,
                        };
                        assert_eq!(counted.lists() == 0, whole, "{}", plan.explain());
                        assert_eq!(one_by_one.lists(), 0);
                    }
                }
            }
        }
    }
}

#[test]
fn servers_apply_a_map_to_lists() {
    let (ring, dimension) = smallest(2, 1, true);
    let map = LinearMap::matmul_1d(&ring, dimension, |c, i, k| number((c * 100 + i * 10 + k) as u64)).unwrap();
    let plan = map.plan().unwrap();
    let client = client(&ring, Scheme::Bgv);
    let server = client.generate_server([&plan]).unwrap();
    let inputs: Vec<Ciphertext> = (0..10).map(|_| encrypt(&client, &Plaintext::one(&ring))).collect();
    for (image, input) in server.apply_each(&plan, &inputs).unwrap().iter().zip(&inputs) {
        assert_eq!(image.parts(), server.apply(&plan, input).unwrap().parts());
    }
    assert!(server.apply_each(&plan, &[]).unwrap().is_empty());
    let keyless = client.generate_server([]).unwrap();
    assert!(matches!(keyless.apply_each(&plan, &inputs), Err(Error::MissingKeys { .. })));
}

#[test]
fn lists_are_refused_as_ciphertexts_are() {
    let (ring, dimension) = smallest(2, 1, true);
    let map = LinearMap::matmul_1d(&ring, dimension, |c, i, k| number((c * 100 + i * 10 + k) as u64)).unwrap();
    let plan = map.plan().unwrap();
    let (ours, theirs) = (client(&ring, Scheme::Bgv), client(&ring, Scheme::Bfv));
    let server = ours.generate_server([&plan]).unwrap();
    let (engine, prepared) = (server.engine(), plan.prepare(server.engine()).unwrap());
    assert!(plan.apply_each(&prepared, engine, &[]).unwrap().is_empty());
    let one = Plaintext::one(&ring);
    let strange = [encrypt(&ours, &one), encrypt(&theirs, &one)];
    assert_eq!(
        plan.apply_each(&prepared, engine, &strange).unwrap_err(),
        plan.apply(&prepared, engine, &strange[1]).unwrap_err()
    );
    // Of another key pair, in a second pass: refused before the first.
    let (stranger, _) = server.context().generate_keys_from_seed([], 10).unwrap();
    let mut list = vec![encrypt(&ours, &one); 9];
    list[8] = encrypt(&stranger, &one);
    let before = engine.random_events();
    assert!(matches!(plan.apply_each(&prepared, engine, &list), Err(Error::OtherKeyPair(_))));
    assert_eq!(engine.random_events(), before);
    let other = map.plan().unwrap();
    assert!(matches!(other.apply_each(&prepared, engine, &strange[..1]), Err(Error::ContextMismatch { .. })));
    let own = [encrypt(&ours, &one), encrypt(&ours, &one)];
    assert!(matches!(other.apply_each(&prepared, engine, &own), Err(Error::ContextMismatch { .. })));
    let keyless = ours.generate_server([]).unwrap();
    let ready = plan.prepare(keyless.engine()).unwrap();
    assert!(matches!(plan.apply_each(&ready, keyless.engine(), &own), Err(Error::MissingGaloisKey { .. })));
    let mut grid = LinearGrid::zero(&ring, 1, 2).unwrap();
    (0..2).for_each(|column| grid.set(0, column, map.clone()).unwrap());
    let wide = LinearPlan::for_grid(&grid, &PlanSpec::default()).unwrap();
    let ready = wide.prepare(engine).unwrap();
    let refused = wide.apply_each(&ready, engine, &own).err();
    assert!(matches!(refused, Some(Error::ShapeMismatch { what: "inputs of the plan", expected: 1, got: 2 })));
}
