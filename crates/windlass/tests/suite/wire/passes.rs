//! Keys and parameters of refreshes in several passes: of exact integers through CKKS, and of CKKS to more bits. The
//! files of their keys are those of the CKKS refresh of a pass.

use std::sync::Arc;

use windlass::bootstrap::approximate::RefreshKeys;
use windlass::bootstrap::approximate::precise::PreciseRefreshSpec;
use windlass::bootstrap::exact_through_ckks::ExactRefreshSpec;
use windlass::rlwe::{EvaluationKeys, SecretKey};
use windlass::schemes::ckks::WideComplex;
use windlass::wire::{ApproximateCiphertextV1, CiphertextV1, FileContext, Kind, RefreshContext, WireError, to_payload};
use windlass::{Approximate, Client, Context, Error, Scheme, Server};

use crate::bootstrap::through_ckks;
use crate::ckks::precise;
use crate::wire::common::{decode, golden, label, reject_damage, through_bytes, write_missing};

fn exact() -> Context {
    Context::exact_refreshing(&through_ckks::spec((65537, 1)), Scheme::Bfv).unwrap()
}

fn several() -> Context<Approximate> {
    Context::precise_refreshing(&precise::spec(1)).unwrap()
}

fn exact_files(context: &Context) -> RefreshContext {
    RefreshContext::new(context.exact_refresh().unwrap().ckks())
}

fn precise_files(context: &Context<Approximate>) -> RefreshContext {
    RefreshContext::new(context.precise_refresh().unwrap().pass())
}

fn exact_sides(context: &Context) -> (Client, Server) {
    context.generate_keys_from_seed([&context.exact_refresh().unwrap()], 5).unwrap()
}

fn precise_sides(context: &Context<Approximate>) -> (Client<Approximate>, Server<Approximate>) {
    context.generate_keys_from_seed([&context.precise_refresh().unwrap()], 5).unwrap()
}

fn exact_keys(server: &Server) -> RefreshKeys {
    server.exact_refresh().unwrap().1.clone()
}

fn check_exact(client: &Client, server: &Server) {
    let x = client.encrypt(&[3, -1]).unwrap();
    let refreshed = through_bytes(client.context().files(), &CiphertextV1::new(server.refresh(&x).unwrap()));
    assert_eq!(client.decrypt(refreshed.ciphertext()).unwrap()[..3], [3, 65536, 0]);
}

fn check_precise(client: &Client<Approximate>, server: &Server<Approximate>) {
    let wanted = [WideComplex::new(0.25, 0.0), WideComplex::new(-0.5, 0.0)];
    let refreshed = server.refresh(&client.encrypt_wide(&wanted, 1.0).unwrap()).unwrap();
    let refreshed = through_bytes(client.context().files(), &ApproximateCiphertextV1::new(refreshed));
    let found = client.decrypt_wide(refreshed.ciphertext()).unwrap();
    assert!(found.iter().zip(wanted).all(|(a, b)| (*a - b).norm() < 2f64.powi(-68)));
}

#[test]
fn keys_of_exact_refreshes_come_back_and_work() {
    let context = exact();
    let (client, server) = exact_sides(&context);
    let (evaluation, own) = server.to_bytes().unwrap();
    assert_eq!(own.len(), 1);
    let sizes = context.exact_refresh().unwrap().key_bytes();
    assert_eq!([evaluation.len() as u64, own[0].len() as u64], [sizes.evaluation, sizes.bootstrap]);
    check_exact(&client, &context.refreshing_server_from_bytes(&evaluation, &own[0]).unwrap());
    // A process of its own, which has the text of the parameters, and a mapped file.
    let there = Context::from_json(&context.to_json()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.ready");
    server.save_ready_keys(&path).unwrap();
    check_exact(&client, &there.open_refreshing_server(&path, &own[0]).unwrap());
    let without = context.server_from_bytes(&evaluation, &[]).unwrap();
    assert!(matches!(without.refresh(&client.encrypt(&[1]).unwrap()), Err(Error::MissingBootstrappingKeys)));
    // Where no refresh is, and of another key pair.
    let plain = Context::preset("insecure_toy_256").unwrap();
    assert!(matches!(plain.refreshing_server_from_bytes(&[], &own[0]), Err(Error::Wire(_))));
    let keys = Arc::clone(plain.server_without_keys().unwrap().engine().keys());
    let error = plain.refreshing_server_from_keys(keys, exact_keys(&server)).unwrap_err();
    assert!(error.to_string().contains("exact_refreshing"), "{error}");
    let (_, stranger) = context.generate_keys_from_seed([&context.exact_refresh().unwrap()], 6).unwrap();
    let keys = Arc::clone(stranger.engine().keys());
    let mixed = context.refreshing_server_from_keys(keys, exact_keys(&server)).unwrap();
    assert!(matches!(mixed.refresh(&client.encrypt(&[1]).unwrap()), Err(Error::OtherKeyPair(_))));
}

#[test]
fn keys_of_precise_refreshes_come_back_and_work() {
    let context = several();
    let (client, server) = precise_sides(&context);
    let (evaluation, own) = server.to_bytes().unwrap();
    let sizes = context.precise_refresh().unwrap().key_bytes();
    assert_eq!([evaluation.len() as u64, own[0].len() as u64], [sizes.evaluation, sizes.bootstrap]);
    let there = Context::approximate_from_json(&context.to_json()).unwrap();
    let pass = Arc::clone(there.precise_refresh().unwrap().pass());
    check_precise(&client, &there.server_from_bytes(&evaluation, &[(Arc::clone(&pass), &own[0])]).unwrap());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.ready");
    server.save_ready_keys(&path).unwrap();
    check_precise(&client, &there.open_server(&path, &[(pass, &own[0])]).unwrap());
}

#[test]
fn damaged_keys_and_those_of_another_refresh_are_refused() {
    let (exact, precise) = (exact(), several());
    let own = exact_keys(&exact_sides(&exact).1);
    let passes = precise_sides(&precise).1.refreshes().next().unwrap().1.clone();
    for (files, keys) in [(exact_files(&exact), own), (precise_files(&precise), passes)] {
        let payload = to_payload(&files, &keys);
        let again =
            |payload: &[u8]| decode::<_, RefreshKeys>(&files, payload).map(|keys| to_payload(&files, &keys).to_vec());
        reject_damage(&label(Kind::RefreshKeys, &files), &payload, &again);
    }
    assert_ne!(exact_files(&exact).hash(), precise_files(&precise).hash());
    let (_, bytes) = precise_sides(&precise).1.to_bytes().unwrap();
    let (evaluation, _) = exact_sides(&exact).1.to_bytes().unwrap();
    let error = exact.refreshing_server_from_bytes(&evaluation, &bytes[0]).unwrap_err();
    assert!(matches!(error, Error::Wire(WireError::OtherContext { .. })), "{error}");
}

#[test]
fn golden_keys_of_version_2_stay_readable() {
    let (exact, precise) = (exact(), several());
    write_missing("exact-refresh-secret-key", exact.files(), || {
        through_bytes::<_, SecretKey>(exact.files(), &**exact_sides(&exact).0.secret_key())
    });
    let secret: SecretKey = golden("exact-refresh-secret-key", exact.files());
    let client = exact.client_from_key(Arc::new(secret)).unwrap();
    let server = client.generate_server([&exact.exact_refresh().unwrap()]).unwrap();
    write_missing("exact-refresh-keys", &exact_files(&exact), || exact_keys(&server));
    let own: RefreshKeys = golden("exact-refresh-keys", &exact_files(&exact));
    let evaluation: Arc<EvaluationKeys> = Arc::clone(server.engine().keys());
    check_exact(&client, &exact.refreshing_server_from_keys(evaluation, own).unwrap());

    write_missing("precise-refresh-secret-key", precise.files(), || {
        through_bytes::<_, SecretKey>(precise.files(), &**precise_sides(&precise).0.secret_key())
    });
    let secret: SecretKey = golden("precise-refresh-secret-key", precise.files());
    let client = precise.client_from_key(Arc::new(secret)).unwrap();
    let plan = precise.precise_refresh().unwrap();
    let server = client.generate_server([&plan]).unwrap();
    write_missing("precise-refresh-keys", &precise_files(&precise), || server.refreshes().next().unwrap().1.clone());
    let own: RefreshKeys = golden("precise-refresh-keys", &precise_files(&precise));
    let evaluation = Arc::clone(server.engine().keys());
    check_precise(&client, &precise.server_from_keys(evaluation, vec![(Arc::clone(plan.pass()), own)]).unwrap());
}

#[test]
fn golden_parameters_of_version_1_stay_readable() {
    let text = include_str!("../../golden/exact-refresh-v1.json");
    let (read, scheme) = ExactRefreshSpec::from_json(text).unwrap();
    assert_eq!(read.to_json(scheme), text);
    assert_eq!(Context::from_json(text).unwrap().files().hash(), exact().files().hash());
    let text = include_str!("../../golden/precise-refresh-v1.json");
    assert_eq!(PreciseRefreshSpec::from_json(text).unwrap().to_json(), text);
    assert_eq!(Context::approximate_from_json(text).unwrap().files().hash(), several().files().hash());
}
