//! Constants of plans in files that are mapped: for the plan of any process that builds the same
//! map, and for no other.

use std::path::{Path, PathBuf};

use windlass::circuits::linear::{ComplexSlots, LinearPlan};
use windlass::circuits::{ConstantForm, LinearGrid, LinearMap, PlanSpec, PublicInnerProduct, Strategy};
use windlass::schemes::ckks::{CkksSpec, Complex64};
use windlass::wire::{KeyId, Kind, Label, PlanFiles, WireError, open, seal};
use windlass::{Approximate, Context, Error, Evaluator, Scheme, Server};

use crate::fixture::{SCHEMES, approximate, chain, context};
use crate::wire::common::{any_key, label, reject_damage};
use crate::wire::exact::golden_context;

fn matrix(context: &Context, factor: usize) -> LinearMap {
    LinearMap::matmul_full(context, |i, k| factor * i * i + 3 * i * k + 1).unwrap()
}

fn with_strategy(map: &LinearMap, strategy: Strategy) -> LinearPlan {
    LinearPlan::new(map, &PlanSpec::with_strategy(strategy)).unwrap()
}

fn approximate_context() -> Context<Approximate> {
    let spec = CkksSpec { special_prime_bits: vec![50], ..approximate(16, 40, 1) };
    Context::approximate(&spec).unwrap()
}

/// Entries that every machine writes in the same bits.
fn turn(context: &Context<Approximate>, factor: f64) -> LinearPlan<ComplexSlots> {
    let entry = |i: usize, k: usize| Complex64::new(factor * (2 * i + k) as f64 / 32.0, i as f64 / 16.0 - 0.25);
    LinearMap::matrix(&context.vectors(4).unwrap(), entry).unwrap().plan().unwrap()
}

fn wire_error<T>(result: Result<T, Error>) -> WireError {
    match result {
        Err(Error::Wire(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn planning_is_deterministic_and_fingerprints_tell_plans_apart() {
    let [one, two] = [(); 2].map(|()| context(Scheme::Bgv, (17, 1), chain(64, &[40, 40, 40], &[45])));
    let mut known = Vec::new();
    for strategy in Strategy::ALL.iter().copied().filter(|strategy| strategy.is_general()) {
        let [a, b] = [&one, &two].map(|context| with_strategy(&matrix(context, 1), strategy).fingerprint());
        assert_eq!(a, b, "{strategy}");
        let other = with_strategy(&matrix(&one, 2), strategy).fingerprint();
        assert_ne!(a, other, "{strategy}: other constants");
        known.push(other);
    }
    let factorings = known.iter().filter(|&name| *name != known[0]).count();
    assert!(factorings > 0, "strategies factor this map in different ways");
    let contents = [LinearMap::identity(one.slot_ring()), LinearMap::diagonal(&windlass::Plaintext::scalar(&one, 2))];
    let [one, two] = contents.map(|map| map.plan().unwrap().fingerprint());
    assert_ne!(one, two);
}

#[test]
fn mapped_and_copied_constants_give_the_same_bits() {
    let directory = tempfile::tempdir().unwrap();
    for scheme in SCHEMES {
        let context = context(scheme, (257, 1), chain(512, &[40, 40, 40], &[45]));
        let plan = matrix(&context, 1).plan().unwrap();
        let (client, server) = context.generate_keys_from_seed([&plan], 7).unwrap();
        let [path, keys] = ["prepared", "keys"].map(|kind| directory.path().join(format!("{scheme}.{kind}")));
        let size = server.save_prepared(&plan, &path).unwrap();
        server.save_ready_keys(&keys).unwrap();
        let bytes = server.prepared_to_bytes(&plan).unwrap();
        assert!(std::fs::read(&path).unwrap() == bytes && bytes.len() as u64 == size, "one form");
        let x = client.encrypt(&[3, 1, 4, 1, 5]).unwrap();
        let expected = server.apply(&plan, &x).unwrap();
        // Another process: it makes context, map and plan for itself.
        let worker = context.open_server(&keys, &[]).unwrap();
        let same = matrix(&context, 1).plan().unwrap();
        assert_ne!(same.number(), plan.number());
        for way in [0, 1] {
            match way {
                0 => worker.open_prepared(&same, &path).unwrap(),
                _ => worker.open_prepared(&same, &bytes).unwrap(),
            }
            let found = worker.apply(&same, &x).unwrap();
            assert_eq!(found.parts(), expected.parts(), "{scheme}");
            assert_eq!(found.log2_noise(), expected.log2_noise(), "{scheme}");
            assert!(worker.prepared_to_bytes(&same).unwrap() == bytes, "{scheme}");
            worker.forget();
        }
        assert_eq!(client.decrypt(&expected).unwrap(), plain(&context, &[3, 1, 4, 1, 5]));
    }
}

/// Whoever writes a file chose how constants are held; a plan that would choose otherwise takes it
/// as it is.
#[test]
fn files_decide_whether_constants_are_ready() {
    let context = context(Scheme::Bgv, (257, 1), chain(512, &[40, 40, 40], &[45]));
    let plan =
        |constants| LinearPlan::new(&matrix(&context, 1), &PlanSpec { constants, ..PlanSpec::default() }).unwrap();
    let plans = [ConstantForm::Evaluation, ConstantForm::Coefficients].map(plan);
    let (client, server) = context.generate_keys_from_seed([&plans[0]], 7).unwrap();
    let x = client.encrypt(&[3, 1, 4, 1, 5]).unwrap();
    let files = plans.each_ref().map(|plan| server.prepared_to_bytes(plan).unwrap());
    assert!(files[0].len() > 100 * files[1].len(), "constants, and none");
    for (plan, file) in plans.iter().zip(files.iter().rev()) {
        server.forget();
        server.open_prepared(plan, file).unwrap();
        assert!(server.prepared_to_bytes(plan).unwrap() == *file);
        assert_eq!(client.decrypt(&server.apply(plan, &x).unwrap()).unwrap(), plain(&context, &[3, 1, 4, 1, 5]));
    }
}

/// The product with the matrix of these tests.
fn plain(context: &Context, x: &[u64]) -> Vec<u64> {
    let row = |i: u64| (0..).zip(x).map(|(k, x)| (i * i + 3 * i * k + 1) * x).sum::<u64>() % context.modulus();
    (0..context.slots() as u64).map(row).collect()
}

/// The constants come from the file, and are not made again: those of another matrix show.
#[test]
fn servers_use_what_is_mapped() {
    let context = context(Scheme::Bgv, (257, 1), chain(512, &[40, 40, 40], &[45]));
    let plan = matrix(&context, 1).plan().unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan], 7).unwrap();
    let bytes = server.prepared_to_bytes(&plan).unwrap();
    let (key, payload) = open(&bytes, &any_key(Kind::PreparedConstants, context.files())).unwrap();
    assert_eq!(key, KeyId([0; 16]));
    // A constant of 1 in place of the last one, and a checksum that fits.
    let (mut payload, row) = (payload.to_vec(), 8 * 256);
    let start = payload.len() - row;
    for word in payload[start..].chunks_exact_mut(8) {
        word.copy_from_slice(&1u64.to_le_bytes());
    }
    let forged = seal(&Label { key, ..label(Kind::PreparedConstants, context.files()) }, &payload);
    server.open_prepared(&plan, &forged).unwrap();
    let x = client.encrypt(&[1]).unwrap();
    let found = server.apply(&plan, &x).unwrap();
    server.forget();
    let right = server.apply(&plan, &x).unwrap();
    assert_ne!(found.parts(), right.parts());
}

#[test]
fn constants_of_ckks_give_the_same_bits_at_their_level() {
    let context = Context::approximate(&approximate(64, 40, 2)).unwrap();
    let plan = turn(&context, 1.0);
    let (client, server) = context.generate_keys_from_seed([&plan], 7).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let x = client.encrypt(&[0.5, -0.25, 0.125, 0.75]).unwrap();
    let low = server.engine().lower(&x, x.level() - 1).unwrap();
    let worker = context.server_from_keys(std::sync::Arc::clone(server.engine().keys()), Vec::new()).unwrap();
    let same = turn(&context, 1.0);
    for input in [&x, &low] {
        let path = directory.path().join(format!("level-{}", input.level()));
        server.save_prepared(&plan, input.level(), &path).unwrap();
        worker.open_prepared(&same, &path).unwrap();
        let (found, expected) = (worker.apply(&same, input).unwrap(), server.apply(&plan, input).unwrap());
        assert_eq!(found.parts(), expected.parts());
        let known = [&found, &expected].map(|y| (y.magnitude(), y.deviation(), y.level(), y.slots()));
        assert_eq!(known[0], known[1]);
        assert!(std::fs::read(&path).unwrap() == worker.prepared_to_bytes(&same, input.level()).unwrap());
    }
    for level in [0, 1 + context.ckks().top_level(), usize::MAX] {
        let refused = server.save_prepared(&plan, level, directory.path().join("none"));
        assert!(matches!(refused, Err(Error::OutOfRange(_))), "level {level}: {refused:?}");
    }
}

#[test]
fn grids_weights_and_plans_of_coefficients_have_files_too() {
    let context = context(Scheme::Bfv, (257, 1), chain(256, &[40, 40, 40], &[45]));
    let rows: Vec<Vec<u64>> = (0..200).map(|i| (0..140).map(|k| i * k % 257).collect()).collect();
    let grid =
        || LinearPlan::for_grid(&LinearGrid::from_dense(&context, &rows).unwrap(), &PlanSpec::default()).unwrap();
    let limited = |constant_bytes| {
        let spec = PlanSpec { constant_bytes, ..PlanSpec::default() };
        LinearPlan::new(&matrix(&context, 1), &spec).unwrap()
    };
    let weights = || PublicInnerProduct::new(&context, &[3, 1, 4, 1, 5]).unwrap();
    let (client, server) = context.generate_keys_from_seed([&grid(), &limited(0), &weights()], 7).unwrap();
    let worker = context.server_from_keys(std::sync::Arc::clone(server.engine().keys()), Vec::new()).unwrap();
    let x = [client.encrypt(&[1, 2, 3]).unwrap(), client.encrypt(&[4, 5]).unwrap()];
    let (plan, same) = (grid(), grid());
    worker.open_prepared(&same, &server.prepared_to_bytes(&plan).unwrap()).unwrap();
    let [found, expected] =
        [(&worker, &same), (&server, &plan)].map(|(server, plan)| server.apply_grid(plan, &x).unwrap());
    assert!(found.len() == 2 && found.iter().zip(&expected).all(|(a, b)| a.parts() == b.parts()));
    // Without any constant, and with three of them: the plan has the others.
    let each = server.engine().constant_bytes(server.engine().context().top_level());
    for (limit, least, most) in [(0, 0, 5000), (3 * each, 3 * each, 3 * each + 5000)] {
        let (plan, same) = (limited(limit), limited(limit));
        let bytes = server.prepared_to_bytes(&plan).unwrap();
        assert!((least..most).contains(&bytes.len()), "{} bytes", bytes.len());
        worker.open_prepared(&same, &bytes).unwrap();
        assert_eq!(worker.apply(&same, &x[0]).unwrap().parts(), server.apply(&plan, &x[0]).unwrap().parts());
    }
    let (plan, same) = (weights(), weights());
    let bytes = server.prepared_to_bytes(plan.weights()).unwrap();
    worker.open_prepared(same.weights(), &bytes).unwrap();
    assert_eq!(worker.apply(&same, &x[0]).unwrap().parts(), server.apply(&plan, &x[0]).unwrap().parts());
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let context = context(Scheme::Bgv, (97, 1), chain(32, &[40, 40, 40], &[45]));
    let server = context.server_without_keys().unwrap();
    let (plan, directory) = (matrix(&context, 1).plan().unwrap(), tempfile::tempdir().unwrap());
    let path = directory.path().join("damaged");
    let bytes = server.prepared_to_bytes(&plan).unwrap();
    let refusal = |server: &Server, plan: &LinearPlan, bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let mapped = wire_error(server.open_prepared(plan, &path));
        assert_eq!(mapped, wire_error(server.open_prepared(plan, bytes)), "mapped or not");
        mapped
    };
    for end in [0, 67, 68, 72, 4096, bytes.len() / 2, bytes.len() - 1] {
        assert!(matches!(refusal(&server, &plan, &bytes[..end]), WireError::Truncated { .. }), "{end}");
    }
    // Length of the fields, fingerprint, level, fields of constants, zeros, residues, checksum.
    for at in [68, 72, 104, 110, 4000, 4096, bytes.len() / 2, bytes.len() - 40, bytes.len() - 1] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 4;
        assert_eq!(refusal(&server, &plan, &bytes), WireError::Corrupt, "byte {at}");
    }
    // Another map, and another factoring of the same one.
    let strategies = Strategy::ALL.iter().copied().filter(|strategy| strategy.is_general());
    let mut factorings = strategies.map(|strategy| with_strategy(&matrix(&context, 1), strategy));
    let factoring = factorings.find(|other| other.fingerprint() != plan.fingerprint()).unwrap();
    for other in [matrix(&context, 2).plan().unwrap(), factoring] {
        let error = refusal(&server, &other, &bytes);
        assert!(matches!(error, WireError::OtherPlan { .. }), "{error}");
        assert!(error.to_string().contains("another plan"), "{error}");
    }
    let (_, with_keys) = context.generate_keys_from_seed([&plan], 7).unwrap();
    let kinds = refusal(&server, &plan, &with_keys.ready_keys_to_bytes().unwrap());
    assert!(matches!(kinds, WireError::WrongKind { found: Some(Kind::ReadyKeys), .. }), "{kinds}");
    let elsewhere = context.with_scheme(Scheme::Bfv).unwrap();
    let error = refusal(&elsewhere.server_without_keys().unwrap(), &matrix(&elsewhere, 1).plan().unwrap(), &bytes);
    assert!(matches!(error, WireError::OtherContext { .. }), "{error}");
    for level in [0, 4, usize::MAX] {
        let refused = plan.prepare_at(server.engine(), level);
        assert!(matches!(refused.err(), Some(Error::OutOfRange(_))), "level {level}");
    }
    // Constants that another plan converted are not written under the name of this one.
    let other = matrix(&context, 2).plan().unwrap();
    let prepared = other.prepare(server.engine()).unwrap();
    let refused = PlanFiles::new(context.files(), server.engine(), &plan).to_bytes(&prepared);
    assert!(matches!(refused, Err(Error::ContextMismatch { .. })));
}

/// With a checksum that fits: what is wrong is found all the same, or it is another value.
#[test]
fn damaged_payloads_are_refused_or_canonical() {
    let context = golden_context();
    let server = context.server_without_keys().unwrap();
    let plan = golden_plan(&context);
    let files = PlanFiles::new(context.files(), server.engine(), &plan);
    let (bytes, expected) = (golden("prepared-constants"), any_key(Kind::PreparedConstants, context.files()));
    let (key, payload) = open(&bytes, &expected).unwrap();
    let sealed = |payload: &[u8]| seal(&Label { key, ..label(Kind::PreparedConstants, context.files()) }, payload);
    let again = |payload: &[u8]| {
        let bytes = files.to_bytes(&files.open(&sealed(payload))?)?;
        Ok(open(&bytes, &expected)?.1.to_vec())
    };
    reject_damage(&label(Kind::PreparedConstants, context.files()), payload, &again);
    let malformed = |at: usize, value: &[u8]| {
        let mut payload = payload.to_vec();
        payload[at..at + value.len()].copy_from_slice(value);
        match wire_error(files.open(&sealed(&payload))) {
            WireError::Malformed { what } => what,
            other => panic!("{other}"),
        }
    };
    let (level, number, first) = (36, 38, 42);
    for bad in [0u16, 3, u16::MAX] {
        assert_eq!(malformed(level, &bad.to_le_bytes()), "level of prepared constants");
    }
    for bad in [17u32, u32::MAX] {
        assert_eq!(malformed(number, &bad.to_le_bytes()), "number of prepared constants");
    }
    // Fewer may be held, but then no more follow.
    assert_eq!(malformed(number, &1u32.to_le_bytes()), "prepared constant");
    assert_eq!(malformed(number, &0u32.to_le_bytes()), "prepared constants");
    for bad in [f64::NAN, f64::INFINITY, -0.0, -1.0, 1e9] {
        assert_eq!(malformed(first, &bad.to_le_bytes()), "norm of a constant");
    }
    assert_eq!(malformed(first + 8, &[2]), "content of a constant");
    assert_eq!(malformed(4096 - 68, &u64::MAX.to_le_bytes()), "prepared constant");
    // Another key pair's name, where there is none.
    let named = seal(&label(Kind::PreparedConstants, context.files()), payload);
    assert!(matches!(wire_error(files.open(&named)), WireError::OtherKeyPair { .. }));
}

fn golden_plan(context: &Context) -> LinearPlan {
    with_strategy(&matrix(context, 1), Strategy::AUTOMATIC)
}

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}-v2.bin"))
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(golden_path(name)).unwrap()
}

/// They also pin the fingerprints of plans: those of another process.
#[test]
fn golden_files_of_version_2_stay_readable() {
    let context = golden_context();
    let (plan, again) = (golden_plan(&context), golden_plan(&context));
    let (client, server) = context.generate_keys_from_seed([&plan], 7).unwrap();
    server.open_prepared(&plan, golden_path("prepared-constants")).unwrap();
    assert!(server.prepared_to_bytes(&plan).unwrap() == golden("prepared-constants"));
    let x = client.encrypt(&[3, 1, 4, 1, 5]).unwrap();
    assert_eq!(server.apply(&plan, &x).unwrap().parts(), server.apply(&again, &x).unwrap().parts());

    let context = approximate_context();
    let (plan, top) = (turn(&context, 1.0), context.ckks().top_level());
    let (client, server) = context.generate_keys_from_seed([&plan], 7).unwrap();
    server.open_prepared(&plan, golden_path("ckks-prepared-constants")).unwrap();
    assert!(server.prepared_to_bytes(&plan, top).unwrap() == golden("ckks-prepared-constants"));
    let x = [0.5, -0.25, 0.125, 0.75];
    let found = client.decrypt_complex(&server.apply(&plan, &client.encrypt(&x).unwrap()).unwrap()).unwrap();
    let exact = plan.grid().apply(&[x.map(Complex64::from).to_vec()]).unwrap();
    assert!(found.iter().zip(&exact[0]).all(|(a, b)| (a - b).norm() < 1e-6), "{found:?}");
}

/// The fields of a constant of CKKS: number of slots, bound on them, their error.
#[test]
fn impossible_constants_of_ckks_are_named() {
    let context = approximate_context();
    let plan = turn(&context, 1.0);
    let (_, server) = context.generate_keys_from_seed([&plan], 7).unwrap();
    let files = PlanFiles::new(context.files(), server.engine(), &plan);
    let bytes = server.prepared_to_bytes(&plan, context.ckks().top_level()).unwrap();
    let (key, whole) = open(&bytes, &any_key(Kind::PreparedConstants, context.files())).unwrap();
    let malformed = |at: usize, value: &[u8]| {
        let mut payload = whole.to_vec();
        payload[at..at + value.len()].copy_from_slice(value);
        let label = Label { key, ..label(Kind::PreparedConstants, context.files()) };
        match wire_error(files.open(&seal(&label, &payload))) {
            WireError::Malformed { what } => what,
            other => panic!("{other}"),
        }
    };
    for slots in [0u32, 3, 16, u32::MAX] {
        assert_eq!(malformed(42, &slots.to_le_bytes()), "number of slots");
    }
    for (at, what) in [(46, "bound on the slots"), (54, "error of the slots")] {
        assert_eq!(malformed(at, &f64::NAN.to_le_bytes()), what);
        for negative in [-0.0f64, -1.0] {
            assert_eq!(malformed(at, &negative.to_le_bytes()), "bound on the slots, or their error");
        }
    }
}
