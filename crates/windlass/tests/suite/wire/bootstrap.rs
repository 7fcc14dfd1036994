//! Bootstrapping keys.

use std::sync::Arc;

use windlass::bootstrap::{BootstrapKeys, BootstrapSpec, Encapsulation, Mode};
use windlass::rlwe::{Assurance, EvaluationKeys, RlweSpec, SecretKey};
use windlass::schemes::Scheme;
use windlass::wire::{BootstrapContext, Kind, Wire, WireError, open, seal, to_payload};
use windlass::{Client, Context, Error, Params};

use crate::fixture::chain;
use crate::wire::common::{any_key, decode, golden, label, reject_damage, through_bytes};

fn context(weight: u32, mode: Mode, scheme: Scheme) -> Context {
    let way = BootstrapSpec { mode, ephemeral_weight: weight, ..BootstrapSpec::default() };
    context_of(way, scheme)
}

fn context_of(way: BootstrapSpec, scheme: Scheme) -> Context {
    let assurance = Assurance::Insecure { name: "insecure_wire_test".into() };
    let spec = RlweSpec { assurance, ..chain(45, &[50; 14], &[50; 5]) };
    let params = Params::new("insecure_wire_test", scheme, (2, 1), None, spec).unwrap();
    Context::for_bootstrapping(params, way).unwrap()
}

fn files(context: &Context) -> BootstrapContext {
    BootstrapContext::new(&context.bootstrapping().unwrap(), context.rlwe(), context.scheme())
}

/// A client, and the bootstrapping keys of it.
fn keys(context: &Context) -> (Client, BootstrapKeys) {
    let (client, server) = context.generate_keys_from_seed([&context.bootstrapping().unwrap()], 5).unwrap();
    let keys = server.bootstrappings().next().unwrap().1.clone();
    (client, keys)
}

/// Refreshes with keys that went through bytes, as a server has them.
fn check(context: &Context, client: &Client, keys: BootstrapKeys) {
    let plan = context.bootstrapping().unwrap();
    let server = client.generate_server([&plan]).unwrap();
    let evaluation: EvaluationKeys = through_bytes(context.files(), &**server.engine().keys());
    let server = context.server_from_keys(Arc::new(evaluation), vec![(Arc::clone(&plan), keys)]).unwrap();
    let values: Vec<u64> = (0..context.slots() as u64).map(|i| i % 3 % 2).collect();
    let fresh = client.encrypt(&values).unwrap();
    let spent = server.engine().reduce_level(&fresh, plan.least_input_bits() + 10.0).unwrap();
    let refreshed = server.refresh(&spent).unwrap();
    assert!(server.capacity(&refreshed) > server.capacity(&spent));
    assert_eq!(client.decrypt(&refreshed).unwrap(), values);
}

#[test]
fn keys_come_back_and_work() {
    for (scheme, mode) in [(Scheme::Bgv, Mode::Thin), (Scheme::Bfv, Mode::Packed)] {
        let context = context(4, mode, scheme);
        let (client, keys) = keys(&context);
        check(&context, &client, through_bytes(&files(&context), &keys));
    }
}

/// A switching key of many pairs: the file is as long as the plan says, and no other plan reads it.
#[test]
fn keys_in_digits_come_back_and_work() {
    let way = |encapsulation| BootstrapSpec { encapsulation, ephemeral_weight: 4, ..BootstrapSpec::default() };
    let context = context_of(way(Encapsulation::Digits), Scheme::Bgv);
    let (client, keys) = keys(&context);
    let (files, payload) = (files(&context), to_payload(&files(&context), &keys));
    assert_eq!(payload.len() as u64, <BootstrapKeys as Wire<_>>::limit(&files), "all of them are of one length");
    let sealed = seal(&label(Kind::BootstrapKeys, &files), &payload);
    assert_eq!(sealed.len() as u64, context.bootstrapping().unwrap().key_bytes().bootstrap);
    check(&context, &client, through_bytes(&files, &keys));
    let other = context_of(way(Encapsulation::SpecialPrimes), Scheme::Bgv);
    let other = BootstrapContext::new(&other.bootstrapping().unwrap(), other.rlwe(), Scheme::Bgv);
    let got = open(&sealed, &any_key(Kind::BootstrapKeys, &other));
    assert!(matches!(got, Err(WireError::OtherContext { .. })), "{got:?}");
}

/// Evaluation keys are mapped, bootstrapping keys packed: refreshes are the same, bit by bit.
#[test]
fn servers_with_mapped_keys_refresh() {
    let context = context(4, Mode::Thin, Scheme::Bgv);
    let plan = context.bootstrapping().unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan], 5).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.ready");
    server.save_ready_keys(&path).unwrap();
    let packed = &server.to_bytes().unwrap().1[0];
    let mapped = context.open_server(&path, &[(Arc::clone(&plan), packed)]).unwrap();
    let fresh = client.encrypt(&[1]).unwrap();
    let spent = server.engine().reduce_level(&fresh, plan.least_input_bits() + 10.0).unwrap();
    assert_eq!(mapped.refresh(&spent).unwrap().parts(), server.refresh(&spent).unwrap().parts());
    let without = context.open_server(&path, &[]).unwrap();
    assert!(matches!(without.refresh(&spent), Err(Error::MissingBootstrappingKeys)));
}

#[test]
fn uniform_halves_are_seeds() {
    let context = context(4, Mode::Thin, Scheme::Bgv);
    let (keys, files) = (keys(&context).1, files(&context));
    let payload = to_payload(&files, &keys);
    assert!(2 * payload.len() < keys.bytes() * 50 / 64 + 400, "{} bytes", payload.len());
    assert_eq!(payload.len() as u64, <BootstrapKeys as Wire<_>>::limit(&files), "all of them are of one length");
}

#[test]
fn damaged_payloads_are_refused_or_canonical() {
    let context = context(4, Mode::Thin, Scheme::Bgv);
    let files = files(&context);
    let payload = to_payload(&files, &keys(&context).1);
    let again =
        |payload: &[u8]| decode::<_, BootstrapKeys>(&files, payload).map(|keys| to_payload(&files, &keys).to_vec());
    reject_damage(&label(Kind::BootstrapKeys, &files), &payload, &again);
}

#[test]
fn keys_of_another_plan_are_refused() {
    let context_of = |weight, mode, scheme| files(&context(weight, mode, scheme));
    let thin = context(4, Mode::Thin, Scheme::Bgv);
    let (own, (_, keys)) = (files(&thin), keys(&thin));
    let bytes = seal(&label(Kind::BootstrapKeys, &own), &to_payload(&own, &keys));
    for other in [context_of(5, Mode::Thin, Scheme::Bgv), context_of(4, Mode::Thin, Scheme::Bfv)] {
        let got = open(&bytes, &any_key(Kind::BootstrapKeys, &other));
        assert!(matches!(got, Err(WireError::OtherContext { .. })), "{got:?}");
    }
    // Thin and packed bootstrapping share these keys.
    let packed = context_of(4, Mode::Packed, Scheme::Bgv);
    assert!(open(&bytes, &any_key(Kind::BootstrapKeys, &packed)).is_ok());
    assert!(matches!(open(&bytes, &any_key(Kind::EvaluationKeys, &own)), Err(WireError::WrongKind { .. })));
}

#[test]
fn golden_files_of_version_2_stay_readable() {
    let context = context(4, Mode::Thin, Scheme::Bgv);
    let secret: SecretKey = golden("bootstrap-secret-key", context.files());
    let client = context.client_from_key(Arc::new(secret)).unwrap();
    check(&context, &client, golden("bootstrap-keys", &files(&context)));
}
