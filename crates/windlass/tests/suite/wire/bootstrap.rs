//! Bootstrapping keys.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::Plaintext;
use windlass::bootstrap::{BootstrapKeys, BootstrapPlan, BootstrapSpec, Bootstrapper, Mode};
use windlass::rlwe::{Assurance, Context, EvaluationKeys, RlweParams, RlweSpec, SecretDistribution, SecretKey};
use windlass::schemes::{Decryptor, Engine, Scheme};
use windlass::wire::{BootstrapContext, Kind, Wire, WireError, open, seal, to_payload};

use crate::wire::common::{any_key, decode, golden, label, reject_damage, through_bytes};

fn context(weight: u32, mode: Mode, scheme: Scheme) -> BootstrapContext {
    let params = RlweParams::new(&RlweSpec {
        m: 45,
        q_prime_bits: vec![50; 14],
        special_prime_bits: vec![50; 5],
        digits: 3,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_wire_test".into() },
    })
    .unwrap();
    let spec = BootstrapSpec { mode, ephemeral_weight: weight, ..BootstrapSpec::default() };
    let plan = Arc::new(BootstrapPlan::new(&params, (2, 1), spec).unwrap());
    BootstrapContext::new(&plan, &Context::new(params).unwrap(), scheme)
}

/// A secret key, and the bootstrapping keys of it.
fn keys(context: &BootstrapContext) -> (Arc<SecretKey>, BootstrapKeys) {
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let secret = Arc::new(SecretKey::generate(context.message().context(), &mut rng));
    let keys = BootstrapKeys::generate(context.plan(), context.message().scheme(), &secret, &mut rng).unwrap();
    (secret, keys)
}

/// Refreshes with keys that went through bytes, as a server has them.
fn check(context: &BootstrapContext, secret: Arc<SecretKey>, keys: BootstrapKeys) {
    let (plan, message) = (context.plan(), context.message());
    let mut rng = ChaCha20Rng::from_seed([6; 32]);
    let mut evaluation = EvaluationKeys::empty(message.context());
    plan.add_keys(&mut evaluation, &secret, &mut rng).unwrap();
    let evaluation: Arc<EvaluationKeys> = Arc::new(through_bytes(message, &evaluation));
    let bootstrapper = Bootstrapper::new(Arc::clone(plan), message.scheme(), &evaluation, keys).unwrap();
    let engine = Engine::new(message.scheme(), message.slots(), evaluation).unwrap();
    let decryptor = Decryptor::new(message.scheme(), message.slots(), secret);
    let values: Vec<u64> = (0..message.slots().slots() as u64).map(|i| i % 3 % 2).collect();
    let plaintext = Plaintext::from_integers(message.slots(), &values).unwrap();
    let (fresh, _) = decryptor.encrypt(&plaintext, plan.params().top_level(), &mut rng).unwrap();
    let spent = engine.reduce_level(&fresh, plan.least_input_bits() + 10.0).unwrap();
    let refreshed = bootstrapper.refresh(&spent).unwrap();
    assert!(engine.capacity(&refreshed) > engine.capacity(&spent));
    assert_eq!(decryptor.decrypt(&refreshed).unwrap(), plaintext);
}

#[test]
fn keys_come_back_and_work() {
    for (scheme, mode) in [(Scheme::Bgv, Mode::Thin), (Scheme::Bfv, Mode::Packed)] {
        let context = context(4, mode, scheme);
        let (secret, keys) = keys(&context);
        check(&context, secret, through_bytes(&context, &keys));
    }
}

#[test]
fn uniform_halves_are_seeds() {
    let context = context(4, Mode::Thin, Scheme::Bgv);
    let payload = to_payload(&context, &keys(&context).1);
    assert!(2 * payload.len() < keys(&context).1.bytes() * 50 / 64 + 400, "{} bytes", payload.len());
    assert!(payload.len() as u64 <= <BootstrapKeys as Wire<_>>::limit(&context));
}

#[test]
fn damaged_payloads_are_refused_or_canonical() {
    let context = context(4, Mode::Thin, Scheme::Bgv);
    let payload = to_payload(&context, &keys(&context).1);
    let again =
        |payload: &[u8]| decode::<_, BootstrapKeys>(&context, payload).map(|keys| to_payload(&context, &keys).to_vec());
    reject_damage(&label(Kind::BootstrapKeys, &context), &payload, &again);
}

#[test]
fn keys_of_another_plan_are_refused() {
    let own = context(4, Mode::Thin, Scheme::Bgv);
    let bytes = seal(&label(Kind::BootstrapKeys, &own), &to_payload(&own, &keys(&own).1));
    for other in [context(5, Mode::Thin, Scheme::Bgv), context(4, Mode::Thin, Scheme::Bfv)] {
        let got = open(&bytes, &any_key(Kind::BootstrapKeys, &other));
        assert!(matches!(got, Err(WireError::OtherContext { .. })), "{got:?}");
    }
    // Thin and packed bootstrapping share these keys.
    assert!(open(&bytes, &any_key(Kind::BootstrapKeys, &context(4, Mode::Packed, Scheme::Bgv))).is_ok());
    assert!(matches!(open(&bytes, &any_key(Kind::EvaluationKeys, &own)), Err(WireError::WrongKind { .. })));
}

#[test]
fn golden_files_of_version_2_stay_readable() {
    let context = context(4, Mode::Thin, Scheme::Bgv);
    let secret: SecretKey = golden("bootstrap-secret-key", context.message());
    check(&context, Arc::new(secret), golden("bootstrap-keys", &context));
}
