//! Keys and parameters of refreshes of CKKS.

use std::sync::Arc;

use windlass::bootstrap::BootstrapError;
use windlass::bootstrap::approximate::{RefreshKeys, RefreshSpec};
use windlass::needs::Products;
use windlass::rlwe::{EvaluationKeys, SecretKey};
use windlass::wire::{
    ApproximateCiphertextV1, FileContext, Kind, RefreshContext, Wire, WireError, open, seal, to_payload,
};
use windlass::{Approximate, Client, Context, Error, Server};

use crate::wire::common::{any_key, decode, golden, label, reject_damage, through_bytes, write_missing};

/// n = 32; with all slots that of the golden files.
fn spec(slots: usize) -> RefreshSpec {
    let toy = RefreshSpec::preset("insecure_toy_refresh_1024").unwrap();
    let (to_slots, to_coefficients) = (vec![2, slots.ilog2() as usize - 2], vec![slots.ilog2() as usize]);
    // Written out, for golden files are of these levels.
    let sine_scale_bits = vec![55, 58, 56, 54, 52, 52, 51, 50, 50, 50, 50];
    RefreshSpec { n: 32, slots, sine_scale_bits, to_slots, to_coefficients, ephemeral_weight: 8, ..toy }
}

fn context() -> Context<Approximate> {
    Context::refreshing(&spec(16)).unwrap()
}

fn files(context: &Context<Approximate>) -> RefreshContext {
    RefreshContext::new(&context.refresh().unwrap())
}

fn sides(context: &Context<Approximate>) -> (Client<Approximate>, Server<Approximate>) {
    context.generate_keys_from_seed([&context.refresh().unwrap(), &Products], 5).unwrap()
}

fn keys(server: &Server<Approximate>) -> RefreshKeys {
    server.refreshes().next().unwrap().1.clone()
}

/// A ciphertext of the lowest level, refreshed by a server.
fn check(client: &Client<Approximate>, server: &Server<Approximate>) {
    let values: Vec<f64> = (0..server.context().slots()).map(|k| (k as f64).sin()).collect();
    let fresh = client.encrypt(&values).unwrap();
    let spent = server.engine().lower(&fresh, server.context().ckks().base_level()).unwrap();
    let refreshed = server.refresh(&spent).unwrap();
    assert_eq!((spent.depth_left(), refreshed.depth_left()), (0, 3));
    let worst = client.decrypt(&refreshed).unwrap().iter().zip(&values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < refreshed.error_bound() && worst < 2f64.powi(-18), "{worst:e}");
}

#[test]
fn keys_come_back_and_work() {
    let context = context();
    let (client, server) = sides(&context);
    let plan = context.refresh().unwrap();
    let evaluation: EvaluationKeys = through_bytes(context.files(), &**server.engine().keys());
    let own = through_bytes(&files(&context), &keys(&server));
    let again = context.server_from_keys(Arc::new(evaluation), vec![(Arc::clone(&plan), own)]).unwrap();
    check(&client, &again);
    let (evaluation, own) = server.to_bytes().unwrap();
    check(&client, &context.server_from_bytes(&evaluation, &[(Arc::clone(&plan), &own[0])]).unwrap());
    // A process of its own, which has the text of the parameters.
    let there = Context::approximate_from_json(&context.to_json()).unwrap();
    let plan = there.refresh().unwrap();
    check(&client, &there.server_from_bytes(&evaluation, &[(plan, &own[0])]).unwrap());
    let without = context.server_from_bytes(&evaluation, &[]).unwrap();
    assert!(matches!(without.refresh(&client.encrypt(&[0.5]).unwrap()), Err(Error::MissingBootstrappingKeys)));
}

/// Files are as long as the plan says before any key is made, and uniform halves are seeds.
#[test]
fn sizes_are_foreseen() {
    let context = context();
    let (client, server) = sides(&context);
    let (evaluation, own) = server.to_bytes().unwrap();
    let sizes = context.refresh().unwrap().key_bytes();
    assert_eq!([evaluation.len() as u64, own[0].len() as u64], [sizes.evaluation, sizes.bootstrap]);
    assert_eq!(server.engine().keys().bytes() as u64, sizes.evaluation_memory);
    let fresh = client.encrypt(&[0.5]).unwrap();
    let spec = context.ckks().spec();
    assert_eq!(fresh.bytes() as u64, spec.key_sizes(&spec.to_params().unwrap()).ciphertext_memory);
    let payload = to_payload(&files(&context), &keys(&server));
    assert_eq!(payload.len() as u64, <RefreshKeys as Wire<_>>::limit(&files(&context)), "all are of one length");
    assert!(2 * payload.len() < keys(&server).bytes() * 50 / 64 + 400, "{} bytes", payload.len());
}

/// Evaluation keys are mapped, those of the refresh packed: refreshes are the same, bit by bit.
#[test]
fn servers_with_mapped_keys_refresh() {
    let context = context();
    let (client, server) = sides(&context);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.ready");
    server.save_ready_keys(&path).unwrap();
    let packed = &server.to_bytes().unwrap().1[0];
    let mapped = context.open_server(&path, &[(context.refresh().unwrap(), packed)]).unwrap();
    let fresh = client.encrypt(&[0.25, 0.5]).unwrap();
    assert_eq!(mapped.refresh(&fresh).unwrap().parts(), server.refresh(&fresh).unwrap().parts());
}

#[test]
fn damaged_payloads_are_refused_or_canonical() {
    let context = context();
    let files = files(&context);
    let payload = to_payload(&files, &keys(&sides(&context).1));
    let again =
        |payload: &[u8]| decode::<_, RefreshKeys>(&files, payload).map(|keys| to_payload(&files, &keys).to_vec());
    reject_damage(&label(Kind::RefreshKeys, &files), &payload, &again);
}

#[test]
fn keys_of_another_plan_or_pair_are_refused() {
    let context = context();
    let own = files(&context);
    let (client, server) = sides(&context);
    let bytes = seal(&label(Kind::RefreshKeys, &own), &to_payload(&own, &keys(&server)));
    let other = |spec: RefreshSpec| files(&Context::refreshing(&spec).unwrap());
    for spec in [
        RefreshSpec { ephemeral_weight: 9, ..spec(16) },
        RefreshSpec { ephemeral_special: 3, ..spec(16) },
        RefreshSpec { depth: 4, ..spec(16) },
        RefreshSpec { gap_bits: 9, ..spec(16) },
    ] {
        let got = open(&bytes, &any_key(Kind::RefreshKeys, &other(spec)));
        assert!(matches!(got, Err(WireError::OtherContext { .. })), "{got:?}");
    }
    assert!(matches!(open(&bytes, &any_key(Kind::BootstrapKeys, &own)), Err(WireError::WrongKind { .. })));
    // Of another pair, and without those of the maps.
    let plan = context.refresh().unwrap();
    let stranger = context.generate_keys_from_seed([&plan], 6).unwrap().1;
    let with = |evaluation: &Server<Approximate>| {
        let evaluation = Arc::clone(evaluation.engine().keys());
        let server = context.server_from_keys(evaluation, vec![(Arc::clone(&plan), keys(&server))]).unwrap();
        server.refresh(&client.encrypt(&[0.5]).unwrap()).unwrap_err()
    };
    assert!(matches!(with(&stranger), Error::OtherKeyPair(_)));
    let few = client.generate_server([&Products]).unwrap();
    let error = with(&few);
    let named = matches!(&error, Error::Bootstrap(BootstrapError::MissingRelinearisationKey { stage }) if stage == "sine, part 1 of 2");
    assert!(named, "{error}");
}

#[test]
fn golden_files_of_version_2_stay_readable() {
    let context = context();
    let client = || -> Client<Approximate> { sides(&context).0 };
    // The client that both files are of.
    write_missing("refresh-secret-key", context.files(), || {
        through_bytes::<_, SecretKey>(context.files(), &**client().secret_key())
    });
    let secret: SecretKey = golden("refresh-secret-key", context.files());
    let client = context.client_from_key(Arc::new(secret)).unwrap();
    let plan = context.refresh().unwrap();
    let server = client.generate_server([&plan]).unwrap();
    write_missing("refresh-keys", &files(&context), || keys(&server));
    let own: RefreshKeys = golden("refresh-keys", &files(&context));
    let evaluation = Arc::clone(server.engine().keys());
    check(&client, &context.server_from_keys(evaluation, vec![(plan, own)]).unwrap());
}

/// An ephemeral secret in whose refreshes rare integers leave the largest errors.
fn dense() -> Context<Approximate> {
    let (to_slots, to_coefficients) = (vec![3, 3], vec![3, 3]);
    let spec = RefreshSpec { n: 128, slots: 64, to_slots, to_coefficients, ephemeral_weight: 32, ..spec(16) };
    Context::refreshing(&spec).unwrap()
}

/// A refreshed ciphertext states the same bits and the same bound in a file as before: its rare errors and its
/// systematic one are apart from the others.
#[test]
fn refreshed_ciphertexts_state_the_same_in_files() {
    let context = dense();
    let (client, server) = sides(&context);
    let refreshed = server.refresh(&client.encrypt(&[0.5; 16]).unwrap()).unwrap();
    let product = server.square(&refreshed).unwrap();
    let entries = server.refresh(&client.encrypt(&[0.5; 3]).unwrap()).unwrap();
    for (sent, flags) in [(&refreshed, 2 + 8 + 16), (&product, 2 + 8 + 16), (&entries, 2 + 4 + 8 + 16)] {
        let stored = ApproximateCiphertextV1::new(sent.clone());
        let whole = to_payload(context.files(), &stored);
        assert_eq!(whole[1], flags);
        let back = through_bytes(context.files(), &stored).into_ciphertext();
        let [now, then] = [&back, sent].map(|ct| [ct.precision_bits(), ct.error_bound().log2()]);
        assert!(now.iter().zip(then).all(|(now, then)| (now - then).abs() < 0.1), "{now:?} {then:?}");
        assert_eq!(to_payload(context.files(), &ApproximateCiphertextV1::new(back)), whole);
        // Behind the two figures of the own slots.
        let [fresh, rest] = [32, 40].map(|at| f64::from_le_bytes(whole[at..at + 8].try_into().unwrap()));
        for bad in [0.0, 72.0 * (fresh + rest), f64::NAN, f64::INFINITY, -1.0] {
            let mut payload = whole.to_vec();
            payload[48..56].copy_from_slice(&bad.to_le_bytes());
            let error = decode::<_, ApproximateCiphertextV1>(context.files(), &payload).unwrap_err();
            assert_eq!(error, WireError::Malformed { what: "largest error of the own slots" }.into());
        }
        let again = |payload: &[u8]| {
            decode::<_, ApproximateCiphertextV1>(context.files(), payload)
                .map(|ct| to_payload(context.files(), &ct).to_vec())
        };
        reject_damage(&label(Kind::ApproximateCiphertext, context.files()), &whole, &again);
    }
}

#[test]
fn golden_files_of_refreshed_ciphertexts_stay_readable() {
    let context = dense();
    write_missing("ckks-ciphertext-refreshed", context.files(), || {
        let (client, server) = sides(&context);
        ApproximateCiphertextV1::new(server.refresh(&client.encrypt(&[0.5, -0.25]).unwrap()).unwrap())
    });
    let refreshed: ApproximateCiphertextV1 = golden("ckks-ciphertext-refreshed", context.files());
    let (ct, payload) = (refreshed.ciphertext(), to_payload(context.files(), &refreshed));
    assert_eq!((payload[1], ct.slots(), ct.depth_left()), (2 + 8, 2, 3));
    assert!((24.0..27.0).contains(&ct.precision_bits()), "{}", ct.precision_bits());
    assert!((-14.0..-10.0).contains(&ct.error_bound().log2()), "{}", ct.error_bound().log2());
}

#[test]
fn golden_parameters_of_version_1_stay_readable() {
    let text = include_str!("../../golden/ckks-refresh-v1.json");
    let read = RefreshSpec::from_json(text).unwrap();
    assert_eq!(read, spec(16));
    assert_eq!(read.to_json(), text);
    let context = Context::approximate_from_json(text).unwrap();
    assert_eq!(context.files().hash(), self::context().files().hash());
    // Its parameters alone have no refresh, and the same files.
    let alone = Context::approximate_from_json(&context.ckks().spec().to_json()).unwrap();
    assert!(alone.refresh().is_err() && alone.files().hash() == context.files().hash());
    assert_eq!(alone.to_json(), context.ckks().spec().to_json());
}

/// Every specification of parameters makes those of its context.
#[test]
fn parameters_are_those_of_the_context() {
    let context = context();
    let params = context.ckks().spec().to_params().unwrap();
    assert_eq!(params.id(), context.ckks().rlwe().params().id());
    assert_eq!(params.digits(), context.ckks().rlwe().params().digits());
}
