//! Maps that are the same on every line: their constants have values that repeat.

use windlass::circuits::{ConstantForm, HoistMode, LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::schemes::Scheme;
use windlass::{Error, Plaintext};

use super::common::*;
use super::encrypted::{client, decrypt, encrypt};

/// (m, p), a dimension and how many of the n values differ in each constant.
const FOLDED: [((u64, u64), usize, usize); 2] = [((256, 257), 1, 4), ((1023, 2), 1, 60)];

#[test]
fn one_matrix_for_all_lines_has_small_constants_and_the_same_products() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for (((m, p), dimension, differ), scheme) in FOLDED.into_iter().zip([Scheme::Bgv, Scheme::Bfv]) {
        let ring = ring(m, p, 1);
        let map = |same: bool| {
            let line = |c: usize| if same { 0 } else { c };
            LinearMap::matmul_1d_extension(&ring, dimension, |c, i, k, out| entry(&ring, 4, (line(c), i, k), out))
                .unwrap()
        };
        let client = client(&ring, scheme);
        let x = Plaintext::from_slots(&ring, &random_slots(&ring, 7)).unwrap();
        let input = encrypt(&client, &x);
        for strategy in [Strategy::HOISTED, Strategy::BABY_GIANT] {
            for hoisting in [HoistMode::Double, HoistMode::Single, HoistMode::Off] {
                let spec = PlanSpec { strategy, hoisting, ..PlanSpec::default() };
                let plan = LinearPlan::new(&map(true), &spec).unwrap();
                let server = client.generate_server([&plan]).unwrap();
                let engine = server.engine();
                let prepared = plan.prepare(engine).unwrap();
                let rows = engine.context().covering_basis(engine.context().top_level()).len();
                assert_eq!(prepared.bytes(), plan.constants() * 8 * rows * differ, "{}", plan.explain());
                let image = plan.apply(&prepared, engine, &input).unwrap();
                assert_eq!(decrypt(&client, &image), map(true).apply(&x).unwrap(), "{}", plan.explain());
                let again = pool.install(|| plan.apply(&prepared, engine, &input).unwrap());
                assert_eq!(again.parts(), image.parts());
            }
        }
        // Where lines differ, nothing repeats.
        let plan = LinearPlan::new(&map(false), &PlanSpec::default()).unwrap();
        let server = client.generate_server([&plan]).unwrap();
        let bytes = plan.prepare(server.engine()).unwrap().bytes();
        assert!(bytes > 8 * ring.n() * plan.constants(), "{bytes}");
    }
}

/// A limit counts the memory in use: constants that repeat stay ready where all of their values
/// would not.
#[test]
fn limits_are_for_the_bytes_that_are_held() -> Result<(), Error> {
    let ring = ring(256, 257, 1);
    let client = client(&ring, Scheme::Bgv);
    let map = LinearMap::matmul_1d_extension(&ring, 1, |_, i, k, out| entry(&ring, 4, (0, i, k), out))?;
    for (constant_bytes, ready) in [(1 << 20, true), (500, true), (400, false)] {
        let spec = PlanSpec { constants: ConstantForm::Automatic, constant_bytes, ..PlanSpec::default() };
        let plan = LinearPlan::new(&map, &spec)?;
        let server = client.generate_server([&plan])?;
        // Two constants with four values in each of seven rows; as coefficients they take a byte or
        // two for each of 128.
        let bytes = plan.prepare(server.engine())?.bytes();
        assert_eq!(bytes == 2 * 8 * 7 * 4, ready, "{bytes} of {constant_bytes}");
    }
    Ok(())
}
